#!/usr/bin/env python3
"""test-seconds: 240
Tools on the command line, and guests that want more of them than they were
granted: C001 (an error leads to no host object), what is not granted reaches
nobody, processes end with their run."""
import json
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_native import *

spare_group()


def tool(name, text):
    """A host command: a Python program that gets its arguments as `args`."""
    path = write(f"{name}.py", "import json, sys, os, time\n"
                 "args = json.load(sys.stdin)\n" + text)
    return f"{name}={sys.executable} {path}"


def spy(name="pay"):
    """Notes each call that reaches it."""
    log = scratch() / f"{name}.log"
    log.write_text("")
    return log, tool(name, f"open({str(log)!r}, 'a').write('x')\n"
                     "print(json.dumps(args))")


def rules(text):
    return ("--policy", write("tools.yaml", f"redoma: 1\n{spared()}{text}\n"))


@case("a command answers: arguments in, a value out, nothing of a shell")
def _():
    echo = tool("echo", "print(json.dumps([args, sys.argv[1:]]))")
    odd = {"a": "$(id) `id` ; rm -rf / && 'x' \"y\" \\ \n\u2028 \u0085",
           "$redoma": "bytes", "é": [1.5, None, {"k": 0.5}]}
    r = js(f"await tools.echo({json.dumps(odd)})", "--tool",
           f"{echo} 'a b' \"c d\" e\\ f $HOME * '$(id)'")
    expect(r, "ok")
    got, argv = r.json["value"]
    need(argv == ["a b", "c d", "e f", "$HOME", "*", "$(id)"], r.about())
    need(got == {"$redoma": "object", "value": odd}, r.about())
    r = js("await tools.nothing()", "--tool", "nothing=true")
    expect(r, "ok", value=None)


@case("a command sees PATH, its own streams, and nothing else of ours")
def _():
    look = tool("look", "print(json.dumps([sorted(os.environ), sorted(map(int, "
                "os.listdir('/proc/self/fd')))[:-1], os.getpgrp() == "
                "os.getpid()]))")
    r = js("await tools.look()", "--tool", look, "--env", "SECRET=1")
    expect(r, "ok")
    env, fds, leads = r.json["value"]
    need(set(env) <= {"PATH", "LC_CTYPE"} and fds == [0, 1, 2] and leads,
         r.about())


@case("a failure is a name and a message; the tool's own stack stays here")
def _():
    boom = tool("boom", "raise ValueError('secret-of-the-host')")
    code = ("let e; try { await tools.boom() } catch (x) { e = x } "
            "[e.name, e.message, e.stack, Object.keys(e).length]")
    r = js(code, "--tool", boom)
    expect(r, "ok")
    name, message, stack, keys = r.json["value"]
    need(name == "ToolError" and "code 1" in message and keys == 0, r.about())
    need("secret" not in json.dumps(r.json) and "Traceback" not in stack,
         r.about())
    need(b"secret-of-the-host" in r.err, "the person is not told")
    words = tool("words", "print(json.dumps({'name': 'PayError', 'message': "
                 "'no money'})); sys.exit(3)")
    r = js("await tools.words()", "--tool", words)
    expect(r, "error", says="no money")
    need(r.json["error"]["name"] == "PayError", r.about())
    for text, says in (("print('nope')", "no JSON"),
                       ("print('1 2')", "no JSON"),
                       ("os.kill(os.getpid(), 9)", "signal 9"),
                       ("sys.stdout.write('1' * (2 << 20))", "over 1 MiB")):
        expect(js("await tools.bad()", "--tool", tool("bad", text)), "error",
               says=says)


@case("C001 an error of a tool leads to the guest's own Function and no further")
def _():
    boom = tool("boom", "sys.exit(1)")
    r = js("let e; try { await tools.boom() } catch (x) { e = x }"
           "const F = e.constructor.constructor;"
           "const g = F('return this')();"
           "[F === Function, g === globalThis, typeof g.process.mainModule,"
           " Object.getPrototypeOf(e) === Error.prototype]", "--tool", boom)
    expect(r, "ok", value=[True, True, "undefined", True])


