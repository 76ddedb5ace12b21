# SPDX-License-Identifier: BSD-2-Clause
"""readers.py: reads what stoke writes, without stoke: folded text, the profile inside an SVG, pprof.

Written from the definitions of the formats, so that a fault of a writer is not shared here.
"""
import gzip
import re
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"
MARK = re.compile(r"_\[[kji]\]$")


def bare(frame):
    """A frame's name without the marks _[k] _[j] _[i]."""
    return MARK.sub("", frame)


class Folded:
    """Stacks (tuples of frames, root first) and their counts."""

    def __init__(self, stacks):
        self.stacks = stacks
        self.total = sum(count for _, count in stacks)

    @staticmethod
    def of_text(text):
        stacks = []
        for line in text.split("\n"):
            if line:
                stack, count = line.rsplit(" ", 1)
                stacks.append((tuple(stack.split(";")), int(count)))
        return Folded(stacks)

    @staticmethod
    def of_file(path):
        return Folded.of_text(Path(path).read_bytes().decode("utf-8"))

    def only(self, wanted):
        return Folded([(s, n) for s, n in self.stacks if wanted(s)])

    def sum_of(self, wanted):
        return sum(n for s, n in self.stacks if wanted(s))

    def share_of(self, wanted):
        return self.sum_of(wanted) / self.total if self.total else 0.0

    def inclusive(self, name):
        return self.share_of(lambda s: any(bare(f) == name for f in s))

    def user(self):
        """The same stacks without their kernel frames; stacks of nothing else go."""
        user = [(tuple(f for f in s if not f.endswith("_[k]")), n) for s, n in self.stacks]
        return Folded([(s, n) for s, n in user if s])

    def leaf(self, name):
        return self.share_of(lambda s: bare(s[-1]) == name)

    def leaves(self):
        found = defaultdict(int)
        for stack, count in self.stacks:
            found[bare(stack[-1])] += count
        return dict(sorted(found.items(), key=lambda kv: -kv[1]))

    def frames(self):
        """How often each frame stands in a sample."""
        found = defaultdict(int)
        for stack, count in self.stacks:
            for frame in set(stack):
                found[bare(frame)] += count
        return dict(found)

    def under(self, root):
        """The stacks that begin with this root frame, without it."""
        return Folded([(s[1:], n) for s, n in self.stacks if s[0] == root and len(s) > 1])

    def head(self, n=6):
        return "; ".join(f"{k}={v}" for k, v in list(self.leaves().items())[:n]) + f" of {self.total}"


