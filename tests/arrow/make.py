#!/usr/bin/env python3
"""Makes the Arrow files of this folder, and what is in them as JSON Lines.

    python3 make.py FOLDER

It needs pyarrow, which deps/fetch --python-arrow brings; the files that are
here were made so. Their bytes may differ with the version of pyarrow."""
import datetime
import json
import pathlib
import sys

import pyarrow as pa
from pyarrow import feather, ipc

to = pathlib.Path(sys.argv[1])
EPOCH = datetime.datetime(1970, 1, 1)
NO_UNIT = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}


def instant(n, unit):
    us = n * 10**6 // NO_UNIT[unit]
    t = EPOCH + datetime.timedelta(microseconds=us)
    text = t.isoformat()
    return (text.rstrip("0") if "." in text else text) + "Z"


def plain(v, t):
    """The JSON value that a cell is written as."""
    if v is None or t == pa.null():
        return None
    if pa.types.is_timestamp(t):
        return instant(v, t.unit)
    if pa.types.is_date(t):
        return (EPOCH + datetime.timedelta(days=v)).date().isoformat()
    if pa.types.is_floating(t):
        return v if v == v and abs(v) != float("inf") else None
    if pa.types.is_uint64(t) and v >= 2**63:
        return str(v)
    return v


class Table:
    def __init__(self):
        self.fields, self.arrays, self.values = [], [], []

    def add(self, name, t, values, array=None):
        self.fields.append(pa.field(name, t))
        if array is None:
            array = pa.array(values, pa.int64()).cast(pa.int32()).cast(t) \
                if t == pa.date32() else (
                pa.array([v and v * 86400000 for v in values],
                         pa.int64()).cast(t)
                if t == pa.date64() else pa.array(values, t))
        self.arrays.append(array)
        self.values.append([plain(v, t) for v in values])

    def batch(self):
        return pa.record_batch(self.arrays, pa.schema(self.fields))

    def lines(self):
        names = [f.name for f in self.fields]
        return "".join(
            json.dumps(dict(zip(names, row)), ensure_ascii=False,
                       separators=(",", ":")) + "\n"
            for row in zip(*self.values))


def write(name, batches, schema=None, **options):
    new = ipc.new_stream if name.endswith("s") else ipc.new_file
    with new(str(to / name), schema or batches[0].schema,
             options=ipc.IpcWriteOptions(**options)) as w:
        for b in batches:
            w.write(b)


def types():
    t = Table()
    for bits in (8, 16, 32, 64):
        t.add(f"i{bits}", getattr(pa, f"int{bits}")(),
              [1, None, -2**(bits - 1), 2**(bits - 1) - 1])
        t.add(f"u{bits}", getattr(pa, f"uint{bits}")(),
              [1, None, 0, 2**bits - 1])
    t.add("f32", pa.float32(), [1.5, None, float("nan"), float("-inf")])
    t.add("f64", pa.float64(), [1.5, None, 0.1, -1e300])
    t.add("s", pa.utf8(), ["a", None, "", "日本" * 5])
    t.add("ls", pa.large_utf8(), ["a", None, "", "é" * 20])
    t.add("sv", pa.string_view(), ["a", None, "x" * 12, "é" * 20])
    t.add("b", pa.bool_(), [True, None, False, True])
    t.add("d32", pa.date32(), [19782, None, -719162, 2932896])
    t.add("d64", pa.date64(), [19782, None, -719162, 2932896])
    for unit, zone, last in (("s", None, 1700000000),
                             ("ms", "Europe/Berlin", 1700000000123),
                             ("us", "UTC", 1700000000123450),
                             ("ns", None, 1700000000123456789)):
        t.add("t" + unit, pa.timestamp(unit, zone), [0, None, -1, last])
    t.add("null", pa.null(), [None] * 4)
    for n, index in enumerate((pa.int8(), pa.uint16(), pa.int32(), pa.int64())):
        a = pa.DictionaryArray.from_arrays(
            pa.array([0, None, 1, 0], index), pa.array(["p", "quince"]))
        t.add(f"dict{n}", pa.dictionary(index, pa.utf8()),
              ["p", None, "quince", "p"], a)
    return t


def many(per, batches):
    t = Table()
    n = per * batches
    t.add("i", pa.int32(), [k if k % 7 else None for k in range(n)])
    t.add("b", pa.bool_(), [k % 3 == 0 if k % 5 else None for k in range(n)])
    t.add("s", pa.utf8(), ["x" * (k % 20) if k % 4 else None
                           for k in range(n)])
    return t


def main():
    t = types()
    write("types.arrow", [t.batch()])
    write("types.arrows", [t.batch()])
    (to / "types.jsonl").write_text(t.lines())
    feather.write_feather(pa.Table.from_batches([t.batch()]),
                          str(to / "types.feather"),
                          compression="uncompressed")
    t = many(13, 5)
    b = t.batch()
    write("batches.arrow", [b.slice(k, 13) for k in range(0, 65, 13)])
    write("batches.arrows", [b.slice(0, 1), b.slice(0, 0), b.slice(1, 60),
                             b.slice(61)])
    (to / "batches.jsonl").write_text(t.lines())
    write("empty.arrow", [], b.schema)
    write("empty.arrows", [], b.schema)
    # A dictionary that grows, and one that is another one.
    words = [["a", "b"], ["a", "b", "c", None], ["z"]]
    out, schema = [], pa.schema([("d", pa.dictionary(pa.int8(), pa.utf8()))])
    for w in words:
        k = pa.array([0, len(w) - 1, None], pa.int8())
        out.append(pa.record_batch([pa.DictionaryArray.from_arrays(
            k, pa.array(w, pa.utf8()))], schema))
    write("dictionaries.arrows", out, emit_dictionary_deltas=True)
    (to / "dictionaries.jsonl").write_text("".join(
        json.dumps({"d": v}, separators=(",", ":")) + "\n"
        for w in words for v in (w[0], w[-1], None)))
    write("legacy.arrows", [b], use_legacy_format=True)
    write("lz4.arrow", [b], compression="lz4")
    write("zstd.arrows", [b], compression="zstd")
    for name, array in (
            ("list", pa.array([[1]])), ("decimal", pa.array(
                [1], pa.decimal128(5))), ("binary", pa.array([b"x"])),
            ("time32", pa.array([1], pa.time32("s"))),
            ("half", pa.array([None], pa.float16())),
            ("duration", pa.array([1], pa.duration("s"))),
            ("struct", pa.array([{"x": 1}])),
            ("dictionary", pa.array([1]).dictionary_encode())):
        write(f"no_{name}.arrow", [pa.record_batch([array], ["odd"])])


main()
