# SPDX-License-Identifier: BSD-2-Clause
"""How much of two profiles is the same by name."""
import collections
import re


def counted(folded):
    """Samples of each stack of folded text, without the kinds of its frames."""
    counts = collections.Counter()
    for line in folded.splitlines():
        stack, _, count = line.rpartition(" ")
        counts[tuple(re.sub(r"_\[[a-z0-9]\]$", "", f) for f in stack.split(";"))] += int(count)
    return counts


def aligned(a, b):
    """Share of samples (or frames) that are on the other side, too; mean of both."""
    return sum(sum(n for x, n in one.items() if x in other) / sum(one.values()) for one, other in ((a, b), (b, a))) / 2


def frames(counts):
    seen = collections.Counter()
    for stack, n in counts.items():
        for frame in stack:
            seen[frame] += n
    return seen
