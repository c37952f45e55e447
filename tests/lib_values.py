"""What Python's types travel as: the same in the image, in the data image and in
the native tier, as a value, as input and to and from a tool."""
from lib_redoma import *


def tag(kind, *value):
    return {"$redoma": kind, "value": value[0]} if value \
        else {"$redoma": kind}


SETUP = """import datetime as d, decimal, math, collections, enum
from decimal import Decimal as D
class Colour(enum.IntEnum):
    RED = 3
class Text(str): pass
class Sly(str):
    def isascii(self): return True
    def __eq__(self, other): return False
    def __hash__(self): return 1
P = collections.namedtuple('P', 'x y')
east = d.timezone(d.timedelta(hours=2))
"""
# An expression, what it travels as, and what that is on its way back if it is
# not the same again.
TRAVELS = [
    ("None", None), ("True", True), ("7", 7), ("1.5", 1.5), ("'é😀'", "é😀"),
    ("[1, ['a']]", [1, ["a"]]), ("{'a': {'b': 1}}", {"a": {"b": 1}}),
    ("2.0", 2, "2"), ("Colour.RED", 3, "3"), ("Text('a')", "a", "'a'"),
    ("2 ** 53 - 1", 2 ** 53 - 1),
    ("2 ** 53", tag("bigint", str(2 ** 53))),
    ("-10 ** 40", tag("bigint", str(-10 ** 40))),
    ("float('nan')", tag("nan")), ("math.inf", tag("inf")),
    ("-math.inf", tag("-inf")), ("-0.0", tag("-0")),
    ("complex(1.5, -2)", tag("complex", [1.5, -2])),
    ("complex('nan+infj')", tag("complex", [tag("nan"), tag("inf")])),
    ("D('1.10')", tag("decimal", "1.10")),
    ("D('-1E+50')", tag("decimal", "-1E+50")),
    ("D('0.' + '123456789' * 9)", tag("decimal", "0." + "123456789" * 9)),
    ("D('NaN')", tag("decimal", "NaN")),
    ("D('-Infinity')", tag("decimal", "-Infinity")),
    ("d.date(2024, 2, 29)", tag("date", "2024-02-29")),
    ("d.datetime(2024, 1, 2, 3, 4, 5)", tag("date", "2024-01-02T03:04:05")),
    ("d.datetime(2024, 1, 2, 3, 4, 5, 60)",
     tag("date", "2024-01-02T03:04:05.000060")),
    ("d.datetime(1970, 1, 1, tzinfo=d.timezone.utc)",
     tag("date", "1970-01-01T00:00:00.000Z")),
    ("d.datetime(2024, 1, 2, 3, 4, 5, 678901, d.timezone.utc)",
     tag("date", "2024-01-02T03:04:05.678901Z")),
    ("d.datetime(2024, 1, 2, 1, tzinfo=east)",
     tag("date", "2024-01-01T23:00:00.000Z"),
     "d.datetime(2024, 1, 1, 23, tzinfo=d.timezone.utc)"),
    ("d.datetime(1, 1, 1, tzinfo=east)",
     tag("date", "0001-01-01T00:00:00+02:00")),
    ("d.time(3, 4, 5, 600)", tag("time", "03:04:05.000600")),
    ("d.time(3, 4, tzinfo=east)", tag("time", "03:04:00+02:00")),
    ("d.timedelta(days=2, microseconds=1500)",
     tag("duration", "PT172800.0015S")),
    ("d.timedelta(microseconds=-1)", tag("duration", "-PT0.000001S")),
    ("d.timedelta.max", tag("duration", "PT86399999999999.999999S")),
    ("b'\\x00\\xff\\x10'", tag("bytes", "AP8Q")), ("b''", tag("bytes", "")),
    ("bytearray(b'ab')", tag("bytes", "YWI="), "b'ab'"),
    ("memoryview(b'abcd')[::2]", tag("bytes", "YWM="), "b'ac'"),
    ("(1, 'a')", [1, "a"], "[1, 'a']"), ("P(1, 2)", [1, 2], "[1, 2]"),
    ("{1}", tag("set", [1])), ("set()", tag("set", [])),
    ("frozenset('a')", tag("set", ["a"]), "{'a'}"),
    ("{(1, (2, 3))}", tag("set", [[1, [2, 3]]])),
    ("{frozenset([1])}", tag("set", [tag("set", [1])])),
    ("{D('1'): b'a'}", tag("map", [[tag("decimal", "1"),
                                    tag("bytes", "YQ==")]])),
    ("{1: 'a', 'b': [2]}", tag("map", [[1, "a"], ["b", [2]]])),
    ("{(1, 2): {None: (3,)}}",
     tag("map", [[[1, 2], tag("map", [[None, [3]]])]]),
     "{(1, 2): {None: [3]}}"),
    ("{'$redoma': 'decimal', 'value': '1'}",
     tag("object", {"$redoma": "decimal", "value": "1"})),
    ("{'a': {'$redoma': D(1)}}",
     {"a": tag("object", {"$redoma": tag("decimal", "1")})}),
    ("{Sly('$redoma'): 'decimal', Sly('value'): 'x'}",
     tag("object", {"$redoma": "decimal", "value": "x"}),
     "{'$redoma': 'decimal', 'value': 'x'}"),
    ("[Sly('a\\ud800')]", ["a\ufffd"], "['a\ufffd']"),
    ("collections.OrderedDict(b=1, a=2)", {"b": 1, "a": 2},
     "{'b': 1, 'a': 2}"),
]
# What comes from elsewhere alone.
COMES = [
    ('{"$redoma": "undefined"}', "None"),
    ('{"$redoma": "date", "value": ""}', "None"),
    ('{"$redoma": "tuple", "value": [1, {"$redoma": "tuple", "value": []}]}',
     "(1, ())"),
    ('{"\\u0024redoma": "\\u0062ytes", "value": "YQ=="}', "b'a'"),
    ('{"$redoma": 5}', "{'$redoma': 5}"),
    ('{"$redoma": "object", "value": {"$redoma": "x", "a": [1]}}',
     "{'$redoma': 'x', 'a': [1]}"),
]
UNREADABLE = [tag("decimal", "1,5"), tag("decimal", 1), tag("bigint", "x"),
              tag("bytes", "a?=="), tag("date", "soon"), tag("duration", "P1D"),
              tag("set", [{}]), tag("map", [[[{}], 1]]), tag("map", 3),
              tag("map", [1]), tag("complex", [1]), tag("function", "f"),
              tag("set"), {"a": [tag("time", "")]}]
