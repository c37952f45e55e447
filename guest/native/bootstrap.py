"""The payload's side of a native Python run.

Started by redoma-init inside the jail, before a run comes: imports what runs
use, warms up, and waits on descriptor 3.  Messages are a header of two u32
(kind, length; little endian) and the body; see docs/design/native.md.  Some of
the imports are for guest/py/carry.py, which becomes a part of this.
"""
import ast
import atexit
import base64
import collections
import datetime
import decimal
import gc
import io
import json
import linecache
import math
import os
import re
import select
import struct
import sys
import threading
import traceback
import types

READY, RUN, VALUE, ERROR, EXIT, CALL = 1, 2, 3, 4, 5, 6
SOURCE, NAME, INPUT, ARGV, ENV, TOOL, IN_FLIGHT = 1, 2, 3, 4, 5, 6, 7
CHANNEL = 3
HERE = os.path.dirname(__file__)
OWNER = os.getpid()  # a fork of a run has no word in it
KEPT = "__redoma_value__"
CO_COROUTINE, CO_ASYNC_GENERATOR = 0x80, 0x200  # of inspect, a slow import
HEADER = 8
PIECE = 1 << 16


kept = bytearray()  # of the channel, read and not yet taken


def length():
    """Of the message that has begun, as far as that is known."""
    return HEADER if len(kept) < HEADER \
        else HEADER + struct.unpack_from("<I", kept, 4)[0]


def heard():
    """A whole message is here."""
    return len(kept) >= HEADER and len(kept) >= length()


def receive():
    """One message: its kind and body.  Most come whole."""
    while not heard():
        want = min(length() - len(kept), PIECE << 4)
        part = os.read(CHANNEL, max(PIECE, want))
        if not part:
            os._exit(0)  # the jail is gone
        kept.extend(part)
    end = length()
    kind, body = struct.unpack_from("<I", kept)[0], bytes(kept[HEADER:end])
    del kept[:end]
    return kind, body


def message(kind, body=b""):
    return struct.pack("<II", kind, len(body)) + body


def send(data):
    data = memoryview(data)
    while data:
        data = data[os.write(CHANNEL, data):]


def unpack(body):
    request = {"argv": [], "env": [], "source": "", "name": "agent.py",
               "input": None, "tools": [], "in_flight": 1}
    (n,) = struct.unpack_from("<I", body)
    at = 4
    for _ in range(n):
        tag, length = struct.unpack_from("<II", body, at)
        text = body[at + 8:at + 8 + length]
        at += 8 + length
        if tag == ARGV:
            request["argv"].append(os.fsdecode(text))
        elif tag == ENV:
            request["env"].append(os.fsdecode(text))
        elif tag == TOOL:
            request["tools"].append(text.decode())
        elif tag == IN_FLIGHT:
            (request["in_flight"],) = struct.unpack("<I", text)
        elif tag == SOURCE:
            request["source"] = text.decode()
        elif tag == NAME:
            request["name"] = text.decode()
        elif tag == INPUT:
            request["input"] = text.decode()
    return request


# ---- values: guest/py/carry.py is put here ----

# ---- tools ----

TEXT_MAX, NAME_MAX = 1 << 20, 256  # of one call
# What the library calls counts as its caller.
LIBRARY = os.path.dirname(os.__file__) + os.sep


class ToolError(Exception):
    """A call that failed.  Its class has the name that the tool gave."""
    __module__ = "redoma"
    tool = name = message = None


def failure(tool, name, message):
    e = type(name, (ToolError,), {"__module__": "redoma"})(message)
    e.tool, e.name, e.message = tool, name, message
    return e


class Call:
    __slots__ = ("tool", "text", "over", "error", "value", "answer")

    def given_up(self):
        return self.answer is not None and self.answer.cancelled()


