#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The picture of two sides: what stands in it, what a reader does with it."""
import functools
import http.server
import re
import subprocess
import threading

import profiles
from page import draw_difference, main, test

ROW, TOP = 27, 15.5  # of a row of boxes; of a label's baseline in it


def boxes_of(page, label):
    """{class: (x, w)} of what is drawn in the row and at the place of a label."""
    boxes, labels = page.look()
    found = [t for t in labels if t["text"].split("  ")[0] == label]
    page.expect(f"{label} is drawn", found, labels)
    x, y = found[0]["x"] - 4, found[0]["y"] - TOP
    return {b["cls"]: (b["x"], b["w"]) for b in boxes if abs(b["x"] - x) < .11 and y - .1 <= b["y"] < y + ROW - 1}


def plain(text):
    return text.replace("\u2009", "").replace("\u202f", "")


def server():
    """Of a Java server, its threads called so that none is the JVM's own."""
    return profiles.mixed(1500).replace("C2 CompilerThread0", "pool-1-thread-1").replace("GC Thread#0", "pool-2-thread-1")


@test("every frame of either side has room, a bar a side, and its change in words")
def union(page):
    page.draw_difference(*profiles.UNION)
    width = page.run("return document.querySelector('.graph').getBoundingClientRect().width")
    wanted = {"all": (0, 1), "main": (0, 1), "a": (0, .4814814815), "x": (.2222222222, .2592592593),
              "b": (.4814814815, .1851851852), "+ fresh": (.6666666667, .1481481481), "× old": (.8148148148, .1851851852)}
    for label, (x, w) in wanted.items():
        drawn = boxes_of(page, label)
        fill = [drawn[cls] for cls in drawn if cls[0] == "d"]
        page.expect(f"{label} is where it should be", len(fill) == 1 and abs(fill[0][0] - x * width) < .1 and
                    abs(fill[0][1] + 1 - w * width) < .1, (drawn, x * width, w * width))
    page.same("bars of new", ("ba" in boxes_of(page, "+ fresh"), "bb" in boxes_of(page, "+ fresh")), (False, True))
    page.same("bars of gone", ("ba" in boxes_of(page, "× old"), "bb" in boxes_of(page, "× old")), (True, False))
    page.expect("gone is hatched", "hh" in boxes_of(page, "× old"), boxes_of(page, "× old"))
    page.expect("new is not", "hh" not in boxes_of(page, "+ fresh"), boxes_of(page, "+ fresh"))
    page.expect("the bar before is shorter", boxes_of(page, "a")["ba"][1] < boxes_of(page, "a")["bb"][1], boxes_of(page, "a"))
    page.expect("signs and numbers", {"+ fresh  +20.0pts", "× old  −25.0pts", "x  +15.0pts"} <= {plain(t) for t in page.labels()}, page.labels())
    page.same("b is grey", [cls for cls in boxes_of(page, "b") if cls[0] == "d"], ["dx"])
    page.same("old is full blue", [cls for cls in boxes_of(page, "× old") if cls[0] == "d"], ["dm4"])


@test("the head says which way round it is, the first line who grew")
def head(page):
    page.draw_difference(*profiles.TLS)
    legend = plain(page.text(".scale"))
    for words in ("less after −5 pts", "+5 pts more after", "no evidence", "upper bar before, lower after", "+ new",
                  "× gone", "⇄ moved", "↳ inserted"):
        page.expect(words, words in legend, legend)
    facts = plain(page.text(".facts > span"))
    for words in ("before: ", "after: ", "compared by share of samples", "difference 22.8%"):
        page.expect(words, words in facts, facts)
    story = plain(page.text(".story"))
    page.expect("the owner", story.startswith("Most growth: Client.processMessage, 1.15% → 24.0% (+22.8pts). Different work: Finished.verify 69.6% → 3.50% of it"), story)
    page.same("it is the first line of the still picture", plain(page.run("return document.querySelectorAll('.sk-static > .fg1')[1].textContent"))[:31],
              "Most growth: Client.processMess")
    page.hover(next(t for t in page.labels() if t.startswith("SSL.read")))
    tip = plain(page.text(".tip"))
    for words in ("SSL.readRecord", "evidence: p ", "total1.15%24.0%+22.8pts", "self0%0%±0pts", "beforeafterchangep"):
        page.expect(words, words in tip, tip)
    status = plain(page.text(".status .numbers"))
    page.expect("status line", status.startswith("before 1.15%   after 24.0%   +22.8pts   evidence: p "), status)


