#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Libraries that are opened, called and closed, one after the other, mostly where another had been. Each has functions
of its own names and frames of its own sizes: a table or a name of one that is gone is seen."""
import collections
import os
import subprocess
import sys
from pathlib import Path

from driver import WORKLOADS, case, is_cut, main, memory_limit, stoke

CHURN = (WORKLOADS / "churn").resolve()
MAKE = Path(__file__).resolve().parent.parent / "workload" / "libraries.py"
START = {"_start", "__libc_start_call_main", "__libc_start_main", "[program start]"}
LOST = ("lost-ring", "lost-busy", "lost-late")


class Judged:
    """What is to be said against the samples of some recordings."""

    def __init__(self):
        self.mixed, self.strange, self.cut = (collections.Counter() for _ in range(3))
        self.right = 0
        self.seen = set()

    def take(self, pb):
        for stack, values, _ in pb.rows(lambda file: not file.startswith("[kernel")):
            libraries = {f[:5] for f in stack if f[0] == "L" and f[1:5].isdigit()}
            if len(libraries) > 1:
                self.mixed[stack] += values[0]
            if len(libraries) != 1:
                continue
            name = libraries.pop()
            self.seen.add(name)
            chain = ["use", "enter", f"{name}_second", f"{name}_third", f"{name}_last"]
            if is_cut(stack[-1]):
                self.cut[stack] += values[0]
            elif ";".join(["main", *chain]).startswith(
                    ";".join(f for f in reversed(stack) if f in chain or f == "main")) and stack[-1] in START:
                self.right += values[0]
            else:
                self.strange[stack] += values[0]


def churn(t, judged, rounds, us, libraries, hz=2999):
    ran = stoke(t.folder, "record", "-F", hz, "-o", "x.pb.gz", "--", CHURN, rounds, us, *libraries, within_s=120)
    t.must("all were opened, and stoke ended with status 0", ran.status == 0, ran.describe())
    said = dict(line.split() for line in ran.out.splitlines() if line.startswith(("times ", "again ")))
    t.expect("they did lie where others had been", int(said["again"]) > int(said["times"]) * 0.4, said)
    pb = ran.pprof()
    judged.take(pb)
    taken, lost = pb.sum_of("samples"), sum(int(pb.fact(f"stoke.quality.{n}") or 0) for n in LOST)
    t.expect("all samples that came are in the file", int(pb.fact("stoke.quality.samples") or -1) in (taken, taken + lost),
        (pb.fact("stoke.quality.samples"), taken, lost))
    return ran


@case("UW11 100 libraries that come and go", live=True, tools=["gcc"])
def hundred(t):
    subprocess.run([sys.executable, str(MAKE), "100", str(t.folder / "libraries")], check=True)
    libraries = sorted((t.folder / "libraries").iterdir())
    judged = Judged()
    for _ in range(8):
        ran = churn(t, judged, 1, 10000, libraries)
        if judged.right >= 50 and len(judged.seen) >= 50:
            break
    t.expect("no frame of one is among those of another", not judged.mixed, judged.mixed.most_common(3))
    t.expect("no caller is left out or invented in a stack that is called whole", not judged.strange,
        judged.strange.most_common(3))
    t.expect("there is something to judge", judged.right >= 50 and len(judged.seen) >= 50,
        (judged.right, len(judged.seen), judged.cut.most_common(3)))
    t.expect("memory does not grow with what is gone", ran.peak_bytes < memory_limit(128 << 20), ran.peak_bytes)
    if os.environ.get("VERBOSE"):
        print("#", judged.right, len(judged.seen), sum(judged.cut.values()), ran.peak_bytes >> 20, judged.cut.most_common(5))


if __name__ == "__main__":
    sys.exit(main())