@case("what is not granted reaches nobody, by whatever name")
def _():
    log, pay = spy()
    for code in ("await tools.pray()", "await tools['pay ']()",
                 "await tools.__proto__.pay()", "await tools['pa\\0y']()",
                 "await tools[{toString: () => 'pay\\u0000'}]()",
                 "await tools.PAY()", "await tools['x'.repeat(5000)]()"):
        expect(js(code, "--tool", pay), "error")
    need(log.read_text() == "", "it was called")
    r = js("await tools['x\\\"]\\nread: [/']()", "--tool", pay)
    need(len(r.json["denials"]) == 1 and "\n" not in
         r.json["denials"][0]["allow"], r.about())
    expect(js("await tools.pay()", "--tool", pay), "ok", value={})
    need(log.read_text() == "x", "its control was not called")


@case("arguments outside their terms reach nobody, however they are dressed")
def _():
    log, pay = spy()
    rule = rules("tools: [{name: pay, max_calls: 2, where: {amount: {maximum:"
                  " 1000}, to: {enum: [a, b]}}}]")
    wrong = ("{amount: 1001, to: 'a'}", "{amount: '1', to: 'a'}",
             "{amount: 5000n, to: 'a'}", "{amount: [1], to: 'a'}",
             "{amount: 1e300, to: 'a'}", "{amount: NaN, to: 'a'}",
             "{amount: -Infinity, to: 'a'}", "{to: 'a'}", "{amount: 1}",
             "{amount: 1, to: 'c'}", "{amount: 1, to: ['a']}",
             "{amount: {valueOf: () => 1}, to: 'a'}",
             "{get amount() { return 5000 }, to: 'a'}",
             "{amount: 1, to: 'a', toJSON: () => ({amount: 5000, to: 'a'})}",
             "{amount: 1, to: 'a', $redoma: 'object', value: {amount: 5000}}",
             "new Proxy({amount: 1, to: 'a'}, {get: (t, k) => k === 'amount' "
             "? 5000 : t[k]})")
    for args in wrong:
        expect(js(f"await tools.pay({args})", *rule, "--tool", pay), "error",
               "ok")
    need(log.read_text() == "", log.read_text())
    r = js("for (let i = 0; i < 3; i++) try { await tools.pay({amount: 1000, "
           "to: 'b'}) } catch { }", *rule, "--tool", pay)
    need([c["ok"] for c in r.json["calls"]] == [True, True, False], r.about())
    need(log.read_text() == "xx", log.read_text())


@case("Python: what is not granted reaches nobody, nor by the parts below")
def _():
    log, pay = spy()
    rule = rules("tools: [{name: pay, where: {amount: {maximum: 1000}}}]")
    send = "s = type(tools).__getattr__.__globals__['TOOL_SEND']\n"
    for code in ("tools.pray(amount=1)", "tools['pay '](amount=1)",
                 "tools['pa\\0y'](amount=1)", "tools.PAY(amount=1)",
                 "tools['x' * 5000](amount=1)", "tools.pay()",
                 "tools.pay(amount=1001)", "tools.pay(amount='1')",
                 "tools.pay({'amount': 5000})", "tools.pay(amount=10 ** 20)",
                 "tools.pay(amount=float('nan'))",
                 "class D(dict):\n  def items(self):\n"
                 "    return [('amount', 1)]\ntools.pay(D(amount=5000))",
                 "class I(int):\n  def __abs__(self): return 1\n"
                 "tools.pay(amount=I(5000))",
                 "tools.pay({'amount': 1, '$redoma': 'object', 'value': "
                 "{'amount': 5000}})",
                 send + "s(b'pay\\0{\"amount\":5000}')",
                 send + "s(b'pay\\0{\"amount\":1,\"amount\":5000}')",
                 send + "s(b'pay\\0[5000]')", send + "s(b'pay')"):
        expect(python(code, *rule, "--tool", pay), "error", "ok")
    need(log.read_text() == "", log.read_text())
    expect(python("tools.pay(amount=1000)", *rule, "--tool", pay), "ok",
           value={"amount": 1000})
    need(log.read_text() == "x", "its control was not called")


# ---- native: the channel is the program's own descriptor 3

RAW = '''import os, struct, time
def message(kind, body):
    return struct.pack("<II", kind, len(body)) + body
def call(n, text):
    return message(6, struct.pack("<I", n) + text)
def say(*all):
    os.write(3, b"".join(all))
def hear():
    head = os.read(3, 8)
    kind, n = struct.unpack("<II", head)
    return kind, os.read(3, n)
EXIT = message(5, bytes(4))
def wait():
    time.sleep(5)
'''


