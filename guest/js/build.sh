#!/bin/sh
# build.sh CLANG SYSROOT QUICKJS_DIR OUT.wasm [formula] - builds the JavaScript
# image, or that of formulas: the same with formula/ in guest.c's place.
# SYSROOT is a wasi-libc tree (include/, lib/); objects go beside OUT.
set -eu

if [ $# -lt 4 ]; then
	echo "usage: build.sh CLANG SYSROOT QUICKJS_DIR OUT.wasm [formula]" >&2
	exit 2
fi
clang=$1 sysroot=$2 quickjs=$3 out=$4 start=${5:-guest}
here=$(cd "$(dirname "$0")" && pwd)
columns=$(dirname "$here")/columns
objects=$out.d
mkdir -p "$objects"

# The paths of this machine must not reach the image.
flags="--target=wasm32-wasi --sysroot=$sysroot -O2 -std=gnu17
	-fvisibility=hidden -ffunction-sections -fdata-sections
	-D_GNU_SOURCE -DNDEBUG -D_WASI_EMULATED_PROCESS_CLOCKS
	-D_WASI_EMULATED_SIGNAL -I$here -isystem $quickjs
	-ffile-prefix-map=$here=. -ffile-prefix-map=$quickjs=quickjs"
[ "$start" = formula ] && flags="$flags -I$(dirname "$here")
	-ffile-prefix-map=$columns=columns"
ours="-Wall -Wextra -Wno-sign-compare"
theirs="-w"

compile() { # FLAGS SOURCE OBJECT
	if [ -f "$3" ] && [ "$3" -nt "$2" ] &&
	   [ -z "$(find "$here" "$columns" -newer "$3" -type f ! -name '*.c' \
		-print -quit)" ]; then
		return
	fi
	# shellcheck disable=SC2086
	"$clang" $flags $1 -c "$2" -o "$3"
}

pids=
quick=$here/quick.c
[ "$start" = formula ] && quick=$here/formula/quick_realm.c
compile "$theirs" "$quick" "$objects/quick.o" & pids="$pids $!"
for f in libregexp libunicode dtoa; do
	compile "$theirs" "$quickjs/$f.c" "$objects/$f.o"
done & pids="$pids $!"
for f in "$here"/*.c "$here/formula"/*.c; do
	name=$(basename "$f" .c)
	case $start/${f#"$here"/} in
	*/quick*.c | guest/formula/* | formula/guest.c) continue ;;
	esac
	compile "$ours" "$f" "$objects/$name.o"
done & pids="$pids $!"
if [ "$start" = formula ]; then
	for f in "$columns"/*.c; do
		compile "$ours -msimd128" "$f" \
			"$objects/columns_$(basename "$f" .c).o"
	done & pids="$pids $!"
fi
for p in $pids; do
	wait "$p"
done

# shellcheck disable=SC2086
"$clang" $flags -mexec-model=reactor "$objects"/*.o \
	-lwasi-emulated-process-clocks -lwasi-emulated-signal \
	-Wl,--gc-sections,--strip-all -Wl,-z,stack-size=1048576 \
	-Wl,--stack-first,--export=__stack_pointer -o "$out"
