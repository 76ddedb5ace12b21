#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a reader does: zoom, search, views, keys, the URL, great profiles."""
import profiles
from page import main, test


@test("a click zooms, the next one steps out, Escape and 0 go back")
def zoom(page):
    page.draw(profiles.ZOOM)
    page.same("root", page.zoomed(), "all")
    page.click("outer")
    page.same("zoomed", page.zoomed(), "outer")
    boxes = [b for b in page.look()[0] if b["layer"] == "frames"]
    page.expect("it takes the whole width", max(b["w"] for b in boxes) > 1150, boxes)
    page.same("callers stay above", len([b for b in page.look()[0] if b["layer"] == "callers"]), 2)
    page.click("outer")
    page.same("one step out", page.zoomed(), "main")
    page.click("inner")
    page.keys("Escape")
    page.same("one step out by Escape", page.zoomed(), "other" if "other" in page.labels() else "outer")
    page.keys("0")
    page.same("whole graph", page.zoomed(), "all")
    page.click("idle")
    page.press(".path button")
    page.same("by the path", page.zoomed(), "all")


@test("a search counts each sample once inside of the zoom")
def share(page):
    page.draw(profiles.ZOOM)
    for text in ("/^inner$/", "inner", "INNER"):
        page.same(f"{text} in all", page.search(text), ("70.0%", "2 frames"))
    page.click("outer")
    page.same("in outer", page.matched(), ("60.0%", "1 frame"))
    page.keys("0")
    page.click("other")
    page.same("in other", page.matched(), ("100%", "1 frame"))
    page.keys("0")
    page.click("idle")
    page.same("in idle", page.matched(), ("0%", "0 frames"))
    page.keys("0")
    page.same("in all again", page.matched(), ("70.0%", "2 frames"))
    page.expect("marks are there", page.run("return document.querySelector('.graph .match').getAttribute('d')"))
    page.expect("the rest is dimmed", any(b["layer"] == "dim" for b in page.look()[0]))
    page.same("cleared", page.search(""), ("", ""))
    page.expect("no marks", not page.run("return document.querySelector('.graph .match').getAttribute('d')"))


@test("recursion is counted once, in searches and in the table")
def recursion(page):
    page.draw(profiles.RECURSION)
    page.same("walk", page.search("/^walk$/"), ("75.0%", "4 frames"))
    page.same("walk|visit", page.search("/walk|visit/"), ("75.0%", "5 frames"))
    rows = page.run("""
return Array.from(document.querySelectorAll('.panel tbody tr')).map(r => [r.title, r.cells[0].textContent.replace('\u2009', ''), r.cells[1].textContent.replace('\u2009', '')])""")
    page.same("table", sorted(rows), [["emit", "25.0%", "25.0%"], ["main", "0%", "100%"], ["visit", "0%", "25.0%"],
                                      ["walk", "75.0%", "75.0%"]])


@test("a bad regular expression is told, plain text with its characters is found")
def bad_regex(page):
    page.draw("main;f(x 3\nmain;/a/b/ 1\n")
    page.same("bad", page.search("/f(/")[0], "not a regular expression")
    page.expect("the field says so", page.run("return document.querySelector('.tools input').classList.contains('bad')"))
    page.same("plain", page.search("f("), ("75.0%", "1 frame"))
    page.same("case counts", page.search("/F.x/")[0], "0%")
    page.same("case ignored", page.search("/F.x/i")[0], "75.0%")


@test("zoom and search live in the URL and come back")
def address(page):
    page.draw(profiles.ADDRESS)
    word = "a+b&c=d#e f"
    page.same("search", page.search(word), ("50.0%", "1 frame"))
    page.reload()
    page.same("after reload", (page.run("return document.querySelector('.tools input').value"), page.matched()[0]), (word, "50.0%"))
    page.search("")
    page.click("100%")
    page.same("zoomed", page.zoomed(), "100%")
    page.reload()
    page.same("zoomed after reload", page.zoomed(), "100%")
    page.expect("its child takes the whole width", max(b["w"] for b in page.look()[0] if b["layer"] == "frames") > 1150)
    page.search("/^x$/")
    page.reload()
    page.same("both", (page.zoomed(), page.matched()), ("100%", ("100%", "1 frame")))
    page.click("all")
    page.expect("the zoom leaves the address", "z=" not in page.hash(), page.hash())
    page.same("x in all", page.matched()[0], "50.0%")
    page.browser.back()
    page.wait("Back brings it back", "return document.querySelector('.path [aria-current]').title === '100%'")
    page.browser.forward()
    page.wait("Forward leaves it", "return document.querySelector('.path [aria-current]').title === 'all'")


