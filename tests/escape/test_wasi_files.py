#!/usr/bin/env python3
"""test-seconds: 200
Files through WASI: one file is one file, a directory ends at its edge, what is
written appears only when the run ends well."""
import datetime
import pathlib
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *


def files(*args, options=(), **kw):
    r = module("files", *args, options=options, **kw)
    return r


def lines(r):
    expect(r, "ok", "error")
    return r.json.get("stdout", "").splitlines()


def tree():
    d = scratch() / "tree"
    if not d.exists():
        d.mkdir()
        (d / "in.txt").write_text("inside")
        (d / "sub").mkdir()
        (d / "sub" / "deep.txt").write_text("deep")
        (d / "link-in").symlink_to("sub/deep.txt")
        (d / "sub" / "back").symlink_to("../in.txt")
        (d / "out").symlink_to("../canary.txt")
        (d / "etc").symlink_to("/etc")
        (d / "abs").symlink_to(canary())
        (d / "up").symlink_to("..")
        (d / "loop-a").symlink_to("loop-b")
        (d / "loop-b").symlink_to("loop-a")
        (d / "proc").symlink_to("/proc/self/environ")
        os.mkfifo(d / "fifo")
        import socket
        sock = socket.socket(socket.AF_UNIX)
        here = os.getcwd()
        os.chdir(d)
        sock.bind("sock")
        os.chdir(here)
        sock.close()
    canary()
    return ("--read", f"{d}/=/d/")


def fresh(name):
    d = scratch() / name
    shutil.rmtree(d, ignore_errors=True)
    d.mkdir()
    return d


@case("C105 without a grant nothing is there and nothing is made")
def _():
    before = set(os.listdir(scratch()))
    for args in (("list", ".", "/", "/tmp"), ("cat", "/etc/passwd", "x", "/"),
                 ("put", "new.txt", "x"), ("put", "/tmp/new.txt", "x"),
                 ("mkdir", "/made")):
        got = lines(files(*args))
        need(all(l in ("ok .:3 ..:3", "EACCES", "ENOENT", "ENOTCAPABLE",
                       "EROFS", "EPERM", "EISDIR", "ENOTDIR") for l in got),
             f"{args}: {got}")
        need(not any(l == "ok" for l in got if args[0] in ("put", "mkdir")),
             f"{args}: {got}")
        r = files(*args)
        for d in r.json.get("denials", []):
            need(d["why"] == "no file or directory was granted" and d["allow"],
                 r.about())
        need(args[0] == "list" or r.json.get("denials"), r.about())
    need(set(os.listdir(scratch())) - before <= {"canary.txt"}, "made something")
    need(not os.path.exists("/tmp/new.txt"), "made /tmp/new.txt")
    says = "denied: open /tmp/new.txt (1x): no file or directory was granted; "
    r = command("run", wasm("files"), "--", "put", "/tmp/new.txt", "x")
    need(says in r.err.decode(), r.about())
    # Of a run that was granted something it is not said.
    r = files("put", "/tmp/new.txt", "x", options=tree())
    need(r.json["denials"] and "why" not in r.json["denials"][0], r.about())


@case("C097 C101 names that leave a granted directory")
def _():
    bad = ["/d/../etc/passwd", "/d/sub/../../canary.txt", "../canary.txt",
           "/d/out", "/d/out/", "/d/out//", "/d/out/.", "/d/etc/passwd",
           "/d/etc/", "/d/etc//passwd", "/d/abs", "/d/up/canary.txt",
           "/d/up/tree/in.txt", "/d/loop-a", "/d/proc", "/etc/passwd",
           "//etc/passwd", "/d/" + "x" * 300, "/d/" + "y/" * 2500, "/d/in.txt/",
           "/d/in.txt/x", ""]
    got = lines(files("cat", *bad, options=tree()))
    need(len(got) == len(bad), f"{got}")
    for name, line in zip(bad, got):
        need(not line.startswith("ok"), f"{name[:60]}: {line}")
    good = ["/d/in.txt", "/d/./in.txt", "/d/sub/../in.txt", "/d//in.txt",
            "/d/link-in", "/d/sub/back"]
    got = lines(files("cat", *good, options=tree()))
    need(got == ["ok inside"] * 4 + ["ok deep", "ok inside"], f"{got}")


