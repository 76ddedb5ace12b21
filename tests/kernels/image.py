#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The OCI image of a static stoke: that what its descriptors say is so, and that what it holds runs."""
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

from driver import Skip, case, main

CONTAINER = Path(__file__).resolve().parents[2] / "docs" / "container"
STATIC = Path(os.environ["STOKE_STATIC"]) / "stoke"


def made(t, *binaries, name="image.tar"):
    ran = subprocess.run([sys.executable, CONTAINER / "image.py", "-o", t.folder / name, *binaries],
        capture_output=True, text=True)
    return ran, t.folder / name


def unpacked(path):
    with tarfile.open(path) as tar:
        return {m.name: tar.extractfile(m).read() for m in tar.getmembers() if m.isfile()}


def followed(files, descriptor):
    """The blob of a descriptor, if it is what that says; else None."""
    data = files.get("blobs/sha256/" + descriptor["digest"].partition(":")[2], b"")
    sound = len(data) == descriptor["size"] and "sha256:" + hashlib.sha256(data).hexdigest() == descriptor["digest"]
    return data if sound else None


@case("an image of the static stoke is whole, and runs where nothing else is", live=True)
def runs(t):
    if not STATIC.exists():
        raise Skip(f"{STATIC.parent.name} is not built: ./bootstrap static")
    ran, path = made(t, STATIC)
    t.expect("it is made", ran.returncode == 0, ran.stderr)
    files = unpacked(path)
    (listed,) = json.loads(files["index.json"])["manifests"]
    manifest = json.loads(followed(files, listed) or "{}")
    config = json.loads(followed(files, manifest["config"]) or "{}")
    packed = followed(files, manifest["layers"][0]) or b""
    plain = gzip.decompress(packed)
    t.expect("each descriptor fits its blob", manifest and config and packed, files.keys())
    t.expect("the layer is the one that its configuration says",
        config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(plain).hexdigest()], config)
    (docker,) = json.loads(files["manifest.json"])
    t.expect("the older list names the same", docker["Config"].endswith(manifest["config"]["digest"][7:]) and
        docker["Layers"][0].endswith(manifest["layers"][0]["digest"][7:]), docker)
    tarfile.open(fileobj=io.BytesIO(plain)).extractall(t.folder / "rootfs")
    entry = config["config"]["Entrypoint"]
    ran = subprocess.run(["chroot", t.folder / "rootfs", *entry, "--version"], capture_output=True, text=True)
    t.expect("its entry point runs", ran.returncode == 0 and ran.stdout.startswith("stoke "), (ran.stdout, ran.stderr))


@case("the same binaries make the same bytes; two machines make one name", live=False)
def same(t):
    head = bytearray(64)
    head[:6] = b"\x7fELF\x02\x01"
    for name, number in (("x86", 62), ("arm", 183), ("riscv", 243)):
        head[18:20] = number.to_bytes(2, "little")
        (t.folder / name).write_bytes(head)
    first, second = (made(t, t.folder / "x86", t.folder / "arm", name=n)[1] for n in ("one.tar", "two.tar"))
    t.expect("equal", first.read_bytes() == second.read_bytes(), "they differ")
    files = unpacked(first)
    (listed,) = json.loads(files["index.json"])["manifests"]
    nested = json.loads(followed(files, listed) or "{}")
    t.expect("both are in it", [m["platform"]["architecture"] for m in nested["manifests"]] == ["amd64", "arm64"] and
        all(followed(files, m) for m in nested["manifests"]), nested)
    ran, path = made(t, t.folder / "riscv", name="none.tar")
    t.expect("another machine is refused, nothing is left", ran.returncode != 0 and "243" in ran.stderr and
        not path.exists(), ran.stderr)


@case("an engine's seccomp profile lets stoke's calls through and nothing else changes", live=False)
def seccomp(t):
    profile = {"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [
        {"names": ["read", "write"], "action": "SCMP_ACT_ALLOW"},
        {"names": ["bpf", "perf_event_open", "quotactl"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_SYS_ADMIN"]}},
        {"names": ["bpf", "perf_event_open"], "action": "SCMP_ACT_ERRNO", "excludes": {"caps": ["CAP_SYS_ADMIN"]}}]}
    ran = subprocess.run([sys.executable, CONTAINER / "seccomp.py"], input=json.dumps(profile), capture_output=True, text=True)
    changed = json.loads(ran.stdout)
    t.expect("the rules", changed["syscalls"] == [
        profile["syscalls"][0],
        {"names": ["quotactl"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_SYS_ADMIN"]}},
        {"names": ["bpf", "perf_event_open"], "action": "SCMP_ACT_ALLOW"}], changed)
    t.expect("what is not listed is refused as before", changed["defaultAction"] == "SCMP_ACT_ERRNO", changed)


main()
