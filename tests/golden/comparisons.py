#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: comparisons.py STOKE FOLDER    each case x each report of a comparison, byte for byte.

A case is a folder of FOLDER: before* and after* are the files of either side, in order of name;
"options" holds more words for the command. With a stoke.budget, or with "check" in options, it is
checked, else diffed. want.txt is what it shall say, want.FORMAT what it shall write as FORMAT, and
want.exit the status. STOKE_UPDATE_GOLDEN=1 writes anew what is there, and want.txt and want.exit."""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

REPORTS = ("json", "md", "junit", "github", "svg")


def run(stoke, case, place, kinds):
    """{kind: bytes} of one run of stoke."""
    options = (case / "options").read_text().split() if (case / "options").exists() else []
    checked = (case / "stoke.budget").exists() or "check" in options
    options = [word for word in options if word != "check"]
    names = sorted(path.name for path in case.iterdir())
    command = [stoke, "check" if checked else "diff",
               *(name for name in names if name.startswith("before")), "--",
               *(name for name in names if name.startswith("after")), *options]
    for kind in kinds:
        command += ["--out", f"{kind}=out.{kind}"] if checked else ["-o", f"out.{kind}"]
    environment = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PATH": "/usr/bin:/bin",
                   "SOURCE_DATE_EPOCH": "1796083200",  # 2026-12-01
                   **{k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}}
    done = subprocess.run(command, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                          env=environment)
    got = {"txt": done.stdout, "exit": f"{done.returncode}\n".encode()}
    for kind in kinds:
        path = place / f"out.{kind}"
        got[kind] = path.read_bytes() if path.exists() else b""
    if done.returncode == 2 or not done.stdout:
        print("# " + shlex.join(command) + ": " + done.stderr.decode("utf-8", "replace").replace("\n", " "))
    return got


def differ(want, got):
    """The first difference, in words for a reader of the log."""
    if want is None:
        return "no want file: STOKE_UPDATE_GOLDEN=1 makes it"
    for number, (a, b) in enumerate(zip(want.split(b"\n"), got.split(b"\n")), 1):
        if a != b:
            return f"line {number}: wanted {a[:200]!r}, got {b[:200]!r}"
    return f"wanted {len(want)} bytes, got {len(got)}"


def main():
    stoke, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    update = os.environ.get("STOKE_UPDATE_GOLDEN") == "1"
    count = failed = 0
    for case in sorted(path for path in folder.iterdir() if path.is_dir()):
        wanted = {path.name[5:]: path for path in case.glob("want.*")}
        with tempfile.TemporaryDirectory(prefix="stoke-golden-") as place:
            for path in case.iterdir():
                if not path.name.startswith("want."):
                    shutil.copy(path, place)
            got = run(stoke, case, pathlib.Path(place), [kind for kind in REPORTS if kind in wanted])
        for kind in sorted({*wanted, "txt", "exit"}):
            path = case / f"want.{kind}"
            if update:
                path.write_bytes(got[kind])
            want = path.read_bytes() if path.exists() else None
            count += 1
            good = want == got[kind]
            failed += not good
            print(f"{'ok' if good else 'not ok'} {count} - {case.name}: {kind}")
            if not good:
                print("# " + differ(want, got[kind]))
    if not count:
        print("not ok 1 - there are cases")
        count = failed = 1
    print(f"1..{count}")
    return 1 if failed else 0


sys.exit(main())
