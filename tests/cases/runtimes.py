#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Real runtimes: HotSpot 17 (whose code cache is read, no map), node and CPython 3.13 (perf maps)."""
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from driver import HERE, SHARED, Skip, Started, case, main
from targets import Contained, Program, map_of

WORK = HERE.parent / "workload"
OUT = ["-o", "x.folded", "-o", "x.pb.gz", "-o", "x.svg"]


def generated(got):
    """(named, nameless) weight of frames in generated code: "_[j]" marks the named ones, and no mark in
    brackets but those for other things may stand for the rest."""
    named = nameless = 0
    for stack, count in got.stacks:
        for frame in stack:
            if frame.endswith("_[j]") and not frame.startswith("["):
                named += count
            elif frame.startswith(("[jit", "[unknown", "[anon", "[generated", "0x")):
                nameless += count
    return named, nameless


def named_share(t, got, line, floor):
    named, nameless = generated(got)
    t.expect(line, named > 500 and named / (named + nameless) > floor, (named, nameless, got.head(10)))


def roots(t, got, thread_roots, floor):
    whole = got.share_of(lambda s: bool(set(s) & thread_roots) or s[0].endswith("_[k]"))
    t.expect(f"stacks reach the start of their thread: {floor:.0%}", whole >= floor,
        [(s[:3], n) for s, n in got.stacks if not set(s) & thread_roots][:5])


@case("HotSpot 17: over 97 % of Java frames are named, without a map", live=True, tools=["java", "javac"])
def hotspot(t):
    version = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    if ' "17' not in version:
        raise Skip(f"java is not 17: {version.splitlines()[0]}")
    subprocess.run(["javac", "-d", str(t.folder), str(WORK / "Work.java")], check=True, capture_output=True)
    with Program(shutil.which("java"), "-XX:+PreserveFramePointer", "-cp", t.folder, "Work", 30, 4) as java:
        java.says("ready", 60)
        started = Started(["record", "-p", java.pid, "-d", 5, "-F", 499, "--by", "thread", *OUT], t.folder)
        ran = started.ended(60)
        t.expect("nobody wrote a map", not map_of(java.pid).exists(), map_of(java.pid))
    t.expect("and none is asked for", "perf-" not in ran.err, ran.err)
    t.expect("recording ends with status 0", ran.status == 0, ran.describe())
    got = ran.folded()
    named_share(t, got, "over 97 % of Java frames named", 0.97)
    work = got.only(lambda s: "worker-" in s[0])
    t.expect("the work is in its named threads", work.share_of(lambda s: "worker-" in s[0]) and
        work.total > 0.6 * got.total, got.total)
    for method in ("Work.round", "Work.sortSome", "Work.climb"):
        t.expect(f"{method} is there", any(method in f.replace("::", ".") for f in got.frames()), got.head(10))
    roots(t, work, {"start_thread", "[thread start]", "clone3", "__clone3"}, 0.9)


@case("node: JavaScript is named", live=True, tools=["node"])
def node(t):
    # V8 10 inlines addUp(), V8 11 does not: what is asked for here must not depend on that.
    flags = ["--perf-basic-prof", "--interpreted-frames-native-stack", "--no-turbo-inlining"]
    with Program(shutil.which("node"), *flags, WORK / "work.js", 30, folder=t.folder) as running:
        running.says("ready", 30)
        ran = Started(["record", "-p", running.pid, "-d", 4, "-F", 499, *OUT], t.folder).ended(60)
        map_of(running.pid).unlink(missing_ok=True)
    t.expect("recording ends with status 0", ran.status == 0, ran.describe())
    got = ran.folded()
    named_share(t, got, "over 97 % of JavaScript frames named", 0.97)
    for function in ("sortSome", "addUp", "byValue"):
        t.expect(f"{function} is there", any(function in f for f in got.frames()), got.head(10))


def python_root():
    """A root with Python 3.13 of its own; made once, since it is fetched."""
    tool = SHARED / "tools" / "jdk-root"
    if not tool.exists():
        raise Skip("no tool for a root with Python 3.13 beside the source")
    root = Path(tempfile.gettempdir()) / f"stoke-python-root-{os.getuid()}"
    if not (root / "usr/bin/python3.13").exists():
        made = subprocess.run([str(tool), "python", str(root)], capture_output=True, text=True)
        if made.returncode:
            raise Skip(f"Python 3.13 cannot be had: {made.stderr.strip()[-200:]}")
    return tool, root


@case("Python 3.13 -X perf, in a root of its own", live=True)
def python(t):
    """Debian's Python keeps no frame pointers, and neither do the trampolines that its map names."""
    tool, root = python_root()
    shutil.copy(WORK / "work.py", root / "tmp" / "work.py")
    with Contained(tool, "run", "python", root, "-X", "perf", "/tmp/work.py", "30", comm="python3") as running:
        time.sleep(2)
        ran = Started(["record", "-p", running.pid, "-d", 3, "-F", 499, *OUT], t.folder).ended(60)
    t.expect("recording ends with status 0", ran.status == 0, ran.describe())
    got = ran.folded()
    t.expect("every line of its map is accepted", ran.pprof().fact("stoke.quality.map-lines-bad") in (None, "0"),
        ran.pprof().comments)
    for function in ("py::middle", "py::outer"):
        t.expect(f"{function} is there in nearly all stacks", got.share_of(
            lambda s: any(function in f for f in s)) > 0.85, got.head(10))
    named_share(t, got, "over 97 % of Python's trampolines named", 0.97)
    t.expect("Python's functions stand in the order of their calls", got.only(
        lambda s: any("py::middle" in f for f in s)).share_of(lambda s: [
            f.split(":")[2] for f in s if f.startswith(("py::outer", "py::middle"))][:2] == ["outer", "middle"]) > 0.97,
        [s for s, _ in got.stacks[:2]])


if __name__ == "__main__":
    raise SystemExit(main())
