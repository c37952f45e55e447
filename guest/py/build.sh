#!/bin/sh
# build.sh CLANG SYSROOT PYTHON_DIR OUT.wasm [formula] - builds the Python image,
# or that of formulas: formula/ and some of what the first is made of.
# SYSROOT is a wasi-libc tree, PYTHON_DIR what deps/build-python made; objects
# go beside OUT.
set -eu

if [ $# -lt 4 ]; then
	echo "usage: build.sh CLANG SYSROOT PYTHON_DIR OUT.wasm [formula]" >&2
	exit 2
fi
clang=$1 sysroot=$2 python=$3 out=$4 start=${5:-}
here=$(cd "$(dirname "$0")" && pwd)
columns=$(dirname "$here")/columns
objects=$out.d
mkdir -p "$objects"

# The paths of this machine must not reach the image.
flags="--target=wasm32-wasi --sysroot=$sysroot -O2 -std=gnu17
	-fvisibility=hidden -ffunction-sections -fdata-sections
	-D_GNU_SOURCE -DNDEBUG -D_WASI_EMULATED_SIGNAL
	-isystem $python/include -ffile-prefix-map=$here=.
	-Wall -Wextra -Wno-sign-compare -Wno-unused-parameter
	-Wno-c23-extensions"

sources=$(ls "$here"/*.c)
if [ "$start" = formula ]; then
	sources=$(ls "$here"/formula/*.c "$here"/lock.c "$here"/memory.c \
		"$here"/request.c "$here"/settle.c "$here"/system.c)
	flags="$flags -I$here -I$(dirname "$here")
		-ffile-prefix-map=$columns=columns"
	for f in "$columns"/*.c; do
		# shellcheck disable=SC2086 # a list of words
		"$clang" $flags -msimd128 -c "$f" \
			-o "$objects/columns_$(basename "$f" .c).o"
	done
fi
for f in $sources; do
	# shellcheck disable=SC2086 # a list of words
	"$clang" $flags -DLIBRARY_FILE="\"$python/stdlib.bin\"" \
		-c "$f" -o "$objects/$(basename "$f" .c).o"
done

# What lock.c, poll.c, source.c (in formula/: tree.c) and system.c stand in
# front of.
wrap=
for name in _PyMutex_LockTimed _PySemaphore_Wait _Py_HandlePending \
	PyErr_CheckSignals PyErr_ProgramTextObject \
	_PyErr_ProgramDecodedTextObject __wasi_environ_sizes_get \
	__wasi_clock_res_get __wasi_clock_time_get __wasi_random_get \
	__wasi_fd_prestat_get __wasi_fd_fdstat_get __wasi_fd_filestat_get \
	__wasi_fd_seek __wasi_fd_tell __wasi_poll_oneoff; do
	wrap="$wrap -Wl,--wrap=$name"
done
if [ "$start" != formula ]; then
	for name in localtime_r mktime; do # zone.c
		wrap="$wrap -Wl,--wrap=$name"
	done
fi
# shellcheck disable=SC2086 # a list of words
"$clang" $flags -mexec-model=reactor "$objects"/*.o $wrap "$python"/lib/*.a \
	"$python"/lib/*.a -lwasi-emulated-signal -lwasi-emulated-getpid \
	-lwasi-emulated-process-clocks -ldl -lm -Wl,--gc-sections,--strip-all \
	-Wl,-z,stack-size=4194304 -Wl,--stack-first \
	-Wl,--export=__stack_pointer -o "$out"
