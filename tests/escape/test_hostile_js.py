#!/usr/bin/env python3
"""test-seconds: 240
Scripts that want more than they were granted, each with its control: with the
grant the same script succeeds."""
import hashlib
import json as json_module
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

READ = "require('node:fs').readFileSync(%r, 'utf8')"


def read_of(name):
    return READ % str(name)


# ---- files

@case("a file that no grant covers is refused, and the refusal is reported")
def _():
    path = canary()
    r = js(read_of(path))
    expect(r, "error", says="EACCES")
    denied = r.json["denials"]
    need(denied[0]["path"] == str(path) and denied[0]["count"] == 1
         and denied[0]["op"] == "open", r.about())
    need(str(path) in denied[0]["allow"]
         and denied[0]["allow"].startswith("read:"), r.about())
    plain = write("plain.txt", "plain text")
    expect(js(read_of("/d/plain.txt"), "--read", f"{plain}=/d/plain.txt"),
           "ok", value="plain text")


@case("the line of a denial allows what it says it allows")
def _():
    plain = write("plain.txt", "plain text")
    r = js(read_of(plain))
    expect(r, "error")
    policy = write("p.yaml", f"redoma: 1\n{r.json['denials'][0]['allow']}\n")
    expect(js(read_of(plain), "--policy", policy), "ok", value="plain text")


@case("a name with dots is denied, and allowed, as the name that it means")
def _():
    plain = write("plain.txt", "plain text")
    for name in ("/a/../r/f", "r/./f", "../r//f", "/r/../a/b/../../r/f"):
        r = js(read_of(name))
        expect(r, "error", says="EACCES")
        need([d["path"] for d in r.json["denials"]] == ["/r/f"], r.about())
        expect(js(read_of(name), "--read", f"{plain}=/r/f"), "ok",
               value="plain text")


WANTED = ["/etc/passwd", "/etc/shadow", "/proc/self/environ",
          "/proc/self/maps", "/proc/1/cmdline", "/proc/self/root/etc/passwd",
          "/proc/self/fd/0", "/proc/self/fd/3", "/dev/mem", "/dev/zero",
          "/dev/fd/3", "/sys/kernel/notes",
          str(pathlib.Path.home() / ".ssh/id_rsa"), "~/.ssh/id_rsa",
          "/root/.bash_history", "/", ".", "..", "/tmp"]


@case("names of the host that a script would like to read")
def _():
    code = """
    const fs = require('node:fs');
    const seen = [];
    for (const p of %s) {
        try { seen.push([p, String(fs.readFileSync(p)).slice(0, 9)]); }
        catch (e) { if (!(e instanceof Error)) seen.push([p, 'odd']); }
    }
    seen""" % WANTED
    expect(js(code), "ok", value=[])
    plain = write("plain.txt", "plain text")
    expect(js(code.replace("/etc/passwd", "/x/passwd"), "--read",
              f"{plain}=/x/passwd"), "ok", value=[["/x/passwd", "plain tex"]])


TRICKS = ["/d/../etc/passwd", "/d/sub/../../../etc/passwd", "../etc/passwd",
          "/d/./../canary.txt", "//etc/passwd", "/d//..//..//etc/passwd",
          "/d/in.txt/../../etc/passwd", "/d/in.txt/", "/d/in.txt/.",
          "/d/in.txt/../in.txt/x", "", " ", "/d/in.txt\0", "/d/in.txt\0.js",
          "/d/link-out", "/d/link-out/", "/d/link-out//", "/d/link-out/.",
          "/d/link-dir/passwd", "/d/link-dir//passwd", "/d/link-abs",
          "/d/link-up", "/d/loop-a", "/d/loop-a/x", "/d/proc-link",
          "/d/" + "x" * 300, "/d/" + "y/" * 3000, "/" + "z" * 65536,
          "/d/\u00e9.txt", "/d/e\u0301x.txt", "/D/IN.TXT", "/d\\in.txt",
          "file:///etc/passwd", "/d/%2e%2e/etc/passwd"]


