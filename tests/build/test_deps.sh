#!/bin/sh
# A build that has its dependencies needs no network and remakes nothing, in
# this clone and in a new one; what it is made of decides the folder's name.
set -u
n=0
check() { # NAME, then a command
	n=$((n + 1))
	name=$1
	shift
	if "$@"; then echo "ok $n - $name"; else echo "not ok $n - $name"; fi
}
alone="unshare -n"
$alone true 2>/dev/null || alone="unshare -rn"
$alone true 2>/dev/null || {
	echo "1..0 # SKIP this kernel lets us make no network namespace"
	exit
}
command -v cargo >/dev/null && command -v rustc >/dev/null || {
	echo "1..0 # SKIP this user has no compiler of Rust"
	exit
}
copy=$TMPDIR/clone
mkdir "$copy"
cp -R "$REDOMA_ROOT/deps" "$REDOMA_ROOT/engine-rs" "$copy/"

fetches_alone() { (cd "$1" && $alone deps/fetch </dev/null) 2>&1 | tee "$TMPDIR/log"; [ ! -s "$TMPDIR/log" ]; }
same_links() {
	for d in engine python sources wasi-libc; do
		[ "$(readlink "$copy/.deps/$d")" = \
			"$(readlink "$REDOMA_ROOT/.deps/$d")" ] || return 1
	done
}
key_changes() { # DEPENDENCY FILE
	before=$("$copy/deps/fetch" --key "$1")
	echo '# changed' >>"$copy/$2"
	[ "$before" != "$("$copy/deps/fetch" --key "$1")" ]
}
check "nothing to do, no network" fetches_alone "$REDOMA_ROOT"
check "a second clone, no network" fetches_alone "$copy"
check "the second clone uses the same builds" same_links
check "a lock file is part of the engine's key" \
	key_changes engine engine-rs/Cargo.lock
check "our Rust is part of the engine's key" \
	key_changes engine engine-rs/src/lib.rs
check "a recipe is part of its key" key_changes sources deps/build-sources
check "a pin is part of its key" key_changes wasi-libc deps/wasi-libc.pin
check "Debian's packages are part of Python's key" \
	key_changes python deps/python.pin
check "what packs the library is part of Python's key" \
	key_changes python deps/python_pack.py
echo "1..$n"
