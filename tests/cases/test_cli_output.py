#!/usr/bin/env python3
"""test-seconds: 120
What a person or a pipe gets from the command: output, value, exit codes,
terminals, signals, help."""
import pathlib
import pty
import re
import select
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *


def plain(code, *options, **kw):
    return command("run", source(code), *options, **kw)


def on_terminal(*args, env=None):
    """What the command writes when its three descriptors are a terminal."""
    main_fd, sub_fd = pty.openpty()
    p = subprocess.Popen([REDOMA, *map(str, args)], stdin=sub_fd,
                         stdout=sub_fd, stderr=sub_fd, cwd=scratch(),
                         env=dict(os.environ, TERM="xterm", **(env or {})))
    os.close(sub_fd)
    out = b""
    end = time.monotonic() + 15
    while time.monotonic() < end:
        ready, _, _ = select.select([main_fd], [], [], 0.2)
        if ready:
            try:
                part = os.read(main_fd, 65536)
            except OSError:
                break
            if not part:
                break
            out += part
        elif p.poll() is not None:
            break
    os.close(main_fd)
    return p.wait(10), out.replace(b"\r\n", b"\n")


@case("stdout, stderr and the value go where they belong")
def _():
    r = plain("console.log('out'); console.error('err'); ({ a: [1] })")
    need(r.out == b'out\n{"a":[1]}\n', r.about())
    need(r.err == b"err\n" and r.code == 0, r.about())
    for code in ("null", "undefined", "void 0"):
        r = plain(code)
        need(r.out == b"", r.about())
    r = plain("process.stdout.write('no newline'); 5")
    need(r.out == b"no newline\n5\n", r.about())


@case("a published file has the mode of the old one, or what umask leaves")
def _():
    old, new = scratch() / "old.txt", scratch() / "new.txt"
    old.write_text("old")
    old.chmod(0o600)
    code = "const fs = require('fs'); fs.writeFileSync('/f', 'new'); 1"
    for mask, want in ((0o022, 0o644), (0o077, 0o600)):
        before = os.umask(mask)
        try:
            for f in old, new:
                r = plain(code, "--write", f"{f}=/f:1KiB")
                need(r.code == 0 and f.read_text() == "new", r.about())
        finally:
            os.umask(before)
        got = oct(old.stat().st_mode), oct(new.stat().st_mode)
        need(got == ("0o100600", oct(0o100000 | want)), f"{mask:o} {got}")
        new.unlink()


@case("exit codes")
def _():
    for code, options, want in (
            ("1", (), 0), ("throw Error('x')", (), 1),
            ("process.exit(3)", (), 1), ("process.exit(0)", (), 0),
            ("for (;;);", ("--limit", "wall=200ms"), 3),
            ("try { require('node:fs').readFileSync('/x') } catch {}",
             ("--on-denied", "end"), 4),
            ("let let = ;", (), 5)):
        r = plain(code, *options)
        need(r.code == want, f"wanted {want}: {r.about()}")
    r = js("process.exit(3)")
    expect(r, "error")
    need(r.json["exit_code"] == 3, r.about())


@case("one line each for status, limits and denials; none with --quiet")
def _():
    r = plain("throw new TypeError('bad\\nredoma: forged')")
    need(r.err.startswith(b"redoma: error: TypeError: bad\\nredoma"), r.about())
    need(b"\nredoma: forged" not in r.err, r.about())
    r = plain("for (;;);", "--limit", "wall=200ms")
    need(re.match(rb"redoma: wall_limit: .*200 ?ms.*\n$", r.err), r.about())
    r = plain("try { require('node:fs').readFileSync('/x/y') } catch {}")
    need(b"redoma: denied: open /x/y" in r.err and r.code == 0, r.about())
    r = plain("throw 1", "--quiet")
    need(r.err == b"" and r.code == 1, r.about())
    r = plain("1", "--stats")
    need(b"redoma: stats: ok, wall" in r.err and r.out == b"1\n", r.about())


@case("C071 control sequences: exact in a pipe, escaped on a terminal")
def _():
    acts = ("\\x1b[2J\\x1b]0;title\\x07\\x1b]52;c;aGk=\\x07"
            "\\x1b]8;;http://x\\x07\\x9b31m\\u202e")
    code = f"process.stdout.write('{acts}\\n'); '\\u009b'"
    r = plain(code)
    want = acts.encode().decode("unicode_escape").encode()
    need(r.out.startswith(want + b"\n"), r.about())
    rc, out = on_terminal("run", source(code))
    need(rc == 0 and b"\x1b" not in out and b"\x07" not in out
         and b"\xc2\x9b" not in out and b"\\x1b[2J" in out, repr(out))
    rc, out = on_terminal("run", source(f"throw Error('{acts}')"),
                          env={"NO_COLOR": "1"})
    need(rc == 1 and b"\x1b" not in out, repr(out))
    rc, out = on_terminal("run", source(code), "--json")
    need(b"\x1b" not in out and b"\x9b" not in out, repr(out))