def granted_tree():
    d = scratch() / "tree"
    if not d.exists():
        d.mkdir()
        (d / "in.txt").write_text("inside")
        (d / "sub").mkdir()
        (d / "sub" / "deep.txt").write_text("deep")
        (d / "link-in").symlink_to("sub/deep.txt")
        (d / "sub" / "link-back").symlink_to("../in.txt")
        (d / "link-out").symlink_to("../canary.txt")
        (d / "link-dir").symlink_to("/etc")
        (d / "link-abs").symlink_to(canary())
        (d / "link-up").symlink_to("..")
        (d / "loop-a").symlink_to("loop-b")
        (d / "loop-b").symlink_to("loop-a")
        (d / "proc-link").symlink_to("/proc/self/environ")
        os.mkfifo(d / "fifo")
    canary()
    return d


@case("C101 path tricks under a granted directory")
def _():
    code = """
    const fs = require('node:fs');
    const seen = [];
    for (const p of input) {
        try { seen.push([p.slice(0, 40), String(fs.readFileSync(p)).slice(0, 9)]); }
        catch (e) { if (!(e instanceof Error)) seen.push([p, 'odd']); }
    }
    seen"""
    import json
    r = js(code, "--read", f"{granted_tree()}/=/d/", "--input",
           json.dumps(TRICKS))
    expect(r, "ok", value=[])
    good = ["/d/in.txt", "/d/./in.txt", "/d/sub/../in.txt", "/d//in.txt"]
    r = js(code, "--read", f"{granted_tree()}/=/d/", "--input",
           json.dumps(good))
    expect(r, "ok", value=[[g[:40], "inside"] for g in good])


@case("C103 links that stay inside a granted directory work")
def _():
    code = ("const fs = require('node:fs');"
            "[fs.readFileSync('/d/link-in', 'utf8'),"
            "fs.readFileSync('/d/sub/link-back', 'utf8')]")
    expect(js(code, "--read", f"{granted_tree()}/=/d/"), "ok",
           value=["deep", "inside"])


@case("C109 a FIFO in a granted directory neither hangs nor is read")
def _():
    r = js(read_of("/d/fifo"), "--read", f"{granted_tree()}/=/d/",
           "--limit", "wall=3s")
    expect(r, "error", within=2)


@case("one file is not its siblings, its directory or another name")
def _():
    d = granted_tree()
    code = """
    const fs = require('node:fs');
    const seen = [];
    for (const p of ['/d/sub/deep.txt', '/d', '/d/', '/d/in.txt/',
                     '/d/x', '/in.txt', '/d/link-in']) {
        try { seen.push([p, String(fs.readFileSync(p))]); } catch {}
    }
    seen"""
    expect(js(code, "--read", f"{d}/in.txt=/d/in.txt"), "ok", value=[])
    expect(js(read_of("/d/in.txt"), "--read", f"{d}/in.txt=/d/in.txt"), "ok",
           value="inside")


@case("a read grant is not a write grant")
def _():
    plain = write("keep.txt", "kept")
    code = """
    const fs = require('node:fs');
    const done = [];
    for (const f of ['writeFileSync', 'appendFileSync', 'unlinkSync',
                     'rmSync', 'truncateSync', 'chmodSync', 'renameSync'])
        try { if (fs[f]) { fs[f]('/d/keep.txt', 'zz'); done.push(f); } }
        catch {}
    done"""
    expect(js(code, "--read", f"{plain}=/d/keep.txt"), "ok", value=[])
    need(plain.read_text() == "kept", "the file was changed")
    out = scratch() / "out.txt"
    r = js("require('node:fs').writeFileSync('/o/out.txt', 'zz')", "--write",
           f"{out}=/o/out.txt:1KiB")
    expect(r, "ok")
    need(out.read_text() == "zz", "the grant does not work")


