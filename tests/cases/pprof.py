#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""pprof out and in: PP01, PP03, and the malformed profiles of SE05."""
import gzip
import subprocess

from driver import case, enough, lying, main, memory_limit, stoke
from encode import block, number, profile
from readers import Pprof, one, packed

GO = ["go"]


def structure(t, pb):
    """The rules of profile.proto, line by line."""
    t.expect('string_table[0] is "" and only entry 0 is ""',
        pb.raw_strings[:1] == [b""] and pb.raw_strings.count(b"") == 1, pb.raw_strings[:4])
    t.expect("no string is there twice", len(set(pb.raw_strings)) == len(pb.raw_strings), "")
    used = [i for f in pb.functions for n in (2, 3, 4) for i in f[n]]
    used += [i for m in pb.mappings for n in (5, 6) for i in m[n]]
    t.expect("every index into the string table is < its length", all(i < len(pb.strings) for i in used), max(used, default=0))
    for what, found in (("mapping", pb.mappings), ("location", pb.locations), ("function", pb.functions)):
        ids = [one(f, 1) for f in found]
        t.expect(f"every {what} id is unique and not 0", 0 not in ids and len(set(ids)) == len(ids), ids[:9])
    known = {one(m, 1) for m in pb.locations}
    t.expect("every location id in a sample exists", all(
        i in known for s in pb.samples for i in packed(s[1])), sorted(known)[:9])
    maps = {one(m, 1) for m in pb.mappings} | {0}
    t.expect("every mapping id in a location exists", all(one(m, 2) in maps for m in pb.locations), maps)
    t.expect("every sample has as many values as there are types", all(
        len(v) == len(pb.types) for _, v, _ in pb.rows()), pb.types)


def go_pprof(t, *arguments):
    done = subprocess.run(["go", "tool", "pprof", *arguments], cwd=t.folder, capture_output=True, text=True,
        env={"PATH": "/usr/local/go/bin:/usr/bin:/bin", "HOME": str(t.folder), "PPROF_TMPDIR": str(t.folder)})
    return done


def go_raw(t, path):
    done = go_pprof(t, "-raw", path)
    noise = [line for line in done.stderr.splitlines() if "Main binary filename" not in line]
    t.expect('"go tool pprof -raw" reads it without a message', done.returncode == 0 and not noise, done.stderr)
    return done.stdout


def valid(t, text, with_odd_line):
    """text: main;a;b 5, main;a 3, [main;;b 2,] main;a;b;a 1."""
    (t.folder / "in.folded").write_text(text)
    ran = stoke(t.folder, "convert", "in.folded", "-o", "x.pb.gz")
    t.must("the profile is written", ran.status == 0, ran.describe())
    pb = Pprof.of_file(t.folder / "x.pb.gz")
    structure(t, pb)
    t.expect("location ids in a sample run from the leaf to the root", all(
        names[-1] == "main" for names, _, _ in pb.rows()), [n for n, _, _ in pb.rows()])
    total = pb.sum_of("samples")
    t.expect("sum of the first value = 11, or 9 where the odd line is refused",
        total == 11 if with_odd_line and total != 9 else total == 9, total)
    go_raw(t, "x.pb.gz")
    top = go_pprof(t, "-top", "-sample_index=samples", "x.pb.gz").stdout
    rows = {line.split()[-1]: line.split() for line in top.splitlines() if "%" in line and line.split()}
    t.expect("-top: a flat 4", rows.get("a", ["?"])[0] == "4", top)
    t.expect("-top: b flat 5, or 7 with the odd line", rows.get("b", ["?"])[0] == ("5" if total == 9 else "7"), top)
    t.expect("-top: cum of a = 9, counted once in the recursive stack", rows.get("a", ["?"] * 4)[3] == "9", top)


@case("PP01 valid structure", tools=GO)
def pp01(t):
    valid(t, "main;a;b 5\nmain;a 3\nmain;a;b;a 1\n", False)
    valid(t, "main;a;b;a 1\nmain;a;b 5\nmain;;b 2\nmain;a 3\n", True)


@case("PP01 valid structure (where they lie)", tools=GO)
def pp01_lying(t):
    valid(t, (lying("PP01") / "in.folded").read_text(), True)


@case("PP01 survives reading and writing", tools=GO)
def pp01_again(t):
    """What another tool wrote (two value types, labels are not needed) comes out the same."""
    rows = [(["main", "a;b", "b"], [3, 3000]), (["main", "c"], [4, 5000])]
    (t.folder / "in.pb").write_bytes(gzip.compress(profile(
        [("samples", "count"), ("wall", "nanoseconds")], rows, ("wall", "nanoseconds"), 1000,
        ("/usr/bin/thing", "0123456789abcdef0123456789abcdef01234567"))))
    ran = stoke(t.folder, "convert", "in.pb", "-o", "x.pb.gz")
    t.must("the profile is written", ran.status == 0, ran.describe())
    pb = Pprof.of_file(t.folder / "x.pb.gz")
    structure(t, pb)
    got = sorted((tuple(reversed(names)), tuple(values)) for names, values, _ in pb.rows())
    t.expect("stacks and values of all types come back", got == sorted(
        (tuple(s), tuple(v)) for s, v in rows), got)
    t.expect("types, period and mapping come back", pb.types == [("samples", "count"), ("wall", "nanoseconds")] and
        pb.period == 1000 and any(pb.strings[one(m, 5)] == "/usr/bin/thing" and
        pb.strings[one(m, 6)].startswith("0123456789abcdef") for m in pb.mappings), (pb.types, pb.period))
    go_raw(t, "x.pb.gz")


