#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""unwinding.py [SECTION]...: how stacks without frame pointers come out, and what that costs.

Run by hand, as root, on a quiet machine; nothing here is asserted. Sections: peers, slowdown, tables, cold, large; all
by default. large builds a program of 214 MB (MADE=400000 functions). peers and slowdown take further words (nginx, java, ...): only programs whose titles begin so.
	STOKE                 the program to measure (an optimised build)
	STOKE_WORKLOADS       tests/workload of the build;  STOKE_ROWS: tests/unwind/rows of it
	PEER_PROFILE          libbpf-tools' profile; perf and bpftrace from PATH
A stack is whole when one of its outermost user frames is by its name where programs or threads begin; with
libc6-dbg every tool can name those.
"""
import contextlib
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
LIFE = 900  # longer than all tools take: one that has ended gives its last ones nothing
STARTS = re.compile(r"_start$|__libc_start_(main|call_main)|start_thread$|_*clone3?$|\[(thread|program) start\]")
WORK = HERE.parent / "workload"
FILES = ["/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/python3", "/usr/bin/node", "/usr/lib/chromium/chromium",
    "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so",
    "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"]


def programs():
    yield "C, 30 deep, signals, qsort", [WORKLOADS / "frames", LIFE, 30]
    yield "C, 900 deep", [WORKLOADS / "frames", LIFE, 900]
    yield "python3", ["/usr/bin/python3", WORK / "work.py", LIFE]
    for name, command in (("node", ["node", WORK / "work.js", LIFE]),
            ("openssl speed", ["openssl", "speed", "-seconds", LIFE, "sha256"]), ("xz -9", ["xz", "-9", "-c", "/dev/zero"])):
        if shutil.which(command[0]):
            yield name, command


class Who:
    """A process, or threads of one, in the words of each tool."""

    def __init__(self, pid, tids=()):
        several = ",".join(map(str, tids))
        self.words = {
            "pid": f"-t {several}" if tids else f"-p {pid}",
            "profile": f"-L {several}" if tids else f"-p {pid}",
            "filter": " || ".join(f"tid == {t}" for t in tids) or f"pid == {pid}",
        }


@contextlib.contextmanager
def running(*command, **more):
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, **more)
    try:
        yield process.pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def children(pid):
    return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@contextlib.contextmanager
def one_program(command):
    with running(*command) as pid:
        time.sleep(1.5)
        yield Who(pid)


@contextlib.contextmanager
def nginx_server(folder, port=18080):
    Path(folder, "page.txt").write_text("".join(f"line {i * i}\n" for i in range(4000)))
    Path(folder, "conf").write_text(f"""daemon off; worker_processes 1; user root; pid {folder}/pid; error_log {folder}/log;
        events {{ worker_connections 64; }}
        http {{ access_log off; gzip on; gzip_types text/plain; default_type text/plain;
            server {{ listen 127.0.0.1:{port}; root {folder}; }} }}""")
    with running("nginx", "-c", f"{folder}/conf") as master:
        time.sleep(1)
        yield children(master)[0], ["ab", "-q", "-c", "2", "-H", "Accept-Encoding: gzip", f"http://127.0.0.1:{port}/page.txt"]


@contextlib.contextmanager
def nginx():
    with tempfile.TemporaryDirectory() as folder, nginx_server(folder) as (worker, load):
        with running(*load[:1], "-t", LIFE, "-n", "10000000", *load[1:]):
            time.sleep(1)
            yield Who(worker)


@contextlib.contextmanager
def postgres():
    binaries = max(Path("/usr/lib/postgresql").glob("*/bin"))
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    with tempfile.TemporaryDirectory() as folder:
        shutil.chown(folder, "postgres")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/", "check": True}
        subprocess.run([*user, f"{binaries}/initdb", "-D", f"{folder}/data", "--no-sync"], **quiet)
        with running(*user, f"{binaries}/postgres", "-D", f"{folder}/data", "-k", folder, "-p", "15432", "-h", "",
                cwd="/") as master:
            time.sleep(3)
            there = ["-h", folder, "-p", "15432", "-U", "postgres"]
            subprocess.run(["pgbench", *there, "-i", "-q", "-s", "1", "postgres"], **quiet)
            with running("pgbench", *there, "-c", "2", "-T", LIFE, "-S", "postgres"):
                time.sleep(2)
                yield Who(next(c for c in children(master) if b"local" in Path(f"/proc/{c}/cmdline").read_bytes()))


@contextlib.contextmanager
def java():
    """The threads of the VM itself: garbage collector and compilers."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["javac", "-d", folder, HERE / "Native.java"], check=True)
        with running("java", "-XX:+UseParallelGC", "-XX:ParallelGCThreads=2", "-Xmx96m", "-cp", folder, "Native", LIFE) as pid:
            time.sleep(4)
            names = {int(t.name): (t / "comm").read_text() for t in Path(f"/proc/{pid}/task").iterdir()}
            yield Who(pid, [t for t, name in names.items() if re.match(r"GC Thread|C[12] Comp|VM Thread", name)])


