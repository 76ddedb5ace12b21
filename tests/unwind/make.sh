#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# make.sh SOURCES OUT: libraries of functions with frames of every shape, by both compilers, for both
# machines. clang and lld make the foreign ones: no other C library is needed.
set -eu
from=$1 out=$2
rm -rf "$out"
mkdir -p "$out"
cd "$out"
common="-fPIC -w -nostdlib -shared -Wl,-z,lazy"
for cc in gcc clang; do
	$cc $common -O0 "$from/shapes.c" -o $cc-plain.so
	$cc $common -O2 -fomit-frame-pointer "$from/shapes.c" -o $cc-fast.so
	$cc $common -O2 -fno-omit-frame-pointer "$from/shapes.c" -o $cc-fp.so
	$cc $common -O2 -fstack-clash-protection -fcf-protection "$from/shapes.c" -o $cc-clash.so
	$cc $common -Os -mavx2 "$from/shapes.c" -o $cc-small.so
	$cc $common -O2 -x c++ "$from/throws.cc" -o $cc-throws.so
	# No .eh_frame at all: .debug_frame is what is left, plain and packed.
	$cc $common -g -O2 -fno-asynchronous-unwind-tables "$from/shapes.c" -o $cc-debug.so
	$cc $common -g -gz=zlib -O2 -fno-asynchronous-unwind-tables "$from/shapes.c" -o $cc-packed.so
done
# Programs whose PLT no FDE describes; with endbr64, and without.
echo 'void sink(void) {} void sources(void) {}' | gcc -shared -nostdlib -fPIC -x c - -o sink.so
for ibt in -fcf-protection=none "-fcf-protection -Wl,-z,force-ibt"; do
	clang -w -O2 -nostdlib -fuse-ld=lld -Wl,-z,lazy -Wl,-e,leaf $ibt "$from/shapes.c" -L. -l:sink.so \
		-o "lld$(echo "$ibt" | tr -d ' ,')"
done
arm="--target=aarch64-linux-gnu -fuse-ld=lld -Wl,--unresolved-symbols=ignore-all"
for flags in -O0 -O2 "-O2 -fomit-frame-pointer" "-O2 -mbranch-protection=standard" -Os; do
	clang $arm $common $flags -fasynchronous-unwind-tables "$from/shapes.c" -o "aarch64$(echo "$flags" | tr -d ' ').so"
done
clang $arm $common -O2 -x c++ "$from/throws.cc" -o aarch64-throws.so
clang $arm $common "$from/aarch64.s" -o aarch64-written.so