@case("the environment and the command line of the host are not there")
def _():
    code = "[process.env, process.argv.slice(2)]"
    r = js(code, env={"REDOMA_SECRET": SECRET})
    expect(r, "ok")
    need(r.json["value"][0] == {}, r.about())
    need(r.json["value"][1] == [], r.about())
    r = js("[process.env, process.argv.slice(2)]", "--env", "TZ=UTC", "--",
           "a", "b c")
    expect(r, "ok", value=[{"TZ": "UTC"}, ["a", "b c"]])


@case("no module that reaches outside can be had")
def _():
    code = """
    const had = [];
    for (const m of ['child_process', 'net', 'http', 'vm', 'worker_threads',
                     'cluster', 'dgram', 'inspector', 'std', 'os:std', 'bjson',
                     '/etc/passwd', '../x.js', 'file:///etc/passwd']) {
        for (const n of [m, 'node:' + m]) {
            try { require(n); had.push(n); } catch (e) {
                if (!(e instanceof Error) || !e.message) had.push([n, 'odd']);
            }
            try { await import(n); had.push(n); } catch (e) {
                if (!(e instanceof Error)) had.push([n, 'odd']);
            }
        }
    }
    had"""
    expect(js(code), "ok", value=[])
    expect(js("typeof require('node:path').join"), "ok", value="function")


@case("C025 nothing of the engine's own libraries is a global")
def _():
    names = ["std", "os", "bjson", "loadFile", "scriptArgs", "load", "read",
             "evalFile", "print", "__loadScript", "WebAssembly", "Deno", "Bun"]
    code = f"{names}.filter(n => typeof globalThis[n] !== 'undefined')"
    r = js(code)
    expect(r, "ok")
    need(set(r.json["value"]) <= {"print", "scriptArgs"}, r.about())


# ---- realms

