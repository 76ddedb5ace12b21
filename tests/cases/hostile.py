#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""SE02: what a user can put in place of a perf map. The victim is of an ordinary user, stoke is root."""
import os
import shutil

from driver import HERE, Skip, WORKLOADS, at_least, case, enough, main, memory_limit, record
from targets import Contained, Program, map_of, outside_tmp

VICTIM, OTHER = 65534, 65533


class Victim(Program):
    """jit as an ordinary user; writes no map itself."""

    def __init__(self, t):
        program = t.folder / "jit"
        shutil.copy(WORKLOADS / "jit", program)
        program.chmod(0o755)
        super().__init__(program.resolve(), 60, "dir", "-", folder="/",
            prefix=["setpriv", f"--reuid={VICTIM}", f"--regid={VICTIM}", "--clear-groups"])
        self.address = int(self.says("\n").split()[0], 16)
        self.path = map_of(self.pid)

    def line(self, name):
        return f"{self.address:x} 10000 {name}\n".encode()

    def give(self, data, owner):
        self.path.write_bytes(data)
        os.chown(self.path, owner, owner)

    def __exit__(self, *rest):
        super().__exit__(*rest)
        if self.path.is_dir():
            self.path.rmdir()
        else:
            self.path.unlink(missing_ok=True)


def bounded(t, form, victim, message=True):
    """Records the victim; checks the bounds that hold for every form."""
    ran = record(t, victim.pid, 1.5, 199, ("x.folded", "x.pb.gz"), within_s=40)
    t.expect(f"{form}: stoke ends within its time + 5 s", ran.seconds < 1.5 + enough(5), ran.seconds)
    t.expect(f"{form}: and stays under 500 MB", ran.peak_bytes < memory_limit(500 << 20), ran.peak_bytes >> 20)
    if message:
        t.expect(f"{form}: a message names the map and why it was not (fully) used",
            f"perf-{victim.pid}.map" in ran.err, ran.err)
    got = ran.folded().user()
    t.expect(f"{form}: the profile goes on", got.total > 20 and at_least(got.share_of(
        lambda s: "run_generated" in s), 0.95, got.total), got.head())
    return ran


@case("SE02 a FIFO, a device, somebody's file in place of the map", live=True)
def special(t):
    with Victim(t) as victim:
        os.mkfifo(victim.path)
        bounded(t, "a: FIFO", victim)
        victim.path.unlink()
        victim.path.symlink_to("/dev/zero")
        bounded(t, "b: link to /dev/zero", victim)
        victim.path.unlink()
        secret = t.folder / "secret"
        secret.write_bytes(victim.line("root:x:secret"))
        secret.chmod(0o600)
        victim.path.symlink_to(secret)
        ran = bounded(t, "c: link to a file of root", victim)
        everything = ran.said.encode() + b"".join(
            (t.folder / n).read_bytes() for n in ("x.folded",)) + "".join(ran.pprof().strings).encode()
        t.expect("c: no content of the file appears in any output or message", b"secret" not in everything.replace(
            str(secret).encode(), b""), ran.said)
        victim.path.unlink()
        victim.path.mkdir()
        bounded(t, "h: directory", victim, message=False)


@case("SE02 maps of other owners", live=True)
def owners(t):
    with Victim(t) as victim:
        victim.give(victim.line("jit::strange"), OTHER)
        ran = bounded(t, "e: of a third user", victim)
        t.expect("e: not used unless owned by the user of the process or by root",
            "jit::strange" not in ran.folded().frames(), ran.folded().head())
        victim.path.unlink()
        for owner, name in ((VICTIM, "jit::own"), (0, "jit::of_root")):
            victim.give(victim.line(name), owner)
            ran = bounded(t, f"owner {owner}", victim, message=False)
            t.expect(f"e: a map of owner {owner} is used", at_least(ran.folded().user().leaf(name), 0.95,
                ran.folded().total), ran.folded().head())
            victim.path.unlink()


@case("SE02 maps of absurd sizes", live=True)
def sizes(t):
    with Victim(t) as victim:
        victim.give(victim.line("jit::first"), VICTIM)
        os.truncate(victim.path, 1 << 40)
        bounded(t, "d: 1 TB, sparse", victim)
        victim.path.unlink()
        line = b"7f0000001000 10 aaaaaaaa\n"
        with open(victim.path, "wb") as out:
            for _ in range(300):
                out.write(line * ((1 << 20) // len(line)))
        os.chown(victim.path, VICTIM, VICTIM)
        bounded(t, "f: 300 MB of one line again and again", victim, message=False)
        with open(victim.path, "wb") as out:
            for _ in range(200):
                out.write(b"a" * (1 << 20))
        os.chown(victim.path, VICTIM, VICTIM)
        bounded(t, "g: one line of 200 MB", victim)


@case("SE02 a file system that never answers a read", live=True)
def silent(t):
    if not os.path.exists("/dev/fuse"):
        raise Skip("no /dev/fuse here")
    with outside_tmp(WORKLOADS / "jit") as program:  # /tmp is hidden in there
        with Contained("/usr/bin/python3", HERE / "fuse.py", VICTIM, program, 60, "dir", "-") as victim:
            bounded(t, "i: a file on a FUSE mount whose server never answers a read", victim)


if __name__ == "__main__":
    raise SystemExit(main())