# Texts of tags as they are written, and as no language here takes them: the same
# in Python and JavaScript.
SPELT = {
    "bigint": (["0", "-12", "9" * 40],
               [" 1_000 ", "1_000", "01", "-0", "+1", "0x10", "1\n", "\u0661",
                ""]),
    "decimal": (["1.10", "-1E+50", "0E-10", "1e5", "NaN", "sNaN12",
                 "-Infinity"],
                [" 1", "1_0", ".5", "1.", "+1", "1\n", "inf", "infinity", "nan",
                 "\u0661", ""]),
    "bytes": (["", "YQ==", "YWI=", "YWJj", "+/+/"],
              ["!!!!", "YQ", "YR==", "YQ==\n", "Y Q=", "-_-_", "====", "YQ==YQ==",
               "YWJ="]),
    "date": (["", "2024-02-29", "2024-01-02T03:04:05", "9999-12-31T23:59:59Z",
              "2024-01-02T03:04:05.678Z", "2024-01-02T03:04:05.678901-09:30"],
             ["2023-02-29", "20240101", "2024-1-1", "2024-W01-1", "2024-13-01",
              "2024-01-01 00:00:00", "2024-01-01T00:00", "2024-01-01T24:00:00",
              "2024-01-01T00:00:60", "2024-01-01T00:00:00.1",
              "2024-01-01T00:00:00z", "2024-01-01T00:00:00+0200",
              "2024-01-01T", "Jan 1 2024"]),
    "time": (["03:04:05", "23:59:59.000001", "03:04:00+02:00"],
             ["03:04", "T03:04:05", "030405", "24:00:00", "03:04:05Z",
              "03:04:05.1", ""]),
    "duration": (["PT0S", "-PT0.5S", "PT93784.000001S"],
                 ["PT1H", "PT1M", "P1DT1S", "PT.5S", "PT0.1234567S", "PTS", "1",
                  ""]),
}
# What is no tag of its kind, whatever its texts are.
MISSHAPEN = [tag("map", ["ab"]), tag("map", [[1]]), tag("map", [[1, 2, 3]]),
             tag("map", [tag("tuple", [1, 2])]), tag("complex", [True, 1]),
             tag("complex", ["1", 1]), tag("complex", [1, 2, 3]),
             tag("complex", [tag("complex", [1, 2]), 1]),
             tag("complex", [tag("bigint", "1"), 1]), tag("nan", 0),
             tag("undefined", None), {**tag("nan"), "x": 1},
             {**tag("bytes", ""), "x": 1}, tag("object"), tag("object", []),
             tag("date"), tag("__proto__"), tag("toString", "1")]
