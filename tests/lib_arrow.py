"""A Python of the host that has pyarrow."""
import subprocess

from lib_redoma import *


def arrow_python():
    """Its path; fetched by pip once a machine."""
    p = subprocess.run([str(ROOT / "deps/fetch"), "--python-arrow"],
                       capture_output=True, text=True,
                       stdin=subprocess.DEVNULL)
    if p.returncode:
        lines = p.stderr.strip().splitlines() or ["deps/fetch says nothing"]
        why = next((t for t in reversed(lines) if t.startswith(
            "python-arrow:")), lines[-1])
        raise Skipped(why)
    return str((ROOT / ".deps/python-arrow").resolve() / "bin/python3")


def pyarrow(script, *args, timeout=120):
    """What a script in that Python prints."""
    p = subprocess.run([arrow_python(), "-I", "-c", script, *map(str, args)],
                       capture_output=True, timeout=timeout)
    need(p.returncode == 0, p.stderr.decode()[-2000:])
    return p.stdout.decode()
