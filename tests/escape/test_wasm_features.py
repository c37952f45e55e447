#!/usr/bin/env python3
"""C141 C143 C145: what of WebAssembly is on, and what is off and refused by its
name.  Each module differs from one that runs by the one feature."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import lib_wasm as W
from lib_redoma import *

B = W.body


def run_bytes(data, *options, **kw):
    return run_json("run", write("guest.wasm", data), *options, **kw)


def with_tag(code):
    """A module with one exception tag; its section lies before the globals."""
    exports = W.vec([W.name("_start") + b"\0\0", W.name("memory") + b"\2\0"])
    return (W.MAGIC + W.section(1, W.vec([W.functype()]))
            + W.section(3, W.vec([W.u(0)])) + W.section(5, W.vec([W.limits(1)]))
            + W.section(13, W.vec([b"\0\0"])) + W.section(7, exports)
            + W.section(10, W.vec([B(code)])))


ZERO128 = W.const(0) + b"\xfd\x0f"
STRUCT = b"\x5f" + W.vec([b"\x7f\x00"])

# Feature: (module that needs it, the word that the refusal must hold)
OFF = {
    "shared memory": (W.module(memory=b"\x03" + W.u(1) + W.u(2)), "threads"),
    "atomics": (W.module(codes=(B(b"\xfe\x03\x00"),)), "threads"),
    "64-bit memory": (W.module(memory=b"\x04" + W.u(1)), "memory64"),
    "64-bit tables": (W.module(tables=(b"\x70\x04" + W.u(1),)), "memory64"),
    "several memories": (W.module(extra_memory=(W.limits(1),)),
                         "multi-memory"),
    "legacy exceptions": (W.module(codes=(B(b"\x06\x40\x0b"),)),
                          "legacy exceptions"),
    "struct types": (W.module(types=(W.functype(), STRUCT)), "(GC)"),
    "array types": (W.module(types=(W.functype(), b"\x5e\x7f\x00")), "(GC)"),
    "struct.new": (W.module(types=(W.functype(), STRUCT),
                            codes=(B(b"\xfb\x01\x01\x1a"),)), "(GC)"),
    "recursive types": (W.module(types=(
        b"\x4e" + W.vec([W.functype()] * 2),)), "(GC)"),
    "ref.i31": (W.module(codes=(B(W.const(1) + b"\xfb\x1c\x1a"),)), "(GC)"),
    "call_ref": (W.module(codes=(B(b"\xd2\x00\x14\x00"),)),
                 "function references"),
    "tail calls": (W.module(functions=(0, 0),
                            codes=(B(b"\x12\x01"), B(b""))), "tail calls"),
    "custom page sizes": (W.module(memory=b"\x08" + W.u(1) + W.u(0)),
                          "custom page sizes"),
    "stack switching": (W.module(types=(W.functype(), b"\x5d\x00")),
                        "stack switching"),
    "wide arithmetic": (W.module(codes=(
        B(b"\x42\x01" * 4 + b"\xfc\x13\x1a\x1a"),)), "wide arithmetic"),
    "relaxed SIMD": (W.module(codes=(
        B(ZERO128 * 2 + b"\xfd\x80\x02\x1a"),)), "relaxed SIMD"),
}
for _name, (_data, _word) in OFF.items():
    @case(f"C143 off, and named: {_name}")
    def _(data=_data, word=_word):
        r = run_bytes(data)
        expect(r, "invalid", says=f"{word}", within=3)
        need("off here" in r.message, r.about())


ON = {
    "fixed-width SIMD": W.module(codes=(
        B(W.const(5) + b"\xfd\x11\xfd\x1b\x00\x1a"),)),
    "exceptions, caught": with_tag(
        b"\x02\x40\x1f\x40\x01\x00\x00\x00\x08\x00\x0b\x0b"),
    "bulk memory": W.module(codes=(B(W.const(0) * 3 + b"\xfc\x0b\x00"),)),
    "sign extension": W.module(codes=(B(W.const(5) + b"\xc0\x1a"),)),
    "saturating conversions": W.module(codes=(
        B(b"\x43\0\0\0\0\xfc\x00\x1a"),)),
    "several results": W.module(
        types=(W.functype(), W.functype((), [W.I32, W.I32])),
        functions=(0, 1),
        codes=(B(b"\x10\x01\x1a\x1a"), B(W.const(1) + W.const(2)))),
    "reference types": W.module(tables=(b"\x6f" + W.limits(1),)),
    "constant expressions": W.module(globals_=(
        b"\x7f\x00" + W.const(1) + W.const(2) + b"\x6a\x0b",)),
    "mutable globals": W.module(globals_=(b"\x7f\x01" + W.const(1) + b"\x0b",),
                                codes=(B(W.const(2) + b"\x24\x00"),)),
}
for _name, _data in ON.items():
    @case(f"C143 on: {_name}")
    def _(data=_data):
        expect(run_bytes(data), "ok")


@case("C143 an exception that nothing catches is a trap that says so")
def _():
    expect(run_bytes(with_tag(b"\x08\x00")), "trap", says="exception")


@case("C145 GC is off: 5,600 wide structs are refused at once, not compiled")
def _():
    wide = b"\x5f" + W.vec([b"\x7e\x01"] * 700)
    r = run_bytes(W.module(types=(W.functype(), wide),
                           codes=(B(b"\xfb\x01\x01\x1a" * 5600),)))
    expect(r, "invalid", says="GC", within=1)
    need(r.watch.one_peak < 200 * MIB, f"{r.watch.one_peak >> 20} MiB")


if __name__ == "__main__":
    main()
