#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Banned words, licence lines, lengths, paths of somebody's machine."""
import re

from tree import Tap, code, files, read, root

BANNED = ("strcpy strcat stpcpy sprintf vsprintf strtok gets atoi atol atoll atof system popen mktemp tmpnam "
          "tempnam alloca strdupa strndupa").split()
# The library never prints, exits, reads the environment or touches signals.
BANNED_LIB = "printf vprintf puts putchar perror exit abort getenv secure_getenv signal sigaction sigprocmask".split()

# A child about to exec begins with clean signals: it is no longer the library's caller.
EXEMPT_LIB = {"lib/capture/command.c": {"signal", "sigprocmask"}}

LONG_FILE, TOO_LONG_FILE = 600, 700
LONG_FUNCTION, TOO_LONG_FUNCTION = 60, 80

# Spelled so that this file does not find itself.
MACHINE = re.compile(r"/(?:" + "|".join(("wo" + "rk", "fa" + "rm")) + r")/|/home/(?!ops/|USER)[a-z]+/|/ro" + "ot/")


def called(text, names):
    """(line, word) of every call of one of these names."""
    pattern = re.compile(r"(?<![\w.>])(" + "|".join(names) + r")\s*\(")
    for number, line in enumerate(text.splitlines(), 1):
        for match in pattern.finditer(line):
            yield number, match.group(1)


def banned(top, paths):
    faults = []
    for path in paths:
        text = code(read(top, path))
        names = BANNED + ([w for w in BANNED_LIB if w not in EXEMPT_LIB.get(path, ())]
                          if path.startswith("lib/") else [])
        faults += [f"{path}:{number}: {word}()" for number, word in called(text, names)]
        if path.startswith("lib/"):
            faults += [f"{path}:{n}: writes to a standard stream" for n, line in enumerate(text.splitlines(), 1)
                       if re.search(r"\bstd(err|out)\b", line)]
    return faults


def licensed(top, paths):
    faults = []
    for path in paths:
        lines = read(top, path).splitlines()[:2]
        if lines and lines[0].startswith("#!"):
            lines = lines[1:]
        if not lines or "SPDX-License-Identifier: " not in lines[0]:
            faults.append(f"{path}: first line has no SPDX-License-Identifier")
    return faults


def functions(text):
    """(line, name, length) of each function, by the layout that clang-format gives."""
    start = name = None
    for number, line in enumerate(text.splitlines(), 1):
        if start is None and re.match(r"^[A-Za-z_].*\(", line):
            name = re.search(r"(\w+)\s*\(", line).group(1)
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            yield start, name, number - start
            start = None


def main():
    top, tap = root(), Tap()
    sources = [p for p in files(top, ".c", ".h") if p.split("/")[0] in ("lib", "cmd", "bpf", "tests")]
    scripts = files(top, "meson.build", ".py", ".sh", ".js", ".css", ".S", "bootstrap", ".ci/run")

    tap.check("no banned function is called", banned(top, [p for p in sources if not p.startswith("tests/")]))
    tap.check("no banned function is called in tests",
              [f"{p}:{n}: {w}()" for p in sources if p.startswith("tests/")
               for n, w in called(code(read(top, p)), "strcpy strcat sprintf gets strtok mktemp".split())])
    tap.check("the licence stands first", licensed(top, [p for p in sources + scripts if "/data/" not in p]))

    long_files, long_functions = [], []
    for path in sources + [p for p in scripts if p.endswith((".js", ".css", ".py", ".sh", "bootstrap"))]:
        text = read(top, path)
        lines = text.count("\n")
        if lines > TOO_LONG_FILE:
            long_files.append(f"{path}: {lines} lines; at most {TOO_LONG_FILE}, {LONG_FILE} is the aim")
        elif lines > LONG_FILE:
            print(f"# warning: {path}: {lines} lines; {LONG_FILE} is the aim")
        if not path.endswith(".c"):
            continue
        for start, name, length in functions(text):
            if length > TOO_LONG_FUNCTION:
                long_functions.append(f"{path}:{start}: {name}() has {length} lines; at most {LONG_FUNCTION}")
            elif length > LONG_FUNCTION:
                print(f"# warning: {path}:{start}: {name}() has {length} lines; at most {LONG_FUNCTION}")
    tap.check("no file is too long", long_files)
    tap.check("no function is too long", long_functions)

    texts = [p for p in sources + scripts + files(top, ".md", ".scd", ".ini", "layers")]
    tap.check("no path of somebody's machine",
              [f"{p}:{n}: {line.strip()}" for p in sorted(set(texts))
               for n, line in enumerate(read(top, p).splitlines(), 1) if MACHINE.search(line)])
    tap.check("goto has one label: fail",
              [f"{p}:{n}: {line.strip()}" for p in sources
               for n, line in enumerate(code(read(top, p)).splitlines(), 1)
               if re.search(r"\bgoto\s+(?!fail\b)\w+", line)])
    tap.done()


main()
