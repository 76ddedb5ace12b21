#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What stoke record does to the world around it: names, owners and modes of files, streams, signals,
terminals, processes that are not there. What it measures is the business of tests/cases."""
import fcntl
import gzip
import os
import pty
import re
import select
import signal
import stat
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import readers
from driver import STOKE, WORKLOADS, Skip, Started, case, enough, main, stoke
from targets import Program

NAME = r"stoke-spin-%d-\d{8}-\d{6}(-\d+)?\.(svg|pb\.gz)"


def names(folder):
    return sorted(p.name for p in folder.iterdir())


@case("default names tell name, PID and time, and never meet a file that is there", live=True)
def default_names(t):
    with Program("spin", 60) as spin:
        # Two in the same second: started together, so that the clock says the same.
        both = [Started(["record", spin.pid, "-d", "0.3"], t.folder) for _ in range(2)]
        ran = [b.ended(30) for b in both]
    found = names(t.folder)
    t.expect("both end well", all(r.status == 0 for r in ran), [r.describe() for r in ran])
    t.expect("four files of that form", len(found) == 4 and all(
        re.fullmatch(NAME % spin.pid, n) for n in found), found)
    t.expect("mode 0644", all(stat.S_IMODE((t.folder / n).stat().st_mode) == 0o644 for n in found), found)
    t.expect("each is told with its absolute path", all(
        str(t.folder / n) in "".join(r.out for r in ran) for n in found), ran[0].out)


@case("-o names a directory, and %p %n %h %t are filled in", live=True)
def templates(t):
    (t.folder / "into").mkdir()
    with Program("spin", 60) as spin:
        ran = stoke(t.folder, "record", spin.pid, "-d", "0.3", "-o", "into", "-o", "%n.%p.%h.%t%%.folded")
    host = re.sub(r"[^\w.-]", "_", os.uname().nodename)
    t.expect("status 0", ran.status == 0, ran.describe())
    t.expect("the two default files in the directory", len(names(t.folder / "into")) == 2 and all(
        re.fullmatch(NAME % spin.pid, n) for n in names(t.folder / "into")), names(t.folder / "into"))
    t.expect("the template", any(re.fullmatch(rf"spin\.{spin.pid}\.{re.escape(host)}\.\d{{8}}-\d{{6}}%\.folded", n)
        for n in names(t.folder)), names(t.folder))


@case("a command's files are called by the PID that it has", live=True)
def command_names(t):
    ran = stoke(t.folder, "record", "--", "sh", "-c", "echo $$")
    pid = int(ran.out.splitlines()[0])
    t.expect("default names tell name and PID of the command", len(names(t.folder)) == 2 and all(
        re.fullmatch((NAME % pid).replace("spin", "sh"), n) for n in names(t.folder)), (pid, names(t.folder)))
    ran = stoke(t.folder, "record", "-q", "-o", "%p.folded", "--", "sh", "-c", "echo $$")
    t.expect("%p too", (t.folder / f"{int(ran.out)}.folded").exists(), (ran.out, names(t.folder)))
    ran = stoke(t.folder, "record", "-o", "/no/such/x.svg", "--", "touch", t.folder / "ran")
    t.expect("what cannot be written is told before the command runs", ran.status == 125 and
        not (t.folder / "ran").exists(), ran.describe())


@case("-o - puts nothing but the file on standard output", live=True)
def standard_output(t):
    with Program("spin", 60) as spin:
        text = stoke(t.folder, "record", spin.pid, "-d", "0.5", "-F", 499, "-f", "folded", "-o", "-")
        binary = subprocess.run([os.path.abspath(STOKE), "record", str(spin.pid), "-d", "0.5", "-f", "pprof",
            "-o", "-"], cwd=t.folder, capture_output=True, timeout=enough(30), check=False)
        quiet = stoke(t.folder, "record", spin.pid, "-d", "0.5", "-F", 499, "-q", "-o", "q.folded")
    t.expect("every line is a stack", text.status == 0 and text.out and all(
        re.fullmatch(r".*\S \d+", line) for line in text.out.splitlines()), text.out[:300])
    t.expect("the answer is told on standard error", "functions" in text.err and "quality" in text.err, text.err)
    t.expect("pprof through a pipe", binary.returncode == 0 and len(gzip.decompress(binary.stdout)) > 100,
        binary.stderr[-300:])
    t.expect("-q: warnings only", quiet.status == 0 and not quiet.out and all(
        line.startswith("stoke: warning: ") for line in quiet.err.splitlines()), quiet.describe())
    t.expect("no file but the named one", names(t.folder) == ["q.folded"], names(t.folder))


@case("a reader that goes away costs its own output only", live=True)
def broken_pipe(t):
    read, write = os.pipe()
    os.close(read)
    with Program("spin", 60) as spin:
        process = subprocess.run([os.path.abspath(STOKE), "record", str(spin.pid), "-d", "0.5", "-F", "499", "-f",
            "folded", "-o", "-", "-o", "kept.folded"], cwd=t.folder, stdout=write, stderr=subprocess.PIPE,
            timeout=enough(30), check=False)
    os.close(write)
    t.expect("status 2, and the sentence", process.returncode == 2 and b"standard output not written" in
        process.stderr and b"kept.folded is whole" in process.stderr, process.stderr[-400:])
    t.expect("the other file is whole", (t.folder / "kept.folded").read_text().endswith("\n"), names(t.folder))


@case("a read-only directory is told before anything is recorded", live=True)
def read_only(t):
    place = t.folder / "ro"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "t", str(place)], check=True)
    try:
        with Program("spin", 60) as spin:
            ran = stoke(t.folder, "record", spin.pid, "-d", 20, "-o", "ro/x.svg")
            default = stoke(place, "record", spin.pid, "-d", "0.3", env={"TMPDIR": str(t.folder)})
    finally:
        subprocess.run(["umount", str(place)], check=False)
    t.expect("status 2 with cause and cure", ran.status == 2 and ran.seconds < enough(10) and
        "cannot write ro/x.svg: read-only file system. Nothing was recorded; -o /tmp/" in ran.err, ran.describe())
    t.expect("without -o: files go to $TMPDIR, and that is said", default.status == 0 and str(t.folder) in
        default.err and sum(n.startswith("stoke-spin-") for n in names(t.folder)) == 2, default.describe())


@case("behind sudo, files in the caller's directory are the caller's", live=True)
def ownership(t):
    mine, roots = t.folder / "mine", t.folder / "roots"
    for place in (mine, roots):
        place.mkdir()
    os.chown(mine, 12345, 12346)
    sudo = {"SUDO_UID": "12345", "SUDO_GID": "12346"}
    with Program("spin", 60) as spin:
        ran = stoke(t.folder, "record", spin.pid, "-d", "0.3", "-o", "mine/x.svg", "-o", "roots/x.svg", env=sudo)
    t.expect("status 0", ran.status == 0, ran.describe())
    owners = [((p / "x.svg").stat().st_uid, (p / "x.svg").stat().st_gid) for p in (mine, roots)]
    t.expect("the caller's there, root's elsewhere", owners == [(12345, 12346), (0, 0)], owners)


@case("a link under the name of an output is replaced, not followed", live=True)
def links(t):
    victim = t.folder / "victim"
    victim.write_text("precious")
    (t.folder / "x.folded").symlink_to(victim)
    with Program("spin", 60) as spin:
        ran = stoke(t.folder, "record", spin.pid, "-d", "0.3", "-F", 499, "-o", "x.folded")
    t.expect("status 0", ran.status == 0, ran.describe())
    t.expect("what the link led to is untouched", victim.read_text() == "precious" and
        not (t.folder / "x.folded").is_symlink(), names(t.folder))


@case("a PID that is a thread, a zombie or nothing", live=True)
def wrong_pids(t):
    with Program("shares", 60) as many:
        time.sleep(0.5)
        tids = sorted(int(x) for x in os.listdir(f"/proc/{many.pid}/task"))
        thread = [x for x in tids if x != many.pid][0]
        ran = stoke(t.folder, "record", "-p", thread, "-d", 1, "-o", "x.svg")
        t.expect("a thread: whose it is, and both ways to record it", ran.status == 2 and
            f"no process {thread} here. It is " in ran.err and f"-t {thread}" in ran.err and
            f"-p {many.pid}" in ran.err and "(shares)" in ran.err, ran.describe())
        ran = stoke(t.folder, "record", "-t", thread, "-d", "0.5", "-F", 499, "-o", "t.folded")
        t.expect("-t records it", ran.status == 0 and ran.folded("t.folded").total > 0, ran.describe())
    gone = stoke(t.folder, "record", "-p", many.pid, "-d", 1, "-o", "x.svg")
    t.expect("nothing: status 2, the PID named", gone.status == 2 and f"no process {many.pid} here" in gone.err,
        gone.describe())
    zombie = subprocess.Popen(["true"])
    time.sleep(0.3)
    ran = stoke(t.folder, "record", "-p", zombie.pid, "-d", 1, "-o", "x.svg")
    zombie.wait()
    t.expect("a zombie: status 2, and what it is", ran.status == 2 and "zombie" in ran.err, ran.describe())
    t.expect("no file is left", names(t.folder) == ["t.folded"], names(t.folder))


@case("a PID of another namespace", live=True)
def other_namespace(t):
    with open("/proc/sys/kernel/pid_max", encoding="ascii") as limit:
        high = int(limit.read()) - 9  # a number that nobody has here
    with subprocess.Popen(["unshare", "-pf", "--kill-child", "sh", "-c",
                           f"echo {high} >/proc/sys/kernel/ns_last_pid; sleep 60 & echo $!; wait"],
                          stdout=subprocess.PIPE, text=True) as inner:
        inside = int(inner.stdout.readline())
        outside = [p for p in os.listdir("/proc") if p.isdigit() and is_inside(p, inside)]
        ran = stoke(t.folder, "record", "-p", inside, "-d", 1, "-o", "x.svg")
        os.kill(inner.pid, signal.SIGKILL)
    t.expect("a number that is free here", not os.path.exists(f"/proc/{inside}"), inside)
    t.expect("status 2, and the PID that this host sees", ran.status == 2 and len(outside) == 1 and
        f"no process {inside} here: it exists only in another PID namespace; on this host it is {outside[0]}" in ran.err,
        (outside, ran.describe()))


def is_inside(pid, inner):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
            line = [x for x in status if x.startswith("NSpid:")]
    except OSError:
        return False
    return bool(line) and len(line[0].split()) > 2 and line[0].split()[-1] == str(inner)


@case("an idle target: valid files and a sentence that says why they are empty", live=True)
def idle(t):
    with Program("/bin/sleep", 60) as sleep:
        ran = stoke(t.folder, "record", sleep.pid, "-d", 1, "-o", "x.svg", "-o", "x.folded", "-o", "x.pb.gz", "-o",
            "x.txt", "-o", "x.json")
    t.expect("status 0", ran.status == 0, ran.describe())
    t.expect("the sentence", re.search(r"used 0\.0\d s of CPU in 1\.\d s", ran.said), ran.said)
    t.expect("all files are there", names(t.folder) == ["x.folded", "x.json", "x.pb.gz", "x.svg", "x.txt"],
        names(t.folder))
    t.expect("the picture is XML", ran.picture().total == 0, "")
    t.expect("the capture is pprof", ran.pprof().sum_of("samples") == 0, "")


@case("a second SIGINT ends stoke at once, and leaves nothing", live=True)
def second_interrupt(t):
    # A command that ignores SIGINT keeps stoke waiting for its status.
    started = Started(["record", "-o", "x.folded", "--", "sh", "-c", "trap '' INT; sleep 300"], t.folder)
    time.sleep(enough(1))
    started.process.send_signal(signal.SIGINT)
    end = time.monotonic() + enough(10)
    while not (t.folder / "x.folded").exists() and time.monotonic() < end:
        time.sleep(0.05)
    started.process.send_signal(signal.SIGINT)
    ran = started.ended(10)
    t.expect("the first one writes what there is", (t.folder / "x.folded").exists(), names(t.folder))
    t.expect("the second one ends it as a shell expects", ran.status == -signal.SIGINT and ran.seconds < enough(20),
        ran.describe())
    subprocess.run(["pkill", "-P", str(started.process.pid)], check=False)


@case("SIGINT by kill(1) reaches a command and a stoke that a shell put behind &", live=True)
def behind_ampersand(t):
    script = f"{os.path.abspath(STOKE)} record -q -o x.folded -- sleep 50 & sleep 2; kill -INT $!; wait $!; echo $?"
    begin = time.monotonic()
    # Such a shell starts both with SIGINT ignored: the command stays deaf to it, SIGTERM ends both.
    ran = subprocess.run(["sh", "-c", script.replace("-INT", "-TERM")], cwd=t.folder, capture_output=True, text=True,
        timeout=enough(60), check=False)
    t.expect("SIGTERM ends the command: 143", ran.stdout.strip() == "143" and (t.folder / "x.folded").exists(),
        (ran.stdout, ran.stderr))
    with Program("spin", 60) as spin:
        script = f"{os.path.abspath(STOKE)} record -q {spin.pid} -d 50 -o y.folded & sleep 2; kill -INT $!; wait $!; echo $?"
        ran = subprocess.run(["sh", "-c", script], cwd=t.folder, capture_output=True, text=True, timeout=enough(60),
            check=False)
    t.expect("SIGINT ends a recording: 0", ran.stdout.strip() == "0" and (t.folder / "y.folded").stat().st_size,
        (ran.stdout, ran.stderr))
    t.expect("neither waits for its time", time.monotonic() - begin < enough(25), time.monotonic() - begin)


@case("a command outlives its window: the files first, then its status", live=True)
def outlives(t):
    ran = stoke(t.folder, "record", "-d", 1, "-o", "x.folded", "--", "sh", "-c", "sleep 3; exit 9")
    t.expect("its status", ran.status == 9 and ran.seconds >= 3, ran.describe())
    t.expect("that is said", "goes on" in ran.err, ran.err)


@case("a command that only sets the window ends with it", live=True)
def window_ends(t):
    with Program("spin", 60) as spin:
        ran = stoke(t.folder, "record", spin.pid, "-d", 1, "-o", "x.folded", "--", "sleep", "31.4159")
        missing = stoke(t.folder, "record", spin.pid, "-o", "y.folded", "--", "no-such-program")
        failing = stoke(t.folder, "record", spin.pid, "-o", "z.folded", "--", "sh", "-c", "sleep 0.5; exit 3")
        t.expect("the target lives on", spin.process.poll() is None, "")
    t.expect("-d is over first: 0, and the command is not left behind", ran.status == 0 and ran.seconds < enough(15) and
        subprocess.run(["pgrep", "-f", "sleep 31.4159"], capture_output=True, check=False).returncode == 1,
        ran.describe())
    t.expect("not found: 127", missing.status == 127 and "no-such-program" in missing.err, missing.describe())
    t.expect("its failure is passed on", failing.status == 3 and (t.folder / "z.folded").exists(), failing.describe())


def on_terminal(folder, arguments, columns, resize_to=None, send=None, within_s=30):
    """Runs stoke on a pseudo terminal; everything that it wrote there, and its status."""
    try:
        process, terminal = pty.fork()
    except OSError as wrong:
        raise Skip(f"no pseudo terminal here (is /dev/pts mounted?): {wrong}") from wrong
    if process == 0:
        os.chdir(folder)
        os.environ["TERM"] = "xterm"
        os.execv(os.path.abspath(STOKE), ["stoke", *map(str, arguments)])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    begin, seen = time.monotonic(), b""
    while time.monotonic() - begin < enough(within_s):
        if resize_to and b"samples" in seen:
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, resize_to, 0, 0))
            seen += b"<resized>"
            resize_to = None
        if send and b"samples" in seen:
            os.write(terminal, send)
            send = None
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the other side is gone
            break
        if not data:
            break
        seen += data
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), seen.decode("utf-8", "replace")


@case("the bar: on a terminal only, in one line, as wide as it is now, Ctrl-C ends early", live=True)
def bar(t):
    with Program("spin", 60) as spin:
        status, seen = on_terminal(t.folder, ["record", spin.pid, "-d", 4, "-o", "x.svg"], 100, resize_to=50)
        t.expect("status 0", status == 0, seen)
        wide, _, narrow = seen.partition("<resized>")
        lines = [part for part in re.split(r"\r\n?|\n", wide) if "samples   " in part]
        t.expect("a bar with time, samples, cores and the hint", lines and re.match(
            r" \[[#-]{30}\] \d+ s   [\d,]+ samples   \d+\.\d\d cores   Ctrl-C ends early, keeps all\x1b\[K",
            lines[-1]), lines[-1:])
        redrawn = [part for part in re.split("\r", narrow.split("\n")[0]) if "samples" in part]
        t.expect("after the window was made narrower no line is wider", redrawn and all(
            len(part.replace("\x1b[K", "")) < 50 for part in redrawn[1:]), redrawn)
        status, seen = on_terminal(t.folder, ["record", spin.pid, "-d", 50, "-o", "y.svg"], 100, send=b"\x03")
        t.expect("Ctrl-C: status 0, the file is there", status == 0 and (t.folder / "y.svg").exists(), seen)
        status, seen = on_terminal(t.folder, ["record", spin.pid, "-d", 1, "-q", "-o", "z.svg"], 100)
        t.expect("-q: no bar", status == 0 and " samples   " not in seen and "[#" not in seen, seen)
        status, seen = on_terminal(t.folder, ["record", spin.pid, "-d", 1, "-f", "pprof", "-o", "-"], 100)
        t.expect("a terminal gets no binary", status == 2 and "binary" in seen, seen)
        ran = stoke(t.folder, "record", spin.pid, "-d", 2, "-o", "w.svg")
        t.expect("no bar without a terminal", "\r" not in ran.said and "\x1b" not in ran.said, ran.said)


@case("--by and several processes: pictures have roots, the capture stays as sampled", live=True)
def roots(t):
    with Program("spin", 60) as one, Program("shares", 60) as two:
        pids = f"{one.pid}\n{two.pid}"  # as "$(pgrep x)" gives them
        ran = stoke(t.folder, "record", "-p", pids, "-d", 1, "-F", 499, "-o", "x.folded", "-o", "x.pb.gz")
        alone = stoke(t.folder, "record", "-p", two.pid, "-d", 1, "-F", 499, "-o", "y.folded", "--threads")
        perf = stoke(t.folder, "record", "-g", "-p", two.pid, "-d", "0.5", "-o", "z.folded")
    first = {s[0] for s, _ in ran.folded().stacks}
    t.expect("process at the root", ran.status == 0 and len(first) == 2 and any("spin" in f for f in first) and
        any("shares" in f for f in first), first)
    drawn = stoke(t.folder, "convert", "x.pb.gz", "-f", "folded")
    t.expect("not in the capture", drawn.status == 0 and not {s.split(";")[0] for s in
        drawn.out.splitlines()} & first, drawn.out[:200])
    t.expect("--threads: threads at the root", len({s[0] for s, _ in alone.folded("y.folded").stacks}) >= 4,
        alone.folded("y.folded").head())
    t.expect("-g is said to change nothing, once", perf.err.count("-g and --call-graph change nothing") == 1 and
        perf.status == 0, perf.describe())


@case("bench records two commands in turn, keeps the captures, and says what grew", live=True)
def bench(t):
    parts = Path(WORKLOADS / "parts").absolute()
    ran = stoke(t.folder, "bench", "-n", 3, "-F", 1999, "--before", f"echo hello; {parts} 200 800",
        "--after", f"{parts} 600 800", "-o", "kept", within_s=300)
    sides = [f"{side}-0{i}.pb.gz" for side in ("after", "before") for i in (1, 2, 3)]
    t.expect("status 0", ran.status == 0, ran.describe())
    t.expect("captures, report and picture are kept",
        names(t.folder / "kept") == sorted([*sides, "diff.json", "diff.svg", "manifest.json"]),
        names(t.folder / "kept"))
    t.expect("what grew is named", re.search(r"^GREW +parse ", ran.out, re.M), ran.out)
    t.expect("standard output is the report's", "hello" not in ran.out and "hello" in ran.err, ran.describe())
    t.expect("in turn: A B B A A B", re.findall(r"run \d of 3 (\w+)", ran.err) ==
        ["before", "after", "after", "before", "before", "after"], ran.err)
    again = stoke(t.folder, "bench", "--before", "true", "--after", "true", "-o", "kept")
    t.expect("a directory that is there is refused", again.status == 2, again.describe())
    failed = stoke(t.folder, "bench", "--before", "exit 3", "--after", "true", "-o", "failed")
    t.expect("a run that fails ends it", failed.status == 2 and "exited with 3" in failed.err, failed.describe())
    t.expect("no empty directory is left of it", not (t.folder / "failed").exists(), names(t.folder))
    facts = [readers.Pprof.of_file(t.folder / "kept" / side).comments for side in sides]
    t.expect("a capture says its program", all(f"stoke.command={parts}" in said or "stoke.command=echo" in said
        for said in facts), facts)
    t.expect("and not the command's arguments", not any("800" in line for said in facts for line in said
        if "command" in line), facts)


@case("--update that fails midway leaves a baseline as it was", tools=["strace"])
def update_midway(t):
    for i in range(4):
        (t.folder / f"run-{i}.folded").write_text(f"main;a {1000 + i}\n")
    ran = stoke(t.folder, "check", "--baseline", "kept", "--update", "run-0.folded", "run-1.folded", "--keep", 2)
    t.must("there is a baseline", ran.status == 0, ran.describe())
    was = {p.name: p.read_bytes() for p in (t.folder / "kept").iterdir()}
    for nth in (1, 2, 3):  # the files, then the manifest
        ran = stoke(t.folder, "check", "--baseline", "kept", "--update", "run-2.folded", "run-3.folded", "--keep", 2,
            prefix=("strace", "-f", "-o", "trace", "-e",
                f"inject=linkat,rename,renameat,renameat2:error=EIO:when={nth}+"))
        t.expect(f"name {nth} that cannot be given: status 2, and said so", ran.status == 2 and "as it was" in ran.err,
            ran.describe())
        t.expect(f"name {nth}: the baseline is as it was",
            {p.name: p.read_bytes() for p in (t.folder / "kept").iterdir()} == was, names(t.folder / "kept"))


if __name__ == "__main__":
    sys.exit(main())
