#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Folded text in and out: FF01, FF02, FF04, FF06, and the tables of SI02."""
import itertools
import re
from collections import defaultdict

from driver import case, load_json, lying, main, stoke
from encode import profile
from readers import Folded


def truth_of(text):
    """stack -> count of well-formed folded text: the count is what follows the last blank."""
    found = defaultdict(int)
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        found[tuple(stack.split(";"))] += int(count)
    return dict(found)


def convert(t, sources, out):
    ran = stoke(t.folder, "convert", *sources, "-o", out)
    t.must(f"{out} is written", ran.status == 0 and (t.folder / out).exists(), ran.describe())
    return ran


def separators(t, pb, counts, sizes):
    (t.folder / "in.pb").write_bytes(pb)
    convert(t, ["in.pb"], "x.folded")
    text = (t.folder / "x.folded").read_text(encoding="utf-8")
    got = Folded.of_text(text)
    t.expect(f"{len(counts)} lines of folded output, total {sum(counts)}, counts {counts}",
        sorted((n for _, n in got.stacks), reverse=True) == sorted(counts, reverse=True), text)
    by_count = {n: len(s) for s, n in got.stacks}
    t.expect(f"frames per line {sizes}", [by_count.get(n) for n in counts] == sizes, text)
    convert(t, ["x.folded"], "y.folded")
    t.expect("reading the folded output back gives the same stacks, frame counts and total",
        (t.folder / "y.folded").read_text(encoding="utf-8") == text, text)
    return text


@case("FF01 separators inside names")
def ff01(t):
    stacks = [(["main", "RegExp:^a;b|c$"], 7), (["main", "Lorg/shop/Cart;::sum", "leaf"], 5),
        (["main", "two\nlines"], 3), (["main", "ends in digits 12"], 2), (["main", ";"], 1)]
    text = separators(t, profile([("samples", "count")], [(s, [n]) for s, n in stacks]),
        [7, 5, 3, 2, 1], [2, 3, 2, 2, 2])
    plain = re.sub(r"[^\w.;: ]", "?", text)
    t.expect("each name stays recognisable", all(
        w in text for w in ("RegExp:^a", "b|c$", "Lorg/shop/Cart", "::sum", "two", "lines", "ends in digits 12")), plain)


@case("FF01 separators inside names (where they lie)")
def ff01_lying(t):
    separators(t, (lying("FF01") / "names.pb").read_bytes(), [7, 5, 3, 2, 1], [2, 3, 2, 2, 2])


def last_field(t, text, inclusive, self_of):
    (t.folder / "in.folded").write_text(text)
    truth = truth_of(text)
    convert(t, ["in.folded"], "x.folded")
    got = {s: n for s, n in Folded.of_file(t.folder / "x.folded").stacks}
    t.expect("total " + str(sum(truth.values())), sum(got.values()) == sum(truth.values()), got)
    for stack, count in truth.items():
        t.expect("\t".join(stack) + f"\t{count}", got.get(stack) == count, got)
    convert(t, ["in.folded"], "x.json")
    rows = {f["name"]: f for f in functions_of(load_json(t.folder / "x.json"))}
    for name, total in inclusive.items():
        row = rows.get(name, {})
        t.expect(f'inclusive "{name}" {total}, self {self_of[name]}',
            (row.get("total"), row.get("self")) == (total, self_of[name]), row or sorted(rows))


def functions_of(report):
    """The table of functions of stoke's own JSON."""
    return report["functions"]


@case("FF02 the count is the last field")
def ff02(t):
    last_field(t, "main;read v1 20 4\nmain;impl Iter for [T; 3];next 5\nmain;x y  z 7 7\nmain 3\n"
        "main;read v1 20;memmove@GLIBC_2.2 8\n".replace("[T; 3]", "Vec<T, 3>"),
        {"main": 27, "read v1 20": 12}, {"main": 3, "read v1 20": 4})


@case("FF02 the count is the last field (where they lie)")
def ff02_lying(t):
    last_field(t, (lying("FF02") / "in.folded").read_text(), {"main": 20, "parse v2 10": 9},
        {"main": 2, "parse v2 10": 3})


