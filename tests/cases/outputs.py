#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What text, JSON, Markdown and the picture say of one comparison is the same: on the worked cases and
on random small inputs. JSON has every number, so it is the measure of the others."""
import html
import random
import re
from collections import defaultdict

from driver import SHARED, Skip, case, load_json, main, stoke
from readers import Picture

EXAMPLES = SHARED / "cases" / "diff-examples"
UNTOLD = 200  # samples a side, with less nothing is tested
BEYOND = 4.0  # standard errors that are a change where nothing is tested
SEEDS = range(24)

LINE = re.compile(r"(GREW|NEW|SHRANK|GONE) +(.+?) +([\d.]+) -> +([\d.]+) (%|ms|samples|cores) +([+-]?[\d.]+) "
    r"(pts|ms|samples|cores)(?:  (.*))?$")
ROW = re.compile(r"\| (?:[a-z ]*) \| <code>(.*)</code> \| (total|self) \| ([\d.]+) \S+ \| ([\d.]+) \S+ "
    r"\| \*\*([+-]?[\d.]+)\*\* \S+ \| (\S+) \.\. (\S+) \| (\S*) \|$")


class Sides(Picture):
    """The two-sided tree of a picture: .nodes is (path of (letter, name), (self, self), (total, total))."""

    def decode(self, text):
        numbers = self.numbers(text)
        path, rows = [], []
        for head in numbers:
            up, entry = head >> 2, self.entries[next(numbers)]
            name = (entry[0], entry[1:].split("\t")[0])
            if up:
                del path[len(path) - up:]
            own = (next(numbers) if head & 1 else 0, next(numbers) if head & 2 else 0)
            path.append((name, len(rows)))
            rows.append([tuple(n for n, _ in path), own, own])
            for _, above in path[:-1]:
                rows[above][2] = tuple(a + b for a, b in zip(rows[above][2], own))
        return [tuple(row) for row in rows]

    def of_name(self, name, kernel):
        """((self, self), (total, total)) of a function, each sample once."""
        own, total = [0, 0], [0, 0]
        for path, selves, totals in self.nodes:
            path = ("",) + path[1:]  # a function may be called as the root is
            mine = [n for n in path[1:] if n[1] == name and (n[0] == "k") == kernel]
            if not mine or path[-1] != mine[-1]:
                continue
            for side in (0, 1):
                own[side] += selves[side]
                total[side] += totals[side] if path.index(mine[0]) == len(path) - 1 else 0
        return tuple(own), tuple(total)


def near(value, shown, decimals=2):
    return abs(value - float(shown)) <= 0.5000021 * 10 ** -decimals


def scale_of(said):
    """(what rates are multiplied by, decimals) of this comparison's text."""
    exposure, hz = said["options"]["exposure"], said["sides"]["before"]["frequency_hz"]
    if exposure == "share":
        return 100, 2
    if exposure == "time":
        return 1, 3
    return (1000 / hz, 3) if hz and hz == said["sides"]["after"]["frequency_hz"] else (1, 2)


def changes_of(said, sign):
    """Hypotheses that JSON says to have grown (1) or shrunk (-1)."""
    sides, evidence = said["sides"], said["evidence"]
    untested = evidence["too_few"] or min(sides["before"]["samples"], sides["after"]["samples"]) < UNTOLD
    word, t = ("grew", "t_grew") if sign > 0 else ("shrank", "t_shrank")
    return [h for h in said["hypotheses"] if h["least"] is not None and
        ((h[t] is not None and h[t] >= BEYOND) if untested else word in h["flags"])]


def named(shown, name):
    """Is this how a name is shown? In front it may be cut."""
    plain = shown[:-9] if shown.endswith(" (kernel)") else shown
    return name == plain or (plain[:1] == "\u2026" and name.endswith(plain[1:]))


