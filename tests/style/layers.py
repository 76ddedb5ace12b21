#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Arrows point one way: reads lib/layers and every #include, and names each that goes astray."""
import re

from tree import Tap, files, read, root

KINDS = ("source", "runtime", "resolver", "format", "report")

# Which files may see a library: a pattern of the header, patterns of the files.
LIBRARIES = (
    (r"(libelf|gelf|libdw|dwarf|elfutils/.*)\.h", (r"lib/elf/.*",)),
    (r"bpf/.*\.h", (r"lib/source/.*", r"lib/capture/rings\.c", r"bpf/.*")),
    (r"(protobuf-c/.*|.*\.pb-c)\.h", (r"lib/format/pprof(\.c|/.*)",)),
    (r"jansson\.h", (r"lib/report/json(/\w+)?\.[ch]", r"lib/format/svg/read\.c")),
    (r"lzma\.h", (r"lib/elf/.*",)),
    (r"(libiberty/)?demangle\.h", (r"lib/elf/demangle\.c",)),
    (r"zlib\.h", (r"lib/elf/.*", r"lib/base/input\.c", r"lib/format/pprof\.c")),
)

# Headers of bpf/ that a folder of lib/ may see, written "bpf/NAME".
BPF = {
    "source": r"bpf/(event\.h|javavm\.h|table\.h|.*\.skel\.h)",
    "capture": r"bpf/(event|javavm|table|walk)\.h",
    "runtime": r"bpf/event\.h",
    "unwind": r"bpf/(rule|walk|table)\.h",
}


def arrows(top):
    allowed = {}
    for line in read(top, "lib/layers").splitlines():
        line = line.split("#")[0].strip()
        if line:
            folder, _, rest = line.partition(":")
            allowed[folder.strip()] = set(rest.split())
    return allowed


def words(top):
    """(kind, word) of every plug-in, from the lists in meson.build."""
    found = set()
    for kind in KINDS:
        match = re.search(rf"^{kind}s = \[(.*?)\]", read(top, "meson.build"), re.M | re.S)
        if match:
            found |= {(kind, word) for word in re.findall(r"'(\w+)'", match.group(1))}
    return found


def folder_of(path):
    parts = path.split("/")
    if parts[0] == "lib":
        return parts[1] if len(parts) > 2 else "lib"
    return parts[0]


def project_fault(path, header, allowed):
    """Why a file may not include this header of the project; None when it may."""
    here, (target, _, rest) = folder_of(path), header.partition("/")
    if path == "lib/stoke.c" or header == "stoke.h":
        return None
    if not rest:
        return None if header == "lists.h" else "includes are written \"folder/file.h\""
    if here == "bpf":
        return None if target == "bpf" else "bpf/ includes nothing of lib/"
    if target == "bpf":
        return None if re.fullmatch(BPF.get(here, "-"), header) else f"{here} may not see this header of bpf/"
    if target in (here, "base"):
        return None
    if here == "cmd":
        return "cmd/ sees stoke.h and base/ alone"
    if here not in allowed:
        return f"folder {here} is not in lib/layers"
    return None if target in allowed[here] else f"no arrow from {here} to {target}"


def plugin_fault(path, header, plugins):
    """No plug-in is included by another file than its own."""
    target, _, rest = header.partition("/")
    word = re.split(r"[/.]", rest)[0]
    if (target, word) not in plugins or path == "lib/stoke.c":
        return None
    own = path.startswith(f"lib/{target}/{word}.") or path.startswith(f"lib/{target}/{word}/")
    return None if own else f"{target}/{word} is a plug-in: only itself may include it"


def library_fault(path, header):
    for pattern, seers in LIBRARIES:
        if re.fullmatch(pattern, header):
            return None if any(re.fullmatch(seer, path) for seer in seers) else "this library has its own place"
    return None


def main():
    top, tap = root(), Tap()
    allowed, plugins = arrows(top), words(top)
    astray, plug, libraries, seen = [], [], [], 0
    for path in files(top, ".c", ".h"):
        if path.split("/")[0] not in ("lib", "cmd", "bpf"):
            continue
        for number, line in enumerate(read(top, path).splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
            if not match:
                continue
            seen += 1
            where = f'{path}:{number}: includes {match.group(2)}: '
            if match.group(1) == '"' and not match.group(2).endswith(".pb-c.h"):
                fault = project_fault(path, match.group(2), allowed)
                astray += [where + fault] if fault else []
                fault = plugin_fault(path, match.group(2), plugins)
                plug += [where + fault] if fault else []
            else:
                fault = library_fault(path, match.group(2))
                libraries += [where + fault] if fault else []
    tap.check("includes follow the arrows of lib/layers", astray)
    tap.check("no plug-in is included by another", plug)
    tap.check("each library is seen in its place only", libraries)
    tap.check("there were includes to look at", [] if seen else ["none: wrong folder?"])
    circle = [f"{a} and {b} include each other" for a in allowed for b in allowed[a] if a in allowed.get(b, ())]
    tap.check("lib/layers has no circle of two", circle)
    tap.done()


main()
