#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""java.py [RELEASE]...: how many stacks of a JVM with default flags are whole: javac in a loop, cold and warm.

Run by hand, as root; nothing here is asserted. STOKE: the program to measure (an optimised build). Other releases
than those installed are fetched into roots of their own, as tests/cases/jdks.py does; 8 needs tools.jar in its root.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
os.environ.setdefault("STOKE", "build/cmd/stoke")
os.environ.setdefault("STOKE_JDK_ROOT", "1")
sys.path.insert(0, str(HERE.parent / "cases"))
import jdks  # noqa: E402 pylint: disable=wrong-import-position
import readers  # noqa: E402 pylint: disable=wrong-import-position

HZ, SECONDS = 499, 10
SOURCES = [HERE / "Mixed.java", HERE.parent / "workload" / "Work.java", HERE.parent / "workload" / "Deep.java"]
OTHERS = ("C1 ", "C2 ", "Sweeper", "GC ", "G1 ", "Gang", "Concurrent", "VM ", "Service T", "Monitor D", "Signal D",
    "Finalizer", "Reference", "Common-C", "Notification", "Attach", "Parallel")


def shares(path):
    """(samples, whole) with Java on top, then of all threads of the application."""
    top, app = [0, 0], [0, 0]
    for names, values, labels in readers.Pprof.of_file(path).user_rows():
        if labels["thread"].startswith(OTHERS):
            continue
        whole = bool(jdks.THREAD & set(names[-3:]))
        for sums in (app, top) if jdks.is_java(names[0]) else (app,):
            sums[0] += values[0]
            sums[1] += values[0] * whole
    return top, app


def share(sums):
    return f"{100 * sums[1] / max(sums[0], 1):.2f} % of {sums[0]}"


def one(release, folder):
    jdk = jdks.jdk_of(release)
    for source in SOURCES:
        (folder / source.name).write_bytes(source.read_bytes())
    flags = ["-Xbootclasspath/a:/tmp/tools.jar"] if release == 8 else []
    program = jdk.run(folder, *flags, "Javac", 600, "@", *(f"@{source.name}" for source in SOURCES))
    row = [release]
    with program:
        program.says("ready", 60)
        for _ in ("cold", "warm"):
            subprocess.run([os.environ["STOKE"], "record", "-q", "-p", str(program.pid), "-F", str(HZ), "-d", str(SECONDS), "-o",
                str(folder / "x.pb.gz")], check=True, stdout=subprocess.DEVNULL)
            top, app = shares(folder / "x.pb.gz")
            row += [share(top), share(app)]
    print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    print("| JDK | Java on top, first 10 s | all of the application | Java on top, then | all of the application |\n|---|---|---|---|---|")
    for number in [int(a) for a in sys.argv[1:]] or [8, 11, 17, 21, 25]:
        with tempfile.TemporaryDirectory() as made:
            subprocess.run(["javac", "--release", "8", "-nowarn", "-d", made, HERE / "Javac.java"], check=True, capture_output=True)
            one(number, Path(made))
