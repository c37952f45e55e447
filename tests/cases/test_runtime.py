#!/usr/bin/env python3
"""test-seconds: 240
Roots of native programs. The oracle is the loader of this machine: ldd names
what a program opens, and programs that see nothing but their root (entries
bound into an empty directory, chroot) work."""
import pathlib
import pwd
import re
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *


def show(name):
    r = command("runtime", "show", name, "--json")
    need(r.code == 0, r.about())
    return strict_json(r.out)


def real_files(root):
    return {e["host"] for e in root["entries"] if e["kind"] == "file"}


def ldd(path):
    """Real paths of all that the loader opens for a program."""
    p = subprocess.run(["ldd", path], capture_output=True, text=True)
    found = re.findall(r"(?:=>\s+|^\s+)(/\S+)", p.stdout, re.M)
    need(p.returncode == 0 and found, f"ldd {path}: {p.stdout}{p.stderr}")
    return {os.path.realpath(f) for f in found}


def chroot_all(root, where):
    """A shell script that makes the root of its entries."""
    lines = ["set -e", f"mount -t tmpfs none {where}"]
    for e in root["entries"]:
        at = shlex.quote(f"{where}{e['guest']}")
        lines.append(f"mkdir -p $(dirname {at})")
        if e["kind"] == "link":
            lines.append(f"ln -s {shlex.quote(e['to'])} {at}")
        elif e["kind"] == "text":
            lines.append(f"printf %s {shlex.quote(e['text'])} > {at}")
        elif e["kind"] == "empty":
            lines.append(f"mkdir -p {at}")
        else:
            lines.append(f"{'mkdir' if e['kind'] == 'directory' else 'touch'}"
                         f" {at}")
            lines.append(f"mount --bind {shlex.quote(e['host'])} {at}")
            if not e["exec"]:
                lines.append(f"mount -o remount,bind,noexec {at}")
    return lines


