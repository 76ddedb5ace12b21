#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Symbols of files, and stacks: EL01, EL02, EL04, EL06, EL07, EL09, EL10, UW01, UW03, and the malformed
ELF files of SE05. CT02: the target's file, not the host's of the same path."""
import lzma
import shutil
import struct
import subprocess
import time
from pathlib import Path

from driver import Started, WORKLOADS, at_least, case, enough, lying, main, memory_limit, record
from targets import Contained, Program, build, names_by_thread

START = {"_start", "__libc_start_call_main", "__libc_start_main", "__libc_start_main_impl", "start_thread",
    "clone", "clone3", "__clone3", "__libc_start_main@@GLIBC_2.34",
    "[thread start]", "[program start]"}  # where libc has no symbols for them
GCC = ["gcc", "-O0", "-fno-omit-frame-pointer"]
LLD = ["clang", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-pie", "-fPIE", "-fuse-ld=lld"]


def run(*command, **more):
    subprocess.run([*map(str, command)], check=True, capture_output=True, **more)


def recorded(t, program, *arguments, seconds=1.5, hz=499, outputs=("x.folded",), folder=None):
    """Starts a program, records it, gives what stoke left."""
    with Program(program, *arguments, folder=folder) as target:
        return record(t, target.pid, seconds, hz, outputs)


def leaf_is(t, got, name, line):
    t.expect(line, at_least(got.leaf(name), 0.95, got.total) and got.total > 20, got.head())


def segment_offset(t, program):
    got = recorded(t, program, 20).folded().user()
    leaf_is(t, got, "hot_inner", "leaf of >= 95% of user samples: hot_inner")
    right = got.sum_of(lambda s: "hot_inner" not in s or s[-3:] == ("main", "warm_outer", "hot_inner"))
    t.expect("stack above it, leaf first: hot_inner warm_outer main", right >= 0.99 * got.total, got.stacks[:5])
    t.expect("warm_outer as leaf: <= 2%", got.leaf("warm_outer") <= 0.02, got.head())
    wrong = {"_init", "_start", "frame_dummy", "register_tm_clones"} & set(got.leaves())
    t.expect("no sample named _init, _start, frame_dummy or register_tm_clones as leaf", not wrong, wrong)


@case("EL01 segment offset of lld", live=True)
def el01(t):
    segment_offset(t, "spin_lld")
    segment_offset(t, "spin")


@case("EL01 segment offset of lld (where they lie)", live=True, tools=["clang", "ld.lld"])
def el01_lying(t):
    segment_offset(t, build(t, "spin", *LLD, "-o", "spin", lying("EL01") / "spin.c"))


@case("EL02 library with a high base", live=True)
def el02(t):
    leaf_is(t, recorded(t, "use_high", 20).folded().user(), "high_spin", "leaf of >= 95% of user samples: high_spin")


@case("EL02 library with a high base (where they lie)", live=True, tools=["gcc"])
def el02_lying(t):
    here = lying("EL02")
    build(t, "libbased.so", *GCC, "-shared", "-fPIC", "-Wl,-Ttext-segment=0x34fd200000", "-o", "libbased.so",
        here / "based.c")
    program = build(t, "main", *GCC, "-o", "main", here / "main.c", "-L.", "-lbased", "-Wl,-rpath,$ORIGIN")
    leaf_is(t, recorded(t, program).folded().user(), "lib_spin", "leaf of >= 95% of user samples: lib_spin")


def gap(t, program, library, before, caller):
    got = recorded(t, program, 20).folded().user()
    inside = got.sum_of(lambda s: library in s[-1] and s[-2] == caller)
    t.expect(f"leaf of >= 95% of user samples: unresolved inside {library}, with {caller} as its caller",
        at_least(inside / max(got.total, 1), 0.95, got.total), got.stacks[:3])
    t.expect(f"{before}: 0 samples", before not in got.frames(), got.head())


@case("EL04 gap between symbols", live=True)
def el04(t):
    gap(t, "use_gap", "libgap.so", "gap_first", "gap_last")


@case("EL04 gap between symbols (where they lie)", live=True, tools=["gcc", "strip"])
def el04_lying(t):
    here = lying("EL04")
    build(t, "libgap.so", *GCC, "-fno-toplevel-reorder", "-shared", "-fPIC", "-o", "libgap.so", here / "gap.c")
    run("strip", t.folder / "libgap.so")
    program = build(t, "main", *GCC, "-o", "main", here / "main.c", "-L.", "-lgap", "-Wl,-rpath,$ORIGIN")
    gap(t, program, "libgap.so", "api_first", "api_last")


def build_id_of(path):
    out = path.parent / "note"
    run("objcopy", "--dump-section", f".note.gnu.build-id={out}", path, "/dev/null")
    note = out.read_bytes()
    name, size = struct.unpack_from("<II", note)
    return note[12 + name:12 + name + size].hex()


def split(program, folder, keep_build_id=True):
    """program, stripped, in folder, with its debug file beside it and a link to that."""
    folder.mkdir()
    dbg = folder / "dbg"
    shutil.copy(program, dbg)
    if not keep_build_id:
        run("objcopy", "--remove-section=.note.gnu.build-id", dbg)
    run("objcopy", "--only-keep-debug", "dbg", "dbg.debug", cwd=folder)
    run("strip", "-s", dbg)
    run("objcopy", "--add-gnu-debuglink=dbg.debug", "dbg", cwd=folder)
    return dbg


def named(t, form, program, found, name="only_in_symtab"):
    ran = recorded(t, program, 20, seconds=1)
    got = ran.folded().user()
    if found:
        leaf_is(t, got, name, f"{form}: leaf of >= 95% of user samples: {name}")
    else:
        inside = got.sum_of(lambda s: s[-1].startswith("[dbg"))
        t.expect(f"{form}: leaf unresolved in dbg; exit status 0", ran.status == 0 and
            at_least(inside / max(got.total, 1), 0.95, got.total), got.head())
    return ran


def debug_forms(t, program, other):
    named(t, "a: beside it", split(program, t.folder / "a"), True)
    dbg = split(program, t.folder / "b")
    (dbg.parent / ".debug").mkdir()
    (dbg.parent / "dbg.debug").rename(dbg.parent / ".debug/dbg.debug")
    named(t, "b: in .debug/", dbg, True)
    by_build_id(t, split(program, t.folder / "c"))
    named(t, "d: debuglink only, no build id", split(program, t.folder / "d", False), True)
    dbg = split(program, t.folder / "e")
    shutil.copy(split(other, t.folder / "other").parent / "dbg.debug", dbg.parent / "dbg.debug")
    named(t, "e: the debug file of another build", dbg, False)
    dbg = split(program, t.folder / "f")
    (dbg.parent / "dbg.debug").unlink()
    named(t, "f: no debug file", dbg, False)


def by_build_id(t, dbg):
    build_id = build_id_of(dbg)
    run("objcopy", "--remove-section=.gnu_debuglink", dbg)
    store = Path("/usr/lib/debug/.build-id") / build_id[:2] / (build_id[2:] + ".debug")
    made = [p for p in (store.parent, store.parent.parent, store.parent.parent.parent) if not p.exists()]
    store.parent.mkdir(parents=True, exist_ok=True)
    try:
        (dbg.parent / "dbg.debug").rename(dbg.parent / "moved")
        shutil.copy(dbg.parent / "moved", store)
        named(t, "c: by build id under /usr/lib/debug", dbg, True)
    finally:
        store.unlink(missing_ok=True)
        for folder in made:
            folder.rmdir()


@case("EL06 separate debug files", live=True, tools=["objcopy", "strip"])
def el06(t):
    debug_forms(t, WORKLOADS / "spin_debug", WORKLOADS / "spin_lld")


@case("EL06 symbols in .gnu_debugdata", live=True, tools=["objcopy", "strip"])
def el06_mini(t):
    dbg = split(WORKLOADS / "spin_debug", t.folder / "g")
    run("objcopy", "--strip-debug", "dbg.debug", "mini", cwd=dbg.parent)
    (dbg.parent / "mini.xz").write_bytes(lzma.compress((dbg.parent / "mini").read_bytes()))
    run("objcopy", "--add-section", ".gnu_debugdata=mini.xz", "dbg", cwd=dbg.parent)
    (dbg.parent / "dbg.debug").unlink()
    named(t, "g: .gnu_debugdata", dbg, True)


@case("EL06 separate debug files (where they lie)", live=True, tools=["clang", "ld.lld", "objcopy", "strip"])
def el06_lying(t):
    source = lying("EL06") / "dbg.c"
    program = build(t, "dbg0", *LLD, "-g", "-Wl,--build-id=sha1", "-o", "dbg0", source)
    debug_forms(t, program, WORKLOADS / "spin_lld")


def replaced(t, first, second, inner, never):
    for form in "abc":
        folder = t.folder / form
        folder.mkdir()
        shutil.copy(first, folder / "prog")
        with Program((folder / "prog").resolve(), 20) as target:
            time.sleep(0.1)
            if form != "c":
                (folder / "prog").unlink()
            if form == "b":
                shutil.copy(second, folder / "prog")
            started = Started(["record", "-p", target.pid, "-d", 2, "-F", 299, "-o", "x.folded", "-o", "x.svg",
                "-o", "x.pb.gz"], t.folder)
            if form == "c":
                time.sleep(1)
                (folder / "prog").unlink()
                shutil.copy(second, folder / "prog")
            ran = started.ended(30)
        t.expect("status 0", ran.status == 0, ran.describe())
        got = ran.folded().user()
        leaf_is(t, got, inner, f"{form}: leaf of >= 95% of user samples: {inner}")
        t.expect(f"{form}: {' and '.join(never)}: 0 samples", not set(never) & set(got.frames()), got.head())
        pb = ran.pprof()
        t.expect('no output has " (deleted)" in a module name', not any("(deleted)" in s for s in pb.strings) and
            b"(deleted)" not in ran.picture().data and
            "(deleted)" not in (t.folder / "x.folded").read_text(), [s for s in pb.strings if "(deleted)" in s])


@case("EL07 deleted and replaced binaries", live=True)
def el07(t):
    replaced(t, WORKLOADS / "spin_first", WORKLOADS / "spin_second", "first_build", ["second_build", "aaa_padding"])


@case("EL07 deleted and replaced binaries (where they lie)", live=True, tools=["gcc"])
def el07_lying(t):
    here = lying("EL07")
    replaced(t, build(t, "one", *GCC, "-o", "one", here / "one.c"), build(t, "two", *GCC, "-o", "two", here / "two.c"),
        "first_build", ["second_build", "aaa_padding"])


@case("CT02 the target's file, not the host's of the same path", live=True)
def ct02(t):
    prog = t.folder / "opt" / "jit"
    prog.parent.mkdir()
    shutil.copy(WORKLOADS / "spin_second", prog)
    script = f"mount -t tmpfs t {prog.parent} && cp {(WORKLOADS / 'spin_first').resolve()} {prog} && exec {prog} 20"
    with Contained("unshare", "-m", "sh", "-c", script) as target:
        got = record(t, target.pid, 1.5, 299).folded().user()
    leaf_is(t, got, "first_build", "names are those of the target's own file")
    t.expect("0 samples with names of the host's file", not {"second_build", "aaa_padding"} & set(got.frames()), got.head())


def vdso(t, program):
    ran = recorded(t, program, 20, outputs=("x.folded", "x.pb.gz"))
    pb = ran.pprof()
    inside = total = 0
    for row, sample in zip(pb.rows(), pb.samples):
        user = list(pb.leaf_files(sample))
        if user:
            total += row[1][0]
            inside += row[1][0] if "vdso" in user[0] else 0
    t.expect(">= 60% of user samples have a leaf inside [vdso]", total and at_least(inside / total, 0.6, total),
        (inside, total, ran.folded().user().head()))
    t.expect("0 samples named [unknown] without a module for these addresses",
        "[unknown]" not in ran.folded().user().leaves(), ran.folded().user().head())


@case("EL09 the vDSO", live=True)
def el09(t):
    vdso(t, "clock")


@case("EL09 the vDSO (where they lie)", live=True, tools=["gcc"])
def el09_lying(t):
    vdso(t, build(t, "clock", *GCC, "-o", "clock", lying("EL09") / "clock.c"))


def demangled(t, names, expected):
    """A program with a function of each name, each with a thread that stays in it."""
    lines = ["#include <pthread.h>", "#include <stdio.h>", "#include <unistd.h>"]
    for i, name in enumerate(names):
        lines.append(f'void f{i}(void) __asm__("{name}");')
        lines.append(f'__attribute__((noinline)) void f{i}(void) {{ for (;;) __asm__ volatile(""); }}')
        lines.append(f"static void *r{i}(void *a) {{ f{i}(); return a; }}")
    lines.append("int main(void) { pthread_t t;")
    for i in range(len(names)):
        lines.append(f'pthread_create(&t, 0, r{i}, 0); pthread_setname_np(t, "n{i}");')
    lines.append('puts("ready"); fflush(stdout); sleep(20); _exit(0); }')
    (t.folder / "names.c").write_text("\n".join(lines) + "\n")
    program = build(t, "names", "clang", "-O1", "-fno-omit-frame-pointer", "-D_GNU_SOURCE", "-pthread", "-o", "names",
        "names.c")
    with Program(program) as target:
        target.says("ready")
        ran = record(t, target.pid, 2, 499, ("x.folded", "x.pb.gz"))
    threads = names_by_thread(ran.pprof())
    for i, (name, line) in enumerate(zip(names, expected)):
        leaves = threads.get(f"n{i}", {})
        right = set(line.split("|")) | {line.split("(")[0] or line}
        t.expect(f"{name} -> {line}", leaves and set(leaves) <= right, leaves)


NAMES = [("_Z3subll", "sub(long, long)"),
    ("_ZN4cart3addERKSt6vectorIiSaIiEE", "cart::add(std::vector<int, std::allocator<int> > const&)"),
    ("_ZZ3runvENKUliE_clEi", "run()::{lambda(int)#1}::operator()(int) const"),
    ("_ZN12_GLOBAL__N_13goaEv", "(anonymous namespace)::goa()"), ("_RNvC4cart3run", "cart::run|cart[0]::run|_RNvC4cart3run"),
    ("_ZN4cart4item3sum17hfedcba9876543210E", "cart::item::sum|cart::item::sum::hfedcba9876543210"), ("_Z", "_Z"),
    ("_ZN", "_ZN"), ("_Znonsense", "_Znonsense"), ("plain_name", "plain_name"),
    ("_Z3gopv.constprop.0", "gop() [clone .constprop.0]|gop()"), ("_Z3gopv.cold", "gop() [clone .cold]|gop()")]


@case("EL10 demangling", live=True, tools=["clang"])
def el10(t):
    demangled(t, [n for n, _ in NAMES], [e for _, e in NAMES])


@case("EL10 demangling (where they lie)", live=True, tools=["clang"])
def el10_lying(t):
    here = lying("EL10")
    demangled(t, (here / "names").read_text().splitlines(), (here / "expected").read_text().splitlines())


@case("EL10 a name that explodes", live=True)
def el10_bomb(t):
    plain = recorded(t, "spin", 20, outputs=("x.folded", "x.svg", "x.pb.gz"))
    ran = recorded(t, "bomb", 20, outputs=("x.folded", "x.svg", "x.pb.gz"))
    t.expect("symbolising a profile of it: < 1 s more", ran.cpu_s - plain.cpu_s < enough(1), (ran.cpu_s, plain.cpu_s))
    t.expect("and < 64 MB more than the same of a plain program", ran.peak_bytes - plain.peak_bytes < memory_limit(64 << 20),
        (ran.peak_bytes >> 20, plain.peak_bytes >> 20))
    got = ran.folded().user()
    leaf = max(got.leaves(), key=got.leaves().get)
    t.expect("the frame is shown cut short or mangled", "boom" in leaf and len(leaf) <= 8192, (len(leaf), leaf[:100]))
    sizes = {o: (t.folder / o).stat().st_size for o in ("x.folded", "x.svg", "x.pb.gz")}
    t.expect("file sizes stay small", max(sizes.values()) < 1 << 20, sizes)


def no_frame_pointer(t, program, leaf):
    ran = recorded(t, program, 20, outputs=("x.folded", "x.pb.gz"))
    got = ran.folded().user()
    leaf_is(t, got, leaf, f"leaf {leaf} >= 95%")
    through = got.only(lambda s: s[-1] == leaf)
    t.expect("its direct caller (mid) may be missing, top and main must be there", through.share_of(
        lambda s: "top" in s and "main" in s) >= 0.99, through.stacks[:3])
    strange = set(through.frames()) - {leaf, "mid", "top", "main"} - START
    t.expect(f"no frame may appear that is not one of: {leaf} mid top main, libc start code", not strange, strange)
    whole = ran.pprof().fact("stoke.quality.stacks-broken")
    t.expect("the summary tells the share of stacks that do not reach the start of the thread (here about 0%)",
        "whole" in ran.said and int(whole or 0) <= 0.02 * got.total, (whole, ran.said))


@case("UW01 a leaf without frame pointer", live=True)
def uw01(t):
    no_frame_pointer(t, "nofp", "leaf_without")


@case("UW01 a leaf without frame pointer (where they lie)", live=True, tools=["gcc"])
def uw01_lying(t):
    here = lying("UW01")
    build(t, "leaf.o", "gcc", "-O2", "-fomit-frame-pointer", "-c", "-o", "leaf.o", here / "leaf.c")
    no_frame_pointer(t, build(t, "nofp", *GCC, "-o", "nofp", here / "nofp.c", "leaf.o"), "leaf_nofp")


def recursion(t, program, arguments):
    for depth in (50, 127, 300, 1000):
        got = recorded(t, program, *arguments(depth), seconds=1, hz=299).folded().user()
        whole = got.share_of(lambda s: "main" in s and s[0] in START | {"main"} and s.count("down") in (depth, depth + 1))
        t.expect(f"depth {depth}: the root is main (or libc start code) in >= 99%",
            at_least(whole, 0.99, got.total) and got.total > 30, [(s[:3], len(s), n) for s, n in got.stacks[:3]])
    ran = recorded(t, program, *arguments(5000), seconds=1, hz=299)
    got = ran.folded().user()
    cut = got.only(lambda s: s[0] == "[truncated]")
    rest = got.only(lambda s: s[0] not in START | {"main", "[truncated]"})
    t.expect("beyond the limit: the leaf end is kept, every cut stack has the marker [truncated] at the root",
        cut.total >= 0.9 * got.total and cut.leaf("bottom") >= 0.9 and not rest.stacks,
        [(s[:3], len(s), n) for s, n in rest.stacks[:3]] or cut.head())
    t.expect("at least 1024 user frames are kept", cut.stacks and min(
        len(s) for s, _ in cut.stacks if s[-1] == "bottom") >= 1024, [len(s) for s, _ in cut.stacks[:5]])
    t.expect("cut stacks are counted in the summary together with the limit", "1024" in ran.said or "trunc" in ran.said or
        "deeper" in ran.said, ran.said)
    bare = [s for s, _ in got.stacks if s[0] == "down"]
    t.expect('no cut stack shows a "down" frame as root without a marker', not bare, len(bare))


@case("UW03 deep recursion", live=True)
def uw03(t):
    recursion(t, "deep", lambda depth: (20, depth))


@case("UW03 deep recursion (where they lie)", live=True, tools=["gcc"])
def uw03_lying(t):
    recursion(t, build(t, "deep", *GCC, "-o", "deep", lying("UW03") / "deep.c"), lambda depth: (depth,))


def malformed(t, path):
    """A process runs code in a private mapping of the file."""
    with Program("pins", 20, path, "7f7510000100") as pins:
        pins.says("ready")
        ran = record(t, pins.pid, 1, 299)
    t.expect(f"{path.name}: no crash, < 1 s, < 50 MB more", "Sanitizer" not in ran.err and ran.seconds < enough(4) and
        ran.peak_bytes < memory_limit(114 << 20), (ran.describe(), ran.seconds, ran.peak_bytes >> 20))
    got = ran.folded().user()
    t.expect(f"{path.name}: the module is shown without symbols", got.share_of(lambda s: path.name in s[-1]) >= 0.9,
        got.head())


def elf_header(**changed):
    """A small x86-64 ELF header with two sections' worth of room, then wrong in one respect."""
    field = dict(phoff=64, shoff=256, phentsize=56, phnum=1, shentsize=64, shnum=3, shstrndx=2, **{})
    field.update(changed)
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, field["phoff"], field["shoff"],
        0, 64, field["phentsize"], field["phnum"], field["shentsize"], field["shnum"], field["shstrndx"])
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, field.get("filesz", 512), field.get("filesz", 512), 4096)
    symtab = struct.pack("<IIQQQQIIQQ", 1, 2, 0, 0, field.get("symoff", 448), field.get("symsize", 48), 2, 0, 8,
        field.get("symentry", 24))
    strings = struct.pack("<IIQQQQIIQQ", 9, 3, 0, 0, field.get("stroff", 496), field.get("strsize", 16), 0, 0, 1, 0)
    symbol = struct.pack("<IBBHQQ", field.get("name", 1), 2, 0, 1, field.get("value", 1 << 40), field.get("size", 1 << 63))
    data = head + load
    data += bytes(256 - len(data)) + bytes(64) + symtab + strings + bytes(24) + symbol
    return data + b"\0lie\0" + bytes(512 - len(data) - 5)


