#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""methods.py FOLDER [METHODS]: writes Methods.java and classes of 100 methods each, which call each
other along random paths some 25 deep, none inlined, so that a JVM that ran for a while holds that many
compiled methods. Arguments of the program: SECONDS THREADS. Prints "ready" when all are compiled."""
import sys
from pathlib import Path

PER_CLASS = 100


def one_class(number, nr_classes):
    lines = [f"final class C{number} {{"]
    for m in range(PER_CLASS):
        lines += [f"    static int m{m}(int depth, int seed) {{",
            f"        int x = seed * 1103515245 + {m * 31 + number};",
            f"        for (int i = 0; i < {20 + m % 40}; i++)",
            "            x ^= x << 13 ^ x >>> 7 ^ i;",
            "        if (depth <= 0)", "            return x;",
            f"        int next = (x >>> 8) % {nr_classes * PER_CLASS};",
            f"        return Methods.call(Math.abs(next), depth - 1, x) + {m};", "    }"]
    lines += ["    static int call(int m, int depth, int seed) {", "        switch (m) {"]
    lines += [f"        case {m}: return m{m}(depth, seed);" for m in range(PER_CLASS)]
    lines += ["        default: return 0;", "        }", "    }", "}"]
    return "\n".join(lines) + "\n"


def main():
    folder, methods = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    nr = methods // PER_CLASS
    for number in range(nr):
        (folder / f"C{number}.java").write_text(one_class(number, nr))
    cases = "\n".join(f"        case {n}: return C{n}.call(m % {PER_CLASS}, depth, seed);" for n in range(nr))
    (folder / "Methods.java").write_text(f"""public final class Methods {{
    static volatile int sink;
    static int call(int m, int depth, int seed) {{
        switch (m / {PER_CLASS}) {{
{cases}
        default: return 0;
        }}
    }}
    static void round(int seed) {{
        sink += call(Math.abs(seed % {methods}), 12, seed);
    }}
    public static void main(String[] arguments) throws Exception {{
        for (int pass = 0; pass < 400; pass++)
            for (int m = 0; m < {methods}; m++)
                sink += call(m, pass % 3 == 0 ? 1 : 0, pass * 7919 + m);
        System.out.println("ready");
        System.out.flush();
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000_000L;
        for (int t = 0; t < Integer.parseInt(arguments[1]); t++) {{
            int start = t * 7907 + 1;
            new Thread(() -> {{
                int seed = start;
                while (System.nanoTime() < end)
                    for (int i = 0; i < 100; i++) {{
                        seed = seed * 1664525 + 1013904223;
                        round(seed);
                    }}
            }}, "worker-" + t).start();
        }}
    }}
}}
""")


if __name__ == "__main__":
    main()
