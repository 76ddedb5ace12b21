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
THREAD = {"start_thread", "[thread start]", "clone3", "__clone3"}
# What the cases were tried with: another update of a release is told when it fails.
TRIED = {8: "1.8.0_504", 11: "11.0.24", 17: "17.0.15", 21: "21.0.13", 25: "25.0.3"}
JAVA = re.compile(r"^\S+ [^:( ]+\.[^:. (]+\(")


def is_java(frame):
    """"void java.lang.Thread.run()\""""
    return bool(JAVA.match(frame))


def version_said(*command):
    try:
        said = subprocess.run([*map(str, command), "-version"], capture_output=True, text=True).stderr
    except OSError:
        return ""
    found = re.search(r'version "([\w.]+)', said)
    return found.group(1) if found else ""


class Local:
    """A JDK of this machine."""

    def __init__(self, java):
        self.java, self.version = java, version_said(java)
        self.feature = int((self.version.removeprefix("1.") or "0").split(".")[0])

    def run(self, folder, *arguments, **more):
        """A program; "@FILE" is a file of the folder, as the program sees it."""
        return Program(self.java, *FLAGS, "-cp", folder, *(str(a).replace("@", f"{folder}/") for a in arguments), **more)

    def has(self, flag):
        return bool(version_said(self.java, flag))

    def clean(self, pid):
        map_of(pid).unlink(missing_ok=True)


class RootedProgram(Program):
    """One behind a launcher: its PID out here is that of the descendant called java."""
    descendant = Contained.descendant

    def __init__(self, *command, **more):
        super().__init__(*command, **more)
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
        self.version = version_said(self.tool, "run", release, self.root)

    def run(self, folder, *arguments, **more):
        for path in Path(folder).glob("*"):
            if path.suffix in (".class", ".so", ".java"):
                shutil.copy(path, self.root / "tmp" / "new")  # another may have it mapped
                os.replace(self.root / "tmp" / "new", self.root / "tmp" / path.name)
        return RootedProgram(self.tool, "run", self.feature, self.root, *FLAGS, "-cp", "/tmp",
            *(str(a).replace("@", "/tmp/") for a in arguments), **more)

    def has(self, flag):
        return bool(version_said(self.tool, "run", self.feature, self.root, flag))

    def clean(self, _):
        pass


def installed():
    return [Local(str(java)) for java in sorted(Path("/usr/lib/jvm").glob("*/bin/java"))]


def jdk_of(release):
    """An installed one, or one in a root of its own: found there, or fetched when STOKE_JDK_ROOT asks for that."""
    for jdk in installed():
        if jdk.feature == release:
            return jdk
    root = Path(f"/tmp/stoke-jdk{release}-root-{os.getuid()}")
    if os.environ.get("STOKE_JDK_ROOT") or (root / "usr/lib/jvm").exists():
        return Rooted(release)
    raise Skip(f"there is no JDK {release} here (tried: {TRIED[release]}); STOKE_JDK_ROOT=1 fetches one")
