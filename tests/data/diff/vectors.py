#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What an independent implementation of the test says of worked cases and of 200 random inputs.

    vectors.py PATH/ref.py | gzip -9n >evidence.tsv.gz

ref.py is no part of this project; its answers, which tests/unit/diff/test_evidence.c reads, are.
Lines: case NAME UNITS_BEFORE UNITS_AFTER MODE TAU REL DILUTION TESTED RELABELLINGS S_GREW S_SHRANK;
E exposures; n samples; h KIND NAME counts; r SIGN KIND NAME a b d d_adj low high se T P*RELABELLINGS df.
"""
import importlib.util
import os
import random
import sys

spec = importlib.util.spec_from_file_location('ref', sys.argv[1])
ref = importlib.util.module_from_spec(spec)
spec.loader.exec_module(ref)
HERE = os.path.dirname(os.path.abspath(sys.argv[1]))


def number(x):
    return '-' if x is None else '%.17g' % x


def short(x):
    return '-' if x is None else '%.12g' % x


def emit(name, units, labels, exposure=None, **options):
    o = dict(ref.DEF)
    o.update(options)
    order = [u for u, l in enumerate(labels) if l == 0] + [u for u, l in enumerate(labels) if l == 1]
    units = [units[u] for u in order]
    exposure = exposure and [exposure[u] for u in order]
    before = labels.count(0)
    labels = [0] * before + [1] * (len(labels) - before)
    answers = [ref.engine(units, labels, exposure, sign, **options) for sign in (1, -1)]
    meta = answers[0][1]
    print('case', name, before, len(units) - before, o['mode'], number(o['tau']), number(o['rel']),
          int(o['dilution']), meta['m'], meta['perms'], *(number(a[1]['dilution']) for a in answers), sep='\t')
    print('E', *(number(e) for e in (exposure or [float(u[0]) for u in units])), sep='\t')
    print('n', *(u[0] for u in units), sep='\t')
    for kind, function in sorted(set().union(*[set(u[1]) for u in units])):
        print('h', kind, function, *(u[1].get((kind, function), 0) for u in units), sep='\t')
    for sign, (rows, meta) in zip('+-', answers):
        for (kind, function), row in sorted(rows.items()):
            count = row['p_adj'] * meta['perms']
            assert abs(count - round(count)) < 1e-6
            print('r', sign, kind, function, *(short(row[k]) for k in ('a', 'b', 'd', 'd_adj')),
                  *(short(x) for x in row['ci']), short(row['se']), short(row['T']), round(count),
                  short(row['df']), sep='\t')


def folded(case):
    units, labels = ref.unit_runs(case)
    return units, labels


def worked():
    units, labels = folded('02-repeats')
    emit('02', units, labels)
    emit('02-relabelled', units, [0, 1, 0, 1, 1, 0, 1, 0])
    emit('02-two-v-two', units[:4], [0, 0, 1, 1])
    units, labels = folded('06-dilution')
    emit('06', units, labels)
    emit('06-raw', units, labels, dilution=False)
    units, labels = folded('09-per-work')
    emit('09-share', units, labels)
    work = [float(x) for x in open(os.path.join(HERE, '09-per-work', 'work.txt')).read().split()]
    for u in units:
        u[1]['total', '(all)'] = u[0]
    emit('09', units, labels, exposure=work, mode='rate', tau=0.0)
    a, b = (ref.blocks(ref.files('10-slices', s)[0]) for s in 'AB')
    emit('10-blocks', a + b, [0] * 8 + [1] * 8)
    rows = [l.rstrip('\n').split('\t') for l in open(os.path.join(HERE, '12-real-jdk17/counts.tsv'))
            if not l.startswith('#')]
    runs = [(int(n), {(r[0], r[1]): int(r[2 + i]) for r in rows[2:]}) for i, n in enumerate(rows[1][2:])]
    emit('12-aa', runs[0:10], [0] * 5 + [1] * 5)
    emit('12-ab', runs[7:17], [0] * 5 + [1] * 5)


def spread(rng, nr, functions, shares):
    counts = dict.fromkeys(functions, 0)
    for f in rng.choices(functions, shares, k=nr):
        counts[f] += 1
    return counts


def some_runs(rng):
    """Runs of a small program: functions f0.. under callers c0.., with noise between runs."""
    functions = ['f%d' % i for i in range(rng.randint(2, 14))]
    callers = {f: 'c%d' % rng.randint(0, 3) for f in functions}
    base = [rng.expovariate(1) + 0.01 for _ in functions]
    noise, grow = rng.choice([0, 0.05, 0.3]), rng.choice([1, 1, 1.3, 2])
    before, after = rng.randint(1, 5), rng.randint(1, 5)
    size = rng.choice([20, 200, 2000])
    units = []
    for u in range(before + after):
        shares = [s * max(0.0, rng.gauss(1, noise)) + 1e-9 for s in base]
        if u >= before:
            shares[0] *= grow
        n = size if rng.random() < 0.5 else rng.randint(size // 2, size * 2)
        selves = {f: c for f, c in spread(rng, n, functions, shares).items() if c}
        counts = {('self', f): c for f, c in selves.items()}
        for f, c in selves.items():
            for name in (f, callers[f]):
                counts['total', name] = counts.get(('total', name), 0) + c
        counts['total', 'main'] = n
        units.append((n, counts))
    return units, [0] * before + [1] * after


def main():
    worked()
    rng = random.Random(20)
    for i in range(200):
        units, labels = some_runs(rng)
        options = dict(tau=rng.choice([0.005, 0.005, 0.0, 0.03]), rel=rng.choice([0.05, 0.05, 0.0]))
        if i % 4 == 3:
            options['dilution'] = False
        if i % 5 == 4:
            work = [rng.choice([10.0, rng.uniform(5, 50)]) for _ in units]
            options['tau'] = 0.0
            emit('random-%d' % i, units, labels, exposure=work, mode='rate', **options)
        else:
            emit('random-%d' % i, units, labels, **options)


main()
