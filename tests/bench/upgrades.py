#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""upgrades.py DIR [-n 3]: one Java program on JDK 8, 11, 17, 21 and 25, each as it comes, recorded by PID,
and each compared with the next at --names jdk: a Markdown table of what aligned and what diff says first.

DIR keeps captures and pictures; what is there is not recorded again. Those JDKs that are not installed are
fetched into roots of their own. STOKE, STOKE_WORKLOADS and STOKE_JDK_ROOT=1 as for tests/cases. By hand, as root."""
import argparse
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cases"))

import jdks  # noqa: E402
from alignment import aligned, counted, frames  # noqa: E402
from driver import STOKE, Skip, Started, enough  # noqa: E402

RELEASES = (8, 11, 17, 21, 25)


def jdk_of(release):
    found = [jdk for jdk in jdks.installed() if jdk.feature == release]
    return found[0] if found else jdks.Rooted(release)


def record(folder, jdk, out):
    with jdk.run(folder, "Upgrade", 3000) as java:
        java.says("ready", enough(300))
        ran = Started(["record", "-p", java.pid, "-d", 600, "-F", 499, "-o", out.name], folder).ended(300)
    if ran.status or not out.exists():
        sys.exit(f"upgrades.py: {out.name}: {ran.describe()}")


def stacks(files, level):
    ran = subprocess.run([STOKE, "convert", "-q", "-f", "folded", "--names", level, "-o", "-", *files],
        check=True, capture_output=True, text=True, errors="replace")
    return counted(ran.stdout)


def compare(before, after, picture):
    rows = {}
    for level in ("none", "jdk"):
        x, y = stacks(before, level), stacks(after, level)
        rows[level] = f"{aligned(x, y):.0%} / {aligned(frames(x), frames(y)):.0%}"
    files = [*before, "--", *after]
    said = subprocess.run([STOKE, "diff", *files, "-o", picture], capture_output=True, text=True, errors="replace")
    if said.returncode:
        sys.exit(f"upgrades.py: {said.stderr}")
    picture.with_suffix(".txt").write_text(said.stdout)
    found = [re.sub(r"\s{2,}", "  ", line) for line in said.stdout.splitlines()
             if re.match(r"(GREW|NEW|SHRANK|GONE)\s+\S*[a-zA-Z]\S*\.", line)]
    return rows, found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dir", type=Path)
    parser.add_argument("-n", type=int, default=3)
    args = parser.parse_args()
    folder = args.dir.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["javac", "-nowarn", "--release", "8", "-d", folder, HERE.parent / "workload" / "Upgrade.java"], check=True)
    there = {}
    for release in RELEASES:
        try:
            there[release] = jdk_of(release)
        except Skip as reason:
            print(f"Not compared: {reason}")
    for i in range(args.n):
        for release, jdk in there.items():
            out = folder / f"jdk{release}-{i}.pb.gz"
            if not out.exists():
                record(folder, jdk, out)
    print("| JDKs | same stack / function, names as they are | at level jdk | what diff says first |")
    print("|---|---|---|---|")
    releases = list(there)
    for before, after in zip(releases, releases[1:]):
        sides = [[folder / f"jdk{r}-{i}.pb.gz" for i in range(args.n)] for r in (before, after)]
        rows, found = compare(*sides, folder / f"jdk{before}-jdk{after}.svg")
        print(f"| {before} → {after} | {rows['none']} | {rows['jdk']} | {'<br>'.join(found[:4])} |")


main()
