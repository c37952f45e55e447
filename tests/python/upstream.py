#!/usr/bin/env python3
"""CPython's own tests, each module in a jar of its own.

Usage: tests/python/upstream.py [--build DIR] [--show] [WORD]...

tests/python/upstream.list names the modules, and of each the tests that end
otherwise than upstream, where all pass or are skipped for WASI.  A test that
fails and is not named is a failure here, and so is one that is named and
passes: `--show` tells why.  With a WORD, only modules that hold it.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
POLICY = """redoma: 1
random: real
limits: {{wall: 900s, cpu: 900s, memory: 1GiB, output: 16MiB,
         files: 4096}}
read: [{{host: "{tests}/", as: /lib/}}]
write: [{{host: "{out}/", as: /tmp/, max_bytes: 256MiB}}]
"""


def read_list():
    """{module: {test: why}}"""
    found, module = {}, None
    for line in (HERE / "upstream.list").read_text().splitlines():
        text, _, why = line.partition("#")
        words = text.split()
        if not words:
            continue
        if line[0].isspace():
            found[module][words[0]] = why.strip()
        else:
            module = words[0]
            found[module] = {}
    return found


def run(build, module):
    with tempfile.TemporaryDirectory() as tmp:
        policy = pathlib.Path(tmp) / "p.yaml"
        policy.write_text(POLICY.format(
            tests=(ROOT / ".deps/python-tests").resolve(), out=f"{tmp}/out"))
        (pathlib.Path(tmp) / "out").mkdir()
        p = subprocess.run(
            [str(build / "redoma"), "run", str(HERE / "inside.py"), "--json",
             "--policy", str(policy), "--", module],
            capture_output=True, text=True)
    try:
        return json.loads(p.stdout)
    except ValueError:
        raise SystemExit(f"{module}: {p.stderr.strip()[:500]}") from None


def judge(module, result, expected, show):
    """The number of differences from the list."""
    value = result.get("value") or {}
    if result["status"] != "ok" or "bad" not in value:
        print(f"not ok {module}: {result['status']} "
              f"{result.get('limit') or result.get('error') or value}")
        return 1
    bad = set(value["bad"])
    new, gone = sorted(bad - set(expected)), sorted(set(expected) - bad)
    print(f"{'not ok' if new or gone else 'ok'} {module}: {value['run']} run, "
          f"{value['skips']} skipped, {len(bad)} fail, "
          f"{result['usage']['cpu_us'] / 1e6:.1f} s", flush=True)
    for test in new:
        print(f"\t{test}\t# fails, and is not in the list")
    for test in gone:
        print(f"\t{test}\t# is in the list, and passes")
    for test in sorted(bad) if show else new:
        print("\n".join("\t\t" + line
                        for line in value["why"].get(test, "").splitlines()))
    return len(new) + len(gone)


def main():
    a = argparse.ArgumentParser(usage=__doc__)
    a.add_argument("--build", default="build")
    a.add_argument("--show", action="store_true")
    a.add_argument("words", nargs="*")
    a = a.parse_args()
    build = pathlib.Path(a.build).resolve()
    faults = 0
    for module, expected in read_list().items():
        if not a.words or any(w in module for w in a.words):
            faults += judge(module, run(build, module), expected, a.show)
    return 1 if faults else 0


sys.exit(main())