class Wire:
    """The calls of this run, of all its threads: one reads for all."""
    def __init__(self):
        self.turn = threading.Condition()
        self.granted, self.in_flight = [], 1
        self.unsent, self.sent, self.last = collections.deque(), {}, 0
        self.reading = False
        self.loops = set()  # that look at the channel

    def add(self, call):
        flush()  # what was printed before it comes before it
        with self.turn:
            self.unsent.append(call)
            self.send_more()

    def send_more(self):
        """As many as may be under way."""
        while self.unsent and len(self.sent) < self.in_flight:
            call = self.unsent.popleft()
            text, call.text = call.text, None
            if call.given_up():
                continue
            if len(text) > TEXT_MAX:
                settle(call, failure(
                    call.tool, "ToolError", "the arguments of one call are "
                    "over 1 MiB: grant a file, or call it for a part at a "
                    "time"))
            elif text.index(b"\0") > NAME_MAX:
                settle(call, failure(call.tool, "ToolError",
                                     "the tool cannot be called here"))
            else:
                self.last += 1
                self.sent[self.last] = call
                send(message(CALL, struct.pack("<I", self.last) + text))

    def take(self, answer):
        call = self.sent.pop(struct.unpack_from("<I", answer)[0])
        if answer[4]:
            name, said = answer[5:].split(b"\0", 1)
            settle(call, failure(call.tool, name.decode(errors="replace"),
                                 said.decode(errors="replace")))
        else:
            settle(call, *understood(call.tool, answer[5:]))

    def take_all(self, answer):
        """That one, and what came with it."""
        self.take(answer)
        while heard():
            self.take(receive()[1])
        self.send_more()
        self.turn.notify_all()

    def look(self):
        """Called by a loop: something may be there."""
        with self.turn:
            if not self.reading and select.select([CHANNEL], [], [], 0)[0]:
                self.take_all(receive()[1])

    def hear(self):
        """Waits for an answer, to whomever; holding the turn."""
        if self.reading:
            self.turn.wait()
            return
        self.reading = True
        self.turn.release()
        try:
            answer = receive()[1]
        finally:
            self.turn.acquire()
            self.reading = False
        self.take_all(answer)

    def wait_for(self, call):
        with self.turn:
            while not call.over:
                self.hear()

    def finish(self):
        """A call that nobody waits for is still answered."""
        with self.turn:
            while not all(c.given_up()
                          for c in (*self.sent.values(), *self.unsent)):
                self.hear()


wire = Wire()


def settle(call, error, value=None):
    call.over, call.error, call.value = True, error, value
    answer = call.answer
    if answer is None:
        return
    loop = answer.get_loop()
    if running_loop() is loop:
        set_answer(answer, error, value)
    elif not loop.is_closed():
        loop.call_soon_threadsafe(set_answer, answer, error, value)


def set_answer(answer, error, value):
    if answer.done():
        return
    if error is None:
        answer.set_result(value)
    else:
        answer.set_exception(error)


def understood(tool, text):
    """Error and value."""
    try:
        return None, revived(text.decode())
    except MemoryError:
        raise
    except Exception:
        return failure(
            tool, "ToolError", "the tool's answer cannot be read: it is "
            "nested too deeply, or has a $redoma tag that is unknown"), None


def running_loop():
    asyncio = sys.modules.get("asyncio")
    return asyncio and asyncio._get_running_loop()


def in_async(frame):
    """Whether the program's code at that frame is that of an `async def`.
    Generator expressions and lambdas belong to what they stand in; what the
    library calls, to who called the library."""
    if running_loop() is None:
        return False
    while frame and (frame.f_code.co_filename.startswith(("<", LIBRARY))
                     or frame.f_code.co_name in ("<genexpr>", "<lambda>")):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_flags & (
        CO_COROUTINE | CO_ASYNC_GENERATOR) != 0


def make_answer(call):
    """What is awaited."""
    global Answer
    import asyncio
    if Answer is None:
        class Answer(asyncio.Future):
            def __getitem__(self, key):
                raise TypeError(self.forgotten())

            def __getattr__(self, name):
                raise AttributeError(name if name[0] == "_"
                                     else self.forgotten())

            def forgotten(self):
                return (f"the answer of tools.{self._tool} was not awaited: "
                        f"write `await tools.{self._tool}(...)`")
    loop = asyncio.get_running_loop()
    if loop not in wire.loops:
        loop.add_reader(CHANNEL, wire.look)
        wire.loops.add(loop)
    call.answer = Answer(loop=loop)
    call.answer._tool = call.tool
    return call.answer


Answer = None


def call_text(name, args):
    if "\0" in name:
        raise ValueError("the name of a tool holds a NUL character")
    return name.encode() + b"\0" + carried(args, "arguments").encode()


class Tool:
    __slots__ = ("__name__", "ahead")

    def __init__(self, name, ahead):
        self.__name__ = name
        self.ahead = ahead

    def __repr__(self):
        return f"<tool {self.__name__}>"

    def __call__(self, args=None, /, **named):
        name = self.__name__
        if args is not None:
            if not isinstance(args, dict):
                raise TypeError(f"tools.{name} takes its arguments by name, "
                                "or one dict of them")
            named = {**args, **named}
        call = Call()
        call.tool, call.over, call.answer = name, False, None
        call.text = call_text(name, named)
        if os.getpid() != OWNER:
            raise failure(name, "ToolError", "a process that the program "
                          "started cannot call tools: call it before, or "
                          "from a thread")
        if self.ahead or in_async(sys._getframe(1)):
            answer = make_answer(call)
            wire.add(call)
            return answer
        wire.add(call)
        wire.wait_for(call)
        if call.error is not None:
            raise call.error
        return call.value


