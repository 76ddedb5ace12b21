#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""libraries.py NUMBER FOLDER: makes libraries for churn.c, libNNN.so each.

`enter` calls NNN_second, that NNN_third, that NNN_last, which burns. No two libraries have a function's name in
common; sizes, frames (constant, or by alloca) and padding differ, so that the tables of one lead astray in another.
A compiler makes one in TEMPLATES; the others are those under another name and build id.
"""
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
TEMPLATES = 12
FLAGS = ("-O2 -fomit-frame-pointer -fPIC -shared -fvisibility=hidden -D_GNU_SOURCE -Wall -Werror "
    "-Wl,--build-id=0x{}").split()
FUNCTION = """
HOT {visible}void {name}(uint64_t ns)
{{
	{room}
	room[0] = 1;
	{call}
	sink += (unsigned char)room[0];
}}
"""


def source(number):
    """All of it follows from the number: 16 bytes to 2 KiB a frame, 0 to 40 KiB of padding before and between."""
    draws = (number * 2654435761 + i * 40503 + (number * i) ** 2 for i in range(1, 40))
    parts = ['#include "work.h"\nstatic volatile unsigned long sink;\n']
    names = [f"L{number:04}_last", f"L{number:04}_third", f"L{number:04}_second", "enter"]
    for i, name in enumerate(names):
        bytes_ = 16 + next(draws) % 2032
        room = f"volatile char room[{bytes_}];"
        if next(draws) % 4 == 0:
            room = f"volatile char *room = __builtin_alloca({bytes_} + ns % 64);"
        parts.append(f'__asm__(".fill {next(draws) % 10000}, 1, 0xcc");')
        parts.append(FUNCTION.format(name=name, room=room, call=f"{names[i - 1]}(ns);" if i else "(void)burn_cpu(ns);",
            visible='__attribute__((visibility("default"))) ' if name == "enter" else "static "))
    return "\n".join(parts)


def compile_one(number, folder):
    """With a build id of 20 bytes that is its name."""
    library = folder / f"lib{number:04}.so"
    name = f"L{number:04}_build_id____".encode().ljust(20, b"_").hex()
    subprocess.run(["gcc", *(f.format(name) for f in FLAGS), f"-I{HERE}", "-x", "c", "-", "-o", library],
        input=source(number), text=True, check=True)
    return library.read_bytes()


def main():
    number, folder = int(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(2) as pool:
        templates = list(pool.map(lambda i: compile_one(i, folder), range(min(number, TEMPLATES))))
    for i in range(len(templates), number):
        at = i % len(templates)
        (folder / f"lib{i:04}.so").write_bytes(templates[at].replace(f"L{at:04}_".encode(), f"L{i:04}_".encode()))


if __name__ == "__main__":
    main()
