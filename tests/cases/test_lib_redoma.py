#!/usr/bin/env python3
"""What the tests say of a run that does not end."""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *


def script(name, text):
    """A program that is no redoma."""
    path = pathlib.Path(write(name, f"#!/bin/sh\n{text}\n"))
    path.chmod(0o755)
    return str(path)


@case("a run that does not end is a failure that says what it waits for")
def _():
    began = time.monotonic()
    try:
        command(program=script("long", "sleep 60"), timeout=1)
    except Failed as e:
        need("did not end within 1 s" in str(e), str(e))
        need(" sleep S " in str(e) and " ms in line" in str(e), str(e))
        need(time.monotonic() - began < 30, "what it started was waited for")
    else:
        need(False, "it was taken for one that ended")


@case("time in which the test itself was stopped is not the run's")
def _():
    r = command(program=script("stops", "sleep 0.3; kill -STOP $PPID; "
                               "sleep 4; kill -CONT $PPID"), timeout=2)
    need(not r.code and r.seconds > 4, r.about())


if __name__ == "__main__":
    main()
