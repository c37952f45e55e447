"""The data image's own Python: what the engine calls, and what is different
here.  Run once, in the module that was downloaded, before its memory is taken;
MAIL, its mailbox (freeze/dress.h), was set above.  guest/py/carry.py follows.
"""
import _io
import sys
import _thread

MINE = "<redoma>"
LIBRARY = "/usr/local/lib/python315.zip"


def refuse(kind, what, instead):
    """Raises what Python raises where there is no such thing."""
    def refused(*args, **kwargs):
        raise kind(f"{what} in a sandbox: {instead}")
    return refused


NO_PROCESSES = refuse(
    OSError, "no process can be started", "do the work in Python; for a "
    "program of the host use `redoma run --native`")
NO_SOCKETS = refuse(
    OSError, "there is no network", "call a tool that was granted "
    "(tools.NAME), pass the data in as input, or grant a file that holds it")
NO_THREADS = refuse(
    RuntimeError, "there are no threads", "call the function itself, or use "
    "asyncio for work that waits")
# Before threading takes them.
_thread.start_new_thread = _thread.start_joinable_thread = NO_THREADS

# ---- the library, in memory from now on ----

with open(LIBRARY, "rb") as _file:
    ARCHIVE = _file.read()
OPEN_CODE, OPEN = _io.open_code, _io.open


def open_code(path):
    return _io.BytesIO(ARCHIVE) if path == LIBRARY else OPEN_CODE(path)


# zipimport asks there for each module.
_io.open_code = open_code

import builtins, io, linecache, os, zipimport

OUTSIDE = zipimport._bootstrap_external
STAT, UPDATE = OUTSIDE._path_stat, linecache.updatecache
ARCHIVE_STAT = os.stat(LIBRARY)


def path_stat(path):
    """Of what zipimport asks for: the archive is there, and no file in it."""
    if path == LIBRARY:
        return ARCHIVE_STAT
    if str(path).startswith(LIBRARY + "/"):
        raise FileNotFoundError(2, "No such file or directory", path)
    return STAT(path)


def update_lines(filename, module_globals=None):
    """Of the library and of what has no file there are no lines to show."""
    if filename.startswith((LIBRARY, "<")):
        return []
    return UPDATE(filename, module_globals)


OUTSIDE._path_stat, linecache.updatecache = path_stat, update_lines

PACKED = zipimport.zipimporter(LIBRARY)


def read_packed(path):
    """A file of the library, or of the archive of fonts that is in it."""
    name = path[len(LIBRARY) + 1:]
    if name.startswith("matplotlib/mpl-data/"):
        name = name[len("matplotlib/mpl-data/"):]
        for prefix in ("", "mpl-data/", "matplotlib/mpl-data/"):
            if prefix + name in FONTS:
                return INNER.read(prefix + name)
        raise FileNotFoundError(2, "No such file or directory", path)
    return PACKED.get_data(LIBRARY + "/" + name)


class Packed(io.BytesIO):
    """A file that is read from the library."""
    mode = "rb"

    def __init__(self, path):
        super().__init__(ARCHIVE if path == LIBRARY else read_packed(path))
        self.name = path


def open_any(file, mode="r", buffering=-1, encoding=None, errors=None,
             newline=None, closefd=True, opener=None):
    if not isinstance(file, int) and opener is None:
        path = os.fspath(file)
        if isinstance(path, str) and "r" in mode and "+" not in mode \
                and (path == LIBRARY or path.startswith(LIBRARY + "/")):
            try:
                raw = Packed(path)
            except OSError:
                raise FileNotFoundError(2, "No such file or directory",
                                        path) from None
            return raw if "b" in mode else io.TextIOWrapper(
                raw, encoding or "utf-8", errors, newline)
    return OPEN(file, mode, buffering, encoding, errors, newline, closefd,
                opener)


import zipfile

INNER = zipfile.ZipFile(io.BytesIO(
    PACKED.get_data(LIBRARY + "/matplotlib/mpl-data.zip")))
FONTS = set(INNER.namelist())
builtins.open = io.open = _io.open = open_any

# ---- what an image holds ----

import array, ast, asyncio, atexit, base64, bisect, calendar, collections
import contextlib, copy, csv, dataclasses, datetime, decimal, enum, fractions
import functools, gc, glob, gzip, hashlib, heapq, html, inspect, itertools, json
import linecache, logging, math, operator, pathlib, pickle, pprint, random, re
import secrets, sqlite3, statistics, string, struct, tempfile, textwrap, time
import traceback, types, typing, unicodedata, urllib.parse, uuid, warnings
import xml.etree.ElementTree, zlib, zoneinfo, _sitebuiltins, _strptime

import socket, subprocess

# What guest/py/loop.py wants to be told.
CHANGES = {}


class Popen(subprocess.Popen):
    def __init__(self, *args, **kwargs):
        NO_PROCESSES()

    def __del__(self, *args, **kwargs):
        pass


class Socket(socket.socket):
    def __init__(self, *args, **kwargs):
        NO_SOCKETS()

    def __del__(self):
        pass


subprocess.Popen, socket.socket = Popen, Socket
socket.create_connection = socket.socketpair = NO_SOCKETS
socket.getaddrinfo = socket.gethostbyname = NO_SOCKETS

builtins.exit = _sitebuiltins.Quitter("exit", "Ctrl-D (i.e. EOF)")
builtins.quit = _sitebuiltins.Quitter("quit", "Ctrl-D (i.e. EOF)")
sys.breakpointhook = refuse(RuntimeError, "there is no debugger",
                            "print what you want to see")

import numpy as np


def fresh_streams():
    """What was printed has left when a deadline comes."""
    for fd, name in ((1, "stdout"), (2, "stderr")):
        stream = io.TextIOWrapper(
            io.FileIO(fd, "w", closefd=False), "utf-8", "backslashreplace",
            "\n", write_through=True)
        stream.mode = "w"
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(
        io.BufferedReader(io.FileIO(0, "r", closefd=False)), "utf-8",
        "surrogateescape")


fresh_streams()
