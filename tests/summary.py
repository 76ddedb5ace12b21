#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: summary.py testlog.json...   what failed and why, then "N passed, N failed, N skipped"

Counts what the tests printed (TAP), not what a build file says of them. A test that failed without
saying which subtest did, or that printed fewer subtests than it planned, is one failure. The reasons
are told once more here, since only the end of a long log is at hand where it went wrong."""
import json
import re
import sys


def count_tap(output):
    passed = failed = skipped = 0
    planned = None
    for line in output.splitlines():
        plan = re.match(r"1\.\.(\d+)", line)
        if plan:
            planned = int(plan.group(1))
        result = re.match(r"(not )?ok\b(.*)", line)
        if not result:
            continue
        if re.search(r"#\s*skip", result.group(2), re.I):
            skipped += 1
        elif result.group(1):
            failed += 1
        else:
            passed += 1
    return planned, passed, failed, skipped


def count(test):
    """(passed, failed, skipped) of one entry of meson's testlog.json."""
    good = test["result"] in ("OK", "EXPECTEDFAIL")
    planned, passed, failed, skipped = count_tap(test.get("stdout") or "")
    if planned is None:
        return int(good), int(not good and test["result"] != "SKIP"), int(test["result"] == "SKIP")
    if planned > passed + failed + skipped:
        failed += 1
    if not good and test["result"] != "SKIP" and not failed:
        failed = 1
    if planned == 0:
        skipped += 1
    return passed, failed, skipped


def reasons(test, most=40):
    """The lines of a failed test that say why: each "not ok" with what follows it, or its last words."""
    told, telling = [], False
    for line in (test.get("stdout") or "").splitlines():
        if re.match(r"(not )?ok\b|1\.\.", line):
            telling = line.startswith("not ok")
        if telling:
            told.append(line)
    told = told or (test.get("stdout") or "").splitlines()[-10:]
    told = told[:most] + (test.get("stderr") or "").splitlines()[-10:]
    return "".join(f"    {line[:1000]}\n" for line in told)


def main():
    total = [0, 0, 0]
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8", errors="replace") as log:
            for line in log:
                test = json.loads(line)
                counts = count(test)
                if counts[1]:
                    print(f"failed: {test['name']} ({test['result']})\n{reasons(test)}", end="")
                total = [a + b for a, b in zip(total, counts)]
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] or not total[0] else 0


sys.exit(main())
