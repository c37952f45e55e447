#!/usr/bin/env python3
"""The reader of CSV, held against Python's: random files of every shape."""
import csv
import io
import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import BUILD, case, main, need, write  # noqa: E402

csv.field_size_limit(1 << 24)
DUMP = str(BUILD / "tests" / "table_dump")


def dump(data, delimiter=","):
    path = write("table.csv", data)
    return subprocess.run([DUMP, str(path), delimiter], timeout=60,
                          capture_output=True)


def theirs(text, delimiter=","):
    # Python gives no record for an empty line; ours is one empty field.
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return [row or [""] for row in rows]


def same(text, delimiter=","):
    r = dump(text, delimiter)
    need(r.returncode == 0, f"{text!r}: {r.stderr.decode()}")
    ours = [json.loads(line) for line in r.stdout.splitlines()]
    need(ours == theirs(text, delimiter),
         f"{text[:200]!r}: {str(ours)[:300]} and "
         f"{str(theirs(text, delimiter))[:300]}")


@case("what Python writes reads as Python reads it")
def written_by_python():
    rng = random.Random(4180)
    parts = ["", "a", "b c", ",", ";", '"', '""', "\n", "\r\n", "\t", "é",
             "日本", "1.5", "x" * 300]
    for n in range(150):
        out = io.StringIO(newline="")
        end = rng.choice(["\r\n", "\n", "\r"])
        delimiter = rng.choice(",;\t|")
        w = csv.writer(out, delimiter=delimiter, lineterminator=end,
                       quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
        for _ in range(rng.randrange(1, 12)):
            w.writerow(["".join(rng.choices(parts, k=rng.randrange(0, 4)))
                        for _ in range(rng.randrange(1, 6))])
        same(out.getvalue(), delimiter)


@case("stray quotes and bare line ends read as Python reads them")
def loose_files():
    """What no writer makes: stray quotes, text behind quotes, bare ends."""
    rng = random.Random(7)
    for n in range(250):
        text = "".join(rng.choices('ab",\n\r ', k=rng.randrange(1, 40)))
        try:
            csv.reader(io.StringIO(text, newline=""), strict=False)
            rows = theirs(text)
        except csv.Error:
            continue
        r = dump(text)
        if r.returncode:  # Python ends an open quote with the file
            need(b"nothing closes" in r.stderr, r.stderr.decode())
            continue
        ours = [json.loads(line) for line in r.stdout.splitlines()]
        need(ours == rows, f"{text!r}: {ours} and {rows}")


@case("rows over the edge of a read")
def across_reads():
    """Rows and quotes that lie over the edges of what is read at once."""
    for size in (262139, 262140, 262141, 262142, 262143, 262144, 524288):
        same('a,b\r\n"' + "x" * size + '""y",2\r\n3,4\r\n')
        same("k" * size + ",b\r\n1,2\r\n")


@case("quotes without an end, rows without an end, fields without number")
def bombs():
    r = dump('a,b\n1,"' + "x\n" * (9 << 20))
    need(r.returncode == 1 and b"line 2 has a quote that nothing closes"
         in r.stderr, r.stderr.decode())
    r = dump('a,b\n1,"' + "x" * (40 << 20))
    need(r.returncode == 1 and b"16 MiB" in r.stderr, r.stderr.decode())
    r = dump("a,b\n1,2\n3," + "x" * (17 << 20) + "\n")
    need(r.returncode == 1 and b"line 3 has more than 16 MiB, which is the most"
         in r.stderr and b"quote" not in r.stderr, r.stderr.decode())
    r = dump("," * 20000)
    need(r.returncode == 1 and b"16384 fields" in r.stderr, r.stderr.decode())
    need(dump("," * 16383).returncode == 0, "16384 fields are read")


if __name__ == "__main__":
    main()
