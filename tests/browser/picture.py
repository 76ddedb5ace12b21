#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What stands on the screen: labels inside their boxes, both themes, the still picture, hostile names."""
import re
import subprocess

import profiles
from page import draw, main, test

SHADES = "rgb(20, 23, 28)", "rgb(255, 255, 255)"


def check_labels(page, boxes, labels, baseline):
    page.expect("many labels are drawn", len(labels) > 20, labels)
    page.expect("some are cut", any(label["text"].endswith("\u2026") for label in labels), labels)
    for label in labels:
        inside = [b for b in boxes if abs(b["x"] + 4 - label["x"]) < .11 and abs(b["y"] + baseline - label["y"]) < .11]
        page.expect(f"{label} has a box", inside)
        right = label["x"] + label["w"]
        page.expect(f"{label} ends inside of its box", right <= inside[0]["x"] + inside[0]["w"] + .6, inside)


def check_boxes(page, boxes, width):
    rows = {}
    for box in boxes:
        if box["w"] > .45:  # what is drawn wider than it is may touch its neighbour
            rows.setdefault(box["y"], []).append(box)
    for row in rows.values():
        row.sort(key=lambda b: b["x"])
        for left, right in zip(row, row[1:]):
            page.expect("boxes do not overlap", left["x"] + left["w"] <= right["x"] + .11, (left, right))
        page.expect("boxes end inside of the graph", row[-1]["x"] + row[-1]["w"] <= width + .11, row[-1])


for size in (400, 1200, 1920):
    @test(f"labels stay inside of their boxes at {size} pixels", width=size, height=900)
    def labels_inside(page):
        page.draw(profiles.mixed())
        boxes, labels = page.look()
        check_labels(page, boxes, labels, 12.5)
        check_boxes(page, boxes, page.run("return document.querySelector('.graph').getBoundingClientRect().width"))
        page.expect("nothing of the shell is wider than the window", page.run("""
return Array.from(document.querySelectorAll('.app *')).every(e => e.closest('.graph, .panel, .tip') || getComputedStyle(e).display === 'none' ||
	e.getBoundingClientRect().right <= innerWidth + .5)"""))


@test("the still picture has its labels inside, in each of the common fonts")
def still_labels(page):
    drawn = draw(page.folder, profiles.mixed())
    text = re.sub(r"<script>.*</script>", "", drawn.read_text(), flags=re.S)
    for font in ("DejaVu Sans", "Liberation Sans", "sans-serif"):
        plain = page.folder / "plain.html"
        plain.write_text("<!doctype html><meta charset=utf-8>" +
                         re.sub(r'font-family="[^"]*"', f'font-family="{font}"', text[text.index("<svg"):]))
        page.open(plain)
        boxes, labels = page.look_still()
        check_labels(page, boxes, labels, 12.5)
        check_boxes(page, boxes, 1184)
        page.expect("boxes begin at the margin", min(b["x"] for b in boxes) == 16, "")


@test("still and interactive picture agree on names and colours")
def agree(page):
    page.draw(profiles.mixed(300))
    shown = [{}, {}]
    for seen, (boxes, labels) in zip(shown, (page.look_still(), page.look())):
        for label in labels:
            for box in boxes:
                if abs(box["x"] + 4 - label["x"]) < .11 and abs(box["y"] + 12.5 - label["y"]) < .11:
                    seen.setdefault(label["text"], set()).add(box["cls"])
    common = set(shown[0]) & set(shown[1])
    page.expect("most labels are the same", len(common) > 0.7 * len(shown[0]), (len(common), len(shown[0])))
    whole = [text for text in common if text.count(".") > 2 or "_" in text]
    page.expect("whole names are among them", len(whole) > 3, whole)
    for text in whole:
        if not text.endswith("\u2026"):
            page.same(f"colour of {text}", shown[1][text], shown[0][text])