@case("native: a call on the channel itself is one like any other")
def _():
    log, pay = spy()
    rule = rules("tools: [{name: pay, max_calls: 3, where: {amount: {maximum: "
                 "1000}}}]")
    r = py(RAW + "say(call(1, b'pay\\0{\"amount\":1000}'))\n"
           "kind, body = hear()\n[kind, body.decode()]", *rule, "--tool", pay)
    expect(r, "ok", value=[7, '\1\0\0\0\0{"amount": 1000}\n'])
    need(log.read_text() == "x", "the control was not called")
    log.write_text("")
    for text in ("pay\\0{\"amount\":1001}", "pay\\0{\"amount\":\"1\"}",
                 "pay\\0{}", "pay\\0[1]", "pay\\0", "pay\\0{\"amount\":1",
                 "pay\\0{\"amount\":5000,\"amount\":1}", "\\0{}",
                 "pray\\0{\"amount\":1}", "pay \\0{\"amount\":1}",
                 "pay\\0{\"amount\":1}\\0", "pay\\0{\"amount\":1}{}"):
        r = py(RAW + f"say(call(1, b'{text}'))\nhear()[1][4]", *rule,
               "--tool", pay)
        expect(r, "ok", value=1)
        need(len(r.json["calls"]) == 1 and not r.json["calls"][0]["ok"],
             r.about())
    need(log.read_text() == "", log.read_text())


@case("native: what is no call of ours ends the program and reaches nobody")
def _():
    log, pay = spy()
    rule = rules("tools: [pay]\nlimits: {in_flight: 2, wall: 4s}")
    good = "call(1, b'pay\\0{}')"
    for code in (f"say({good.replace('1', '0')})",
                 f"say({good.replace('1', '2')})",
                 f"say({good.replace('1', '0xffffffff')})",
                 "say(call(1, b'pay'))", "say(call(1, b''))",
                 "say(message(6, b'')), wait()", "say(message(6, b'abc'))",
                 "say(call(1, b'x' * 300 + b'\\0{}'))",
                 "say(struct.pack('<II', 6, (1 << 20) + 5))",
                 "say(struct.pack('<II', 6, 0xffffffff))",
                 "say(message(7, bytes(4) + b'\\0true'))",
                 "say(message(2, bytes(4)))", "say(message(99, b''))",
                 "say(message(1, b''), message(1, b'x'))"):
        r = py(RAW + code + "\nwait()", *rule, "--tool", pay)
        expect(r, "error", says="descriptor 3", within=3)
        need("calls" not in r.json, r.about())
    need(log.read_text() == "", log.read_text())
    slow = tool("slow", "time.sleep(9)")
    more = ("say(*(call(n, b'slow\\0{}') for n in range(1, 4)))\nwait()")
    r = py(RAW + more, *rules("tools: [slow]\nlimits: {in_flight: 2, wall: "
                              "4s}"), "--tool", slow)
    expect(r, "error", says="descriptor 3", within=3)
    need([c["ok"] for c in r.json["calls"]] == [False, False], r.about())
    # Nothing was granted: not even a good one.
    expect(py(RAW + f"say({good})\nwait()", "--limit", "wall=4s"), "error",
           says="descriptor 3", within=3)


@case("native: parts of a call, words after the last, answers nobody takes")
def _():
    log, pay = spy()
    rule = rules("tools: [pay]\nlimits: {in_flight: 2, calls: 50, wall: 4s}")
    r = py(RAW + "os.write(3, call(1, b'pay\\0{}')[:-1])\nos._exit(0)", *rule,
           "--tool", pay)
    need("calls" not in r.json and log.read_text() == "", r.about())
    r = py(RAW + "say(EXIT, call(1, b'pay\\0{}'))\nwait()", *rule, "--tool",
           pay)
    expect(r, "ok", within=3)
    need("calls" not in r.json and log.read_text() == "", r.about())
    # Made, and then it ended: as with a module's own import.
    r = py(RAW + "say(call(1, b'pay\\0{}'))\nos._exit(0)", *rule, "--tool", pay)
    need([c["tool"] for c in r.json["calls"]] == ["pay"], r.about())
    # One that never reads: what it is sent stays within bounds.
    big = tool("big", "print(json.dumps('x' * 1000000))")
    r = py(RAW + "for n in range(1, 60):\n    say(call(n, b'big\\0{}'))\n"
           "    time.sleep(0.05)\nwait()",
           *rules("tools: [big]\nlimits: {in_flight: 2, calls: 50, wall: 4s}"),
           "--tool", big)
    expect(r, "error", "wall_limit", "call_limit", within=6)
    need(len(r.json["calls"]) <= 4, r.about())


