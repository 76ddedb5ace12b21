# SPDX-License-Identifier: BSD-2-Clause
"""targets.py: the processes that cases sample: workloads, contained ones, their perf maps."""
import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from driver import WORKLOADS


class Program:
    """A running workload, ended with the block. Its output, once ended, is in .output."""

    def __init__(self, name, *arguments, folder=None, prefix=(), stdin=None, env=None):
        path = WORKLOADS / name if not os.path.isabs(str(name)) else Path(name)
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [*map(str, prefix), str(path.resolve()), *map(str, arguments)], cwd=folder,
            stdin=stdin if stdin is not None else subprocess.DEVNULL, stdout=self.log,
            stderr=subprocess.STDOUT, env=dict(os.environ, **(env or {})))
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def so_far(self):
        self.log.seek(0)
        return self.log.read().decode("utf-8", "replace")

    def says(self, text, within_s=20):
        """Waits until the program has printed text."""
        end = time.monotonic() + within_s
        while text not in self.so_far():
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"the workload never said {text!r}: {self.so_far()!r}")
            time.sleep(0.02)
        return self.so_far()

    def output(self, within_s=60):
        self.process.wait(within_s)
        return self.so_far()

    def numbers(self):
        """Its closing lines "word number"."""
        return {line.split()[0]: int(line.split()[1]) for line in self.output().splitlines()
            if len(line.split()) == 2 and line.split()[1].isdigit()}


def map_of(pid, folder="/tmp"):
    return Path(folder) / f"perf-{pid}.map"


class Map:
    """A perf map of a process, gone with the block."""

    def __init__(self, pid, data, folder="/tmp"):
        self.path = map_of(pid, folder)
        self.path.write_bytes(data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.path.unlink(missing_ok=True)


@contextlib.contextmanager
def outside_tmp(program):
    """A copy of a program that anybody can run, where no private /tmp hides it."""
    with tempfile.TemporaryDirectory(prefix="stoke-case-", dir="/var/tmp") as folder:
        os.chmod(folder, 0o755)
        copy = Path(folder) / "jit"
        shutil.copy(program, copy)
        copy.chmod(0o755)
        yield copy


class Contained:
    """A program in namespaces of its own; finds its PID out here by its name among the descendants."""

    def __init__(self, *command, comm="jit"):
        self.process = subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True)
        end = time.monotonic() + 20
        self.pid = None
        while not self.pid and time.monotonic() < end:
            self.pid = self.descendant(self.process.pid, comm)
            time.sleep(0.02)
        if not self.pid:
            os.killpg(self.process.pid, 9)
            raise AssertionError(f"the contained program did not start: {self.process.communicate()}")

    def descendant(self, pid, comm):
        try:
            if Path(f"/proc/{pid}/comm").read_text().startswith(comm):
                return pid
            for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
                found = self.descendant(int(child), comm)
                if found:
                    return found
        except OSError:
            pass  # it ended between two looks
        return None

    def __enter__(self):
        time.sleep(0.2)
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, 9)
        self.process.communicate()


def build(checks, name, *command):
    """Compiles a program of the collection into the case's folder."""
    done = subprocess.run([*map(str, command)], cwd=checks.folder, capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"cannot build {name}: {done.stderr}")
    return (checks.folder / name).resolve()


def names_by_thread(pb):
    """thread name -> {leaf user name: samples}."""
    found = {}
    for names, values, labels in pb.user_rows():
        leaves = found.setdefault(labels.get("thread"), {})
        leaves[names[0]] = leaves.get(names[0], 0) + values[0]
    return found