# What can be reached from a value that is not of this realm: for each object
# on its prototype chain, a constructor whose own constructor is not this
# realm's Function, or a function made by it that sees another global object.
WALK = """
const reach = o => {
    const out = [];
    for (let i = 0; o !== null && o !== undefined && i < 20; i++) {
        const c = o.constructor;
        if (typeof c !== 'function')
            out.push('no constructor at ' + i);
        else if (c.constructor !== Function)
            out.push('a Function of another realm at ' + i);
        else if (c.constructor('return this')() !== globalThis)
            out.push('another global object at ' + i);
        o = Object.getPrototypeOf(o);
    }
    return out;
};
"""
THROWN = [
    ("C001 a failing host call",
     "try { require('node:fs').readFileSync('/nope') } catch (e) { reach(e) }"),
    ("C005 an engine-made rejection of an async function",
     "(async () => { const f = () => f(); f(); })().then(() => 0, reach)"),
    ("C005 a bad Symbol conversion",
     "(async () => `${Symbol()}`)().then(() => 0, reach)"),
    ("C009 bare calls of inherited methods",
     "['toLocaleString', 'hasOwnProperty', 'valueOf'].flatMap(n => {"
     "try { (0, Object.prototype[n])() } catch (e) { return reach(e) }"
     "return [] })"),
    ("C011 errors inside an AggregateError",
     "Promise.any([1, 2].map(async () => require('node:fs')"
     ".readFileSync('/nope'))).then(() => 0, e => e.errors.flatMap(reach))"),
    ("C011 SuppressedError: errors of disposal, nested",
     "const bad = () => ({ [Symbol.dispose]() {"
     "require('node:fs').readFileSync('/nope') } });"
     "const s = new DisposableStack(); s.use(bad()); s.use(bad());"
     "s.defer(() => null.x); const got = []; let n = 0;"
     "try { s.dispose() } catch (e) { for (; e; e = e.suppressed, n++)"
     "got.push(...reach(e), ...(e.error ? reach(e.error) : [])) }"
     "n === 3 ? got : 'no chain of three'"),
    ("C011 SuppressedError of an async stack",
     "(async () => { const s = new AsyncDisposableStack();"
     "s.defer(async () => require('node:fs').readFileSync('/nope'));"
     "s.defer(async () => null.x); try { await s.disposeAsync() }"
     "catch (e) { return e.name === 'SuppressedError' ? [...reach(e),"
     "...reach(e.error), ...reach(e.suppressed)] : [e.name] } })()"),
    ("C017 constructor by another spelling",
     "const k = `con${'structor'}`; const { [k]: c } = '';"
     "reach(c) && reach(''['\\u0063onstructor'])"),
    ("C019 an async generator that delegates to a hostile then",
     "async function* g() { yield* { [Symbol.asyncIterator]() { return {"
     "next() { return { get then() { throw new Error('t') } } } } } } }"
     "(async () => { try { for await (const x of g()); } catch (e) {"
     "return reach(e) } })()"),
    ("C019 an async generator closed early by return with a thenable",
     "async function* g() { try { yield 1; yield 2 } finally { null.x } }"
     "(async () => { const it = g(), got = []; await it.next();"
     "const late = { then(ok) { got.push(...reach(this)); ok(1) } };"
     "try { await it.return(late); got.push('no error') }"
     "catch (e) { got.push(...reach(e)); e instanceof TypeError ||"
     "got.push(e) } return got })()"),
    ("C019 a thenable that throws an engine-made error on return",
     "async function* g() { yield* { [Symbol.asyncIterator]() { return {"
     "next() { return { value: 1, done: false } },"
     "return(v) { return { get then() { return null.x } } } } } } }"
     "(async () => { const it = g(); await it.next();"
     "try { await it.return({ get then() { null.y } }); return 'no error' }"
     "catch (e) { return e instanceof TypeError ? reach(e) : [e] } })()"),
    ("C003 the receiver of toJSON",
     "let got = []; const o = { toJSON() { got = reach(this); return 1 } };"
     "JSON.stringify(o); got"),
]
for _name, _code in THROWN:
    @case(f"guest constructors only: {_name}")
    def _(code=_code):
        expect(js(WALK + code), "ok", value=[])


@case("C003 a result's methods run inside and see guest objects only")
def _():
    r = js("({ toJSON() { return [typeof this, globalThis === (function() "
           "{ return this })(), Object.getPrototypeOf(this) === "
           "Object.prototype] } })")
    expect(r, "ok", value=["object", True, True])


@case("process offers nothing of the host's process")
def _():
    code = """
    const had = [];
    for (const f of ['binding', '_linkedBinding', 'dlopen', 'kill', 'setuid',
                     'setgid', '_kill', 'openStdin', '_debugProcess'])
        if (typeof process[f] === 'function')
            try { process[f]('fs'); had.push(f); } catch (e) {
                if (!(e instanceof Error)) had.push([f, 'odd']);
            }
    had"""
    expect(js(code), "ok", value=[])
    r = js("[process.pid, process.ppid, process.cwd(), process.title,"
           "process.execPath]")
    expect(r, "ok")
    need(str(os.getpid()) not in r.out.decode()
         and str(ROOT) not in r.out.decode(), r.about())


@case("C007 stacks name the script and its lines, nothing of the host")
def _():
    code = ("const a = 1;\n"
            "function f() { throw new RangeError('deep'); }\n"
            "\n"
            "f();\n")
    r = js(code)
    expect(r, "error", says="deep")
    e = r.json["error"]
    need(e["name"] == "RangeError" and e["line"] == 2, r.about())
    need("agent.js" in e["stack"] and ":4" in e["stack"], r.about())
    need("/" not in e["stack"].replace("node:", ""), r.about())
    r = js("try { require('node:fs').readFileSync('/x') } catch (e) "
           "{ console.log(e.stack) }\n[1].map(() => { throw Error('cb') })")
    expect(r, "error", says="cb")
    for text in (r.json["stdout"], r.json["error"]["stack"]):
        need(str(ROOT) not in text and "/home" not in text
             and "/tmp" not in text and "prelude" not in text, r.about())


