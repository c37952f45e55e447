#!/usr/bin/env python3
"""test-seconds: 200
C119 C131: every key of a policy changes what happens, from a file and from the
command line alike; what cannot be applied is refused, never ignored."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

READ = "require('node:fs').readFileSync('/r/f', 'utf8')"
WRITE = "require('node:fs').writeFileSync('/o/f', 'x'.repeat(%d)); 'done'"


def under(text, code, *options):
    """A script under a policy file."""
    p = write("p.yaml", f"redoma: 1\n{text}\n")
    return js(code, "--policy", p, *options)


def plain_file(text="0123456789"):
    return write("plain.txt", text)


# key: (policy without, policy with, options with, code, check of both)
LIMITS = {
    "wall": ("wall: 150ms", "for (;;);", "wall_limit"),
    "cpu": ("cpu: 100ms", "for (;;);", "cpu_limit"),
    "fuel": ("fuel: 1_000_000", "for (;;);", "fuel_limit"),
    "memory": ("memory: 8MiB", "new Uint8Array(12 << 20).fill(1).length",
               "memory_limit"),
    "output": ("output: 2KiB", "console.log('x'.repeat(3000)); 1",
               "output_limit"),
}
for _key, (_line, _code, _status) in LIMITS.items():
    @case(f"limits.{_key}: by file and by command line")
    def _(key=_key, line=_line, code=_code, status=_status):
        r = under(f"limits: {{{line}}}", code)
        expect(r, status, within=3)
        need(r.json["limit"]["name"] == key, r.about())
        need(r.json["limit"]["hint"], r.about())
        value = line.split(": ")[1]
        r = js(code, "--limit", f"{key}={value}")
        expect(r, status, within=3)
        if code != "for (;;);":
            expect(js(code), "ok")


@case("limits.files: by file and by command line")
def _():
    code = ("const fs = require('node:fs'); let n = 0; try { for (;;) {"
            "fs.openSync('/r/f'); n++ } } catch (e) { [n, e.code] }")
    grant = ("--read", f"{plain_file()}=/r/f")
    rule = f"read: [{{host: {plain_file()}, as: /r/f}}]"
    seen = []
    for n in (1, 3, 9):
        a = js(code, *grant, "--limit", f"files={n}")
        b = under(f"{rule}\nlimits: {{files: {n}}}", code)
        expect(a, "ok")
        expect(b, "ok", value=a.json["value"])
        need(a.json["value"][1] == "EMFILE", a.about())
        seen.append(a.json["value"][0])
    need(seen[0] < seen[1] < seen[2] <= 9, f"{seen}")


@case("read: host, as, short form, paths beside the policy")
def _():
    plain = plain_file()
    for text, name in ((f"read: [{plain}]", str(plain)),
                       (f"read: [{{host: {plain}, as: /r/f}}]", "/r/f"),
                       ("read: [{host: plain.txt, as: /r/f}]", "/r/f")):
        code = f"require('node:fs').readFileSync('{name}', 'utf8')"
        expect(under(text, code), "ok", value="0123456789")
        expect(under("", code), "error", says="not granted")


@case("read.max_bytes: the rest is refused, noted, and on_denied ends it")
def _():
    plain = plain_file()
    rule = f"read: [{{host: {plain}, as: /r/f, max_bytes: %s}}]"
    expect(under(rule % "10B", READ), "ok", value="0123456789")
    r = under(rule % "9B", READ)
    expect(r, "error", says="EACCES")
    need(r.json["denials"][0]["path"] == "/r/f"
         and r.json["denials"][0]["op"] == "read", r.about())
    need(r.json["usage"]["read_bytes"] <= 9, r.about())
    r = under(rule % "9B" + "\non_denied: end", "try { " + READ + "} catch {}")
    expect(r, "denied")
    d = scratch() / "dir"
    d.mkdir(exist_ok=True)
    (d / "f").write_text("0123456789")
    (d / "g").write_text("0123456789")
    both = ("const fs = require('node:fs'); let n = 0;"
            "try { for (const f of ['f', 'g'])"
            "n += fs.readFileSync('/d/' + f).length } catch (e) { n + e.code }")
    rule = f"read: [{{host: {d}/, as: /d/, max_bytes: %s}}]"
    expect(under(rule % "20B", both), "ok", value=20)
    expect(under(rule % "15B", both), "ok", value="10EACCES")


@case("read.bytes, opens, sha256, follow")
def _():
    plain = plain_file()
    link = scratch() / "link.txt"
    if not link.is_symlink():
        link.symlink_to("plain.txt")
    digest = hashlib.sha256(b"0123456789").hexdigest()

    def rule(extra, host=plain):
        return f"read: [{{host: {host}, as: /r/f, {extra}}}]"

    expect(under(rule("bytes: 2-4"), READ), "ok", value="234")
    expect(under(rule("bytes: 8-99"), READ), "ok", value="89")
    expect(under(rule("opens: 1"), READ), "ok", value="0123456789")
    expect(under(rule("opens: 1"), f"{READ}; {READ}"), "error", says="EACCES")
    expect(under(rule(f"sha256: {digest}"), READ), "ok")
    r = under(rule(f"sha256: {digest[::-1]}"), READ)
    need(r.code == 2 and "sha256" in r.text, r.about())
    expect(under(rule("follow: true", link), READ), "ok", value="0123456789")
    r = under(rule("follow: false", link), READ)
    need(r.code == 2 and "link" in r.text, r.about())


@case("write: max_bytes, max_files, mode")
def _():
    out = scratch() / "o"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    rule = f"write: [{{host: {out}/f, as: /o/f, max_bytes: %s}}]"
    expect(under(rule % "10B", WRITE % 10), "ok", value="done")
    need((out / "f").read_text() == "x" * 10, "not published")
    r = under(rule % "9B", WRITE % 10)
    expect(r, "error", says="ENOSPC")
    need(r.json["denials"][0]["path"] == "/o/f", r.about())
    many = ("const fs = require('node:fs'); let n = 0; try { for (; n < 9; n++)"
            "fs.writeFileSync('/o/' + n, 'x') } catch (e) {"
            "console.log(n, e.code) }")
    rule = (f"write: [{{host: {out}/, as: /o/, max_bytes: 1KiB, "
            "max_files: %d}]")
    shutil.rmtree(out)
    out.mkdir()
    expect(under(rule % 4, many), "denied", says="max_files",
           stdout="4 ENOSPC\n")
    need(not list(out.iterdir()), "some of them published")
    room = f"{many} fs.unlinkSync('/o/0'); fs.writeFileSync('/o/9', 'x')"
    expect(under(rule % 4, room), "ok", stdout="4 ENOSPC\n")
    need(sorted(p.name for p in out.iterdir()) == ["1", "2", "3", "9"],
         "not what it made room for")
    r = js(WRITE % 10, "--write", f"{out}/f=/o/f:9B")
    expect(r, "error", says="ENOSPC")
    (out / "f").write_text("before")
    rule = f"write: [{{host: {out}/f, as: /o/f, max_bytes: 1KiB, mode: %s}}]"
    for mode, want in (("create", "before"), ("append", "beforexx"),
                       ("replace", "xx")):
        r = under(rule % mode, WRITE % 2)
        need((r.code == 0) == (mode != "create"), f"{mode}: {r.about()}")
        need((out / "f").read_text() == want, f"{mode}: {r.about()}")


# What a guest does that writes too much and does not look.
CARELESS = {
    "js": "const fs = require('node:fs'); const of = f => { try { f() }"
          "catch (e) { console.log(e.code) } };"
          "of(() => { fs.writeFileSync('/o/f', 'x'.repeat(8));"
          "fs.appendFileSync('/o/f', 'y'.repeat(8)) }); %s 'done'",
    "py": "import os\ntry:\n    with open('/o/f', 'w') as f:\n"
          "        f.write('x' * 8); f.flush(); f.write('y' * 8)\n"
          "except OSError as e:\n    print(e.strerror)\n%s\n'done'",
}


def careless(kind, mends=""):
    lang = kind.split()[-1]
    return source(CARELESS[lang] % mends, f"agent.{lang}")


@case("a denial of a device names no line, which would be refused")
def _():
    refused("eval", "js", "1", "--read", "/dev/urandom", says="device")
    for path, line in (("/dev/urandom", False), ("/dev/shm/x", True),
                       ("/device", True)):
        r = run_json("eval", "js", f"require('fs').readFileSync('{path}')")
        d = r.json["denials"][0]
        need(("allow" in d) == line and "why" in d, r.about())
        need(("device" in d["why"]) != line, r.about())


@case("write: what does not fit and the guest ends well all the same")
def _():
    out = scratch() / "o"
    mends = {"js": "fs.truncateSync('/o/f', 4);",
             "py": "os.truncate('/o/f', 4)"}
    for kind in ("js", "py", "native js", "native py"):
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        (out / "f").write_text("before")
        how = ["run"] + ["--native"] * kind.startswith("native")
        r = run_json(*how, careless(kind), "--write", f"{out}/f=/o/f:10B")
        expect(r, "denied", says="more than max_bytes was written")
        need(r.code == 4 and r.json["exit_code"] == 1, r.about())
        need("value" not in r.json and "files" not in r.json, r.about())
        need((out / "f").read_text() == "before", f"{kind}: published")
        need([(d["op"], d["path"], d["allow"]) for d in r.json["denials"]] ==
             [("write", "/o/f", f'write: [{{host: "{out}/f", as: "/o/f", '
               'max_bytes: 20B}]')], r.about())
        lang = kind.split()[-1]
        r = run_json(*how, careless(kind, mends[lang]), "--write",
                     f"{out}/f=/o/f:10B")
        expect(r, "ok", value="done")
        need((out / "f").read_text() == "xxxx", f"{kind}: {r.about()}")
        r = run_json(*how, careless(kind), "--write", f"{out}/f=/o/f:16B")
        expect(r, "ok", value="done")
        need((out / "f").read_text() == "x" * 8 + "y" * 8, r.about())


@case("env: only what is named, by file and by command line")
def _():
    code = "process.env"
    expect(under("env: {A: b c, TZ: UTC}", code), "ok",
           value={"A": "b c", "TZ": "UTC"})
    expect(js(code, "--env", "A=b c", "--env", "TZ=UTC"), "ok",
           value={"A": "b c", "TZ": "UTC"})
    expect(under("", code, ), "ok", value={})


@case("clock: real, fixed, none")
def _():
    r = js("Date.now()")
    expect(r, "ok")
    need(abs(r.json["value"] / 1000 - time.time()) < 30, r.about())
    fixed = "fixed:2026-01-01T00:00:00Z"
    for r in (under(f"clock: {fixed}", "Date.now()"),
              js("Date.now()", "--clock", fixed)):
        expect(r, "ok", value=1767225600000)
    for r in (under("clock: none", "Date.now()"),
              js("Date.now()", "--clock", "none")):
        need([d["allow"] for d in r.json["denials"]] == ["clock: real"],
             r.about())


@case("random: real, seed, none")
def _():
    code = "[Math.random(), Math.random()]"
    a, b = js(code).json["value"], js(code).json["value"]
    need(a != b, "the same bytes without a seed")
    a = under("random: seed:42", code).json["value"]
    need(a == js(code, "--random", "seed:42").json["value"], "seeds differ")
    need(a != js(code, "--random", "seed:43").json["value"], "seed ignored")
    for r in (under("random: none", code), js(code, "--random", "none")):
        expect(r, "error", says="EACCES")
        need([d["allow"] for d in r.json["denials"]] == ["random: real"],
             r.about())
    expect(js("try { Math.random() } catch (e) { e.name }", "--random",
              "none"), "ok", value="Error")


@case("the advice for a bound that was reached is the grant with more")
def _():
    plain = plain_file()
    out = scratch() / "bounds"
    out.mkdir(exist_ok=True)
    fs = "const fs = require('node:fs'); "
    for text, code, more in (
            (f"read: [{{host: {plain}, as: /r/f, max_bytes: 8B}}]",
             fs + "fs.readFileSync('/r/f').length",
             f'read: [{{host: "{plain}", as: "/r/f"}}]'),
            (f"write: [{{host: {out}/f, as: /o, max_bytes: 1KiB}}]",
             fs + "fs.writeFileSync('/o', 'x'.repeat(2000))",
             f'write: [{{host: "{out}/f", as: "/o", max_bytes: 2KiB}}]'),
            (f"write: [{{host: {out}/, as: /n/, max_bytes: 1KiB, "
             "max_files: 1}]",
             fs + "fs.writeFileSync('/n/a', ''); fs.writeFileSync('/n/b', '')",
             f'write: [{{host: "{out}/", as: "/n", max_bytes: 1KiB, '
             'max_files: 2}]')):
        r = under(text, code)
        expect(r, "error")
        need([d["allow"] for d in r.json["denials"]] == [more], r.about())
        expect(under(more, code), "ok")


@case("the advice for a directory that may not be made grants one")
def _():
    place = scratch() / "mkdir-me"
    place.mkdir(exist_ok=True)
    code = ("const fs = require('node:fs'); fs.mkdirSync('%s', "
            "{ recursive: true }); fs.writeFileSync('%s/f', 'x'); 1"
            % (place, place))
    r = js(code)
    expect(r, "error")
    allow = [d["allow"] for d in r.json["denials"] if d["op"] == "mkdir"]
    need(allow == [f'write: [{{host: "{place}/", as: "{place}/", '
                   'max_bytes: 1MiB}]'],
         r.about())
    expect(under(allow[0], code), "ok", value=1)
    need((place / "f").read_text() == "x", "not written")


@case("the advice names the host's file where another grant tells it")
def _():
    docs = scratch() / "docs"
    (docs / "sub").mkdir(parents=True, exist_ok=True)
    (docs / "sub" / "a").write_text("a")
    plain = plain_file()
    for grant, op, line in (
            (f"{plain}=/r/f", "writeFileSync('/r/f', 'x')",
             f'write: [{{host: "{plain}", as: "/r/f", max_bytes: 1MiB}}]'),
            (f"{docs}/=/d/", "writeFileSync('/d/sub/a', 'x')",
             f'write: [{{host: "{docs}/sub/a", as: "/d/sub/a", '
             'max_bytes: 1MiB}]'),
            (f"{docs}/=/d/", "mkdirSync('/d/new')",
             f'write: [{{host: "{docs}/new/", as: "/d/new/", '
             'max_bytes: 1MiB}]'),
            (f"{docs}/=/d/", "readFileSync('/dx')",
             'read: [{host: "/dx", as: "/dx"}]')):
        r = js(f"require('node:fs').{op}", "--read", grant)
        expect(r, "error")
        need([d["allow"] for d in r.json["denials"]] == [line],
             f"{line} {r.about()}")
    # Of one within the other, the inner one, wherever it is written.
    inner = scratch() / "inner"
    inner.mkdir(exist_ok=True)
    for grants in ((f"{docs}/=/d/", f"{inner}/=/d/in/"),
                   (f"{inner}/=/d/in/", f"{docs}/=/d/")):
        r = js("require('node:fs').writeFileSync('/d/in/f', 'x')", "--read",
               grants[0], "--read", grants[1])
        need([d["allow"] for d in r.json["denials"]]
             == [f'write: [{{host: "{inner}/f", as: "/d/in/f", '
                 'max_bytes: 1MiB}]'], r.about())


@case("policy check says ok, and what of the file it could not look at")
def _():
    plain = "redoma: 1\nlimits: {wall: 1s}\n"
    for extra, words in (("", ()), ("read: [nope.txt]\n", ("read",)),
                         ("write: [{host: no/x, max_bytes: 1KiB}]\n"
                          "tools: [t]\n", ("write", "tools")),
                         ("net: [{allow: GET https://e.com/}]\n", ("net",)),
                         ("native: {root: [runtime:node]}\n", ("native.root",))):
        p = write("check.yaml", plain + extra)
        r = command("policy", "check", p)
        said = [line.split(": ")[2] for line in r.err.decode().splitlines()]
        need(r.code == 0 and r.out.decode() == f"{p}: ok\n" and
             said == list(words), r.about())


@case("what is asked for beside a policy, and where to put it instead")
def _():
    p = write("bare.yaml", "redoma: 1\n")
    for option, value, key in (("--read", f"{plain_file()}=/r/f", "read"),
                               ("--write", f"{scratch()}/w=/o:1KiB", "write"),
                               ("--env", "A=b", "env"),
                               ("--tool", "t=cat", "tools")):
        r = js("1", "--policy", p, option, value)
        need(r.code == 4 and "can only narrow" in r.message and
             f"policy's `{key}`" in r.message, r.about())


@case("on_denied: error, end")
def _():
    code = "try { " + READ + " } catch { 'went on' }"
    expect(under("on_denied: error", code), "ok", value="went on")
    expect(under("on_denied: end", code), "denied")
    expect(js(code, "--on-denied", "end"), "denied")


@case("walls: what is given up is shown as such")
def _():
    r = js("1")
    kernel = r.json["walls"]["kernel"]
    need(kernel["seccomp"] == "enforced" and kernel["landlock"].startswith(
        "enforced") and kernel["namespaces"] == "enforced", r.about())
    r = js("1", "--walls", "landlock")
    expect(r, "ok", value=1)


@case("what a later release runs refuses the run by name: net")
def _():
    for text, word in (
            ("net: [{allow: GET https://example.com/}]", "net"),):
        r = under(text, "1")
        need(r.code == 6 and word in r.text, r.about())
        p = write("p.yaml", f"redoma: 1\n{text}\n")
        need(command("policy", "check", p).code in (0, 6), text)


@case("unknown keys are an error at every level")
def _():
    plain = plain_file()
    for text in ("lmits: {wall: 1s}", "limits: {walls: 1s}",
                 f"read: [{{host: {plain}, az: /r/f}}]",
                 f"write: [{{host: {plain}, max_bytes: 1KiB, mod: append}}]",
                 "clck: none", "reuse_: never"):
        r = under(text, "1")
        need(r.code == 2, r.about())
        need("line" in r.text or ":" in r.text, r.about())


@case("policy show prints every limit, and check repeats the refusal of run")
def _():
    shown = command("policy", "show", write("p.yaml", "redoma: 1\n")).out
    for key in (*LIMITS, "calls", "files"):
        need(f"{key}:".encode() in shown or key == "fuel", shown.decode())
    for key in ("clock", "random", "on_denied", "walls", "reuse"):
        need(f"\n{key}:".encode() in shown, shown.decode())


@case("C119 the limits of tool calls say that without tools they do nothing")
def _():
    text = "redoma: 1\nlimits: {calls: 7, in_flight: 1}\n"
    shown = command("policy", "show", write("p.yaml", text)).out.decode()
    for line in ("calls: 7", "in_flight: 1"):
        need(f"  {line} # takes effect with tools only\n" in shown, shown)
    for key in ("wall", "memory", "output", "files"):
        need(not [l for l in shown.splitlines()
                  if l.startswith(f"  {key}:") and "#" in l], shown)
    need(command("policy", "check", write("again.yaml", shown)).code == 0,
         "what was shown is not read")
    topic = command("help", "limits").out.decode()
    need("without effect" in topic, topic)


@case("limits.calls and in_flight: by file and by command line")
def _():
    code = "for (let i = 0; i < 3; i++) await tools.t(); 'done'"
    many = ("let n = 0, most = 0; await Promise.all([1, 2, 3, 4].map(async ("
            ") => { await tools.t() })); 'done'")
    cat = ("--tool", "t=cat")
    for n, status in ((2, "call_limit"), (3, "ok")):
        a = js(code, *cat, "--limit", f"calls={n}")
        b = under(f"limits: {{calls: {n}}}\ntools: [t]", code, *cat)
        for r in (a, b):
            expect(r, status)
            need(len(r.json["calls"]) == n, r.about())
            if status != "ok":
                need(r.code == 3 and r.json["limit"]["name"] == "calls" and
                     r.json["limit"]["value"] == str(n), r.about())
    for r in (js(many, *cat, "--limit", "in_flight=1"),
              under("limits: {in_flight: 1}\ntools: [t]", many, *cat)):
        expect(r, "ok", value="done")
        need(len(r.json["calls"]) == 4, r.about())


@case("tools: by file and by command line; terms of a grant hold")
def _():
    code = "await tools.t({n: 5})"
    for file in (source(code), source("tools.t(n=5)", "agent.py")):
        for how in ((), ("--native",)):
            expect(run_json("run", *how, file), "error",
                   says="granted no tool; a policy grants one by its name")
    expect(js(code, "--tool", "t=cat"), "ok", value={"n": 5})
    expect(under("tools: [t]", code, "--tool", "t=cat"), "ok", value={"n": 5})
    r = under("tools: [u]", code, "--tool", "t=cat")
    need(r.code == 4 and "tools" in r.message, r.about())
    r = under("tools: [t]", code)
    expect(r, "error", says="no --tool says")
    r = under("tools: [{name: t, max_calls: 1}]",
              "await tools.t(); await tools.t()", "--tool", "t=cat")
    expect(r, "error", says="may be called 1 time")
    need(r.json["denials"] == [{"op": "tool", "path": "t", "count": 1,
                                "why": "t may be called 1 time in one run, "
                                "and was",
                                "allow": 'tools: [{name: "t", max_calls: 2}]'
                                }], r.about())
    where = "tools: [{name: t, where: {n: {maximum: 4}}}]"
    r = under(where, code, "--tool", "t=cat")
    expect(r, "error", says="not within maximum 4")
    need("maximum 4" in r.json["denials"][0]["why"], r.about())
    allow = r.json["denials"][0]["allow"]
    need(allow == 'tools: [{name: "t", where: {n: {maximum: 5}}}]', r.about())
    expect(under(allow, code, "--tool", "t=cat"), "ok", value={"n": 5})
    pay = ("tools: [{name: t, max_calls: 9, where: {n: {type: integer, "
           "maximum: 4}, to: {enum: [ana, rui]}}}]")
    each = ("for (const a of [{n: 5, to: 'ana'}, {n: 7, to: 'eva'}, {n: 1}])"
            "{ try { await tools.t(a) } catch { } }")
    r = under(pay, each, "--tool", "t=cat")
    need([(d["count"], d["allow"]) for d in r.json["denials"]] ==
         [(2, 'tools: [{name: "t", max_calls: 9, where: {n: {type: [integer],'
           ' maximum: 7}, to: {enum: ["ana", "rui", "eva"]}}}]'),
          (1, 'tools: [{name: "t", max_calls: 9, where: {n: {type: [integer],'
           ' maximum: 4}}}]')], r.about())
    expect(under("tools: [search]", "await tools.serach()", "--tool",
                 "search=cat"), "error", says='did you mean search? the tools')
    expect(under(where.replace("4", "5"), code, "--tool", "t=cat"), "ok")
    r = under(where + "\non_denied: end", code, "--tool", "t=cat")
    expect(r, "denied")
    need(r.code == 4, r.about())


@case("policy diff: exit 1 and the lines that are wider, 0 and nothing else")
def _():
    a = write("a.yaml", "redoma: 1\nlimits: {wall: 1s}\n")
    b = write("b.yaml", "redoma: 1\nlimits: {wall: 2s, cpu: 1s}\n"
              f"read: [{plain_file()}]\n")
    r = command("policy", "diff", a, b)
    need(r.code == 1 and "- limits.wall: 1s\n+ limits.wall: 2s" in r.text
         and "+ read:" in r.text and "limits.cpu" not in r.text, r.about())
    need(command("policy", "diff", b, a).code == 0, "narrower")
    need(not command("policy", "diff", b, a).out, "narrower says nothing")
    r = command("policy", "diff", a)
    need(r.code == 2 and "two files" in r.text, r.about())
    r = command("policy", "diff", a, "missing.yaml")
    need(r.code == 2 and "missing.yaml" in r.text, r.about())


@case("policy as JSON says the same as YAML")
def _():
    plain = plain_file()
    p = write("p.json", json.dumps({
        "redoma": 1, "limits": {"wall": "150ms"},
        "read": [{"host": str(plain), "as": "/r/f"}]}))
    expect(js(READ, "--policy", p), "ok", value="0123456789")
    expect(js("for (;;);", "--policy", p), "wall_limit")


if __name__ == "__main__":
    main()
