#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The workflows of docs/ci.md, run as far as no host is needed: what a runner would take for YAML is
YAML, and the shell lines in it do what the page says, with stoke as it is. They build two commits of a
made repository; sudo is a stand-in, and bench hands out captures that were made before."""
import os
import re
import subprocess
import sys
from pathlib import Path

from driver import STOKE, WORKLOADS, Skip, case, enough, main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "ci.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
SH = re.compile(r"sh '([^'\n]*)'")
SCRIPT = re.compile(r"script: '''\n(.*?)'''", re.S)


def blocks(language):
    return [text for word, text in BLOCK.findall(PAGE.read_text()) if word == language]


def yaml_of(text):
    try:
        import yaml
    except ImportError:
        raise Skip("no python3-yaml")
    return yaml.safe_load(text)


def github():
    """Shell steps by name of the workflow for pull requests, and those of the baseline."""
    first, later = [yaml_of(text) for text in blocks("yaml") if "actions/" in text]
    steps = {s["name"]: s["run"] for s in first["jobs"]["gate"]["steps"] if "run" in s}
    return steps, [s["run"] for s in later if "run" in s]


def gitlab():
    """Scripts of the jobs."""
    jobs = {}
    for text in blocks("yaml"):
        if "actions/" not in text:
            jobs.update(yaml_of(text))
    return jobs


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


class Place:
    """A checkout beside which ../base comes, with sudo and stoke on its PATH. grown: parse is a third of
    after, not a fifth; runs: captures a side."""

    def __init__(self, t, grown, runs=5, bench=None, inside="."):
        self.folder = t.folder / inside
        self.bin, self.work = self.folder / "bin", self.folder / "work"
        self.work.mkdir(parents=True)
        program(self.bin / "sudo", 'exec "$@"\n')
        program(self.bin / "stoke", f'''if [ "$1" = bench ]; then
	echo "$@" >>{self.folder}/benched
	{bench or f"cp -r {self.folder}/made captures"}
	exit
fi
exec {os.path.abspath(STOKE)} "$@"
''')
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.email", "a@example.org")
        self.git("config", "user.name", "a")
        (self.work / "Makefile").write_text(f"bench:\n\tcp {Path(WORKLOADS).absolute()}/parts bench\n")
        self.git("add", "Makefile")
        self.git("commit", "-q", "-m", "one")
        self.base = self.git("rev-parse", "HEAD").strip()
        self.git("update-ref", "refs/remotes/origin/main", self.base)
        self.git("commit", "-q", "--allow-empty", "-m", "two")
        if not bench:
            self.captures(grown, runs)

    def git(self, *words):
        return subprocess.run(["git", *words], cwd=self.work, check=True, capture_output=True, text=True).stdout

    def captures(self, grown, runs):
        (self.folder / "made").mkdir()
        for side, parse in (("before", 200), ("after", 300 if grown else 200)):
            for run in range(1, runs + 1):
                text = self.folder / "x.folded"
                text.write_text(f"main;parse {parse * 10 + run}\nmain;draw {8000 - run}\n")
                subprocess.run([os.path.abspath(STOKE), "convert", str(text), "-q", "-o",
                    str(self.folder / "made" / f"{side}-{run:02}.pb.gz")], check=True, capture_output=True)

    def run(self, shell, **environment):
        """A step as a runner runs it: sh or bash, -e."""
        environment = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "CHANGE_TARGET": "main",
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"), "CI_MERGE_REQUEST_DIFF_BASE_SHA": self.base,
            **environment}
        return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", shell], cwd=self.work, env=environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=enough(300))

    def all_of(self, steps):
        """Runs steps until one fails; gives the last one."""
        for shell in steps:
            ran = self.run(shell)
            if ran.returncode:
                break
        return ran

    def has(self, *files):
        return all((self.work / name).stat().st_size > 0 for name in files if (self.work / name).exists()) and \
            all((self.work / name).exists() for name in files)


def filled(place, steps):
    """GitHub's own words replaced by what they stand for."""
    return [re.sub(r"\$\{\{ github\.event\.pull_request\.base\.sha \}\}", place.base, s) for s in steps]


@case("what is called YAML in docs/ci.md is YAML", tools=["git"])
def parses(t):
    found = [yaml_of(text) for text in blocks("yaml")]
    t.expect("four blocks", len(found) == 4 and all(found), found)
    steps, later = github()
    t.expect("GitHub's steps", list(steps) == ["build both commits", "record in turns", "judge"] and len(later) == 1, steps)
    t.expect("GitLab's jobs", {"performance", "record", "judge"} <= set(gitlab()), gitlab())
    t.expect("3 is a warning in GitLab", all(gitlab()[job]["allow_failure"] == {"exit_codes": [3]}
        for job in ("performance", "judge")), gitlab())
    text = blocks("groovy")[0]
    t.expect("brackets of the Jenkinsfile are closed", all(text.count(a) == text.count(b) for a, b in ("{}", "()")), text)