@test("zoom, Escape, Back and the address keep the place")
def zoom(page):
    path = page.draw_difference(*profiles.TLS)
    label = next(t for t in page.labels() if t.startswith("Client."))
    page.click(label)
    page.same("zoomed", page.zoomed(), "Client.processMessage")
    page.expect("callers above", {"all", "main", "EventLoop.run"} <= set(page.labels()), page.labels())
    drawn = boxes_of(page, next(t for t in page.labels() if t in ("Fin…", "ver…")))
    page.expect("small frames have room now", drawn and max(w for _, w in drawn.values()) > 30, drawn)
    fragment = page.run("return location.hash")
    page.browser.back()
    page.wait("Back leads out", "return document.querySelector('.path [aria-current]').title === 'all'")
    page.open(path, fragment)
    page.same("from the address", page.zoomed(), "Client.processMessage")
    page.keys("Escape")
    page.same("a step out", page.zoomed(), "SSL.readRecord")
    page.keys("0")
    page.same("all", page.zoomed(), "all")


@test("a search has a share of either side")
def search(page):
    page.draw_difference(*profiles.TLS)
    page.search("SSL.readRecord")
    page.same("of all", plain(page.text(".matched")), "before 1.15%, after 24.0% matched, 1 frame")
    page.click(next(t for t in page.labels() if t.startswith("SSL.read")))
    page.search("/^Finished/")
    page.same("of the zoom", plain(page.text(".matched")), "before 69.6%, after 3.50% matched of the zoom, 1 frame")


@test("n and N go through the changes with evidence, w through the widths, e through the colours")
def keys(page):
    page.draw_difference(*profiles.UNION)
    page.keys("n")
    page.same("largest", page.text(".status .name"), "old")
    page.keys("n")
    page.same("next", page.text(".status .name"), "fresh")
    page.keys("N", "N")
    page.same("the last one", page.text(".status .name"), "a")
    page.keys("w")
    page.same("before alone", sorted(re.sub("  .*", "", t) for t in page.labels()), ["a", "all", "b", "main", "x", "× old"])
    page.same("is in the address", page.hash(), "#w=1")
    page.keys("w")
    page.same("after alone", sorted(re.sub("  .*", "", t) for t in page.labels()), ["+ fresh", "a", "all", "b", "main", "x"])
    page.reload()
    page.same("after a reload", page.run("return document.querySelectorAll('.tools select')[1].value"), "2")
    page.keys("w")
    page.same("both", (len(page.labels()), page.hash()), (7, ""))
    page.draw_difference("m;a 3000\nm;b 7000\n", "m;a 3010\nm;b 6990\n")
    page.same("noise is grey", {b["cls"] for b in page.look()[0] if b["cls"][0] == "d"}, {"dx"})
    page.keys("e")
    page.same("all changes", {b["cls"] for b in page.look()[0] if b["cls"][0] == "d"}, {"dx", "dp1", "dm1"})
    page.keys("n")
    page.same("none has evidence", page.text(".status .name"), "all")