def inside(root, *argv, code=0):
    """Runs a program that sees its root and nothing else of the host."""
    where = scratch() / "inside"
    where.mkdir(exist_ok=True)
    script = "\n".join(chroot_all(root, where) + [
        f"exec chroot {where} " + " ".join(map(shlex.quote, argv))])
    unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    if subprocess.run([*unshare, "true"], capture_output=True).returncode:
        raise Skipped("no mount namespace for this user")
    p = subprocess.run([*unshare, "sh", "-c", script], capture_output=True,
                       text=True, timeout=60, env={
                           "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    need(p.returncode == code, f"{argv}: {p.returncode} {p.stdout}{p.stderr}")
    return p.stdout


def available(name):
    rows = strict_json(command("runtime", "list", "--json").out)["runtimes"]
    row = next(r for r in rows if r["name"] == name)
    if not row["available"]:
        raise Skipped(row["why_not"])
    return row["program"]


@case("list: rows built in, and whether they are here")
def _():
    rows = strict_json(command("runtime", "list", "--json").out)["runtimes"]
    need([r["name"] for r in rows][:3] == ["node", "python3", "sh"], f"{rows}")
    for r in rows:
        need(bool(r["why_not"]) == (not r["available"]), f"{r}")
        need(not r["available"] or os.access(r["program"], os.X_OK), f"{r}")
    text = command("runtime", "list").out.decode()
    need(len(text.splitlines()) == len(rows), text)


@case("show: every library that ldd names, for what this machine has")
def _():
    for name in ("node", "python3", "sh", "/bin/ls", "/bin/true"):
        program = name if name[0] == "/" else available(name)
        missing = ldd(program) - real_files(show(name))
        need(not missing, f"{name} lacks {missing}")


@case("show: the libraries of Python's modules, by ldd")
def _():
    program = available("python3")
    p = subprocess.run([program, "-I", "-c", "import _ssl, _sqlite3, _ctypes;"
                        "print(_ssl.__file__, _sqlite3.__file__,"
                        "_ctypes.__file__)"], capture_output=True, text=True)
    files = [f for f in p.stdout.split() if f[0] == "/"]
    files = [f for f in files if os.path.exists(f)]
    if not files:
        raise Skipped("this Python has them built in")
    have = real_files(show("python3"))
    for f in files:
        need(not ldd(f) - have, f"{f} lacks {ldd(f) - have}")


@case("show: nothing that was not asked for")
def _():
    root = show("/bin/true")
    names = [e["guest"] for e in root["entries"]]
    need(names == sorted(names, key=os.fsencode), f"{names}")
    need(len(names) < 20 and not any("bash" in n or "/sh" in n or
                                     "shadow" in n for n in names), f"{names}")
    need(root["program"] == "/bin/true" and len(root["digest"]) == 64,
         f"{root}")
    need(show("/bin/true")["digest"] == root["digest"], "another digest")
    for name in ("node", "python3"):
        available(name)
        need(not any(re.search(r"/(sh|bash|cc|gcc)$", e["guest"])
                     for e in show(name)["entries"]), f"a shell for {name}")
    for e in show("node")["entries"]:
        need(not e["exec"] or e["kind"] == "file", f"{e}")


@case("a program that sees only its root: true, ls, sh with its tools")
def _():
    inside(show("/bin/true"), "/bin/true")
    need("etc" in inside(show("/bin/ls"), "/bin/ls", "/"), "no etc")
    root = show("sh")
    out = inside(root, root["program"], "-c",
                 "printf 'b\\na\\n' | sort | sed s/a/A/ | tr b B; id -un 1000;"
                 "seq 3 | awk '{n += $1} END {print n}'; TZ=America/Sao_Paulo "
                 "date -d @0 +%H; echo x | gzip | zcat | wc -l")
    need(out.split() == ["A", "B", "guest", "6", "21", "1"], out)


@case("a program that sees only its root: python3 and its modules")
def _():
    available("python3")
    root = show("python3")
    out = inside(root, root["program"], "-c",
                 "import ssl, sqlite3, ctypes, zlib, lzma, bz2, json, decimal,"
                 "asyncio, hashlib, zoneinfo, getpass, pwd, threading, sys\n"
                 "t = threading.Thread(target=lambda: print('thread'))\n"
                 "t.start(); t.join()\n"
                 "print(sys.prefix, zoneinfo.ZoneInfo('Europe/Paris'),"
                 "pwd.getpwuid(1000).pw_name)\n"
                 "print(len(ssl.create_default_context().get_ca_certs()) > 9)")
    want = subprocess.run([available("python3"), "-I", "-c",
                           "import sys; print(sys.prefix)"],
                          capture_output=True, text=True).stdout.strip()
    need(out.split() == ["thread", want, "Europe/Paris", "guest", "True"], out)


@case("a program that sees only its root: another Python, a virtual one")
def _():
    venv = scratch() / "venv"
    p = subprocess.run([sys.executable, "-m", "venv", "--without-pip",
                        str(venv)], capture_output=True, timeout=60)
    if p.returncode:
        raise Skipped("no module venv here")
    site = next(venv.glob("lib/python*/site-packages"))
    (site / "only_here.py").write_text("value = 42\n")
    root = show(venv / "bin/python3")
    out = inside(root, root["program"], "-I", "-c",
                 "import only_here, json, sys; print(only_here.value)")
    need(out == "42\n", out)


@case("a program that sees only its root: node")
def _():
    available("node")
    root = show("node")
    out = inside(root, root["program"], "-p",
                 "require('crypto').createHash('sha256').update('x')"
                 ".digest('hex').slice(0, 8) + new Date(0).toLocaleString("
                 "'pt-BR', {timeZone: 'America/Sao_Paulo'})")
    need(out.startswith("2d711642") and "1969" in out, out)


@case("a script is refused or brings its interpreter")
def _():
    path = write("hello.sh", "#!/bin/sh\necho hello | cat\n")
    path.chmod(0o755)
    root = show(path)
    need(inside(root, root["program"]) == "hello\n", "no hello")
    path = write("bad.sh", "#!/no/such/thing\n")
    path.chmod(0o755)
    refused("runtime", "show", path, says="/no/such/thing")


@case("show, add: what is wrong is one sentence")
def _():
    refused("runtime", says="list, show or add")
    refused("runtime", "remove", says="list, show or add")
    refused("runtime", "list", "x", says="takes no word")
    refused("runtime", "show", says="needs a name")
    refused("runtime", "show", "a", "b", says="takes no word")
    refused("runtime", "show", "no-such-program", says="no program")
    refused("runtime", "show", "/dev/null", says="not a regular file")
    refused("runtime", "show", "sh", "--program", "x", says="runtime add")
    refused("runtime", "add", "x", says="--program P")
    home = pwd.getpwuid(os.geteuid()).pw_dir
    refused("runtime", "remove", "x",
            says=f"{home}/.config/redoma/runtimes/x.yaml")
    refused("runtime", "add", "node", "--program", "/bin/true",
            says="built in")
    refused("runtime", "add", "a/b", "--program", "/bin/true", says="letters")
    refused("runtime", "add", "x", "--program", "/no/such", says="no program")
    refused("runtime", "add", "x", "--program", "/bin/true", "--file",
            "/no/such", says="exists")


@case("add: a program with files, kept, shown and listed")
def _():
    name = f"redoma-test-{os.getpid()}"
    home = pathlib.Path(pwd.getpwuid(os.geteuid()).pw_dir)
    if not os.access(home, os.W_OK):
        raise Skipped("this user has no home to write to")
    row = home / f".config/redoma/runtimes/{name}.yaml"
    data = write("data/one.txt", "1").parent
    before = [p for p in (row.parent, row.parent.parent) if p.exists()]
    try:
        r = command("runtime", "add", name, "--program", "cat", "--file", data)
        need(r.code == 0, r.about())
        root = show(name)
        need(str(data) in {e.get("host") for e in root["entries"]}, f"{root}")
        need(root["program"].endswith("/bin/cat"), root["program"])
        rows = strict_json(command("runtime", "list", "--json").out)
        mine = next(r for r in rows["runtimes"] if r["name"] == name)
        need(mine["available"] and mine["origin"] == str(row), f"{mine}")
        refused("runtime", "add", name, "--program", "cat", says="remove")
        row.chmod(0o666)
        refused("runtime", "show", name, says="only you may change")
    finally:
        row.unlink(missing_ok=True)
        for p in (row.parent, row.parent.parent):
            if p not in before and p.exists() and not any(p.iterdir()):
                p.rmdir()


if __name__ == "__main__":
    main()
