#!/usr/bin/env python3
"""The corpus of attacks that comes with the command, where cgroup v2 is all
there is: each is run and stopped.
test-seconds: 280"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *


@case("doctor --attack: every attack is run and stopped")
def _():
    p = subprocess.run([REDOMA, "doctor", "--attack", "--json"],
                       stdin=subprocess.DEVNULL, capture_output=True,
                       timeout=1200)
    said = strict_json(p.stdout)
    bad = [a for a in said["attacks"] if a["result"] != "stopped"]
    print(f"# {len(said['attacks'])} attacks, {len(bad)} not stopped")
    need(p.returncode == 0 and not bad, f"{p.returncode} {bad}")
    need({a["profile"] for a in said["attacks"]} >= {"native", "js", "wasm"}
         and len(said["attacks"]) > 40, f"{said}")


if __name__ == "__main__":
    main()
