# SPDX-License-Identifier: BSD-2-Clause
"""encode.py: writes pprof profiles byte by byte, right and wrong ones."""


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


class Strings:
    def __init__(self):
        self.all = [b""]

    def __call__(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        if data not in self.all:
            self.all.append(data)
        return self.all.index(data)

    def encoded(self):
        return b"".join(block(6, s) for s in self.all)


def profile(types, rows, period_type=("cpu", "nanoseconds"), period=0, mapping=None, extra=b""):
    """A profile of rows (names from the root, values). mapping: (file, build id) of all frames."""
    text, out, ids = Strings(), b"", {}
    for kind, unit in types:
        out += block(1, number(1, text(kind)) + number(2, text(unit)))
    for names, values in rows:
        locations = b"".join(varint(ids.setdefault(n, len(ids) + 1)) for n in reversed(names))
        out += block(2, block(1, locations) + block(2, b"".join(varint(v) for v in values)))
    if mapping:
        out += block(3, number(1, 1) + number(2, 0x400000) + number(3, 0x500000) +
            number(5, text(mapping[0])) + number(6, text(mapping[1])))
    for name, i in ids.items():
        where = number(2, 1) + number(3, 0x400000 + i) if mapping else b""
        out += block(4, number(1, i) + where + block(4, number(1, i)))
        out += block(5, number(1, i) + number(2, text(name)))
    if period_type:
        out += block(11, number(1, text(period_type[0])) + number(2, text(period_type[1])))
    if period:
        out += number(12, period)
    return out + text.encoded() + extra
