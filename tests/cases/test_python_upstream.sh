#!/bin/sh
# Some of CPython's own tests in a jar; `make test-python` runs all that are
# listed.
# test-seconds: 120
[ -d "$REDOMA_ROOT/.deps/python-tests" ] || {
	echo "CPython's own tests are not here: deps/fetch --python-tests"
	exit 77
}
exec python3 "$REDOMA_ROOT/tests/python/upstream.py" --build "$REDOMA_BUILD" \
	test_json test_csv test_asyncio.test_futures
