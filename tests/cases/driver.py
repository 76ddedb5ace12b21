# SPDX-License-Identifier: BSD-2-Clause
"""driver.py: runs real-world cases and says in TAP what held.

A case is a function that takes a Checks. Every check names the line of the case's expectation that
it stands for, and that line is printed when it does not hold. A case whose needs are not met is
skipped with the reason; with STOKE_REQUIRE_BPF=1 a case that needs root and BPF fails instead.
"""
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import readers

STOKE = os.environ.get("STOKE", "build-dev/cmd/stoke")
WORKLOADS = Path(os.environ.get("STOKE_WORKLOADS", "build-dev/tests/workload"))
HERE = Path(__file__).resolve().parent
DATA = HERE / "data"
SHARED = HERE.parent.parent.parent / "shared"
LIE = SHARED / "cases"  # the collection of cases, where it lies beside the source
SANITIZED = os.environ.get("STOKE_SANITIZED") == "1"
CASES = []


class Skip(Exception):
    """What this case needs is not there."""


class NeedsRights(Skip):
    """Root and BPF are not there."""


class NoMore(Exception):
    """A check failed that all the rest of the case stands on."""


class Checks:
    """What one case found: the lines that did not hold, and a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.failures = []
        self.nr = 0

    def expect(self, line, holds, saw=""):
        self.nr += 1
        if not holds:
            self.failures.append(f"expected: {line}" + (f"\n  saw: {saw}" if saw != "" else ""))
        return bool(holds)

    def must(self, line, holds, saw=""):
        """As expect(), but the case ends here when it does not hold."""
        if not self.expect(line, holds, saw):
            raise NoMore



def is_cut(outermost):
    """Does a stack with this outermost frame stand under what says why it has no root? Where libc has no
    symbols, "[program start]" is a root."""
    return outermost.startswith("[") and outermost not in ("[program start]", "[thread start]")


def case(name, live=False, tools=()):
    """Makes a function a case. live: it samples, so it needs root and BPF."""

    def register(function):
        CASES.append((name, live, tools, function))
        return function

    return register


def lying(name):
    """The folder of a case in the collection, or Skip where the collection is not there."""
    found = sorted(LIE.glob(name + "-*")) if LIE.is_dir() else []
    if not found:
        raise Skip("no collection of cases beside the source")
    return found[0]


def capabilities():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0


def may_sample():
    sys_admin, perfmon, bpf = 1 << 21, 1 << 38, 1 << 39
    have = capabilities()
    return (bool(have & sys_admin) or have & (perfmon | bpf) == perfmon | bpf) and os.path.exists(
        "/sys/kernel/btf/vmlinux")


def enough(need_s):
    """Seconds of wall time a step may take: more where sanitizers slow stoke down and others run."""
    crowd = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    return need_s * (4 if SANITIZED else 1) * crowd


def memory_limit(limit_bytes):
    """Peak memory allowed: the sanitizers' shadow and quarantine come on top."""
    return limit_bytes + (1 << 30 if SANITIZED else 0)


def near(share, truth, nr, slack=0.01):
    """A sampled share against the true one: 4.5 standard deviations of nr draws (a false alarm in
    150,000 checks) and slack for what is no chance, such as clock calls outside the function."""
    return abs(share - truth) <= 4.5 * math.sqrt(truth * (1 - truth) / max(nr, 1)) + slack


def at_least(share, truth, nr):
    """As near(), one side: a share of which the expectation says ">= truth"."""
    return share >= truth - 4.5 * math.sqrt(truth * (1 - truth) / max(nr, 1))


class Ran:
    """What a finished stoke left: status, output, time and memory."""

    def __init__(self, status, out, err, seconds, peak_bytes, cpu_s, files):
        self.status, self.out, self.err = status, out, err
        self.seconds, self.peak_bytes, self.cpu_s, self.files = seconds, peak_bytes, cpu_s, files

    @property
    def said(self):
        return self.out + self.err

    def folded(self, name="x.folded"):
        return readers.Folded.of_file(self.files / name)

    def picture(self, name="x.svg"):
        return readers.Picture((self.files / name).read_bytes())

    def pprof(self, name="x.pb.gz"):
        return readers.Pprof.of_file(self.files / name)

    def describe(self):
        return f"status {self.status}; stderr: {self.err[-1500:]!r}; stdout: {self.out[-300:]!r}"