@test("an address of another profile shows the whole graph")
def stale(page):
    page.draw(profiles.ADDRESS)
    page.click("100%")
    fragment = page.run("return location.hash")
    page.draw(profiles.RECURSION, fragment=fragment)
    page.same("zoom", page.zoomed(), "all")
    for bad in ("#z=zzzz.1", "#z=", "#s=%E0%A4%A", "#v=cnnowhere", "#v=x", "#&&=&z=0"):
        page.draw(profiles.RECURSION, fragment=bad)
        page.same(bad, page.zoomed(), "all")
    # The same frame at another index is found by its path.
    page.draw("aaa 5\n" + profiles.ADDRESS, fragment=fragment)
    page.same("found by its path", page.zoomed(), "100%")


@test("keys move, zoom, search, and leave in steps")
def keys(page):
    page.draw(profiles.ZOOM)
    page.keys("ArrowDown")
    page.same("callee", page.text(".status .name"), "main")
    page.keys("ArrowDown")
    page.same("the heaviest callee", page.text(".status .name"), "outer")
    page.keys("ArrowLeft")
    page.same("sibling", page.text(".status .name"), "other")
    page.keys("ArrowRight", "Enter")
    page.same("Enter zooms", page.zoomed(), "outer")
    page.keys("Backspace")
    page.same("Backspace steps out", page.zoomed(), "main")
    page.keys("Home", "/")
    page.same("/ goes to the search", page.run("return document.activeElement.localName"), "input")
    page.keys("i", "n", "n", "e", "r")
    page.same("typed", page.matched(), ("70.0%", "2 frames"))
    page.keys("Enter")
    page.same("Enter goes to a match", page.text(".status .name"), "inner")
    page.keys("Escape")
    page.same("Escape empties", page.run("return document.querySelector('.tools input').value"), "")
    page.keys("Escape")
    page.same("then leaves", page.run("return document.activeElement.className"), "scroll")
    page.keys("Ctrl-f")
    page.same("Ctrl-F", page.run("return document.activeElement.localName"), "input")
    page.keys("Escape", "?")
    page.expect("help", "search" in (page.text(".dialog") or ""))
    page.keys("Escape")
    page.same("help closed", page.text(".dialog"), None)
    page.keys("q")
    page.expect("quality", "quality" in (page.text(".dialog") or ""))
    page.keys("q")
    page.same("quality closed", page.text(".dialog"), None)
    shown = page.run("return document.querySelector('.panel').style.display")
    page.keys("t")
    page.expect("t opens or closes the table", page.run("return document.querySelector('.panel').style.display") != shown)


@test("i turns the picture round, and the arrows with it")
def flipped(page):
    page.draw(profiles.ZOOM)
    top = {label["text"]: label["y"] for label in page.look()[1]}
    page.keys("i")
    bottom = {label["text"]: label["y"] for label in page.look()[1]}
    page.expect("icicle", top["all"] < top["main"] < top["outer"], top)
    page.expect("flame", bottom["all"] > bottom["main"] > bottom["outer"], bottom)
    page.keys("ArrowUp")
    page.same("up is to the callee", page.text(".status .name"), "main")
    page.draw(profiles.ZOOM, "flame")
    drawn = {label["text"]: label["y"] for label in page.look()[1]}
    page.expect("a file written as flame", drawn["all"] > drawn["main"], drawn)
    page.click("outer")
    page.same("clicks go where they point", page.zoomed(), "outer")


