#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: cli.py STOKE FOLDER    arguments -> standard output, error, status, byte for byte.

FOLDER holds transcripts (*.txt) and data/, of which each transcript gets a fresh copy to run in. A
line "$ COMMAND" is given to sh; below it stand what it printed, "1 LINE" and "2 LINE" for the two
streams (with "\\" at its end where the line had none), and "= STATUS". Lines that begin with "#" are
kept. STOKE_UPDATE_GOLDEN=1 writes what came out instead of comparing."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": "/nonexistent", "TERM": "dumb"}


def stream(number, data):
    text = data.decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    last = lines.pop()
    out = [f"{number} {line}".rstrip(" ") if not line else f"{number} {line}" for line in lines]
    return out + ([f"{number} {last}\\"] if last else [])


def run(command, folder, stoke):
    environment = dict(ENVIRONMENT, PATH=f"{os.path.dirname(stoke)}:/usr/bin:/bin:/usr/sbin:/sbin")
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
        if name in os.environ:
            environment[name] = os.environ[name]
    result = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                            capture_output=True, timeout=120)
    return stream(1, result.stdout) + stream(2, result.stderr) + [f"= {result.returncode}"]


def commands(lines):
    """(heading lines, command, expected lines) of a transcript."""
    head, command, expected = [], None, []
    for line in lines:
        if line.startswith("$ ") or line.startswith("#") or not line:
            if command is not None:
                yield head, command, expected
                head, command, expected = [], None, []
            if line.startswith("$ "):
                command = line[2:]
            else:
                head.append(line)
        else:
            expected.append(line)
    if command is not None or head:
        yield head, command, expected


def main():
    stoke, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    update = os.environ.get("STOKE_UPDATE_GOLDEN") == "1"
    count = failed = 0
    for path in sorted(folder.glob("*.txt")):
        lines = path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
        if lines and not lines[-1]:
            lines.pop()
        written = []
        with tempfile.TemporaryDirectory(prefix="stoke-cli-") as place:
            shutil.copytree(folder / "data", place, dirs_exist_ok=True)
            for head, command, expected in commands(lines):
                written += head
                if command is None:
                    continue
                got = run(command, place, stoke)
                written += [f"$ {command}"] + got
                count += 1
                good = update or got == expected
                failed += not good
                print(f"{'ok' if good else 'not ok'} {count} - {path.stem}: {command.replace('#', ' ')}")
                if not good:
                    for mark, side in (("-", expected), ("+", got)):
                        for line in side:
                            print("# " + mark + line.encode("utf-8", "backslashreplace").decode())
        if update:
            path.write_text("\n".join(written) + "\n", encoding="utf-8", errors="surrogateescape")
    if not count:
        print("not ok 1 - there are transcripts")
        count = failed = 1
    print(f"1..{count}")
    return 1 if failed else 0


sys.exit(main())
