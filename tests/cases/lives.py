#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Processes and threads that come and go: SL01, SL02, SL04, LS01, LS02, LS05, LS06, and the shares
that a recording must measure right. Truth is what a workload says of its own CPU time."""
import re
import subprocess
import time

from driver import Started, WORKLOADS, at_least, case, enough, lying, main, near, record, stoke
from targets import Program, build

BOTH = ("x.folded", "x.pb.gz")


def workload(name):
    return str((WORKLOADS / name).resolve())


def run_under(t, *command, hz=999, extra=()):
    """Runs a workload as stoke's command: the recording covers its whole life. Its closing lines
    "word number" and single numbers come with what stoke left."""
    ran = stoke(t.folder, "record", "-F", hz, *extra, "-o", "x.folded", "-o", "x.pb.gz", "--", *command)
    t.must("recording ends with the command's status 0", ran.status == 0, ran.describe())
    words = {m[0]: int(m[1]) for m in re.findall(r"^(\w+) (\d+)$", ran.out, re.M)}
    numbers = [int(n) for n in re.findall(r"^(\d{6,})\b", ran.out, re.M)]
    return ran, words, numbers


def taken(pb):
    return pb.sum_of("samples")


def cpu_is(t, line, measured_ns, true_ns, nr):
    """CPU time by samples against the program's own, within 4.5 deviations of nr samples (a redrawn
    period adds (0.2^2 / 3) to the variance of each) and 5 % for ticks that steal merged."""
    slack = 4.5 * (1.014 / max(nr, 1)) ** 0.5
    t.expect(line, true_ns and 1 - slack - 0.05 <= measured_ns / true_ns <= 1 + slack + 0.02,
        f"measured {measured_ns / 1e9:.3f} s of {true_ns / 1e9:.3f} s in {nr} samples")


@case("shares of three functions in four threads", live=True)
def shares(t):
    ran, truth, _ = run_under(t, workload("shares"), "6", extra=("--by", "thread"))
    got = ran.folded()
    whole = sum(truth.get(n, 0) for n in ("half", "third", "fifth"))
    for name in ("half", "third", "fifth"):
        t.expect(f"{name} within 2 points of its share of CPU time", whole and abs(
            got.inclusive(name) - truth[name] / whole) < 0.02 + 2 / max(got.total, 1) ** 0.5,
            (got.inclusive(name), truth))
    pb = ran.pprof()
    threads = {labels.get("thread") for _, _, labels in pb.rows()}
    t.expect("each sample says its thread", {f"share-{i}" for i in range(4)} <= threads, threads)
    starts = {"start_thread", "[thread start]", "[program start]", "clone3", "__clone3", "main",
        "__libc_start_call_main"}
    ends = got.share_of(lambda s: starts & set(s))
    t.expect("every stack ends in the thread's start", ends >= 0.99, got.only(
        lambda s: "run" not in s).stacks[:5])
    cpu_is(t, "CPU time of the samples is that of the process", pb.sum_of("cpu"), whole, taken(pb))


@case("a task in step with 99 Hz", live=True)
def lockstep(t):
    ran, _, numbers = run_under(t, workload("lockstep"), "8", hz=99)
    pb = ran.pprof()
    nr = taken(pb)
    # About 119 samples are due. Ticks of one 100 ms share a period, so up to 3 go together.
    expected = numbers[-1] / 10101010 if numbers else 0
    t.expect("gets its true share within sampling error (fixed periods gave 0.0 or 6.6 times it)",
        expected and abs(nr - expected) < 4.5 * (3 * expected) ** 0.5, (nr, expected))


@case("2,000 threads that each burn 0.1 ms now and then", live=True)
def crowd(t):
    ran, _, numbers = run_under(t, workload("crowd"), "4", "2000", hz=499)
    pb = ran.pprof()
    t.expect("the program could make its threads", numbers, ran.describe())
    cpu_is(t, "they get their true share", pb.sum_of("cpu"), numbers[-1] if numbers else 0, taken(pb))
    t.expect("their work is seen", ran.folded().inclusive("crumb") > 0.2, ran.folded().head())


@case("LS06 samples times period is CPU time", live=True)
def ls06(t):
    ran, _, numbers = run_under(t, workload("duty"), "6")
    pb = ran.pprof()
    cpu_is(t, "samples x period within 5% of the CPU time (and sampling error)", pb.sum_of("cpu"),
        numbers[-1] if numbers else 0, taken(pb))


@case("PP03 period and units of a recording", live=True)
def pp03(t):
    from pprof import check_units
    before = time.time_ns()
    with Program("spin", 20) as spin:
        ran = record(t, spin.pid, 2, 99, BOTH)
    pb = ran.pprof()
    check_units(t, pb)
    t.expect("period 10101010 (1e9/99)", abs(pb.period - 10101010) < 0.06 * 10101010, pb.period)
    t.expect("duration_nanos = 2 s, measured", 1.9e9 < pb.duration_ns < enough(2.5) * 1e9, pb.duration_ns)
    t.expect("time_nanos = the start, not 0", before - 10**9 < pb.time_ns < time.time_ns(), pb.time_ns)
    rate = pb.sum_of("cpu") / max(pb.sum_of("samples"), 1)
    t.expect("samples and nanoseconds agree", abs(rate - 10101010) < 0.06 * 10101010, rate)


def ends_early(t, program, arguments, leaf, life_s):
    with Program(program, *arguments) as target:
        ran = record(t, target.pid, 10, 299, BOTH)
    t.expect("stoke ends soon after the process does, status 0", ran.status == 0 and
        ran.seconds < enough(life_s + 2), ran.seconds)
    got = ran.folded().user().only(lambda s: s != ("[exit]",))
    t.expect(f"leaf of >= 95% of user samples: {leaf}", at_least(got.leaf(leaf), 0.95, got.total) and got.total > 20,
        got.head())
    t.expect("the recorded duration is that of the target, or the summary says that it ended",
        ran.pprof().duration_ns < enough(life_s + 1) * 1e9 or "ended" in ran.said, ran.pprof().duration_ns)


@case("SL01 the target ends before the recording", live=True)
def sl01(t):
    ends_early(t, "spin", (4,), "hot_inner", 4)


@case("SL01 the target ends before the recording (where they lie)", live=True, tools=["gcc"])
def sl01_lying(t):
    program = build(t, "burst", "gcc", "-O0", "-fno-omit-frame-pointer", "-o", "burst", lying("SL01") / "burst.c")
    ends_early(t, program, (), "burst", 3)


@case("SL02 no samples", live=True)
def sl02(t):
    with Program("/bin/sleep", 60) as idle:
        ran = record(t, idle.pid, 1, 99, ("x.folded", "x.pb.gz", "x.svg"))
    t.expect("a: valid empty outputs", ran.status == 0 and ran.folded().total == 0 and ran.picture().total == 0 and
        ran.pprof().sum_of("samples") == 0, ran.describe())
    t.expect("a: text says that there is nothing because the target was idle", re.search(
        r"used 0(\.0+)? ?m?s of CPU|idle", ran.said), ran.said)
    ran = stoke(t.folder, "record", "-p", "4194304", "-d", 1, "-o", "c.folded")
    t.expect('c: "no such process", status != 0, no broken file', ran.status == 2 and "no process" in ran.err and
        not (t.folder / "c.folded").exists(), ran.describe())
    zombie = subprocess.Popen(["true"])
    time.sleep(0.2)
    ran = stoke(t.folder, "record", "-p", zombie.pid, "-d", 1, "-o", "d.folded")
    t.expect("d: a zombie: status != 0, a sentence, no broken file", ran.status == 2 and str(zombie.pid) in ran.err and
        not (t.folder / "d.folded").exists(), ran.describe())
    zombie.wait()
    with Program("spin", 0.05) as brief:
        ran = stoke(t.folder, "record", "-p", brief.pid, "-d", 5, "-o", "b.folded")
    t.expect('b: a pid that ends at once: 0 with "ended" or 2 with a sentence, and soon', ran.seconds < enough(3) and (
        ran.status == 0 or ran.status == 2 and str(brief.pid) in ran.err), ran.describe())


@case("a process whose first thread has ended", live=True)
def headless(t):
    with Program("headless", 20) as target:
        time.sleep(0.3)
        got = record(t, target.pid, 2, 499).folded().user()
    t.expect("its other threads are sampled and named", got.total > 50 and got.inclusive("lone_work") > 0.95,
        got.head())


@case("SL04 libraries loaded later, at the same address", live=True)
def sl04(t):
    with Program("dl", 4.5, (WORKLOADS / "libalpha.so").resolve(), "alpha_spin", (WORKLOADS / "libomega.so").resolve(),
            "omega_spin") as dl:
        ran = record(t, dl.pid, 12, 499, BOTH)
        places = dl.output().split()
    got = ran.folded().user()
    t.expect("the second library lands at the address of the first", len(places) == 2 and places[0] == places[1], places)
    plugs = got.only(lambda s: "in_library" in s)
    right = plugs.inclusive("alpha_spin") + plugs.inclusive("omega_spin")
    t.expect(">= 95% right names for both libraries", at_least(right, 0.95, plugs.total) and plugs.total > 100, got.head())
    for name in ("alpha_spin", "omega_spin"):
        t.expect(f"the old name never appears for the new one: {name} has its half",
            near(plugs.inclusive(name), 0.5, plugs.total, 0.15), got.head())


@case("LS01 very many stacks and one hot one", live=True)
def ls01(t):
    ran, truth, _ = run_under(t, workload("manystacks"), "6")
    got, pb = ran.folded(), ran.pprof()
    whole = sum(truth.values())
    missing = max(0, 1 - pb.sum_of("cpu") / whole) if whole else 0  # told with a failure: what steal took
    # libc's clock_gettime, without frame pointer, hides its caller: under main, what is no walk is hot.
    hot = got.share_of(lambda s: "main" in s and not any(f.startswith("walk") for f in s))
    t.expect("hot stack 50% +-2", whole and near(hot, truth["hot"] / whole, got.total, 0.005),
        (hot, got.inclusive("hot"), truth, missing))
    lost = sum(int(pb.fact(f"stoke.quality.{n}") or 0) for n in ("lost-ring", "lost-busy", "lost-late"))
    t.expect("total = samples taken", int(pb.fact("stoke.quality.samples") or -1) in (taken(pb), taken(pb) + lost),
        (pb.fact("stoke.quality.samples"), taken(pb), lost))
    t.expect("lost count printed; less than 1% of them are lost", lost <= 0.01 * taken(pb) and re.search(
        r"\blost\b", ran.said), (lost, ran.said))
    walks = [s for s, _ in got.stacks if any(f.startswith("walk") for f in s)]
    # One frame is missing where libc's clock_gettime, without frame pointer, hides its caller.
    t.expect("stacks of the walks are whole", sum(1 for s in walks if sum(
        f.startswith("walk") for f in s) >= 20) >= 0.95 * len(walks) > 100, len(walks))


@case("LS02 kernel stacks stay with their thread", live=True)
def ls02(t):
    with Program("manystacks", 20), Program("pair", 20) as pair:
        got = record(t, pair.pid, 5, 999).folded()
    reads = got.only(lambda s: "reader" in s)
    sleeps = got.only(lambda s: "sleeper" in s)
    t.expect("both threads were sampled", reads.total > 100 and sleeps.total > 20, (reads.total, sleeps.total))
    t.expect("0 samples with sleep frames under the reader", not any("nanosleep" in f for f in reads.frames()),
        [f for f in reads.frames() if "sleep" in f])
    t.expect("or the other way round", not any(re.search(r"read_zero|vfs_read|ksys_read", f) for f in sleeps.frames()),
        [f for f in sleeps.frames() if "read" in f])


@case("LS05 threads made later, and the first one's", live=True)
def ls05(t):
    """Scaled to two CPUs: one thread from the start, one made a second into the work."""
    with Program("late", 4, 1.5, stdin=subprocess.PIPE) as late:
        late.says("ready")
        # Until the target ends: what is enough on a busy machine may be a minute.
        started = Started(["record", "-p", late.pid, "-d", 600, "-F", 999, "-o", "x.folded", "-o", "x.pb.gz"], t.folder)
        time.sleep(enough(1))
        late.process.stdin.write(b"\n")
        late.process.stdin.flush()
        ran = started.ended(40)
        truth = late.numbers()
    t.expect("status 0 when the target ends", ran.status == 0, ran.describe())
    got = ran.folded()
    early, later = got.sum_of(lambda s: "early_work" in s), got.sum_of(lambda s: "late_work" in s)
    t.expect("the thread made later has its true share against the one from the start", early + later and near(
        later / (early + later), truth["late"] / (truth["late"] + truth["early"]), early + later, 0.02),
        (early, later, truth))
    t.expect("the main thread sleeps: < 1% of samples", got.share_of(
        lambda s: not {"early", "late"} & set(s)) < 0.01 + 3 / max(got.total, 1), got.head())
    per_sample = ran.pprof().sum_of("cpu") / max(taken(ran.pprof()), 1)
    cpu_is(t, "total = core-seconds x rate, within 5%", (early + later) * per_sample, truth["early"] + truth["late"],
        early + later)


@case("children that are gone before the end", live=True)
def children(t):
    ran, _, _ = run_under(t, workload("forker"), "2", hz=499)
    got = ran.folded().user()
    t.expect("children's work is named", got.inclusive("child_work") > 0.85, got.head())
    ran, _, _ = run_under(t, workload("forker"), "2", workload("spin_first"), "0.05", hz=499)
    got = ran.folded().user()
    # What forks is a main() too, and its children are that until their exec.
    inner = got.only(lambda s: "main" in s and not any(
        f.strip("_").lower().startswith(("fork", "exec", "wait")) for f in s))
    t.expect("programs that children became are named by their own files", inner.inclusive("first_build") > 0.85,
        inner.head())
    t.expect("no address without a module", not any(re.fullmatch(r"(0x)?[0-9a-f]{6,}", f) for f in got.frames()), got.head())
    ran, _, _ = run_under(t, workload("forker"), "1", hz=499, extra=("-i",))
    t.expect("-i leaves children out", "child_work" not in ran.folded().frames(), ran.folded().head())


@case("a process that becomes another program", live=True)
def exec_(t):
    ran, _, _ = run_under(t, workload("exec"), "1.5", workload("spin_first"), "1.5", hz=499)
    got = ran.folded().user()
    for name in ("before_exec", "first_build"):
        t.expect(f"{name} has its half", 0.3 < got.inclusive(name) < 0.7, got.head())


@case("a thread that renames itself", live=True)
def rename(t):
    ran, _, _ = run_under(t, workload("rename"), "3", hz=499)
    names = {}
    for stack, values, labels in ran.pprof().rows():
        for task in ("first_task", "second_task"):
            if task in stack:
                found = names.setdefault(task, {})
                found[labels.get("thread")] = found.get(labels.get("thread"), 0) + values[0]
    for task, word in (("first_task", "first"), ("second_task", "second;")):
        found = names.get(task, {})
        right = sum(n for name, n in found.items() if name and word in name)
        t.expect(f"samples of {task} carry the name as it was then", found and right >= 0.97 * sum(found.values()), found)
    ran = stoke(t.folder, "convert", "x.pb.gz", "--by", "thread", "-o", "threads.folded")
    if ran.status == 0:
        sizes = {len(s) for s, _ in ran.folded("threads.folded").only(lambda s: "second_task" in s).user().stacks}
        t.expect('a ";" in a thread name makes no frame', len(sizes) <= 3, sizes)


if __name__ == "__main__":
    raise SystemExit(main())