@test("focus, callers and bottom-up are trees of their own")
def views(page):
    page.draw(profiles.ZOOM)
    page.hover("other")
    page.keys("ArrowDown", "ArrowDown", "ArrowDown", "c")
    page.same("callers of inner", sorted(page.labels()), ["inner", "main", "main", "other", "outer"])
    page.same("its share", page.text(".status .numbers").replace("\u2009", "")[:5], "70.0%")
    fragment = page.run("return location.hash")
    page.keys("Escape")
    page.same("back", page.zoomed(), "all")
    page.draw(profiles.ZOOM, fragment=fragment)
    page.same("from the address", sorted(page.labels()), ["inner", "main", "main", "other", "outer"])
    page.keys("Escape", "b")
    page.expect("bottom up", {"all", "inner", "prep", "idle", "main"} <= set(page.labels()), page.labels())
    page.draw(profiles.RECURSION)
    page.keys("ArrowDown", "ArrowDown", "f")
    page.same("focus merges the outermost places", page.text(".status .numbers").replace("\u2009", "")[:5], "75.0%")
    widths = {label["text"]: label["x"] for label in page.look()[1]}
    page.expect("walk, visit below it", {"walk", "visit"} <= set(widths), widths)


@test("the menu, its keys, the table and the chips act")
def menu(page):
    page.draw("main;read_[k] 3\nmain;work 1\n")
    page.mouse(*page.place_of("read"), "right")
    items = page.run("return Array.from(document.querySelectorAll('.menu button')).map(b => b.textContent)")
    page.expect("menu", "Copy stack" in items, items)
    page.keys("ArrowDown", "ArrowDown", "Enter")
    page.same("callers by the menu", sorted(page.labels()), ["main", "read"])
    page.keys("Escape")
    page.press(".panel tbody tr")
    page.same("the table finds", page.matched(), ("75.0%", "1 frame"))
    page.same("and goes there", page.text(".status .name"), "read")
    page.press(".legend button:last-child")
    page.same("a chip marks its kind", (page.run("return document.querySelector('.tools input').value"), page.matched()[0]), ("kind:kernel", "75.0%"))
    page.press(".legend button:last-child")
    page.same("and takes it back", page.matched(), ("", ""))
    page.hover("read")
    page.expect("tooltip", "kernel" in page.text(".tip") and "75.0" in page.text(".tip"), page.text(".tip"))
    page.press(".badge")
    page.expect("badge", page.text(".dialog"))


@test("3000 levels open and scroll to the last")
def deep(page):
    drawn = page.draw(profiles.deep())
    page.expect("under 2 MB", drawn.stat().st_size < 2e6)
    page.run("const s = document.querySelector('.scroll'); s.scrollTop = s.scrollHeight")
    page.wait("the last level is drawn", "return Array.from(document.querySelectorAll('.graph text')).some(t => t.textContent === 'f2999')")
    page.click("f2999")
    page.same("zoomed", page.zoomed(), "f2999")
    page.keys("0", "b")
    page.same("search", page.search("f29")[0], "90.0%")
    page.keys("c")


@test("200,000 siblings stay under the budget, sums unchanged")
def wide(page):
    drawn = page.draw(profiles.wide())
    page.expect("under 2 MB", drawn.stat().st_size < 2e6)
    page.expect("says what is left out", "left out" in page.text(".facts"), page.text(".facts"))
    page.same("big", page.search("big"), ("50.0%", "1 frame"))
    page.same("p000", page.search("p000"), ("0.25%", "1 frame"))


@test("narrow siblings are a block that zoom splits again and again")
def narrow(page):
    page.draw("".join(f"main;p;leaf{i:05} 1\n" for i in range(20000)) + "main;p;big 100\n")
    page.search("leaf12345")
    page.same("found though narrow", page.matched()[1], "1 frame")
    page.search("")
    page.click("p")
    for _ in range(4):
        blocks = [b for b in page.look()[0] if b["cls"] == "kd0"]
        if not blocks:
            break
        block = blocks[len(blocks) // 2]
        corner = page.run("const r = document.querySelector('.graph').getBoundingClientRect(); return [r.left, r.top]")
        page.mouse(corner[0] + block["x"] + block["w"] / 2, corner[1] + block["y"] + 8)
    leaves = [label for label in page.labels() if label.startswith("leaf")]
    page.expect("leaves are drawn", leaves or any(b["w"] > 1 for b in page.look()[0]), page.labels())
    page.keys("0")
    page.same("back", page.zoomed(), "all")


main()
