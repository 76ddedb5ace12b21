#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""clang-format 14 decides the layout of C."""
import shutil
import subprocess

from tree import Tap, files, root


def main():
    top, tap = root(), Tap()
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if not tool:
        tap.check("clang-format is installed", ["clang-format-14 not found: see third_party/packages.debian"])
        tap.done()
    for folder in ("lib", "cmd", "bpf", "tests"):
        paths = [p for p in files(top, ".c", ".h") if p.startswith(folder + "/") and not p.endswith(".S")]
        faults = []
        if paths:
            result = subprocess.run([tool, "-n", "--Werror"] + paths, cwd=top, capture_output=True, text=True)
            if result.returncode:
                faults = sorted({line.split(": error:")[0] + ": not as clang-format writes it"
                                 for line in result.stderr.splitlines() if ": error:" in line})[:20]
                faults = faults or [result.stderr.strip()[:200]]
        tap.check(f"{folder}/ is laid out by .clang-format", faults)
    tap.done()


main()
