#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""storm.py [NUMBER [SECONDS]]: NUMBER processes (20,000) in SECONDS (20), recorded from all CPUs at 999 Hz.

Run by hand, as root, on a quiet machine; nothing here is asserted but printed: what became of the samples, whose
stacks are known, and what it cost, for stoke, perf record -g, and bpftrace in turn.
	STOKE, STOKE_WORKLOADS    as in bench.py
	MOTES                     programs to start (tests/workload: mote_NAME), "ash birch cedar dogwood" by default
	URGENT=1                  everything as real-time tasks: for a machine that others use
"""
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cases"))
import readers  # noqa: E402

STOKE = os.path.abspath(os.environ.get("STOKE", "build/cmd/stoke"))
WORKLOADS = Path(os.environ.get("STOKE_WORKLOADS", "build/tests/workload")).resolve()
MOTES = os.environ.get("MOTES", "ash birch cedar dogwood").split()
NUMBER = sys.argv[1] if len(sys.argv) > 1 else "20000"
SECONDS = sys.argv[2] if len(sys.argv) > 2 else "20"
GENERATOR = [str(WORKLOADS / "storm"), NUMBER, SECONDS, "log"] + [str(WORKLOADS / f"mote_{m}") for m in MOTES]
STARTS = re.compile(r"_start$|__libc_start_(main|call_main)|start_thread$|_*clone3?$|\[(thread|program) start\]")
HEX = re.compile(r"(0x)?[0-9a-f]{5,}$")


def urgent(priority, command):
    return ["chrt", "-r", str(priority), *command] if os.environ.get("URGENT") else command


def watch(pid, done, seen):
    """Memory of the tool itself, and what its BPF maps hold, twice a second."""
    while not done.wait(0.5):
        try:
            status = Path(f"/proc/{pid}/status").read_text()
            descriptors = len(os.listdir(f"/proc/{pid}/fd"))
        except OSError:
            return
        rss = re.search(r"VmRSS:\s+(\d+)", status)
        seen.append((int(rss[1]) if rss else 0, descriptors))


def entries(pid):
    """How many entries stoke's hash maps have: name -> number."""
    found = {}
    for info in Path(f"/proc/{pid}/fdinfo").iterdir():
        text = info.read_text()
        map_id = re.search(r"map_id:\s+(\d+)", text)
        if map_id and re.search(r"map_type:\s+1$", text, re.M):
            shown = subprocess.run(["bpftool", "-j", "map", "dump", "id", map_id[1]], capture_output=True,
                text=True).stdout
            name = json.loads(subprocess.run(["bpftool", "-j", "map", "show", "id", map_id[1]],
                capture_output=True, text=True).stdout or "{}").get("name")
            found[name] = len(json.loads(shown or "[]"))
    return found


def of_pprof(folder):
    pb = readers.Pprof.of_file(folder / "x.pb.gz")
    for stack, values, labels in pb.rows(lambda file: not file.startswith("[kernel")):
        yield labels.get("thread"), labels["pid"], list(stack), values[0]


def of_script(folder):
    for block in (folder / "script").read_text(errors="replace").split("\n\n"):
        lines = block.strip("\n").splitlines()
        head = re.match(r"\s*(.*?)\s+(\d+)\b", lines[0]) if lines else None
        if head:
            frames = [line.split(None, 1)[1].rsplit(" (", 1) for line in lines[1:] if " (" in line]
            yield head[1], int(head[2]), [n for n, place in frames if "kernel" not in place and "vmlinux" not in place], 1


def of_bpftrace(folder):
    for stack, comm, pid, count in re.findall(r"@\[(.*?), ([^,\]]*), (\d+)\]: (\d+)", (folder / "stdout").read_text(
            errors="replace"), re.S):
        yield comm, int(pid), [line.strip().split("+")[0] for line in stack.splitlines() if line.strip()], int(count)


