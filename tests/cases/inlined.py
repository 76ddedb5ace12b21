#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Inlined functions and source lines, against what addr2line reads from the same file."""
import subprocess
import sys
import time

from driver import WORKLOADS, case, main, record
from readers import bare, message, one
from targets import Program

OWN = {"run", "twice", "count", "add"}


def plain(name):
    """A function's name without what surrounds it: work::Counter::count() const -> count."""
    return bare(name).split("(")[0].split("<")[0].split("::")[-1].split(" ")[-1]


def asked(program, addresses):
    """[(function, line)...] of each address, innermost first, by addr2line."""
    ran = subprocess.run(["addr2line", "-C", "-f", "-i", "-a", "-e", program, *map(hex, addresses)],
        capture_output=True, text=True, check=True)
    found, lines = {}, ran.stdout.splitlines()
    at = None
    while lines:
        line = lines.pop(0)
        if line.startswith("0x"):
            at = found.setdefault(int(line, 16), [])
            continue
        number = lines.pop(0).split(" (")[0].rsplit(":", 1)[1]
        at.append((plain(line), int(number) if number.isdigit() else 0))
    return found


def told(profile, file):
    """The same, by stoke's capture, of what lies in one file."""
    names = {one(f, 1): (profile.strings[one(f, 2)], profile.strings[one(f, 4)]) for f in profile.functions}
    found = {}
    for location in profile.locations:
        if not profile.location_file[one(location, 1)].endswith("/" + file):
            continue
        lines = [message(line) for line in location[4]]
        found[one(location, 3)] = [(plain(names[one(l, 1)][0]), one(l, 2), names[one(l, 1)][1]) for l in lines]
    return found


def judge(t, name, program):
    with Program(program, 30) as running:
        time.sleep(0.2)
        ran = record(t, running.pid, 2, 499, outputs=("x.folded", "x.pb.gz", "x.svg"), extra=("--inline",))
    stacks = ran.folded().user()
    chain = stacks.only(lambda s: "run" in [plain(f) for f in s])
    t.expect("there is something to judge", chain.total > 20, stacks.head())
    inner = chain.sum_of(lambda s: [plain(f) for f in s[-4:]] == ["run", "twice", "count", "add"] and
        all(f.endswith("_[i]") for f in s[-3:]))
    t.expect("what is inlined stands over what it was inlined into", inner > 0.5 * chain.total, chain.head())
    mine = {a: places for a, places in told(ran.pprof(), name).items() if places[-1][0] in ("run", "main")}
    theirs = asked(WORKLOADS / name, mine)
    t.must("places are in the capture", len(mine) > 1, mine)
    differ = {hex(a): (mine[a], theirs[a]) for a in mine if [p[:2] for p in mine[a]] != theirs[a]}
    t.expect("each has the functions and lines that addr2line names", not differ, differ)
    files = {p[2] for places in mine.values() for p in places}
    t.expect("functions know their file", all(f.endswith("/inlined.cc") for f in files), files)
    t.expect("the picture has them too", any("count" in path[-1] for path, _, _ in ran.picture().nodes))


@case("UW20 inlined functions and lines, by gcc", live=True, tools=["addr2line"])
def gcc(t):
    judge(t, "inlined", "inlined")


@case("UW20 inlined functions and lines, by clang", live=True, tools=["addr2line"])
def clang(t):
    judge(t, "inlined_clang", "inlined_clang")


@case("UW20 inlined functions out of a debug file", live=True, tools=["addr2line", "objcopy"])
def apart(t):
    whole, bare, debug = WORKLOADS / "inlined", t.folder / "inlined", t.folder / "inlined.debug"
    for command in (["objcopy", "--only-keep-debug", whole, debug], ["objcopy", "--strip-all", whole, bare],
            ["objcopy", f"--add-gnu-debuglink={debug}", bare]):
        subprocess.run(command, check=True)
    judge(t, "inlined", bare)


@case("UW20 who does not ask gets none", live=True)
def unasked(t):
    with Program("inlined", 30) as running:
        ran = record(t, running.pid, 1, 499, outputs=("x.folded", "x.pb.gz"))
    t.expect("no frame is inlined", not any(f.endswith("_[i]") for s, _ in ran.folded().stacks for f in s))
    t.expect("no line is stored", not any(p[1] for places in told(ran.pprof(), "inlined").values() for p in places))


if __name__ == "__main__":
    sys.exit(main())