DIGITS = {c: i for i, c in enumerate(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")}


class Picture:
    """The profile that lies in an SVG: .nodes is a list of (path of names, self, total)."""

    def __init__(self, data):
        self.data = data
        self.root = ET.fromstring(data)
        found = {e.get("class"): e.text or "" for e in self.root.iter(SVG + "metadata")}
        self.meta = found.get("sk-meta", "")
        self.entries = found["sk-names"].split("\n") if found.get("sk-names") else []
        self.names = [entry[1:].split("\t")[0] for entry in self.entries]
        self.nodes = self.decode(found.get("sk-tree", ""))

    @staticmethod
    def numbers(text):
        value = shift = 0
        for c in text:
            if c in " \n\r\t":
                continue
            digit = DIGITS[c]
            value |= (digit & 31) << shift
            shift += 5
            if not digit & 32:
                yield value
                value = shift = 0

    def decode(self, text):
        numbers = self.numbers(text)
        path, rows = [], []
        for head in numbers:
            up, has_self = head >> 1, head & 1
            name = self.names[next(numbers)]
            if up:
                del path[len(path) - up:]
            own = next(numbers) if has_self else 0
            index = len(rows)
            rows.append([None, own, own])
            path.append((name, index))
            rows[index][0] = tuple(n for n, _ in path)
            for _, above in path[:-1]:
                rows[above][2] += own
        return [tuple(row) for row in rows]

    @property
    def total(self):
        return sum(own for _, own, _ in self.nodes)

    def below(self, *path):
        """Children of a path: name -> total. The picture's own root (if any) is looked through."""
        found = defaultdict(int)
        for nodes_path, _, total in self.nodes:
            for skip in (0, 1):
                if nodes_path[skip:-1] == path and len(nodes_path) == len(path) + 1 + skip:
                    found[nodes_path[-1]] += total
        return dict(found)

    def total_of(self, name):
        """Inclusive weight of a name, each sample once."""
        return sum(total for path, _, total in self.nodes
            if path[-1] == name and name not in path[:-1])

    def scripts(self):
        return [e.text or "" for e in self.root.iter() if e.tag.split("}")[-1] == "script"]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if not byte & 128:
            return value, at
        shift += 7


def message(data):
    """field number -> list of values (ints, or bytes)."""
    found, at = defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        field, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise ValueError("field past the end")
        elif wire == 1:
            value, at = data[at:at + 8], at + 8
        elif wire == 5:
            value, at = data[at:at + 4], at + 4
        else:
            raise ValueError(f"wire type {wire}")
        found[field].append(value)
    return found


def packed(values):
    found = []
    for value in values:
        if isinstance(value, int):
            found.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            found.append(number)
    return found


def one(fields, number, otherwise=0):
    return fields[number][-1] if fields[number] else otherwise


class Pprof:
    """profile.proto, taken apart."""

    def __init__(self, data):
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        top = message(data)
        self.raw_strings = [bytes(s) for s in top[6]]
        self.strings = [s.decode("utf-8") for s in self.raw_strings]
        self.types = [self.value_type(v) for v in top[1]]
        self.samples = [message(s) for s in top[2]]
        self.mappings = [message(m) for m in top[3]]
        self.locations = [message(m) for m in top[4]]
        self.functions = [message(m) for m in top[5]]
        self.time_ns, self.duration_ns, self.period = one(top, 9), one(top, 10), one(top, 12)
        self.period_type = self.value_type(top[11][-1]) if top[11] else None
        self.comments = [self.strings[i] for i in packed(top[13])]
        self.default_type = self.strings[one(top, 14)]
        self.function_names = {one(f, 1): self.strings[one(f, 2)] for f in self.functions}
        self.location_names = {one(m, 1): self.names_of(m) for m in self.locations}
        files = {one(m, 1): self.strings[one(m, 5)] for m in self.mappings}
        self.location_file = {one(m, 1): files.get(one(m, 2), "") for m in self.locations}

    @staticmethod
    def of_file(path):
        return Pprof(Path(path).read_bytes())

    def value_type(self, data):
        fields = message(data)
        return self.strings[one(fields, 1)], self.strings[one(fields, 2)]

    def names_of(self, location):
        lines = [message(line) for line in location[4]]
        return [self.function_names[one(line, 1)] for line in lines] or [f"{one(location, 3):#x}"]

    def rows(self, wanted=lambda file: True):
        """(names from the leaf to the root, values, labels) of each sample; wanted: of which files."""
        for sample in self.samples:
            names = [n for i in packed(sample[1]) if wanted(self.location_file[i])
                for n in self.location_names[i]]
            labels = {}
            for label in map(message, sample[3]):
                labels[self.strings[one(label, 1)]] = self.strings[one(label, 2)] if one(
                    label, 2) else one(label, 3)
            yield tuple(names), packed(sample[2]), labels

    def user_rows(self):
        """rows() without kernel frames, and without rows that are nothing else."""
        return (r for r in self.rows(lambda file: not file.startswith("[kernel")) if r[0])

    def leaf_files(self, sample):
        """Files of a sample's user frames, leaf first."""
        files = (self.location_file[i] for i in packed(sample[1]))
        return (f for f in files if not f.startswith("[kernel"))

    def sum_of(self, kind):
        at = [t for t, _ in self.types].index(kind)
        return sum(values[at] for _, values, _ in self.rows())

    def fact(self, key):
        for comment in self.comments:
            if comment.split("=", 1)[0] == key:
                return comment.split("=", 1)[1]
        return None
