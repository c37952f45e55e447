#!/usr/bin/env python3
"""Arrow's own library writes what we read, and reads what we wrote."""
# test-seconds: 300
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_arrow import *
from lib_redoma import *

# Tables of every type by a seed, in a form; the values are random.
WRITE = """
import random, sys
import pyarrow as pa
from pyarrow import ipc
to, seed = sys.argv[1], int(sys.argv[2])
rng = random.Random(seed)
TEXTS = ["", "a", "caf\u00e9", "\u65e5\u672c", "x" * 13, "y" * 300]
def integers(bits, sign):
    low = -2**(bits - 1) if sign else 0
    high = 2**(bits - 1) - 1 if sign else 2**bits - 1
    return lambda: rng.choice([low, high, 0, 1, rng.randint(low, high)])
def text():
    return rng.choice(TEXTS)
kinds = [(getattr(pa, f"{u}int{b}")(), integers(b, not u))
         for u in ("", "u") for b in (8, 16, 32, 64)]
kinds += [(pa.float32(), lambda: rng.choice([0.5, -0.25, 3.0])),
          (pa.float64(), lambda: rng.uniform(-1e9, 1e9)),
          (pa.bool_(), lambda: rng.random() < 0.5),
          (pa.null(), lambda: None)]
kinds += [(t, text) for t in (pa.utf8(), pa.large_utf8(), pa.string_view())]
kinds += [(pa.timestamp(u, z), lambda: rng.randint(-10**10, 10**10))
          for u in ("s", "ms", "us", "ns") for z in (None, "Asia/Tokyo")]
def days(unit):
    return lambda: rng.randint(-719162, 2932896) * unit
kinds += [(pa.date32(), days(1)), (pa.date64(), days(86400000))]
def array(t, make, n, nulls):
    v = [None if rng.random() < nulls else make() for _ in range(n)]
    if t == pa.date32():
        return pa.array(v, pa.int32()).cast(t)
    if t == pa.date64():
        return pa.array(v, pa.int64()).cast(t)
    return pa.array(v, t)
chosen = rng.sample(kinds, 12)
nulls = [rng.choice([0, 0, 0.3, 1]) for _ in chosen]
fields = [pa.field(f"c{i}", t) for i, (t, _) in enumerate(chosen)]
coded = pa.dictionary(rng.choice([pa.int8(), pa.uint32()]), pa.utf8())
schema = pa.schema([pa.field("id", pa.int64())] + fields +
                   [pa.field("coded", coded)])
at, new = 0, ipc.new_stream if to.endswith("s") else ipc.new_file
with new(to, schema) as w:
    for _ in range(rng.randint(1, 6)):
        n = rng.choice([0, 1, 7, 8, 9, 500])
        k = array(coded.index_type, lambda: rng.randint(0, 5), n, 0.2)
        b = [pa.array(range(at, at + n), pa.int64())]
        b += [array(t, m, n, p) for (t, m), p in zip(chosen, nulls)]
        b += [pa.DictionaryArray.from_arrays(k, pa.array(TEXTS))]
        # A slice's bits do not begin with a byte.
        cut = rng.randint(0, n)
        w.write(pa.record_batch(b, schema).slice(cut))
        at += n
"""
# The columns that were there are the same bits.
COMPARE = """
import sys
import pyarrow as pa
from pyarrow import ipc
def read(p):
    t = (ipc.open_stream if p.endswith("s") else ipc.open_file)(p).read_all()
    t.validate(full=True)
    return t
old, new = read(sys.argv[1]), read(sys.argv[2])
assert new.num_rows == old.num_rows, (new.num_rows, old.num_rows)
assert new.column_names == old.column_names + ["twice"], new.column_names
for name in old.column_names:
    a, b = old[name], new[name]
    if pa.types.is_dictionary(a.type):
        a = a.cast(pa.utf8())
    if a.type == pa.string_view():
        a = a.cast(pa.utf8())
    assert a.type == b.type, (name, a.type, b.type)
    assert a.combine_chunks().equals(b.combine_chunks()), name
if old.num_rows:
    assert new["twice"].type == pa.int64(), new["twice"].type
assert new["twice"].to_pylist() == [2 * v for v in old["id"].to_pylist()]
print(old.num_rows)
"""


