#!/usr/bin/env python3
"""test-seconds: 200
Bad input: each is one sentence with what to do, the documented exit code,
nothing started and nothing left."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *


def ok(*args, **kw):
    return expect(run_json(*args, **kw), "ok")


def script(code="1"):
    return source(code, "fine.js")


def unprivileged():
    """How to run as somebody who may not read everything."""
    return os.geteuid() == 0


@case("limits of the caller that are lower than a run needs")
def _():
    for option, *more in (("-d 40000",),
                          ("-f 8", "--write", "o.txt=/o.txt:1MiB")):
        few = write("few.sh", f'#!/bin/sh\nulimit {option}\n'
                    f'exec {REDOMA} "$@"\n')
        few.chmod(0o755)
        r = command("run", script(), *more, program=str(few))
        need(r.code and "ulimit -Hd and -Hf" in r.text, r.about())


# ---- source

@case("source: missing")
def _():
    refused("run", "no-such.js", says=["no file", "no-such.js"])
    ok("run", script())


@case("source: unreadable")
def _():
    path = write("secret.js", "1")
    path.chmod(0)
    if os.geteuid() == 0:
        # Root reads everything: ask as nobody.
        import subprocess
        p = subprocess.run([REDOMA, "run", str(path)], capture_output=True,
                           user=65534, group=65534, extra_groups=[],
                           cwd="/", timeout=10)
        if b"No such file" in p.stderr or p.returncode == 126:
            raise Failed(p.stderr.decode())
        need(p.returncode == 2 and p.stderr.count(b"\n") == 1
             and b"permission" in p.stderr, repr(p))
    else:
        refused("run", path, says="permission")


@case("source: a directory, a FIFO, a device")
def _():
    refused("run", scratch(), says="directory")
    fifo = scratch() / "fifo.js"
    if not fifo.exists():
        os.mkfifo(fifo)
    refused("run", fifo, says="regular file")
    refused("run", "/dev/zero", "--lang", "js", says="regular file")


@case("source: empty")
def _():
    refused("run", write("empty.js", ""), code=5, says="empty")
    refused("run", "-", "--lang", "js", code=5, says="empty")
    refused("eval", "js", "", code=5, says="empty")


@case("source: over 1 MiB")
def _():
    line = "// " + "x" * 60 + "\n"
    refused("run", write("big.js", line * 20000), code=5, says="1 MiB")
    ok("run", write("large.js", line * 16000 + "1"))


@case("C067 source: a NUL byte, by file and by standard input")
def _():
    for data in (b"\x001", b"'a\x00b'", b"1\x00"):
        refused("run", write("nul.js", data), code=5, says="NUL")
        refused("run", "-", "--lang", "js", code=5, says="NUL",
                kw={"stdin": data})
    ok("run", write("esc.js", b"'a\\0b'"))


@case("source: binary, and text that is not UTF-8")
def _():
    refused("run", write("bin.js", bytes(range(1, 256))), code=5,
            says="UTF-8")
    refused("run", write("latin.js", "'São'".encode("latin-1")), code=5,
            says=["UTF-8", "line 1"])
    refused("run", write("elf.js", b"\x7fELF\x02\x01\x01\xff"), code=5,
            says="UTF-8")
    expect(ok("run", write("utf8.js", "'São'")), "ok", value="São")


@case("source: unknown extension, and languages of later releases")
def _():
    refused("run", write("data.txt", "1"), says="--lang")
    refused("run", write("noext", "1"), says="--lang")
    refused("run", write("x.ts", "1"), says=["ts", "js, py and wasm"])
    refused("run", write("shebang", "#!/usr/bin/deno\n1"), says="ts")
    refused("run", script(), "--lang", "cobol", says="js, py and wasm")
    refused("eval", "ts", "1", says=["ts", "js and py"])
    ok("run", write("data.txt", "1"), "--lang", "js")
    ok("run", write("tool", "#!/usr/bin/env node\n1"))
    ok("run", write("tool2", "#!/usr/bin/env -S redoma run\n1"))


@case("source: a module is known by its bytes, not by its name")
def _():
    refused("run", write("not.wasm", "1 + 1"), code=5, says="\\0asm")


# ---- command line

@case("verbs and options that are misspelt get the nearest name")
def _():
    for args, says in ((("rnu", "x.js"), "redoma run"),
                       (("evla", "js", "1"), "redoma eval"),
                       (("polcy", "check"), "redoma policy")):
        r = command(*args)
        need(r.code == 2 and says in r.text, r.about())
    refused("run", script(), "--raed", "a=b", says="--read")
    refused("run", script(), "--limits", "wall=1s", says="--limit")
    refused("run", script(), "--polcy=x", says="--policy")
    refused("run", script(), "--frobnicate", says="--help")
    r = command("agent.js")
    need(r.code == 2 and "redoma run" in r.text, r.about())


@case("what this release lacks is said in one sentence")
def _():
    for verb in ("tool", "mcp", "serve", "bench", "audit"):
        r = command(verb, "x")
        need(r.code == 2 and "not in this release" in r.text
             and r.text.count("\n") == 1, r.about())


@case("options: missing value, value to a flag, twice, no file, two files")
def _():
    r = command("run", script(), "--limit")
    need(r.code == 2 and "--limit needs a value" in r.text, r.about())
    refused("run", script(), "--quiet=yes", says="takes no value")
    refused("run", script(), "--policy", "a", "--policy", "b", says="twice")
    refused("run", says="needs a file")
    refused("run", script(), "other.js", says="--")
    refused("run", script(), "-x", says="./-x")
    refused("eval", "js", says="redoma eval js")
    refused("run", script(), "--invoke", "f", says="wasm")


# ---- input

@case("input that is not JSON")
def _():
    for text, where in (("{", "line 1"), ("[1,]", "line 1"), ("hello", "JSON"),
                        ("", "JSON"), ("{'a':1}", "JSON"), ("1 2", "JSON"),
                        ("NaN", "JSON"), ("[1,\n2,\n}", "line 3"),
                        ('{"a":1,"a":2}', "JSON"), ('"\\ud800"', "JSON"),
                        ("[" * 5000, "JSON")):
        refused("run", script(), "--input", text, says=["--input", where])
    refused("run", script(), "--input", "@" + str(write("b.json", b"\xff")),
            says="JSON")
    refused("run", script(), "--input", "@no-such.json", says="no-such.json")
    refused("run", script(), "--input", "@" + str(scratch()),
            says="directory")
    expect(run_json("run", script("input.a"), "--input", '{"a": [1, "é"]}'),
           "ok", value=[1, "é"])
    expect(run_json("run", script("input"), "--input", "-", stdin=b"[null]"),
           "ok", value=[None])
    refused("run", script(), "--stdin", "a", "--input", "1",
            says=["--stdin", "--input"])
    refused("run", script(), "--stdin", "@" + str(write("c.txt", b"a\xff")),
            says="UTF-8 at byte 1")
    refused("run", "-", "--lang", "js", "--stdin", "-", says="both",
            kw={"stdin": b"1"})
    expect(run_json("run", script("[input, require('fs').readFileSync(0, "
                                  "'utf8')]"), "--stdin", 'a "b"\n'), "ok",
           value=['a "b"\n'] * 2)
    path = write("good.json", '{"n": 12345678901234567890, "x": 1.5}')
    expect(run_json("run", script("input.x"), "--input", f"@{path}"), "ok",
           value=1.5)
    refused("run", "-", "--lang", "js", "--input", "-",
            says="standard input")


# ---- limits

@case("limits: 0, negative, overflow, without unit, unknown")
def _():
    for bad in ("wall=0", "wall=0s", "wall=-1s", "wall=2", "wall=",
                "wall=1e3s", "wall=99999999999999999999s", "wall=2 s",
                "wall=2h", "cpu=0ms", "memory=0MiB", "memory=64",
                "memory=64XB", "memory=-64MiB", "memory=99999999999GiB",
                "memory=0x10MiB", "output=0KiB", "fuel=0", "fuel=-1",
                "fuel=18446744073709551616", "files=0", "files=-3",
                "calls=abc", "wal=2s", "", "=", "wall", "wall=2s=3s"):
        refused("run", script(), "--limit", bad)
    refused("run", script(), "--limit", "wal=2s", says="wall")
    refused("run", script(), "--limit", "wall=2", says="s")
    ok("run", script(), "--limit", "wall=2s", "--limit", "memory=64MiB",
       "--limit", "files=3", "--limit", "output=8KiB", "--limit", "cpu=900ms")


# ---- grants

@case("grants: missing file, directory where a file is promised, FIFO, device")
def _():
    plain = write("plain.txt", "x")
    fifo = scratch() / "a-fifo"
    if not fifo.exists():
        os.mkfifo(fifo)
    link = scratch() / "a-link"
    if not link.is_symlink():
        link.symlink_to(plain)
    for host, says in (("no-such", "no-such"), (scratch(), "/"),
                       (fifo, "regular"), ("/dev/zero", "regular"),
                       (link, "link"), (f"{plain}/", "director")):
        refused("run", script(), "--read", f"{host}=/d/x", says=says)
    ok("run", script(), "--read", f"{plain}=/d/x")


@case("grants: a file that may not be read, a directory that is not there")
def _():
    secret = write("locked.txt", "x")
    secret.chmod(0)
    if os.geteuid():
        refused("run", script(), "--read", f"{secret}=/d/x", says="permission")
    else:
        # Root reads everything: ask as nobody.
        p = subprocess.run([REDOMA, "eval", "js", "1", "--read",
                            f"{secret}=/d/x"], capture_output=True, cwd="/",
                           user=65534, group=65534, extra_groups=[],
                           timeout=10)
        need(p.returncode == 2 and p.stderr.count(b"\n") == 1
             and b"ermission" in p.stderr, repr(p))
    refused("run", script(), "--write", "no-dir/f=/o/f:1KiB", says="no-dir")
    refused("run", script(), "--read", "no-dir/=/d/", says="no-dir")
    refused("run", script(), "--write", f"{secret}/=/o/:1KiB",
            says="director")


@case("grants: names that cannot be")
def _():
    plain = write("plain.txt", "x")
    for spec in (f"{plain}=relative", f"{plain}=/d/../x", f"{plain}=",
                 "=/d/x", "", "=", f"{plain}=/d/x\n"):
        refused("run", script(), "--read", spec)
    for spec in (f"{plain}=/d/x", f"{plain}=/d/x:", f"{plain}=/d/x:0MiB",
                 f"{plain}=/d/x:-1MiB", f"{plain}=/d/x:5", "=:1MiB"):
        refused("run", script(), "--write", spec)
    for spec in ("", "=x", "A", "A B=1", "A=\n"):
        r = run_json("run", script(), "--env", spec)
        need(r.code in (0, 2), r.about())
    refused("run", script(), "--env", "=x")
    refused("run", script(), "--env", "A")


@case("C119 a grant of a later release is refused by name, not ignored")
def _():
    refused("run", script(), "--allow", "GET https://example.com/", code=6,
            says="net")


@case("--tool: a command that cannot be run is refused before anything starts")
def _():
    for value, says in (("search", "--tool search='COMMAND ARGS'"),
                        ("search=", "is empty"),
                        ("search=  ", "is empty"),
                        ("search=cat 'x", "quote that is not closed"),
                        ("search=cat \\", "ends in a backslash"),
                        ("search=no-such-program", "no program"),
                        ("search=/etc/passwd", "no program"),
                        ("=cat", "one word"), ("a b=cat", "one word")):
        refused("run", script(), "--tool", value, says=says)
    refused("run", script(), "--tool", "a=cat", "--tool", "a=true",
            says="given twice")
    ok("run", script(), "--tool", "search=cat")


@case("clock, random, reuse, on-denied, walls: only known words")
def _():
    for option, bad, good in (("--clock", "sometimes", "none"),
                              ("--random", "seed:x", "seed:42"),
                              ("--reuse", "always", "tenant"),
                              ("--on-denied", "shrug", "end"),
                              ("--walls", "secomp", "cgroup")):
        refused("run", script(), option, bad)
        ok("run", script(), option, good)


# ---- policy

@case("policy: a typo is named with line, column and the nearest name")
def _():
    p = write("typo.yaml", "redoma: 1\nlimits:\n  wal: 2s\n")
    refused("run", script(), "--policy", p, says=["wall", "3"])
    r = command("policy", "check", p)
    need(r.code == 2 and "wall" in r.text and "3" in r.text, r.about())
    good = write("good.yaml", "redoma: 1\nlimits:\n  wall: 2s\n")
    need(command("policy", "check", good).code == 0, "good policy")
    ok("run", script(), "--policy", good)


BAD_POLICIES = {
    "no version": "limits: {wall: 2s}\n",
    "other version": "redoma: 2\n",
    "not a mapping": "- redoma: 1\n",
    "duplicate key": "redoma: 1\nredoma: 1\n",
    "anchor": "redoma: 1\nread: &a [/etc/hosts]\n",
    "alias": "redoma: 1\nread: &a []\nwrite: *a\n",
    "tag": "redoma: !!int 1\n",
    "merge": "redoma: 1\nlimits: {<<: {wall: 1s}}\n",
    "two documents": "redoma: 1\n---\nredoma: 1\n",
    "tab": "redoma: 1\nlimits:\n\twall: 2s\n",
    "deep": "redoma: " + "[" * 20000,
    "NUL": "redoma: 1\nread: [\"/a\\0b\"]\n",
    "limit of 0": "redoma: 1\nlimits: {memory: 0MiB}\n",
    "limit without unit": "redoma: 1\nlimits: {wall: 2}\n",
    "write without size": "redoma: 1\nwrite: [{host: o, as: /o}]\n",
    "binary": "redoma: 1\n\xff\xfe",
    "unknown wall": "redoma: 1\nwalls: [secomp]\n",
    "same guest name twice":
        "redoma: 1\nread: [{host: a, as: /x}, {host: b, as: /x}]\n",
}


@case("policy: whatever is wrong with it")
def _():
    for name, text in BAD_POLICIES.items():
        p = write("bad.yaml", text.encode("latin-1"))
        for args in (("policy", "check", p), ("policy", "show", p)):
            r = command(*args)
            need(r.code == 2 and r.err.count(b"\n") == 1, f"{name}: {r.about()}")
        try:
            refused("run", script(), "--policy", p)
        except Failed as e:
            raise Failed(f"{name}: {e}") from None
    refused("run", script(), "--policy", "no-such.yaml", says="no-such.yaml")
    refused("run", script(), "--policy", scratch())


@case("policy: wrong digest")
def _():
    plain = write("plain.txt", "text")
    good = hashlib.sha256(b"text").hexdigest()
    for digest, fine in (("0" * 64, False), (good, True)):
        p = write("d.yaml", f"redoma: 1\nread:\n  - host: {plain}\n"
                  f"    as: /d/x\n    sha256: {digest}\n")
        if fine:
            ok("run", script(), "--policy", p)
        else:
            refused("run", script(), "--policy", p, says="sha256")
    p = write("d.yaml", f"redoma: 1\nread: [{{host: {plain}, as: /d/x, "
              "sha256: abc}]\n")
    refused("run", script(), "--policy", p, says="sha256")


@case("policy: a request can only narrow it; what is wider is named")
def _():
    plain = write("plain.txt", "text")
    p = write("n.yaml", f"redoma: 1\nlimits: {{wall: 2s}}\n"
              f"read: [{{host: {plain}, as: /d/x}}]\n")
    ok("run", script(), "--policy", p, "--limit", "wall=1s")
    code = "require('node:fs').readFileSync('/d/x', 'utf8')"
    expect(run_json("run", script(code), "--policy", p, "--limit", "wall=1s"),
           "ok", value="text")
    refused("run", script(), "--policy", p, "--limit", "wall=3s", code=4,
            says="wall")
    refused("run", script(), "--policy", p, "--read", "/etc/hosts=/d/y",
            code=4, says="/d/y")
    refused("run", script(), "--policy", p, "--env", "A=b", code=4,
            says=["A", "leave it out"])


@case("policy show refuses what a run would refuse as wider")
def _():
    p = write("n.yaml", "redoma: 1\nlimits: {wall: 2s}\n")
    for place in ((p,), ("--policy", p)):
        r = command("policy", "show", *place, "--limit", "wall=1s")
        need(r.code == 0 and b"wall: 1s" in r.out, r.about())
        for more, says in ((("--limit", "wall=5s"), "5s"),
                           (("--read", "/etc/hosts"), "/etc/hosts")):
            r = command("policy", "show", *place, *more)
            need(r.code == 4 and not r.out and says in r.text, r.about())


@case("policy: what is wrong in a file is told with the file's name")
def _():
    p = write("named.yaml", "redoma: 1\nlimit: {}\n")
    for args in (("policy", "check", p), ("policy", "show", p)):
        r = command(*args)
        need(r.code == 2 and '"named.yaml": line 2 column 1' in r.text,
             r.about())
    refused("run", script(), "--policy", p, says=["named.yaml", "limits"])


@case("a limit or a variable given twice is refused, as in a policy")
def _():
    ok("run", script(), "--limit", "wall=1s", "--limit", "cpu=1s", "--env",
       "A=1", "--env", "B=1")
    refused("run", script(), "--limit", "wall=1s", "--limit", "wall=2s",
            says=["wall", "twice"])
    refused("run", script(), "--env", "A=1", "--env", "A=2",
            says=["A", "twice"])


@case("a word too many is refused by verbs that take none")
def _():
    for args in (("doctor", "extra"), ("version", "extra"),
                 ("help", "run", "extra")):
        r = command(*args)
        need(r.code == 2 and not r.out and r.err.count(b"\n") == 1, r.about())


@case("advice fits how a grant was given")
def _():
    plain = write("plain.txt", "text")
    link = scratch() / "advice-link"
    link.symlink_to(plain)
    folder = scratch() / "advice-dir"
    folder.symlink_to(scratch())
    p = write("a.yaml", "redoma: 1\nread: [{host: gone, as: /x}]\n")
    r = command("run", script(), "--policy", p)
    need(r.code == 2 and "policy's directory" in r.text, r.about())
    r = command("run", script(), "--read", "gone")
    need(r.code == 2 and "no such file" in r.text
         and "policy's directory" not in r.text, r.about())
    r = command("run", script(), "--read", f"{link}=/x")
    need(r.code == 2 and "follow: true" in r.text, r.about())
    r = command("run", script(), "--write", f"{folder}/x=/x:1KiB")
    need(r.code == 2 and "symbolic link" in r.text
         and "follow" not in r.text, r.about())


@case("policy show prints a policy that policy check takes")
def _():
    plain = write("plain.txt", "text")
    r = command("policy", "show", "--read", f"{plain}=/d/x", "--limit",
                "wall=3s", "--env", "A=b: c")
    need(r.code == 0, r.about())
    again = write("shown.yaml", r.out)
    need(command("policy", "check", again).code == 0, r.out.decode())
    r2 = command("policy", "show", again)
    need(r2.out == r.out, f"{r.out.decode()}\n---\n{r2.out.decode()}")


if __name__ == "__main__":
    main()
