# SPDX-License-Identifier: BSD-2-Clause
"""bomb.py OUTPUT: a legal C++ program whose one function has a name of some 200 bytes, which
demangled is over 200 MB: each type names the one before it twice."""
import sys

DEPTH = 24
with open(sys.argv[1], "w", encoding="ascii") as out:
    out.write('#include "work.h"\nstruct S {};\ntemplate <class A, class B> struct J {};\n')
    out.write("typedef J<S, S> T1;\n")
    for i in range(2, DEPTH + 1):
        out.write(f"typedef J<T{i - 1}, T{i - 1}> T{i};\n")
    out.write("template <class T> HOT void boom(T *, uint64_t end)\n{\n\tburn_until(end);\n}\n")
    out.write("int main(int argc, char **argv)\n{\n")
    out.write(f"\tboom(static_cast<T{DEPTH} *>(nullptr), end_after(seconds_of(argc, argv, 1, 10)));\n}}\n")
