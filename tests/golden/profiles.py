#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: profiles.py STOKE FOLDER    each case x each format and report, byte for byte.

A case is a folder of FOLDER: its files in* are what stoke reads, in order of name; each of its files
want.FORMAT is what it shall write. A pprof file is kept unpacked, as want.pb, since packing is zlib's
affair. STOKE_UPDATE_GOLDEN=1 writes want.* anew, and makes those of FORMATS that a case lacks."""
import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

FORMATS = ("folded", "pb", "txt")  # what each case has; svg where a case chose to have one


def write(stoke, case, kind, place):
    """What stoke writes of a case; None and its message when it does not."""
    inputs = sorted(path.name for path in case.glob("in*"))
    suffix = {"pb": "pb.gz"}.get(kind, kind)
    verb = {"svg": "flamegraph", "txt": "report"}.get(kind, "convert")
    target = place / f"out.{suffix}"
    command = [stoke, verb, *inputs] + ([] if kind == "txt" else ["-o", target.name])
    done = subprocess.run(command, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                          env={"LC_ALL": "C.UTF-8", "TZ": "UTC", "PATH": "/usr/bin:/bin",
                               **{k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}})
    if done.returncode:
        return None, done.stderr.decode("utf-8", "replace")
    if kind == "txt":
        return done.stdout, ""
    data = target.read_bytes()
    target.unlink()
    return (gzip.decompress(data) if kind == "pb" else data), ""


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
        kinds = sorted({*FORMATS, *(path.name[5:] for path in case.glob("want.*"))})
        with tempfile.TemporaryDirectory(prefix="stoke-golden-") as place:
            for path in case.glob("in*"):
                shutil.copy(path, place)
            for kind in kinds:
                path = case / f"want.{kind}"
                got, message = write(stoke, case, kind, pathlib.Path(place))
                if update and got is not None:
                    path.write_bytes(got)
                want = path.read_bytes() if path.exists() else None
                count += 1
                good = got is not None and got == want
                failed += not good
                print(f"{'ok' if good else 'not ok'} {count} - {case.name} as {kind}")
                if not good:
                    print("# " + (message.strip() if got is None else differ(want, got)).replace("\n", "\n# "))
    print(f"1..{count}")
    return failed != 0 or not count


if __name__ == "__main__":
    sys.exit(main())
