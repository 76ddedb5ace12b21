#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every row of whole files against readelf's reading of them: compare.py ROWS FILE|FOLDER...

Both ways: each row of readelf's must be told by the rule that holds there, and no row may begin where
readelf has none. readelf prints expressions as "exp": their instructions are looked up in its other dump."""
import bisect
import glob
import os
import re
import subprocess
import sys

X86 = "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15".split()
ARM = [f"x{n}" for n in range(31)] + ["sp"]
NONE, SP, FP, PLT, DEREF_SP, DEREF_FP, SIGNAL, STOP, UNSUPPORTED, REGISTER = 0, 1, 2, 3, 4, 5, 6, 7, 8, 32
FP_SAME, FP_AT_CFA, FP_AT_FP, FP_UNKNOWN = range(4)
IN_REGISTER = 32  # + its number, in the place of a return address


def dump(path, which):
    run = subprocess.Popen(["readelf", "--wide", "--debug-dump=no-follow-links", f"--debug-dump={which}", path], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, errors="replace")
    yield from run.stdout
    run.wait()


def expressions(path):
    """start of a function -> what its expressions for CFA and frame pointer say."""
    found, start, cie, initial = {}, None, None, {}
    for line in dump(path, "frames"):
        match = re.match(r"^([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ (?:CIE|FDE cie=([0-9a-f]+) pc=([0-9a-f]+))", line)
        if match:
            cie, start = match.group(2) or match.group(1), match.group(3) and int(match.group(3), 16)
            if start is not None and cie in initial:
                found.setdefault(start, []).extend(initial[cie])
        elif "expression" in line:
            if start is None:
                initial.setdefault(cie, []).append(line.strip())
            else:
                found.setdefault(start, []).append(line.strip())
    return found


def number(text):
    return int(text, 0) if text else 0


def cfa_of_expression(text):
    """(kind, offset) for which an expression may stand; UNSUPPORTED for none."""
    if "DW_OP_lit15; DW_OP_and; DW_OP_lit" in text and "DW_OP_ge; DW_OP_lit3; DW_OP_shl; DW_OP_plus)" in text:
        return PLT, int(re.search(r"DW_OP_lit(\d+); DW_OP_ge", text).group(1))
    match = re.search(r"\(DW_OP_breg\d+ \((rsp|rbp)\): (-?\d+); DW_OP_deref"
                      r"(?:; DW_OP_plus_uconst: (\d+)|; DW_OP_lit(\d+); DW_OP_plus)?\)$", text)
    if match:
        inner, outer = int(match.group(2)), number(match.group(3) or match.group(4))
        packed = (outer & 0xffff) << 16 | inner & 0xffff
        return (DEREF_SP if match.group(1) == "rsp" else DEREF_FP), packed - (packed >> 31 << 32)
    return UNSUPPORTED, 0


class File:
    def __init__(self, rows, path):
        self.address, self.rule = [], []
        out = subprocess.run([rows, "-r", path], stdout=subprocess.PIPE, check=True, text=True).stdout
        for line in out.splitlines():
            address, *rule = line.split()
            self.address.append(int(address, 16))
            self.rule.append(tuple(map(int, rule)))
        header = subprocess.run(["readelf", "-h", path], stdout=subprocess.PIPE, check=True, text=True).stdout
        self.arm = "AArch64" in header
        self.names = ARM if self.arm else X86
        self.fp = "x29" if self.arm else "rbp"
        self.exps = expressions(path)
        self.found = []
        self.nr, self.unsupported, self.overlaps, self.functions, self.faults = 0, 0, 0, 0, []

    def at(self, address):
        i = bisect.bisect_right(self.address, address) - 1
        return self.rule[i] if i >= 0 else (NONE, 0, 0, 0, 0, 0)

    def cfa_agrees(self, start, cfa, rule):
        if cfa == "exp":
            wanted = [cfa_of_expression(text) for text in self.exps.get(start, ()) if "def_cfa_expression" in text]
            return any(rule[0] == kind and (kind == UNSUPPORTED or rule[1] == offset) for kind, offset in wanted)
        match = re.fullmatch(r"([a-z0-9]+)([+-]\d+)", cfa)
        register, offset = match.group(1), int(match.group(2))
        kind = {"rsp": SP, "sp": SP, self.fp: FP}.get(register)
        if kind is None:
            kind = REGISTER + self.names.index(register)
        return rule[0] == kind and rule[1] == offset

    def fp_agrees(self, start, fp, rule):
        if fp in (None, "u", "n"):  # readelf does not tell "not yet mentioned" from "undefined"
            return rule[2] in (FP_SAME, FP_UNKNOWN)
        if fp == "s":
            return rule[2] == FP_SAME
        if fp.startswith("c"):
            return rule[2] == FP_AT_CFA and rule[3] == int(fp[1:])
        if fp == "exp":
            register = "x29" if self.arm else "rbp"
            offsets = [int(m.group(1)) for text in self.exps.get(start, ()) for m in [re.search(
                r"DW_CFA_expression: r\d+ \(%s\) \(DW_OP_breg\d+ \(%s\): (-?\d+)\)" % (register, register), text)] if m]
            return rule[2] == FP_UNKNOWN or (rule[2] == FP_AT_FP and rule[3] in offsets)
        return rule[2] == FP_UNKNOWN

    def agrees(self, start, row, rule, signal):
        _, cfa, fp, ra = row
        if signal:
            return rule[0] == SIGNAL
        if self.arm and ra in (None, "u", "s", "n"):
            if rule[0] == STOP:
                return ra == "u"
            if rule[4] != 1:
                return False
        elif ra in (None, "u"):
            return rule[0] == STOP
        elif not self.arm and re.fullmatch(r"r\d+", ra):  # vfork's, longjmp's: in that register
            if rule[4] != IN_REGISTER + int(ra[1:]):
                return False
        elif not ra.startswith("c") or (not self.arm and ra != "c-8"):
            return rule[0] == UNSUPPORTED
        elif rule[0] == UNSUPPORTED:
            return cfa == "exp" and self.cfa_agrees(start, "exp", rule)
        elif rule[4] != 0 or rule[5] != int(ra[1:]):
            return False
        return self.cfa_agrees(start, cfa, rule) and self.fp_agrees(start, fp, rule)

    def fault(self, text):
        if len(self.faults) < 20:
            self.faults.append(text)
        elif len(self.faults) == 20:
            self.faults.append("and more")

    def check(self, start, end, rows, signal):
        self.functions += 1
        places = set()
        for row in rows:
            if not start <= row[0] < end:
                continue
            places.add(row[0])
            rule = self.at(row[0])
            self.nr += 1
            self.unsupported += rule[0] == UNSUPPORTED
            if not self.agrees(start, row, rule, signal):
                self.fault(f"{row[0]:#x}: readelf {row[1:]}, here {rule}")
        i = bisect.bisect_right(self.address, start)
        while i < len(self.address) and self.address[i] < end:
            if self.address[i] not in places:
                self.fault(f"a row at {self.address[i]:#x}, where readelf has none")
            i += 1

    def compare(self, path):
        self.read(path)
        covered = 0
        for start, end, signal, rows in sorted(self.found, key=lambda f: f[:2]):
            if start < covered or start == 0:
                self.overlaps += 1
            else:
                self.check(start, end, rows, signal)
                covered = end

    def read(self, path):
        columns, rows, signals = None, None, {}
        for line in dump(path, "frames-interp"):
            if line.startswith("Contents of") and ".debug_frame" in line and self.found:
                break  # what .eh_frame says has precedence
            match = re.match(r"^([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ (CIE|FDE)(?: cie=([0-9a-f]+))?(.*)", line)
            if match:
                columns, rows = None, []
                if match.group(2) == "CIE":
                    signals[match.group(1)] = "S" in match.group(4).split('"')[1]
                else:
                    start, end = (int(n, 16) for n in re.search(r"pc=([0-9a-f]+)\.\.([0-9a-f]+)", line).groups())
                    self.found.append((start, end, signals.get(match.group(3), False), rows))
            elif line.lstrip().startswith("LOC"):
                columns = line.split()
            elif columns and line.strip():
                row = dict(zip(columns, re.sub(r"(\w+) \(\w+\)", r"\1", line).split()))
                rows.append((int(row["LOC"], 16), row["CFA"], row.get(self.fp), row.get("ra")))


def main():
    rows, paths, failed = sys.argv[1], [], 0
    for path in sys.argv[2:]:
        paths += sorted(glob.glob(path + "/*")) if os.path.isdir(path) else [path]
    print("TAP version 13")
    for i, path in enumerate(paths, 1):
        if not os.path.exists(path):
            print(f"ok {i} - {path} # SKIP not installed")
            continue
        path = os.path.realpath(path)
        file = File(rows, path)
        file.compare(path)
        good = not file.faults and file.nr > 0
        failed |= not good
        print(f"{'ok' if good else 'not ok'} {i} - {path}: {file.nr} rows of {file.functions} functions as readelf says, "
              f"{file.unsupported} of them unsupported, {file.overlaps} functions overlap")
        for fault in file.faults:
            print(f"# {fault}")
    print(f"1..{len(paths)}")
    return failed


sys.exit(main())