def bad_lines(t, data):
    good, bad = {}, []
    for number, line in enumerate(data.split(b"\n"), 1):
        stack, _, count = line.decode().rpartition(" ")
        if not line or line.startswith(b"#"):
            continue
        if stack and re.fullmatch(r"\d{1,19}", count) and int(count) > 0:
            good[tuple(stack.split(";"))] = int(count)
        elif count != "0":
            bad.append((number, line.decode()))
    (t.folder / "in.folded").write_bytes(data)
    ran = convert(t, ["in.folded"], "x.folded")
    got = {s: n for s, n in Folded.of_file(t.folder / "x.folded").stacks}
    for stack, count in good.items():
        t.expect(f'kept: "{";".join(stack)}" {count}', got.get(stack) == count, got)
    numbers = [int(n) for n in re.findall(r"\d+", ran.err)]
    firm = [n for n, line in bad if line.strip() and "." not in line and not line.startswith(" ")]
    t.expect("rejected and counted in one message with the number of lines and the first line number",
        any(len(firm) <= n <= len(bad) for n in numbers) and any(n in numbers for n, _ in bad[:2]), ran.err)
    t.expect('a stack that is empty is kept as unknown or rejected and counted; main;frac likewise',
        sum(got.values()) >= sum(good.values()) and "neg" not in str(got) and "hex" not in str(got), got)
    stoke(t.folder, "flamegraph", "in.folded", "-o", "x.svg")
    drawn = (t.folder / "x.svg").read_text(encoding="utf-8")
    t.expect("no frame of width 0 shows a negative or NaN percentage",
        "NaN" not in re.sub(r"<script.*?</script>", "", drawn, flags=re.S), "NaN in the SVG")
    only_bad = b"\n".join(line.encode() for _, line in bad if not line.startswith(" ")) + b"\n"
    (t.folder / "bad.folded").write_bytes(only_bad.replace(b"main;frac 1.5\n", b""))
    ran = stoke(t.folder, "convert", "bad.folded", "-o", "bad-out.folded")
    t.expect("with only bad lines: status != 0 and no output file that looks like a good one",
        ran.status != 0 and not (t.folder / "bad-out.folded").exists(), ran.describe())


@case("FF04 bad lines")
def ff04(t):
    bad_lines(t, b"main;good a 5\n 9\nno_count_here\n\nmain;minus -5\nmain;part 2.5\n"
        b"main;large 18446744073709551616\nmain;nought 0\n# a remark\nmain;good b 7\nmain;sixteen 0x10\n"
        b"main;good c 8")


@case("FF04 bad lines (where they lie)")
def ff04_lying(t):
    bad_lines(t, (lying("FF04") / "in.folded").read_bytes())


def merge(t, inputs, exact=None):
    truth = defaultdict(int)
    for name, text in inputs.items():
        (t.folder / name).write_text(text)
        for stack, count in truth_of(text).items():
            truth[stack] += count
    expected = "".join(sorted(f"{';'.join(s)} {n}\n" for s, n in truth.items()))
    if exact is not None:
        t.expect("expected and the sums of the inputs agree", exact == expected, expected)
    for i, order in enumerate(itertools.permutations(inputs)):
        convert(t, order, f"m{i}.folded")
        got = (t.folder / f"m{i}.folded").read_text()
        t.expect(f"merged in the order {order}: byte for byte the same sorted result", got == expected, got)
    names = list(inputs)
    convert(t, names[1:], "tail.folded")
    convert(t, [names[0], "tail.folded"], "grouped.folded")
    got = (t.folder / "grouped.folded").read_text()
    t.expect("merged in another grouping: the same", got == expected, got)


@case("FF06 merging is exact")
def ff06(t):
    merge(t, {"a.folded": f"main;p {(1 << 53) + 1}\nmain;q {(1 << 32) - 1}\nmain;r 1\n",
        "b.folded": "main;q 1\nmain;r 2\nmain;r 3\nside 10\n", "c.folded": "main;p 2\nmain;o 7\n"})


@case("FF06 merging is exact (where they lie)")
def ff06_lying(t):
    here = lying("FF06")
    merge(t, {f"{n}.folded": (here / f"{n}.folded").read_text() for n in "abc"}, (here / "expected").read_text())


def recursion(t, text, truth):
    (t.folder / "in.folded").write_text(text)
    convert(t, ["in.folded"], "x.json")
    report = load_json(t.folder / "x.json")
    rows = {f["name"]: f for f in functions_of(report)}
    for name, (total, own) in truth.items():
        row = rows.get(name, {})
        t.expect(f"{name}: inclusive {total}, self {own}", (row.get("total"), row.get("self")) == (total, own),
            row or sorted(rows))
    most = sum(truth_of(text).values())
    t.expect("no function in any table is above 100%", all(f["total"] <= most for f in rows.values()), rows)
    ran = stoke(t.folder, "report", "in.folded")
    shares = [float(s) for s in re.findall(r"(\d+(?:\.\d+)?) ?%", ran.out)]
    t.expect("no share in the text report is above 100%", ran.status == 0 and shares and max(shares) <= 100,
        ran.describe())


@case("SI02 recursion in tables")
def si02(t):
    recursion(t, "main;step;step;step 30\nmain;step;look;step 20\nmain;step 10\nmain;put 40\n",
        {"step": (60, 60), "look": (20, 0), "main": (100, 0), "put": (40, 40)})


@case("SI02 recursion in tables (where they lie)")
def si02_lying(t):
    recursion(t, (lying("SI02") / "in.folded").read_text(),
        {"walk": (75, 75), "visit": (25, 0), "main": (100, 0), "emit": (25, 25)})


if __name__ == "__main__":
    raise SystemExit(main())
