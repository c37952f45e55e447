#!/bin/sh
# What make install puts down works from there, wherever that is.
# test-seconds: 120
set -u
cd "$REDOMA_ROOT" || exit 1
meson install -C "$REDOMA_BUILD" --no-rebuild --quiet --destdir "$TMPDIR/d" ||
	exit 1
top=$(dirname "$(dirname "$(find "$TMPDIR/d" -name redoma -type f -perm -1)")")
n=0
check() {
	n=$((n + 1))
	name=$1
	shift
	if "$@"; then echo "ok $n - $name"; else echo "not ok $n - $name"; fi
}
runs() { [ "$("$top/bin/redoma" eval js '6*7')" = 42 ]; }
evaluates() {
	for lang in js py; do
		[ "$(printf 'a\n6\n' | "$top/bin/redoma" formula --lang $lang \
			'a * 7' - | tail -1)" = 6,42 ] || return 1
	done
}
compiles() {
	cat >"$TMPDIR/t.c" <<-'C'
	#include <redoma.h>
	#include <stdio.h>
	int main(void)
	{
		struct redoma_error err = {0};
		struct redoma_policy *p;
		int rc = redoma_policy_parse("redoma: 1", 9, NULL, &p, &err);

		if (rc)
			fprintf(stderr, "%s\n", err.text);
		else
			redoma_policy_free(p);
		return rc != 0;
	}
	C
	cc -std=c99 -Wall -Werror -I"$top/include" -o "$TMPDIR/t" "$TMPDIR/t.c" \
		"$top/lib/libredoma.a" -lpthread && "$TMPDIR/t"
}
prefix=$(meson introspect "$REDOMA_BUILD" --buildoptions | python3 -c '
import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')
# Nothing is compiled anew for another PREFIX but the file that holds it.
names_no_prefix() { ! grep -F "$prefix/lib/redoma" "$REDOMA_BUILD/build.ninja"; }
knows_prefix() { grep -qF "$prefix/lib/redoma" "$1"; }
needs_no_tests() {
	ninja -C "$REDOMA_BUILD" -t commands all | grep -q ' -o tests/' || return
	ninja -C "$REDOMA_BUILD" -t commands installed >"$TMPDIR/made" &&
		! grep -E ' -o (tests|fuzz|bench)/' "$TMPDIR/made"
}
needs_all() {
	meson introspect "$REDOMA_BUILD" --targets | python3 -c '
import json, os, sys
have = set(open(sys.argv[1]).read().replace(";", " ").split())
need = {os.path.relpath(f, sys.argv[2]) for t in json.load(sys.stdin)
        if t["installed"] for f in t["filename"]}
print("# not built for an installation:", need - have)
sys.exit(not need or bool(need - have))' "$TMPDIR/made" "$REDOMA_BUILD"
}
for f in bin/redoma lib/libredoma.a include/redoma.h lib/redoma/redoma-worker \
	lib/redoma/redoma-compile lib/redoma/images/js.cwasm \
	lib/redoma/images/js.fuel.cwasm lib/redoma/images/js.wasm \
	lib/redoma/images/js-formula.cwasm \
	lib/redoma/images/js-formula.fuel.cwasm \
	lib/redoma/images/js-formula.wasm \
	lib/redoma/images/py.cwasm lib/redoma/images/py.fuel.cwasm \
	lib/redoma/images/py.wasm lib/redoma/images/py-formula.cwasm \
	lib/redoma/images/py-formula.fuel.cwasm \
	lib/redoma/images/py-formula.wasm share/man/man1/redoma.1 \
	share/bash-completion/completions/redoma; do
	check "$f is there" [ -f "$top/$f" ]
done
check "no command of the build names PREFIX" names_no_prefix
check "the installed library does" knows_prefix "$top/lib/libredoma.a"
check "an installation builds no tests" needs_no_tests
check "and all that is installed" needs_all
check "the installed redoma finds its worker" runs
check "it finds the images of formulas" evaluates
check "a C99 program builds with the installed library" compiles
echo "1..$n"