@test("the table tells both sides, largest change first, and finds")
def table(page):
    page.size(1600, 900)
    page.draw_difference(*profiles.UNION)
    rows = page.run("return Array.from(document.querySelectorAll('.panel tr')).map(r => Array.from(r.children).map(c => c.textContent))")
    page.same("heads", rows[0], ["before", "after", "Δ total", "Δ self", "p", "Function"])
    page.same("first", [plain(c) for c in rows[1][:4]] + rows[1][5:], ["25.0%", "0%", "−25.0pts", "−25.0pts", "× old"])
    page.same("order", [r[5] for r in rows[1:5]], ["× old", "+ fresh", "x", "a"])
    page.expect("p of what changed", 0 <= float(rows[1][4].replace("<", "")) <= .05, rows[1])
    page.press(".panel tbody tr:nth-child(3)")
    page.same("goes there", page.text(".status .name"), "x")
    page.press(".panel th:nth-child(1)")
    page.same("sorted by before", page.run("return document.querySelector('.panel tbody tr td:last-child').textContent"), "main")


@test("focus and bottom-up count both sides")
def views(page):
    page.draw_difference("m;a;f 1000\nm;b;f 1000\nm;c 8000\n", "m;a;f 3000\nm;b;f 500\nm;c 6500\n")
    page.keys("ArrowDown", "ArrowDown", "b")
    page.expect("bottom up", {"all", "f", "c"} <= {re.sub("  .*", "", t) for t in page.labels()}, page.labels())
    page.click(next(t for t in page.labels() if t.startswith("f")))
    page.same("f", plain(page.text(".status .numbers"))[:41], "before 20.0%   after 35.0%   +15.0pts   e"[:41])
    page.keys("Escape", "Escape")
    page.keys("ArrowDown", "ArrowDown", "f")
    page.expect("focus", page.text(".status .name") != "all", page.labels())


@test("swapped, the other way round, widths of one side from the start")
def swap(page):
    page.draw_difference(*profiles.UNION, "swap")
    page.expect("signs", {"× fresh  −20.0pts", "+ old  +25.0pts"} <= {plain(t) for t in page.labels()}, page.labels())
    page.expect("legend", "+5 pts more before" in page.text(".scale"), page.text(".scale"))
    page.expect("says so", "sides swapped" in page.text(".facts"), page.text(".facts"))
    page.draw_difference(*profiles.UNION, "widths=b")
    page.expect("after alone", not any("old" in t for t in page.labels()), page.labels())
    page.keys("w")
    page.expect("then both", any("old" in t for t in page.labels()), page.labels())


@test("dark and light have their colours", dark=True)
def themes(page):
    page.draw_difference(*profiles.UNION)
    page.run("localStorage.clear()")
    page.reload()
    fill = "return getComputedStyle(document.querySelector('.graph .dm4')).fill"
    page.same("dark", page.run(fill), "rgb(69, 138, 206)")
    page.keys("d")
    page.same("light", page.run(fill), "rgb(92, 165, 237)")
    page.run("localStorage.clear()")


@test("hostile names stay text in both pictures")
def hostile(page):
    names = profiles.SCRIPTS + profiles.MARKUP
    path = page.draw_difference(profiles.children(names, 100), profiles.children(names[3:], 130), "title=</title><script>alert(7)</script>")
    page.same("scripts", page.run("return document.querySelectorAll('script').length"), 1)
    page.expect("no handler came in by a name", page.run("""
return Array.from(document.querySelectorAll('*')).every(e => Array.from(e.attributes).every(a => !a.name.startsWith('on') && a.name !== 'href'))"""))
    lint = subprocess.run(["xmllint", "--noout", str(path)], capture_output=True, text=True)
    page.same("xmllint", (lint.returncode, lint.stderr), (0, ""))
    for label in page.labels()[:8]:
        page.hover(label)
    page.same("errors", page.errors(), [])


for size in (400, 1200, 1920):
    @test(f"nothing flows over at {size} pixels", width=size, height=900)
    def inside(page):
        text = server()
        page.draw_difference(text, profiles.changed(text))
        boxes, labels = page.look()
        boxes = [b for b in boxes if b["cls"][0] == "d" or b["cls"] == "kd0"]
        page.expect("many labels are drawn", len(labels) > 20, labels)
        for label in labels:
            at = [b for b in boxes if abs(b["x"] + 4 - label["x"]) < .11 and abs(b["y"] + 12.5 - label["y"]) < .11]
            page.expect(f"{label} has a box", at)
            page.expect(f"{label} ends inside of its box", label["x"] + label["w"] <= at[0]["x"] + at[0]["w"] + .6, at)
        page.expect("nothing of the shell is wider than the window", page.run("""
return Array.from(document.querySelectorAll('.app *')).every(e => e.closest('.graph, .panel, .tip') || getComputedStyle(e).display === 'none' ||
	e.getBoundingClientRect().right <= innerWidth + .5)"""))
        page.expect("the graph can be seen", page.run("return document.querySelector('.scroll').clientHeight") > 200)


