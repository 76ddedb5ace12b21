#!/bin/busybox sh
# SPDX-License-Identifier: BSD-2-Clause
# init of the machine in qemu: records what runs here, hands /out over through the second serial line
# as a compressed tar, says DONE on the first, and switches off. Judging is kernels.py's.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
mkdir /out
cd /out
echo nobody:x:65534:65534::/:/bin/sh >/etc/passwd

# step NAME COMMAND...: what it said, how it ended.
step() {
	name=$1
	shift
	"$@" >"$name.out" 2>"$name.err" </dev/null
	echo $? >"$name.status"
	echo "STEP $name $(cat /proc/uptime)"
}

# until_seen NR PATTERN NAME COMMAND...: as step, SECONDS in COMMAND growing until NR lines of NAME.folded are like
# PATTERN: tables of a process that is met while it runs come when they are made, and a crowded machine takes its time.
until_seen() {
	nr=$1 pattern=$2
	shift 2
	for seconds in 3 8 20; do
		line=
		for word in "$@"; do
			line="$line $(echo "$word" | sed "s/SECONDS/$seconds/")"
		done
		step $line
		[ "$(grep -c "$pattern" "$1.folded")" -lt "$nr" ] || break
	done
}

uname -r >release
step version stoke --version
until_seen 60 '^[^[].*;work;down;' command stoke record -F 499 -o command.folded -o command.pb.gz \
	-- /programs/frames-static SECONDS 40

/programs/frames 1000 900 &
running=$!
step attach stoke record -p $running -d 3 -F 499 -o attach.folded
until_seen 20 '^frames;[^b]*;work;down;' all stoke record -a -d SECONDS -F 199 -o all.folded
step nobody su nobody -s /bin/sh -c "stoke record -p $running -d 1 -o /tmp/nobody.folded"
kill $running

until_seen 100 '^[^[].*;main;outer' throws stoke record -F 499 -o throws.folded -- /programs/throws-static SECONDS
until_seen 3 ';main;child_work' forks stoke record -F 499 -o forks.folded -- /programs/forker-static SECONDS
step namespace unshare -p -f --mount-proc sh -c '/programs/frames-static 1000 20 & stoke record -p $! -d 2 -F 499 -o namespace.folded; kill $!'

# A kernel that does not describe its types.
mount -t tmpfs tmpfs /sys/kernel/btf
step untyped stoke record -d 3 -F 199 -o untyped.folded -- /programs/frames-static 1 20
dmesg >dmesg

exec 3<>/dev/ttyS1
stty raw -echo <&3
tar c . | gzip >&3
exec 3>&-
echo DONE
poweroff -f