class Started:
    """stoke on its way; ended() gives what it left."""

    def __init__(self, arguments, folder, stdin=None, prefix=(), env=None):
        self.folder = Path(folder)
        self.out = tempfile.TemporaryFile()
        self.err = tempfile.TemporaryFile()
        environment = dict(os.environ, **(env or {}))
        if "strace" in prefix:
            environment["ASAN_OPTIONS"] = "detect_leaks=0"  # LeakSanitizer cannot work while traced
        self.at = time.monotonic()
        self.process = subprocess.Popen([*prefix, os.path.abspath(STOKE), *map(str, arguments)],
            cwd=self.folder, stdin=stdin if stdin is not None else subprocess.DEVNULL,
            stdout=self.out, stderr=self.err, env=environment)
        self.usage = None

    def ended(self, within_s=60):
        limit = self.at + enough(within_s)
        killed = False
        while True:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > limit:
                self.process.kill()
                killed = True
                pid, status, usage = os.wait4(self.process.pid, 0)
                break
            time.sleep(0.02)
        seconds = time.monotonic() - self.at
        self.process.returncode = os.waitstatus_to_exitcode(status)
        out, err = (self.text_of(f) for f in (self.out, self.err))
        if killed:
            err += f"\n(killed: not ended after {enough(within_s)} s)"
        return Ran(os.waitstatus_to_exitcode(status), out, err, seconds, usage.ru_maxrss * 1024,
            usage.ru_utime + usage.ru_stime, self.folder)

    @staticmethod
    def text_of(file):
        file.seek(0)
        return file.read().decode("utf-8", "replace")


def stoke(folder, *arguments, stdin=None, within_s=60, prefix=(), env=None):
    return Started(arguments, folder, stdin, prefix, env).ended(within_s)


def record(checks, pid, seconds=2, hz=499, outputs=("x.folded",), extra=(), within_s=None, **more):
    """Records a PID; checks that stoke ended well."""
    arguments = ["record", "-p", pid, "-d", seconds, "-F", hz, *extra]
    for output in outputs:
        arguments += ["-o", output]
    ran = stoke(checks.folder, *arguments, within_s=within_s or seconds + 20, **more)
    checks.must("recording ends with status 0 and its files are there", ran.status == 0 and
        all((checks.folder / o).exists() for o in outputs), ran.describe())
    return ran


def attempt(live, tools, function):
    """(why it was skipped or None, failures) of one run of a case."""
    missing = [tool for tool in tools if not shutil.which(tool)]
    with tempfile.TemporaryDirectory(prefix="stoke-case-") as folder:
        os.chmod(folder, 0o755)
        checks = Checks(Path(folder))
        try:
            if missing:
                raise Skip("not installed: " + " ".join(missing))
            if live and not may_sample():
                raise NeedsRights("needs root and BPF")
            function(checks)
            if not checks.nr:
                raise AssertionError("this case checked nothing")
        except Skip as reason:
            must = isinstance(reason, NeedsRights) and os.environ.get("STOKE_REQUIRE_BPF") == "1"
            if must:
                checks.failures.append(f"required, but skipped: {reason}")
            elif not checks.failures:
                return str(reason), []
        except NoMore:
            pass  # the failure is in the list
        except Exception as wrong:  # a case that breaks is a case that failed
            where = [f for f in traceback.extract_tb(wrong.__traceback__) if Path(f.filename).parent == HERE]
            places = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(where[1:]))
            checks.failures.append(f"{type(wrong).__name__}: {wrong} at {places}")
    return None, checks.failures


def run_one(number, name, live, tools, function):
    skipped, failures = attempt(live, tools, function)
    if skipped is not None:
        print(f"ok {number} - {name} # SKIP {skipped}", flush=True)
        return True
    print(f"{'not ok' if failures else 'ok'} {number} - {name}", flush=True)
    for failure in failures:
        for line in failure.splitlines():
            print("# " + line, flush=True)
    return not failures


def main():
    """Runs the cases of the calling file, or those whose names begin with an argument."""
    wanted = [c for c in CASES
        if len(sys.argv) < 2 or any(c[0].startswith(a) for a in sys.argv[1:])]
    print(f"1..{len(wanted)}", flush=True)
    held = [run_one(i + 1, *c) for i, c in enumerate(wanted)]
    return 0 if all(held) else 1


def load_json(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))