@case("C101 names by bytes: NUL, not UTF-8, normalisation twins, long")
def _():
    (scratch() / "tree").exists() or tree()
    (scratch() / "tree" / "é.txt").write_text("composed")
    names = ["d/in.txt%00", "d/in.txt%00.png", "d/%ff%fe", "d/in%80.txt",
             "d/e%cc%81.txt", "d/IN.TXT", "d/%ed%a0%80", "d/%c0%af",
             "d/" + "a" * 60000]
    got = lines(files("raw-open", *names, options=tree()))
    need(len(got) == len(names) and "ok" not in got, f"{got}")
    got = lines(files("raw-open", "d/%c3%a9.txt", "d/in.txt", options=tree()))
    need(got == ["ok", "ok"], f"{got}")


@case("C109 special files: honest types, no reading, no hanging")
def _():
    opts = tree() + ("--limit", "wall=4s")
    r = files("cat", "/d/fifo", "/d/sock", options=opts)
    got = lines(r)
    need(len(got) == 2 and not any(l.startswith("ok") for l in got), f"{got}")
    need(r.seconds < 3, r.about())


@case("C103 listing and stat under a directory")
def _():
    got = lines(files("list", "/d", "/d/sub", options=tree()))
    need("in.txt:4" in got[0].split() and "sub:3" in got[0].split(), f"{got}")
    need("deep.txt:4" in got[1].split(), f"{got}")
    got = lines(files("stat", "/d/in.txt", "/d/sub", "/d/none",
                      options=tree()))
    need(got[0].startswith("ok 100000 6 ") and got[1].startswith("ok 40000 ")
         and got[2] == "ENOENT", f"{got}")


@case("C111 file times out of the ordinary")
def _():
    d = fresh("times")
    for name, when in (("old", -2e9), ("epoch", -1), ("y2038", 2**31 + 5),
                       ("late", 16725225600)):
        (d / name).write_text(name)
        os.utime(d / name, (when, when))
    names = [f"/t/{n}" for n in ("old", "epoch", "y2038", "late")]
    got = lines(files("stat", *names, options=("--read", f"{d}/=/t/")))
    need(len(got) == 4, f"{got}")
    need(got[2].split()[-1] == str(2**31 + 5), f"{got}")


def dated():
    """Files of many times; some file systems keep fewer years than others."""
    for place in ("/dev/shm", str(scratch())):
        if os.access(place, os.W_OK):
            break
    d = pathlib.Path(tempfile.mkdtemp(prefix="redoma-test-", dir=place))
    for name, ns in (("1901", -2177452800 * 10**9), ("1969", -1),
                     ("2024", 1706933106123456789),
                     ("2038", (2**31 + 5) * 10**9 + 999000000),
                     ("2500", 16725225600 * 10**9 + 1)):
        (d / name).write_text(name)
        os.utime(d / name, ns=(ns, ns))
    return d


