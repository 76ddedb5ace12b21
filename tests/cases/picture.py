#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What an SVG holds, read back by an XML parser: SV01, SV02, SV03, SV06 and SE01. What a browser does
with it (SI01, SI03, the live half of SE01) is in tests/browser."""
import json
import re
import subprocess

from driver import case, enough, lying, main, memory_limit, stoke
from readers import Picture, Pprof


def lines_of(data):
    """(bytes of the child under main, count) of each line of the input."""
    for line in data.rstrip(b"\n").split(b"\n"):
        stack, _, count = line.rpartition(b" ")
        yield stack.split(b";", 1)[1], int(count)


def outputs(t, data):
    """Draws and converts; gives the picture after the checks that hold for every input."""
    (t.folder / "in.folded").write_bytes(data)
    ran = stoke(t.folder, "flamegraph", "in.folded", "-o", "x.svg")
    t.must("the SVG is written", ran.status == 0, ran.describe())
    ran = stoke(t.folder, "convert", "in.folded", "-o", "x.folded", "-o", "x.pb.gz", "-o", "x.json")
    t.must("folded, pprof and JSON are written", ran.status == 0, ran.describe())
    drawn = (t.folder / "x.svg").read_bytes()
    lint = subprocess.run(["xmllint", "--noout", "x.svg"], cwd=t.folder, capture_output=True, text=True)
    t.expect("xmllint --noout out.svg: no error", lint.returncode == 0 and not lint.stderr, lint.stderr[:500])
    try:
        json.loads((t.folder / "x.json").read_bytes().decode("utf-8"))
        (t.folder / "x.folded").read_bytes().decode("utf-8")
        pb = Pprof.of_file(t.folder / "x.pb.gz")
        t.expect("samples of the pprof output add up", pb.sum_of("samples") == sum(
            n for _, n in lines_of(data)), pb.types)
    except ValueError as wrong:
        t.expect("SVG, folded, JSON and pprof are valid UTF-8, XML and JSON parse", False, str(wrong))
    return Picture(drawn)


def unchanged(t, data):
    drawn = outputs(t, data)
    total = sum(n for _, n in lines_of(data))
    # A ";" in a name of folded text is a separator, so "&lt;" is two frames there, and one without a
    # name at the end: paths are compared.
    paths = {";".join(path): count for path, _, count in drawn.nodes}
    for name, count in lines_of(data):
        name = name.decode()
        path = ";".join(part or "[unknown]" for part in name.split(";"))
        t.expect(f"{name}\t{count}\t{100 * count / total}%", count in (paths.get(f"{root}main;{path}")
            for root in ("", drawn.nodes[0][0][0] + ";")), paths)
    t.expect(f"main\t{total}\t100%", drawn.total == total and drawn.total_of("main") == total, drawn.total)
    return drawn


SV01 = """main;std::vector<char const*, int>::push_back(char&&) 20
main;operator<< 5
main;x & y 5
main;"in quotes" 10
main;don't 10
main;D:\\new\\ 10
main;ends so\\ 5
main;c]]>d 5
main;</title><i>y 20
main;<!-- aside --> 10
main;&amp; twice 10
main;&lt;b&gt; 20
main;%3Ci%3E 20
main;${var} 20
main;$& $2 \\2 20
main;one\u2028two 10
""".encode()


@case("SV01 markup characters", tools=["xmllint"])
def sv01(t):
    unchanged(t, SV01)


@case("SV01 markup characters (where they lie)", tools=["xmllint"])
def sv01_lying(t):
    unchanged(t, (lying("SV01") / "in.folded").read_bytes())


def marked(t, data):
    """Names that cannot stay as they are: each stays a frame of its own, whole and readable."""
    drawn = outputs(t, data)
    children = drawn.below("main")
    counts = [n for _, n in lines_of(data)]
    t.expect(f"{len(counts)} different child frames under main with {counts} samples, total {sum(counts)}",
        sorted(children.values()) == sorted(counts) and drawn.total == sum(counts), children)
    by_count = {n: name for name, n in children.items()}
    for name, count in lines_of(data):
        shown = by_count.get(count, "")
        kept = re.findall(rb"[a-zA-Z]{2,}", name)
        t.expect(f"{name!r} stays readable, its bad bytes shown by a mark and not dropped",
            all(part.decode() in shown for part in kept) and shown != "".join(p.decode() for p in kept) or
            shown == name.decode("utf-8", "replace"), shown)
    return by_count


@case("SV02 control characters", tools=["xmllint"])
def sv02(t):
    by_count = marked(t, b"main;esc\x1bape 1\nmain;bell\x07ring 2\nmain;nul\x00here 3\nmain;one\x01q 4\n"
        b"main;two\x02q 5\nmain;tab\tstop 6\nmain;del\x7fkey 7\nmain;cee\xc2\x85one 8\n"
        b"main;non\xef\xbf\xbechar 9\nmain;back\x08space 10\n")
    t.expect("one\\x01 and two\\x02 stay two different, readable names", by_count.get(4) != by_count.get(5), by_count)
    t.expect("the name with NUL is not cut at the NUL", "here" in by_count.get(3, ""), by_count)


@case("SV02 control characters (where they lie)", tools=["xmllint"])
def sv02_lying(t):
    marked(t, (lying("SV02") / "in.folded").read_bytes())


def damaged(t, data):
    by_count = marked(t, data)
    name, count = list(lines_of(data))[-1]
    t.expect(f"the last name is unchanged: {name.decode()}", by_count.get(count) == name.decode(), by_count)


@case("SV03 bytes that are not UTF-8", tools=["xmllint"])
def sv03(t):
    damaged(t, b"main;lone\xadbyte 10\nmain;bad\xc3(pair 20\nmain;two\xff\xff 30\nmain;over\xc0\xaflong 40\n"
        b"main;half\xed\xa0\x80 50\nmain;cut\xe2\x82 60\nmain;old\xe9s\xe8 70\nmain;good\xc3\xa8 80\n")


@case("SV03 bytes that are not UTF-8 (where they lie)", tools=["xmllint"])
def sv03_lying(t):
    damaged(t, (lying("SV03") / "in.folded").read_bytes())


@case("SV06 deep and huge")
def sv06(t):
    with open(t.folder / "deep.folded", "w", encoding="ascii") as out:
        out.write("main" + "".join(f";f{i:04}" for i in range(1, 3000)) + " 900\nmain;side 100\n")
    ran = stoke(t.folder, "flamegraph", "deep.folded", "-o", "deep.svg")
    t.expect("deep: the tool does not overflow the stack", ran.status == 0, ran.describe())
    data = (t.folder / "deep.svg").read_bytes()
    drawn = Picture(data)
    totals = {path[-1]: total for path, _, total in drawn.nodes}
    t.expect("deep: f2999 90%, side 10%", (totals.get("f2999"), totals.get("side"), drawn.total) == (900, 100, 1000),
        (totals.get("f2999"), totals.get("side"), drawn.total))
    t.expect("deep: all 3000 levels can be reached", sum(1 for n in totals if n.startswith("f")) == 2999, len(totals))
    t.expect("deep: SVG under 2 MB", len(data) < 2 << 20, len(data))
    with open(t.folder / "wide.folded", "w", encoding="ascii") as out:
        out.writelines(f"main;p{i % 200:03};leaf{i:06} 1\n" for i in range(200000))
        out.write("main;big 200000\n")
    ran = stoke(t.folder, "flamegraph", "wide.folded", "-o", "wide.svg")
    t.expect("wide: under 2 s and under 500 MB for the tool", ran.status == 0 and ran.cpu_s < enough(2) and
        ran.peak_bytes < memory_limit(500 << 20), (ran.cpu_s, ran.peak_bytes >> 20, ran.status))
    data = (t.folder / "wide.svg").read_bytes()
    t.expect("wide: SVG under 5 MB", len(data) < 5 << 20, len(data))
    drawn = Picture(data)
    totals = {path[-1]: total for path, _, total in drawn.nodes}
    t.expect("wide: total 400000; big 50%", (drawn.total, totals.get("big")) == (400000, 200000), drawn.total)
    t.expect("wide: p000 1000 samples, 0.25%; no percentage changes by leaving frames out",
        all(totals.get(f"p{i:03}") == 1000 for i in range(200)), totals.get("p000"))
    nr = sum(1 for n in totals if n.startswith("leaf"))
    t.expect("wide: leaf frames left out are counted", nr == 200000 or b"left out" in data, nr)


def scripted(t, data):
    drawn = outputs(t, data)
    children = drawn.below("main")
    for name, count in lines_of(data):
        t.expect(f"{name.decode()}: read back unchanged, {count} samples", children.get(name.decode()) == count, children)
    (t.folder / "plain.folded").write_text("main;harmless 10\n")
    stoke(t.folder, "flamegraph", "plain.folded", "-o", "plain.svg")
    plain = Picture((t.folder / "plain.svg").read_bytes())
    t.expect("the number of <script> elements is that of a harmless profile, and so is what they hold",
        drawn.scripts() == plain.scripts(), (len(drawn.scripts()), len(plain.scripts())))
    attributes = [(e.tag, k) for e in drawn.root.iter() for k, v in e.attrib.items()
        if k.lower().startswith("on") or "alert" in v and k.split("}")[-1] in ("href", "style", "id", "class")]
    t.expect("names are never inside an on* attribute or an href", not attributes, attributes)
    ran = stoke(t.folder, "flamegraph", "plain.folded", "-o", "titled.svg", "-f",
        'svg:title=</title><script>alert(9)</script>"]]>')
    t.must("a title can be given", ran.status == 0, ran.describe())
    titled = Picture((t.folder / "titled.svg").read_bytes())
    t.expect("the same for the title", titled.scripts() == plain.scripts() and any(
        "<script>alert(9)" in (e.text or "") for e in titled.root.iter()), len(titled.scripts()))


@case("SE01 script in names", tools=["xmllint"])
def se01(t):
    scripted(t, b"main;\"><script>alert(1)</script> 10\nmain;'+alert(1)+' 10\nmain;y\" onclick=\"alert(1) 10\n"
        b"main;</svg><script>alert(2)</script> 10\nmain;]]><script>alert(3)//]]> 10\n"
        b"main;javascript:alert(4)// 10\nmain;\\u003cscript\\u003ealert(5) 10\n"
        b"main;</script><script>alert(6)</script> 10\n")


@case("SE01 script in names (where they lie)", tools=["xmllint"])
def se01_lying(t):
    scripted(t, (lying("SE01") / "in.folded").read_bytes())


if __name__ == "__main__":
    raise SystemExit(main())
