#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""How recordings end and what they say: signals, a killed target, a full disk, exit statuses, rights
(CL02), and a machine without hardware counters (KV04)."""
import ctypes
import gzip
import os
import re
import signal
import struct
import subprocess
import time

from driver import Skip, Started, WORKLOADS, case, main, record, stoke
from targets import Program

OUT = ["-o", "x.folded", "-o", "x.svg", "-o", "x.pb.gz"]


def whole(t, ran, line, at_least_samples=20):
    t.expect(f"{line}: status 0", ran.status == 0, ran.describe())
    if ran.status == 0:
        sums = {ran.folded().total, ran.picture().total, ran.pprof().sum_of("samples")}
        t.expect(f"{line}: all files are whole and agree", min(sums) >= at_least_samples and max(sums) - min(
            sums) == 0 or ran.pprof().sum_of("cpu") == ran.picture().total, sums)


@case("SIGINT, SIGTERM and SIGHUP end a recording early and keep all", live=True)
def signals(t):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with Program("spin", 60) as spin:
            started = Started(["record", "-p", spin.pid, "-d", 50, "-F", 299, *OUT], t.folder)
            time.sleep(2)
            os.kill(started.process.pid, number)
            ran = started.ended(20)
            t.expect("the target lives on", spin.process.poll() is None, "it ended")
        whole(t, ran, number.name)
        t.expect(f"{number.name}: ended early", ran.seconds < 20, ran.seconds)
        for name in ("x.folded", "x.svg", "x.pb.gz"):
            (t.folder / name).unlink(missing_ok=True)


@case("a command behind a target is the window", live=True)
def window(t):
    with Program("spin", 60) as spin:
        ran = stoke(t.folder, "record", "-p", spin.pid, "-p", spin.pid, "-o", "x.pb.gz", "--", "sleep", "0.5")
        t.expect("the target lives on", spin.process.poll() is None, "it ended")
    t.expect("status 0", ran.status == 0, ran.describe())
    t.expect("its end is not called the target's", "target ended" not in ran.err, ran.describe())
    t.expect("a PID named twice is one process", "2 processes" not in ran.err, ran.describe())


@case("a target killed in the middle", live=True)
def killed(t):
    with Program("spin", 60) as spin:
        started = Started(["record", "-p", spin.pid, "-d", 50, "-F", 299, *OUT], t.folder)
        time.sleep(2)
        spin.process.kill()
        ran = started.ended(20)
    whole(t, ran, "SIGKILL of the target")
    t.expect("names are there although the process is gone", ran.folded().user().leaf("hot_inner") > 0.9,
        ran.folded().head())


@case("a disk that is full at the end", live=True)
def full(t):
    disk = t.folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "t", str(disk)], check=True)
    try:
        (disk / "fill").write_bytes(bytes(56 << 10))
        with Program("spin", 60) as spin:
            ran = stoke(t.folder, "record", "-p", spin.pid, "-d", 1, "-o", "disk/x.svg", "-o", "x.pb.gz", "-o", "x.folded")
        t.expect("disk full: status 2", ran.status == 2, ran.describe())
        t.expect("disk full: the file is named with the cause", "x.svg" in ran.err and re.search(
            "disk full|no space", ran.err, re.I), ran.err)
        t.expect("disk full: the other files are whole", ran.pprof().sum_of("samples") == ran.folded().total > 0,
            ran.folded().total)
        left = [p.name for p in disk.iterdir()]
        t.expect("disk full: nothing half-written is left", left == ["fill"], left)
    finally:
        subprocess.run(["umount", str(disk)], check=False)


@case("an output that cannot be written is told before sampling", live=True)
def before(t):
    with Program("spin", 60) as spin:
        ran = stoke(t.folder, "record", "-p", spin.pid, "-d", 30, "-o", "no/such/folder/x.svg")
    t.expect("status 2 at once, the path named", ran.status == 2 and ran.seconds < 10 and "no/such/folder" in ran.err,
        ran.describe())


@case("the status of a command is passed on", live=True)
def statuses(t):
    for script, status in (("exit 7", 7), ("kill -TERM $$", 143), ("exit 0", 0)):
        ran = stoke(t.folder, "record", "-o", "x.folded", "--", "sh", "-c", script)
        t.expect(f"sh -c '{script}': status {status}", ran.status == status, ran.describe())
    ran = stoke(t.folder, "record", "-o", "x.folded", "--", "./no-such-program")
    t.expect("not found: 127", ran.status == 127, ran.describe())
    (t.folder / "plain").write_text("text")
    ran = stoke(t.folder, "record", "-o", "x.folded", "--", "./plain")
    t.expect("not runnable: 126", ran.status == 126, ran.describe())
    with Program("spin", 60) as spin:
        ran = stoke(t.folder, "record", "-p", spin.pid, "-F", 199, "-o", "w.folded", "--", "sleep", "1")
    t.expect("-p PID -- sleep 1: the command is only the window", ran.status == 0 and 1 < ran.seconds < 15 and
        ran.folded("w.folded").user().leaf("hot_inner") > 0.9, ran.describe())


@case("arguments of the target are not stored", live=True)
def secrets(t):
    ran = stoke(t.folder, "record", "-F", 199, *OUT, "-o", "x.json", "--", (WORKLOADS / "exec").resolve(), "0.3", "/bin/true",
        "--password=xyzzy-4711")
    t.expect("recorded", ran.status == 0, ran.describe())
    found = [n for n in ("x.folded", "x.svg", "x.json") if b"xyzzy" in (t.folder / n).read_bytes()]
    if b"xyzzy" in gzip.decompress((t.folder / "x.pb.gz").read_bytes()):
        found.append("x.pb.gz")
    t.expect("no file holds the argument", not found, found)


@case("CL02 hidden kernel addresses", live=True)
def cl02(t):
    paranoid = int(open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii").read())
    restrict = int(open("/proc/sys/kernel/kptr_restrict", encoding="ascii").read())
    if paranoid < 2 and not restrict:
        raise Skip("this kernel shows its addresses to everybody")
    drop = ["setpriv", "--bounding-set=-syslog", "--inh-caps=-all"]
    with Program("pair", 60) as pair:
        ran = record(t, pair.pid, 1.5, 299, ("x.folded", "x.pb.gz"), prefix=drop)
        named = record(t, pair.pid, 1.5, 299, ("y.folded",))
    got = ran.folded()
    kernel = [f for f in got.frames() if any(f + "_[k]" in s for s, _ in got.stacks)]
    with open("/proc/kallsyms", encoding="ascii") as symbols:
        names = {line.split()[2] for line in symbols}
    t.expect("no kernel name is given to any address (not the first, not the last line)",
        not names & {f.split("+")[0] for f in kernel}, sorted(names & set(kernel))[:5])
    t.expect("kernel frames show as one [kernel] frame or as addresses", kernel and all(
        f.startswith("[kernel") or re.match(r"\[?0x[0-9a-f]", f) for f in kernel), kernel[:5])
    t.expect("one hint names kptr_restrict and how to change it", len(re.findall("kptr_restrict", ran.said)) >= 1, ran.said)
    t.expect("with the right to see them, the same frames are named", any(
        "sys" in f for f in named.folded("y.folded").frames()), named.folded("y.folded").head())


def hardware_counts():
    """Whether cycles opens and counts here, asked without stoke."""
    attr = struct.pack("<IIQQQQQ", 0, 112, 0, 0, 0, 0, 0) + bytes(72)
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(298 if os.uname().machine == "x86_64" else 241, attr, 0, -1, -1, 0)
    if fd < 0:
        return False
    sum(i * i for i in range(100000))
    count = struct.unpack("<Q", os.read(fd, 8))[0]
    os.close(fd)
    return count > 0


@case("KV04 no hardware counters", live=True)
def kv04(t):
    with Program("spin", 60) as spin:
        ran = record(t, spin.pid, 1, 199, ("x.folded", "x.pb.gz"))
        used = ran.pprof().fact("stoke.event") or " ".join(ran.pprof().comments)
        expected = "cycles" if hardware_counts() else "cpu-clock"
        t.expect(f"say which event was used and store it: {expected}", expected in used and expected in ran.said,
            (used, ran.said))
        t.expect("samples are there", ran.folded().user().leaf("hot_inner") > 0.9, ran.folded().head())
        ran = stoke(t.folder, "record", "-p", spin.pid, "-d", 1, "-e", "cycles", "-o", "y.folded")
    if expected == "cpu-clock":
        t.expect("cycles asked for by name is refused where it does not count: status 4", ran.status == 4 and
            "cycles" in ran.err, ran.describe())


def hardware_call(t, pid):
    """Which of stoke's perf_event_open() calls asks for a hardware counter first, from 1."""
    log = t.folder / "calls"
    stoke(t.folder, "record", "-p", pid, "-d", 1, "-o", "x.folded", prefix=["strace", "-f", "-qq", "-o", log, "-e",
        "trace=perf_event_open"])
    calls = [line for line in log.read_text().splitlines() if "perf_event_open(" in line]
    return next((i for i, line in enumerate(calls, 1) if "PERF_TYPE_HARDWARE" in line), None)


@case("KV04 the hardware event is refused", live=True, tools=["strace"])
def kv04_refused(t):
    with Program("spin", 120) as spin:
        which = hardware_call(t, spin.pid)
        t.must("a hardware counter is asked for first", which, (t.folder / "calls").read_text()[:500])
        for error in ("EOPNOTSUPP", "ENOENT", "ENODEV", "ENXIO"):
            strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=perf_event_open", "-e",
                f"inject=perf_event_open:error={error}:when={which}"]
            ran = stoke(t.folder, "record", "-p", spin.pid, "-d", 1, "-F", 199, "-o", "x.folded", prefix=strace)
            t.expect(f"falls back to cpu-clock on {error}", ran.status == 0 and
                ran.folded().user().leaf("hot_inner") > 0.9 and "cpu-clock" in ran.said, ran.describe())


if __name__ == "__main__":
    raise SystemExit(main())
