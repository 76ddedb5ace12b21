#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Java as it runs: stacks of JVMs without frame pointers, agent, or map."""
import glob
import shutil
import subprocess

from driver import HERE, Skip, case, main, record
from targets import Program

WORK = HERE.parent / "workload"
THREAD = {"start_thread", "[thread start]", "clone3", "__clone3"}


EARLY = 4  # samples that may come before all is known of a process: a machine may be crowded


def nearly_all(samples, wanted, need):
    missed = samples.only(lambda s: not wanted(s)).total
    return samples.total > 100 and missed <= max(EARLY, (1 - need) * samples.total)


def compiled(t, name):
    subprocess.run(["javac", "-d", str(t.folder), str(WORK / f"{name}.java")], check=True, capture_output=True)


def is_java(frame):
    return frame.endswith(("_[j]", "_[0]", "_[i]"))


def exact(t, java, *flags):
    """A known number of calls, no more and no less."""
    compiled(t, "Deep")
    with Program(java, *flags, "-cp", t.folder, "Deep", 1000, 60) as running:
        running.says("ready", 60)
        ran = record(t, running.pid, 4, 499)
    spinning = ran.folded().user().only(lambda s: any("Deep.burn(" in f for f in s))
    t.expect("each has 1,001 frames of down()", nearly_all(
        spinning, lambda s: sum("Deep.down(" in f for f in s) == 1001, 0.99),
        sorted({sum("Deep.down(" in f for f in s) for s, _ in spinning.stacks}))
    t.expect("none has more", all(sum("Deep.down(" in f for f in s) <= 1001 for s, _ in spinning.stacks))
    t.expect("and stands on the start of its thread", nearly_all(
        spinning, lambda s: bool(THREAD & set(s[:3])), 0.99), [s[:4] for s, _ in spinning.stacks][:3])


@case("JV01 interpreted, 1,000 deep", live=True, tools=["java", "javac"])
def interpreted(t):
    exact(t, shutil.which("java"), "-Xint")


@case("JV01 compiled, 1,000 deep", live=True, tools=["java", "javac"])
def compiled_deep(t):
    exact(t, shutil.which("java"), "-XX:-Inline")


def whole(t, java):
    compiled(t, "Work")
    with Program(java, "-cp", t.folder, "Work", 60, 4) as running:
        running.says("ready", 100)
        ran = record(t, running.pid, 5, 499)
    mine = ran.folded().user().only(lambda s: any("Work." in f for f in s) or is_java(s[-1]))
    on_top = mine.only(lambda s: is_java(s[-1]))
    for what, samples, floor in (("Java on top", on_top, 0.99), ("Java in it", mine, 0.96)):
        t.expect(f"stacks with {what} reach the start of their thread: {floor:.0%}",
            nearly_all(samples, lambda s: bool(THREAD & set(s[:3])), floor),
            (samples.total, samples.only(lambda s: not THREAD & set(s[:3])).head(4)))


@case("JV02 default flags: whole stacks", live=True, tools=["java", "javac"])
def default_flags(t):
    whole(t, shutil.which("java"))


@case("JV02 the same, on 25", live=True, tools=["javac"])
def default_flags_25(t):
    found = sorted(glob.glob("/usr/lib/jvm/*25*/bin/java"))
    if not found:
        raise Skip("no JDK 25 here")
    whole(t, found[0])


if __name__ == "__main__":
    raise SystemExit(main())