class Tools:
    """A name that was not granted is called all the same: the caller of this
    run learns of it, and the program is told."""
    __slots__ = ("ahead",)

    def __init__(self, ahead):
        self.ahead = ahead

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "aio" and name not in wire.granted and not self.ahead:
            return awaited_tools
        return Tool(name, self.ahead)

    def __getitem__(self, name):
        return Tool(name, self.ahead)

    def __iter__(self):
        return iter(wire.granted)

    def __len__(self):
        return len(wire.granted)

    def __contains__(self, name):
        return name in wire.granted

    def __dir__(self):
        return [*wire.granted]

    def __repr__(self):
        return f"<tools: {', '.join(wire.granted)}>"


tools = Tools(False)
awaited_tools = Tools(True)


def begin_tools(request, scope):
    ours = types.ModuleType("redoma")
    ours.ToolError = ToolError
    ours.input_data = scope["input_data"]
    if request["tools"]:
        wire.granted[:] = request["tools"]
        wire.in_flight = request["in_flight"]
        scope["tools"] = ours.tools = tools
    sys.modules["redoma"] = ours


# ---- a run ----

# Who lacks one of these is told what has it.
HEAVY = {"numpy", "pandas", "scipy", "sklearn", "matplotlib", "PIL",
         "openpyxl", "lxml", "polars", "pyarrow"}
ENOMEM = 12
NO_MEMORY = re.compile("annot allocate memory|failed to map segment")