def targets():
    for title, command in programs():
        yield title, lambda command=command: one_program(command)
    for title, start, need in (("nginx, gzip, 2 clients", nginx, "nginx"), ("postgres, pgbench -S -c 2, a backend", postgres,
            "pgbench"), ("java 17: GC and compiler threads", java, "javac")):
        if shutil.which(need):
            yield title, start


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
    yield "stoke", [STOKE, "record", "{pid}", "-F", HZ, "-d", SECONDS, "-o", "out.folded", "-o", "out.pb.gz",
        "-q"], None, "out.folded", "out.pb.gz", of_folded
    if PROFILE:
        yield "libbpf-tools profile", [PROFILE, "-F", HZ, "-f", "{profile}", SECONDS], None, "stdout", "stdout", of_folded
    if shutil.which("bpftrace"):
        yield "bpftrace", ["bpftrace", "-e", f"profile:hz:{HZ} /{{filter}}/ {{{{ @[ustack] = count(); }}}} "
            f"interval:s:{SECONDS} {{{{ exit(); }}}}"], None, "stdout", "stdout", of_bpftrace
    for kind in ("fp", "dwarf") if shutil.which("perf") else ():
        yield f"perf {kind}", ["perf", "record", "-F", HZ, "--call-graph", kind, "{pid}", "-o", "perf.data", "--",
            "sleep", SECONDS], ["perf", "script", "-i", "perf.data", "--max-stack", "1024", "--no-inline", "-F",
            "comm,ip,sym,dso"], \
            "script", "perf.data", of_script


def filled(command, who):
    for word in command:
        text = str(word).format(**who.words) if "{" in str(word) else str(word)
        yield from text.split() if str(word) in ("{pid}", "{profile}") else [text]


def one(tool, who):
    name, command, then, output, recorded, read = tool
    with tempfile.TemporaryDirectory() as folder:
        before = os.times()
        with open(f"{folder}/stdout", "wb") as out:
            try:
                ended = subprocess.run(list(filled(command, who)), cwd=folder, stdout=out, stderr=subprocess.PIPE, timeout=90)
            except subprocess.TimeoutExpired:
                return [name, "cut off after 90 s", "-", "-", "-", "-"]
        if not Path(folder, recorded).exists() or not Path(folder, recorded).stat().st_size:
            return [name, f"failed: {(ended.stderr or b'').decode(errors='replace').strip()[-100:]}", "-", "-", "-", "-"]
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
    wanted = [a for a in sys.argv[1:] if a not in SECTIONS]
    for title, start in targets():
        if wanted and not title.startswith(tuple(wanted)):
            continue
        with start() as who:
            print(f"**{title}**, {HZ} Hz, {SECONDS} s, load {os.getloadavg()[0]:.1f}\n")
            table(["tool", "user stacks", "whole", "frames a stack", "CPU s", "bytes recorded"],
                [one(tool, who) for tool in tools()])