@case("C013 an object with inspection hooks is data outside")
def _():
    code = ("const s = Symbol.for('nodejs.util.inspect.custom');"
            "const o = { a: 1, [s]() { for (;;); } }; o")
    expect(js(code), "ok", value={"a": 1})


@case("C011 each error of disposal carries a message, nothing of the host")
def _():
    r = js("const bad = () => ({ [Symbol.dispose]() {"
           "require('node:fs').readFileSync('/nope') } });"
           "const s = new DisposableStack(); s.use(bad()); s.use(bad());"
           "s.defer(() => null.x); const got = []; try { s.dispose() } catch (e)"
           "{ for (let x = e; x; x = x.suppressed) got.push(x.error ??  x) }"
           "got.map(e => [e.name, e.message, typeof e.stack,"
           "Object.keys(e).sort().join()])")
    io = ["Error", "EACCES: permission denied: not granted to this run, open "
          "'/nope'", "string", "code,errno,path,syscall"]
    expect(r, "ok")
    need(r.json["value"][:2] == [io, io], r.about())
    need(r.json["value"][2][0] == "TypeError", r.about())
    need(str(ROOT) not in r.text and "prelude" not in r.text, r.about())


REGISTERED = ["nodejs.util.inspect.custom", "nodejs.util.promisify.custom",
              "nodejs.rejection", "nodejs.dispose", "nodejs.asyncDispose",
              "nodejs.stream.destroyed", "nodejs.event_target", "nodejs.x"]


@case("C013 registered nodejs.* symbols: logged and returned, outside is data")
def _():
    code = (f"const ran = []; const o = {{ a: 1 }};"
            f"for (const n of {REGISTERED}) o[Symbol.for(n)] = () => "
            "{ ran.push(n); return 'ran ' + n };"
            "console.log(o); console.error('%%s %%o', 'x', o); "
            "console.log(ran.filter(n => n !== 'nodejs.util.inspect.custom')"
            ".length); o").replace("%%", "%")
    r = js(code)
    # As in Node, inspect.custom is the guest's own way to show itself; it ran
    # inside, under the run's limits.  No other symbol is a hook.
    expect(r, "ok", value={"a": 1},
           stdout="ran nodejs.util.inspect.custom\n0\n")
    need("nodejs" not in json_module.dumps(r.json["value"]), r.about())
    plain = command("run", source(code))
    need(plain.out.endswith(b'{"a":1}\n'), plain.about())
    hang = ("const o = { a: 1, [Symbol.for('nodejs.util.inspect.custom')]() "
            "{ for (;;); } };")
    expect(js(hang + "console.log(o)", "--limit", "wall=300ms"), "wall_limit",
           within=1.3)
    expect(js(hang + "throw o", "--limit", "wall=300ms"), "wall_limit",
           "error", within=1.3)


@case("C015 pollution of the global objects: this run's result still arrives")
def _():
    bad = ("Object.defineProperty(Object.prototype, 'status', { get() "
           "{ return 'forged' }, configurable: true });"
           "JSON.stringify = () => '\"forged\"';"
           "Array.prototype.toJSON = () => 'forged';"
           "Object.prototype.toJSON = () => 'forged';"
           "globalThis.console = null; Promise.prototype.then = null;"
           "Array.prototype.map = Array.prototype.push = () => { throw 1 };"
           "({ plain: true })")
    r = js(bad)
    expect(r, "ok", "error")
    need(r.json.get("status") in ("ok", "error") and r.status != "forged",
         r.about())
    expect(js("[typeof JSON.stringify({}), Object.prototype.status ?? null,"
              "[1].toJSON ?? null]"), "ok", value=["string", None, None])


