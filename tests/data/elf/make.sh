#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# make.sh SOURCE DIR INLINED: builds the library in every shape that the tests of lib/elf read.
set -eu
source=$1
dir=$2
inlined=$3
cflags='-O1 -g0 -fPIC -shared -fno-omit-frame-pointer -fno-optimize-sibling-calls'

rm -rf "$dir"
mkdir -p "$dir/sysroot/lib/.debug" "$dir/sysroot/usr/lib/debug/lib"

# Code at a virtual address that is not its offset in the file.
clang $cflags -fuse-ld=lld -Wl,--build-id=sha1 -o "$dir/lld.so" "$source"
# A first segment that is not at 0, as after prelink.
gcc $cflags -Wl,-Ttext-segment=0x34fd200000 -o "$dir/based.so" "$source"
# Code and read-only data in one segment; code alone in its pages.
gcc $cflags -Wl,-z,noseparate-code -o "$dir/together.so" "$source"
gcc $cflags -Wl,-z,separate-code -o "$dir/apart.so" "$source"
gcc $cflags -fno-toplevel-reorder -Wl,--build-id=none -s -o "$dir/stripped.so" "$source"
# Without section headers, as packers and some stripping leave it: e_shoff, e_shnum, e_shstrndx.
cp "$dir/stripped.so" "$dir/headless.so"
head -c 8 /dev/zero | dd of="$dir/headless.so" bs=1 seek=40 conv=notrunc 2>/dev/null
head -c 4 /dev/zero | dd of="$dir/headless.so" bs=1 seek=60 conv=notrunc 2>/dev/null

# MiniDebugInfo, as Fedora makes it: what .dynsym does not have, packed.
gcc $cflags -o "$dir/mini.so" "$source"
objcopy --only-keep-debug "$dir/mini.so" "$dir/mini.debug"
xz -k -c "$dir/mini.debug" > "$dir/mini.xz"
strip -s "$dir/mini.so"
cp "$dir/mini.so" "$dir/mini-torn.so"
objcopy --add-section .gnu_debugdata="$dir/mini.xz" "$dir/mini.so"
head -c 400 "$dir/mini.xz" > "$dir/mini-torn.xz"
objcopy --add-section .gnu_debugdata="$dir/mini-torn.xz" "$dir/mini-torn.so"
head -c 600000000 /dev/zero | xz -1 > "$dir/mini-bomb.xz"
objcopy --add-section .gnu_debugdata="$dir/mini-bomb.xz" "$dir/stripped.so" "$dir/mini-bomb.so"

# Separate debug files: by build id in the target's root; by link beside, in .debug and below
# /usr/lib/debug; and the debug file of another build.
gcc $cflags -Wl,--build-id=sha1 -o "$dir/full.so" "$source"
id=$(readelf -n "$dir/full.so" | sed -n 's/.*Build ID: //p')
mkdir -p "$dir/sysroot/usr/lib/debug/.build-id/${id%"${id#??}"}"
objcopy --only-keep-debug "$dir/full.so" "$dir/sysroot/usr/lib/debug/.build-id/${id%"${id#??}"}/${id#??}.debug"
strip -s -o "$dir/sysroot/lib/by-id.so" "$dir/full.so"

gcc $cflags -Wl,--build-id=none -o "$dir/plain.so" "$source"
gcc $cflags -Wl,--build-id=none -DOTHER=1 -O2 -o "$dir/other.so" "$source"
for name in beside hidden global wrong missing linked outside; do
	objcopy --only-keep-debug "$dir/plain.so" "$dir/$name.debug"
	strip -s -o "$dir/sysroot/lib/$name.so" "$dir/plain.so"
	(cd "$dir" && objcopy --add-gnu-debuglink=$name.debug "sysroot/lib/$name.so")
done
mv "$dir/beside.debug" "$dir/sysroot/lib/"
mv "$dir/hidden.debug" "$dir/sysroot/lib/.debug/"
mv "$dir/global.debug" "$dir/sysroot/usr/lib/debug/lib/"
objcopy --only-keep-debug "$dir/other.so" "$dir/sysroot/lib/wrong.debug"
rm "$dir/missing.debug" "$dir/linked.debug"
# A symbolic link that leads to a file in the root, and one that only leads to a file out of it.
ln -s /usr/lib/debug/lib/global.debug "$dir/sysroot/lib/linked.debug"
ln -s "$(cd "$dir" && pwd)/outside.debug" "$dir/sysroot/lib/outside.debug"

# Inlined functions, told of by gcc and by clang, which leaves out .debug_aranges; in packed sections; in a
# debug file beside.
gcc -O2 -g -fPIC -shared -o "$dir/inlined-gcc.so" "$inlined"
clang -O2 -g -fPIC -shared -o "$dir/inlined-clang.so" "$inlined"
gcc -O2 -g -gz=zlib -fPIC -shared -o "$dir/inlined-packed.so" "$inlined"
objcopy --only-keep-debug "$dir/inlined-gcc.so" "$dir/inlined.debug"
strip -s -o "$dir/inlined-apart.so" "$dir/inlined-gcc.so"
(cd "$dir" && objcopy --add-gnu-debuglink=inlined.debug inlined-apart.so)
