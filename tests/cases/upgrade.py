#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Two stories rebuilt: a JDK upgrade, and TLS without session resumption. STOKE_RUNS captures a side
(2); what was measured is printed as lines of "#"."""
import json
import os
import re
import subprocess

import jdks
from driver import HERE, Skip, Started, case, enough, main, stoke
from alignment import aligned, counted, frames
from jdks import Rooted, installed

WORK = HERE.parent / "workload"
RUNS = int(os.environ.get("STOKE_RUNS", "2"))
jdks.FLAGS = ["-XX:+PreserveFramePointer", "-XX:+UseSerialGC", "-Xmx256m", "-XX:CompileCommand=quiet",
    "-XX:CompileCommand=dontinline,Upgrade::*", "-XX:CompileCommand=dontinline,Handshakes::*",  # parts stay functions
    "-XX:Tier3InvocationThreshold=50", "-XX:Tier3MinInvocationThreshold=20", "-XX:Tier3CompileThreshold=100"]


def tell(*words):
    print("#", *words, flush=True)


def jdk17():
    found = [jdk for jdk in installed() if jdk.feature == 17]
    if not found:
        raise Skip("there is no JDK 17 in /usr/lib/jvm")
    return found[0]


def later_jdk():
    """One that is installed; with STOKE_JDK_ROOT set, 21 fetched into a root of its own."""
    if os.environ.get("STOKE_JDK_ROOT"):
        return Rooted(21)
    found = sorted((jdk for jdk in installed() if jdk.feature > 17), key=lambda jdk: jdk.feature)
    if not found:
        raise Skip("there is no JDK after 17 in /usr/lib/jvm; STOKE_JDK_ROOT=1 fetches one")
    return found[-1]


def compile_java(t, name):
    subprocess.run(["javac", "--release", "17", "-d", str(t.folder), str(WORK / name)], check=True, capture_output=True)


def capture(t, jdk, name, *arguments):
    """One recording, from "ready" to the program's end; what the program said of itself."""
    out = name + ".pb.gz"
    with jdk.run(t.folder, *arguments) as java:
        java.says("ready", enough(120))
        ran = Started(["record", "-p", java.pid, "-d", 600, "-F", 499, "-o", out], t.folder).ended(120)
        said = java.numbers()
        jdk.clean(java.pid)
    t.must(f"{name}: recording ends with status 0", ran.status == 0 and (t.folder / out).exists(), ran.describe())
    return out, said


def alternate(t, before, after):
    """Captures in ABBA order, since a machine drifts: two lists of (file, what the program said)."""
    sides = ([], [])
    for i in range(RUNS):
        for side in (0, 1) if i % 2 == 0 else (1, 0):
            jdk, arguments = (before, after)[side]
            sides[side].append(capture(t, jdk, f"{'ab'[side]}{i}", *arguments))
    return sides


def stacks(t, side, level):
    ran = stoke(t.folder, "convert", "-q", "-f", "folded", "--names", level, *[file for file, _ in side])
    t.must(f"names at level {level} can be had", ran.status == 0, ran.describe())
    return counted(ran.out)


def share(counts, wanted):
    return sum(n for stack, n in counts.items() if any(wanted in f for f in stack)) / sum(counts.values())


def compare(t, a, b):
    """Alignment at each level, printed: {level: (same stack, same function)}; stacks at level jdk."""
    found = {}
    for level in ("none", "build", "jdk"):
        x, y = stacks(t, a, level), stacks(t, b, level)
        found[level] = aligned(x, y), aligned(frames(x), frames(y))
        tell(f"names {level:5}  same stack {found[level][0]:6.1%}  same function {found[level][1]:6.1%}")
    return found, x, y


def diff(t, a, b):
    """What stoke diff says, as lines of text and as its JSON."""
    files = [file for file, _ in a] + ["--"] + [file for file, _ in b]
    said = stoke(t.folder, "diff", *files, within_s=120)
    data = stoke(t.folder, "diff", "-q", "-f", "json", *files, within_s=120)
    t.must("diff ends with status 0", said.status == 0 and data.status == 0, said.describe())
    lines = said.out.splitlines()
    for line in lines:
        if line[:1] not in ("", " "):
            tell(line)
    return lines, json.loads(data.out)


def mean(side, word):
    return sum(said[word] for _, said in side) / len(side)