def compile_source(source, name):
    """The last expression is kept under KEPT: it is the value."""
    tree = ast.parse(source, name)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        target = ast.copy_location(ast.Name(KEPT, ast.Store()), last)
        tree.body[-1] = ast.copy_location(ast.Assign([target], last.value),
                                          last)
    return compile(tree, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def prepare(request):
    name = request["name"]
    # Tracebacks show the caller's lines.
    linecache.cache[name] = (len(request["source"]), None,
                             request["source"].splitlines(True), name)
    return compile_source(request["source"], name)


def execute(code, request, scope):
    program = eval(code, scope)
    if code.co_flags & CO_COROUTINE:
        import asyncio
        asyncio.run(program)
    if request["tools"]:
        wire.finish()
    value = scope.get(KEPT)
    return scope.get("result") if value is None else value


def lacked_memory(e):
    """Of an import: what it says at its end is often something else."""
    seen = set()
    while e is not None and id(e) not in seen:
        seen.add(id(e))
        if isinstance(e, MemoryError) or getattr(e, "errno", 0) == ENOMEM \
                or isinstance(e, ImportError) and NO_MEMORY.search(str(e)):
            return True
        e = e.__cause__ or e.__context__
    return False


def is_there(package):
    return any(os.path.exists(os.path.join(p, package + end))
               for p in sys.path for end in ("", ".py"))


def advice(e):
    """On an import that failed."""
    if not isinstance(e, ImportError):
        return ""
    if lacked_memory(e):
        return ": its memory ran out; raise limits.memory"
    if not isinstance(e, ModuleNotFoundError) or e.name not in HEAVY \
            or is_there(e.name):
        return ""
    return (f": {sys.executable} does not have it; name a Python that "
            "has: redoma runtime add NAME --program VENV/bin/python3, "
            "and then redoma run --native --jail root=runtime:NAME")


def told(e, name):
    """An exception without the frames that are ours."""
    frames = traceback.extract_tb(e.__traceback__)
    theirs = [f for f in frames if f.filename != __file__]
    # Those above the program's are of what runs it.
    first = next((i for i, f in enumerate(theirs) if f.filename == name), 0)
    theirs = theirs[first:]
    at = next((f for f in reversed(theirs) if f.filename == name), None)
    line = at.lineno if at else None
    column = at.colno + 1 if at and getattr(at, "colno", None) is not None \
        else None
    stack = "".join(traceback.format_list(theirs))
    if isinstance(e, SyntaxError):
        line, column = e.lineno, e.offset
        stack = "".join(traceback.format_exception_only(type(e), e))
    try:
        message = str(e)
        # Its text has the line again, which is told beside it.
        if isinstance(e, SyntaxError) and line and e.filename == name:
            message = str(e.msg)
    except BaseException:
        message = "(its text cannot be made)"
    try:
        message += advice(e)
    except Exception:  # the program may have changed what that takes
        pass
    return {"name": whole(type(e).__name__), "message": whole(message),
            "stack": whole(stack),
            "line": line or 0, "column": column or 0}


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass


def finish():
    """What an interpreter does at its end: threads that are no daemons have
    their time, then what was registered."""
    threading = sys.modules.get("threading")
    try:
        if threading:
            threading._shutdown()
        atexit._run_exitfuncs()
    except BaseException:
        traceback.print_exc()
    flush()


def error_body(e, name, invalid=False):
    error = told(e, name)
    error["invalid"] = invalid  # the source, of which nothing ran
    return json.dumps(error).encode("utf-8", "replace")


def exit_code(e):
    if e.code is None:
        return 0
    if isinstance(e.code, int):
        return e.code & 0xFF
    print(e.code, file=sys.stderr)
    return 1


def run(request):
    """What is to be said before EXIT, and the exit code."""
    name = request["name"]
    scope = {"__name__": "__main__", "__builtins__": __builtins__}
    try:
        text = request["input"]
        value = None if text is None else revived(text)
        if text is not None:
            if isinstance(value, str):
                text = value  # that is read by lines
            sys.stdin = io.TextIOWrapper(
                io.BytesIO(text.encode(errors="replace")), "utf-8")
        scope["input_data"] = value
        begin_tools(request, scope)
        try:
            code = prepare(request)
        except SyntaxError as e:
            return message(ERROR, error_body(e, name, invalid=True)), 1
        value = execute(code, request, scope)
        body = carried(value)
        flush()
        if value is None:
            return b"", 0
        return message(VALUE, body.encode()), 0
    except SystemExit as e:
        return b"", exit_code(e)
    except BaseException as e:
        if os.getpid() != OWNER:
            traceback.print_exc()
        flush()
        return message(ERROR, error_body(e, name)), 1


# What takes long to import, and a little work by which it is written to.
AHEAD = {
    "numpy": b"import numpy\na = numpy.arange(9.)\nfloat((a @ a).sum())",
    "pandas": b"import pandas\nd = pandas.DataFrame({'k': list('aba'), 'v': "
              b"[1, 2, 3]})\nd.groupby('k')['v'].sum().to_dict()",
    "scipy": b"import scipy",
    "sklearn": b"from sklearn.linear_model import LinearRegression\n"
               b"LinearRegression().fit([[0], [1]], [0, 1]).coef_.tolist()",
}
THREADS_MAX = 4  # of a library's own; native.pids counts them


def import_ahead(names):
    """The sources of those packages that are here."""
    most = str(min(os.cpu_count() or 1, THREADS_MAX))
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = most  # read when they are loaded
    for name in names:
        try:
            __import__(name)
        except BaseException:
            continue
        yield AHEAD[name]


def warm_up(names):
    """Runs of our own, by the same way: what a run needs is there, and is
    written to, before it comes."""
    for source in (b"1+1", b"import math\nx = [1.5, 'a', {'b': None}]\nx",
                   b"1/0", *import_ahead(names)):
        parts = ((SOURCE, source), (NAME, b"warm.py"), (INPUT, b"[1]"),
                 (ARGV, b"warm.py"), (ENV, b"A=1"))
        request = unpack(struct.pack("<I", len(parts)) + b"".join(
            struct.pack("<II", tag, len(text)) + text for tag, text in parts))
        begin(request)
        run(request)
    linecache.cache.clear()
    sys.stdin = sys.__stdin__
    os.environ.clear()
    gc.collect()
    gc.freeze()


def reseed():
    # What was drawn while warming up is not what a run draws.
    random = sys.modules.get("random")
    if random:
        random.seed()


def begin(request):
    sys.argv = request["argv"] or [request["name"]]
    os.environ.clear()
    for entry in request["env"]:
        key, _, value = entry.partition("=")
        os.environ[key] = value
    # Not what is below it: files of the host's /tmp are shown there.
    sys.path[:] = [p for p in sys.path if p and p != HERE]
    reseed()


def main():
    names = [n for n in "".join(sys.argv[1:]).split(",") if n in AHEAD]
    warm_up(names)
    if names and len(sys._current_frames()) > 1:
        # It would see the run.  Init looks for processes.
        print("a package left a thread behind", file=sys.stderr, flush=True)
        os._exit(70)
    os.set_inheritable(CHANNEL, False)
    send(message(READY))
    kind, body = receive()
    if kind != RUN:
        os._exit(70)
    request = unpack(body)
    begin(request)
    last, code = run(request)
    finish()
    if os.getpid() == OWNER:
        send(last + message(EXIT, struct.pack("<I", code)))
    os._exit(code)


main()
