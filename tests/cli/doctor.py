#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What stoke doctor says where something is really missing, and that record then says the same:
users, capabilities taken away, namespaces, seccomp filters."""
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

from driver import HERE, STOKE, WORKLOADS, Skip, case, enough, main, stoke
from targets import Program

WORK = HERE.parent / "workload"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
WORKS = "record, bench, report, flamegraph, convert, diff, check: yes"


def without(*capabilities):
    """uid 0 that lacks these, and what stands in for them."""
    names = ",".join("-" + c for c in (*capabilities, "sys_admin"))
    return ["setpriv", f"--bounding-set={names}", f"--inh-caps={names}"]


def filtered(code, calls):
    return [str(WORKLOADS.resolve() / "refuse"), str(code), calls]


def lines(ran, word):
    return [line[10:] for line in ran.out.splitlines() if line.split(None, 1)[0] == word]


def refused(t, prefix, said, cure, what):
    """doctor is in the way with that sentence, and record fails with it too."""
    ran = stoke(t.folder, "doctor", prefix=prefix)
    t.expect(f"{what}: doctor says {said!r}", ran.status == 1 and any(said in line for line in lines(ran, "no")),
        ran.describe())
    t.expect(f"{what}: the cure", cure in ran.out, ran.out)
    t.expect(f"{what}: the verdict", re.search(r"^verdict   record, bench: no \(\d cause", ran.out, re.M), ran.out)
    ran = stoke(t.folder, "record", "-a", "-d", "0.2", "-o", "x.folded", prefix=prefix)
    t.expect(f"{what}: record says it too, with status 4", ran.status == 4 and said in ran.err and
        ran.err.count("\n") == 1, ran.describe())


def goes_without_bpf(t, prefix, said, what):
    """doctor notes it with that sentence, and a recording goes on, saying so."""
    ran = stoke(t.folder, "doctor", prefix=prefix)
    t.expect(f"{what}: doctor notes {said!r}", ran.status == 0 and any(said in line for line in lines(ran, "note")),
        ran.describe())
    ran = stoke(t.folder, "record", "-a", "-d", "0.2", "-o", "x.folded", prefix=prefix)
    t.expect(f"{what}: record goes on, and says so", ran.status == 0 and "no BPF here" in ran.err, ran.describe())


@case("doctor finds nothing in the way of root", live=True)
def root(t):
    ran = stoke(t.folder, "doctor")
    t.expect("status 0, all works", ran.status == 0 and WORKS in ran.out and not ran.err, ran.describe())
    t.expect("nothing stands in the way", not lines(ran, "no") and len(lines(ran, "ok")) >= 3, ran.out)


@case("doctor tells a user of what is missing, once each cure", live=True, tools=["setpriv"])
def user(t):
    own = t.folder / "stoke"  # where the build lies nobody else may be let in
    shutil.copy(STOKE, own)
    ran = subprocess.run([*NOBODY, own, "doctor"], cwd=t.folder, capture_output=True, text=True, check=False)
    t.expect("status 1", ran.returncode == 1, ran.stderr)
    t.expect("the command to be given once stands there once", ran.stdout.count("sudo setcap cap_bpf,") == 1 and
        f"+ep {own}" in ran.stdout, ran.stdout)
    t.expect("each missing right is told", all(word in ran.stdout for word in ("CAP_SYS_PTRACE is missing",
        "CAP_CHECKPOINT_RESTORE is missing", "CAP_SYSLOG")), ran.stdout)
    ran = subprocess.run([*NOBODY, own, "record", "-a", "-d", "0.1"], cwd="/tmp", capture_output=True, text=True,
        check=False)
    t.expect("record says it with status 4", ran.returncode == 4 and "permission denied. Run with sudo" in
        ran.stderr, ran.stderr)


@case("doctor and record agree on an owner's process, and on somebody else's", live=True, tools=["setpriv"])
def owner(t):
    if int(Path("/proc/sys/kernel/perf_event_paranoid").read_text(encoding="ascii")) > 2:
        raise Skip("kernel.perf_event_paranoid allows nobody any event")
    own = t.folder / "stoke"
    shutil.copy(STOKE, own)
    shutil.copy(WORKLOADS / "spin", t.folder)
    os.chown(t.folder, 65534, 65534)
    with Program(t.folder / "spin", 60, prefix=NOBODY) as mine, Program("spin", 60) as roots:
        for pid, works in ((mine.pid, True), (roots.pid, False)):
            said = subprocess.run([*NOBODY, own, "doctor", "-p", str(pid)], cwd=t.folder, capture_output=True, text=True,
                check=False)
            ran = subprocess.run([*NOBODY, own, "record", "-p", str(pid), "-d", "0.3", "-o", "x.folded"], cwd=t.folder,
                capture_output=True, text=True, check=False)
            t.expect(f"doctor: {works}", said.returncode == (0 if works else 1) and
                ("it is recorded without BPF" in said.stdout) == works, said.stdout)
            t.expect(f"record: {works}", ran.returncode == (0 if works else 4), ran.stderr)


@case("doctor knows single capabilities", live=True, tools=["setpriv"])
def single(t):
    cure = "CapabilityBoundingSet="
    goes_without_bpf(t, without("bpf"), "uid 0 lacks CAP_BPF", "no CAP_BPF")
    refused(t, without("perfmon"), "uid 0 lacks CAP_PERFMON", cure, "no CAP_PERFMON")
    for capability in ("sys_ptrace", "checkpoint_restore"):
        ran = stoke(t.folder, "doctor", prefix=without(capability))
        t.expect(f"without {capability} it still records, and what is lost is said", ran.status == 0 and
            any(f"CAP_{capability.upper()} is missing" in line for line in lines(ran, "note")), ran.describe())
    ran = stoke(t.folder, "doctor", prefix=without("syslog"))
    t.expect("without syslog kernel names may be hidden, never in the way", ran.status == 0, ran.describe())


@case("doctor knows seccomp by what it refuses, and how", live=True, tools=["unshare"])
def seccomp(t):
    cure = "outside of the service that set this filter"
    for code in (1, 38):
        refused(t, filtered(code, "perf_event_open"), "seccomp refuses perf_event_open", cure, f"errno {code}")
        goes_without_bpf(t, filtered(code, "bpf"), "seccomp refuses bpf", f"errno {code}")
    refused(t, [*filtered(1, "perf_event_open,bpf"), "unshare", "--fork", "--pid", "--mount-proc"],
        "seccomp refuses perf_event_open and bpf", "Docker: --cap-add PERFMON", "in a container")
    with Program("spin", 60) as spin:
        ran = stoke(t.folder, "doctor", spin.pid, prefix=filtered(38, "process_vm_readv"))
    t.expect("memory behind a filter is no obstacle, but told", ran.status == 0 and
        "a seccomp filter hides process_vm_readv" in ran.out, ran.describe())


@case("doctor says where it is: a PID namespace, a user namespace", live=True, tools=["unshare", "setpriv"])
def namespaces(t):
    ran = stoke(t.folder, "doctor", "-p", 1, prefix=["unshare", "--fork", "--pid", "--mount-proc"])
    t.expect("a container, its PID 1 is stoke itself", ran.status == 0 and
        ran.out.startswith("here      container with its own PID namespace, uid 0") and
        re.search(r"^target    1 stoke, ", ran.out, re.M), ran.describe())
    own = t.folder / "stoke"
    shutil.copy(STOKE, own)
    made = subprocess.run([*NOBODY, "unshare", "-Ur", "true"], capture_output=True, check=False)
    if made.returncode == 0:
        ran = subprocess.run([*NOBODY, "unshare", "-Ur", own, "doctor"], cwd=t.folder, capture_output=True, text=True,
            check=False)
        t.expect("capabilities of a user namespace count for nothing", ran.returncode == 1 and
            "of a user namespace (a rootless container) do not count here" in ran.stdout, ran.stdout)
    with Program("spin", 60, prefix=["unshare", "--fork", "--pid", "--mount-proc"]) as outer:
        spin = child_of(outer.pid)
        ran = stoke(t.folder, "doctor", "-p", spin)
    t.expect("a target one namespace deeper has its number there told", ran.status == 0 and
        "PID 1 in its own namespace" in ran.out, ran.describe())


def child_of(pid):
    """The first child, once there is one that runs the workload."""
    end = time.monotonic() + enough(20)
    while time.monotonic() < end and os.path.exists(f"/proc/{pid}/exe"):
        children = open(f"/proc/{pid}/task/{pid}/children", encoding="ascii").read().split()
        if children and os.readlink(f"/proc/{children[0]}/exe").endswith("/spin"):
            return int(children[0])
        time.sleep(0.02)
    raise AssertionError("the workload did not start in its namespace")


@case("doctor knows targets that are none", live=True)
def no_target(t):
    ran = stoke(t.folder, "doctor", "-p", 0x3fffffff)
    t.expect("in the way: no such process", ran.status == 1 and any("no process 1073741823 here" in line
        for line in lines(ran, "no")), ran.describe())
    ran = stoke(t.folder, "doctor", os.getpid())
    t.expect("its caller is one", ran.status == 0, ran.describe())


@case("doctor explains a Java VM", live=True, tools=["java", "javac"])
def java(t):
    subprocess.run(["javac", "-d", str(t.folder), str(WORK / "Work.java")], check=True, capture_output=True)
    with Program(shutil.which("java"), "-cp", t.folder, "Work", 60, 1) as target:
        target.says("ready", 100)
        ran = stoke(t.folder, "doctor", "-p", target.pid)
        mem = stoke(t.folder, "doctor", "-p", target.pid, prefix=filtered(1, "process_vm_readv"))
    t.expect("version and collector stand in its line", re.search(r"^target    \d+ java \(\w+\), JDK \d\S+, [\w ]+, "
        r"\d+ threads, uid \d+", ran.out, re.M), ran.out)
    t.expect("what can be seen, and what never", any("read from outside; nothing loaded" in line
        for line in lines(ran, "ok")) and any("without DebugNonSafepoints" in line for line in lines(ran, "note")),
        ran.out)
    t.expect("where memory is closed, that is said, not that tables were missing", "the VM's memory cannot be read" in
        mem.out and "stripped" not in mem.out, mem.out)


if __name__ == "__main__":
    raise SystemExit(main())