@case("C111 times of 1901 to 2500, and their nanoseconds, read by JavaScript")
def _():
    d = dated()
    try:
        # What does not fit, before 1970 and after 2262, reads as the first
        # and the last moment that does.
        want = {n: min(max(0, (d / n).stat().st_mtime_ns), 2**63 - 1)
                for n in os.listdir(d)}
        r = js("const fs = require('node:fs');"
               "Object.fromEntries(fs.readdirSync('/t').map(n => {"
               "const s = fs.statSync('/t/' + n); return [n, [s.mtimeMs,"
               "s.mtime.toISOString(), s.mtime instanceof Date,"
               "fs.readFileSync('/t/' + n, 'utf8')]] }))",
               "--read", f"{d}/=/t/")
        expect(r, "ok")
        got = r.json["value"]
        need(sorted(got) == sorted(want), r.about())
        for name, ns in want.items():
            ms, iso, is_date, text = got[name]
            need(abs(ms - ns / 1e6) < 0.001, f"{name}: {ms} of {ns}")
            need(text == name and is_date, r.about())
            t = datetime.datetime.fromtimestamp(0, datetime.timezone.utc)
            t += datetime.timedelta(milliseconds=ns // 10**6)
            need(iso == t.strftime("%Y-%m-%dT%H:%M:%S.") +
                 f"{ns // 10**6 % 1000:03}Z", f"{name}: {iso}, {t}")
        need(abs(got["2024"][0] - 1706933106123.4568) < 0.001
             and got["1901"][0] == 0, r.about())
        got = lines(files("stat", "/t/2500", "/t/1901", "/t/2024",
                          options=("--read", f"{d}/=/t/")))
        need([l.split()[-1] for l in got] ==
             [str(want[n] // 10**9) for n in ("2500", "1901", "2024")],
             f"{got}")
    finally:
        shutil.rmtree(d)


@case("a read grant does not write, link, rename or unlink")
def _():
    for args in (("put", "/d/in.txt", "x"), ("put", "/d/new.txt", "x"),
                 ("unlink", "/d/in.txt"), ("mkdir", "/d/newdir"),
                 ("rmdir", "/d/sub"), ("rename", "/d/in.txt", "/d/b.txt"),
                 ("link", "/d/in.txt", "/d/b.txt"),
                 ("symlink", "in.txt", "/d/b.txt")):
        got = lines(files(*args, options=tree()))
        need(got and got[0] != "ok", f"{args}: {got}")
    d = scratch() / "tree"
    need((d / "in.txt").read_text() == "inside", "changed")
    need(not (d / "new.txt").exists() and not (d / "b.txt").is_symlink()
         and not (d / "newdir").exists(), "made something")


@case("C099 from a read grant into a write grant: no link, no rename")
def _():
    d = scratch() / "tree"
    out = fresh("out")
    opts = tree() + ("--write", f"{out}/=/o/:1MiB")
    for args in (("link", "/d/in.txt", "/o/in.txt"),
                 ("rename", "/d/in.txt", "/o/in.txt"),
                 ("link", "/o/x", "/d/x"), ("rename", "/o/x", "/d/x")):
        got = lines(files(*args, options=opts))
        need(got and got[0] != "ok", f"{args}: {got}")
    need((d / "in.txt").read_text() == "inside", "changed")
    need(not os.listdir(out), f"{os.listdir(out)}")
    got = lines(files("put", "/o/new.txt", "hello", options=opts))
    need(got == ["ok"] and (out / "new.txt").read_text() == "hello",
         f"{got}: the write grant does not work")


@case("C107 C245 links made by a guest are never published")
def _():
    out = fresh("out")
    opts = ("--write", f"{out}/=/o/:1MiB")
    for target in ("/etc/passwd", "../canary.txt", "x"):
        files("symlink", target, "/o/link", options=opts)
        need(not (out / "link").is_symlink(), f"link to {target}")
        need(not os.listdir(out), f"{os.listdir(out)}")


@case("published files are regular, 0644, and listed with their digest")
def _():
    out = fresh("out")
    r = files("put", "/o/a.txt", "hello", options=(
        "--write", f"{out}/=/o/:1MiB"))
    expect(r, "ok")
    st = (out / "a.txt").lstat()
    need(st.st_mode == 0o100644, oct(st.st_mode))
    f = r.json["files"][0]
    need(f["path"] == "/o/a.txt" and f["bytes"] == 5 and f["published"]
         and f["sha256"] == hashlib.sha256(b"hello").hexdigest(), r.about())


@case("a run that fails publishes nothing")
def _():
    out = scratch() / "result.txt"
    out.write_text("before")
    grant = ("--write", f"{out}=/o/result.txt:1MiB")
    bad = ("const fs = require('node:fs'); fs.writeFileSync('/o/result.txt',"
           "'after'); %s")
    for end, want in (("throw 1", "error"), ("for (;;);", "wall_limit"),
                      ("process.exit(4)", "error")):
        r = js(bad % end, *grant, "--limit", "wall=400ms")
        expect(r, want)
        need(out.read_text() == "before", f"{end}: {out.read_text()}")
    expect(js(bad % "1", *grant), "ok")
    need(out.read_text() == "after", "the good run")
    need(not [n for n in os.listdir(scratch()) if "result" in n
              and n != "result.txt"], f"{os.listdir(scratch())}")


@case("modes: create must not exist, append adds, replace replaces")
def _():
    d = fresh("modes")
    (d / "a.txt").write_text("old\n")
    code = "require('node:fs').writeFileSync('/o/a.txt', 'new\\n')"
    for mode, ok, want in (("create", False, "old\n"),
                           ("append", True, "old\nnew\n"),
                           ("replace", True, "new\n")):
        p = write("w.yaml", f"redoma: 1\nwrite:\n  - host: {d}/a.txt\n"
                  f"    as: /o/a.txt\n    max_bytes: 1KiB\n"
                  f"    mode: {mode}\n")
        r = js(code, "--policy", p)
        need((r.status == "ok") == ok, f"{mode}: {r.about()}")
        need((d / "a.txt").read_text() == want,
             f"{mode}: {(d / 'a.txt').read_text()!r}")


@case("C119 write quotas hold: bytes of a file, bytes and files of a directory")
def _():
    out = fresh("out")
    r = files("fill", "/o/f", "100000", options=(
        "--write", f"{out}/f=/o/f:64KiB"))
    expect(r, "denied", says="max_bytes", stdout="65536 ENOSPC\n")
    need(not list(out.iterdir()), "a file that was cut is published")
    r = files("fill", "/o/f", "65536", options=(
        "--write", f"{out}/f=/o/f:64KiB"))
    need(lines(r) == ["65536 ok"], r.about())
    r = files("put-many", "/o/f", "200", options=(
        "--write", f"{fresh('out')}/=/o/:10B"))
    expect(r, "denied", says="max_bytes", stdout="10 ENOSPC\n")
    p = write("q.yaml", f"redoma: 1\nwrite: [{{host: {fresh('out')}/, as: /o/,"
              " max_bytes: 1MiB, max_files: 7}]\n")
    r = files("put-many", "/o/f", "200", options=("--policy", p))
    expect(r, "denied", says="max_files", stdout="7 ENOSPC\n")
    need(not os.listdir(scratch() / "out"), "some are published")


@case("a read quota holds: max_bytes, opens, byte range")
def _():
    d = fresh("quota")
    (d / "f").write_text("0123456789" * 1000)

    def under(extra, *args):
        p = write("r.yaml", f"redoma: 1\nread: [{{host: {d}/f, as: /r/f, "
                  f"{extra}}}]\n")
        return lines(files(*args, options=("--policy", p)))

    got = under("bytes: 5-8", "cat", "/r/f")
    need(got == ["ok 5678"], f"{got}")
    got = under("opens: 2", "cat", "/r/f", "/r/f", "/r/f")
    need([l[:2] for l in got].count("ok") == 2, f"{got}")
    got = under("max_bytes: 5000B", "cat", "/r/f", "/r/f", "/r/f")
    total = sum(len(l) - 3 for l in got if l.startswith("ok"))
    need(total <= 5000, f"{total}")


@case("a granted file swapped by another process is not the file granted")
def _():
    d = fresh("swap")
    (d / "f").write_text("first")
    t = threading.Timer(0.3, lambda: (
        (d / "g").write_text("second"), os.replace(d / "g", d / "f")))
    t.start()
    got = lines(files("again", "/r/f", options=("--read", f"{d}/f=/r/f")))
    t.join()
    need(got == ["first", "first"], f"{got}")
    need((d / "f").read_text() == "second", "the swap did not happen")


@case("a granted file truncated while it is read: an end, never a crash")
def _():
    d = fresh("swap")
    (d / "f").write_text("first")
    t = threading.Timer(0.3, lambda: os.truncate(d / "f", 0))
    t.start()
    got = lines(files("again", "/r/f", options=("--read", f"{d}/f=/r/f")))
    t.join()
    need(got[0] == "first" and got[1] == "", f"{got}")


@case("a link put where the granted file was, before the run: refused")
def _():
    d = fresh("swap")
    (d / "f").symlink_to(canary())
    refused("run", source("1"), "--read", f"{d}/f=/r/f", says="link")
    p = write("follow.yaml", f"redoma: 1\nread: [{{host: {d}/ok, as: /r/f, "
              "follow: true}]\n")
    (d / "ok").symlink_to("plain")
    (d / "plain").write_text("followed")
    got = lines(files("cat", "/r/f", options=("--policy", p)))
    need(got == ["ok followed"], f"{got}")


@case("the target directory gone while the guest writes: said, nothing made")
def _():
    d = fresh("gone")
    t = threading.Timer(0.4, lambda: shutil.rmtree(d))
    t.start()
    r = js("const fs = require('node:fs'); fs.writeFileSync('/o/f', 'x');"
           "await new Promise(r => setTimeout(r, 900))",
           "--write", f"{d}/f=/o/f:1KiB")
    t.join()
    need(r.code != 0, r.about())
    need(not d.exists(), "the directory came back")


@case("disk full while publishing: what was there before stays")
def _():
    d = scratch() / "small"
    d.mkdir(exist_ok=True)
    if os.geteuid() != 0 or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(d)],
            capture_output=True).returncode:
        raise Skipped("a small file system takes root to mount")
    try:
        (d / "f").write_text("before")
        (d / "filler").write_bytes(b"x" * 40000)
        r = js("require('node:fs').writeFileSync('/o/f', 'y'.repeat(60000))",
               "--write", f"{d}/f=/o/f:1MiB")
        need(r.code != 0 and "space" in r.text.lower(), r.about())
        need((d / "f").read_text() == "before", "damaged")
        need(sorted(os.listdir(d)) == ["f", "filler"], f"{os.listdir(d)}")
    finally:
        subprocess.run(["umount", str(d)], check=True)


@case("two runs publishing the same target: one of both, whole")
def _():
    d = fresh("race")
    seen = []

    def writer(letter):
        seen.append(js_at(letter))

    def js_at(letter):
        path = write(f"w-{letter}.js", "require('node:fs').writeFileSync("
                     f"'/o/f', '{letter}'.repeat(100000))")
        return subprocess.run([REDOMA, "run", str(path), "--write",
                               f"{d}/f=/o/f:1MiB"], capture_output=True)

    for _ in range(4):
        threads = [threading.Thread(target=writer, args=(l,)) for l in "ab"]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        text = (d / "f").read_text()
        need(text in ("a" * 100000, "b" * 100000), f"mixed: {set(text)}")
        need(os.listdir(d) == ["f"], f"{os.listdir(d)}")
    need(all(p.returncode == 0 for p in seen), repr(seen[0]))


@case("C121 a million opens: capped by its limit, host descriptors flat")
def _():
    r = files("many-opens", "/d/in.txt", "1000000", options=tree() + (
        "--limit", "files=16", "--limit", "wall=15s"))
    text = lines(r)[0].split()
    need(int(text[1]) <= 16 and text[-1] in ("EMFILE", "ENFILE"), r.about())
    r = files("many-opens", "/d/in.txt", "10", options=tree())
    need(lines(r)[0].startswith("held 10 failed 0"), r.about())


@case("C123 renumbering onto an open descriptor, a hundred thousand times")
def _():
    plain = write("plain.txt", "x")
    r = files("renumber", "/r/f", "100000", options=(
        "--read", f"{plain}=/r/f", "--limit", "wall=15s"))
    need(lines(r) == ["ok"], r.about())


if __name__ == "__main__":
    main()
