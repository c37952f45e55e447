#!/usr/bin/env python3
"""Fail on C that is too large or uses what STYLE.md forbids.

Usage: size.py
Rules, with the name that an exception in tests/size.allow uses:
    file      at most 700 lines            lines     at most 80 columns
    function  at most 80 lines             branches  at most 15 a function (a
              switch is one: it is a table)
    params    at most 6                    nesting   at most 3
    if        no #if in .c files           goto      never
    variable  no mutable file-scope variable in a library floor
    include   "floor/file.h" between quotes; own header first
    typedef   none of ours
    reserved  some system headers belong to some floors
Exceptions are rows "PATH RULE[:FUNCTION] reason" and must be in use.
"""
import pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = {"src/app", "src/cli", "src/worker", "src/compiler"} # not libraries
RESERVED = [ # header, folders that may include it
    (r"<wasmtime|<wasm\.h|redoma_engine\.h", {"src/wasi", "src/engine", "tools"}),
    (r"<linux/(seccomp|landlock|filter|capability)\.h>|<seccomp\.h>", {"src/jail"}),
]
CONTROL = re.compile(r"(\t+)(?:\} )?(?:else )?(if|for|while|switch|do)\b")
BRANCH = re.compile(r"\b(?:if|for|while|switch)\b|&&|\|\||\?")


def strip(text):
    """The text without comments and the contents of literals, same lines."""
    def blank(m):
        s = m[0]
        if s[0] in "\"'":
            return s[0] * 2
        return "".join(c if c == "\n" else " " for c in s)
    return re.sub(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
                  blank, text, flags=re.S)


def functions(lines):
    """(name, parameters, first line, body) of every function definition."""
    start = None
    for n, line in enumerate(lines):
        if line.rstrip() == "{" and n:
            start = n
        elif line.rstrip() == "}" and start is not None:
            head, at = "", start - 1
            while at >= 0 and lines[at].strip() and lines[at][0] not in "}#" \
                    and not lines[at].rstrip().endswith(";"):
                head = lines[at].strip() + " " + head
                at -= 1
            if m := re.search(r"(\w+)\(((?:[^()]|\([^()]*(?:\([^()]*\))?[^()]*\))*)\)\s*$", head):
                yield m[1], count_params(m[2]), at + 2, lines[start + 1:n]
            start = None


def count_params(text):
    depth, n = 0, 1
    for c in text:
        depth += (c == "(") - (c == ")")
        n += c == "," and depth == 0
    return 0 if text.strip() in ("", "void") else n


def check_functions(lines, report):
    for name, params, at, body in functions(lines):
        code = "\n".join(body)
        levels = [len(m[1]) for m in map(CONTROL.match, body) if m]
        for rule, value, limit in (
                ("function", len(body), 80), ("params", params, 6),
                ("branches", 1 + len(BRANCH.findall(code)), 15),
                ("nesting", max(levels, default=0), 3)):
            if value > limit:
                report(at, f"{rule}:{name}", f"{value}, at most {limit}")
        if re.search(r"\bgoto\b", code):
            report(at, f"goto:{name}", "goto")


def check_includes(path, raw, report):
    rel = path.relative_to(ROOT)
    own = f'"{"/".join(rel.with_suffix(".h").parts[1:])}"'
    seen = []
    for n, line in enumerate(raw, 1):
        m = re.match(r'\s*#\s*include\s*([<"][^>"]+[>"])', line)
        if not m:
            continue
        seen.append(m[1])
        if m[1][0] == '"' and "/" not in m[1] and rel.parts[0] == "src":
            report(n, "include", f"{m[1]}: write \"floor/file.h\"")
        for pattern, places in RESERVED:
            if re.search(pattern, m[1]) and rel.parts[0] not in ("guest", "engine-rs") \
                    and "/".join(rel.parts[:2]) not in places \
                    and rel.parts[0] not in places:
                report(n, "reserved", f"{m[1]} belongs to {', '.join(sorted(places))}")
    if rel.suffix == ".c" and own in seen and seen[0] != own:
        report(1, "include", f"{own} must come first")


def check_variables(path, lines, report):
    folder = "/".join(path.relative_to(ROOT).parts[:2])
    if path.suffix != ".c" or not folder.startswith("src/") or folder in PROGRAMS:
        return
    for n, line in enumerate(lines, 1):
        m = re.match(r"(?:static |extern )?(?:_Thread_local |volatile |struct |enum "
                     r"|unsigned )*\w+ [*\s]*(\w+)(?:\[[^\]]*\])*\s*(=|;)", line)
        if m and not re.match(r"\s|typedef|return|#|struct \w+;|enum \w+;", line) \
                and "const" not in line:
            report(n, f"variable:{m[1]}", "mutable variable of the file")


def check_file(path, report):
    text = path.read_text()
    raw, lines = text.splitlines(), strip(text).splitlines()
    if len(raw) > 700:
        report(1, "file", f"{len(raw)} lines, at most 700")
    for n, line in enumerate(raw, 1):
        width = len(line.expandtabs(8))
        if width > 80:
            report(n, "lines", f"{width} columns, at most 80")
        if path.suffix == ".c" and re.match(r"\s*#\s*(if|ifdef|ifndef)\b", line):
            report(n, "if", "conditional compilation")
        if re.match(r"typedef\b", line):
            report(n, "typedef", "typedef")
    check_functions(lines, report)
    check_includes(path, raw, report)
    check_variables(path, lines, report)


def read_allowed():
    f = ROOT / "tests/size.allow"
    rows = f.read_text().splitlines() if f.exists() else []
    rows = [r.split(None, 2) for r in rows if r.strip() and r[0] != "#"]
    for r in rows:
        if len(r) < 3:
            sys.exit(f"tests/size.allow: {r} gives no reason")
    return {(r[0], r[1]) for r in rows}


def main():
    allowed, used, errors = read_allowed(), set(), 0
    for top in ("src", "include", "guest", "tools", "engine-rs"):
        for path in sorted((ROOT / top).rglob("*.[ch]")):
            found = []
            check_file(path, lambda *f: found.append(f))
            name = str(path.relative_to(ROOT))
            for line, rule, text in found:
                if (name, rule) in allowed:
                    used.add((name, rule))
                    continue
                print(f"{name}:{line}: {rule}: {text}")
                errors += 1
    for name, rule in sorted(allowed - used):
        print(f"tests/size.allow: {name} {rule} is not needed")
        errors += 1
    return errors > 0


if __name__ == "__main__":
    sys.exit(main())