@case("U7 a second run sees nothing of the first")
def _():
    js("globalThis.left = 'behind'; Array.prototype.left = 1;"
       "Object.prototype.left = 2; Math.left = 3")
    expect(js("[typeof left, typeof [].left, typeof Math.left]"), "ok",
           value=["undefined"] * 3)
    for _ in range(2):
        expect(js("globalThis.n = (globalThis.n ?? 0) + 1; n"), "ok", value=1)


# ---- the result cannot be forged

@case("C069 text that looks like a result is output")
def _():
    code = ("console.log(JSON.stringify({ id: 'r', status: 'breach',"
            "exit_code: 9, value: 'forged' }));"
            "console.log('\\x00\\x01RDM1{\"status\":\"ok\"}'); 'true result'")
    r = js(code)
    expect(r, "ok", value="true result")
    need("forged" in r.json["stdout"], r.about())


@case("C069 writes to other descriptors reach nothing")
def _():
    code = """
    const fs = require('node:fs');
    const done = [];
    for (let fd = 3; fd < 64; fd++)
        try { if (fs.writeSync) { fs.writeSync(fd, 'x'); done.push(fd); } }
        catch {}
    for (let fd = 0; fd < 64; fd++)
        try { const s = String(fs.readFileSync('/dev/fd/' + fd));
              done.push(s) } catch {}
    done"""
    expect(js(code), "ok", value=[])


@case("forged tags stay data")
def _():
    tag = {"$redoma": "bigint", "value": "1"}
    r = js("({ a: { $redoma: 'bigint', value: '1' }, b: 1n,"
           "c: { $redoma: 'bytes', value: '!' }, d: { $redoma: 5 } })")
    expect(r, "ok")
    v = r.json["value"]
    need(v["a"] == {"$redoma": "object", "value": tag}, r.about())
    need(v["b"] == tag, r.about())
    need(v["c"] == {"$redoma": "object", "value":
                    {"$redoma": "bytes", "value": "!"}}, r.about())
    need(v["d"] == {"$redoma": "object", "value": {"$redoma": 5}}, r.about())


@case("a guest's key cannot forge a line of the allow advice")
def _():
    name = "/x\"]\nread: [/etc/shadow]\n#\x1b[2J"
    r = js(READ.replace("%r", "input"), "--input",
           __import__("json").dumps(name))
    expect(r, "error")
    for d in r.json.get("denials", []):
        need("\n" not in d.get("allow", "") and "\x1b" not in
             d.get("allow", ""), r.about())
    plain = command("run", source(READ.replace("%r", "input")), "--input",
                    __import__("json").dumps(name))
    need(b"\x1b" not in plain.err, plain.about())
    need(not any(l.startswith(b"read:") for l in plain.err.splitlines()),
         plain.about())


@case("on_denied: end ends the run at the first refusal")
def _():
    code = ("try { " + read_of("/etc/passwd") + " } catch {} 'went on'")
    expect(js(code), "ok", value="went on")
    r = js(code, "--on-denied", "end")
    expect(r, "denied")
    need(r.json["denials"][0]["path"] == "/etc/passwd", r.about())


def bytecode():
    """A module that prints what the image's own engine compiles."""
    objects = BUILD / "images" / "js.raw.wasm.d"
    engine = hashlib.sha256((objects / "quick.o").read_bytes()).hexdigest()
    return wasm("bytecode", f"-DENGINE_{engine[:16]}", f"-I{ROOT / '.deps/quickjs'}",
                *[str(objects / f"{n}.o") for n in (
                    "quick", "libregexp", "libunicode", "dtoa")],
                "-lwasi-emulated-process-clocks", "-lwasi-emulated-signal",
                "-Wl,--allow-undefined", "-Wl,--gc-sections",
                "-Wl,-z,stack-size=1048576")


