#!/usr/bin/env python3
"""test-seconds: 200
C097 C101 C109 C121 C245 C247 C251: names and special files, by exact errno,
through WASI and through node:fs; both ways, into a run and out of it."""
import json
import pathlib
import socket
import stat
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *


def fresh(name):
    d = scratch() / name
    shutil.rmtree(d, ignore_errors=True)
    d.mkdir()
    return d


def outside():
    """A directory that no grant covers, with a canary in it."""
    d = scratch() / "outside"
    d.mkdir(exist_ok=True)
    (d / "secret.txt").write_text(SECRET)
    return d


def outside_is_untouched():
    d = outside()
    need(os.listdir(d) == ["secret.txt"], f"made {os.listdir(d)}")
    need((d / "secret.txt").read_text() == SECRET, "changed")


def tree():
    d = fresh("tree")
    (d / "in.txt").write_text("inside")
    (d / "sub").mkdir()
    (d / "sub" / "deep.txt").write_text("deep")
    (d / "link").symlink_to("sub/deep.txt")
    (d / "away").symlink_to(outside())
    (d / "up").symlink_to("../outside")
    (d / "a").symlink_to("b")
    (d / "b").symlink_to("a")
    (d / "é.txt").write_text("composed")
    os.mkfifo(d / "fifo")
    return d


def lines(r):
    expect(r, "ok")
    return r.json.get("stdout", "").splitlines()


# Name below /d: errno of open for reading; None: it is read.
NAMES = {
    "in.txt": None, "./in.txt": None, "sub/../in.txt": None, "/in.txt": None,
    "link": None, "é.txt": None,
    "in.txt/": "ENOTDIR", "in.txt//": "ENOTDIR", "in.txt/.": "ENOTDIR",
    "in.txt/./": "ENOTDIR", "in.txt/x": "ENOTDIR", "in.txt/..": "ENOTDIR",
    "in.txt/../in.txt": "ENOTDIR", "link/": "ENOTDIR", "link/.": "ENOTDIR",
    "none": "ENOENT", "none/": "ENOENT", "none/..": "ENOENT",
    "none/../in.txt": "ENOENT", "e\u0301.txt": "ENOENT", "IN.TXT": "ENOENT",
    "\u00c9.txt": "ENOENT", "in.txt ": "ENOENT", "in.txt.": "ENOENT",
    "a": "ELOOP", "a/": "ELOOP", "a/x": "ELOOP",
    "away/secret.txt": "EACCES", "away//secret.txt": "EACCES",
    "up/secret.txt": "EACCES", "away": "EACCES", "away/": "EACCES",
    "away//": "EACCES", "away/.": "EACCES",
    "../outside/secret.txt": "EACCES", "../../etc/passwd": "EACCES",
    "sub/../../outside/secret.txt": "EACCES",
    "x" * 256: "ENAMETOOLONG", "y/" * 3000: "ENAMETOOLONG",
    "z" * 60000: "ENAMETOOLONG",
}


def differences(got):
    wrong = []
    for name, want in NAMES.items():
        if got[name] != want:
            wrong.append(f"{name[:40]!r}: {got[name]}, wanted {want}")
    need(not wrong, "\n".join(wrong))


@case("C101 C097 each name has its errno: node:fs")
def _():
    code = """
    const fs = require('node:fs');
    input.map(n => {
        try { fs.readFileSync('/d/' + n); return null; }
        catch (e) { return e.code ?? String(e); }
    })"""
    p = write("names.json", json.dumps(list(NAMES)))
    r = js(code, "--read", f"{tree()}/=/d/", "--input", f"@{p}")
    expect(r, "ok")
    differences(dict(zip(NAMES, r.json["value"])))


@case("C101 C097 each name has its errno: WASI")
def _():
    short = [n for n in NAMES if len(n) < 30000]
    r = module("files", "cat", *[f"/d/{n}" for n in short],
               options=("--read", f"{tree()}/=/d/"))
    got = dict.fromkeys(NAMES)
    for name, line in zip(short, lines(r)):
        got[name] = None if line.startswith("ok ") else line
    for name in NAMES:
        if name not in short:
            got[name] = NAMES[name]
    differences(got)


@case("C101 an empty name is ENOENT, a NUL is refused, in both")
def _():
    code = """
    const fs = require('node:fs');
    const of = f => { try { f(); return 'went'; }
                      catch (e) { return e.code; } };
    [of(() => fs.readFileSync('')), of(() => fs.statSync('')),
     of(() => fs.readFileSync('/d/in.txt\\0')),
     of(() => fs.readdirSync('')), of(() => fs.writeFileSync('', 'x'))]"""
    expect(js(code, "--read", f"{tree()}/=/d/"), "ok",
           value=["ENOENT", "ENOENT", "ERR_INVALID_ARG_VALUE", "ENOENT",
                  "ENOENT"])
    r = module("files", "raw-open", "d/in.txt%00", "%00", "d/%ff",
               "d/%ed%a0%80", options=("--read", f"{tree()}/=/d/"))
    need(lines(r) == ["EINVAL", "EINVAL", "EILSEQ", "EILSEQ"], r.about())


