#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""image.py [-o FILE] BINARY...: static stokes, one a machine, as one OCI image in a tar.

No engine is needed, and the same input makes the same bytes. What it holds is an OCI image layout
(podman load, ctr images import, skopeo copy oci-archive:FILE) and, for the first binary, the list
that older `docker load` wants. The image has one file, /usr/bin/stoke, and an empty, sticky /tmp."""
import argparse
import gzip
import hashlib
import io
import json
import os
import struct
import sys
import tarfile

MACHINES = {62: "amd64", 183: "arm64"}  # e_machine: EM_X86_64, EM_AARCH64
TAG = "localhost/stoke:latest"


def machine(binary, path):
    """What OCI calls the machine that an ELF file is for."""
    if binary[:6] != b"\x7fELF\x02\x01":
        sys.exit(f"image.py: {path} is no 64-bit little-endian ELF file")
    number = struct.unpack_from("<H", binary, 18)[0]
    if number not in MACHINES:
        sys.exit(f"image.py: {path} is for machine {number}; known are {sorted(MACHINES)}")
    return MACHINES[number]


def entry(name, size=0, mode=0o755, kind=tarfile.REGTYPE):
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.type = size, mode, kind
    return info


def layer(binary):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for folder, mode in (("usr", 0o755), ("usr/bin", 0o755), ("tmp", 0o1777)):
            tar.addfile(entry(folder, mode=mode, kind=tarfile.DIRTYPE))
        tar.addfile(entry("usr/bin/stoke", len(binary)), io.BytesIO(binary))
    return out.getvalue()


class Layout:
    """An image layout in the making: blobs by their digest."""

    def __init__(self):
        self.blobs = {}

    def add(self, data, kind):
        digest = hashlib.sha256(data).hexdigest()
        self.blobs[digest] = data
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}

    def add_json(self, value, kind):
        return self.add(json.dumps(value, separators=(",", ":"), sort_keys=True).encode(), kind)

    def image(self, binary, architecture):
        """The descriptors of an image's manifest, its configuration and its layer."""
        plain = layer(binary)
        packed = self.add(gzip.compress(plain, mtime=0), "layer.v1.tar+gzip")
        config = self.add_json({
            "architecture": architecture, "os": "linux",
            "config": {"Entrypoint": ["/usr/bin/stoke"], "Env": ["PATH=/usr/bin"], "WorkingDir": "/tmp"},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(plain).hexdigest()}"]},
        }, "config.v1+json")
        manifest = self.add_json({
            "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": config, "layers": [packed],
        }, "manifest.v1+json")
        manifest["platform"] = {"architecture": architecture, "os": "linux"}
        return manifest, config, packed


def blob_path(descriptor):
    return "blobs/sha256/" + descriptor["digest"].partition(":")[2]


def write(out, layout, index, docker):
    files = {"oci-layout": json.dumps({"imageLayoutVersion": "1.0.0"}).encode(),
             "index.json": json.dumps(index).encode(), "manifest.json": json.dumps(docker).encode()}
    for digest, data in sorted(layout.blobs.items()):
        files[f"blobs/sha256/{digest}"] = data
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in files.items():
            tar.addfile(entry(name, len(data), 0o644), io.BytesIO(data))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", default="stoke.oci.tar")
    parser.add_argument("binary", nargs="+")
    args = parser.parse_args()
    layout, images = Layout(), {}
    for path in args.binary:
        with open(path, "rb") as file:
            binary = file.read()
        images[machine(binary, path)] = layout.image(binary, machine(binary, path))
    name = {"org.opencontainers.image.ref.name": TAG, "io.containerd.image.name": TAG}
    manifests = [manifest for manifest, _, _ in images.values()]
    if len(manifests) == 1:
        listed = [dict(manifests[0], annotations=name)]
    else:  # one name, and whoever loads it takes what its machine runs
        nested = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": manifests}
        listed = [dict(layout.add_json(nested, "index.v1+json"), annotations=name)]
    _, config, packed = next(iter(images.values()))
    docker = [{"Config": blob_path(config), "RepoTags": [TAG], "Layers": [blob_path(packed)]}]
    part = args.output + ".part"
    with open(part, "wb") as out:
        write(out, layout, {"schemaVersion": 2, "manifests": listed}, docker)
    os.replace(part, args.output)
    print(f"{args.output}: {', '.join(sorted(images))}, {os.path.getsize(args.output)} bytes")


main()