@case("SE05 malformed ELF files", live=True)
def se05(t):
    big = (1 << 63) - 8
    forms = {"empty.elf": b"", "script.elf": b"#!/bin/true\n", "short.elf": elf_header()[:20],
        "shentsize-0.elf": elf_header(shentsize=0), "shnum.elf": elf_header(shnum=65535),
        "shoff.elf": elf_header(shoff=big), "phoff.elf": elf_header(phoff=big), "phentsize.elf": elf_header(phentsize=1),
        "symsize.elf": elf_header(symsize=big), "symoff.elf": elf_header(symoff=big), "symentry.elf": elf_header(symentry=0),
        "strings.elf": elf_header(stroff=big, strsize=big), "name.elf": elf_header(name=0xfffffff0),
        "index.elf": elf_header(shstrndx=60000), "filesz.elf": elf_header(filesz=big)}
    for name, data in forms.items():
        if not data:
            continue  # nothing of an empty file can be executed
        (t.folder / name).write_bytes(data)
        malformed(t, t.folder / name)


@case("SE05 malformed ELF files (where they lie)", live=True)
def se05_lying(t):
    for source in sorted(lying("SE05").glob("*.elf")):
        if source.stat().st_size:
            shutil.copy(source, t.folder / source.name)
            malformed(t, t.folder / source.name)


if __name__ == "__main__":
    raise SystemExit(main())