@case("C097 links to the outside, with a writable grant on top of them")
def _():
    d = tree()
    grants = ("--read", f"{d}/=/d/", "--write", f"{d}/=/d/:1MiB")
    for name in ("/d/away", "/d/away/", "/d/away//", "/d/away/.", "/d/up/",
                 "/d/away/secret.txt", "/d/away/new.txt", "/d/up//new.txt",
                 "/d/away/../outside/new.txt"):
        for args in (("cat", name), ("list", name), ("put", name, "x"),
                     ("mkdir", name + "/made"), ("unlink", name),
                     ("rmdir", name), ("rename", name, "/d/moved"),
                     ("rename", "/d/in.txt", name), ("link", name, "/d/hard"),
                     ("link", "/d/in.txt", name + "x"),
                     ("symlink", "x", name + "/s")):
            r = module("files", *args, options=grants)
            need(SECRET not in r.text, r.about())
            if args[0] not in ("put", "mkdir"):
                need("ok" not in r.json.get("stdout", "").split(), r.about())
            outside_is_untouched()
            need((d / "away").is_symlink() and (d / "up").is_symlink()
                 and (d / "in.txt").read_text() == "inside", r.about())
    need(lines(module("files", "put", "/d/new.txt", "x", options=grants))
         == ["ok"] and (d / "new.txt").exists(), "the grant does not work")


@case("C245 C251 a directory of the way out that is a link: not followed")
def _():
    d = fresh("out")
    (d / "sub").symlink_to(outside())
    (d / "hop").mkdir()
    for code in ("fs.mkdirSync('/o/sub'); fs.writeFileSync('/o/sub/new', 'x')",
                 "fs.writeFileSync('/o/sub/new', 'x')",
                 "fs.mkdirSync('/o/sub/s', { recursive: true });"
                 "fs.writeFileSync('/o/sub/s/new', 'x')"):
        r = js("const fs = require('node:fs');" + code, "--write",
               f"{d}/=/o/:1MiB")
        need(r.code != 0, f"published through a link: {r.about()}")
        outside_is_untouched()
    # Swapped while the run goes on.
    t = threading.Timer(0.3, lambda: (os.rmdir(d / "hop"),
                                      (d / "hop").symlink_to(outside())))
    t.start()
    r = js("const fs = require('node:fs'); fs.mkdirSync('/o/hop');"
           "fs.writeFileSync('/o/hop/new', 'x');"
           "await new Promise(r => setTimeout(r, 700))",
           "--write", f"{d}/=/o/:1MiB")
    t.join()
    need((d / "hop").is_symlink(), "the swap did not happen")
    need(r.code != 0, r.about())
    outside_is_untouched()


@case("C245 a link or a hard link where the result goes: the other is kept")
def _():
    d = fresh("out")
    secret = outside() / "secret.txt"
    code = "require('node:fs').writeFileSync('/o/f', 'mine'); 1"
    (d / "f").symlink_to(secret)
    r = js(code, "--write", f"{d}/f=/o/f:1KiB")
    need(r.code != 0 or not (d / "f").is_symlink(), r.about())
    outside_is_untouched()
    (d / "f").unlink()
    os.link(secret, d / "f")
    r = js(code, "--write", f"{d}/f=/o/f:1KiB")
    expect(r, "ok")
    need((d / "f").read_text() == "mine", "not published")
    outside_is_untouched()
    # To append, the old text is needed; the inode is still not the other's.
    (d / "f").unlink()
    os.link(secret, d / "f")
    p = write("append.yaml", f"redoma: 1\nwrite: [{{host: {d}/f, as: /o/f, "
              "max_bytes: 1MiB, mode: append}]\n")
    js(code, "--policy", p)
    outside_is_untouched()
    (d / "f").unlink()


