#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Thousands of processes while everything is recorded. Programs here share addresses and, at times, process numbers,
but no function: a name or a caller that belongs to another program is seen. No rate is asked for."""
import collections
import re
import sys

from driver import Started, WORKLOADS, case, main, memory_limit

STORM = (WORKLOADS / "storm").resolve()
BARE, LIBC = ["ash", "birch", "cedar", "dogwood"], ["elm", "fern", "gorse"]
LOST = ("lost-ring", "lost-busy", "lost-late")
START = re.compile(r"_start$|__libc_start_(main|call_main)|\[program start\]|_dl_start")


def storm(t, number, motes, env=None):
    """Records all CPUs while `number` processes are started; gives what stoke left, and pid -> programs."""
    (t.folder / "log").unlink(missing_ok=True)
    programs = [(WORKLOADS / f"mote_{m}").resolve() for m in motes]
    ran = Started(["record", "-a", "-F", 999, "-o", "x.pb.gz", "--", STORM, number, 0, "log", *programs], t.folder,
        env=env).ended(240)
    t.must("all of them were started, and stoke ended with status 0", ran.status == 0, ran.describe())
    at = collections.defaultdict(set)
    for line in (t.folder / "log").read_text().splitlines():
        pid, program = line.split()
        at[int(pid)].add(program)
    t.must("the log has them all", len((t.folder / "log").read_text().splitlines()) == number)
    return ran, at


class Judged:
    """What is to be said against the samples of some recordings."""

    def __init__(self):
        self.wrong, self.strange, self.cut = (collections.Counter() for _ in range(3))
        self.of_motes = self.right = 0

    def take(self, pb, at, motes):
        """Each stack is of the program that ran there, and right as far as it goes."""
        for stack, values, labels in pb.rows(lambda file: not file.startswith("[kernel")):
            comm = labels.get("thread") or ""
            own = {m for f in stack for m in motes if f.startswith(m + "_")}
            if comm.startswith("mote_") or own:
                self.of_motes += values[0]
                if own - {comm[5:]} or comm not in at.get(labels["pid"], ()):
                    self.wrong[comm, labels["pid"], stack] += values[0]
            if own == {comm[5:]}:
                self.follow(stack, comm[5:], values[0])

    def follow(self, stack, mote, nr):
        chain = [f"{mote}_{part}" for part in ("inner", "middle", "outer")] + ["main"]
        if stack[-1] == "[broken]":  # by frame pointers: there was no room for a copy
            self.cut[stack] += nr
        elif stack[0] in chain and START.search(stack[-1]) and \
                list(stack[:len(chain) - chain.index(stack[0])]) == chain[chain.index(stack[0]):]:
            self.right += nr
        else:
            self.strange[stack] += nr


def storms(t, number, motes, env=None):
    """As many storms as it takes until there is something to judge; the last one, and pid -> programs of it."""
    judged = Judged()
    for _ in range(8):
        ran, at = storm(t, number, motes, env)
        pb = ran.pprof()
        judged.take(pb, at, motes)
        lost = sum(int(pb.fact(f"stoke.quality.{n}") or 0) for n in LOST)
        taken = pb.sum_of("samples")
        t.expect("all samples that came are in the file", int(pb.fact("stoke.quality.samples") or -1) in (
            taken, taken + lost), (pb.fact("stoke.quality.samples"), taken, lost))
        if judged.right >= 20:
            break
    t.expect("no frame and no process is another's", not judged.wrong, judged.wrong.most_common(3))
    t.expect("no caller is left out or invented", not judged.strange, judged.strange.most_common(3))
    # Nearly all are whole where stoke gets its share of the machine.
    t.expect("there is something to judge", judged.right >= 20, (judged.right, judged.of_motes, judged.cut.most_common(3)))
    return ran, at


@case("SL06 1,500 processes while everything is recorded", live=True)
def many(t):
    ran, _ = storms(t, 1500, BARE + LIBC)
    t.expect("memory does not grow with those that are dead", ran.peak_bytes < memory_limit(256 << 20), ran.peak_bytes)


@case("SL07 process numbers that are used again at once", live=True)
def numbers(t):
    _, at = storms(t, 400, BARE, {"PIDS": "16"})
    # Now and then somebody else gets one.
    t.expect("each number was several programs'", len(at) <= 32 and sum(len(p) > 1 for p in at.values()) >= 8,
        {k: sorted(v) for k, v in list(at.items())[:3]})


if __name__ == "__main__":
    sys.exit(main())