@case("native: a flood of calls ends by its limits; the next run is right")
def _():
    echo = ("--tool", "echo=cat")
    r = nodejs("const f = () => tools.echo({}).then(f, f); f()", *echo,
               "--limit", "calls=20", "--limit", "wall=20s", timeout=30)
    expect(r, "call_limit")
    need(len(r.json["calls"]) == 20, r.about())
    expect(nodejs("for (;;) tools.echo({x: 'x'.repeat(1000)})", *echo,
                  "--limit", "wall=1s"), "call_limit", "cpu_limit",
           "wall_limit", "memory_limit",
           *(["error"] if spared() else []))  # node itself ends, without memory
    expect(nodejs("await tools.echo({a: 1})", *echo), "ok", value={"a": 1})
    expect(nodejs("const f = (i) => tools.echo({i}); (await Promise.all([1, 2, "
                  "3, 4].map(f))).map((r) => r.i)", *echo, "--limit",
                  "in_flight=1"), "ok", value=[1, 2, 3, 4])


@case("native: what is not granted reaches nobody, by either interpreter")
def _():
    log, pay = spy()
    rule = rules("tools: [{name: pay, max_calls: 1, where: {amount: {maximum: "
                 "1000}}}]")
    for run, codes in ((nodejs, (
            "await tools.pray({amount: 1})", "await tools.pay({amount: 1001})",
            "await tools['pa\\0y']({amount: 1})", "await tools.pay()",
            "await tools['x'.repeat(5000)]({amount: 1})",
            "await tools.pay({amount: 1, toJSON: () => ({amount: 5000})})",
            "await tools.pay({amount: 1, $redoma: 'object', value: {amount: "
            "5000}})")), (py, (
            "tools.pray(amount=1)", "tools.pay(amount=1001)", "tools.pay()",
            "tools['pa\\0y'](amount=1)", "tools['x' * 5000](amount=1)",
            "tools.pay({'amount': 1, '$redoma': 'object', 'value': {}})"))):
        for code in codes:
            expect(run(code, *rule, "--tool", pay), "error")
        need(log.read_text() == "", log.read_text())
    r = nodejs("await tools.pay({amount: 1000}); await tools.pay({amount: 1})",
               *rule, "--tool", pay)
    expect(r, "error", says="may be called 1 time in one run")
    need(r.json["denials"] == [{"op": "tool", "path": "pay", "count": 1,
                                "why": "pay may be called 1 time in one run, "
                                "and was",
                                "allow": 'tools: [{name: "pay", max_calls: 2, '
                                'where: {amount: {maximum: 1000}}}]'}],
         str(r.json["denials"]))
    need(log.read_text() == "x", log.read_text())


@case("native: a process that the program starts has no voice; a thread has")
def _():
    r = py("import os, threading\nout = []\n"
           "t = threading.Thread(target=lambda: out.append(tools.echo(a=1)))\n"
           "t.start(); t.join()\nr, w = os.pipe()\nif not os.fork():\n"
           "  try: tools.echo(a=2)\n"
           "  except Exception as e: os.write(w, str(e).encode())\n"
           "  os._exit(0)\nos.wait()\n[out, os.read(r, 99).decode()]",
           "--tool", "echo=cat")
    expect(r, "ok", says="cannot call tools")
    need(r.json["value"][0] == [{"a": 1}] and len(r.json["calls"]) == 1,
         r.about())


@case("native: a command has no way to call tools, and is refused by name")
def _():
    for words in (("sh", "-c", "exit 0"), ("node", "-e", "1"), ("/bin/true",)):
        r = native(*words, options=("--tool", "t=cat"))
        need(r.code == 6 and "`tools`" in r.message and "FILE.js" in r.message,
             r.about())