def cpu_of(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def python_job(_):
    """CPU seconds of a fixed piece of work, once a profiler has had time to come."""
    work = ("import time, json, os\nprint(flush=True)\ninput()\nbegun = time.process_time()\n"
        "for i in range(600): json.loads(json.dumps([{'k': j, 'v': str(j)} for j in range(3000)]))\n"
        "print(time.process_time() - begun, flush=True)\ninput()")
    process = subprocess.Popen(["/usr/bin/python3", "-c", work], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()

    def job():
        process.stdin.write("\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    return process.pid, job, process.kill


def nginx_job(server):
    worker, load = server

    def job():
        before = cpu_of(worker)
        subprocess.run([*load[:1], "-n", "12000", *load[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        return cpu_of(worker) - before

    return worker, job, lambda: None


def slowdown(rounds=3, hz=999):
    """CPU seconds of a fixed job while each tool samples it, against those without one, in turn."""
    wanted = [a for a in sys.argv[1:] if a not in SECTIONS]
    with tempfile.TemporaryDirectory() as folder, nginx_server(folder) as server:
        for title, make in (("python3, json", python_job), ("nginx, 12,000 pages", nginx_job)):
            took = {}
            if wanted and not title.startswith(tuple(wanted)):
                continue
            for _ in range(rounds):
                for name, command, *_ in [("no profiler", None), *tools()]:
                    pid, job, end = make(server)
                    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
                        if command:
                            words = [w.replace(f"hz:{HZ} ", f"hz:{hz} ").replace(f"interval:s:{SECONDS}", "interval:s:60")
                                for w in filled(command, Who(pid))]
                            words = [str(hz) if w == str(HZ) else "60" if w == str(SECONDS) else w for w in words]
                            stack.enter_context(running(*words, cwd=place))
                            time.sleep(4 if name == "bpftrace" else 2)
                        took.setdefault(name, []).append(job())
                    end()
            print(f"**{title}**: CPU seconds of the job at {hz} Hz, {rounds} rounds in turn, load {os.getloadavg()[0]:.1f}\n")
            none = took["no profiler"]
            table(["tool", "median s", "of those without", "best s", "of the best without"],
                [[name, f"{sorted(t)[rounds // 2]:.3f}", f"{sorted(t)[rounds // 2] / sorted(none)[rounds // 2]:.3f}",
                    f"{min(t):.3f}", f"{min(t) / min(none):.3f}"] for name, t in took.items()])


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


MADE = """	.text
	.rept %d
	.cfi_startproc
	pushq %%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	subq $24, %%rsp
	.cfi_def_cfa_offset 40
	.skip 480, 0x90
	addq $24, %%rsp
	.cfi_def_cfa_offset 16
	popq %%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.endr
	.section .note.GNU-stack,"",@progbits
"""
MAIN = """#include "work.h"
HOT static void down(int left, uint64_t end)
{
	if (left)
		down(left - 1, end);
	else
		burn_until(end);
	__asm__ volatile("");
}
int main(void)
{
	down(20, end_after(60));
	return 0;
}
"""


def forget(path):
    """Takes a file's pages out of the cache."""
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def large():
    """A made program of 200 MB, cold, beside another: is every sample whole from the first second on?"""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "made.s").write_text(MADE % int(os.environ.get("MADE", "400000")), encoding="ascii")
        Path(folder, "main.c").write_text(MAIN, encoding="ascii")
        made = f"{folder}/made"
        subprocess.run(["gcc", "-O2", "-fomit-frame-pointer", "-D_GNU_SOURCE", f"-I{WORK}", "-o", made, f"{folder}/main.c",
            f"{folder}/made.s"], check=True)
        print(subprocess.run([ROWS, made], capture_output=True, text=True).stdout.strip())
        os.sync()
        both = [subprocess.Popen([str(a) for a in command], stdout=subprocess.DEVNULL) for command in
            ([made], [WORKLOADS / "frames", 60, 30])]
        try:
            time.sleep(1)
            forget(made)
            subprocess.run([STOKE, "record", "-q", "-F", "999", "-d", "1", "-p", ",".join(str(p.pid) for p in both), "-o",
                "out.folded"], cwd=folder, stderr=subprocess.DEVNULL, check=True)
        finally:
            for process in both:
                process.kill()
                process.wait()
        stacks = list(of_folded(Path(folder, "out.folded").read_text(errors="replace")))
        broken = sum(n for f, n in stacks if any(x.startswith(("[broken", "[no unwind")) for x in f[:3]))
        total = sum(n for _, n in stacks)
        print(f"**Cold program of {os.stat(made).st_size / 1e6:.0f} MB beside another**: {total - broken} of {total} "
            "samples of its first second are whole\n")


SECTIONS = {"tables": tables, "cold": cold, "large": large, "peers": peers, "slowdown": slowdown}

if __name__ == "__main__":
    for name in [a for a in sys.argv[1:] if a in SECTIONS] or SECTIONS:
        SECTIONS[name]()
