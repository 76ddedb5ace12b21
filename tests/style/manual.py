#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: manual.py ROOT STOKE    what --help lists and what a manual page explains are the same."""
import os
import re
import subprocess
import sys

from tree import Tap, read, root


def listed(stoke, *words):
    """Options in the left column of --help."""
    text = subprocess.run([stoke, *words, "--help"], capture_output=True, text=True, check=True).stdout
    found = set()
    for line in text.splitlines():
        if re.match(r" {2,6}-", line):
            left = re.split(r" {2,}", line.strip())[0]
            found |= set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", left))
    return found


def explained(page):
    """Options that begin a paragraph of the page."""
    found = set()
    for line in page.splitlines():
        if line.startswith("*-"):
            found |= set(re.findall(r"\*(--?[A-Za-z][\w-]*)\*", line))
    return found


def commands(stoke):
    text = subprocess.run([stoke, "--help"], capture_output=True, text=True, check=True).stdout
    return [m.group(1) for m in re.finditer(r"^  (\w+) ", text, re.M)]


def main():
    top, tap, stoke = root(), Tap(), sys.argv[2]
    main_page = read(top, "docs/stoke.1.scd")
    everywhere = listed(stoke, "help")
    tap.check("stoke(1) explains the options that are known everywhere",
              sorted(everywhere ^ explained(main_page)))
    words = commands(stoke)
    tap.check("there are commands", [] if words else ["stoke --help lists none"])
    tap.check("stoke(1) names every command",
              [w for w in words if f"*stoke-{w}*(1)" not in main_page])
    for word in words:
        path = f"docs/stoke-{word}.1.scd"
        if not os.path.exists(os.path.join(top, path)):
            tap.check(f"{path} exists", ["there is none"])
            continue
        there, here = listed(stoke, word) - everywhere, explained(read(top, path)) - everywhere
        tap.check(f"{path} explains what stoke {word} --help lists",
                  [f"not explained: {o}" for o in sorted(there - here)]
                  + [f"not an option: {o}" for o in sorted(here - there)])
    tap.done()


main()