@test("xmllint finds nothing, and the file opens without an error")
def valid(page):
    drawn = page.draw(profiles.mixed(500))
    lint = subprocess.run(["xmllint", "--noout", str(drawn)], capture_output=True, text=True)
    page.same("xmllint", (lint.returncode, lint.stderr), (0, ""))
    page.same("errors", page.errors(), [])
    page.same("still picture", page.run("return document.querySelector('.sk-static').getAttribute('display')"), "none")


@test("the theme is the system's until d is pressed", dark=True)
def themes(page):
    page.draw(profiles.ZOOM)
    page.run("localStorage.clear()")
    page.reload()
    ground = "return getComputedStyle(document.querySelector('.app')).backgroundColor"
    fill = "return getComputedStyle(document.querySelector('.graph .frames path')).fill"
    dark_fill = page.run(fill)
    page.same("dark ground", page.run(ground), SHADES[0])
    page.keys("d")
    page.same("light ground", page.run(ground), SHADES[1])
    page.expect("boxes change too", page.run(fill) != dark_fill, dark_fill)
    page.reload()
    page.same("light ground after reload", page.run(ground), SHADES[1])
    page.run("localStorage.clear()")
    page.size(dark=False)
    page.reload()
    page.same("the system's theme again", page.run(ground), SHADES[1])


@test("hostile names stay text: no alert, no script more, names unchanged")
def hostile(page):
    names = profiles.SCRIPTS + profiles.MARKUP
    page.draw(profiles.children(names), "title=</title><script>alert(7)</script>")
    page.same("scripts", page.run("return document.querySelectorAll('script').length"), 1)
    page.expect("no handler came in by a name", page.run("""
return Array.from(document.querySelectorAll('*')).every(e => Array.from(e.attributes).every(a => !a.name.startsWith('on') && a.name !== 'href'))"""))
    entries = page.run("return document.querySelector('metadata[class=sk-names]').textContent.split('\\n').map(s => s.slice(1))")
    page.same("names", sorted(entries), sorted(names + ["main", "all"]))
    for box in page.look()[0]:
        graph = page.run("const r = document.querySelector('.graph').getBoundingClientRect(); return [r.left, r.top]")
        spot = graph[0] + box["x"] + 3, graph[1] + box["y"] + 8
        page.mouse(*spot, "move")
        page.mouse(*spot, "right")
        page.keys("Escape")
        page.mouse(*spot)
        page.keys("0")
    for name in names:
        page.search(name)
        page.same(f"search for {name}", page.matched()[1], "1 frame")
    page.same("tooltips", page.run("return document.querySelectorAll('script').length"), 1)
    table = page.run("return Array.from(document.querySelectorAll('.panel tbody tr')).map(r => r.title)")
    page.same("table", sorted(table), sorted(names + ["main"]))


@test("bytes that are no text become readable names, none lost")
def odd_bytes(page):
    names = [b"esc\x1b[31mred", b"one\x01x", b"two\x02x", b"del\x7fx", b"anonymous\x00/srv/a.php", b"nonchar\xef\xbf\xbe",
             b"c1\xc2\x85x", b"ocaml\xffsym", b"over\xc0\xaflong", b"cut\xe4\xb8", b"latin\xf4i", "good\u00e9".encode()]
    page.draw(b"".join(b"main;%s %d\n" % (name, i + 1) for i, name in enumerate(names)))
    rows = page.run("return Array.from(document.querySelectorAll('.panel tbody tr')).map(r => r.title)")
    page.same("functions", len(set(rows)), len(names) + 1)
    for name in ("esc\\x1b[31mred", "one\\x01x", "two\\x02x", "anonymous\\x00/srv/a.php", "nonchar\\ufffe", "good\u00e9"):
        page.expect(f"{name} is in the table", name in rows, rows)


