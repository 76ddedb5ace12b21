# SPDX-License-Identifier: BSD-2-Clause
"""work.py SECONDS: functions with names that call each other."""
import sys
import time


def add_up(n):
    total = 0
    for i in range(n):
        total += i % 7
    return total


def middle(n):
    return add_up(n) + sum(len(str(i)) for i in range(100))


def outer():
    return middle(20000)


end = time.monotonic() + float(sys.argv[1])
print("ready", flush=True)
while time.monotonic() < end:
    outer()
