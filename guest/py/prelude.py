"""The image's own Python: what C calls, and what is different here.

Run once, before the snapshot, by start.c; shared.py, carry.py and loop.py share
its names.
"""
import _thread
import sys

MINE = "<redoma>"


# ---- what there is not (absent.py) ----

# Before threading takes them.
_thread.start_new_thread = _thread.start_joinable_thread = NO_THREADS

import os

# Absent, so that libraries which look for them find none.
OS_NAMES = {"system", "popen", "fork", "forkpty", "posix_spawn",
            "posix_spawnp", "execl", "execle", "execlp", "execv", "execve",
            "execvp", "spawnl", "spawnlp", "spawnv", "spawnve", "spawnvp"}


def missing_of_os(name):
    try:
        if name in OS_NAMES:
            NO_PROCESSES()
    except OSError as e:
        raise AttributeError(f"module 'os' has no attribute '{name}': {e}",
                             name=name, obj=os) from None
    raise AttributeError(f"module 'os' has no attribute '{name}'", name=name,
                         obj=os)


for _name in OS_NAMES & set(dir(os)):
    delattr(os, _name)
os.__getattr__ = missing_of_os


def change_subprocess(module):
    class Popen(module.Popen):
        def __init__(self, *args, **kwargs):
            NO_PROCESSES()
        def __del__(self, *args, **kwargs):
            pass
    module.Popen = Popen


def change_socket(module):
    class socket(module.socket):
        def __init__(self, *args, **kwargs):
            NO_SOCKETS()
        def __del__(self):
            pass
    module.socket = socket
    module.create_connection = module.socketpair = NO_SOCKETS
    module.getaddrinfo = module.gethostbyname = NO_SOCKETS


def change_zoneinfo(module):
    common = sys.modules["zoneinfo._common"]
    paths = module.available_timezones

    def load_tzdata(key):
        try:
            data = DATA("tz/" + key)
        except UnicodeEncodeError:
            data = None
        if data is None:
            raise common.ZoneInfoNotFoundError(
                f"No time zone found with key {key}")
        return io.BytesIO(data)

    def available_timezones():
        # Those of granted directories, too.
        return (paths() | {n[3:] for n in DATA_NAMES()}) - {"posixrules"}
    common.load_tzdata = load_tzdata
    module.available_timezones = available_timezones


CHANGES.update(socket=change_socket, subprocess=change_subprocess,
               zoneinfo=change_zoneinfo)
HEAVY = {"numpy", "pandas", "scipy", "sklearn", "matplotlib", "PIL",
         "openpyxl", "lxml", "polars", "pyarrow"}


class Importer:
    """First asked, so that what is different here is different, and what is
    missing says what there is instead."""
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in CHANGES:
            spec = FROZEN.find_spec(name, path, target)
            spec.loader = Changed
            return spec
        if name == "redoma":
            return ModuleSpec(name, Ours)
        return None


class Changed:
    @staticmethod
    def create_module(spec):
        return FROZEN.create_module(spec)

    @staticmethod
    def exec_module(module):
        FROZEN.exec_module(module)
        CHANGES[module.__name__](module)


def as_word(name):
    """For a shell: a source's file, or how one without a file is given."""
    if name == "eval.py":
        return "--lang py -, with the code as its standard input"
    if re.fullmatch(r"\w[\w.+-]*", name):
        return name
    return "'" + name.replace("'", "'\\''") + "'"


class Missing:
    """Last asked."""
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in HEAVY:
            raise ModuleNotFoundError(
                f"No module named '{name}': it is not in this image; add "
                "the data image (redoma image add data), or run the source "
                "with a Python of the host that has it: redoma run "
                f"--native {as_word(source_name[0])}", name=name)
        if path is None:
            raise ModuleNotFoundError(absent(name), name=name)
        return None


ModuleSpec = type(sys.__spec__)
FROZEN = next(f for f in sys.meta_path
              if getattr(f, "__name__", "") == "FrozenImporter")
# A program may put a granted directory on sys.path; of itself it is empty.
sys.meta_path[:] = [Importer, *sys.meta_path, Missing]
sys.path[:] = []
sys.path_importer_cache.clear()

# ---- what an image holds ----

