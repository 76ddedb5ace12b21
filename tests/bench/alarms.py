#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""False alarms and power of `stoke check` on real captures.

    alarms.py record DIR --until 21:35 [--workload c,idle,jvm] [--stoke PATH] [--changed 3]
    alarms.py judge DIR [--stoke PATH]

A session is five captures before and five after of the same program (nothing changed), every one a
new process, in mixed order; every third session (--changed) has five more of each of three changed
programs, in which target() has 1, 2 and 5 points more of all samples. DIR keeps the captures, so that
recording may stop and go on, and judging be done anew. Recording needs the rights that stoke needs.
"""
import argparse
import datetime
import json
import math
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPEATS = 5
HZ = 4999
# SCALE of target() that makes 10 % of a program 10, 11, 12 and 15 %.
SCALES = {'before': 1.0, 'after0': 1.0, 'after1': 1.1124, 'after2': 1.2273, 'after5': 1.5882}
ROUNDS = {'c': 3200, 'idle': 3200, 'jvm': 16000}
TARGETS = {'c': 'target', 'idle': 'target', 'jvm': 'Mixed.target'}
JAVA = ['java', '-Xmx128m', '-XX:+UseSerialGC', '-Xshare:auto', '-XX:+PreserveFramePointer',
        '-XX:+UnlockDiagnosticVMOptions', '-XX:+DumpPerfMapAtExit',
        '-XX:CompileCommand=quiet', '-XX:CompileCommand=dontinline,Mixed.*']


def build(folder):
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(['clang', '-O1', '-fno-omit-frame-pointer', '-mno-omit-leaf-frame-pointer',
                    '-fno-optimize-sibling-calls', '-D_GNU_SOURCE', '-o', folder / 'mixed',
                    HERE / 'mixed.c'], check=True)
    if shutil.which('javac'):
        subprocess.run(['javac', '-d', folder, HERE / 'Mixed.java'], check=True)


def capture_native(stoke, folder, workload, scale, out):
    command = [folder / 'mixed', str(ROUNDS[workload]), str(scale)]
    if workload == 'idle':
        command.append('idle')
    subprocess.run([stoke, 'record', '-q', '-F', str(HZ), '-o', out, '--', *command], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=180)


def capture_jvm(stoke, folder, scale, out):
    java = subprocess.Popen([*JAVA, '-cp', folder, 'Mixed', str(ROUNDS['jvm']), str(scale)],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    recorder = None
    try:
        for line in java.stdout:
            if line.strip() == b'ready':
                break
        recorder = subprocess.Popen([stoke, 'record', '-F', str(HZ), '-p', str(java.pid), '-d', '120',
                                     '-o', out], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        recorder.stderr.readline()  # it has begun
        java.stdin.write(b'go\n')
        java.stdin.flush()
        java.wait(timeout=180)
        recorder.communicate(timeout=60)
        if recorder.returncode:
            raise RuntimeError('recording failed')
    finally:
        for process in (java, recorder):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        Path('/tmp/perf-%d.map' % java.pid).unlink(missing_ok=True)


def capture(stoke, folder, workload, kind, out):
    part = out.with_name('part.pb.gz')
    if workload == 'jvm':
        capture_jvm(stoke, folder, SCALES[kind], part)
    else:
        capture_native(stoke, folder, workload, SCALES[kind], part)
    part.rename(out)


def record_session(stoke, folder, workload, session, kinds, until):
    rng = random.Random('%s-%s' % (workload, session.name))
    session.mkdir(parents=True, exist_ok=True)
    for i in range(REPEATS):
        order = list(kinds)
        rng.shuffle(order)
        for kind in order:
            out = session / ('%s.%d.pb.gz' % (kind, i))
            if out.exists():
                continue
            if datetime.datetime.now() >= until:
                return False
            capture(stoke, folder, workload, kind, out)
    (session / 'whole').touch()
    return True


def record(args):
    folder = args.dir / ('programs-' + args.workload.replace(',', '-'))
    build(folder)
    hour, minute = map(int, args.until.split(':'))
    until = datetime.datetime.now().replace(hour=hour, minute=minute, second=0)
    for n in range(100000):
        for workload in args.workload.split(','):
            kinds = list(SCALES) if n % args.changed == 0 else ['before', 'after0']
            session = args.dir / workload / ('%04d' % n)
            if (session / 'whole').exists():
                continue
            start = time.monotonic()
            if not record_session(args.stoke, folder, workload, session, kinds, until):
                return
            print(workload, session.name, '%.0f s' % (time.monotonic() - start), flush=True)


# ---- judging

def stacks_of(stoke, path):
    """Folded stacks with names made comparable."""
    text = subprocess.run([stoke, 'convert', path, '--names', 'build', '-f', 'folded', '-o', '-'],
                          check=True, capture_output=True).stdout.decode(errors='replace')
    for line in text.splitlines():
        stack, _, count = line.rpartition(' ')
        yield [re.sub(r'_\[[a-z01]\]$', '', frame) for frame in stack.split(';')], int(count)


def count(stoke, path):
    """Samples, and the total and self of each function."""
    cache = path.with_suffix('.counts.json')
    if cache.exists() and cache.stat().st_mtime >= path.stat().st_mtime:
        samples, counts = json.loads(cache.read_text())
        return samples, counts
    samples, counts = 0, {}
    for stack, n in stacks_of(stoke, path):
        samples += n
        for f in set(stack):
            counts['total ' + f] = counts.get('total ' + f, 0) + n
        counts['self ' + stack[-1]] = counts.get('self ' + stack[-1], 0) + n
    cache.write_text(json.dumps([samples, counts]))
    return samples, counts


def pooled_alarms(before, after):
    """Two proportions of pooled samples, Benjamini and Hochberg at 5 %, growth of half a point and 5 %."""
    na, nb = sum(n for n, _ in before), sum(n for n, _ in after)
    found = []
    for f in set().union(*[c for _, c in before + after]):
        a, b = (sum(c.get(f, 0) for _, c in side) for side in (before, after))
        p = (a + b) / (na + nb)
        if (a + b) / min(na, nb) < 0.005 or p > 0.9995:
            continue
        z = (b / nb - a / na) / math.sqrt(p * (1 - p) * (1 / na + 1 / nb))
        found.append((0.5 * math.erfc(z / math.sqrt(2)), b / nb - a / na, a / na, f))
    found.sort()
    last = max([i for i, row in enumerate(found, 1) if row[0] <= 0.05 * i / len(found)], default=0)
    return [f for p, d, a, f in found[:last] if d >= 0.005 and d >= 0.05 * a]


def check(stoke, before, after, target):
    """Exit status of stoke check by its built-in rules, and whether what it fails for is the target."""
    done = subprocess.run([stoke, 'check', *before, '--', *after], capture_output=True, cwd='/')
    text = done.stdout.decode(errors='replace')
    failed = text.split('\nPASS')[0] if text.startswith('FAIL') else ''
    return done.returncode, re.search(r'^  %s\s' % re.escape(target), failed, re.M) is not None, text


def tail(k, n, p):
    """P(X >= k), X binomial."""
    return sum(math.comb(n, i) * p ** i * (1 - p) ** (n - i) for i in range(k, n + 1))


def interval(k, n):
    """Clopper and Pearson, 95 %."""
    def find(condition):
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if condition(middle) else (low, middle)
        return low
    lower = find(lambda p: tail(k, n, p) < 0.025) if k else 0.0
    upper = find(lambda p: 1 - tail(k + 1, n, p) > 0.025) if k < n else 1.0
    return lower, upper


def rate(k, n):
    if not n:
        return '-'
    low, high = interval(k, n)
    return '%d of %d: %.0f %% (%.1f to %.1f)' % (k, n, 100 * k / n, 100 * low, 100 * high)


def judge(args):
    print('| program | sessions | samples a capture | what | stoke check | cannot tell | pooled proportions | '
          'target, before and after |')
    print('|---|---|---|---|---|---|---|---|')
    every = {}
    for workload in ('c', 'idle', 'jvm'):
        sessions = sorted(p.parent for p in (args.dir / workload).glob('*/whole'))
        for kind in list(SCALES)[1:]:
            row = judge_row(args, workload, kind, [s for s in sessions if (s / (kind + '.0.pb.gz')).exists()])
            every.setdefault(kind, []).append(row)
    for kind, rows in every.items():
        n, alarms, pooled = (sum(row[i] for row in rows) for i in range(3))
        print('| all | %d | | %s | %s | | %s | |' % (n, 'nothing changed' if kind == 'after0' else
                                                     '+%s points' % kind[-1], rate(alarms, n), rate(pooled, n)))


def judge_row(args, workload, kind, sessions):
    alarms = unknown = pooled = samples = 0
    shares = [0.0, 0.0]
    for session in sessions:
        before, after = ([session / ('%s.%d.pb.gz' % (k, i)) for i in range(REPEATS)]
                         for k in ('before', kind))
        status, named, text = check(args.stoke, before, after, TARGETS[workload])
        if status not in (0, 1, 3):
            sys.exit('check failed on %s: %d' % (session, status))
        counts = [[count(args.stoke, p) for p in side] for side in (before, after)]
        naive = pooled_alarms(*counts)
        grown = kind != 'after0'
        alarms += status == 1 and named if grown else status == 1
        unknown += status == 3
        pooled += 'total ' + TARGETS[workload] in naive or 'self ' + TARGETS[workload] in naive \
            if grown else bool(naive)
        samples += sum(n for side in counts for n, _ in side) / (2 * REPEATS)
        for i, side in enumerate(counts):
            shares[i] += sum(c.get('total ' + TARGETS[workload], 0) for _, c in side) / \
                sum(n for n, _ in side)
        if args.verbose:
            print('#', workload, session.name, kind, status, named, naive[:5], file=sys.stderr)
            if status == 1 and not grown or status == 3:
                print(text, file=sys.stderr)
    n = len(sessions)
    if n:
        print('| %s | %d | %.0f | %s | %s | %d | %s | %.1f -> %.1f %% |' % (
            workload, n, samples / n, 'nothing changed' if kind == 'after0' else '+%s points' % kind[-1],
            rate(alarms, n), unknown, rate(pooled, n), 100 * shares[0] / n, 100 * shares[1] / n))
    return n, alarms, pooled


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('what', choices=['record', 'judge'])
    parser.add_argument('dir', type=Path)
    parser.add_argument('--stoke', default='stoke')
    parser.add_argument('--until', default='23:59')
    parser.add_argument('--workload', default='c,idle,jvm')
    parser.add_argument('--changed', type=int, default=3)
    parser.add_argument('--verbose', action='store_true')
    args = parser.parse_args()
    args.dir = args.dir.resolve()
    args.stoke = shutil.which(args.stoke) or sys.exit('alarms.py: no stoke: --stoke PATH')
    args.stoke = str(Path(args.stoke).resolve())
    {'record': record, 'judge': judge}[args.what](args)


main()