def same_text(t, said, text):
    factor, decimals = scale_of(said)
    lines = [LINE.match(line).groups() for line in text.split("\n") if LINE.match(line)]
    shown = [("self" if "its own code" in (line[7] or "") else "total", *line) for line in lines]
    t.expect("no change is listed twice", len({s[:3] for s in shown}) == len(shown), shown)
    for sign in (1, -1):
        words = ("GREW", "NEW") if sign > 0 else ("SHRANK", "GONE")
        left = [s for s in shown if s[1] in words]
        for h in changes_of(said, sign):
            kind = "self" if h["kind"] == "self" else "total"
            found = [s for s in left if s[0] == kind and named(s[2], h["name"]) and
                s[2].endswith(" (kernel)") <= (h["class"] == "kernel") and near(h["before"] * factor, s[3], decimals)]
            if not t.expect(f"text lists {kind} {h['name']}", found, left):
                continue
            left.remove(found[0])
            _, word, _, before, after, _, change, _, rest = found[0]
            t.expect(f"text's numbers of {h['name']}", near(h["before"] * factor, before, decimals) and
                near(h["after"] * factor, after, decimals) and near(h["difference"] * factor, change, decimals),
                (found[0], h))
            t.expect(f"{h['name']} is new or gone in both", (word == "NEW") == (sign > 0 and "new" in h["flags"]) and
                (word == "GONE") == (sign < 0 and "gone" in h["flags"]), (word, h["flags"]))
            p = re.search(r"p (<?[\d.]+)", rest or "")
            t.expect(f"p of {h['name']}", not p or p[1][0] == "<" or
                abs(float(p[1]) - h["p_grew" if sign > 0 else "p_shrank"]) <= .00501, (rest, h))
        t.expect("text lists no other change", not left, left)


def same_markdown(t, said, text):
    factor, decimals = scale_of(said)
    for line in text.split("\n"):
        row = ROW.match(line)
        if not row:
            continue
        name = html.unescape(re.sub(r"\\(.)", r"\1", row[1]))
        found = [h for sign in (1, -1) for h in changes_of(said, sign) if named(name, h["name"]) and
            ("self" if h["kind"] == "self" else "total") == row[2] and near(h["before"] * factor, row[3], decimals) and
            near(h["after"] * factor, row[4], decimals) and near(h["difference"] * factor, row[5], decimals) and
            near(h["low"] * factor, row[6], decimals) and near(h["high"] * factor, row[7], decimals)]
        t.expect("a row of Markdown is a change of JSON", found, line)


def same_picture(t, said, picture):
    units = said["units"]
    exposures = units["exposures"][0]
    exposure = (sum(exposures[:units["nr_before"]]), sum(exposures[units["nr_before"]:]))
    inserted = {m["path"][-1] for m in said["moved"] if m["kind"] == "inserted"}
    for h in said["hypotheses"]:
        if h["kind"] == "group" or h["condition"] or h["sum"] or h["class"] == "mark" or h["name"] in inserted:
            continue
        own, total = picture.of_name(h["name"], h["class"] == "kernel")
        counts = own if h["kind"] == "self" else total
        t.expect(f"the picture has {h['kind']} {h['name']}", all(
            abs(count / by - h[side]) < 1e-9 for count, by, side in zip(counts, exposure, ("before", "after"))),
            (counts, exposure, h["before"], h["after"]))
    for side in (0, 1):
        all_of = sum(units["samples"][units["nr_before"] * side:][:units["nr_before"] if not side else None])
        t.expect("the picture has all samples", picture.nodes[0][2][side] == all_of, (picture.nodes[0], all_of))
    samples = [said["sides"][side]["samples"] for side in ("before", "after")]
    t.expect("all samples of a side are all samples of its units", sum(units["samples"]) == sum(samples), units)


