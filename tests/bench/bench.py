#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""bench.py [SECTION]...: measures stoke beside its peers in one run and prints Markdown tables.

Run by hand, as root, on a quiet machine; nothing here is asserted. Sections: jvm, native, start,
tick, text, diff; all by default, and large, which is a diff of gigabytes that takes minutes and
24 GB of TMPDIR, only when it is asked for. A peer that is not here is left out and said. Where they
are:
	STOKE                 the program to measure (an optimised build)
	STOKE_WORKLOADS       tests/workload of the build;  STOKE_BENCH_TOOLS: tests/bench of it
	PEER_FLAMEGRAPH       folder of stackcollapse-perf.pl, difffolded.pl and flamegraph.pl
	PEER_PROFILE          libbpf-tools' profile
	PEER_INFERNO          folder of inferno-flamegraph
	GEN_FOLDED            gen_folded.py, which makes the stacks of diff and large
	perf, bpftrace, java, javac, jcmd from PATH
All tools end by SIGINT, so that "after" is from the end of sampling to the finished file. CPU seconds
are those of every process of a tool's pipeline; the kernel's part of sampling is in the target's.
"""
import os
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
TOOLS = Path(os.environ.get("STOKE_BENCH_TOOLS", "build/tests/bench")).resolve()
FLAMEGRAPH = os.environ.get("PEER_FLAMEGRAPH")
PROFILE = os.environ.get("PEER_PROFILE") or shutil.which("profile")
INFERNO = os.environ.get("PEER_INFERNO")
GEN_FOLDED = Path(os.environ.get("GEN_FOLDED", HERE.parents[2] / "shared/tools/gen_folded.py"))
PATIENCE_S = 60  # a peer that needs longer after sampling is cut off, and that is the figure


class Cost:
    """Seconds of CPU and peak memory over processes."""

    def __init__(self):
        self.cpu_s, self.peak_bytes = 0.0, 0

    def add(self, process):
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_s += usage.ru_utime + usage.ru_stime
        self.peak_bytes = max(self.peak_bytes, usage.ru_maxrss * 1024)


class Tool:
    """One profiler: sampling, ended by SIGINT, then steps that make the picture."""

    def __init__(self, name, sample, steps=(), output="out.svg", stdout=None):
        self.name, self.sample, self.steps, self.output, self.stdout = name, sample, steps, output, stdout

    def run(self, folder, pid, hz, seconds):
        """Samples for seconds; gives what it cost."""
        fill = {"pid": str(pid), "hz": str(hz)}
        with open(folder / (self.stdout or "stdout"), "wb") as out, open(folder / "stderr", "wb") as err:
            process = subprocess.Popen([a.format(**fill) for a in self.sample], cwd=folder, stdout=out, stderr=err)
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
            ended = time.monotonic()
            cost, late = Cost(), False
            late = self.wait(process, cost, ended)
        if not late:
            self.draw(folder, cost)
        after = time.monotonic() - ended
        path = folder / self.output
        return {"tool": self.name, "after": after, "cpu": cost.cpu_s, "peak": cost.peak_bytes, "late": late,
            "bytes": path.stat().st_size if path.exists() else 0}

    @staticmethod
    def wait(process, cost, ended):
        while time.monotonic() - ended < PATIENCE_S:
            if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                cost.add(process)
                return False
            time.sleep(0.002)
        process.kill()
        cost.add(process)
        return True

    def draw(self, folder, cost):
        """The steps as one pipe into the output."""
        if not self.steps:
            return
        running, source = [], None
        with open(folder / self.output, "wb") as out, open(folder / "stderr", "ab") as err:
            for i, step in enumerate(self.steps):
                last = i == len(self.steps) - 1
                process = subprocess.Popen(step, cwd=folder, stdin=source or subprocess.DEVNULL,
                    stdout=out if last else subprocess.PIPE, stderr=err)
                if source:
                    source.close()
                source = process.stdout
                running.append(process)
            for process in running:
                cost.add(process)


def tools(all_of_them=True):
    """stoke, and each peer that is here."""
    found = [Tool("stoke", [STOKE, "record", "-q", "-p", "{pid}", "-d", "600", "-F", "{hz}", "-o", "out.svg"])]
    missing = []
    draw = [f"{FLAMEGRAPH}/flamegraph.pl"] if FLAMEGRAPH else None
    if shutil.which("perf") and draw:
        found.append(Tool("perf record -g, script, flamegraph.pl",
            ["perf", "record", "-q", "-F", "{hz}", "-g", "-e", "cpu-clock", "-p", "{pid}", "-o", "perf.data"],
            [["perf", "script", "-i", "perf.data"], [f"{FLAMEGRAPH}/stackcollapse-perf.pl"], draw]))
    else:
        missing.append("perf with FlameGraph's scripts")
    if PROFILE and draw:
        found.append(Tool("libbpf-tools profile -f (65536 stacks), flamegraph.pl",
            [PROFILE, "-f", "-p", "{pid}", "-F", "{hz}", "--stack-storage-size", "65536", "600"],
            [["cat", "folded"], draw], stdout="folded"))
    else:
        missing.append("libbpf-tools profile")
    if all_of_them and shutil.which("bpftrace") and draw:
        found.append(Tool("bpftrace, flamegraph.pl", ["bpftrace", "-e",
            "profile:hz:{hz} /pid == {pid}/ {{ @[ustack, comm] = count(); }}"],
            [["cat", "printed"], [f"{FLAMEGRAPH}/stackcollapse-bpftrace.pl"], draw], stdout="printed"))
    elif all_of_them:
        missing.append("bpftrace")
    for name in missing:
        print(f"Not measured: {name} is not here.")
    return found


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(str(c) for c in row) + " |")
    print(flush=True)


def median(values):
    return sorted(values)[len(values) // 2]


def pipelines(title, target, hz, seconds, rounds=3):
    """All tools in turn on one running target, rounds times; medians, and ratios to stoke."""
    print(f"## {title}, {hz} Hz, {seconds} s, medians of {rounds} rounds, load {os.getloadavg()[0]:.1f}\n")
    results = {}
    for _ in range(rounds):
        for tool in tools():
            if results.get(tool.name, [{"late": False}])[0]["late"]:
                continue  # once is enough
            with tempfile.TemporaryDirectory(prefix="stoke-bench-") as folder:
                result = tool.run(Path(folder), target.pid, hz, seconds)
                results.setdefault(tool.name, []).append(result)
    rows, own = [], {}
    for name, runs in results.items():
        one = {k: median([r[k] for r in runs]) for k in ("after", "cpu", "peak", "bytes")}
        own = own or one
        late = "> " if runs[0]["late"] else ""
        rows.append([name, f"{late}{one['after']:.2f}", f"{late}{one['after'] / own['after']:.1f}", f"{one['cpu']:.2f}",
            f"{one['cpu'] / own['cpu']:.1f}", one["peak"] >> 20, f"{one['bytes'] / 1e6:.2f}"])
    table(["tool", "end of sampling to file, s", "of stoke's", "CPU s", "of stoke's", "peak MiB", "SVG MB"], rows)


def jvm():
    """A JVM with some 5,000 compiled methods."""
    if not all(shutil.which(t) for t in ("java", "javac", "jcmd")):
        print("Not measured: no JDK here.")
        return
    with tempfile.TemporaryDirectory(prefix="stoke-bench-") as folder:
        subprocess.run([sys.executable, str(HERE / "methods.py"), folder], check=True)
        sources = sorted(str(p) for p in Path(folder).glob("*.java"))
        subprocess.run(["javac", "-d", folder, *sources], check=True)
        java = subprocess.Popen(["java", "-XX:+PreserveFramePointer", "-XX:TieredStopAtLevel=1",
            "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,C*::m*", "-cp", folder, "Methods", "3000", "2"],
            stdout=subprocess.PIPE)
        try:
            java.stdout.readline()
            time.sleep(2)
            subprocess.run(["jcmd", str(java.pid), "Compiler.perfmap"], check=True, stdout=subprocess.DEVNULL)
            text = Path(f"/tmp/perf-{java.pid}.map").read_text(encoding="utf-8")
            compiled = sum(1 for line in text.splitlines() if " int C" in line)
            pipelines(f"JVM, {compiled} methods of the program compiled", java, 999, 10)
        finally:
            java.kill()
            java.wait()
            Path(f"/tmp/perf-{java.pid}.map").unlink(missing_ok=True)


def native():
    for hz in (99, 999):
        target = subprocess.Popen([WORKLOADS / "manystacks", "3000"], stdout=subprocess.DEVNULL)
        try:
            pipelines("C program with a new stack in every other sample", target, hz, 10)
        finally:
            target.kill()
            target.wait()


def start():
    """Wall time of a recording of one second beyond that second: start-up and end."""
    target = subprocess.Popen([WORKLOADS / "spin", "3000"])
    commands = {"stoke": [STOKE, "record", "-q", "-p", str(target.pid), "-d", "1", "-F", "99", "-o", "x.folded"]}
    if PROFILE:
        for size in ("1024", "65536"):
            commands[f"libbpf-tools profile, {size} stacks"] = [PROFILE, "-f", "-p", str(target.pid), "-F", "99",
                "--stack-storage-size", size, "1"]
    if shutil.which("perf"):
        commands["perf record"] = ["perf", "record", "-q", "-F", "99", "-g", "-e", "cpu-clock", "-p", str(target.pid),
            "-o", "x.data", "--", "sleep", "1"]
    rows, own = [], None
    try:
        for name, command in commands.items():
            walls, cost = [], Cost()
            for _ in range(9):
                with tempfile.TemporaryDirectory(prefix="stoke-bench-") as folder:
                    at = time.monotonic()
                    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    cost.add(process)
                    walls.append(time.monotonic() - at - 1)
            own = own or (median(walls), min(walls))
            rows.append([name, f"{median(walls):.3f}", f"{median(walls) / own[0]:.2f}", f"{min(walls):.3f}",
                f"{min(walls) / own[1]:.2f}", f"{cost.cpu_s / 9:.3f}"])
    finally:
        target.kill()
        target.wait()
    print(f"## Start and end: wall of a 1 s recording less 1 s, 9 runs, load {os.getloadavg()[0]:.1f}\n")
    table(["tool", "median s", "of stoke's", "best s", "of stoke's best", "CPU s"], rows)


def tick_programs_of(pid):
    """(runs, ns) of the perf_event programs that a process holds: proc(5), fdinfo."""
    found = {}
    for info in Path(f"/proc/{pid}/fdinfo").iterdir():
        fields = dict(line.split(":", 1) for line in info.read_text().splitlines() if ":" in line)
        if fields.get("prog_type", "").strip() == "7":  # BPF_PROG_TYPE_PERF_EVENT
            found[fields["prog_id"]] = int(fields["run_cnt"]), int(fields["run_time_ns"])
    return sum(r for r, _ in found.values()), sum(n for _, n in found.values())


def both_at_once(pid, hz):
    """(runs, ns, samples) of stoke's program and of the one with two bpf_get_stackid(), on the same ticks."""
    with tempfile.TemporaryDirectory(prefix="stoke-bench-") as folder:
        other = subprocess.Popen([TOOLS / "stackid", str(pid), str(hz), "9"], stdout=subprocess.PIPE, text=True)
        other.stdout.readline()
        stoke = subprocess.Popen([STOKE, "record", "-q", "-p", str(pid), "-d", "600", "-F", str(hz), "-o", "x.folded"],
            cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(8)
        runs, ns = tick_programs_of(stoke.pid)
        stoke.send_signal(signal.SIGINT)  # at once, so that all its samples are among those runs
        stoke.wait()
        said = dict(line.split() for line in other.communicate()[0].splitlines())
        folded = (Path(folder) / "x.folded").read_text(encoding="utf-8").splitlines()
    samples = sum(int(line.rsplit(" ", 1)[1]) for line in folded)
    return (runs, ns, samples), tuple(int(said[k]) for k in ("runs", "ns", "samples"))


def tick():
    """BPF time a sample: a tick that samples less what a tick costs that finds another process."""
    rows = []
    for depth in (16, 100):
        target = subprocess.Popen([WORKLOADS / "deep", "3000", str(depth)], preexec_fn=lambda: os.nice(-10))
        idle = subprocess.Popen(["sleep", "3000"])
        try:
            filtered = [ns / max(runs, 1) for runs, ns, _ in both_at_once(idle.pid, 999)]
            for hz in (999, 2999):
                pair = both_at_once(target.pid, hz)
                cost = [(ns - (runs - samples) * f) / max(samples, 1) for (runs, ns, samples), f in zip(pair, filtered)]
                rows.append([depth + 4, hz, pair[0][2], f"{filtered[0]:.0f}", f"{cost[0]:.0f}", pair[1][2],
                    f"{filtered[1]:.0f}", f"{cost[1]:.0f}", f"{cost[0] / cost[1]:.2f}"])
        finally:
            for process in (target, idle):
                process.kill()
                process.wait()
    print("## BPF time a sample, both programs on the same ticks\n")
    table(["user frames", "Hz", "stoke: samples", "ns if filtered out", "ns a sample", "two stackids: samples",
        "ns if filtered out", "ns a sample", "ratio"], rows)


def write_folded(path, size):
    """Sorted folded text of about this size, 60 frames deep, names of 40 bytes."""
    name = "org/example/package/of/some/length/Type_{:03}::method_{:02}"
    with open(path, "w", encoding="ascii") as out:
        i = written = 0
        while written < size:
            digits = [(i >> 2 * k) & 3 for k in range(9, -1, -1)]
            stack = ["main"] + [name.format(d * 7 + k, d) for d in digits for k in range(5)] + [f"leaf_{i:07}"]
            line = ";".join(stack) + f" {1 + i % 7}\n"
            written += len(line)
            out.write(line)
            i += 1
    return i


def text():
    """Folded text to a picture, sorted input."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="stoke-bench-") as folder:
        path = Path(folder) / "in.folded"
        lines = write_folded(path, 1 << 28)
        size = path.stat().st_size
        commands = {"stoke": [STOKE, "flamegraph", str(path), "-o", "out.svg"]}
        if INFERNO:
            commands["inferno-flamegraph"] = [f"{INFERNO}/inferno-flamegraph", str(path)]
        if FLAMEGRAPH:
            commands["flamegraph.pl"] = [f"{FLAMEGRAPH}/flamegraph.pl", str(path)]
        with open(path, "rb") as warm:
            while warm.read(1 << 24):
                pass
        for name, command in commands.items():
            cost = Cost()
            with open(Path(folder) / "drawn.svg", "wb") as out:
                at = time.monotonic()
                cost.add(subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.DEVNULL))
                wall = time.monotonic() - at
            rows.append([name, f"{wall:.2f}", f"{cost.cpu_s:.2f}", f"{size / cost.cpu_s / 1e9:.3f}", cost.peak_bytes >> 20])
    print(f"## Folded text to SVG: {size / 1e9:.2f} GB, {lines} sorted stacks of 52 frames, one run\n")
    table(["tool", "wall s", "CPU s", "GB a CPU second", "peak MiB"], rows)


def sides(folder, stacks, depth, shuffle=False):
    """Folded text of two sides of one program. Read once, so that no tool waits for the disk."""
    paths = []
    for name, variant in (("before", "0"), ("after", "7")):
        path = Path(folder) / f"{name}{'-shuffled' if shuffle else ''}.folded"
        with open(path, "wb") as out:
            subprocess.run([sys.executable, str(GEN_FOLDED), "--stacks", str(stacks), "--depth", str(depth), "--seed", "1",
                "--variant", variant] + (["--shuffle"] if shuffle else []), stdout=out, check=True)
        with open(path, "rb") as warm:
            while warm.read(1 << 24):
                pass
        paths.append(str(path))
    return paths


def pipe(folder, steps):
    """Runs steps as one pipe; gives what they cost and the wall seconds."""
    cost, at = Cost(), time.monotonic()
    Tool("", [], steps).draw(Path(folder), cost)
    return cost, time.monotonic() - at


def differences(title, stacks, depth, orders, peers, rounds):
    """Both sides to one picture: medians over rounds, beside the peers and the first row."""
    if not GEN_FOLDED.exists():
        print(f"Not measured: {GEN_FOLDED} is not here.")
        return
    rows, own = [], None
    with tempfile.TemporaryDirectory(prefix="stoke-bench-") as folder:
        commands = {}
        for order in orders:
            paths = sides(folder, stacks, depth, order == "shuffled")
            commands[f"stoke diff, {order}"] = [[STOKE, "diff", *paths, "-o", str(Path(folder) / "stoke.svg")]]
        size = sum(Path(p).stat().st_size for p in paths)
        if peers and FLAMEGRAPH:
            commands["difffolded.pl, flamegraph.pl"] = [[f"{FLAMEGRAPH}/difffolded.pl", *paths],
                [f"{FLAMEGRAPH}/flamegraph.pl"]]
        elif peers:
            print("Not measured: FlameGraph's scripts are not here.")
        for name, steps in commands.items():
            runs = [pipe(folder, steps) for _ in range(rounds)]
            cpu, wall = median([c.cpu_s for c, _ in runs]), median([w for _, w in runs])
            own = own or cpu
            rows.append([name, f"{wall:.2f}", f"{cpu:.2f}", f"{cpu / own:.1f}", max(c.peak_bytes for c, _ in runs) >> 20])
    print(f"## {title}: twice {stacks} stacks of depth {depth}, {size / 1e6:.0f} MB, medians of {rounds}, "
        f"load {os.getloadavg()[0]:.1f}\n")
    table(["tool", "wall s", "CPU s", "of the first", "peak MiB"], rows)


def diff():
    differences("Difference of folded text", 50000, 40, ["sorted"], True, 3)


def large():
    differences("Difference of large folded text", 1000000, 60, ["sorted", "shuffled"], False, 1)


SECTIONS = {"start": start, "tick": tick, "jvm": jvm, "native": native, "text": text, "diff": diff, "large": large}


def main():
    if os.geteuid():
        print("bench.py: must be root", file=sys.stderr)
        return 2
    print(f"# stoke beside its peers\n\nLinux {os.uname().release}, {os.cpu_count()} CPUs\n")
    for name in sys.argv[1:] or [s for s in SECTIONS if s != "large"]:
        SECTIONS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
