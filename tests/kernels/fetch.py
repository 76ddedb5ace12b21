# SPDX-License-Identifier: BSD-2-Clause
"""fetch.py: Debian's kernels of other releases, by this machine's own apt.

apt runs with lists and sources of its own, so that the machine's are not touched: the mirrors are those
that the machine is configured with, the release is another. Only vmlinuz is kept, in a cache that outlives
the source tree: $XDG_CACHE_HOME/stoke, else /var/cache/stoke for root, ~/.cache/stoke for others. What is
there is used as it is; removing it brings the newest."""
import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

RELEASES = {"5.10": "bullseye", "6.1": "bookworm", "6.12": "trixie"}
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
PATIENCE_S = 400  # for each step that uses the network


class Unfetchable(Exception):
    """Why a kernel could not be had."""


def cache():
    home = os.environ.get("XDG_CACHE_HOME")
    if not home:
        home = "/var/cache" if os.geteuid() == 0 else os.path.expanduser("~/.cache")
    folder = Path(home) / "stoke" / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def mirrors():
    """(address, "-security" or "") of the machine's sources of Debian itself, small indexes first."""
    release = re.search(r"^VERSION_CODENAME=(\w+)$", Path("/etc/os-release").read_text(), re.M)
    if not release or not shutil.which("apt-get"):
        raise Unfetchable("this is not Debian: no apt sources to take kernels from")
    told = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)",
        "Created-By: Packages"], capture_output=True, text=True)
    found = set()
    for line in told.stdout.splitlines():
        match = re.fullmatch(rf"(\S+) {release.group(1)}(-security|) main", line)
        if match:
            found.add(match.groups())
    if not found:
        raise Unfetchable(f"no apt source of Debian {release.group(1)} on this machine")
    return sorted(found, key=lambda m: (not m[1], m[0]))


class Apt:
    """apt with its lists, cache and one source in a folder of its own."""

    def __init__(self, folder, uri, suite):
        self.folder = folder
        for name in ("state/lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        signed = f"Signed-By: {KEYRING}\n" if KEYRING.exists() else ""
        (folder / "one.sources").write_text(
            f"Types: deb\nURIs: {uri}\nSuites: {suite}\nComponents: main\nArchitectures: amd64\n{signed}")
        self.options = []
        for key, value in {
            "Dir::State": folder / "state", "Dir::Cache": folder / "cache",
            "Dir::Etc::sourcelist": folder / "one.sources", "Dir::Etc::sourceparts": "/dev/null",
            "Acquire::Languages": "none", "Acquire::Retries": 2, "Acquire::http::Timeout": 30,
            "APT::Sandbox::User": "root", "APT::Update::Error-Mode": "any",
        }.items():
            self.options += ["-o", f"{key}={value}"]

    def run(self, *command):
        try:
            ran = subprocess.run([command[0], "-q", *self.options, *command[1:]], cwd=self.folder, timeout=PATIENCE_S,
                capture_output=True, text=True, stdin=subprocess.DEVNULL, env=dict(os.environ, LC_ALL="C"))
        except subprocess.TimeoutExpired:
            raise Unfetchable(f"{' '.join(command[:2])}: no end after {PATIENCE_S} s") from None
        if ran.returncode:
            last = (ran.stderr.strip() or ran.stdout.strip()).splitlines()[-1:]
            raise Unfetchable(f"{' '.join(command[:2])}: {' '.join(last)}")
        return ran.stdout

    def newest(self, series):
        """What the package that always depends on the newest kernel depends on now."""
        self.run("apt-get", "update")
        told = self.run("apt-cache", "depends", "linux-image-amd64")
        found = re.search(rf"Depends: (linux-image-{re.escape(series)}[.\d]\S*)", told)
        if not found:
            raise Unfetchable(f"no kernel {series} there")
        return found.group(1)

    def vmlinuz(self, package, target):
        self.run("apt-get", "download", package)
        (deb,) = self.folder.glob("*.deb")
        name = package.replace("linux-image-", "vmlinuz-", 1)
        with open(target, "wb") as out:
            unpack = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE)
            took = subprocess.run(["tar", "-xO", f"./boot/{name}"], stdin=unpack.stdout, stdout=out)
            unpack.stdout.close()
            unpack.wait()
        if took.returncode or not target.stat().st_size:
            raise Unfetchable(f"{package}: no {name} in it")
        return name


def bring(series, folder):
    reasons = []
    for uri, suffix in mirrors():
        with tempfile.TemporaryDirectory(prefix="stoke-apt-") as scratch:
            apt = Apt(Path(scratch), uri, RELEASES[series] + suffix)
            part = folder / f"part-{series}"
            try:
                name = apt.vmlinuz(apt.newest(series), part)
            except Unfetchable as reason:
                reasons.append(str(reason))
                continue
            part.rename(folder / name)
            return folder / name
    raise Unfetchable("; ".join(reasons))


def kernel(series):
    """Path of a vmlinuz of this series, or Unfetchable."""
    folder = cache()
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        have = sorted(folder.glob(f"vmlinuz-{series}.*"), key=lambda p: p.stat().st_mtime)
        return have[-1] if have else bring(series, folder)
