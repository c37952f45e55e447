#!/usr/bin/env python3
"""tools/snapshot: what it writes, and every module that it must refuse."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

SNAPSHOT = BUILD / "images" / "snapshot"


def leb(n):
    out = b""
    while True:
        n, low = n >> 7, n & 127
        if not n:
            return out + bytes([low])
        out += bytes([low | 128])


def vec(items):
    return leb(len(items)) + b"".join(items)


def name(text):
    return leb(len(text)) + text.encode()


def section(number, body):
    return bytes([number]) + leb(len(body)) + body


def func(code):
    body = b"\0" + code + b"\x0b"
    return leb(len(body)) + body


SP = b"\x7f\x01\x41\x80\x08\x0b"  # (global (mut i32) (i32.const 1024))
STORE = b"\x41\x10\x41\x2a\x36\x02\x00"  # i32.store 16 <- 42
EXPORTS = [name("memory") + b"\2\0", name("redoma_init") + b"\0\0",
           name("__stack_pointer") + b"\3\0", name("_initialize") + b"\0\1"]


def make(init=STORE, start=b"", globals=(SP,), exports=EXPORTS, imports=(),
         memory=b"\0\1", extra=b""):
    """A module with a table, functions redoma_init and _initialize."""
    k = sum(i.endswith(b"\0\0") for i in imports)
    exports = [e[:-1] + bytes([e[-1] + k]) if e[-2] == 0 else e
               for e in exports]
    return b"".join((
        b"\0asm\1\0\0\0",
        section(1, vec([b"\x60\0\0"])),
        section(2, vec(imports)) if imports else b"",
        section(3, vec([b"\0", b"\0"])),
        section(4, vec([b"\x70\0\4"])),
        section(5, vec([memory])) if memory else b"",
        section(6, vec(globals)),
        section(7, vec(exports)),
        section(9, vec([b"\1\0" + vec([b"\0"])])),  # a passive segment
        section(12, leb(2)),
        section(10, vec([func(init), func(start)])),
        section(11, vec([b"\0\x41\x08\x0b" + name("data"),
                         b"\1" + name("more")])),
        extra))


def run(data, ok=True):
    here = scratch()
    (here / "in.wasm").write_bytes(data)
    out = here / "out.wasm"
    out.unlink(missing_ok=True)
    p = subprocess.run([SNAPSHOT, here / "in.wasm", out], capture_output=True,
                       text=True, timeout=60)
    need((p.returncode == 0) == ok, f"exit {p.returncode}: {p.stderr}")
    need(out.exists() == ok, "an output file, or none")
    return out.read_bytes() if ok else p.stderr


def sections(data):
    at, found = 8, {}
    while at < len(data):
        number, at, n, shift = data[at], at + 1, 0, 0
        while True:
            c, at = data[at], at + 1
            n |= (c & 127) << shift
            shift += 7
            if not c & 128:
                break
        found[number] = data[at:at + n]
        at += n
    return found


@case("memory is written as it was after the set-up")
def _():
    s = sections(run(make(start=b"\x41\x20\x41\x07\x36\x02\x00")))
    need(b"data" in s[11] and b"\x2a" in s[11] and b"\x07" in s[11],
         f"data {s[11]!r}")
    need(s[11][0] == 1 and s[12] == b"\1", "one run, counted")


@case("what was only for the set-up is gone")
def _():
    s = sections(run(make(extra=section(0, name("custom") + b"x"))))
    need(s[7] == vec([name("memory") + b"\2\0"]), f"exports {s[7]!r}")
    need(0 not in s and 8 not in s, "custom and start sections")


@case("memory that grew is the new minimum")
def _():
    grown = run(make(init=b"\x41\x02\x40\x00\x1a" + STORE))
    need(sections(grown)[5] == b"\1\0\3", f"{sections(grown)[5]!r}")


@case("the same input gives the same bytes, and runs once more")
def _():
    one = run(make())
    need(one == run(make()), "different bytes")


REFUSED = [
    ("table.set", b"\x41\0\xd0\x70\x26\0", {}, "table.set"),
    ("table.grow", b"\xd0\x70\x41\0\xfc\x0f\0\x1a", {}, "table"),
    ("table.fill", b"\x41\0\xd0\x70\x41\0\xfc\x11\0", {}, "table"),
    ("table.copy", b"\x41\0\x41\0\x41\0\xfc\x0e\0\0", {}, "table"),
    ("table.init", b"\x41\0\x41\0\x41\0\xfc\x0c\0\0", {}, "table"),
    ("elem.drop", b"\xfc\x0d\0", {}, "segment"),
    ("data.drop", b"\xfc\x09\1", {}, "data.drop"),
    ("memory.init", b"\x41\0\x41\0\x41\0\xfc\x08\1\0", {}, "memory.init"),
    ("hidden behind a br_table", b"\x02\x40\x41\0\x0e\2\0\0\0\x0b\xfc\x0d\0",
     {}, "segment"),
    ("hidden behind constants", b"\x42\xfc\x8d\0\x1a\x43\xfc\x0d\0\0\x1a"
     b"\xfc\x0d\0", {}, "segment"),
    ("a second mutable global", STORE,
     {"globals": (SP, b"\x7f\1\x41\0\x0b")}, "mutable global"),
    ("a stack pointer that stays moved", b"\x41\x10\x24\0", {},
     "stack pointer"),
    ("no exported stack pointer", STORE, {"exports": EXPORTS[:2]}, "global"),
    ("no redoma_init", STORE, {"exports": EXPORTS[:1] + EXPORTS[2:]},
     "redoma_init"),
    ("an imported memory", STORE,
     {"imports": (name("e") + name("m") + b"\2\0\1",), "memory": b""},
     "import"),
    ("an imported global", STORE,
     {"imports": (name("e") + name("g") + b"\3\x7f\0",)}, "import"),
    ("a call of an import", b"\x10\0",
     {"imports": (name("e") + name("f") + b"\0\0",)}, "redoma_init"),
    ("a trap", b"\0", {}, "redoma_init"),
    ("an unknown instruction", b"\xff", {}, "unknown instruction"),
]
for _name, _code, _more, _says in REFUSED:
    @case(f"refused: {_name}")
    def _(code=_code, more=_more, says=_says):
        text = run(make(init=code, **more), ok=False)
        need(says in text and text.startswith("snapshot: "), text)


@case("the constants that look like instructions are allowed")
def _():
    run(make(init=b"\x42\xfc\x8d\0\x1a\x43\xfc\x0d\0\0\x1a" + STORE))


@case("truncated at every byte")
def _():
    whole = make()
    for n in range(0, len(whole), 3):
        here = scratch()
        (here / "in.wasm").write_bytes(whole[:n])
        p = subprocess.run([SNAPSHOT, here / "in.wasm", here / "out.wasm"],
                           capture_output=True, text=True, timeout=60)
        need(p.returncode == 1 and p.stderr.startswith("snapshot: "),
             f"{n} bytes: {p.returncode} {p.stderr}")


if __name__ == "__main__":
    main()
