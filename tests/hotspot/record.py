#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes tests/data/hotspot/RELEASE.image anew: record.py RECORDER RELEASE..., with the built tests/hotspot/record.
A JDK that is not installed is run in a root of its own, as tests/cases/jdks.py does."""
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cases"))

import jdks  # noqa: E402

# A small heap of code: only Few's methods are compiled, what else is there the VM needs.
jdks.FLAGS = ["-Xmx32m", "-XX:+UseSerialGC", "-XX:ReservedCodeCacheSize=8m", "-XX:CompileCommand=quiet",
    "-XX:CompileCommand=compileonly,Few::*"]


def jdk_of(release):
    found = [jdk for jdk in jdks.installed() if jdk.feature == release]
    return found[0] if found else jdks.Rooted(release)


def main():
    recorder = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["javac", "--release", "8", "-g", "-d", folder, str(HERE / "Few.java")], check=True,
            stderr=subprocess.DEVNULL)
        for release in map(int, sys.argv[2:]):
            with jdk_of(release).run(folder, "Few") as java:
                java.says("ready", 60)
                time.sleep(2)  # its compilers end
                out = HERE.parent / "data" / "hotspot" / f"{release}.image"
                subprocess.run([recorder, str(java.pid), str(out)], check=True)
                print(out, out.stat().st_size)


main()