# Classes of a program's own, which say what they like of themselves.
FORGED = """import datetime as d, decimal
lie = lambda *a, **k: 'a lie'
class Dec(decimal.Decimal): __str__ = lie
class Day(d.date): isoformat = lie
class When(d.datetime): isoformat = astimezone = utcoffset = lie
class Clock(d.time): isoformat = lie
class Span(d.timedelta): days = seconds = microseconds = 'x'
class Int(int):
    def __abs__(self): return 0
    def __int__(self): return 7
class Float(float):
    def is_integer(self): return True
    def __float__(self): return 7.0
class Complex(complex): real = imag = 'x'
"""
FORGERIES = [
    ("Dec('1.10')", tag("decimal", "1.10")),
    ("Day(2024, 2, 29)", tag("date", "2024-02-29")),
    ("When(2024, 1, 2, 3, 4, 5)", tag("date", "2024-01-02T03:04:05")),
    ("When(2024, 1, 2, 3, tzinfo=d.timezone.utc)",
     tag("date", "2024-01-02T03:00:00.000Z")),
    ("Clock(3, 4)", tag("time", "03:04:00")),
    ("Span(seconds=1.5)", tag("duration", "PT1.5S")),
    ("Int(2 ** 60)", tag("bigint", str(2 ** 60))), ("Float(1.5)", 1.5),
    ("Complex(1, 2)", tag("complex", [1, 2])),
]
# What is refused, and what the sentence says to take.
REFUSED = [
    ("object()", ""), ("print", ""), ("int", ""), ("len.__call__", ""),
    ("range(3)", "list()"), ("{1: 2}.items()", "list()"),
    ("(i for i in [1])", "list()"), ("collections.deque()", "list()"),
    ("enum.Enum('C', 'A').A", ".value"), ("__import__('array').array('i')",
                                          ".tolist()"),
    ("__import__('dataclasses').make_dataclass('A', ['x'])(1)", "asdict()"),
    ("type('Frame', (), {'to_dict': 1, 'columns': 1})()",
     ".to_dict('records')"),
    ("type('Frame', (), {'to_dicts': 1, 'columns': 1})()", ".to_dicts()"),
]

# Of packages: scalars are as Python's, tables say what to take.
PACKAGES = "import numpy as np, pandas as pd\n"
SCALARS = [
    ("np.int64(3)", 3), ("np.float32(0.5)", 0.5), ("np.bool_(True)", True),
    ("np.float64('nan')", tag("nan")), ("np.str_('a')", "a"),
    ("np.array(5)", 5), ("np.uint64(2 ** 64 - 1)",
                         tag("bigint", str(2 ** 64 - 1))),
    ("np.complex64(2j)", tag("complex", [0, 2])),
    ("np.bytes_(b'ab')", tag("bytes", "YWI=")),
    ("np.datetime64('2024-01-02')", tag("date", "2024-01-02")),
    ("np.datetime64('2024-01-02T03:04:05.123456789')",
     tag("date", "2024-01-02T03:04:05.123456")),
    ("np.datetime64('NaT')", None),
    ("np.timedelta64(1500, 'ms')", tag("duration", "PT1.5S")),
    ("np.timedelta64(1500000000, 'ns')", tag("duration", "PT1.5S")),
    ("pd.Timestamp('2020-01-02')", tag("date", "2020-01-02T00:00:00")),
    ("pd.Timestamp('2020-01-02T03:04:05.000000007')",
     tag("date", "2020-01-02T03:04:05")),
    ("pd.Timestamp('2020-01-02', tz='Europe/Paris')",
     tag("date", "2020-01-01T23:00:00.000Z")),
    ("pd.NaT", tag("date", "")),
    ("pd.Timedelta('1 days 2 ms')", tag("duration", "PT86400.002S")),
    ("pd.Series({3: 1.5}).to_dict()", tag("map", [[3, 1.5]])),
]
TABLES = [
    ("pd.DataFrame({'a': [1]})", ".to_dict('records')"),
    ("pd.Series([1])", ".tolist()"), ("np.arange(3)", ".tolist()"),
    ("pd.Index([1])", ".tolist()"), ("np.ones((2, 2))", ".tolist()"),
]


