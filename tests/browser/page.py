# SPDX-License-Identifier: BSD-2-Clause
"""Pictures in a real browser: draws text profiles with stoke, opens them in Chromium, looks and acts
as a reader does. One TAP line a test; a test is a function that takes a Page."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

TESTS = []

# Boxes and labels as they stand on the screen, in the graph's own coordinates.
LOOK = r"""
const [paths, labels] = arguments;
const boxes = [];
document.querySelectorAll(paths).forEach(p => {
	for (const m of (p.getAttribute('d') || '').matchAll(/M([\d.-]+) ([\d.-]+)h([\d.]+)v(\d+)/g))
		boxes.push({x: +m[1], y: +m[2], w: +m[3], cls: p.getAttribute('class'), layer: p.parentNode.getAttribute('class')});
});
const texts = Array.from(document.querySelectorAll(labels)).filter(t => t.textContent).map(t => {
	const title = t.querySelector('title'), b = t.getBBox();
	return {text: t.lastChild.textContent, title: title ? title.textContent : '', x: +t.getAttribute('x'), y: +t.getAttribute('y'), w: b.width};
});
return [boxes, texts];
"""


def test(name, **options):
    """options: width, height, dark, of the window."""
    def mark(function):
        TESTS.append((name, function, options))
        return function
    return mark


class Failed(Exception):
    pass


def draw(folder, text, options="", name="x"):
    """Writes a picture of folded text (str or bytes); returns its path."""
    source, drawn = folder / (name + ".folded"), folder / (name + ".svg")
    source.write_bytes(text if isinstance(text, bytes) else text.encode())
    ran = subprocess.run([os.environ["STOKE"], "flamegraph", str(source), "-o", str(drawn),
                          "-f", "svg:" + options if options else "svg"], capture_output=True, text=True)
    if ran.returncode:
        raise Failed("stoke flamegraph: " + ran.stderr)
    return drawn


def draw_difference(folder, before, after, options="", repeats=5, name="d"):
    """Writes a picture of two sides of folded text, each `repeats` times the same; returns its path."""
    drawn, sides = folder / (name + ".svg"), []
    for side, text in (("before", before), ("after", after)):
        for i in range(repeats):
            sides.append(folder / f"{name}-{side}{i + 1}.folded")
            sides[-1].write_text(text)
    ran = subprocess.run([os.environ["STOKE"], "diff", *map(str, sides[:repeats]), "--", *map(str, sides[repeats:]),
                          "-o", str(drawn), "-f", "svg:" + options if options else "svg"], capture_output=True, text=True)
    if ran.returncode:
        raise Failed("stoke diff: " + ran.stderr)
    return drawn


class Page:
    def __init__(self, browser, folder):
        self.browser, self.folder = browser, folder

    def expect(self, what, good, seen=""):
        if not good:
            raise Failed(f"{what}; seen: {str(seen)[:600]}")

    def same(self, what, seen, wanted):
        self.expect(f"{what}: wanted {wanted!r}", seen == wanted, repr(seen))

    # ---- opening ----

    def size(self, width=1200, height=800, dark=False):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def open(self, path, fragment=""):
        self.browser.get("about:blank")
        self.errors()
        self.browser.get("file://" + str(path) + fragment)
        if path.suffix == ".svg":
            self.wait("the script has run", "return document.documentElement.getAttribute('data-ready')")

    def draw(self, text, options="", fragment=""):
        path = draw(self.folder, text, options)
        self.open(path, fragment)
        return path

    def draw_difference(self, before, after, options="", fragment="", **more):
        path = draw_difference(self.folder, before, after, options, **more)
        self.open(path, fragment)
        return path

    def reload(self):
        self.browser.refresh()
        self.wait("the script has run again", "return document.documentElement.getAttribute('data-ready')")

    def errors(self):
        """What the console has told since the last call."""
        return [entry["message"] for entry in self.browser.get_log("browser")]

    def wait(self, what, script, *args):
        for _ in range(200):
            if self.run(script, *args):
                return
            time.sleep(0.05)
        raise Failed("never: " + what)

    def run(self, script, *args):
        return self.browser.execute_script(script, *args)

    # ---- looking ----

    def text(self, selector):
        return self.run("const e = document.querySelector(arguments[0]); return e ? e.textContent : null", selector)

    def look(self):
        return self.run(LOOK, ".graph g path", ".graph text")

    def look_still(self):
        return self.run(LOOK, ".sk-frames path", ".sk-labels text")

    def labels(self):
        return [label["text"] for label in self.look()[1]]

    def matched(self):
        """("60.0%", "2 frames") of the search, or what is said instead."""
        text = self.text(".matched").replace("\u2009", "")
        found = re.match(r"(\S+%) matched(?: of the zoom)?, (.*)", text)
        return found.groups() if found else (text, "")

    def hash(self):
        return self.run("return decodeURIComponent(location.hash)")

    def zoomed(self):
        """Name of the frame zoomed into."""
        return self.run("return document.querySelector('.path [aria-current]').title")

    def shot(self, name):
        self.browser.save_screenshot(str(self.folder / name))

    # ---- acting ----

    def place_of(self, label):
        """Middle of the first label of that text, in the window's coordinates."""
        spot = self.run(r"""
const t = Array.from(document.querySelectorAll('.graph text')).find(t => t.textContent === arguments[0]);
if (!t) return null;
const r = t.getBoundingClientRect();
return [r.left + r.width / 2, r.top + r.height / 2];""", label)
        self.expect(f"a frame labelled {label!r} is drawn", spot, self.labels())
        return spot

    def mouse(self, x, y, kind="left"):
        events = {"move": ["mouseMoved"], "left": ["mouseMoved", "mousePressed", "mouseReleased"],
                  "right": ["mouseMoved", "mousePressed", "mouseReleased"]}[kind]
        for event in events:
            pressed = event != "mouseMoved"
            self.browser.execute_cdp_cmd("Input.dispatchMouseEvent", {
                "type": event, "x": x, "y": y, "button": (kind if pressed else "none"),
                "buttons": 0, "clickCount": 1 if pressed else 0})

    def click(self, label):
        self.mouse(*self.place_of(label))

    def hover(self, label):
        self.mouse(*self.place_of(label), "move")

    def press(self, selector):
        """Clicks an element of the shell."""
        spot = self.run("""
const r = document.querySelector(arguments[0]).getBoundingClientRect();
return [r.left + r.width / 2, r.top + r.height / 2];""", selector)
        self.mouse(*spot)

    def keys(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys
        for key in keys:
            chain = ActionChains(self.browser, duration=0)
            if key.startswith("Ctrl-"):
                chain.key_down(Keys.CONTROL).send_keys(key[5:]).key_up(Keys.CONTROL)
            else:
                chain.send_keys(getattr(Keys, key.upper().replace("ARROW", "ARROW_")) if len(key) > 1 else key)
            chain.perform()

    def search(self, text):
        self.run("""
const e = document.querySelector('.tools input');
e.value = arguments[0];
e.dispatchEvent(new Event('input'));""", text)
        return self.matched()


def start_browser():
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    home = tempfile.mkdtemp(prefix="stoke-browser-")
    options = Options()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                     "--no-first-run", "--hide-scrollbars", "--user-data-dir=" + home):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver"))), home


