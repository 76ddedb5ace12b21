#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Java VMs of other releases: installed, or unpacked into roots of their own."""
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from driver import SHARED, Skip, enough
from targets import Contained, Program, map_of

FLAGS = []  # of every VM that is run, set by who imports this


def feature(java):
    """17 of "openjdk version "17.0.15"", 0 where it does not run."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    except OSError:
        return 0
    found = re.search(r'version "(\d+)', said)
    return int(found.group(1)) if found else 0


class Local:
    """A JDK of this machine."""

    def __init__(self, java):
        self.java, self.feature = java, feature(java)

    def run(self, folder, *arguments):
        return Program(self.java, *FLAGS, "-cp", folder, *arguments)

    def clean(self, pid):
        map_of(pid).unlink(missing_ok=True)


class RootedProgram(Program):
    """One behind a launcher: its PID out here is that of the descendant called java."""
    descendant = Contained.descendant

    def __init__(self, *command):
        super().__init__(*command)
        end = time.monotonic() + enough(20)
        launcher = self.process.pid
        self.pid = None
        while not self.pid and time.monotonic() < end and self.process.poll() is None:
            self.pid = self.descendant(launcher, "java")
            time.sleep(0.02)
        if not self.pid:
            self.__exit__()
            raise AssertionError(f"the JVM in its own root did not start: {self.so_far()}")


class Rooted:
    """A JRE in a root of its own; made once, since it is fetched."""

    def __init__(self, release):
        self.feature = release
        self.tool = SHARED / "tools" / "jdk-root"
        if not self.tool.exists():
            raise Skip(f"no tool for a root with JDK {release} beside the source")
        self.root = Path(tempfile.gettempdir()) / f"stoke-jdk{release}-root-{os.getuid()}"
        made = subprocess.run([str(self.tool), str(release), str(self.root)], capture_output=True, text=True)
        if made.returncode:
            raise Skip(f"JDK {release} cannot be had: {made.stderr.strip()[-200:]}")

    def run(self, folder, *arguments):
        for compiled in Path(folder).glob("*.class"):
            shutil.copy(compiled, self.root / "tmp")
        return RootedProgram(self.tool, "run", self.feature, self.root, *FLAGS, "-cp", "/tmp", *arguments)

    def clean(self, _):
        pass


def installed():
    return [Local(str(java)) for java in sorted(Path("/usr/lib/jvm").glob("*/bin/java"))]
