#!/usr/bin/env python3
"""The Python image: values, errors, what is there and what is not.

test-seconds: 240
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *


def tag(kind, **more):
    return {"$redoma": kind, **more}


VALUES = [
    ("1+1", 2), ("x = 3\nx * 2", 6), ("result = [1]", [1]),
    ("result = 5\nprint('a')", 5), ("result = 5\n7", 7),
    ("x = 1", ...), ("None", ...), ("print('hi')", ...),
    ("'é😀'", "é😀"), ("1.5", 1.5), ("0.1 + 0.2", 0.30000000000000004),
    ("True", True), ("", None), ("# nothing", ...),
    ("{'a': [1, {'b': None}]}", {"a": [1, {"b": None}]}),
    ("(1, 2)", [1, 2]), ("2 ** 53 - 1", 2 ** 53 - 1),
    ("2 ** 53", tag("bigint", value=str(2 ** 53))),
    ("-2 ** 70", tag("bigint", value=str(-2 ** 70))),
    ("[10 ** 40]", [tag("bigint", value=str(10 ** 40))]),
    ("float('nan')", tag("nan")),
    ("[float('inf'), -float('inf')]", [tag("inf"), tag("-inf")]),
    ("-0.0", tag("-0")), ("1e300", 1e300), ("2.0", 2),
    ("b'\\x00\\xff\\x10'", tag("bytes", value="AP8Q")),
    ("bytearray(b'ab')", tag("bytes", value="YWI=")),
    ("{1}", tag("set", value=[1])),
    ("[1j, complex('nan')]", [tag("complex", value=[0, 1]),
                              tag("complex", value=[tag("nan"), 0])]),
    ("frozenset(['a'])", tag("set", value=["a"])),
    ("import datetime as d\nd.datetime(1970, 1, 1, tzinfo=d.timezone.utc)",
     tag("date", value="1970-01-01T00:00:00.000Z")),
    ("{'$redoma': 'bigint', 'value': '1'}",
     tag("object", value={"$redoma": "bigint", "value": "1"})),
    ("{'a': {'$redoma': 1}}", {"a": tag("object", value={"$redoma": 1})}),
    ("import sys\n[sys.argv[1:], __name__]", [[], "__main__"]),
    ("import os\ndict(os.environ)", {}),
    ("import dataclasses\n@dataclasses.dataclass\nclass P:\n  x: int\n"
     "P(3).x", 3),
    ("def f():\n  return g()\ndef g():\n  return 5\nf()", 5),
    ("'a\\ud83d'", "a\ufffd"),
    ("{'\\udc00': ['\\ud800']}", {"\ufffd": ["\ufffd"]}),
]
for _code, _value in VALUES:
    @case(f"value: {_code!r:.60}")
    def _(code=_code, value=_value):
        if not code:
            return refused("run", write("empty.py", ""), code=5, says="empty")
        return expect(python(code), "ok", value=value)


@case("eval py, a file by its name, by --lang and by its first line")
def _():
    r = command("eval", "py", "1+1")
    need(r.out == b"2\n" and r.code == 0, r.about())
    for name, more in (("f.py", ()), ("f.txt", ("--lang", "py"))):
        expect(run_json("run", write(name, "6 * 7"), *more), "ok", value=42)
    expect(run_json("run", write("tool", "#!/usr/bin/env python3\n6 * 7")),
           "ok", value=42)


INPUT = [
    ('{"$redoma": "bigint", "value": "99999999999999999999"}', "x + 1",
     tag("bigint", value="100000000000000000000")),
    ('{"$redoma": "bytes", "value": "AP8Q"}', "x[1]", 255),
    ('{"$redoma": "set", "value": [1, 2]}', "sum(x)", 3),
    ('{"$redoma": "nan"}', "x != x", True),
    ('{"$redoma": "date", "value": "2020-01-02T03:04:05.000Z"}',
     "[x.year, x.hour, x.utcoffset().total_seconds()]", [2020, 3, 0]),
    ('{"a": {"$redoma": "-0"}}', "str(x['a'])", "-0.0"),
    ('[1, "é"]', "x", [1, "é"]), ("null", "x is None", True),
    ("12345678901234567890", "x", tag("bigint", value="12345678901234567890")),
]
for _input, _code, _value in INPUT:
    @case(f"input: {_input:.50}")
    def _(text=_input, code=_code, value=_value):
        expect(python(f"x = input_data\n{code}", "--input", text), "ok",
               value=value)


@case("arguments and environment of the plan, and nothing else")
def _():
    r = run_json("run", source("import sys, os\n[sys.argv[1:], "
                 "dict(os.environ)]", "agent.py"), "--env", "A=b", "--", "x",
                 "y z")
    expect(r, "ok", value=[["x", "y z"], {"A": "b"}])


@case("print goes to standard output and standard error, in order")
def _():
    r = python("import sys\nprint('a', 1)\nprint('b', file=sys.stderr)\n"
               "sys.stdout.write('no end')\n1")
    expect(r, "ok", value=1, stdout="a 1\nno end")
    need(r.json["stderr"] == "b\n", r.about())
    expect(python("print('\\udcff')"), "ok", stdout="\\udcff\n")


@case("errors have the caller's lines and none of ours")
def _():
    r = python("def f(n):\n    return 1 / n\n\nx = 1\nf(0)")
    expect(r, "error", says="division")
    e = r.json["error"]
    need(e["name"] == "ZeroDivisionError" and e["line"] == 2
         and e["column"] == 12, r.about())
    need("agent.py" in e["stack"] and "1 / n" in e["stack"]
         and "redoma" not in e["stack"], r.about())
    r = python("x = 1\nif x\n  y")
    expect(r, "invalid", says="if x")
    need("denials" not in r.json, r.about())
    r = python("import pandas")
    need("denials" not in r.json, r.about())
    r = python("x = 1\nreturn x")
    expect(r, "invalid", says="return x")
    need(r.json["error"]["name"] == "SyntaxError"
         and r.json["error"]["line"] == 2
         and r.json["error"]["message"] == "'return' outside function",
         r.about())
    expect(python("class E(Exception):\n  def __str__(self): raise E\n"
                  "raise E"), "error", says="cannot be made")
    expect(python("raise KeyboardInterrupt('k')"), "error",
           says="KeyboardInterrupt")
    expect(python("import json\njson.loads('[1,')"), "error",
           says="JSONDecodeError")


@case("an error has what led to it, as a traceback does")
def _():
    def stack(code):
        r = python(code)
        expect(r, "error")
        return r.json["error"]["stack"]
    text = stack("def f():\n    int('x')\ntry:\n    f()\n"
                 "except ValueError as e:\n    raise KeyError('k') from e")
    parts = ["Traceback (most", "line 4", "line 2, in f", "ValueError: inv",
             "direct cause", "line 6", "raise KeyError"]
    at = [text.find(p) for p in parts]
    need(-1 not in at and at == sorted(at), text)
    need("redoma" not in text and "KeyError: " not in text, text)
    text = stack("try:\n    try: 1 / 0\n    except Exception: [][1]\n"
                 "except Exception: {}['k']")
    at = [text.find(p) for p in ("ZeroDivision", "During handling",
                                 "IndexError: ", "{}['k']")]
    need(-1 not in at and at == sorted(at)
         and text.count("During handling") == 2, text)
    text = stack("try: 1 / 0\nexcept Exception: raise KeyError from None")
    need("ZeroDivision" not in text, text)
    text = stack("a, b = KeyError(), ValueError()\n"
                 "a.__cause__, b.__cause__ = b, a\nraise a")
    need(text.count("direct cause") == 1, text)
    text = stack("e = None\nfor i in range(99):\n  try: raise KeyError(i) from e"
                 "\n  except KeyError as x: e = x\nraise e")
    need(text.count("direct cause") == 10, text)


@case("C081 sys.exit in its forms, and a word on the way out")
def _():
    for code, n in (("import sys; sys.exit(3)", 3), ("raise SystemExit", 0),
                    ("import sys; sys.exit('words')", 1), ("exit(4)", 4),
                    ("def f():\n  raise SystemExit(4)\nf()", 4),
                    ("import sys; sys.exit(256 + 7)", 7)):
        r = python(code)
        expect(r, "error" if n else "ok")
        need(r.json["exit_code"] == n, r.about())
    r = python("import sys; sys.exit('words')")
    need(r.json["stderr"] == "words\n", r.about())
    expect(python("import atexit; atexit.register(print, 'late'); 1"), "ok",
           value=1, stdout="late\n")


@case("what cannot be carried is named by its path")
def _():
    for code, path in (("x = []\nx.append(x)\nx", "itself"),
                       ("x = {'a': {}}\nx['a']['b'] = x\nx", "a.b"),
                       ("{'f': [print]}", "f[0]"),
                       ("lambda: 1", "function"),
                       ("class F:\n  def to_dict(self): pass\nF()",
                        "to_dict()"),
                       ("x = 1\nfor _ in range(5000): x = [x]\nx", "deep")):
        expect(python(code), "error", says=path)


@case("MemoryError and RecursionError can be caught, and end a run by name")
def _():
    expect(python("try:\n  'a' * 10 ** 9\nexcept MemoryError as e:\n  "
                  "r = 'caught'\nr"), "ok", value="caught")
    expect(python("'a' * 10 ** 9"), "memory_limit")
    expect(python("def f(): return f()\ntry:\n  f()\n"
                  "except RecursionError:\n  r = 'caught'\nr"), "ok",
           value="caught")
    expect(python("def f(): f()\nf()"), "stack_limit")


ABSENT = [
    ("import threading\nthreading.Thread(target=print).start()", "asyncio"),
    ("import subprocess\nsubprocess.run(['ls'])", "--native"),
    ("import os\nos.system('ls')", "--native"),
    ("import socket\nsocket.socket()", "input"),
    ("import socket\nsocket.create_connection(('127.0.0.1', 1))", "input"),
    ("import multiprocessing", "process"), ("import ctypes", "machine"),
    ("import pandas", "--native"), ("import numpy as np", "--native"),
    ("import ssl", "network"), ("input()", "EOF"),
    ("breakpoint()", "print"), ("import requests", "sys.path.append"),
    ("import requests", "--tool"), ("import zz.y", "no module named 'zz': "),
    ("import socket\nsocket.socket()", "tools.NAME"),
    ("import _ctypes", "--native"), ("import _posixsubprocess", "--native"),
    ("import fcntl", "no locks in a sandbox"), ("import mmap", "seek()"),
    ("import resource", "the policy's"), ("import pty", "no terminal"),
    ("import curses", "no terminal"), ("import cProfile", "perf_counter"),
    ("import shelve\nshelve.open('/a')", "sqlite3"),
    ("import venv", "sys.path.append"), ("import pip", "sys.path.append"),
    ("import signal\nsignal.alarm(1)", "limits.wall"),
    ("import signal\nsignal.no_such_name", "has no attribute"),
    ("import tempfile\ntempfile.mkdtemp()", "--write DIR/=/tmp/"),
    ("import os.nothing", "'os' is not a package"),
]
for _code, _says in ABSENT:
    @case(f"what there is not says what there is: {_code!r:.60}")
    def _(code=_code, says=_says):
        expect(python(code), "error", says=says)


@case("what libraries expect of a machine without processes is raised")
def _():
    expect(python("import platform\nplatform.system() and 1"), "ok", value=1)
    expect(python("import os\n[hasattr(os, 'fork'), hasattr(os, 'system')]"),
           "ok", value=[False, False])
    expect(python("import subprocess\ntry: subprocess.run(['ls'])\n"
                  "except OSError: r = 'none'\nr"), "ok", value="none")


@case("tools are there if the policy grants some, and calls are in the result")
def _():
    policy = write("tools.yaml", "redoma: 1\ntools: [t]\n")
    r = python("tools.t(a=1)", "--policy", policy, "--tool", "t=cat")
    expect(r, "ok", value={"a": 1})
    need([(c["tool"], c["ok"]) for c in r.json["calls"]] == [("t", True)],
         r.about())
    r = python("tools.u(a=1)", "--policy", policy, "--tool", "t=cat")
    expect(r, "error", says="ToolDenied")
    need(r.json["denials"][0]["op"] == "tool", r.about())
    expect(python("'tools' in globals()"), "ok", value=False)
    r = python("from redoma import tools\ntools.nope(a=1)")
    expect(r, "error", says="tools.nope cannot be called here: the caller "
           "granted no tool")
    need(r.json["error"]["name"] == "ToolError" and r.json["denials"],
         r.about())


@case("await outside of functions")
def _():
    expect(python("import asyncio\nx = await asyncio.sleep(0, 3)\nx + 1"),
           "ok", value=4)
    expect(python("async def g():\n  yield 1\n  yield 2\n"
                  "[x async for x in g()]"), "ok", value=[1, 2])
    expect(python("result = 5\nimport asyncio\nawait asyncio.sleep(0)"),
           "ok", value=5)
    r = python("import asyncio\nawait asyncio.sleep(0)\n1 / 0")
    expect(r, "error", says="ZeroDivisionError")
    e = r.json["error"]
    need(e["line"] == 3 and e["stack"].count("File") == 1, r.about())
    expect(python("def f(): await 1"), "invalid", says="outside async")


@case("standard input is the input")
def _():
    expect(python("[input(), input()]", "--input", '"ab"\n'), "error",
           says="EOF")
    expect(python("[input(), input(), input_data]", "--input",
                  '"one\\nt\\u00e9"'), "ok",
           value=["one", "té", "one\nté"])
    expect(python("import os, sys\n[os.read(0, 2).decode(), "
                  "sys.stdin.readlines()]", "--stdin", '"a\nb"\n'), "ok",
           value=['"a', ["\n", 'b"\n']])
    expect(run_json("run", source("[*map(str.strip, __import__('sys').stdin)]",
                                  "agent.py"), "--stdin", "-",
                    stdin="één\n\ntwo".encode()), "ok",
           value=["één", "", "two"])
    expect(python("[input_data, input_data == '']", "--stdin", ""), "ok",
           value=["", True])
    expect(python("import sys, json\n[json.load(sys.stdin), input_data]",
                  "--input", '{"a": 1}'), "ok", value=[{"a": 1}, {"a": 1}])
    expect(python("input()"), "error", says="--stdin or --input")
    r = python("input()", "--stdin", "")
    expect(r, "error", says="EOF when reading a line")
    need("--stdin" not in r.text, r.about())


@case("open and pathlib on granted names")
def _():
    plain = write("plain.txt", "one\ntwo\n")
    expect(python("with open('/d/plain.txt') as f: x = f.read().split()\nx",
                  "--read", f"{plain}=/d/plain.txt"), "ok",
           value=["one", "two"])
    expect(python("import pathlib\npathlib.Path('/d/plain.txt').read_text()",
                  "--read", f"{plain}=/d/plain.txt"), "ok",
           value="one\ntwo\n")
    out = scratch() / "out-py"
    out.mkdir()
    expect(python("open('/o/a.txt', 'w').write('made')", "--write",
                  f"{out}/=/o/:1MiB"), "ok", value=4)
    need((out / "a.txt").read_text() == "made", "the file is not there")


@case("files in the encodings of East Asia")
def _():
    for codec, text in (("gbk", "汉字"), ("shift_jis", "あ"), ("big5", "漢字"),
                        ("euc_kr", "한글")):
        there = write("there.txt", text.encode(codec) + b"\r\n")
        expect(python(f"with open('/d/t', encoding='{codec}') as f: x = f.read()"
                      f"\nb = '{text}'.encode('{codec}').hex()\n[x, b]",
                      "--read", f"{there}=/d/t"), "ok",
               value=[text + "\n", text.encode(codec).hex()])


LIBRARY = [
    ("s = '漢字'\n[c for c in ('big5', 'big5hkscs', 'cp932', 'cp950', 'euc_jis_2004',"
     " 'euc_jisx0213', 'euc_jp', 'gb18030', 'gb2312', 'gbk', 'hz', 'iso2022_jp',"
     " 'iso2022_jp_1', 'iso2022_jp_2', 'iso2022_jp_2004', 'iso2022_jp_3',"
     " 'iso2022_jp_ext', 'shift_jis', 'shift_jis_2004', 'shift_jisx0213', 'cp949',"
     " 'euc_kr', 'iso2022_kr', 'johab') if (s if c[:2] != 'gb' and c != 'hz' else"
     " '汉字').encode(c).decode(c)[1:] != '字']", []),
    ("import zlib\nzlib.decompress(zlib.compress(b'ab' * 99))[:2].decode()",
     "ab"),
    ("import bz2\nbz2.decompress(bz2.compress(b'ab' * 99))[:2].decode()", "ab"),
    ("import lzma\nlzma.decompress(lzma.compress(b'ab' * 99))[:2].decode()",
     "ab"),
    ("import sqlite3\nc = sqlite3.connect(':memory:')\n"
     "c.execute('create table t(a)')\n"
     "c.executemany('insert into t values(?)', [(i,) for i in range(9)])\n"
     "c.execute('select sum(a) from t').fetchone()[0]", 36),
    ("import io, zipfile\nb = io.BytesIO()\n"
     "with zipfile.ZipFile(b, 'w') as z: z.writestr('a', 'x' * 99)\n"
     "zipfile.ZipFile(b).read('a').decode()", "x" * 99),
    ("from zoneinfo import ZoneInfo\nfrom datetime import datetime\n"
     "[datetime(2024, m, 1, tzinfo=ZoneInfo('Europe/Berlin')).utcoffset()"
     ".total_seconds() for m in (1, 7)]", [3600, 7200]),
    ("import zoneinfo\nx = zoneinfo.available_timezones()\n"
     "['Asia/Kolkata' in x, 'posixrules' in x]", [True, False]),
    ("import sys, zoneinfo\ndel sys.modules['zoneinfo']\nimport zoneinfo\n"
     "try: zoneinfo.ZoneInfo('Eu\\ud800')\n"
     "except zoneinfo.ZoneInfoNotFoundError: x = str(zoneinfo.ZoneInfo('UTC'))"
     "\nx", "UTC"),
    ("import asyncio\nasync def f(n):\n  await asyncio.sleep(n / 1000)\n"
     "  return n\nasync def main():\n"
     "  return await asyncio.gather(f(3), f(1), f(2))\n"
     "asyncio.run(main())", [3, 1, 2]),
    ("import asyncio\nasync def main():\n  try:\n"
     "    async with asyncio.timeout(0.01): await asyncio.sleep(9)\n"
     "  except TimeoutError: return 'late'\nasyncio.run(main())", "late"),
    ("import asyncio\nasyncio.run(asyncio.to_thread(sum, [1, 2]))", 3),
    ("import asyncio\nl = asyncio.new_event_loop()\n"
     "f = l.run_in_executor(None, sum, [1, 2])\nl.run_until_complete(f)", 3),
    ("import hashlib\nhashlib.sha256(b'').hexdigest()[:8]", "e3b0c442"),
    ("import statistics\nstatistics.mean([1, 2, 3.5])", 2.1666666666666665),
    ("import csv, io\nlist(csv.reader(io.StringIO('a,\"b,c\"')))",
     [["a", "b,c"]]),
    ("import pathlib\nstr(pathlib.PurePath('/a') / 'b')", "/a/b"),
    ("import xml.etree.ElementTree as e\ne.fromstring('<a b=\"1\"/>').get('b')",
     "1"),
    ("import email, html, difflib, ast, inspect, logging, urllib.parse\n"
     "urllib.parse.quote('a b')", "a%20b"),
]
for _code, _value in LIBRARY:
    @case(f"library: {_code!r:.50}")
    def _(code=_code, value=_value):
        expect(python(code), "ok", value=value)


@case("a loop that nothing can wake says so")
def _():
    expect(python("import asyncio\nasyncio.run(asyncio.Event().wait())"),
           "error", says="nothing is left")


@case("a lock that nothing can release says so, and a wait with an end sleeps")
def _():
    for code in ("l = threading.Lock()\nl.acquire()\nl.acquire()",
                 "threading.Event().wait()", "threading.Barrier(2).wait()",
                 "queue.Queue().get()", "concurrent.futures.Future().result()"):
        expect(python("import threading, queue, concurrent.futures\n" + code),
               "error", says="no threads")
    expect(python("import threading\nl = threading.RLock()\n"
                  "with l:\n  with l: x = 3\nx"), "ok", value=3)
    r = python("import threading, queue\nx = [threading.Event().wait(0.4)]\n"
               "try: queue.Queue().get(timeout=0.4)\n"
               "except queue.Empty: x.append('empty')\nx")
    expect(r, "ok", value=[False, "empty"])
    u = r.json["usage"]
    need(u["wall_us"] > 750_000 and u["cpu_us"] < 250_000, r.about())
    expect_limit(python("import threading\n"
                        "threading.Event().wait(threading.TIMEOUT_MAX)",
                        "--limit", "wall=300ms"), "wall_limit", limit_s=0.3)


@case("modules of a granted directory, once it is on sys.path")
def _():
    write("lib/mine.py", "import json\nfrom pack.deep import x\n"
          "def f(): return json.dumps(x)\ndef g(): 1 / 0")
    write("lib/pack/__init__.py", "")
    write("lib/pack/deep.py", "x = [1]")
    grant = ("--read", f"{scratch() / 'lib'}/=/lib/")
    expect(python("import sys\nsys.path.append('/lib')\nimport mine\n"
                  "mine.f()", *grant), "ok", value="[1]")
    expect(python("import mine", *grant), "error", says="No module named")
    expect(python("import sys\nsys.path.append('/lib')\nimport mine"),
           "error", says="No module named")
    r = python("import sys\nsys.path.append('/lib')\nimport mine\nmine.g()",
               *grant)
    need("/lib/mine.py" in r.json["error"]["stack"]
         and r.json["error"]["line"] == 4, r.about())


@case("local time is that of TZ, if the policy has it")
def _():
    code = ("import time, datetime as d\n"
            "t = time.localtime(1720000000)\n"
            "[time.tzname, time.timezone, t.tm_isdst, t.tm_gmtoff, "
            "time.strftime('%H %Z %z', t), time.mktime(t), "
            "time.mktime((2024, 12, 1, 0, 0, 0, 0, 0, -1)), "
            "d.datetime.fromtimestamp(0).hour, "
            "d.datetime(2024, 7, 1).astimezone().isoformat()]")
    for zone, value in (
            ("America/Sao_Paulo", [
                ["-03", "-03"], 10800, 0, -10800, "06 -03 -0300", 1720000000,
                1733022000, 21, "2024-07-01T00:00:00-03:00"]),
            (":Europe/Berlin", [
                ["CET", "CEST"], -3600, 1, 7200, "11 CEST +0200", 1720000000,
                1733007600, 1, "2024-07-01T00:00:00+02:00"]),
            ("EST5EDT,M3.2.0,M11.1.0", [
                ["EST", "EDT"], 18000, 1, -14400, "05 EDT -0400", 1720000000,
                1733029200, 19, "2024-07-01T00:00:00-04:00"]),
            ("No/Where", [
                ["UTC", "UTC"], 0, 0, 0, "09 UTC +0000", 1720000000,
                1733011200, 0, "2024-07-01T00:00:00+00:00"])):
        r = python(code, "--env", f"TZ={zone}")
        expect(r, "ok", value=value)
        need(r.json["pure"], "to have a zone is to look at no clock")
    expect(python(code), "ok", value=value)
    # An hour that there is twice, and one that there is not.
    expect(python("import time\n[time.mktime((2024, 10, 27, 2, 30, 0, 0, 0, s))"
                  " for s in (-1, 0, 1)] + "
                  "[time.mktime((2024, 3, 31, 2, 30, 0, 0, 0, -1))]",
                  "--env", "TZ=Europe/Berlin"), "ok",
           value=[1729989000, 1729992600, 1729989000, 1711848600])
    expect(python("import os, time\nos.environ['TZ'] = 'Asia/Tokyo'\n"
                  "time.tzset()\na = time.localtime(0).tm_hour\n"
                  "del os.environ['TZ']\ntime.tzset()\n"
                  "[a, time.localtime(0).tm_hour]"), "ok", value=[9, 0])


@case("__file__ is the source's name, and a place for temporary files is used")
def _():
    expect(python("from pathlib import Path\n[__file__, Path(__file__).name]"),
           "ok", value=["agent.py", "agent.py"])
    made = scratch() / "out-temp"
    made.mkdir()
    r = python("import tempfile\nwith tempfile.NamedTemporaryFile() as f:\n"
               "  f.write(b'a')\n  n = f.name\nn[:5]", "--write",
               f"{made}/=/tmp/:1MiB")
    expect(r, "ok", value="/tmp/")
    need("denials" not in r.json, r.about())
    r = python("import tempfile\ntempfile.mkdtemp()")
    need(len(r.json["denials"]) == 1, r.about())


@case("sqlite3 where nothing can be locked")
def _():
    import sqlite3
    made = scratch() / "read-sql"
    made.mkdir()
    c = sqlite3.connect(made / "x.db")
    c.execute("create table t(a)")
    c.execute("insert into t values(7)")
    c.commit()
    c.close()
    code = ("import sqlite3\nc = sqlite3.connect('/d/x.db')\n"
            "c.execute('select sum(a) from t').fetchone()[0]")
    for grant in (f"{made}/=/d/", f"{made}/x.db=/d/x.db"):
        r = python(code, "--read", grant)
        expect(r, "ok", value=7, within=3)
        need([(d["op"], d["count"]) for d in r.json["denials"]]
             == [("open", 1)], r.about())
    grant = ("--read", f"{made}/=/d/")
    expect(python(code + "\nc.execute('insert into t values(1)')", *grant),
           "error", says="readonly database", within=3)
    # What a crash left is not read over.
    (made / "x.db-journal").write_bytes(
        bytes.fromhex("d9d505f920a163d7") + b"\0\0\0\1" + bytes(500))
    expect(python(code, *grant), "error", says="OperationalError", within=3)
    expect(python(code, "--read", f"{made}/x.db=/d/x.db"), "ok", value=7)
    # A single file to write has no room for locks and journals.
    made = scratch() / "one.db"
    expect(python("import sqlite3\nc = sqlite3.connect('/x.db')\n"
                  "c.execute('pragma journal_mode=memory')\n"
                  "c.execute('create table t(a)')\n"
                  "c.execute('insert into t values(8)')\nc.commit()\n"
                  "c.execute('select sum(a) from t').fetchone()[0]",
                  "--write", f"{made}=/x.db:1MiB"), "ok", value=8, within=3)
    need(sqlite3.connect(made).execute("select a from t").fetchone() == (8,),
         "what was published")
    # Where there is room the lock holds.
    made = scratch() / "locks"
    made.mkdir()
    expect(python("import sqlite3\nc = sqlite3.connect('/o/x.db')\n"
                  "c.execute('create table t(a)')\nc.commit()\n"
                  "d = sqlite3.connect('/o/x.db', timeout=0.1)\n"
                  "c.execute('begin exclusive')\n"
                  "try: d.execute('select 1 from t')\n"
                  "except sqlite3.OperationalError as e: r = str(e)\nr",
                  "--write", f"{made}/=/o/:4MiB"), "ok",
           value="database is locked")


@case("sqlite3 on a granted file")
def _():
    out = scratch() / "out-sql"
    out.mkdir()
    expect(python("import sqlite3\nc = sqlite3.connect('/o/a.db')\n"
                  "c.execute('create table t(a)')\n"
                  "c.execute('insert into t values(7)')\nc.commit()\n"
                  "c.close()", "--write", f"{out}/=/o/:4MiB"), "ok")
    expect(python("import sqlite3\nc = sqlite3.connect("
                  "'file:/d/a.db?mode=ro&immutable=1', uri=True)\n"
                  "c.execute('select a from t').fetchone()[0]", "--read",
                  f"{out}/a.db=/d/a.db"), "ok", value=7)


if __name__ == "__main__":
    main()