@case("colour only on a terminal, and never with NO_COLOR")
def _():
    _, out = on_terminal("run", source("throw 1"))
    need(b"\x1b[1mredoma:\x1b[0m" in out, repr(out))
    _, out = on_terminal("run", source("throw 1"), env={"NO_COLOR": "1"})
    need(b"\x1b" not in out, repr(out))
    need(b"\x1b" not in plain("throw 1").err, "colour in a pipe")


def interrupted(signals, gap=0.2, code="for (;;);"):
    p = subprocess.Popen([REDOMA, "run", str(source(code)), "--limit",
                          "wall=15s"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, cwd=scratch())
    time.sleep(0.6)
    began = time.monotonic()
    for s in signals:
        p.send_signal(s)
        time.sleep(gap)
    try:
        out, err = p.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        p.kill()
        raise Failed("did not end") from None
    took = time.monotonic() - began
    left = survivors()
    need(not left, f"left {left}")
    return p.returncode, out, err, took


@case("Ctrl-C cancels, is reported and leaves nothing")
def _():
    for s in (signal.SIGINT, signal.SIGTERM):
        code, out, err, took = interrupted([s])
        need(code == 130 and b"cancelled" in err and took < 2,
             f"{code} {err} {took}")


def keys(presses, gap):
    """A run on a terminal of its own, ended by keys pressed there."""
    pid, fd = pty.fork()
    if not pid:
        os.chdir(scratch())
        os.execv(REDOMA, [REDOMA, "run", str(source("for (;;);")), "--limit",
                          "wall=15s"])
    time.sleep(0.6)
    began = time.monotonic()
    out = b""
    for _ in range(presses):
        os.write(fd, b"\x03")
        time.sleep(gap)
    while time.monotonic() < began + 10:
        try:
            part = os.read(fd, 4096)
        except OSError:
            break
        if not part:
            break
        out += part
    took = time.monotonic() - began
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(fd)
    left = survivors()
    need(not left, f"left {left}")
    return code, out, took


@case("Ctrl-C pressed on a terminal, once and twice")
def _():
    source("for (;;);")
    code, out, took = keys(1, 0)
    need(code == 130 and b"cancelled" in out and took < 2,
         f"{code} {out} {took}")
    code, out, took = keys(2, 0.01)
    need(code == 130 and took < 1, f"{code} {out} {took}")


@case("Ctrl-C while a script waits")
def _():
    code, out, err, took = interrupted(
        [signal.SIGINT], code="await new Promise(r => setTimeout(r, 9e6))")
    need(code == 130 and took < 2, f"{code} {err} {took}")


@case("twice exits at once and leaves nothing")
def _():
    code, out, err, took = interrupted([signal.SIGINT, signal.SIGINT], 0.0)
    need(code == 130 and took < 1, f"{code} {err} {took}")


@case("the command killed with SIGKILL leaves no process")
def _():
    for wait in (0.0, 0.02, 0.05, 0.3):
        p = subprocess.Popen([REDOMA, "run", str(source("for (;;);")),
                              "--limit", "wall=15s"],
                             stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, cwd=scratch())
        time.sleep(wait)
        p.kill()
        p.wait()
        left = survivors(3)
        need(not left, f"after {wait} s: left {left}")


@case("C165 standard output that cannot be written is an error")
def _():
    with open("/dev/full", "wb") as full:
        p = subprocess.run([REDOMA, "run", str(source("'x'.repeat(9)"))],
                           stdout=full, stderr=subprocess.PIPE, timeout=10)
    need(p.returncode == 70 and b"No space" in p.stderr, repr(p))


@case("standard descriptors that are closed do no harm")
def _():
    for closed in ((0,), (1,), (2,), (0, 1, 2)):
        pid = os.fork()
        if not pid:
            null = os.open("/dev/null", os.O_RDWR)
            for fd in (1, 2):
                os.dup2(null, fd)
            for fd in closed:
                os.close(fd)
            os.execv(REDOMA, [REDOMA, "eval", "js", "1", "--quiet"])
        end = time.monotonic() + 10
        while True:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                break
            need(time.monotonic() < end, f"hangs with {closed} closed")
            time.sleep(0.01)
        code = os.waitstatus_to_exitcode(status)
        need(code == 0 if 1 not in closed else code in (0, 70),
             f"{closed}: {code}")


@case("C253 a first run without a home, a cache or a temporary folder")
def _():
    nowhere = {"HOME": "/nonexistent", "XDG_CACHE_HOME": "/proc/nowhere",
               "TMPDIR": "/nonexistent", "XDG_RUNTIME_DIR": "/nonexistent"}
    expect(js("6 * 7", env=nowhere), "ok", value=42)
    expect(module("files", "cat", "/nope", env=nowhere), "ok",
           stdout="EACCES\n")


@case("C155 the same module by the command twice, cached or not")
def _():
    nowhere = {"HOME": "/nonexistent", "XDG_CACHE_HOME": "/proc/nowhere"}
    a = module("files", "list", "/", env=nowhere)
    b = module("files", "list", "/")
    for key in ("status", "exit_code", "stdout", "denials"):
        need(a.json.get(key) == b.json.get(key), f"{a.about()}\n{b.about()}")


@case("a script by standard input, with arguments")
def _():
    r = command("run", "-", "--lang", "js", "--", "a", "--json", "-x",
                stdin=b"process.argv.slice(2)")
    need(r.out == b'["a","--json","-x"]\n', r.about())


# ---- help

@case("help fits a screen of 24 x 80, and its examples work as typed")
def _():
    r = command("help")
    lines = r.out.decode().splitlines()
    need(r.code == 0 and len(lines) < 24, r.about())
    need(all(len(l) < 80 for l in lines), r.about())
    examples = [l.strip() for l in lines if l.startswith("  ")
                and ("redoma eval" in l or "| redoma" in l) and "'" in l]
    need(len(examples) == 3, r.about())
    wants = [(0, b"42\n"), (0, b"hello\n"), (3, b"")]
    for line, (code, out) in zip(examples, wants):
        p = subprocess.run(line, shell=True, capture_output=True, timeout=10,
                           env=dict(os.environ,
                                    PATH=f"{BUILD}:{os.environ['PATH']}"))
        need((p.returncode, p.stdout) == (code, out), f"{line}: {p}")


@case("every verb has help of its own, by both ways")
def _():
    for verb in ("run", "eval", "policy", "doctor", "version", "help"):
        a, b = command("help", verb), command(verb, "--help")
        need(a.code == b.code == 0 and a.out == b.out
             and a.out.startswith(f"redoma {verb} ".encode()), a.about())
    need(command().code == 2, "no verb")
    need(command("--help").out == command("help").out, "--help")
    need(command("--version").out == command("version").out, "--version")
    for topic in ("limits", "exit-codes"):
        need(command("help", topic).code == 0, topic)
    need(command("help", "lmits").code == 2, "unknown topic")


@case("completions and the manual page are well-formed and complete")
def _():
    bash = command("help", "--completions", "bash").out
    p = subprocess.run(["bash", "-n"], input=bash, capture_output=True)
    need(p.returncode == 0, p.stderr.decode())
    script = bash + (b"\nCOMP_WORDS=(redoma run --li); COMP_CWORD=2; _redoma;"
                     b"echo ${COMPREPLY[@]}; COMP_WORDS=(redoma ev);"
                     b"COMP_CWORD=1; _redoma; echo ${COMPREPLY[@]}")
    p = subprocess.run(["bash", "-c", script], capture_output=True)
    need(p.stdout.split() == [b"--limit", b"eval"], repr(p))
    man = command("help", "--man").out
    helped = command("help", "run").out.decode()
    for shell in ("zsh", "fish"):
        text = command("help", "--completions", shell).out.decode()
        for option in re.findall(r"--([a-z-]+)", helped):
            need(option in text, f"{shell} lacks {option}")
            need(option.replace("-", "\\-").encode() in man,
                 f"man lacks {option}")
    if shutil.which("man"):
        p = subprocess.run(["man", "--warnings", "-l", "-"], input=man,
                           capture_output=True)
        need(p.returncode == 0 and b"warning" not in p.stderr,
             p.stderr.decode())


@case("doctor says what is enforced, in sentences and as JSON")
def _():
    j = command("doctor", "--json")
    found = strict_json(j.out)
    need(j.code == 0 and found["controls"], j.about())
    t = command("doctor")
    for c in found["controls"]:
        need(c["name"] in t.text and c["state"], t.about())
        need(c["state"] == "enforced" or c.get("remedy"), f"no remedy: {c}")


@case("doctor says whether the data image is installed, and how it is made")
def _():
    env = dict(os.environ, HOME=str(scratch()),
               XDG_DATA_HOME=str(scratch() / "data"))
    j = strict_json(command("doctor", "--json", env=env).out)
    need([(i["name"], i["state"]) for i in j["added"]] == [("data", "missing")]
         and j["runtimes"] and j["images"], str(j))
    t = command("doctor", env=env)
    need("data               not installed" in t.text and
         "redoma image add data" in t.text, t.about())


if __name__ == "__main__":
    main()
