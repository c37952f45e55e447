#!/usr/bin/env python3
"""The examples of the documents are true: the C program compiles and runs, the
policies are policies, the tests that SECURITY.md names exist, the floors and
exit codes are those of the source."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *


def blocks(document, kind):
    text = (ROOT / document).read_text()
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.M | re.S)


@case("the C example of README compiles without a warning and prints 42")
def _():
    code, = blocks("README.md", "c")
    src = write("example.c", code)
    for cc, std in (("gcc", "-std=c99"), ("gcc", "-std=c11"),
                    ("clang-19", "-std=c17")):
        if not shutil.which(cc):
            continue
        exe = scratch() / "example"
        p = subprocess.run([cc, std, "-Wall", "-Wextra", "-Wpedantic",
                            "-Werror", f"-I{ROOT}/include", str(src),
                            str(BUILD / "libredoma.a"), "-lpthread", "-o",
                            str(exe)], capture_output=True, text=True)
        need(p.returncode == 0, p.stderr)
    p = subprocess.run([str(exe)], capture_output=True, timeout=20,
                       env=dict(os.environ, PATH=f"{BUILD}:/usr/bin"))
    if p.returncode:  # its worker is found beside the program: install there
        for name in ("redoma-worker", "redoma-compile", "images"):
            (scratch() / name).symlink_to(BUILD / name)
        p = subprocess.run([str(exe)], capture_output=True, timeout=20)
    need(p.returncode == 0, repr(p))
    need(strict_json(p.stdout)["value"] == 42, repr(p))


@case("the policies of the guide are policies")
def _():
    found = blocks("docs/guide/policy.md", "yaml")
    need(found, "none found")
    for text in found:
        r = command("policy", "check", write("guide.yaml", text))
        need(r.code == 0, r.about())


@case("every test that SECURITY.md names is there")
def _():
    text = (ROOT / "SECURITY.md").read_text()
    names = set(re.findall(r"`((?:unit|escape|limits|fault|cases|api)/"
                           r"[a-z0-9_]+\.(?:py|c))`", text))
    need(len(names) > 10, f"{names}")
    for name in names:
        need((ROOT / "tests" / name).exists(), f"tests/{name} is missing")


@case("ARCHITECTURE.md names every floor, and no other")
def _():
    rows = (ROOT / "src/FLOORS").read_text().splitlines()
    floors = {r.split(":")[0] for r in rows if ":" in r and r[0] != "#"}
    table = re.findall(r"^\| `([a-z]+)` \|", (ROOT / "ARCHITECTURE.md")
                       .read_text(), re.M)
    need(set(table) == floors, f"{set(table) ^ floors}")


@case("README names the exit codes of the command")
def _():
    text = " ".join((ROOT / "README.md").read_text().split())
    codes = re.findall(r"^ +(\d+)  ", command("help", "exit-codes").out
                       .decode(), re.M)
    need(len(codes) == 11, f"{codes}")
    for code in codes:
        need(re.search(rf"\b{code} [a-z]", text), f"README lacks {code}")


@case("the limits of README and of help are the defaults")
def _():
    shown = command("policy", "show").out.decode()
    text = (ROOT / "README.md").read_text()
    helped = command("help", "limits").out.decode()
    for name in ("wall", "memory", "output", "files"):
        value = re.search(rf"^ +{name}: (\S+)$", shown, re.M)
        need(value, shown)
        need(f"| `{name}` | {value[1]} |" in text, f"README: {name} {value[1]}")
        need(re.search(rf"{name} +{value[1]} ", helped), f"help: {name}")


if __name__ == "__main__":
    main()
