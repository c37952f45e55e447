#!/usr/bin/env python3
"""Check what libredoma.a and the programs consist of.

Usage: symbols.py BUILD
 - libredoma.a defines exactly the functions of redoma.h as global symbols;
 - it needs nothing but libc: no Wasmtime, no libseccomp, no OpenSSL;
 - redoma (the core) holds no Wasmtime; the worker holds no code generator.
"""
import pathlib, re, subprocess, sys

root = pathlib.Path(__file__).resolve().parent.parent
build = pathlib.Path(sys.argv[1])
errors = []


def symbols(path, *flags):
    out = subprocess.run(["nm", *flags, str(path)], check=True, text=True,
                         capture_output=True).stdout
    return {line.split()[-1] for line in out.splitlines()
            if len(line.split()) > 1}


header = (root / "include/redoma.h").read_text()
header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
header = re.sub(r"^#.*$", "", header, flags=re.M)
declared = set(re.findall(r"REDOMA_API[^;]*?\b(redoma_\w+)\s*\(", header))
defined = symbols(build / "libredoma.a", "-g", "--defined-only")
for name in sorted(defined - declared):
    errors.append(f"libredoma.a: {name} is global but not in redoma.h")
for name in sorted(declared - defined):
    errors.append(f"redoma.h declares {name}, which libredoma.a lacks")
for name in sorted(symbols(build / "libredoma.a", "-u")):
    if re.match(r"wasm|seccomp_|rd_|yyjson|yaml_|sodium|crypto_", name):
        errors.append(f"libredoma.a needs {name}")
for program, pattern in (("redoma", r"wasmtime|cranelift"),
                         ("redoma-worker", r"cranelift_codegen")):
    found = [s for s in symbols(build / program) if re.search(pattern, s)]
    if found:
        errors.append(f"{program} holds {len(found)} symbols like {found[0]}")
if not any("cranelift_codegen" in s for s in symbols(build / "redoma-compile")):
    errors.append("redoma-compile: no cranelift_codegen, so this check is blind")
print("\n".join(errors) or f"{len(declared)} public functions")
sys.exit(bool(errors))