def judge(samples, log):
    """Counts of samples: all, of motes, with a user part, whole, wrong; of frames: named."""
    ran = collections.defaultdict(set)
    for line in log.read_text().splitlines():
        pid, program = line.split()
        ran[int(pid)].add(program)
    count, examples = collections.Counter(), collections.Counter()
    for comm, pid, frames, n in samples:
        count["samples"] += n
        own = {m for f in frames for m in MOTES if f.startswith(m + "_")}
        if own - {comm[5:]} or (comm.startswith("mote_") and pid in ran and comm not in ran[pid]):
            count["wrong"] += n
            examples[comm, pid, tuple(frames)] += n
        if not comm.startswith("mote_"):
            continue
        count["motes"] += n
        user = [f for f in frames if not f.startswith("[exit]")]
        if not user:
            continue
        count["user"] += n
        count["frames"] += n * len(user)
        count["named"] += n * sum(1 for f in user if not HEX.match(f) and not f.startswith(("[unknown", "[mote", "[ld-")))
        mote = comm[5:]
        chain = [f"{mote}_inner", f"{mote}_middle", f"{mote}_outer", "main"]
        whole = any(STARTS.search(f) for f in user[-3:])
        count["whole"] += n * whole
        if user[0] == chain[0]:
            count["inner"] += n
            count["right"] += n * (user[:4] == chain and whole)
    return count, examples


def run(name, folder, command, steps, read):
    done, seen, held = threading.Event(), [], {}
    with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
        at = time.monotonic()
        tool = subprocess.Popen(urgent(2, command), cwd=folder, stdout=out, stderr=err)
        watcher = threading.Thread(target=watch, args=(tool.pid, done, seen))
        watcher.start()
        time.sleep(4 if name == "bpftrace" else 1.5)
        generator = subprocess.run(urgent(1, GENERATOR), cwd=folder, capture_output=True, text=True)
        if name == "stoke":
            time.sleep(2)  # its rounds are 100 ms, what it keeps of the dead a second
            held = entries(tool.pid)
        tool.send_signal(signal.SIGINT)
        _, status, usage = os.wait4(tool.pid, 0)
        cpu = usage.ru_utime + usage.ru_stime
        done.set()
        watcher.join()
    for step in steps:
        before = os.times()
        with open(folder / "script", "wb") as out:
            subprocess.run(step, cwd=folder, stdout=out, stderr=subprocess.DEVNULL, timeout=280)
        after = os.times()
        cpu += after.children_user + after.children_system - before.children_user - before.children_system
    count, examples = judge(read(folder), folder / "log")
    ms = int(re.search(r"ms (\d+)", generator.stdout)[1])
    print(f"{name}: {NUMBER} in {ms / 1000:.1f} s, load {os.getloadavg()[0]:.1f}, status {os.waitstatus_to_exitcode(status)}")
    if seen:
        quarter = max(1, len(seen) // 4)
        print("  resident KiB over time:", *[s[0] for s in seen[::quarter]], "descriptors:", *[s[1] for s in seen[::quarter]])
    for line in (folder / "stderr").read_text(errors="replace").splitlines() + (folder / "stdout").read_text(
            errors="replace").splitlines():
        if re.search(r"\blost\b|Lost|quality|dropped", line) and len(line) < 300:
            print("  said:", line.strip())
    if held:
        print("  entries of its hash maps:", held)
    for (comm, pid, frames), n in examples.most_common(3):
        print("  WRONG:", n, comm, pid, ";".join(frames))
    percent = lambda part, of: f"{100 * count[part] / max(count[of], 1):.1f} %"
    return [name, f"{int(NUMBER) * 1000 / ms:.0f}", count["samples"], count["motes"], count["user"], percent("whole", "user"),
        percent("named", "frames"), percent("right", "inner"), count["wrong"], f"{cpu:.2f}", usage.ru_maxrss >> 10]


def main():
    rows = []
    tools = [("stoke", [STOKE, "record", "-a", "-F", "999", "-d", "600", "-o", "x.pb.gz"], [], of_pprof)]
    if shutil.which("perf"):
        tools.append(("perf record -a -g", ["perf", "record", "-B", "-a", "-g", "-F", "999", "-o", "perf.data"],
            [["perf", "script", "-i", "perf.data", "-F", "comm,pid,ip,sym,dso"]], of_script))
    if shutil.which("bpftrace"):
        tools.append(("bpftrace", ["bpftrace", "-e", "profile:hz:999 { @[ustack, comm, pid] = count(); }"], [], of_bpftrace))
    only = os.environ.get("TOOLS")
    for name, command, steps, read in tools:
        if only and name.split()[0] not in only.split():
            continue
        with tempfile.TemporaryDirectory(prefix="stoke-storm-") as folder:
            rows.append(run(name, Path(folder), command, steps, read))
    head = ["tool", "processes a second", "samples", "of motes", "with user code", "whole", "frames named", "known stack right",
        "of another program", "CPU s", "peak MiB"]
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")


if __name__ == "__main__":
    main()
