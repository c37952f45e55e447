"""A Python of the host that has numpy, pandas and scikit-learn, as a runtime of
the user's."""
import atexit
import pathlib
import pwd
import subprocess

from lib_redoma import *


def data_python():
    """Its path; fetched by pip once a machine."""
    if data_python.why:
        raise Skipped(data_python.why)
    p = subprocess.run([str(ROOT / "deps/fetch"), "--python-data"],
                       capture_output=True, text=True,
                       stdin=subprocess.DEVNULL)
    if p.returncode:
        lines = p.stderr.strip().splitlines() or ["deps/fetch says nothing"]
        data_python.why = next((t for t in reversed(lines) if t.startswith(
            "python-data:")), lines[-1])
        raise Skipped(data_python.why)
    return str((ROOT / ".deps/python-data").resolve() / "bin/python3")


data_python.why = None


def data_runtime():
    """The name of the runtime; it is gone when the test is over."""
    if not data_runtime.name:
        data_runtime.name = add_runtime(data_python())
    return data_runtime.name


data_runtime.name = None


def add_runtime(program):
    home = pathlib.Path(pwd.getpwuid(os.geteuid()).pw_dir)
    if not os.access(home, os.W_OK):
        raise Skipped("this user has no home to write to")
    name = f"redoma-data-{os.getpid()}"
    row = home / f".config/redoma/runtimes/{name}.yaml"
    before = [p for p in (row.parent, row.parent.parent) if p.exists()]
    r = command("runtime", "add", name, "--program", program)
    need(r.code == 0, r.about())
    atexit.register(remove_runtime, row, before)
    return name


def remove_runtime(row, before):
    row.unlink(missing_ok=True)
    for p in (row.parent, row.parent.parent):
        if p not in before and p.exists() and not any(p.iterdir()):
            p.rmdir()
