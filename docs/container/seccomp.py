#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""seccomp.py <PROFILE >OUT: an engine's seccomp profile that also lets stoke call bpf and perf_event_open.

The rights are CAP_BPF and CAP_PERFMON all the same; engines tie these two calls to CAP_SYS_ADMIN. Profiles:
/usr/share/containers/seccomp.json (Podman), profiles/seccomp/default.json in Docker's sources."""
import json
import sys

CALLS = {"bpf", "perf_event_open"}

profile = json.load(sys.stdin)
for rule in profile["syscalls"]:
    rule["names"] = [name for name in rule["names"] if name not in CALLS]
profile["syscalls"] = [rule for rule in profile["syscalls"] if rule["names"]]
profile["syscalls"].append({"names": sorted(CALLS), "action": "SCMP_ACT_ALLOW"})
json.dump(profile, sys.stdout, indent=1)
print()
