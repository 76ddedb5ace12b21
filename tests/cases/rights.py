#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Recording with few rights: without BPF as root, and as the owner of a process and nothing else."""
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from driver import STOKE, WORKLOADS, NeedsRights, Skip, case, is_cut, enough, main, record, stoke
from readers import Folded
from targets import Program

NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set", "-all",
    "--inh-caps", "-all"]


def paranoid():
    return int(Path("/proc/sys/kernel/perf_event_paranoid").read_text())


def whole(t, user, need=0.99):
    # One stack is copied: a handler on a stack of its own ends at what it interrupted.
    short = user.only(lambda s: is_cut(s[0]) and "handler" not in s)
    t.expect(f"{need:.0%} of stacks are whole", user.total > 50 and short.total <= max(4, (1 - need) * user.total),
        (user.total, short.total, short.head(5)))


class Theirs:
    """A folder that nobody may use, with a stoke and a program in it."""

    def __init__(self, t, program):
        if os.geteuid() != 0:
            raise NeedsRights("needs root, to become somebody else")
        if paranoid() > 2:
            raise Skip("kernel.perf_event_paranoid allows nobody any event")
        self.folder = t.folder / "theirs"
        self.folder.mkdir()
        shutil.copy(STOKE, self.folder / "stoke")
        shutil.copy(WORKLOADS / program, self.folder / program)
        os.chown(self.folder, 65534, 65534)
        self.program = self.folder / program

    def run(self, *arguments, within_s=40):
        return subprocess.run([*NOBODY, self.folder / "stoke", *map(str, arguments)], cwd=self.folder,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=enough(within_s))

    def start(self, *arguments):
        return subprocess.Popen([*NOBODY, self.program, *map(str, arguments)], cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def deep_enough(t, user):
    t.expect("callers are 31 deep, and never deeper", user.share_of(lambda s: s.count("down") == 31) > 0.9 and
        max(s.count("down") for s, _ in user.stacks) == 31, user.head(3))


@case("RI01 root without BPF: whole stacks of code without frame pointers, the kernel's among them", live=True)
def without(t):
    with Program("frames", 20, 30) as running:
        time.sleep(0.3)
        ran = record(t, running.pid, 3, 499, extra=["--no-bpf"])
    whole(t, ran.folded().user())
    deep_enough(t, ran.folded().user())
    t.expect("it says what this way is", "no BPF here (--no-bpf)" in ran.said, ran.said)


@case("RI01 the same, of a command that starts others", live=True, tools=["python3"])
def command(t):
    script = "import subprocess, sys\nfor i in range(3): subprocess.run([sys.executable, '-c', " \
        "'import time\\nwhile time.process_time() < 0.5: sum(range(1000))'])"
    ran = stoke(t.folder, "record", "--no-bpf", "-F", "199", "-o", "x.folded", "--", "python3", "-c", script)
    t.must("status of the command", ran.status == 0, ran.describe())
    user = ran.folded().user()
    t.expect("children are there", user.total > 100, user.total)
    whole(t, user.only(lambda s: not s[0].startswith("python3") or len(s) > 1), 0.95)


@case("RI01 a target that ends", live=True)
def ends(t):
    with Program("spin", 8) as running:
        ran = stoke(t.folder, "record", "--no-bpf", "-p", running.pid, "-d", 60, "-F", 199, "-o", "x.folded",
            within_s=90)
    t.expect("status 0, and the file is there", ran.status == 0 and (t.folder / "x.folded").exists(), ran.describe())
    t.expect("it says that the target ended", "the target ended after" in ran.said, ran.describe())


@case("RI01 no such event, and too high a rate", live=True)
def refused(t):
    ran = stoke(t.folder, "record", "--no-bpf", "-e", "cycle", "-o", "x.folded", "--", "true")
    t.expect("an unknown event is refused", ran.status == 125 and "unknown event" in ran.err, ran.describe())


@case("RI02 nobody and their own process", tools=["setpriv"])
def own(t):
    theirs = Theirs(t, "frames")
    target = theirs.start(20, 30)
    try:
        time.sleep(0.5)
        ran = theirs.run("record", "-p", target.pid, "-d", 3, "-F", 199, "-o", "x.folded")
    finally:
        target.kill()
        target.wait()
    t.must("recorded", ran.returncode == 0, ran.stderr)
    t.expect("it says why, and what it cannot do", "no BPF here (CAP_BPF is missing)" in ran.stderr + ran.stdout and
        (paranoid() < 2 or "user code only" in ran.stderr + ran.stdout), ran.stderr + ran.stdout)
    user = Folded.of_file(theirs.folder / "x.folded").user()
    whole(t, user)
    deep_enough(t, user)


@case("RI02 nobody and a command", tools=["setpriv"])
def own_command(t):
    theirs = Theirs(t, "spin")
    ran = theirs.run("record", "-F", 199, "-o", "x.folded", "--", "./spin", "1")
    t.must("status of the command", ran.returncode == 0, ran.stderr)
    user = Folded.of_file(theirs.folder / "x.folded").user()
    t.expect("its functions have names", user.share_of(lambda s: "main" in s) > 0.9, user.head(3))


@case("RI03 nobody and somebody else's process", tools=["setpriv"])
def other(t):
    theirs = Theirs(t, "spin")
    with Program("spin", 20) as running:
        ran = theirs.run("record", "-p", running.pid, "-d", 1, "-o", "x.folded")
    t.expect("status 4, and what would help", ran.returncode == 4 and "permission denied" in ran.stderr and
        "setcap" in ran.stderr, ran.stderr)
    t.expect("no file is left", not (theirs.folder / "x.folded").exists())
    ran = theirs.run("record", "-a", "-d", 1, "-o", "x.folded")
    t.expect("nor every process", ran.returncode == 4 or paranoid() < 1, ran.stderr)


if __name__ == "__main__":
    sys.exit(main())
