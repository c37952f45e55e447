#!/usr/bin/env python3
"""test-seconds: 300
`redoma doctor --attack`: every row of its table is run and stopped here, and a
guest that says otherwise is believed.  That a canary or a nonce that came out
counts, whatever the guest says, is unit/cli_attack.c and unit/attack_canary.c."""
import pathlib
import re
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

WALLS = {"wasm", "seccomp", "landlock", "mount", "net", "pid", "user", "caps",
         "rlimits", "cgroup", "core"}
PROFILES = {"js", "wasm", "native"}


def rows_of_the_table():
    """(profile, name) of every row, from the source."""
    rows = set()
    text = (ROOT / "src/attack/rows.c").read_text()
    for macro, name in re.findall(r'^\t(JS|WASM|BYTES)\("?(\w+)', text, re.M):
        rows.add(("js" if macro == "JS" else "wasm", name))
    text = (ROOT / "src/attack/native_rows.h").read_text()
    rows |= {("native", n) for n in re.findall(r"^\tX\((\w+),", text, re.M)}
    return rows


def temporary():
    return set(pathlib.Path(tempfile.gettempdir()).glob("redoma-doctor-*"))


def controls_are_there():
    found = json_module.loads(subprocess.run(
        [REDOMA, "doctor", "--json"], capture_output=True).stdout)
    return all(c["state"] == "enforced" for c in found["controls"])


@case("every attack of the table is run and stopped, and nothing is left")
def _():
    before = temporary()
    p = subprocess.run([REDOMA, "doctor", "--attack", "--json"],
                       capture_output=True, timeout=200)
    found = json_module.loads(p.stdout)
    need(set(found) == {"controls", "attacks"}, str(set(found)))
    for c in found["controls"]:
        need(c["state"] in ("enforced", "unavailable", "not requested"), str(c))
    seen = [(a["profile"], a["name"]) for a in found["attacks"]]
    need(len(seen) == len(set(seen)), "an attack ran twice")
    need(set(seen) == rows_of_the_table(),
         str(set(seen) ^ rows_of_the_table()))
    for a in found["attacks"]:
        need(a["profile"] in PROFILES and a["title"], str(a))
        if not controls_are_there.known and a["profile"] == "native":
            need(a["result"] == "skipped" and a["detail"], str(a))
        else:
            need(a["result"] == "stopped" and a["wall"] in WALLS
                 and a["detail"], str(a))
    need(p.returncode == (0 if controls_are_there.known else 6),
         p.stderr.decode())
    need(p.stderr == b"", p.stderr.decode())
    need(temporary() == before, f"left: {temporary() - before}")
    need(not survivors(), "processes are left")


def install_with(script):
    """An install whose attacks by JavaScript are this script."""
    d = scratch() / "install"
    shutil.rmtree(d, ignore_errors=True)
    (d / "images").mkdir(parents=True)
    for name in ("redoma", "redoma-worker", "redoma-compile", "redoma-init",
                 "redoma-usher", "redoma-attack"):
        shutil.copy(BUILD / name, d / name)
    for f in (BUILD / "images").glob("*.*"):
        if f.is_file() and "raw" not in f.name:
            shutil.copy(f, d / "images" / f.name)
    (d / "images/attack.js").write_text(script)
    return d


@case("attacks that come through: the table says so, and the exit code is 9")
def _():
    d = install_with("if (input.name === 'read_secret')"
                     " console.log('SUCCESS as it says');"
                     " else if (input.name === 'spin') console.log('x');"
                     " else console.log('stopped EPERM');")
    p = subprocess.run([str(d / "redoma"), "doctor", "--attack"],
                       capture_output=True, timeout=200)
    text = p.stdout.decode()
    need(p.returncode == 9, f"{p.returncode} {text} {p.stderr.decode()}")
    need(p.stderr == b"", p.stderr.decode())
    need(text.count("SUCCEEDED") == 2, text)
    need("SUCCESS as it says" in text and "the run ended well" in text, text)
    need(" 2 succeeded" in text and "report it" in text, text)
    need(all(len(line) < 80 for line in text.splitlines()),
         max(text.splitlines(), key=len))


@case("without the program that attacks nothing is said to be stopped")
def _():
    d = install_with("")
    (d / "redoma-attack").unlink()
    p = subprocess.run([str(d / "redoma"), "doctor", "--attack", "--json"],
                       capture_output=True, timeout=60)
    need(p.returncode == 6, p.stdout.decode())
    said = json_module.loads(p.stdout)
    need(said["status"] == "refused"
         and "redoma-attack" in said["error"]["message"], str(said))


@case("Ctrl-C ends it, and leaves nothing")
def _():
    before = temporary()
    p = subprocess.Popen([REDOMA, "doctor", "--attack"],
                         start_new_session=True, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    for _ in range(200):
        if temporary() != before:
            break
        time.sleep(0.02)
    need(temporary() != before, "it did not begin")
    time.sleep(0.5)
    os.killpg(p.pid, signal.SIGINT)  # as a terminal does
    text = p.communicate(timeout=60)[0].decode()
    need(p.returncode == 130, str(p.returncode))
    need("stopped, 0 succeeded, 0 skipped" in text, text)
    need(temporary() == before, f"left: {temporary() - before}")
    need(not survivors(), "processes are left")


@case("the attacking program does nothing outside of a jail")
def _():
    p = subprocess.run([BUILD / "redoma-attack", "hold_memory"],
                       capture_output=True)
    need(p.returncode == 2 and p.stdout == b""
         and b"doctor --attack" in p.stderr, p.stderr.decode())


controls_are_there.known = controls_are_there()

if __name__ == "__main__":
    main()