@case("a JDK upgrade: names align, and what changed is named", live=True, tools=["javac"])
def upgrade(t):
    before, after = jdk17(), later_jdk()
    compile_java(t, "Upgrade.java")
    a, b = alternate(t, (before, ("Upgrade", 3000)), (after, ("Upgrade", 3000)))
    found, x, y = compare(t, a, b)
    if not isinstance(after, Rooted):
        for part in ("print", "sort", "count", "proxy", "reflect"):
            tell(f"{part:8} {mean(a, part):9.0f} ns a round before, {mean(b, part):9.0f} after: "
                f"x {mean(b, part) / mean(a, part):.2f}")
    t.expect("no level aligns less than the one before", found["none"][0] <= found["build"][0] + 0.01 and
        found["build"][0] <= found["jdk"][0] + 0.01, found)
    t.expect("hardly a stack is the same as long as names are", found["build"][0] < 0.15, found)
    t.expect("at level jdk a third of the samples and nine of ten frames are", found["jdk"][0] > 0.33 and
        found["jdk"][1] > 0.9, found)
    t.expect("Double.toString is other code", share(x, "FloatingDecimal") > 0.02 and share(y, "DoubleToDecimal") > 0.02 and
        not share(x, "DoubleToDecimal") and not share(y, "FloatingDecimal.toJava"), (x.most_common(5), y.most_common(5)))
    lines, data = diff(t, a, b)
    t.expect("diff takes names at level jdk by itself", data["options"]["names"] == "jdk" and
        data["options"]["names_chosen"], data["options"])
    parts = {h["name"]: h for h in data["hypotheses"] if h["kind"] == "total"}
    code = [name for name, h in parts.items() if name.startswith("jdk.internal.math.") and abs(h["difference"]) > 0.03]
    t.expect("of the JDK's own code, what prints numbers is gone and new", any("FloatingDecimal" in n for n in code) and
        any("DoubleToDecimal" in n for n in code), lines)
    t.expect("and the report says so", any(line.startswith("NEW") and "DoubleToDecimal" in line for line in lines) and
        any(line.startswith("GONE") and "loatingDecimal" in line for line in lines), lines)
    if not isinstance(after, Rooted):
        measured = mean(b, "print") / mean(b, "sort") * mean(a, "sort") / mean(a, "print")
        shown = (share(y, "Upgrade.printNumbers") / share(y, "Upgrade.sortSome")
            * share(x, "Upgrade.sortSome") / share(x, "Upgrade.printNumbers"))
        tell(f"print by sort, after by before: x {measured:.2f} as the program measured it, x {shown:.2f} in the profiles")
        t.expect("the profiles show what the program measured", 0.75 < shown / measured < 1.33, (measured, shown))
    t.expect("reflection is one frame on both sides", share(x, "[reflection]") > 0.02 and share(y, "[reflection]") > 0.02 and
        not share(x, "MethodAccessor.invoke") and not share(y, "HandleAccessor.invoke"), (share(x, "[reflection]"),
        share(y, "[reflection]")))


@case("TLS without session resumption: the handshake is named", live=True, tools=["javac", "keytool"])
def tls(t):
    jdk = jdk17()
    compile_java(t, "Handshakes.java")
    subprocess.run(["keytool", "-genkeypair", "-alias", "a", "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=server",
        "-storetype", "PKCS12", "-keystore", "keys.p12", "-storepass", "changeit", "-validity", "3650"], cwd=t.folder,
        check=True, capture_output=True)
    keys = t.folder / "keys.p12"
    # Nothing inlined: else who stands in whose stack differs from run to run, as the compilers choose.
    fixed = "-XX:-Inline"
    a, b = alternate(t, (jdk, (fixed, "Handshakes", keys, 2500, 10)), (jdk, (fixed, "Handshakes", keys, 2500, 1)))
    _, x, y = compare(t, a, b)
    tell(f"{mean(a, 'connections'):.0f} connections in 2.5 s of CPU time with resumption, {mean(b, 'connections'):.0f} without")
    t.expect("sessions are resumed on one side only", mean(a, "connections") > 1.5 * mean(b, "connections"), (a, b))
    lines, data = diff(t, a, b)
    owner = data["owners"][0]
    tell("owner", " > ".join(owner["path"][-3:]), owner["kind"], f"{owner['before']:.1%} -> {owner['after']:.1%}")
    t.expect("the handshake is the owner", any(re.search(r"shakeHands|ssl\.\w*Handshake", f) for f in owner["path"]), owner)
    t.expect("as more of it or another mix of the same", owner["kind"] in ("mix", "volume"), owner)
    grew = [line for line in lines if line.startswith(("GREW", "NEW"))]
    t.expect("and the report says so first", grew and re.search(r"[hH]andshake|shakeHands|KeyExchange|sun\.security|\.ssl\.", grew[0]), lines)


if __name__ == "__main__":
    raise SystemExit(main())
