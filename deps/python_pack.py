"""python_pack.py LIB ZONES OUT: the standard library as marshalled code, and the
time zones, in one file.

Run by the Python whose marshal format it is, of which the core alone is built:
no struct, no pathlib.  OUT, little endian: "RPYL", u32 count; a row of four u32
each: offset and length of the bytes, kind (0 module, 1 package, 2 data), offset
of the name; then the names, each with a NUL, and the bytes.  Offsets count from
the start.  Rows are sorted by name, data last.  The code has no docstrings and
assertions, as under -OO.
"""
import marshal
import os
import sys

MODULE, PACKAGE, DATA = range(3)
LEFT_OUT = {
    "__pycache__", "_pyrepl", "ctypes", "curses", "dbm", "ensurepip",
    "idlelib", "msilib", "multiprocessing", "pydoc_data", "site-packages",
    "ssl", "test", "tests", "tkinter", "turtledemo", "venv", "wsgiref",
    "xmlrpc",
}
NO_PROGRAMS = {"antigravity", "this", "turtle", "__phello__"}
# What sysconfig asks of the build that made this interpreter.
OWN = {"_sysconfigdata__wasi_wasm32-wasi": "build_time_vars = {'TZPATH': ''}\n"}


def files(folder):
    """Each file's parts below the folder, and its bytes."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            with open(path, "rb") as f:
                yield os.path.relpath(path, folder).split("/"), f.read()


def modules(lib):
    for parts, text in files(lib):
        if not parts[-1].endswith(".py"):
            continue
        parts[-1] = parts[-1][:-3]
        if set(parts) & LEFT_OUT or parts[0] in NO_PROGRAMS:
            continue
        package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if package else parts)
        if name:
            yield name, PACKAGE if package else MODULE, text
    for name, text in OWN.items():
        yield name, MODULE, text.encode()


def zones(folder):
    for parts, data in files(folder):
        # Those in right/ count leap seconds.
        if data[:4] == b"TZif" and parts[0] != "right":
            yield "tz/" + "/".join(parts), DATA, data


def words(*numbers):
    return b"".join(n.to_bytes(4, "little") for n in numbers)


def pack(rows):
    names = b"".join(name + b"\0" for _, name, _ in rows)
    name_at = 8 + 16 * len(rows)
    bytes_at = name_at + len(names)
    table, seen, held = [], {}, bytearray()
    for kind, name, data in rows:
        # Many zones have the bytes of another.
        if data not in seen:
            seen[data] = bytes_at + len(held)
            held += data
        table.append(words(seen[data], len(data), kind, name_at))
        name_at += len(name) + 1
    return b"RPYL" + words(len(rows)) + b"".join(table) + names + held


def main(lib, zone_folder, out):
    rows = []
    for name, kind, text in modules(lib):
        # No name of a file: nobody looks for its lines in one.
        code = compile(text, f"<{name}>", "exec", dont_inherit=True,
                       optimize=2)
        rows.append((kind, name.encode(), marshal.dumps(code)))
    for name, kind, data in zones(zone_folder):
        rows.append((kind, name.encode(), data))
    rows.sort(key=lambda r: (r[0] == DATA, r[1]))
    data = pack(rows)
    with open(out, "wb") as f:
        f.write(data)
    print(f"{len(rows)} modules and zones, {len(data)} bytes")


main(*sys.argv[1:])