@case("random tables of all types, in files and streams, both ways")
def _():
    rows = 0
    for seed in range(12):
        old = scratch() / ("old.arrow" + "s" * (seed % 2))
        new = scratch() / ("new.arrow" + "s" * (seed // 2 % 2))
        new.unlink(missing_ok=True)
        pyarrow(WRITE, old, seed)
        r = command("formula", "id * 2", old, "-o", new, "--as", "twice")
        need(r.code == 0 and not r.err, f"seed {seed}: {r.about()}")
        rows += int(pyarrow(COMPARE, old, new))
    need(rows > 1000, f"{rows} rows")


@case("what was CSV has the types that the guide says")
def _():
    new = scratch() / "csv.arrow"
    new.unlink(missing_ok=True)
    table = write("t.csv", "n,x,t,d,w,s,none\n1,1.5,true,2024-02-29,"
                  "2024-02-29T10:20:30Z,a,\n,,,,,,\n")
    r = command("formula", "n / 2", table, "-o", new)
    need(r.code == 0, r.about())
    got = pyarrow("""
import sys
from pyarrow import ipc
t = ipc.open_file(sys.argv[1]).read_all()
t.validate(full=True)
print([str(f.type) for f in t.schema], t.slice(0, 1).to_pylist()[0]["d"],
      [c.null_count for c in t.columns])
""", new)
    need(got == "['int64', 'double', 'bool', 'date32[day]', "
         "'timestamp[us, tz=UTC]', 'string', 'string', 'double'] 2024-02-29 "
         "[1, 1, 1, 1, 1, 1, 2, 1]\n", got)


# 99 MB of one batch, and of 900: redoma itself may grow to 80 MiB.
LARGE = """
import sys
import pyarrow as pa
from pyarrow import compute, ipc
n, per = 4500000, int(sys.argv[2])
schema = pa.schema([("id", pa.int64()), ("x", pa.float64()),
                    ("s", pa.utf8())])
with ipc.new_file(sys.argv[1], schema) as w:
    for at in range(0, n, per):
        i = pa.array(range(at, at + per))
        w.write(pa.record_batch([
            i, compute.divide(i.cast(pa.float64()), 4.0),
            compute.bit_wise_and(i, 127).cast(pa.utf8())], schema))
"""


@case("a batch of 4.5 million rows, and 900 batches: in constant memory")
def _():
    for per in (4500000, 5000):
        path = scratch() / "large.arrow"
        pyarrow(LARGE, path, per)
        need(path.stat().st_size > 90 << 20, str(path.stat().st_size))
        new = scratch() / "large.out.arrow"
        new.unlink(missing_ok=True)
        # Each run is held to a peak of 80 MiB (command).
        r = command("formula", "--lang", "js", "id * 2", path, "-o", new,
                    "--as", "twice", timeout=120)
        need(r.code == 0, r.about())
        got = pyarrow("""
import sys
from pyarrow import compute, ipc
import pyarrow
with pyarrow.memory_map(sys.argv[1]) as f:
    r = ipc.open_file(f)
    rows = twice = 0
    for i in range(r.num_record_batches):
        b = r.get_batch(i)
        rows += b.num_rows
        twice += compute.sum(b["twice"]).as_py()
print(rows, int(twice))
""", new)
        need(got == f"4500000 {4500000 * 4499999}\n", got)
        print(f"#   {per} a batch: {r.seconds:.2f} s, redoma itself "
              f"{r.watch.own_peak >> 20} MiB")


if __name__ == "__main__":
    main()
