#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs a test inside a PID namespace of its own, where numbers are not those that the kernel's programs
# are given.
if [ -z "$STOKE_REQUIRE_BPF" ] && ! unshare --pid --fork --mount-proc true 2>/dev/null; then
	echo "1..0 # SKIP no right to make a PID namespace"
	exit 0
fi
# The shell stays process 1, which inherits orphans: Criterion is confused by children it did not make.
exec unshare --pid --fork --mount-proc --kill-child sh -c '"$@"; exit $?' sh "$@"