def units(t, text):
    (t.folder / "in.folded").write_text(text)
    ran = stoke(t.folder, "convert", "in.folded", "-F", "99", "-d", "10", "-o", "x.pb.gz")
    t.must("the profile is written", ran.status == 0, ran.describe())
    pb = Pprof.of_file(t.folder / "x.pb.gz")
    check_units(t, pb)
    t.expect("period 10101010", abs(pb.period - 10101010) <= 1, pb.period)
    own = {names: dict(zip([k for k, _ in pb.types], values)) for names, values, _ in pb.rows()}
    busy, idle = own.get(("busy", "main"), {}), own.get(("main",), {})
    t.expect("main;busy: 500 samples, 5.0505 s of cpu", busy.get("samples") == 500 and
        abs(busy.get("cpu", 0) - 5050505000) < 505050, busy)
    t.expect("main: 490 samples, 4.9495 s of cpu", idle.get("samples") == 490 and
        abs(idle.get("cpu", 0) - 4949494900) < 494949, idle)
    t.expect("sum of cpu 9.9999999 s: 10 s within 0.01%", abs(pb.sum_of("cpu") - 10**10) < 10**6, pb.sum_of("cpu"))
    t.expect("duration_nanos = 10 s", pb.duration_ns == 10**10, pb.duration_ns)


def check_units(t, pb):
    """Also used for recorded profiles."""
    t.expect("sample types: samples/count and cpu/nanoseconds", ("samples", "count") in pb.types and
        ("cpu", "nanoseconds") in pb.types, pb.types)
    t.expect("cpu is the default type", pb.default_type == "cpu" or pb.types[-1][0] == "cpu" and
        not pb.default_type, (pb.default_type, pb.types))
    t.expect("period type cpu/nanoseconds", pb.period_type == ("cpu", "nanoseconds"), pb.period_type)


@case("PP03 period and units")
def pp03(t):
    units(t, "main 490\nmain;busy 500\n")


@case("PP03 period and units (where they lie)")
def pp03_lying(t):
    units(t, (lying("PP03") / "in.folded").read_text())


def refused(t, name, data, line):
    (t.folder / name).write_bytes(data)
    ran = stoke(t.folder, "convert", name, "-o", "x.folded")
    t.expect(line + ": refused with a message, status != 0", 0 < ran.status < 126 and ran.err.strip() and
        "Sanitizer" not in ran.err, ran.describe())
    t.expect(line + ": no output file", not (t.folder / "x.folded").exists(), "x.folded is there")


def tolerated(t, name, data):
    (t.folder / name).write_bytes(data)
    out = t.folder / (name + ".folded")
    ran = stoke(t.folder, "convert", name, "-o", out.name)
    if ran.status == 0:
        t.expect(f"{name}: read as one sample of main", out.read_text().strip() == "main 1", out.read_text())
    else:
        t.expect(f"{name}: refused with a message", 0 < ran.status < 126 and "Sanitizer" not in ran.err, ran.describe())


def bomb(t, data):
    (t.folder / "bomb.pb.gz").write_bytes(data)
    ran = stoke(t.folder, "convert", "bomb.pb.gz", "-o", "bomb.folded")
    t.expect("gzip-bomb.pb.gz: < 1 GB and < 5 s, or refused by a stated limit", 0 <= ran.status < 126 and
        ran.peak_bytes < memory_limit(1 << 30) and ran.cpu_s < enough(5) and "Sanitizer" not in ran.err,
        (ran.describe(), ran.peak_bytes >> 20, ran.seconds))


@case("SE05 malformed profiles")
def se05(t):
    types, rows = [("samples", "count")], [(["main"], [1])]
    good = profile(types, rows, period=1)
    t.expect("the seed itself is read", convert_good(t, good) == "main 1", "")
    tolerated(t, "build-id-1-char.pb", profile(types, rows, mapping=("/bin/x", "a")))
    tolerated(t, "no-period-type.pb", profile(types, rows, period_type=None))
    past_end = good.count(b"\x32")  # as many strings as fields of that tag: no other byte here is 0x32
    refused(t, "string-index-one-past-end.pb", profile(types, rows, period=1, extra=block(5, number(1, 7) +
        number(2, past_end)) + block(4, number(1, 7) + block(4, number(1, 7)))), "string-index-one-past-end.pb")
    refused(t, "cut-in-half.pb", good[:len(good) // 2], "cut-in-half.pb")
    refused(t, "varint-too-long.pb", b"\x48" + b"\xff" * 11 + good, "varint-too-long.pb")
    refused(t, "length-past-end.pb", good + b"\x12\xff\xff\xff\x7f", "length-past-end.pb")
    refused(t, "cut.pb.gz", gzip.compress(good * 1)[:-9], "a gzip file cut short")
    bomb(t, gzip.compress(profile(types, rows, extra=block(6, b"a" * (200 << 20)))))


def convert_good(t, data):
    (t.folder / "good.pb").write_bytes(data)
    ran = stoke(t.folder, "convert", "good.pb", "-o", "good.folded")
    return (t.folder / "good.folded").read_text().strip() if ran.status == 0 else ran.describe()


@case("SE05 malformed profiles (where they lie)")
def se05_lying(t):
    here = lying("SE05")
    for name in ("build-id-1-char.pb", "no-period-type.pb"):
        tolerated(t, name, (here / name).read_bytes())
    for name in ("string-index-one-past-end.pb", "cut-in-half.pb", "varint-too-long.pb", "length-past-end.pb"):
        refused(t, name, (here / name).read_bytes(), name)
    bomb(t, (here / "gzip-bomb.pb.gz").read_bytes())


if __name__ == "__main__":
    raise SystemExit(main())
