#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""lazily.py OUT.c: the library of lazy.c, 400 functions with names as long as C++'s, none of which returns first."""
import sys

COUNT = 400
PADDING = "_with_a_name_that_takes_a_while_to_compare" * 3


def name(i):
    return f"lazy_{i}" + (PADDING if i else "")


with open(sys.argv[1], "w", encoding="ascii") as out:
    out.write("/* SPDX-License-Identifier: BSD-2-Clause */\n#include <stdint.h>\n\n")
    out.write(f"uint64_t {name(COUNT)}(void);\nuint64_t {name(COUNT)}(void)\n{{\n\treturn 1;\n}}\n")
    for i in reversed(range(COUNT)):
        out.write(f"uint64_t {name(i)}(void);\nuint64_t {name(i)}(void)\n{{\n\treturn {name(i + 1)}() + 1;\n}}\n")
