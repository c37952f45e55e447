#!/bin/sh
# The tarball builds and tests itself outside any git clone.
# test-seconds: 1800
set -eu
cd "$REDOMA_ROOT"
[ -d .git ] || {
	echo "not a git clone"
	exit 77
}
git clone -q . "$TMPDIR/clone"
cd "$TMPDIR/clone"
first=$(tools/dist) && sum=$(sha256sum "$first")
rm "$first"
[ "$sum" = "$(sha256sum "$(tools/dist)")" ] || {
	echo "two tarballs of one commit differ"
	exit 1
}
tar -xf "$first" -C "$TMPDIR"
cd "$TMPDIR/${first%.tar.gz}"
make -s all </dev/null
make -s test T='unit_ layers size headers symbols' </dev/null | tail -n 5