def actions(t, grown, runs):
    place = Place(t, grown, runs)
    steps, later = github()
    ran = place.all_of(filled(place, steps.values()))
    t.expect("the summary is written", (t.folder / "summary.md").exists() and
        (t.folder / "summary.md").read_text().startswith("## stoke check"), ran)
    t.expect("artifacts are there", place.has("stoke.xml", "diff.svg", "captures"), os.listdir(place.work))
    t.expect("both commits were built", (place.work / "bench").exists() and
        (place.work.parent / "base" / "bench").exists(), os.listdir(t.folder))
    return place, ran, later


@case("GitHub: what did not change passes, and becomes the baseline", tools=["git", "make"])
def actions_pass(t):
    place, ran, later = actions(t, False, 5)
    t.expect("status 0", ran.returncode == 0, ran)
    t.expect("no annotation", "::" not in ran.stdout, ran.stdout)
    ran = place.all_of(later)
    t.expect("the baseline is kept", ran.returncode == 0 and len(list((place.work / "base").glob("*.pb.gz"))) == 5, ran)
    ran = place.run("stoke check --baseline base captures/after-*.pb.gz")
    t.expect("and judged against", ran.returncode == 0 and "PASS" in ran.stdout, ran)


@case("GitHub: a regression fails and is annotated", tools=["git", "make"])
def actions_fail(t):
    _, ran, _ = actions(t, True, 5)
    t.expect("status 1", ran.returncode == 1, ran)
    t.expect("an error of parse", re.search("^::error title=stoke%3A parse total", ran.stdout, re.M), ran.stdout)


@case("GitHub: what cannot be told warns and lets pass", tools=["git", "make"])
def actions_unknown(t):
    _, ran, _ = actions(t, True, 2)
    t.expect("status 0", ran.returncode == 0, ran)
    t.expect("a warning", "::warning title=stoke::it cannot be told" in ran.stdout, ran.stdout)


@case("GitLab: the script's status is the gate's, in one job and in two", tools=["git", "make"])
def gitlab_runs(t):
    for number, (grown, runs, status) in enumerate(((False, 5, 0), (True, 5, 1), (True, 2, 3))):
        place = Place(t, grown, runs, inside=str(number))
        ran = place.all_of(gitlab()["performance"]["script"])
        t.expect(f"status {status}", ran.returncode == status, ran)
        t.expect("artifacts are there", place.has("captures", "diff.svg", "stoke.md", "stoke.xml"), os.listdir(place.work))
        ran = place.all_of(gitlab()["judge"]["script"])
        t.expect(f"status {status} where nothing may be recorded", ran.returncode == status, ran)


@case("Jenkins: the steps run, and their last one has the gate's status", tools=["git", "make"])
def jenkins(t):
    place = Place(t, True)
    text = blocks("groovy")[0]
    ran = place.all_of(SH.findall(text))
    t.must("both commits are built and recorded", ran.returncode == 0 and place.has("captures"), ran)
    ran = place.run(SCRIPT.findall(text)[0])
    t.expect("status 1", ran.returncode == 1, ran)
    t.expect("artifacts are there", place.has("diff.svg", "stoke.md", "stoke.xml"), os.listdir(place.work))


@case("what the pages hand to bench is what it takes, and check reads what it leaves", live=True, tools=["git", "make"])
def benched(t):
    place = Place(t, False, bench=f'exec {os.path.abspath(STOKE)} "$@"')
    program(place.work / "short", f"exec {Path(WORKLOADS).absolute()}/parts 100 100\n")
    (place.work / "Makefile").write_text("bench:\n\tcp short bench\n")
    place.git("add", "Makefile", "short")
    place.git("commit", "-q", "-m", "three")
    place.base = place.git("rev-parse", "HEAD").strip()
    ran = place.all_of(gitlab()["performance"]["script"])
    t.expect("the gate has an answer", ran.returncode in (0, 1, 3) and "captures/" not in ran.stderr, ran)
    t.expect("ten captures", len(list((place.work / "captures").glob("*.pb.gz"))) == 10, os.listdir(place.work))
    t.expect("artifacts are there", place.has("diff.svg", "stoke.md", "stoke.xml"), os.listdir(place.work))


if __name__ == "__main__":
    sys.exit(main())