def check_packages(run):
    codes, wires = zip(*SCALARS)
    expect(run(PACKAGES + f"[{', '.join(codes)}]"), "ok", value=[*wires])
    for make, says in TABLES:
        r = run(f"{PACKAGES}x = {make}\n{{'t': [0, x]}}")
        expect(r, "error", says=says)
        need("value.t[1] is a " in r.text, r.about())
        # And that works.
        expect(run(f"{PACKAGES}x = {make}\n{{'t': [0, x{says}]}}"), "ok")


def check_travels(run, code, wire, back=None):
    """There, and back again."""
    expect(run(SETUP + code), "ok", value=... if wire is None else wire)
    text = json_module.dumps(wire)
    r = run(f"{SETUP}[repr(input_data), repr({back or code}), input_data]",
            "--input", text)
    expect(r, "ok")
    is_, was, again = r.json["value"]
    need(is_ == was, f"{code} came back as {is_}, not as {was}")
    need(again == wire, f"{code} travelled on as {again}")


def check_all(run):
    """The same in one run, for tiers that take long to start one, and through
    a tool that gives back what it is given."""
    policy = write("echo.yaml", "redoma: 1\ntools: [echo]\n"
                   "limits: {wall: 30s}\n")
    echo = ("--policy", policy, "--tool", "echo=cat")
    items = ",\n".join(code for code, *_ in TRAVELS)
    wires = [wire for _, wire, *_ in TRAVELS]
    r = run(f"{SETUP}[\n{items}]")
    expect(r, "ok", value=wires)
    backs = ",\n".join(row[2] if len(row) > 2 else row[0] for row in TRAVELS)
    judge = (f"was = [\n{backs}]\n"
             "[(repr(a), repr(b)) for a, b in zip(x, was, strict=True) "
             "if repr(a) != repr(b)]")
    expect(run(f"{SETUP}x = input_data\n{judge}", "--input",
               json_module.dumps(wires)), "ok", value=[])
    expect(run(f"{SETUP}x = tools.echo(x=[\n{items}])['x']\n{judge}", *echo),
           "ok", value=[])
    # What the tool was given is what a value is.
    expect(run(f"{SETUP}x = tools.echo(x=[\n{items}])\n"
               "x['x']", *echo), "ok", value=wires)


def check_refusals(run):
    for code, says in REFUSED:
        r = run(f"{SETUP}{{'a': [0, {code}]}}")
        expect(r, "error", says=says)
        need("value.a[1] is a " in r.text, r.about())
    for wire in UNREADABLE:
        r = run("input_data", "--input", json_module.dumps(wire))
        expect(r, "error", says="cannot be read")
        need(r.json["error"]["name"] == "ValueError", r.about())


def check_spellings(run, step=1):
    """Of those that are refused each step-th, in a run of its own."""
    good = [tag(k, t) for k, (texts, _) in SPELT.items() for t in texts]
    bad = [tag(k, t) for k, (_, texts) in SPELT.items() for t in texts]
    expect(run("1", "--input", json_module.dumps(good)), "ok", value=1)
    for wire in (bad + MISSHAPEN)[::step]:
        r = run("1", "--input", json_module.dumps([wire]))
        expect(r, "error", says="cannot be read")
        need(r.json["error"]["name"] in ("ValueError", "TypeError"), r.about())


def check_forgeries(run):
    codes = ", ".join(code for code, _ in FORGERIES)
    expect(run(f"{FORGED}[{codes}]"), "ok", value=[w for _, w in FORGERIES])


def check_comes(run):
    for text, back in COMES:
        expect(run(f"repr(input_data) == repr({back})", "--input", text),
               "ok", value=True)
