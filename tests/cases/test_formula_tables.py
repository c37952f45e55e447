#!/usr/bin/env python3
"""redoma formula: tables that are not what they seem, and what stderr says."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *


def formula(expr, name, data, *args, **kw):
    return command("formula", expr, write(name, data), *args, **kw)


def said(r):
    return r.err.decode()


@case("a row with too many fields is told, and where it is")
def _():
    r = formula("a", "many.csv", "a,b\n1,2\n1,2,3\n4,5,6\n")
    need(r.out.endswith(b'1,"2,3",#VALUE!\n4,"5,6",#VALUE!\n') and
         "2 rows have more fields than the header has names, line 3" in said(r),
         r.about())
    r = formula("a", "even.csv", "a,b\n1,2,\n")
    need("more fields" not in said(r), r.about())


@case("a row that is too long is not told for a quote")
def _():
    r = formula("n", "long.csv", "n,t\n1," + "x" * (17 << 20) + "\n")
    need(r.code == 2 and "line 2 has more than 16 MiB" in said(r) and
         "quote" not in said(r), r.about())
    r = formula("n", "long.jsonl", '{"n":1,"t":"' + "x" * (17 << 20) + '"}\n')
    need(r.code == 2 and "more than 16 MiB" in said(r) and
         "quote" not in said(r), r.about())


@case("a chain that is too long is told for what it is; no bracket is blamed")
def _():
    r = formula("+".join("n" * 300), "n.csv", "n\n1\n")
    need(r.code == 5 and "a chain such as a + b + c" in said(r), r.about())
    r = formula("(" * 250 + "n" + ")" * 250, "n.csv", "n\n1\n", "--lang", "js")
    need(r.code == 5 and "200 levels" in said(r) and
         "opens this bracket" not in said(r), r.about())


def late(n, name="extra"):
    return "".join('{"n":%d}\n' % i for i in range(n)) + \
        '{"n":1,"%s":7}\n{"n":2,"%s":8}\n' % (name, name)


@case("a member that comes after the first 1,000 lines is told")
def _():
    out = scratch() / "late.csv"
    r = formula("n", "late.jsonl", late(1000), "-o", out)
    need(r.code == 0 and '"extra" is no column, and not written: line 1001 is '
         "the first" in said(r) and "extra" not in out.read_text(), r.about())
    r = formula("n", "late.jsonl", late(1000))
    need(r.code == 0 and not said(r) and b'"extra":8,' in r.out, r.about())
    for expr in ("extra + 1", 'col["extra"]'):
        r = formula(expr, "late.jsonl", late(1000))
        need(r.code == 1 and '"extra" is no column: line 1001' in said(r),
             r.about())
    r = formula("extra", "late.jsonl", late(999), "-o", out)
    need(r.code == 0 and not said(r), r.about())


@case("which lines make the columns does not hang on the pieces of a pipe")
def _():
    data = late(900).encode()
    program = write("slow.sh", "#!/bin/sh\nhead -c 5000 \"$1\"\nsleep 0.3\n"
                    "tail -c +5001 \"$1\"\n")
    program.chmod(0o755)
    table = write("slow.jsonl", data)
    script = write("pipe.sh", f"#!/bin/sh\n{program} {table} | exec {REDOMA} "
                   '"$@"\n')
    script.chmod(0o755)
    r = command("formula", "extra", "-", "--format", "jsonl", "--to", "csv",
                program=str(script))
    need(r.code == 0 and not said(r) and b"\n1,7,7\n2,8,8\n" in r.out, r.about())


@case("bytes that are not UTF-8 are told, and the remedy")
def _():
    table = "n,t\n1,a\n2,Gr\xfc\xdfe\n".encode("latin-1")
    r = formula("t + '!'", "latin.csv", table)
    need(r.code == 0 and "line 3 is not UTF-8" in said(r) and
         "iconv -f latin1 -t utf-8" in said(r), r.about())
    r = formula("n", "utf8.csv", "n,t\n1,a\n2,Gr\xfc\xdfe, \u65e5\U0001f600\n")
    need(r.code == 0 and "UTF-8" not in said(r), r.about())
    r = formula("n", "head.csv", "n,\xfc\n1,a\n".encode("latin-1"))
    need("line 1 is not UTF-8" in said(r), r.about())
    r = formula("t", "latin.jsonl", '{"t":"\xfc"}\n'.encode("latin-1"))
    need(r.code == 2 and "line 1 is not UTF-8" in said(r) and
         "iconv" in said(r), r.about())


@case("what is no text is told by name")
def _():
    table = "n,t\n1,a\n"
    for data, says in ((table.encode("utf-16"), "iconv -f utf-16 -t utf-8"),
                       (table.encode("utf-16-le"), "iconv -f utf-16le"),
                       (table.encode("utf-16-be"), "iconv -f utf-16be"),
                       (b"ARROW1\0\0" + bytes(40), "--format arrow"),
                       (b"\xff\xff\xff\xff" + bytes(40), "--format arrows"),
                       (b"PK\x03\x04" + bytes(40), ".xlsx"),
                       (b"PAR1" + bytes(40), "Parquet"),
                       (b"\x1f\x8b\x08\0" + bytes(40), "gunzip")):
        for form in ("csv", "jsonl"):
            r = formula("n", "not.txt", data, "--format", form)
            need(r.code == 2 and says in said(r), f"{data[:8]}: {r.about()}")
    r = formula("n", "bom.csv", b"\xef\xbb\xbf" + table.encode())
    need(r.code == 0 and r.out == b"\xef\xbb\xbfn,t,result\n1,a,1\n" or
         r.out == b"n,t,result\n1,a,1\n", r.about())


@case("an integer that nothing holds is a text in JSON Lines as elsewhere")
def _():
    row = '{"n":12345678901234567890}\n{"n":-0}\n{"n":9223372036854775807}\n'
    for lang, text in (("py", "isinstance(n, str)"),
                       ("js", "typeof n === 'string'")):
        r = formula(text, "big.jsonl", row, "--lang", lang, "--to", "csv")
        got = r.out.decode().split("\n")[1:4]
        need([x.rpartition(",")[2] for x in got] == ["true", "false", "false"]
             and got[0].startswith("12345678901234567890,"), r.about())
    r = formula("n", "big.jsonl", row, "--to", "csv")
    need(r.out.startswith(b"n,result\n12345678901234567890,"
                          b"12345678901234567890\n"), r.about())
    r = formula("isinstance(n, str)", "big.jsonl", row, "--type", "n=number")
    need(b"true" not in r.out and r.out.count(b"false") == 3, r.about())


@case("an operator of bits is told, once for a formula that has it")
def _():
    for lang in ("py", "js"):
        r = command("formula", "--formula", "a=p ^ 2", "--formula", "b=p ** 2",
                    "--formula", "c=p & 1", write("p.csv", "p\n3\n4\n"),
                    "--lang", lang)
        need(r.code == 0 and r.out == b"p,a,b,c\n3,1,9,1\n4,6,16,0\n" and
             said(r).count("POWER") == 1 and said(r).count("CONCAT") == 1 and
             'formula "a"' in said(r) and 'formula "c"' in said(r) and
             'formula "b"' not in said(r), r.about())
        r = formula("p ^ 2", "p.csv", "p\n3\n", "--lang", lang, "-q")
        need(not said(r), r.about())


@case("what is wrong is told in the words of who asked")
def _():
    table = write("n.csv", "n,t\n1,2024-01-01T10:00:00Z\n2,x\n"
                  "3,2024-01-01T10:00:00Z\n")
    for args, says in (
            (("n", table, "more.csv"), '"more.csv" is one more'),
            (("n", table, "--tool", "x=cat"), 'option "tool"'),
            (("n", table, "--read", "/etc/"), 'option "read"'),
            (("n", table, "--policy",
              write("tool.yaml", "redoma: 1\ntools: [{name: x}]\n")),
             "take `tools` out"),
            (("t", table), "--type 't=time'"),
            (("n +", table), "line 1, column 4"),
            (("(n\n+", table), "column 1"),
            (("{1: n}", table), "is a dictionary"),
            (("b'x'", table), "is bytes"),
            (("n + 1j", table), "a complex number"),
            (("SUM(lambda: 1)", table), "the type function is not a number"),
            (("--lang", "js", "UPPER({})", table),
             "the type object is not a text")):
        r = command("formula", *args)
        need(says in said(r) and "column 0" not in said(r),
             f"{says}: {r.about()}")
    r = command("help", "formula")
    text = r.out.decode()
    need("--limit" in text and "--policy" in text and "--read" not in text and
         "--tool" not in text and "--jail" not in text, r.about())
    r = command("help", "run")
    need(b"--read" in r.out and b"--limit" in r.out, r.about())


if __name__ == "__main__":
    main()
