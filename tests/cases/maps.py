#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Perf maps: PM01, PM02, PM03, PM05, PM07, the live half of FF01, and CT01.

A look-up "ADDRESS NAME" is checked with a thread that stays in a jump to itself at that very
address, so that every sample of it asks stoke for exactly this address.
"""
import os
import re
import shutil
import time
from pathlib import Path

from driver import WORKLOADS, at_least, case, enough, lying, main, memory_limit, record, stoke
from targets import Contained, Map, Program, build, map_of, names_by_thread, outside_tmp

OUT = ("x.folded", "x.pb.gz")


def batches(addresses):
    """The jumps are two bytes long: neighbours cannot stand in one process."""
    left = sorted(addresses, key=lambda a: int(a, 16))
    while left:
        taken = []
        for address in left:
            if not taken or int(address, 16) - int(taken[-1], 16) >= 4:
                taken.append(address)
        yield taken
        left = [a for a in left if a not in taken]


def look_ups(t, data, expected):
    """expected: lines "ADDRESS TAB NAME"; "?" must stay unresolved, "a|b": either is right."""
    wanted = [line.split("\t", 1) for line in expected.splitlines() if line]
    names = {line.split(None, 2)[2].strip() for line in data.decode().splitlines() if len(line.split(None, 2)) > 2}
    threads, said = {}, ""
    for batch in batches([w[0] for w in wanted]):
        with Program("pins", 20, "-", *batch) as pins:
            said += pins.says("ready")
            with Map(pins.pid, data):
                ran = record(t, pins.pid, 2, 499, OUT)
        threads.update(names_by_thread(ran.pprof()))
    for address, name in wanted:
        if f"not placed {address}" in said:
            continue
        leaves = threads.get(f"{int(address, 16):x}", {})
        line = f"{address}\t{name}"
        if not t.expect(f"{line}: sampled at all", leaves, sorted(threads, key=str)):
            continue
        if name == "?":
            t.expect(line, not names & set(leaves), leaves)
        else:
            right = [n.replace("\\t", "\t") for n in name.split("|")]
            t.expect(line, set(leaves) <= {n.strip() for n in right} | set(right), leaves)
    return ran


def lies(t, name):
    here = lying(name)
    return look_ups(t, (here / "perf.map").read_bytes(), (here / "expected").read_text())


PM01 = (b"0x00007f6c10001000 0x0000000000000080 java.lang.Object org.shop.Cart.sum(int, long)\n"
    b"0x7f6c10002000 0x40 py::total:/srv/cart.py\n7f6c10003000 30 Interpreter\n7F6C10004000 B0 UPPER::digits\n"
    b"0X7F6C10005000 0X20 UpperPrefix\n",
    "7f6c10001000\tjava.lang.Object org.shop.Cart.sum(int, long)\n"
    "7f6c1000107e\tjava.lang.Object org.shop.Cart.sum(int, long)\n7f6c10001080\t?\n"
    "7f6c1000203e\tpy::total:/srv/cart.py\n7f6c10003010\tInterpreter\n7f6c100040ae\tUPPER::digits\n"
    "7f6c10005000\tUpperPrefix\n10000\t?\n")


@case("PM01 hex prefixes", live=True)
def pm01(t):
    ran = look_ups(t, *PM01)
    t.expect("all lines of the map are accepted", "refused" not in ran.said, ran.err)
    with Program("jit", 20, "dir", "-") as jit:
        address = int(jit.says("\n").split()[0], 16)
        with Map(jit.pid, f"{address:x}\nno line at all\n{address:x} zz name\n".encode()):
            ran = record(t, jit.pid, 1.5, 199)
    t.expect("a map that yields no usable line is told, with the number of lines refused",
        "map" in ran.said and "3" in ran.said, ran.said)


@case("PM01 hex prefixes (where they lie)", live=True)
def pm01_lying(t):
    lies(t, "PM01")


@case("PM02 blanks in names", live=True)
def pm02(t):
    look_ups(t, b"7f6d10001000 80 LazyCompile:*serve page /srv/web/c d/app.js:7\n"
        b"7f6d10002000 80 bool [System.Private.CoreLib] System.Text.Utf8::Is(char&,native int)[Tier0]\n"
        b"7f6d10003000 80 some   runs of  blanks\n7f6d10004000 80 a\ttab\n7f6d10005000 80 RegExp: ^x y$ \n"
        b"7f6d10006000   80   three blanks between\n7f6d10007000 80 17 4\n",
        "7f6d10001010\tLazyCompile:*serve page /srv/web/c d/app.js:7\n"
        "7f6d10002010\tbool [System.Private.CoreLib] System.Text.Utf8::Is(char&,native int)[Tier0]\n"
        "7f6d10003010\tsome   runs of  blanks\n7f6d10004010\ta\\ttab|a tab\n7f6d10005010\tRegExp: ^x y$|RegExp: ^x y$ \n"
        "7f6d10006010\tthree blanks between\n7f6d10007010\t17 4\n")


@case("PM02 blanks in names (where they lie)", live=True)
def pm02_lying(t):
    lies(t, "PM02")


@case("PM03 the later line holds", live=True)
def pm03(t):
    look_ups(t, b"7f6e10001000 80 old::total\n7f6e10002000 40 old::tax\n7f6e10001000 80 new::sum\n"
        b"7f6e10002000 60 new::vat\n7f6e10002000 60 newest::duty\n",
        "7f6e10001000\tnew::sum\n7f6e1000107e\tnew::sum\n7f6e10002000\tnewest::duty\n7f6e1000205e\tnewest::duty\n"
        "7f6e10002060\t?\n")


@case("PM03 the later line holds (where they lie)", live=True)
def pm03_lying(t):
    lies(t, "PM03")


@case("PM03 an address used again is two functions", live=True)
def pm03_reuse(t):
    ran = stoke(t.folder, "record", "-F", 499, "-o", "x.folded", "--", (WORKLOADS / "jit").resolve(), 5, "name",
        "jit::before", "reuse", "jit::after")
    for pid in re.findall(r"(\d+) jit", ran.said):
        map_of(pid).unlink(missing_ok=True)
    t.must("recorded", ran.status == 0, ran.describe())
    got = ran.folded().user()
    # Readings are at most 1 s apart, so at most that much of 5 s is named by the wrong side.
    for name in ("jit::before", "jit::after"):
        t.expect(f"{name} has its half, within the second between two readings", 0.2 < got.leaf(name) < 0.8, got.head())
    t.expect("every sample has one of the two names", got.leaf("jit::before") + got.leaf("jit::after") >= 0.95, got.head())


@case("PM05 torn lines", live=True)
def pm05(t):
    ran = look_ups(t, b"7f7010001000 40 good_one\n tail of a line from another writer\n\n7f7010002000\n7f7010003000 40\n"
        b"7f7010004000 40 \n20200 20 low_address\n7f7010005000 4\nyyyy 40 not_hex\n7f7010006000 pp not_a_size\n"
        b"7f7010007000 40 good_three\n7f7010008000 4",
        "7f7010001000\tgood_one\n7f7010002000\t?\n7f7010003010\t?\n7f7010004010\t?\n20210\tlow_address\n"
        "7f7010005002\t?\n7f7010006000\t?\n7f701000703e\tgood_three\n7f7010008000\t?\n")
    counted = ran.pprof().fact("stoke.quality.map-lines-bad")
    t.expect("bad lines are skipped and counted: 7, or 8 with the unfinished last one",
        counted in ("7", "8"), (counted, ran.err))


@case("PM05 torn lines (where they lie)", live=True)
def pm05_lying(t):
    lies(t, "PM05")


@case("PM07 entries written late", live=True)
def pm07(t):
    with Program("jit", 20, "late", 2) as jit:
        jit.says("\n")
        ran = record(t, jit.pid, 4, 299, OUT)
        map_of(jit.pid).unlink(missing_ok=True)
    got = ran.folded().user()
    t.expect("first: >= 95% of user samples named jit::spin, also those taken before the line was there",
        at_least(got.leaf("jit::spin"), 0.95, got.total), got.head())


@case("PM07 entries that never come", live=True)
def pm07_never(t):
    with Program("jit", 20, "late", 30) as jit:
        jit.says("\n")
        ran = record(t, jit.pid, 2, 299, OUT)
        map_of(jit.pid).unlink(missing_ok=True)
    got = ran.folded().user()
    t.expect("second: the frames are one unresolved frame of JIT code, not one per address",
        got.share_of(lambda s: "run_generated" in s) >= 0.95 and max(got.leaves().values()) >= 0.95 * got.total,
        got.head())
    t.expect("second: a hint says that a map exists but has no entry for them",
        "map" in ran.said and str(jit.pid) in ran.said, ran.said)


@case("PM07 a map that grows by much", live=True)
def pm07_growing(t):
    lines = b"".join(b"%x 40 filler::%d\n" % (0x100000000000 + 64 * i, i) for i in range(40000))
    with Program("jit", 30) as jit:
        jit.says("\n")
        path = map_of(jit.pid)
        started = time.monotonic()
        with open(path, "ab") as out:
            child = os.fork()
            if not child:  # 60 MB in steps, while the recording runs
                for _ in range(40):
                    out.write(lines)
                    out.flush()
                    time.sleep(0.05)
                os._exit(0)
        ran = record(t, jit.pid, 4, 199, OUT, within_s=60)
        os.waitpid(child, 0)
        path.unlink(missing_ok=True)
    got = ran.folded().user()
    t.expect("jit::spin keeps its name", at_least(got.leaf("jit::spin"), 0.95, got.total), got.head())
    t.expect("the profile ends in its time", time.monotonic() - started < enough(4 + 8), ran.seconds)
    t.expect("memory stays bounded", ran.peak_bytes < memory_limit(500 << 20), ran.peak_bytes >> 20)


@case("FF01 separators in perf maps", live=True)
def ff01(t):
    names = ["RegExp:^x;y(z|w);$", "Lorg/shop/Cart;::sum", "[semi;colon] 9"]
    addresses = [f"7f721000{i + 1}000" for i in range(3)]
    data = "".join(f"{a} 40 {n}\n" for a, n in zip(addresses, names)).encode()
    with Program("pins", 20, "-", *addresses) as pins:
        pins.says("ready")
        with Map(pins.pid, data):
            got = record(t, pins.pid, 1.5, 499, ("x.folded",)).folded().user()
    leaves = [n for n in got.leaves() if any(w in n for w in ("RegExp", "Cart", "colon"))]
    t.expect("each of the three names is one frame in the folded output", len(leaves) == 3 and
        sum(got.leaves()[n] for n in leaves) >= 0.95 * got.total, got.head())


def contained(t, form, command, decoys=False, leaf="jit::spin"):
    with Contained(*command) as jit:
        planted = []
        try:
            inner = Path(f"/proc/{jit.pid}/status").read_text().split("NSpid:")[1].splitlines()[0].split()[-1]
            address = next(line.split("-")[0] for line in Path(f"/proc/{jit.pid}/maps").read_text().splitlines()
                if " rwxp " in line)
            for pid in {str(jit.pid), inner} if decoys else ():
                planted.append(Map(pid, f"{address} 10000 decoy::wrong\n".encode()))
            got = record(t, jit.pid, 1.5, 299).folded().user()
        finally:
            for decoy in planted:
                decoy.path.unlink(missing_ok=True)
    t.expect(f"{form}: JIT frames carry the names from the map the process itself wrote",
        at_least(got.leaf(leaf), 0.95, got.total), got.head())
    t.expect(f"{form}: never a decoy name", "decoy::wrong" not in got.frames(), got.head())
    return inner


def forms(t, jit):
    own_tmp = f"mount -t tmpfs t /tmp && exec {jit} 20"
    both = ["unshare", "-p", "-m", "--fork", "--mount-proc"]
    contained(t, "a: pid and mount namespace", [*both, "sh", "-c", own_tmp])
    inner = contained(t, "b: pid namespace only", ["unshare", "-p", "--fork", jit, "20"])
    map_of(inner).unlink(missing_ok=True)
    contained(t, "c: mount namespace only", ["unshare", "-m", "sh", "-c", own_tmp])
    root = t.folder / "root"
    (root / "tmp").mkdir(parents=True)
    shutil.copy(jit, root / "jit")
    for folder in ("usr", "lib", "lib64"):
        (root / folder).mkdir()
    binds = " && ".join(f"mount --rbind /{f} {root}/{f}" for f in ("usr", "lib", "lib64") if Path("/" + f).exists())
    contained(t, "d: chroot inside a mount namespace", ["unshare", "-m", "sh", "-c",
        f"{binds} && exec chroot {root} /jit 20"])
    contained(t, "e: two nested pid namespaces", ["unshare", "-p", "--fork", *both, "sh", "-c", own_tmp])
    contained(t, "f: like a, with decoys on the host", [*both, "sh", "-c", own_tmp], decoys=True)


@case("CT01 maps in other namespaces", live=True)
def ct01(t):
    with outside_tmp(WORKLOADS / "jit") as jit:
        forms(t, jit)


@case("CT01 maps in other namespaces (where they lie)", live=True)
def ct01_lying(t):
    # The collection's stand-in takes --secs; forms() gives a bare number, which it ignores.
    program = build(t, "jitprog", "gcc", "-O0", "-fno-omit-frame-pointer", "-o", "jitprog", lying("CT01") / "jitprog.c")
    with outside_tmp(program) as jit:
        forms(t, jit)


if __name__ == "__main__":
    raise SystemExit(main())
