# SPDX-License-Identifier: BSD-2-Clause
"""What the style tests share: the files of the tree, C without comments and strings, TAP."""
import os
import re
import sys


def root():
    return os.path.realpath(sys.argv[1]) if len(sys.argv) > 1 else os.getcwd()


def files(top, *suffixes):
    """Paths below top that end so, relative, sorted; build and hidden folders left out."""
    found = []
    for folder, folders, names in os.walk(top):
        relative = os.path.relpath(folder, top)
        folders[:] = [f for f in folders
                      if not (f.startswith("build") and relative == ".") and f not in (".git", "__pycache__")]
        found += [os.path.normpath(os.path.join(relative, n)) for n in names if n.endswith(suffixes)]
    return sorted(found)


def read(top, path):
    with open(os.path.join(top, path), encoding="utf-8", errors="replace") as file:
        return file.read()


TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def code(text):
    """C with comments blanked and strings emptied; lines stay where they are."""
    def blank(match):
        token = match.group(0)
        return "\n" * token.count("\n") if token[0] == "/" else token[0] * 2
    return TOKEN.sub(blank, text)


class Tap:
    """One line a check; a check fails with the list of what it found."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def check(self, name, faults):
        self.count += 1
        self.failed += bool(faults)
        print(f"{'not ok' if faults else 'ok'} {self.count} - {name}")
        for fault in faults:
            print(f"# {fault}")

    def done(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failed else 0)