def same_story(t, said, story, all_before):
    told = re.search(r"Most growth: (.+?)(?: in (.+?))?, ([\d.<]+)\u2009% \u2192 ([\d.<]+)\u2009% \((.+?)\u2009pts\)", story)
    if not told:
        return
    owners = [o for o in said["owners"] if not o["crossroads"]]
    scale = 100 / all_before
    found = [o for o in owners if (o["path"][-1] if len(o["path"]) > 1 else "all samples") == told[1] and
        ("<" in told[3] or abs(o["before"] * scale - float(told[3])) < .051) and
        ("<" in told[4] or abs(o["after"] * scale - float(told[4])) < .051)]
    name, own = (told[1][:-14], "self") if told[1].endswith(", its own code") else (told[1], "total")
    grown = [h for h in changes_of(said, 1) if named(name, h["name"]) or name == f"all of {h['name']}"]
    t.expect("who grew most in the picture is an owner of JSON, or a change where no owner has evidence",
        found or any((h["kind"] == "self") == (own == "self") and ("<" in told[3] or
            abs(h["before"] * scale - float(told[3])) < .051) and ("<" in told[4] or
            abs(h["after"] * scale - float(told[4])) < .051) for h in grown), (story, owners, grown))
    # A picture that says "could be chance" while text lists what grew would contradict it.
    t.expect("nobody is told to be chance's while JSON has growth with evidence",
        not story.startswith("Could be") or not changes_of(said, 1), (story, changes_of(said, 1)))


def agree(t, before, after, *options):
    """Compares files of t.folder, and what was said of it."""
    ran = stoke(t.folder, "diff", *before, "--", *after, "--all", *options, "-o", "x.json", "-o", "x.svg", "-o", "x.md")
    t.must("the comparison is made", ran.status == 0, ran.describe())
    said = load_json(t.folder / "x.json")
    picture = Sides((t.folder / "x.svg").read_bytes())
    same_text(t, said, ran.out)
    same_markdown(t, said, (t.folder / "x.md").read_text())
    same_picture(t, said, picture)
    story = re.search(r'"story":"((?:[^"\\]|\\.)*)"', picture.meta)
    units = said["units"]
    rate = 1 if said["options"]["exposure"] == "share" else \
        sum(units["samples"][:units["nr_before"]]) / sum(units["exposures"][0][:units["nr_before"]])
    same_story(t, said, story[1], rate)


def worked(t, name, options=()):
    folder = EXAMPLES / name
    if not folder.is_dir():
        raise Skip("no worked examples beside the source")
    sides = [sorted(folder.glob(f"{side}*.folded")) for side in "AB"]
    agree(t, *sides, *options)


for example in ("01-tls-handshake", "02-repeats", "03-recursion-names", "04-union-layout", "05-root-cause",
        "06-dilution", "10-slices"):
    case(f"worked case {example}")(lambda t, name=example: worked(t, name))


@case("worked case 09-per-work")
def per_work(t):
    worked(t, "09-per-work", ("--work-before", "100", "--work-after", "100"))


NAMES = ["main", "a", "b", "c", "all", "read", "read_[k]", "sys_[k]", "ns::f()", "com.acme.Parser.parse_[j]", "x|y`z", "[broken]_[m]"]


def made(rng, runs, tail):
    """Folded text of the runs of two sides: random trees, of which some parts differ between the sides."""
    stacks = sorted({";".join(["main"] * rng.randint(0, 1) + rng.choices(NAMES, k=rng.randint(1, 5)))
        for _ in range(rng.randint(3, 14))})
    weight = {s: rng.choice((2, 20, 200)) for s in stacks}
    other = {s: w * rng.choice((0, 1, 1, 1, 1, 2, 4)) for s, w in weight.items()}
    other[stacks[0]] = weight[stacks[0]] = 300
    for side, of in (("before", weight), ("after", other)):
        for run in range(runs):
            text = ""
            for second in range(tail):
                if tail > 1:
                    text += f"#slice t={second}s;\n"
                for stack in stacks:
                    n = round(of[stack] * rng.uniform(.9, 1.1))
                    text += f"{stack} {n}\n" if n else ""
            yield f"{side}{run}.folded", text


def at_random(t, seed):
    rng = random.Random(seed)
    runs, tail = rng.choice(((1, 1), (1, 11), (2, 1), (3, 1), (4, 1)))
    files = defaultdict(list)
    for name, text in made(rng, runs, tail):
        (t.folder / name).write_text(text)
        files[name[:5]].append(name)
    options = rng.choice(((), (), ("--work-before", "100", "--work-after", "50"), ("-F", "100", "-d", "20", "--exposure", "time"),
        ("--names", "none", "--no-fold")))
    agree(t, files["befor"], files["after"], *options)


for seed in SEEDS:
    case(f"random input {seed}")(lambda t, number=seed: at_random(t, number))

raise SystemExit(main())
