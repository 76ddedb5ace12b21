#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Stacks of code without frame pointers: whole, and right. Programs here know what their stacks may
look like, so a caller that was invented is seen."""
import re
import shutil
import sys
import time
from pathlib import Path

from driver import Started, WORKLOADS, case, is_cut, main, record
from targets import Program, build

WORK = Path(__file__).resolve().parent.parent / "workload"
START = {"_start", "__libc_start_call_main", "__libc_start_main", "start_thread", "clone3",
    "__clone3", "[thread start]", "[program start]"}
SHORT = r"(clock_gettime|__vdso_clock_gettime|\[\[?vdso\]?.*|__memset\w*|memset\w*)"


EARLY = 4  # samples that may have met the ring full: a machine may be crowded


def whole(t, ran, need=0.995):
    """All stacks but the first few reach their root."""
    user = ran.folded().user()
    short = user.only(lambda s: s[0].startswith("[broken]") or s[0].startswith("[no unwind info"))
    t.expect(f"at least {need:.1%} of stacks are whole", user.total > 100 and short.total <= max(
        EARLY, (1 - need) * user.total),
        (user.total, short.total, short.head(6)))
    return user


def frames(t, depth, program="frames"):
    with Program(program, 20, depth) as running:
        time.sleep(0.3)
        ran = record(t, running.pid, 3, 999)
    user = whole(t, ran)
    # The handler may come in anywhere, also in itself before it is left.
    sort = r"(qsort_r;|qsort;|__qsort_r;|msort_with_tmp(\.part\.\d+)?;|\[libc\.so\.6\+0x[0-9a-f]+\];)*"
    handler = r"(;(__restore_rt|\[(libc\.so\.6|frames_pie)\+0x[0-9a-f]+\]);handler(;burn_shortly)?)?"
    inner = rf"(;aligned(;(variable|{SHORT})(;({sort})?(compare(;burn_shortly)?|[^;]+)?)?)?)?"
    known = re.compile(rf"(_start;__libc_start_main(_impl)?;|(__)?clone3?;)?(start_thread;work|\[thread start\];work|__libc_start_call_main;main;work|"
        rf"\[program start\];main;work|__libc_start_call_main;main;[^;]+|start_thread;[^;]+)"
        rf"(;{SHORT})*(;down){{0,{depth + 1}}}{inner}(;[^;]+)?{handler}$")
    strange = [s for s, _ in user.stacks if s[0] in START and not known.match(";".join(s))]
    t.expect("no stack is there that cannot be", not strange, [";".join(s)[-300:] for s in strange[:3]])
    deep = user.share_of(lambda s: s.count("down") == depth + 1)
    t.expect(f"nearly all are {depth + 1} deep, and never deeper", deep > 0.9 and max(
        s.count("down") for s, _ in user.stacks) == depth + 1, deep)
    t.expect("callbacks of the C library are under it", user.share_of(
        lambda s: "compare" in s and any("sort" in f or "libc" in f for f in s)) > 0.5, user.head(4))
    handled = user.only(lambda s: "handler" in s)
    t.expect("handlers stand on what they interrupted", handled.total > 0 and handled.share_of(
        lambda s: "work" in s) > 0.99, handled.head(4))


@case("UW02 no frame pointers: recursion, alloca, callbacks, signal handlers", live=True)
def shallow(t):
    frames(t, 30)


@case("UW02 the same, 900 deep", live=True)
def deep(t):
    frames(t, 900)


@case("UW02 the same, linked statically at any address", live=True)
def static_pie(t):
    frames(t, 30, "frames_pie")


def chain(t, running, program, functions, need=0.999):
    """All stacks in the innermost of these functions have the others under it, and stand on a root."""
    ran = record(t, running.pid, 3, 999)
    user = ran.folded().user()
    inside = user.only(lambda s: functions[-1] in s)
    wanted = ";".join(functions)
    wrong = inside.only(lambda s: wanted not in ";".join(s) or is_cut(s[0]))
    t.expect(f"{program}: {wanted[-60:]} is whole and right", inside.total > 100 and
        wrong.total <= max(1, (1 - need) * inside.total), (inside.total, wrong.total, wrong.head(4)))
    return user


@case("UW08 frames that are probed page by page", live=True)
def clash(t):
    with Program("clash", 20) as running:
        user = chain(t, running, "clash", ["main", "work", "large"])
    t.expect("the loop of probes is where it is", user.share_of(lambda s: s[-1] == "large") > 0.5, user.head(3))


@case("UW09 assembly, with and without a word of how its frames look", live=True)
def by_hand(t):
    with Program("byhand", 20) as running:
        chain(t, running, "byhand", ["main", "work", "told", "untold", "burn_shortly"])


@case("UW10 Go", live=True, tools=["go"])
def go(t):
    program = build(t, "recurse", "env", f"GOCACHE={t.folder / 'cache'}", "go", "build", "-o", "recurse", WORK / "recurse.go")
    with Program(program, folder=t.folder) as running:
        time.sleep(0.3)
        chain(t, running, "Go", ["runtime.main", "main.main"] + ["main.down"] * 21 + ["main.burn"])


@case("UW10 Rust", live=True, tools=["rustc"])
def rust(t):
    program = build(t, "recurse", "rustc", "-O", "-o", "recurse", WORK / "recurse.rs")
    with Program(program, folder=t.folder) as running:
        time.sleep(0.3)
        chain(t, running, "Rust", ["recurse::main"] + ["recurse::down"] * 21 + ["recurse::burn"])


@case("UW03 C++ exceptions in flight", live=True)
def exceptions(t):
    with Program("throws", 20) as running:
        time.sleep(0.3)
        ran = record(t, running.pid, 3, 999)
    user = whole(t, ran)
    right = user.share_of(lambda s: s[0] not in START or ("main" in s and (s.index("main") <= 2)))
    t.expect("all of it is under main", right >= 1 - 2 / user.total, user.head(5))
    t.expect("destructors are seen while the stack unwinds", user.share_of(
        lambda s: any("Unwind" in f for f in s)) > 0.02, user.head(5))


@case("UW11 functions that the dynamic linker binds when they are first called", live=True)
def lazy(t):
    with Program("lazy", 20, (WORKLOADS / "liblazily.so").resolve()) as running:
        time.sleep(0.2)
        ran = record(t, running.pid, 3, 999)
    user = whole(t, ran)
    chains = [(s, n) for s, n in user.stacks if any(f.startswith("lazy_") for f in s)]
    wrong = [s for s, _ in chains if s[0] in START and not right_chain(s)]
    t.expect("a call's callers are all there, and in order", not wrong, wrong[:2])
    binding = sum(n for s, n in chains if not s[-1].startswith("lazy_"))
    t.expect("most of the time is binding", binding > 0.5 * sum(n for _, n in chains) > 50, (binding, user.head(3)))


def right_chain(stack):
    """main, use, lazy_0, lazy_1, ..., and what the linker does."""
    at = [i for i, f in enumerate(stack) if f.startswith("lazy_")]
    numbers = [int(stack[i].split("_")[1]) for i in at]
    return at == list(range(at[0], at[0] + len(at))) and numbers == list(range(len(at))) and list(
        stack[at[0] - 2:at[0]]) == ["main", "use"]


@case("UW12 vfork, whose return address is in a register", live=True)
def vforks(t):
    with Program("vforks", 20) as running:
        time.sleep(0.2)
        ran = record(t, running.pid, 3, 999)
    user = ran.folded().user()
    inside = user.only(lambda s: s[-1] in ("vfork", "__vfork", "__libc_vfork") or "forks" in s)
    wrong = inside.only(lambda s: ";main;forks" not in ";" + ";".join(s) or is_cut(s[0]))
    wrong = wrong.only(lambda s: s[0] != "[exit]")
    t.expect("it was called by who called it", inside.total > 20 and wrong.total <= 1,
        (inside.total, wrong.total, wrong.head(4)))


def reloaded(t, ms):
    """What lies at an address changes each so many milliseconds: stacks may be cut, but not wrong."""
    libraries = [(WORKLOADS / f"lib{n}.so").resolve() for n in ("near", "far")]
    with Program("reload", 6, ms, *libraries) as running:
        time.sleep(0.2)
        ran = record(t, running.pid, 5, 999)
        said = running.numbers()
    t.expect("they did lie at one place", said["again"] > said["times"] * 0.4, said)
    user = ran.folded().user()
    own = {n: ["enter", f"{n}_second", f"{n}_third"] for n in ("near", "far")}
    wrong = [s for s, _ in user.stacks if len({n for n in own if own[n][1] in s or own[n][2] in s}) > 1]
    t.expect("no frame of one is among those of the other", not wrong, wrong[:3])
    inside = user.only(lambda s: any(f.endswith("_third") for f in s))
    strange = inside.only(lambda s: s[0] in START and not any(
        ";".join(["main", "use", *own[n]]) in ";".join(s) for n in own))
    t.expect("no caller is left out or invented in a stack that is called whole", not strange.total, strange.head(4))
    t.expect("there is something to judge", inside.total > 100, inside.total)
    return inside


@case("UW04 libraries that take each other's place all the time", live=True)
def reload_fast(t):
    reloaded(t, 20)


@case("UW04 libraries that take each other's place now and then", live=True)
def reload(t):
    inside = reloaded(t, 800)
    t.expect("most are whole", inside.share_of(lambda s: s[0] in START) > 0.6, inside.head(6))


@case("UW05 one program after the other in a process", live=True)
def execs(t):
    ran = Started(["record", "-F", 999, "-o", "x.folded", "--", "sh", "-c",
        f"{(WORKLOADS / 'frames').resolve()} 1 20; exec {(WORKLOADS / 'frames').resolve()} 2 40"], t.folder).ended(60)
    t.expect("recording ends with status 0", ran.status == 0, ran.describe())
    user = ran.folded().user().only(lambda s: "down" in s)

    def reaches(s):
        return bool(START & set(s[:2]))  # behind the process, where there are two

    t.expect("what a process has just begun is whole soon", user.total > 150 and user.share_of(reaches) > 0.97,
        (user.share_of(reaches), user.head(5)))
    depths = {s.count("down") for s, _ in user.only(lambda s: reaches(s) and "aligned" in s).stacks}
    t.expect("and right: 21 deep, or 41", depths == {21, 41}, depths)


@case("UW07 processes that live for 30 ms", live=True)
def short_lives(t):
    program = (WORKLOADS / "frames").resolve()
    ran = Started(["record", "-F", 999, "-o", "x.folded", "--", "sh", "-c",
        f"for i in 1 2 3 4 5 6 7 8 9; do for j in 1 2 3 4 5 6; do {program} 0.03 20; done; done"], t.folder).ended(60)
    t.expect("recording ends with status 0", ran.status == 0, ran.describe())
    user = ran.folded().user().only(lambda s: any(f in s for f in ("down", "aligned", "variable", "compare")))
    whole = user.only(lambda s: START & set(s[:2]))
    t.expect("none had to be read first: stacks are whole from the first sample on", user.total > 100 and
        whole.total > 0.97 * user.total, (whole.total, user.total, user.only(lambda s: not START & set(s[:2])).head(5)))
    depths = {s.count("down") for s, _ in whole.only(lambda s: "aligned" in s).stacks}
    t.expect("and right: 21 deep", depths == {21}, depths)


def debian(t, command, wait_s=1.0, need=0.99):
    with Program(*command, folder=t.folder) as running:
        time.sleep(wait_s)
        ran = record(t, running.pid, 3, 499)
    return whole(t, ran, need)


@case("UW06 Debian's python3, as it is", live=True)
def python(t):
    user = debian(t, ["/usr/bin/python3", WORK / "work.py", 30])
    t.expect("below its start it runs", user.share_of(lambda s: "Py_RunMain" in s) > 0.95, user.head(4))


@case("UW06 Debian's node, as it is", live=True, tools=["node"])
def node(t):
    debian(t, [shutil.which("node"), WORK / "work.js", 30], 2.0, 0.97)


if __name__ == "__main__":
    sys.exit(main())
