#!/usr/bin/env python3
"""Compile every header alone: C17 for all, C99 and C++11 for redoma.h.

Usage: headers.py BUILD
"""
import concurrent.futures, pathlib, subprocess, sys

root = pathlib.Path(__file__).resolve().parent.parent
build = pathlib.Path(sys.argv[1])
flags = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic",
         f"-I{root}/include"]
inside = ["-D_GNU_SOURCE", "-Wno-pedantic", f"-I{root}/src", f"-I{build}/gen",
          f"-I{root}/engine-rs", "-isystem", f"{root}/.deps/engine/include",
          "-isystem", f"{root}/.deps/yyjson"]
public = root / "include/redoma.h"
jobs = [(public, ["gcc", "-x", "c", "-std=c99", *flags]),
        (public, ["clang-19", "-x", "c", "-std=c99", *flags]),
        (public, ["clang-19", "-x", "c++", "-std=c++11", *flags])]
for h in sorted([*root.glob("src/**/*.h"), *root.glob("include/*.h"),
                 *root.glob("engine-rs/*.h")]):
    jobs.append((h, ["gcc", "-x", "c", "-std=gnu17", *flags, *inside]))


def compile_alone(job):
    header, argv = job
    p = subprocess.run([*argv, "-include", str(header), "/dev/null"],
                       capture_output=True, text=True)
    return p.returncode, f"{' '.join(argv[:4])} {header}\n{p.stderr}"


failed = 0
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for code, text in pool.map(compile_alone, jobs):
        if code:
            failed += 1
            print(text)
print(f"{len(jobs)} compilations, {failed} failed")
sys.exit(failed > 0)