def missing():
    tools = [tool for tool in ("chromium", "chromedriver") if not shutil.which(tool)]
    try:
        import selenium  # noqa: F401
    except ImportError:
        tools.append("python3-selenium")
    return tools


def run_one(browser, folder, function, options):
    page = Page(browser, folder)
    page.size(**options)
    function(page)
    errors = page.errors()
    page.expect("no script error", not errors, errors)


def main():
    chosen = [t for t in TESTS if len(sys.argv) < 2 or sys.argv[1] in t[0]]
    print(f"1..{len(chosen)}")
    if missing():
        for i, (name, _, _) in enumerate(chosen, 1):
            print(f"ok {i} - {name} # SKIP no {', '.join(missing())}")
        return
    browser, home = start_browser()
    failed = 0
    try:
        for i, (name, function, options) in enumerate(chosen, 1):
            with tempfile.TemporaryDirectory(prefix="stoke-browser-") as folder:
                fault = ""
                try:
                    run_one(browser, pathlib.Path(folder), function, options)
                except Failed as wrong:
                    fault = str(wrong)
                except Exception:  # a browser's, or the test's own
                    fault = traceback.format_exc()
            failed += bool(fault)
            print(f"{'not ok' if fault else 'ok'} {i} - {name}", flush=True)
            for line in fault.splitlines():
                print("# " + line)
    finally:
        browser.quit()
        shutil.rmtree(home, ignore_errors=True)
    sys.exit(1 if failed else 0)