import array, base64, bisect, calendar, collections, contextlib, copy, csv
import dataclasses, datetime, decimal, enum, fractions, functools, hashlib
import heapq, html, io, itertools, json, linecache, math, operator, pathlib
import random, re, statistics, string, struct, textwrap, time, traceback
import types, typing, unicodedata, uuid, zlib
import _sitebuiltins, _strptime, atexit, builtins, gc

sys.breakpointhook = refuse(RuntimeError, "there is no debugger",
                            "print what you want to see")
# As site does.
builtins.exit = _sitebuiltins.Quitter("exit", "Ctrl-D (i.e. EOF)")
builtins.quit = _sitebuiltins.Quitter("quit", "Ctrl-D (i.e. EOF)")


# ---- a run, as guest.c calls it ----

def begin(name, argv, env, text, scope):
    sys.argv = argv or [name]
    for entry in env:
        key, _, value = entry.partition("=")
        os.environ[key] = value
        if key == "TZ":
            time.tzset()
    scope["input_data"] = None if text is None else revived(text)
    scope["__file__"] = source_name[0] = name
    # Tracebacks and warnings show the program's lines without looking for a
    # file.
    source = SOURCE()
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)


source_name = [""]


def awaited(program):
    """A program with `await` outside of functions."""
    return asyncio.run(program)


def frames_of(e):
    """Without those that are ours, and those of what runs the program."""
    frames = [f for f in traceback.extract_tb(shortened(e.__traceback__))
              if f.filename != MINE]
    first = next((i for i, f in enumerate(frames)
                  if f.filename == source_name[0]), 0)
    return frames[first:]


CHAIN_MAX = 10
CAUSE = ("\nThe above exception was the direct cause of the following "
         "exception:\n\n")
CONTEXT = ("\nDuring handling of the above exception, another exception "
           "occurred:\n\n")


def before(e):
    """What led to it, as a traceback shows that; the earliest first."""
    text, seen = "", [e]
    while len(seen) <= CHAIN_MAX:
        joint = CAUSE if e.__cause__ is not None else CONTEXT
        e = e.__cause__ if e.__cause__ is not None else \
            None if e.__suppress_context__ else e.__context__
        if e is None or any(e is x for x in seen):
            break
        seen.append(e)
        frames = "".join(traceback.format_list(frames_of(e)))
        last = "".join(traceback.format_exception_only(e))
        head = "Traceback (most recent call last):\n" if frames else ""
        text = head + frames + last + joint + text
    return text


def no_room(e):
    """For a SystemError: memory had no room for a frame."""
    n, at = 0, e.__traceback__
    while at:
        n, at = n + 1, at.tb_next
    kind = RecursionError("the calls are nested more deeply than memory "
                          "allows") if n > DEEP else MemoryError()
    return kind.with_traceback(e.__traceback__)


DEEP = 10_000


def told(e):
    """name, message, stack, line, column."""
    frames = frames_of(e)
    at = next((f for f in reversed(frames) if f.filename == source_name[0]),
              None)
    line = at.lineno if at else None
    column = at.colno + 1 if at and at.colno is not None else None
    stack = "".join(traceback.format_list(frames))
    if isinstance(e, SyntaxError):
        line, column = e.lineno, e.offset
        stack = "".join(traceback.format_exception_only(type(e), e))
    if e.__cause__ is not None or e.__context__ is not None:
        try:
            stack = before(e) + stack
        except Exception:
            pass  # an exception of the program's, with a text of its own
    try:
        message = str(e)
        # Its text has the line again, which is told beside it.
        if isinstance(e, SyntaxError) and line and e.filename == source_name[0]:
            message = str(e.msg)
    except BaseException:
        message = "(its text cannot be made)"
    if isinstance(e, EOFError) and SCOPE.get("input_data") is None:
        message += ": the run has no input (--stdin or --input gives it one)"
    if isinstance(e, MemoryError) and not message:
        message = "out of memory" if e.__traceback__ \
            else "the source is nested too deeply"
    return (whole(type(e).__name__), whole(message), whole(stack),
            line or 0, column or 0)


def settle():
    """The last thing before the snapshot: nothing of the warm-up is left."""
    main = sys.modules["__main__"].__dict__
    for name in list(main):
        if name not in ("__name__", "__builtins__", "__doc__", "__package__",
                        "__loader__", "__spec__"):
            del main[name]
    linecache.clearcache()
    re.purge()
    sys.argv = [""]
    put_to_sleep()
    sys._clear_internal_caches()
    gc.collect()
    roots = gc.get_objects()
    gc.freeze()
    return roots
