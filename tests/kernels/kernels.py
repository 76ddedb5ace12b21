#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: kernels.py SERIES...: a static stoke on Debian's kernels, in qemu without KVM.

A machine is booted once a kernel, with an initramfs of stoke, busybox and programs whose stacks are
known (guest.sh says what is done there); what it recorded is judged here, one TAP line a promise. Rates
are not judged: an emulated machine misses ticks."""
import functools
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import fetch
from driver import WORKLOADS, NeedsRights, Skip, case, main
from readers import Folded, Pprof, bare

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
PROGRAMS = Path(os.environ["STOKE_PROGRAMS"])
STATIC = Path(os.environ["STOKE_STATIC"])
LIMIT_BYTES = 8 << 20  # of a stripped static stoke
BOOT_S = 240
BUILD_ID = bytes.fromhex("5370656c6c65642e6f75742e627975732e2e2e21").hex()
SERIES = ("5.10", "6.1", "6.12")


def run(*command):
    ran = subprocess.run([str(c) for c in command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if ran.returncode:
        raise AssertionError(f"{command[0]} failed: {(ran.stderr or ran.stdout)[-800:]}")
    return ran.stdout


@functools.lru_cache(None)
def static_stoke():
    """The static stoke of this source, stripped: built anew where the source is newer."""
    if not (STATIC / "build.ninja").exists():
        run("meson", "setup", STATIC, TOP, "--buildtype=release", "-Dwerror=false", "-Dtests=false", "-Dstatic=true")
    run("ninja", "-C", STATIC, "cmd/stoke")
    run("strip", "-o", STATIC / "stoke", STATIC / "cmd" / "stoke")
    return STATIC / "stoke"


def libraries(program):
    """What a program needs to start elsewhere, as the dynamic linker says."""
    return re.findall(r"(/\S+) \(0x", run("ldd", program))


def initramfs(folder):
    root = folder / "root"
    for name in ("bin", "proc", "sys", "dev", "tmp", "etc", "programs"):
        (root / name).mkdir(parents=True)
    shutil.copy(static_stoke(), root / "bin" / "stoke")
    shutil.copy(shutil.which("busybox"), root / "bin" / "busybox")
    shutil.copy(HERE / "guest.sh", root / "init")
    (root / "init").chmod(0o755)
    programs = [PROGRAMS / f"{n}-static" for n in ("frames", "forker", "throws")] + [WORKLOADS / "frames"]
    for program in programs:
        shutil.copy(program, root / "programs" / program.name)
    for library in libraries(WORKLOADS / "frames"):
        (root / library[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, root / library[1:])
    names = run("find", root).replace(str(root), ".")
    archive = folder / "initramfs.cpio"
    with open(archive, "wb") as out:
        subprocess.run([shutil.which("busybox"), "cpio", "-o", "-H", "newc"], input=names.encode(), stdout=out,
            stderr=subprocess.DEVNULL, cwd=root, check=True)
    return archive


def boot(vmlinuz, folder):
    """What the machine said and handed over: (console, files by name)."""
    command = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-m", "1024", "-smp", "2",
        "-display", "none", "-no-reboot", "-monitor", "none", "-nic", "none", "-serial", f"file:{folder}/console",
        "-serial", f"file:{folder}/data", "-kernel", str(vmlinuz), "-initrd", str(initramfs(folder)),
        "-append", "console=ttyS0 quiet panic=-1 mitigations=off"]
    started = time.monotonic()
    machine = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _, complaint = machine.communicate(timeout=BOOT_S * max(1, os.getloadavg()[0] / 2))
    except subprocess.TimeoutExpired:
        machine.kill()
        _, complaint = machine.communicate()
        complaint += b" (ended: too slow)"
    print(f"# {vmlinuz.name}: {time.monotonic() - started:.1f} s", flush=True)
    console = (folder / "console").read_text(errors="replace") if (folder / "console").exists() else ""
    if "DONE" not in console:
        raise AssertionError(f"the machine did not end: {complaint.decode(errors='replace')[-300:]} {console[-1500:]!r}")
    files = {}
    with tarfile.open(fileobj=io.BytesIO((folder / "data").read_bytes()), mode="r:gz") as tar:
        for member in tar:
            if member.isfile():
                files[member.name.removeprefix("./")] = tar.extractfile(member).read()
    return console, files


@functools.lru_cache(None)
def machine(series):
    """Files that a machine of this series handed over, or the exception that says why there are none."""
    missing = [t for t in ("qemu-system-x86_64", "busybox", "meson", "ninja", "strip") if not shutil.which(t)]
    if missing:
        return NeedsRights("not installed: " + " ".join(missing))
    try:
        vmlinuz = fetch.kernel(series)
    except fetch.Unfetchable as reason:
        return Skip(f"Debian's kernel {series} cannot be fetched: {reason}")
    with tempfile.TemporaryDirectory(prefix="stoke-kernel-") as folder:
        try:
            return boot(vmlinuz, Path(folder))[1]
        except Exception as wrong:
            return wrong


class Step:
    """What one command of guest.sh left."""

    def __init__(self, series, name):
        found = machine(series)
        if isinstance(found, Exception):
            raise found
        self.files, self.name = found, name

    def text(self, suffix):
        return self.files.get(f"{self.name}.{suffix}", b"").decode("utf-8", "replace")

    @property
    def status(self):
        return self.text("status").strip()

    @property
    def folded(self):
        return Folded.of_text(self.text("folded"))

    def describe(self):
        return f"status {self.status}: {self.text('err')[-800:]!r} {self.text('out')[-200:]!r}"


def recorded(t, series, name, nr=100):
    step = Step(series, name)
    t.must("recording ends with status 0 and its files are there", step.status == "0" and step.text("folded"),
        step.describe())
    t.expect("no sample is lost", "none lost" in step.text("out"), step.describe())
    t.must(f"more than {nr} samples were taken", step.folded.total > nr, step.describe())
    return step


def is_whole(stack):
    return not stack[0].startswith(("[broken]", "[truncated]", "[no unwind info", "[exit]"))


# The C library's own frames: Debian strips their names from the shared one.
LIBC = r"(\[(libc\.so\.6|frames-static)\+0x[0-9a-f]+\]|[^;]*qsort\w*|msort_with_tmp[^;]*|__libc_start_main\w*)"
MAIN = rf"(_start;)?(({LIBC}|\[program start\]|__libc_start_call_main);)+main"
START = rf"(start_thread|\[thread start\]|{MAIN});work"
CLOCK = r"(;(clock_gettime|__vdso_clock_gettime|\[\[?vdso\]?[^;]*))+"


def judge_frames(t, user, depth, need):
    """Stacks of the workload frames: whole, and such as there can be."""
    whole = user.only(is_whole)
    t.expect(f"at least {need:.0%} of stacks are whole", whole.total >= need * user.total,
        (whole.total, user.total, user.only(lambda s: not is_whole(s)).head()))
    # A signal may come before the comparison burns.
    deep = rf"(;down){{{depth + 1}}};aligned;variable;({LIBC};)+compare(;burn_shortly)?"
    handler = rf"(;(__restore_rt|{LIBC});handler(;burn_shortly)?)?"
    known = re.compile(rf"{START}{deep}{handler}")
    burning = whole.only(lambda s: "compare" in s and s[-1] == "burn_shortly")
    strange = burning.only(lambda s: not known.fullmatch(";".join(s)))
    t.expect("there is something to judge", burning.total > 50, whole.head())
    t.expect("each is the one that there is", not strange.total, [";".join(s)[:90] + " ... " + ";".join(s)[-200:]
        for s, _ in strange.stacks[:3]])
    t.expect("none is deeper than the program", max(s.count("down") for s, _ in user.stacks) == depth + 1)
    clock = re.compile(rf"({START}|{MAIN}(;end_after)?){CLOCK}")  # main asks once, when to end
    read = whole.only(lambda s: "__vdso_clock_gettime" in s and "handler" not in s)
    strange = read.only(lambda s: not clock.match(";".join(s)))
    t.expect("those in the kernel's vDSO are whole too", not strange.total, [";".join(s) for s, _ in strange.stacks[:3]])


def runs(t, series):
    step = Step(series, "version")
    t.expect("a static stoke starts", step.status == "0" and "stoke" in step.text("out"), step.describe())
    release = step.files["release"].decode().strip()
    t.expect("the kernel is of that series", release.startswith(series + "."), release)
    t.expect("its type is static-pie", "static-pie linked" in run("file", static_stoke()) if shutil.which("file")
        else not re.search("INTERP", run("readelf", "-l", static_stoke())))
    size = static_stoke().stat().st_size
    t.expect("it is under 8 MB", size < LIMIT_BYTES, size)
    log = step.files["dmesg"].decode(errors="replace")
    t.expect("the kernel does not complain", not re.search(r"BUG:|WARNING: CPU|Oops|Call Trace", log), log[-2000:])


def command(t, series):
    user = recorded(t, series, "command").folded.user()
    judge_frames(t, user, 40, 0.98)


def attach(t, series):
    user = recorded(t, series, "attach").folded.user()
    judge_frames(t, user, 900, 0.98)
    handled = user.only(lambda s: "handler" in s)
    t.expect("handlers stand on what they interrupted", handled.total and handled.share_of(
        lambda s: "work" in s) > 0.95, handled.head())


def throws(t, series):
    user = recorded(t, series, "throws").folded.user()
    whole = user.only(is_whole)
    t.expect("stacks are whole while exceptions fly", whole.total > 100, user.head())
    deep = whole.only(lambda s: any(f.startswith("deep(int)") for f in s))
    known = re.compile(r"(_start;)?([^;]*libc_start[^;]*;)+main;outer\(\)(;deep\(int\)( \[clone \.cold\])?)+(;|$)")
    strange = deep.only(lambda s: not known.match(";".join(s)))
    t.expect("each begins as the program does", deep.total > 50 and strange.total <= max(2, deep.total // 100),
        [";".join(s) for s, _ in strange.stacks[:4]] or whole.head())
    # The unwinder moves the stack pointer and then returns: between the two no unwind information is true.
    strays = max(2, deep.total // 100)
    deeper = deep.only(lambda s: sum(f.startswith("deep(int)") for f in s) > 21)
    t.expect("never deeper than the program", deeper.total <= strays, [";".join(s) for s, _ in deeper.stacks])
    t.expect("as deep as it", deep.only(lambda s: sum(f.startswith("deep(int)") for f in s) == 21).total > 0, deep.head())
    t.expect("the unwinder of C++ is seen", whole.share_of(lambda s: any("_Unwind_" in f for f in s)) > 0.1, whole.head())


def forks(t, series):
    step = recorded(t, series, "forks", 50)
    user = step.folded.user()
    children = user.only(lambda s: "child_work" in s)
    t.expect("children are followed", children.total > 30, user.head())
    whole = children.only(lambda s: "main" in s)
    t.expect("from their first sample", whole.total >= 0.95 * children.total, (whole.total, children.total, user.head()))
    t.expect("and called by main", not whole.only(lambda s: s.index("child_work") != s.index("main") + 1).total,
        whole.head())


def everything(t, series):
    stacks = recorded(t, series, "all").folded
    roots = {s[0] for s, _ in stacks.stacks}
    t.expect("processes are told apart by their names", {"frames", "stoke"} <= roots, roots)
    t.expect("the workload's stacks become whole", stacks.under("frames").user().sum_of(
        lambda s: is_whole(s) and "work" in s) >= 20, stacks.under("frames").user().head())
    kernel = [f for s, _ in stacks.stacks for f in s if f.endswith("_[k]")]
    t.expect("kernel code has names", len(kernel) > 50 and sum(
        f.startswith("[") for f in kernel) < 0.02 * len(kernel), kernel[:6])
    t.expect("the kernel's way in is at the root of it", any("entry_SYSCALL_64" in f for f in kernel), kernel[:6])


def namespace(t, series):
    user = recorded(t, series, "namespace", 50).folded.user()
    judge_frames(t, user, 20, 0.98)


def capture(t, series):
    step = recorded(t, series, "command")
    profile = Pprof(step.files["command.pb.gz"])
    ids = {profile.strings[m[6][-1]] for m in profile.mappings if m[6]}
    t.expect("the file's build id is kept", BUILD_ID in ids, ids)
    release = step.files["release"].decode().strip()
    t.expect("the kernel is named", any(release in c for c in profile.comments), profile.comments)
    t.expect("samples know their threads", any(labels.get("tid") for _, _, labels in profile.rows()))


def refusals(t, series):
    step = Step(series, "nobody")
    t.expect("a user without rights is told what would help, status 4", step.status == "4" and
        "sudo" in step.text("err"), step.describe())
    untyped = recorded(t, series, "untyped", 50)
    t.expect("a kernel without BTF is named as the cause of what is missing",
        "no BPF here (this kernel has no BTF)" in untyped.text("err"), untyped.describe())
    # One stack is copied: a handler on a stack of its own ends at what it interrupted.
    user = untyped.folded.user().only(lambda s: "handler" not in s)
    whole = user.only(is_whole)
    t.expect("stacks are whole all the same", user.total > 20 and whole.total >= 0.95 * user.total, (whole.total, user.head()))
    t.expect("and as deep as the program", user.share_of(lambda s: s.count("down") == 21) > 0.8 and
        max(s.count("down") for s, _ in user.stacks) == 21, user.head())


PROMISES = {
    "static stoke runs": runs,
    "a command without frame pointers, static-pie": command,
    "attached, 900 deep, through shared libraries": attach,
    "C++ exceptions in flight": throws,
    "children": forks,
    "the whole machine": everything,
    "inside a PID namespace": namespace,
    "what a capture knows": capture,
    "without rights, without BTF": refusals,
}


def register(series, name, function):
    @case(f"{series} {name}")
    def promise(t):
        function(t, series)


for each in SERIES:
    for title, judge in PROMISES.items():
        register(each, title, judge)

if __name__ == "__main__":
    sys.argv[1:] = [argument + " " for argument in sys.argv[1:]]
    sys.exit(main())
