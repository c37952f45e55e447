"""What the tests of native programs share: how each kind is run, programs that
are compiled for a test, and names that are new each time."""
import shutil
import subprocess

from lib_redoma import *

COMPILER = shutil.which("cc", path="/usr/local/bin:/usr/bin:/bin")


MORE = ()  # options of every run


def spare_group():
    """A user without a control group may say so."""
    global MORE
    if os.geteuid():
        r = run_json("run", "--native", "--", "true")
        if r.status == "refused" and "cgroup" in r.text:
            MORE = ("--walls", "cgroup")


def spared():
    """The same, as a line of a policy."""
    return "walls: [cgroup]\n" if MORE else ""


def native(*words, options=(), **kw):
    """A command in a jail."""
    return run_json("run", "--native", *MORE, *options, "--", *words, **kw)


def sh(code, *options, **kw):
    return native("sh", "-c", code, options=options, **kw)


def py(code, *options, **kw):
    """A source, by the bootstrap."""
    return run_json("run", "--native", source(code, "agent.py"), *MORE,
                    *options, **kw)


def nodejs(code, *options, **kw):
    return run_json("run", "--native", source(code, "agent.js"), *MORE,
                    *options, **kw)


def program(name, code, *flags):
    """The path of a program of this C text."""
    made = BUILD / "tests" / f"{name}{''.join(flags)}"
    if not COMPILER and made.exists():  # where tests/v2/run compiled it
        return str(made)
    if not COMPILER:
        raise Skipped("no C compiler that everybody may use")
    src = write(f"programs/{name}.c", code)
    out = src.with_name(f"{name}{''.join(flags)}".replace("/", "_"))
    if not out.exists() or out.stat().st_mtime < src.stat().st_mtime:
        subprocess.run([COMPILER, "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-w",
                        str(src), "-o", str(out), *flags], check=True,
                       timeout=60)
    return str(out)


def policy(text):
    return write("policy.yaml", f"redoma: 1\n{text}\n")


def fresh(name):
    """A path with nothing at it."""
    path = scratch() / "fresh" / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    return path


def fresh_dir(name):
    path = scratch() / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path
