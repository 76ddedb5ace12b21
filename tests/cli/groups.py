#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Targets that are no PIDs: cgroups of both versions, containers, names."""
import os
import re
import shutil
import time
from pathlib import Path

from driver import Skip, Started, WORKLOADS, case, main, stoke
from targets import Program

TOP = Path("/sys/fs/cgroup")


class Cgroup:
    """A cgroup of this machine for a while, with a process in it and one outside."""

    def __init__(self, top):
        self.name = f"stoke-{os.getpid()}"
        self.top = top
        self.below = top / self.name / "below"

    def __enter__(self):
        try:
            self.below.mkdir(parents=True)
        except OSError as wrong:
            raise Skip(f"no cgroup can be made below {self.top}: {wrong}") from wrong
        return self

    def take(self, pid):
        (self.below / "cgroup.procs").write_text(str(pid))

    def __exit__(self, *_):
        for directory in (self.below, self.below.parent):
            for pid in (directory / "cgroup.procs").read_text().split():
                (self.top / "cgroup.procs").write_text(pid)
            directory.rmdir()


def top_of(version):
    places = [TOP, TOP / "unified"] if version == 2 else [TOP / "cpu", TOP / "cpu,cpuacct"]
    for place in places:
        if (place / "cgroup.procs").exists() and (place / "cgroup.controllers").exists() == (version == 2):
            return place
    raise Skip(f"no cgroups of version {version} here")


def only_inside(t, version):
    """Of two spinning processes one is in the cgroup, and what joins it later is recorded too."""
    with Cgroup(top_of(version)) as group, Program("spin_first", 60) as inside, Program("shares", 60):
        group.take(inside.pid)
        started = Started(["record", "-G", "/" + group.name, "-F", 499, "-d", 2, "--by", "process", "-o", "x.folded"], t.folder)
        with Program("spin_second", 60) as late:
            group.take(late.pid)
            ran = started.ended(60)
        t.must("status 0", ran.status == 0, ran.describe())
    roots = {stack[0].split("-")[0].split(" ")[0] for stack, _ in ran.folded().stacks}
    t.expect("what is in it, and what joined it, and nothing else", roots == {"spin_first", "spin_second"}, roots)


@case("-G records a cgroup of version 2, those below it, and what joins it", live=True)
def version_2(t):
    only_inside(t, 2)


@case("-G records a cgroup of version 1", live=True)
def version_1(t):
    only_inside(t, 1)


@case("--container finds a container by the digits of its id", live=True)
def container(t):
    # An id in a path is all there is of a container outside of its engine.
    name = os.urandom(32).hex()
    top = top_of(1 if (TOP / "cpu").exists() else 2)
    place = top / name
    try:
        place.mkdir()
    except OSError as wrong:
        raise Skip(f"no cgroup can be made below {top}: {wrong}") from wrong
    try:
        with Program("spin", 60) as inside, Program("shares", 60):
            (place / "cgroup.procs").write_text(str(inside.pid))
            ran = stoke(t.folder, "record", "--container", name[:12], "-F", 499, "-d", 1, "-o", "x.folded")
            doctor = stoke(t.folder, "doctor", "--container", name[:12])
    finally:
        end = time.monotonic() + 10
        while (place / "cgroup.procs").read_text() and time.monotonic() < end:
            time.sleep(0.02)
        place.rmdir()
    t.must("status 0", ran.status == 0, ran.describe())
    t.expect("its process alone", ran.folded().total > 0 and all("hot_inner" in " ".join(s) or "main" in s
        for s, _ in ran.folded().user().stacks) and not any("thirty" in " ".join(s) for s, _ in ran.folded().stacks),
        ran.folded().stacks[:3])
    t.expect("doctor looks at its first process", f"target    {inside.pid} spin" in doctor.out and
        f"container {name[:12]}" in doctor.out, doctor.out)


@case("a limit and the machine's time stand in the answer", live=True)
def limit(t):
    place = top_of(1 if (TOP / "cpu").exists() else 2) / f"stoke-limit-{os.getpid()}"
    try:
        place.mkdir()
    except OSError as wrong:
        raise Skip(f"no cgroup can be made: {wrong}") from wrong
    try:
        quota = place / "cpu.cfs_quota_us"
        if not quota.exists():
            quota = place / "cpu.max"
        if not quota.exists():
            raise Skip("no controller limits CPU here")
        quota.write_text("20000")
        with Program("spin", 60) as spin:
            (place / "cgroup.procs").write_text(str(spin.pid))
            ran = stoke(t.folder, "record", "-p", spin.pid, "-d", 1, "-o", "x.pb.gz")
            doctor = stoke(t.folder, "doctor", "-p", spin.pid)
    finally:
        end = time.monotonic() + 10
        while (place / "cgroup.procs").exists() and (place / "cgroup.procs").read_text() and time.monotonic() < end:
            time.sleep(0.02)
        place.rmdir()
    t.must("status 0", ran.status == 0, ran.describe())
    t.expect("the limit", "\nlimit     0.2 cores by cgroup, " in ran.out, ran.out)
    t.expect("the machine", re.search(r"^machine   \d+ CPUs?, \d+ % busy \(user \d+ %, system \d+ %, irq \d+ %\)",
        ran.out, re.M), ran.out)
    t.expect("doctor tells it too", "limit 0.2 cores by cgroup" in doctor.out, doctor.out)


@case("a hierarchy that only has a name is refused, with what works", live=True)
def named(t):
    place = TOP / "systemd"
    if not (place / "cgroup.procs").exists() or (place / "cgroup.controllers").exists():
        raise Skip("no named hierarchy here")
    ran = stoke(t.folder, "record", "-G", place, "-d", 1)
    t.expect("status 4, one sentence", ran.status == 4 and "has a name and no controller" in ran.err and
        ran.err.count("\n") == 1, ran.describe())


@case("--name takes the one that is called so, and lists several", live=True)
def names(t):
    own = t.folder / f"named{os.getpid()}"
    shutil.copy(WORKLOADS / "spin", own)
    with Program(own, 60) as first:
        comm = own.name
        one = stoke(t.folder, "record", "--name", comm, "-F", 499, "-d", "0.5", "-o", "x.folded")
        with Program(own, 60) as second:
            two = stoke(t.folder, "record", "--name", comm, "-d", "0.5", "-o", "y.folded")
            t.expect("both are listed, ready to be taken", two.status == 2 and all(
                f"stoke record -p {p.pid} " in two.err for p in (first, second)), two.describe())
    t.expect("one of that name is recorded", one.status == 0 and f"{first.pid} {comm}" in one.err, one.describe())


if __name__ == "__main__":
    raise SystemExit(main())