@test("a picture in a page leaves the page alone, and so does its neighbour")
def inline(page):
    one, two = draw(page.folder, profiles.ZOOM, name="one"), draw(page.folder, profiles.RECURSION, name="two")
    svg = [p.read_text()[p.read_text().index("<svg"):] for p in (one, two)]
    host = page.folder / "host.html"
    host.write_text(f"<!doctype html><meta charset=utf-8><input id=field><p id=p>text</p>{svg[0]}{svg[1]}")
    page.open(host, "#kept")
    page.same("both run", page.run("return document.querySelectorAll('svg.stoke[data-ready]').length"), 2)
    page.run("document.getElementById('field').focus()")
    page.keys("t", "i", "/", "b")
    page.same("what was typed", page.run("return document.getElementById('field').value"), "ti/b")
    page.click("outer")
    page.same("the URL", page.hash(), "#kept")
    page.same("the page's font", page.run("return getComputedStyle(document.getElementById('p')).fontSize"), "16px")
    page.same("zooms", page.run("return Array.from(document.querySelectorAll('.path [aria-current]')).map(e => e.title)"), ["outer", "all"])


@test("where scripts are blocked the still picture is shown")
def blocked(page):
    drawn = draw(page.folder, profiles.mixed(300))
    host = page.folder / "host.html"
    host.write_text("<!doctype html><body style='margin:0'><img id=a src=x.svg width=850>")
    page.open(host)
    page.wait("the image is there", "return document.getElementById('a').complete && document.getElementById('a').naturalWidth === 1200")
    host.write_text("<!doctype html><meta http-equiv=Content-Security-Policy content=\"script-src 'none'\">" +
                    drawn.read_text()[drawn.read_text().index("<svg"):])
    page.open(host)
    page.same("shell", page.run("return document.querySelectorAll('foreignObject').length"), 0)
    page.expect("labels are seen", page.run("return document.querySelector('.sk-labels text').getBoundingClientRect().width") > 10)
    page.errors()  # the policy tells that it blocked


@test("a shell that cannot start gives the still picture back")
def broken(page):
    drawn = draw(page.folder, profiles.ZOOM)
    drawn.write_text(drawn.read_text().replace("&quot;facts&quot;:[", "&quot;facts&quot;:0,&quot;x&quot;:["))
    page.browser.get("file://" + str(drawn))
    page.same("shell", page.run("return document.querySelectorAll('foreignObject').length"), 0)
    page.same("still picture", page.run("return document.querySelector('.sk-static').getAttribute('display')"), None)
    page.expect("the error is told", page.errors())


@test("print gives one page with all rows")
def printed(page):
    import base64
    page.draw(profiles.deep(120))
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    page.run("window.dispatchEvent(new Event('beforeprint'))")
    page.expect("all rows are drawn", page.run("return document.querySelectorAll('.graph text').length") >= 120)
    page.expect("the whole content is in view", page.run("return document.documentElement.getAttribute('viewBox')"))
    page.run("window.dispatchEvent(new Event('afterprint'))")
    page.same("afterwards", page.run("return document.documentElement.getAttribute('viewBox')"), None)
    pdf = base64.b64decode(page.browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    page.same("pages", len(re.findall(rb"/Type\s*/Page\b", pdf)), 1)


@test("an empty profile says why it is empty")
def empty(page):
    page.draw("main 0\n")
    page.expect("why", "no samples" in page.text(".path"), page.text(".path"))
    page.keys("b", "c", "f", "Escape", "ArrowDown", "Enter")
    page.same("badge", page.run("return document.querySelector('.badge').classList.contains('ok')"), False)


@test("those who do not see it have roles, names and a live status")
def accessible(page):
    page.draw(profiles.ZOOM)
    roles = page.run("return Array.from(document.querySelectorAll('.app [role]')).map(e => e.getAttribute('role'))")
    for role in ("toolbar", "application", "status", "region", "group"):
        page.expect(role, role in roles, roles)
    page.expect("every control has a name", page.run("""
return Array.from(document.querySelectorAll('.app button, .app input, .app select')).every(e => e.textContent.trim() || e.getAttribute('aria-label'))"""))
    page.keys("ArrowDown", "ArrowDown")
    page.same("status", page.text(".status .name"), "outer")
    drawn = (page.folder / "x.svg").read_text()
    page.expect("role of the still picture", 'role="img" aria-labelledby="sk-t sk-d"' in drawn)
    page.expect("description", re.search(r'<desc id="sk-d">100 samples. Most self time: inner 70.0\u2009%', drawn))


main()
