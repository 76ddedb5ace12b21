#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Java VMs read from outside: names against the VM's own word, and a VM whose tables are gone."""
import os
import re
import subprocess
import time
from pathlib import Path

import jdks
from driver import HERE, case, enough, main
from targets import map_of

RECORD = Path(os.environ["STOKE_WORKLOADS"]).parent / "hotspot" / "record"
TRIES = 6  # a quiet VM compiles something now and then

jdks.FLAGS = ["-XX:+UseSerialGC", "-Xmx128m"]


def compiled(t):
    subprocess.run(["javac", "--release", "8", "-g", "-d", str(t.folder), str(HERE.parent / "hotspot" / "Few.java")],
        check=True, capture_output=True)


def read_by_stoke(pid):
    """{(address, name): (size, compilation, level, state)}"""
    said = subprocess.run([RECORD, str(pid)], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in said.splitlines():
        place, numbers = line.rsplit("\t", 1)
        address, size, name = place.split(" ", 2)
        found[int(address, 16), name] = (int(size, 16), *map(int, numbers.split()))
    return found


def perfmap_of(pid):
    subprocess.run(["jcmd", str(pid), "Compiler.perfmap"], check=True, capture_output=True)
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    inner = re.search(r"NSpid:.*?(\d+)\n", status).group(1)
    path = Path("/proc", str(pid), "root", "tmp", f"perf-{inner}.map")
    text = path.read_text(encoding="utf-8")
    path.unlink()
    return {(int(a, 16), name): int(size, 16) for a, size, name in (line.split(" ", 2) for line in text.splitlines())}


def same_as_perfmap(t, release):
    jdk = jdks.jdk_of(release)
    compiled(t)
    with jdk.run(t.folder, "Few") as java:
        java.says("ready", enough(60))
        for _ in range(TRIES):
            ours = {place: numbers[0] for place, numbers in read_by_stoke(java.pid).items()}
            theirs = perfmap_of(java.pid)
            if ours == theirs:
                break
            time.sleep(1)
    t.expect(f"all of {len(theirs)} lines are equal", ours == theirs and len(theirs) > 200,
        sorted(set(ours.items()) ^ set(theirs.items()))[:5])


@case("JDK 17: names equal Compiler.perfmap", live=True, tools=["javac", "jcmd"])
def perfmap17(t):
    same_as_perfmap(t, 17)


@case("JDK 21: names equal Compiler.perfmap", live=True, tools=["javac", "jcmd"])
def perfmap21(t):
    same_as_perfmap(t, 21)


@case("JDK 25: names equal Compiler.perfmap", live=True, tools=["javac", "jcmd"])
def perfmap25(t):
    same_as_perfmap(t, 25)


def codelist_of(pid):
    """{(address, class and method): (compilation, level, state)}; its names are "Few.leaf(I)I"."""
    said = subprocess.run(["jcmd", str(pid), "Compiler.codelist"], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in said.splitlines():
        match = re.match(r"(\d+) (\d+) (\d+) (.*?)\(.* \[0x\w+, 0x(\w+) - 0x\w+\]$", line)
        if match:
            found[int(match.group(5), 16), match.group(4)] = tuple(int(match.group(i)) for i in (1, 2, 3))
    return found


@case("JDK 11: methods equal Compiler.codelist", live=True, tools=["javac", "jcmd"])
def codelist11(t):
    jdk = jdks.jdk_of(11)
    compiled(t)
    with jdk.run(t.folder, "Few") as java:
        java.says("ready", enough(60))
        for _ in range(TRIES):
            ours = {(address, name.split(" ", 1)[1].split("(")[0]): numbers[1:]
                for (address, name), numbers in read_by_stoke(java.pid).items() if numbers[1]}
            theirs = codelist_of(java.pid)
            # Names of hidden classes differ in how their address is written.
            ours = {(a, n.split("/")[0]): v for (a, n), v in ours.items()}
            theirs = {(a, re.sub(r"/0x\w+|/\d+", "", n)): v for (a, n), v in theirs.items()}
            ours = {(a, n if "LambdaForm" not in n else "LambdaForm"): v for (a, n), v in ours.items()}
            theirs = {(a, n if "LambdaForm" not in n else "LambdaForm"): v for (a, n), v in theirs.items()}
            if ours == theirs:
                break
            time.sleep(1)
    t.expect(f"all of {len(theirs)} methods are equal", ours == theirs and len(theirs) > 20,
        sorted(set(ours.items()) ^ set(theirs.items()))[:5])


@case("JDK 8: its methods are there", live=True, tools=["javac"])
def methods8(t):
    jdk = jdks.jdk_of(8)
    compiled(t)
    with jdk.run(t.folder, "Few") as java:
        java.says("ready", enough(60))
        names = {name for _, name in read_by_stoke(java.pid)}
    for name in ("int Few.leaf(int)", "int Few.middle(int)", "void Few.main(java.lang.String[])", "Interpreter"):
        t.expect(f"{name} is there", name in names, sorted(names)[:5])


if __name__ == "__main__":
    raise SystemExit(main())