def special(d):
    """Every kind of file that is none."""
    os.mkfifo(d / "fifo")
    here = os.getcwd()
    os.chdir(d)
    with socket.socket(socket.AF_UNIX) as s:
        s.bind("sock")
    os.chdir(here)
    names = ["fifo", "sock"]
    if os.geteuid() == 0:
        os.mknod(d / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
        os.mknod(d / "block", stat.S_IFBLK | 0o666, os.makedev(7, 0))
        names += ["zero", "block"]
    return names


@case("C109 C251 FIFO, socket and devices in a granted directory: not read")
def _():
    d = fresh("special")
    names = special(d)
    (d / "fine").write_text("fine")
    opts = ("--read", f"{d}/=/d/", "--limit", "wall=3s")
    r = module("files", "cat", *[f"/d/{n}" for n in names], "/d/fine",
               options=opts)
    got = lines(r)
    need(got[-1] == "ok fine" and len(got) == len(names) + 1, r.about())
    need(not any(l.startswith("ok") for l in got[:-1]), r.about())
    code = """
    const fs = require('node:fs');
    input.map(n => {
        const of = f => { try { f(); return 0; } catch (e) { return e.code; } };
        const s = fs.statSync('/d/' + n);
        return [s.isFile(), of(() => fs.readFileSync('/d/' + n))];
    })"""
    r = js(code, *opts, "--input", json.dumps(names))
    expect(r, "ok", within=2.5)
    for name, (regular, why) in zip(names, r.json["value"]):
        need(regular is False and why, f"{name}: {regular} {why}")
    if os.geteuid() == 0:
        need((d / "zero").is_char_device(), "the device is gone")


@case("C247 a file of 1 TiB with nothing in it, in and out")
def _():
    d = fresh("sparse")
    with open(d / "big", "wb") as f:
        f.truncate(1 << 40)
    code = """
    const fs = require('node:fs');
    const fd = fs.openSync('/d/big'), b = new Uint8Array(8);
    [fs.statSync('/d/big').size, fs.readSync(fd, b, 0, 8, 2 ** 40 - 4)]"""
    expect(js(code, "--read", f"{d}/=/d/"), "ok", value=[1 << 40, 4])
    r = js("require('node:fs').readFileSync('/d/big').length", "--read",
           f"{d}/=/d/", "--limit", "wall=5s")
    expect(r, "memory_limit", "error", within=6)
    o = fresh("out")
    code = """
    const fs = require('node:fs');
    fs.writeFileSync('/o/f', 'x');
    const of = f => { try { f(); return 'went'; } catch (e) { return e.code } };
    const fd = fs.openSync('/o/f', 'r+');
    const said = [of(() => fs.truncateSync('/o/f', 2 ** 40)),
     of(() => fs.ftruncateSync(fd, 2 ** 40)),
     of(() => fs.writeSync(fd, 'x', 2 ** 40))];"""
    r = js(f"{code} console.log(...said)", "--write", f"{o}/=/o/:1MiB")
    expect(r, "denied", stdout="ENOSPC ENOSPC ENOSPC\n")
    need(not list(o.iterdir()), "published, and not what it wanted")
    r = js(f"{code} fs.truncateSync('/o/f', 1); said", "--write",
           f"{o}/=/o/:1MiB")
    expect(r, "ok", value=["ENOSPC"] * 3)
    need((o / "f").stat().st_size == 1, "published larger than its grant")


@case("C247 100,000 files: refused at the cap, told, and none published")
def _():
    o = fresh("out")
    p = write("many.yaml", f"redoma: 1\nwrite: [{{host: {o}/, as: /o/, "
              "max_bytes: 64MiB, max_files: 50}]\n")
    r = module("files", "put-many", "/o/f", "100000",
               options=("--policy", p))
    expect(r, "denied", says="max_files", stdout="50 ENOSPC\n")
    need(not os.listdir(o), f"{len(os.listdir(o))} published")
    need(r.json["denials"], "nothing says why")
    r = module("files", "put-many", "/o/f", "50", options=("--policy", p))
    expect(r, "ok", stdout="50 ok\n")
    need(len(os.listdir(o)) == 50, f"{len(os.listdir(o))} published")
    need(all((o / n).lstat().st_mode == 0o100644 for n in os.listdir(o)),
         "modes")


@case("C121 C123 a million opens in a script: EMFILE, and the rest goes on")
def _():
    code = """
    const fs = require('node:fs');
    let n = 0, code = 0;
    for (let i = 0; i < 200000; i++)
        try { fs.openSync('/d/in.txt'); n++; } catch (e) { code = e.code; }
    [n <= 16, code]"""
    r = js(code, "--read", f"{tree()}/=/d/", "--limit", "files=16")
    expect(r, "ok", value=[True, "EMFILE"])
    again = ("const fs = require('node:fs');"
             "for (let i = 0; i < 20000; i++)"
             "fs.closeSync(fs.openSync('/d/in.txt')); 'flat'")
    expect(js(again, "--read", f"{tree()}/=/d/", "--limit", "files=16"), "ok",
           value="flat")


def while_reading(change):
    """What a script reads of a file before and after `change` of it."""
    d = fresh("swap")
    (d / "f").write_text("first")
    t = threading.Timer(0.3, change, [d])
    t.start()
    r = js("const fs = require('node:fs');"
           "const a = fs.readFileSync('/r/f', 'utf8');"
           "await new Promise(r => setTimeout(r, 700));"
           "let b; try { b = fs.readFileSync('/r/f', 'utf8') }"
           "catch (e) { b = e.code } [a, b]", "--read", f"{d}/f=/r/f")
    t.join()
    return expect(r, "ok").json["value"]


@case("a granted file swapped, linked away, truncated or removed: in a script")
def _():
    def swap(d):
        (d / "g").write_text("second")
        os.replace(d / "g", d / "f")

    def link(d):
        (d / "f").unlink()
        (d / "f").symlink_to(outside() / "secret.txt")

    need(while_reading(swap) == ["first", "first"], "swap")
    need(while_reading(link) == ["first", "first"], "link")
    need(while_reading(lambda d: (d / "f").unlink()) == ["first", "first"],
         "unlink")
    need(while_reading(lambda d: os.truncate(d / "f", 0)) == ["first", ""],
         "truncate")


if __name__ == "__main__":
    main()
