#!/usr/bin/env python3
"""test-seconds: 120
C153 C155: a program that links libredoma.a, as C99 and as C++11, gets what the
command gets, run by run, and its getters say what its JSON says."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import lib_wasm as W
from lib_redoma import *

PROGRAM = r"""
#include <redoma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char source[1 << 20];

static int fail(const char *what, const struct redoma_error *e)
{
	fprintf(stderr, "%s: %d %s\n", what, (int)e->code, e->text);
	return 1;
}

/* The getters and the JSON are two views of one result. */
static int agree(struct redoma_result *r)
{
	uint64_t n, len;
	const char *json = redoma_result_json(r, &n), *value;
	const void *out = redoma_result_stdout(r, &len);
	char want[64];

	if (!json || strlen(json) != n)
		return 0;
	snprintf(want, sizeof want, "\"status\":\"%s\"",
		 redoma_status_name(redoma_result_status(r)));
	if (!strstr(json, want))
		return 0;
	snprintf(want, sizeof want, "\"exit_code\":%d",
		 redoma_result_exit_code(r));
	if (!strstr(json, want))
		return 0;
	if (!out != !strstr(json, "\"stdout\":") && len)
		return 0;
	value = redoma_result_value(r, &len);
	return !value || (strlen(value) == len && strstr(json, value));
}

static int run(struct redoma *handle, const char *path, const char *const *argv)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *r = NULL;
	struct redoma_error e;
	FILE *f = fopen(path, "rb");

	if (!f)
		return 1;
	q.name = path;
	q.source = source;
	q.source_len = fread(source, 1, sizeof source, f);
	q.argv = argv;
	fclose(f);
	if (redoma_run(handle, &q, &r, &e))
		return fail("run", &e);
	if (!agree(r)) {
		fprintf(stderr, "getters differ: %s\n",
			redoma_result_json(r, NULL));
		return 1;
	}
	puts(redoma_result_json(r, NULL));
	redoma_result_free(r);
	return 0;
}

int main(int argc, char **argv)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *p = NULL, *q = NULL;
	struct redoma *handle = NULL;
	struct redoma_error e;
	char *text = NULL;
	int bad = 0;
	const char *const args[] = {"one", "two words", NULL};

	o.install_dir = argv[1];
	if (redoma_policy_parse("redoma: 1", 9, NULL, &p, &e))
		return fail("policy", &e);
	if (redoma_policy_with(p, "limit", "wall=400ms", NULL, &q, &e))
		return fail("with", &e);
	if (redoma_policy_show(q, &text, &e) || !strstr(text, "wall: 400ms"))
		return fail("show", &e);
	redoma_free(text);
	if (redoma_policy_with(p, "limit", "wal=1s", NULL, &q, &e) !=
		    REDOMA_E_INVALID || !strstr(e.text, "wall"))
		return fail("a typo went through", &e);
	if (redoma_policy_contains(p, q, &e))
		return fail("narrower", &e);
	if (redoma_policy_contains(q, p, &e) != REDOMA_E_DENIED ||
	    !strstr(e.text, "wall"))
		return fail("wider went through", &e);
	if (redoma_open(q, &o, &handle, &e))
		return fail("open", &e);
	redoma_policy_free(p);
	redoma_policy_free(q);
	for (int i = 2; i < argc && !bad; i++)
		bad = run(handle, argv[i], args);
	redoma_close(handle);
	return bad;
}
"""


def guests():
    """What a person would run, and what an attacker would."""
    trap = W.module(codes=(W.body(W.UNREACHABLE),))
    return [wasm("limits", "-msimd128"), wasm("files"),
            write("ok.js", "[1n, process.argv.slice(2)]"),
            write("throws.js", "console.log('out'); throw new Error('x')"),
            write("denied.js", "require('node:fs').readFileSync('/etc/passwd')"),
            write("loop.js", "console.log('before'); for (;;);"),
            write("exit.js", "process.exit(3)"),
            write("syntax.js", "let let = 1"),
            write("nothing.wasm", W.module()), write("trap.wasm", trap),
            write("loop.wasm", W.module(codes=(W.body(W.LOOP),))),
            write("bad.wasm", W.MAGIC + b"\1\xff"),
            write("unknown.wasm", W.module(imports=(
                W.imported("env", "abort"),)))]


def build(compiler, std, language):
    exe = scratch() / f"embed-{std}"
    p = subprocess.run(
        [compiler, f"-std={std}", "-x", language, "-Wall", "-Wextra",
         "-pedantic-errors", "-Werror", f"-I{ROOT}/include", "-",
         "-x", "none", str(BUILD / "libredoma.a"), "-lpthread", "-o", str(exe)],
        input=PROGRAM, capture_output=True, text=True)
    need(p.returncode == 0, p.stderr)
    return exe


KEYS = ("status", "exit_code", "value", "stdout", "stderr", "error",
        "truncated", "pure")


def same_as_the_command(exe):
    files = guests()
    p = subprocess.run([str(exe), str(BUILD), *map(str, files)],
                       capture_output=True, timeout=60)
    need(p.returncode == 0, p.stderr.decode())
    got = [strict_json(l) for l in p.stdout.splitlines()]
    need(len(got) == len(files), f"{len(got)} results")
    seen = set()
    for path, lib in zip(files, got):
        r = run_json("run", path, "--limit", "wall=400ms", "--", "one",
                     "two words")
        for key in KEYS:
            a, b = lib.get(key), r.json.get(key)
            if key == "error" and a and b:  # the place of an interruption
                a, b = ({k: e.get(k) for k in ("name", "message")}
                        for e in (a, b))
            need(a == b, f"{path.name}: {key}: {a!r}, {b!r}")
        denials = [(d["op"], d["path"]) for d in lib.get("denials", [])]
        need(denials == [(d["op"], d["path"]) for d in r.json.get(
            "denials", [])], f"{path.name}: {denials}")
        seen.add(lib["status"])
    need(seen == {"ok", "error", "wall_limit", "invalid", "trap"}, f"{seen}")


@case("C155 a C99 program gets what the command gets")
def _():
    same_as_the_command(build("gcc", "c99", "c"))


@case("C155 so does a C++11 program")
def _():
    same_as_the_command(build("g++", "c++11", "c++"))


if __name__ == "__main__":
    main()
