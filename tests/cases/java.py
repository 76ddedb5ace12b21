#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Java as it runs: stacks of JVMs of any release, without frame pointers, agent, or map."""
import signal
import subprocess
import time
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path

import jdks
from driver import HERE, Started, case, enough, main
from jdks import THREAD, is_java

WORK = HERE.parent / "workload"
HZ = 999
ROUNDS = 3  # until each shape was sampled often enough
MS = 120  # of CPU time in burn() under each known number of calls
EARLY = 4  # samples that may come before all is known of a process: a machine may be crowded
SHAPES = {"Deep.down(": 1001, "Deep.jump(": 301, "Deep.caught(": 301, "Deep.through(": 61}
MODES = {"interpreted": ["-Xint", "-XX:+UseSerialGC"], "C1": ["-XX:TieredStopAtLevel=1", "-XX:+UseParallelGC"],
    "C2": ["-XX:-TieredCompilation", "-XX:+UseG1GC"], "mixed": []}
# The topmost frame's inlining is not always known: burn(), which is on top, has a frame of its own.
EXACT = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Deep.burn"]


def nearly_all(rows, wanted, need):
    missed = [(n, names) for names, n in rows if not wanted(names)]
    total = sum(n for _, n in rows)
    return total > 50 and sum(n for n, _ in missed) <= max(EARLY, (1 - need) * total)


def compiled(t):
    subprocess.run(["javac", "--release", "8", "-g", "-d", str(t.folder), str(WORK / "Deep.java"), str(WORK / "Work.java")],
        check=True, capture_output=True)
    include = Path(jdks.installed()[0].java).resolve().parent.parent / "include"
    subprocess.run(["gcc", "-O2", "-fomit-frame-pointer", "-shared", "-fPIC", "-nostdlib", f"-I{include}", f"-I{include}/linux",
        "-o", str(t.folder / "libthrough.so"), str(WORK / "through.c")], check=True, capture_output=True)


def cpu_ticks(pid):
    return sum(map(int, Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[11:13]))


def settled(running):
    """Until it records, and has made its tables: nobody has anything to do then. The first stack that needs one
    which is still being made would else be lost."""
    end, quiet, before = time.monotonic() + enough(60), 0, 0
    while quiet < 3 and time.monotonic() < end and running.process.poll() is None:
        time.sleep(0.2)
        now = cpu_ticks(running.process.pid)
        quiet = quiet + 1 if now - before <= 1 and f"at {HZ} Hz" in running.text_of(running.err) else 0
        before = now


def recorded(t, deep, work):
    """{pid: [(names from the root, samples)]} until all of `deep` are done."""
    for program in deep + work:
        program.says("ready", enough(60))
    pids = ",".join(str(p.pid) for p in deep + work)
    running = Started(["record", "-p", pids, "-d", 0, "-F", HZ, "-U", "-o", "x.pb.gz"], t.folder)
    settled(running)
    for program in deep + work:
        program.process.stdin.write(b"go\n")
        program.process.stdin.close()
    for program in deep:
        program.says("done", enough(100))
    running.process.send_signal(signal.SIGINT)
    ran = running.ended(60)
    t.must("recording ends with status 0", ran.status == 0, ran.describe())
    rows = defaultdict(list)
    for names, values, labels in ran.pprof().rows():
        rows[labels["pid"]].append((names[::-1], values[0]))
    return rows


def is_whole(names):
    return bool(THREAD & set(names[:3]))


def under_of(rows, shape):
    return [(s, n) for s, n in rows if any(shape in f for f in s) and any("Deep.burn(" in f for f in s)]


def is_enough(rows):
    """Is there something to judge of each shape? A machine may be crowded."""
    return all(sum(n for _, n in under_of(rows, shape)) > 50 for shape in SHAPES)


def check_deep(t, mode, rows):
    # Where code is thrown away while its frames wait, as here in the warm-up, those frames return to the
    # deoptimisation handler, and the methods inlined in them are not shown: a known gap.
    need = 0.5 if mode == "mixed" else 0.99
    for shape, calls in SHAPES.items():
        under = under_of(rows, shape)
        depths = defaultdict(int)
        for stack, n in under:
            depths[sum(shape in f for f in stack)] += n
        t.expect(f"{mode}: each stack has {calls} frames of {shape}", nearly_all(
            under, lambda s: sum(shape in f for f in s) == calls, need), dict(depths))
        t.expect(f"{mode}: hardly one has more, with {shape}",
            sum(n for depth, n in depths.items() if depth > calls) <= EARLY, dict(depths))
        t.expect(f"{mode}: and stands on the start of its thread, with {shape}", nearly_all(under, is_whole, 0.99),
            [s[:4] for s, _ in under if not is_whole(s)][:3])


def check_work(t, flag, rows):
    mine = [(s, n) for s, n in rows if any("Work." in f for f in s) or is_java(s[-1])]
    for what, some, floor in (("Java on top", [(s, n) for s, n in mine if is_java(s[-1])], 0.99), ("Java in it", mine, 0.96)):
        t.expect(f"{flag}: stacks with {what} reach the start of their thread: {floor:.0%}", nearly_all(some, is_whole, floor),
            (sum(n for _, n in some), [(s[:2], s[-2:], n) for s, n in some if not is_whole(s)][:4]))


def collectors(jdk):
    """Those that run beside the program, with barriers in its code, where they are built in; else the usual one."""
    found = [flag for flag in ("-XX:+UseZGC", "-XX:+UseShenandoahGC") if jdk.has(flag)] if jdk.feature > 17 else []
    return found or ["-XX:+UseG1GC"]


def run(t, release):
    jdk = jdks.jdk_of(release)
    compiled(t)
    for _ in range(ROUNDS):
        deep, work, rows = one_round(t, jdk)
        if all(is_enough(rows[program.pid]) for program in deep.values()):
            break
    for mode, program in deep.items():
        check_deep(t, mode, rows[program.pid])
    for flag, program in work.items():
        check_work(t, flag, rows[program.pid])


def one_round(t, jdk):
    with ExitStack() as stack:
        deep = {mode: stack.enter_context(jdk.run(t.folder, *EXACT, *flags, "Deep", MS, "@libthrough.so", stdin=subprocess.PIPE))
            for mode, flags in MODES.items()}
        work = {flag: stack.enter_context(jdk.run(t.folder, flag, "Work", 600, 1, 1, stdin=subprocess.PIPE)) for flag in collectors(jdk)}
        return deep, work, recorded(t, list(deep.values()), list(work.values()))


@case("JV01 JDK 17: whole stacks, of known depth, by any collector", live=True, tools=["javac", "gcc"])
def java17(t):
    run(t, 17)


@case("JV01 JDK 8: the same", live=True, tools=["javac", "gcc"])
def java8(t):
    run(t, 8)


@case("JV01 JDK 11: the same", live=True, tools=["javac", "gcc"])
def java11(t):
    run(t, 11)


@case("JV01 JDK 21: the same", live=True, tools=["javac", "gcc"])
def java21(t):
    run(t, 21)


@case("JV01 JDK 25: the same", live=True, tools=["javac", "gcc"])
def java25(t):
    run(t, 25)


if __name__ == "__main__":
    raise SystemExit(main())