@case("native: processes of tools end with their run, and the wait costs no CPU")
def _():
    slow = tool("slow", "import subprocess; subprocess.Popen(['sleep', '97']);"
                "time.sleep(98)")
    for run, code in ((nodejs, "await tools.slow()"), (py, "tools.slow()"),
                      (py, "await tools.slow()")):
        r = run(code, "--tool", slow, "--limit", "wall=700ms")
        expect(r, "wall_limit", within=5)
        need(r.json["calls"][0]["error"].startswith("Unanswered"), r.about())
        need(r.json["usage"]["cpu_us"] < 400000, r.about())
        need(not survivors(), "left")
    r = nodejs("tools.slow(); process.exit(3)", "--tool", slow)
    expect(r, "error", within=5)
    need(r.json["exit_code"] == 3 and not survivors(), "left")


@case("native: files and tools in one run; late answers spoil nothing")
def _():
    out = fresh_dir("out")
    out.chmod(0o777)
    nap = tool("nap", "time.sleep(0.3); print(1)")
    r = nodejs("require('fs').writeFileSync('/out/a', 'kept'); tools.nap();"
               "tools.echo({}).then(() => process.exit(0)); 1", "--tool", nap,
               "--tool", "echo=cat", *rules(
                   f"write: [{{host: {out}/, as: /out/, max_bytes: 1MiB, "
                   "max_files: 4}]\ntools: [nap, echo]"))
    expect(r, "ok")
    need((out / "a").read_text() == "kept", r.about())


@case("processes of tools end with their run, and what they started")
def _():
    slow = tool("slow", "import subprocess; subprocess.Popen(['sleep', '97']);"
                "time.sleep(98)")
    began = time.monotonic()
    r = js("await tools.slow()", "--tool", slow, "--limit", "wall=700ms")
    expect(r, "wall_limit")
    need(time.monotonic() - began < 10, "it was waited for")
    need(not survivors(), "left")
    r = js("tools.slow(); process.exit(3)", "--tool", slow)
    expect(r, "error")
    need(not survivors(), "left")


@case("whoever ends the command ends its tools too")
def _():
    for sig, code in ((signal.SIGINT, 130), (signal.SIGTERM, 130),
                      (signal.SIGKILL, -9)):
        mark = scratch() / f"started-{int(sig)}"
        slow = tool("slow", f"open({str(mark)!r}, 'w').close(); time.sleep(96)")
        p = subprocess.Popen([str(BUILD / "redoma"), "eval", "js",
                              "await tools.slow()", "--tool", slow, "--limit",
                              "wall=90s"], stderr=subprocess.DEVNULL)
        until = time.monotonic() + 20 * SLOW
        while not mark.exists():
            need(time.monotonic() < until, "the tool did not start")
            time.sleep(0.01)
        p.send_signal(sig)
        need(p.wait(20 * SLOW) == code, f"{sig}: {p.returncode}")
        need(not survivors(), f"{sig}: a process is left")


@case("tools run at once, up to in_flight")
def _():
    nap = tool("nap", "time.sleep(0.4); print(args['i'])")
    code = ("const t = performance.now(); const v = await Promise.all([1, 2, 3,"
            " 4, 5, 6].map((i) => tools.nap({i}))); [v, performance.now() - t]")
    v, together = js(code, "--tool", nap).json["value"]
    need(v == [1, 2, 3, 4, 5, 6], str(v))
    _, apart = js(code, "--tool", nap, "--limit", "in_flight=1",
                  "--limit", "wall=30s", timeout=40).json["value"]
    need(apart > 2400 and together < apart * 0.75, f"{together} {apart}")


@case("many calls, and one that says much")
def _():
    r = js("let n = 0; for (let i = 0; i < 60; i++) n += (await tools.echo({i}"
           ")).i; n", "--tool", "echo=cat", "--limit", "wall=60s", timeout=70)
    expect(r, "ok", value=1770)
    r = js("(await tools.echo({x: 'x'.repeat(1000000)})).x.length", "--tool",
           "echo=cat")
    expect(r, "ok", value=1000000)
    r = js("for (;;) tools.echo({x: 1})", "--tool", "echo=cat", "--limit",
           "wall=1s")
    expect(r, "call_limit", "wall_limit", "memory_limit")


@case("text of a guest in a tool's words does not act on a terminal")
def _():
    loud = tool("loud", "sys.stderr.write(args['t']); print(1)")
    r = command("eval", "js", "await tools.loud({t: '\\x1b[2Jx\\nredoma: y'})",
                "--tool", loud)
    need(b"\x1b" not in r.err and b"tool loud:" in r.err, r.about())
    for line in r.err.splitlines():
        need(line.startswith(b"redoma: tool loud: "), r.about())


if __name__ == "__main__":
    main()