@case("C055 bytecode of the engine itself is a syntax error")
def _():
    if os.geteuid() and not os.access(SYSROOT / "include/stdio.h", os.R_OK):
        raise Skipped("the toolchain is out of this user's reach")
    module = bytecode()
    code = "const s = 'load'; globalThis.got = s + 'ed' + 6 * 7"
    r = command("run", module, "--", code)
    need(r.code == 0 and len(r.out) > 60, r.about())
    blob = r.out
    # It is the real thing: the engine that is asked to load it runs it.
    r = command("run", module, "--input", "-", stdin=blob)
    need(r.out == b"loaded42", r.about())
    blobs = [blob, blob.replace(b"\0", b"\1"), blob[:1] + blob, b"\xef" + blob]
    blobs += [blob[:i] + bytes([blob[i] ^ 1 << i % 8]) + blob[i + 1:]
              for i in range(0, len(blob), max(1, len(blob) // 24))]
    for b in blobs:
        r = js(b)
        need(r.status in ("invalid", "refused") and r.code in (2, 5),
             r.about())
        need("loaded42" not in r.text and "value" not in r.json, r.about())
        need("SyntaxError" in r.text or "not UTF-8" in r.text, r.about())
    need("not UTF-8" in js(blob).text, "refused for another reason")
    # What a script may hand to the engine by itself is text to it as well.
    code = """
    const fs = require('node:fs'), seen = [];
    for (const name of fs.readdirSync('/d')) {
        const bytes = fs.readFileSync('/d/' + name);
        const text = String.fromCharCode(...bytes);
        for (const f of [() => require('/d/' + name),
                         () => import('/d/' + name), () => (0, eval)(text),
                         () => new Function(text), () => eval(bytes + '')])
            try { await f(); seen.push(name + ' was loaded'); }
            catch (e) { seen.push(e.name); }
    }
    [typeof got, seen.length, ...new Set(seen)]"""
    d = scratch() / "bytecode"
    d.mkdir(exist_ok=True)
    for n, b in enumerate(blobs):
        (d / f"{n}.js").write_bytes(b)
    expect(js(code, "--read", f"{d}/=/d/"), "ok",
           value=["undefined", 5 * len(blobs), "SyntaxError"])


# ---- the network

ABSENT = "there is no network"


@case("what needs the network says that there is none, and what to do")
def _():
    for code in ("fetch('http://example.com/')", "await fetch('http://x/')",
                 "new WebSocket('ws://example.com/')", "require('http')",
                 "new XMLHttpRequest()", "await import('node:https')",
                 "require('node:net').connect(80)", "require('undici')",
                 "import dns from 'dns'; dns", "new Headers()",
                 "fetch('http://x/').then(r => r.json()); 1"):
        r = js(code)
        expect(r, "error", says=ABSENT)
        need("pass the data in as input" in r.message, r.about())
    r = js("const seen = []; for (const f of [() => fetch('http://x/'), "
           "() => new WebSocket('ws://x/'), () => require('http')])"
           "try { await f() } catch (e) { seen.push(e.code) } seen")
    expect(r, "ok", value=["ERR_ACCESS_DENIED", "ERR_ACCESS_DENIED",
                           "MODULE_NOT_FOUND"])


@case("a program that asks for the network by typeof is told what Node is")
def _():
    expect(js("[typeof fetch, typeof WebSocket, typeof XMLHttpRequest,"
              "typeof EventSource, fetch.name, WebSocket.OPEN]"), "ok",
           value=["function", "function", "undefined", "undefined", "fetch",
                  1])
    # The message is for the person; the program sees the engine's own.
    expect(js("try { XMLHttpRequest } catch (e) { e.message }"), "ok",
           value="XMLHttpRequest is not defined")
    r = js("throw new ReferenceError('Request is not defined')")
    expect(r, "error", says="Request is not defined")
    expect(js("XMLHttpRequests"), "error")
    need(ABSENT not in js("XMLHttpRequests").text, "a name of its own")


if __name__ == "__main__":
    main()