@test("the still picture has its labels inside, in each of the common fonts")
def still(page):
    text = server()
    drawn = draw_difference(page.folder, text, profiles.changed(text))
    text = re.sub(r"<script>.*</script>", "", drawn.read_text(), flags=re.S)
    for font in ("DejaVu Sans", "Liberation Sans", "sans-serif"):
        page_of = page.folder / "plain.html"
        page_of.write_text("<!doctype html><meta charset=utf-8>" +
                           re.sub(r'font-family="[^"]*"', f'font-family="{font}"', text[text.index("<svg"):]))
        page.open(page_of)
        boxes, labels = page.look_still()
        boxes = [b for b in boxes if b["cls"][0] == "d" or b["cls"] == "kd0"]
        page.expect("many labels", len(labels) > 20, labels)
        for label in labels:
            at = [b for b in boxes if abs(b["x"] + 4 - label["x"]) < .11 and abs(b["y"] + 12.5 - label["y"]) < .11]
            page.expect(f"{label} has a box", at)
            page.expect(f"{label} ends inside of its box", label["x"] + label["w"] <= at[0]["x"] + at[0]["w"] + .6, at)
        page.expect("no line leaves the picture", page.run("""
return Array.from(document.querySelectorAll('.sk-static > text')).every(t => t.getBBox().x + t.getBBox().width <= 1190)"""))


class Blocked(http.server.SimpleHTTPRequestHandler):
    """A host as GitHub or Jenkins is: no scripts, on Jenkins no styles either."""
    policy = ""

    def end_headers(self):
        self.send_header("Content-Security-Policy", self.policy)
        super().end_headers()

    def log_message(self, *_):
        pass


@test("where scripts are blocked the still picture says it all")
def blocked(page):
    draw_difference(page.folder, *profiles.TLS, name="tls")
    for policy in ("default-src 'none'; style-src 'unsafe-inline'; sandbox", "sandbox; default-src 'none'; style-src 'self'"):
        handler = type("Handler", (Blocked,), {"policy": policy})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(page.folder)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            page.browser.get(f"http://127.0.0.1:{server.server_port}/tls.svg")
            page.same("no script ran", page.run("return document.documentElement.getAttribute('data-ready')"), None)
            boxes, labels = page.look_still()
            page.expect("boxes", {"dp4", "dx", "ba", "bb"} <= {b["cls"] for b in boxes}, boxes)
            page.expect("labels with their change", any(plain(t["text"]).endswith("  +22.8pts") for t in labels), labels)
            page.expect("titles", any("evidence: p" in t["title"] for t in labels), labels)
            fill = page.run("return getComputedStyle(document.querySelector('.sk-frames .dp4')).fill")
            page.same("colour", fill, "rgb(244, 123, 80)")
        finally:
            server.shutdown()
            server.server_close()
    page.errors()  # the policy tells that it blocked


@test("great profiles stay under the budget and open", width=1200, height=900)
def great(page):
    before, after = profiles.wide(), profiles.wide(leaves=190000).replace("p007", "q007")
    path = page.draw_difference(before, after, repeats=2)
    page.expect("under 2 MB", path.stat().st_size < 2e6, path.stat().st_size)
    page.expect("what is left out keeps its place", "left out" in page.run("return document.querySelector('metadata[class=sk-names]').textContent"))
    page.search("p007")
    page.same("sums are whole", plain(page.text(".matched"))[:23], "before 0.25%, after 0% ")


main()
