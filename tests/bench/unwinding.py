#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""unwinding.py [SECTION]...: how stacks without frame pointers come out, and what that costs.

Run by hand, as root, on a quiet machine; nothing here is asserted. Sections: peers, tables, cold; all by default.
	STOKE                 the program to measure (an optimised build)
	STOKE_WORKLOADS       tests/workload of the build;  STOKE_ROWS: tests/unwind/rows of it
	PEER_PROFILE          libbpf-tools' profile; perf and bpftrace from PATH
A stack is whole when one of its outermost user frames is by its name where programs or threads begin; with
libc6-dbg every tool can name those.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
STOKE = os.path.abspath(os.environ.get("STOKE", "build/cmd/stoke"))
WORKLOADS = Path(os.environ.get("STOKE_WORKLOADS", "build/tests/workload")).resolve()
ROWS = os.path.abspath(os.environ.get("STOKE_ROWS", "build/tests/unwind/rows"))
PROFILE = os.environ.get("PEER_PROFILE") or shutil.which("profile")
HZ, SECONDS = 499, 4
STARTS = re.compile(r"_start$|__libc_start_(main|call_main)|start_thread$|_*clone3?$|\[(thread|program) start\]")
WORK = HERE.parent / "workload"
FILES = ["/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/python3", "/usr/bin/node", "/usr/lib/chromium/chromium",
    "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so",
    "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"]


def targets():
    yield "C, 30 deep, signals, qsort", [WORKLOADS / "frames", 60, 30]
    yield "C, 900 deep", [WORKLOADS / "frames", 60, 900]
    yield "python3", ["/usr/bin/python3", WORK / "work.py", 60]
    for name, command in (("node", ["node", WORK / "work.js", 60]),
            ("openssl speed", ["openssl", "speed", "-seconds", 60, "sha256"]), ("xz -9", ["xz", "-9", "-c", "/dev/zero"])):
        if shutil.which(command[0]):
            yield name, command


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print(flush=True)


def of_folded(text):
    """(user frames outermost first, count) a line."""
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        if not line.startswith("#") and count.isdigit():
            yield [f for f in stack.split(";") if not f.endswith("_[k]") and f != "-"], int(count)


def of_script(text):
    for block in text.split("\n\n"):
        frames = [line.split(None, 1)[1].rsplit(" (", 1) for line in block.splitlines()[1:] if " (" in line]
        yield [name for name, place in reversed(frames) if "kernel" not in place and "vmlinux" not in place], 1


def of_bpftrace(text):
    for stack, count in re.findall(r"@\[(.*?)\]: (\d+)", text, re.S):
        yield [line.strip().split("+")[0] for line in reversed(stack.splitlines()) if line.strip()], int(count)


def tools():
    yield "stoke", [STOKE, "record", "-p", "{pid}", "-F", HZ, "-d", SECONDS, "-o", "out.folded", "-o", "out.pb.gz",
        "-q"], None, "out.folded", "out.pb.gz", of_folded
    if PROFILE:
        yield "libbpf-tools profile", [PROFILE, "-F", HZ, "-f", "-p", "{pid}", SECONDS], None, "stdout", "stdout", of_folded
    if shutil.which("bpftrace"):
        yield "bpftrace", ["bpftrace", "-e", f"profile:hz:{HZ} /pid == {{pid}}/ {{{{ @[ustack] = count(); }}}} "
            f"interval:s:{SECONDS} {{{{ exit(); }}}}"], None, "stdout", "stdout", of_bpftrace
    for kind in ("fp", "dwarf") if shutil.which("perf") else ():
        yield f"perf {kind}", ["perf", "record", "-F", HZ, "--call-graph", kind, "-p", "{pid}", "-o", "perf.data", "--",
            "sleep", SECONDS], ["perf", "script", "-i", "perf.data", "--max-stack", "1024", "-F", "comm,ip,sym,dso"], \
            "script", "perf.data", of_script


def one(tool, pid):
    name, command, then, output, recorded, read = tool
    with tempfile.TemporaryDirectory() as folder:
        before = os.times()
        with open(f"{folder}/stdout", "wb") as out:
            subprocess.run([str(a).format(pid=pid) for a in command], cwd=folder, stdout=out,
                stderr=subprocess.DEVNULL, timeout=90)
        if then:
            with open(f"{folder}/script", "wb") as out:
                try:
                    subprocess.run(then, cwd=folder, stdout=out, stderr=subprocess.DEVNULL, timeout=60)
                except subprocess.TimeoutExpired:
                    name += " (script cut off after 60 s)"
        after = os.times()
        stacks = [(f, n) for f, n in read(Path(folder, output).read_text(errors="replace")) if f]
        total = sum(n for _, n in stacks)
        # The process or thread may stand in front.
        good = sum(n for f, n in stacks if any(STARTS.search(name.split("+")[0]) for name in f[:3]))
        frames = sum(len(f) * n for f, n in stacks)
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        return [name, total, f"{100 * good / max(total, 1):.1f} %", f"{frames / max(total, 1):.1f}", f"{cpu:.2f}",
            Path(folder, recorded).stat().st_size]


def peers():
    for title, command in targets():
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            time.sleep(1.5)
            print(f"**{title}**, {HZ} Hz, {SECONDS} s\n")
            table(["tool", "user stacks", "whole", "frames a stack", "CPU s", "bytes recorded"],
                [one(tool, process.pid) for tool in tools()])
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()


def tables():
    print("**Tables** (one core, the best of three, from the file to its table)\n")
    rows = []
    for path in filter(os.path.exists, FILES):
        said = subprocess.run([ROWS, path], capture_output=True, text=True).stdout
        found = re.search(r"([\d.]+) KB +(\d+) functions +(\d+) raw +(\d+) rows +([\d.]+) KB +([\d.]+) ms +([\d.]+) M/s", said)
        if found:
            rows.append([os.path.basename(path), *found.groups()])
    table(["file", ".eh_frame KiB", "functions", "rows", "kept", "KiB of table", "ms", "million rows/s"], rows)


def cold():
    """A large program that nobody has unwound yet: is its first sample whole?"""
    program = next((p for p in ("/usr/lib/chromium/chromium", shutil.which("node")) if p and os.path.exists(p)), None)
    if not program:
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "--version"] if "node" not in program else [program, "-e", "1"]
        begun = time.monotonic()
        subprocess.run([STOKE, "record", "-F", "2999", "-o", "out.folded", "-q", "--", *command], cwd=folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        took = time.monotonic() - begun
        stacks = [(f, n) for f, n in of_folded(Path(folder, "out.folded").read_text(errors="replace")) if f]
        total = sum(n for _, n in stacks)
        broken = sum(n for f, n in stacks if f[0].startswith(("[broken", "[no unwind")))
        size = os.stat(program).st_size
        print(f"**Cold start** of {os.path.basename(program)} ({size / 1e6:.0f} MB), from its first instruction on: "
            f"{total - broken} of {total} stacks whole, file written {took:.2f} s after stoke was started\n")


SECTIONS = {"tables": tables, "cold": cold, "peers": peers}

if __name__ == "__main__":
    for name in sys.argv[1:] or SECTIONS:
        SECTIONS[name]()
