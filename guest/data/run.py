"""A run of the data image, from the request's bytes in memory to the result's.
"""

# ---- linear memory, as numpy sees what lies at an address ----

class Span:
    """All of it that an index reaches."""
    def __init__(self, kind, n):
        self.__array_interface__ = {"version": 3, "data": (4, False),
                                    "shape": (n,), "typestr": kind}


# The address 0 would be taken for an array of its own: both begin at 4.
BYTES = np.asarray(Span("|u1", 2 ** 31 - 8))
WORDS = np.asarray(Span("<u4", 2 ** 29 - 2))
RESULT = np.zeros(13, "<u4")


def address(a):
    return a.__array_interface__["data"][0]


def word_at(at):
    return int(WORDS[at // 4 - 1])


def words_at(at, n):
    return WORDS[at // 4 - 1:at // 4 - 1 + n].tolist()


def bytes_at(at, n):
    return BYTES[at - 4:at - 4 + n].tobytes()


WORDS[(MAIL + 16) // 4 - 1] = address(RESULT)

REQUEST, ANSWER = 0x31514452, 0x31524452
(OK, THROWN, INTERRUPTED, NO_MEMORY, STACK, EXIT, UNSERIALISABLE,
 SYNTAX) = range(8)


class Request:
    """As engine/image.h lays it out."""
    def __init__(self, at):
        head = words_at(at, 8)
        if head[0] != REQUEST:
            raise SystemError("no request")
        self.source = bytes_at(at + head[1], head[2])
        self.input = bytes_at(at + head[3], head[4])
        self.name = self.text(at, *head[5:7])
        lists, where = [], at + 32
        for _ in range(3):
            n = word_at(where)
            pairs = words_at(where + 4, 2 * n)
            lists.append([self.text(at, *pairs[i:i + 2])
                          for i in range(0, 2 * n, 2)])
            where += 4 + 8 * n
        self.argv, self.env, self.tools = lists

    @staticmethod
    def text(at, off, n):
        return bytes_at(at + off, n).decode("utf-8", "surrogateescape")


# ---- calls of tools: the host's side of guest/py/tools.py ----

import _host

TOOL_CALL, TOOL_WAIT, TOOL_ANSWER = range(3)


def ask(which, a, b, us=0):
    """One function of wasi/tools.h, by the module's one door."""
    _host.call(struct.pack("<IIIIq", which, a, b, MAIL + 24, us))
    n = word_at(MAIL + 24)
    return n - 2 ** 32 if n >= 2 ** 31 else n


def TOOL_TEXT(name, args):
    if "\0" in name:
        raise ValueError("the name of a tool holds a NUL character")
    return name.encode() + b"\0" + carried_args(args).encode()


def TOOL_SEND(text):
    return ask(TOOL_CALL, address(np.frombuffer(text, "u1")), len(text))


def TOOL_HEAR(us):
    n = ask(TOOL_WAIT, 0, MAIL + 28, us)
    if n < 0:
        raise OSError("the host does not answer")
    if not n:
        return None
    room = np.zeros(word_at(MAIL + 28) + 1, "u1")
    if ask(TOOL_ANSWER, n, address(room)):
        raise SystemError("the host lost an answer")
    return n, room[:-1].tobytes()


class Importer:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return type(sys.__spec__)(name, Ours) if name == "redoma" else None


# ---- randomness: seeded when it is first drawn, not before ----

# numpy's old generator, behind numpy.random.rand and its kind, was seeded when
# it was imported.  Each of these names draws a seed first; `_rand`, which other
# packages take it by, is not there until it is asked for.
mtrand = np.random.mtrand
GLOBAL = mtrand._rand
OLD = {name: v for name, v in vars(np.random).items()
       if getattr(v, "__self__", None) is GLOBAL
       or name in ("seed", "get_state", "set_state", "ranf", "sample")}


def wake_numpy(seeded=False):
    if getattr(mtrand, "__getattr__", None) is None:
        return GLOBAL
    seed = None if seeded else int.from_bytes(entropy()[:4], "little")
    del mtrand.__getattr__
    mtrand._rand = GLOBAL
    for name, draw in OLD.items():
        setattr(np.random, name, draw)
        setattr(mtrand, name, draw)
    if not seeded:
        GLOBAL.seed(seed)
    return GLOBAL


def asleep(name, draw):
    @functools.wraps(draw, updated=())
    def first(*args, **kwargs):
        wake_numpy(name == "set_state" or name == "seed" and
                   (args or kwargs) and args != (None,))
        return draw(*args, **kwargs)
    return first


def missing_of_mtrand(name):
    if name == "_rand":
        return wake_numpy()
    raise AttributeError(f"module 'numpy.random.mtrand' has no attribute "
                         f"'{name}'")


def put_numpy_to_sleep():
    for name, draw in OLD.items():
        first = asleep(name, draw)
        setattr(np.random, name, first)
        setattr(mtrand, name, first)
    del mtrand._rand
    mtrand.__getattr__ = missing_of_mtrand


# ---- a run ----

VALUE = "__redoma_value__"
FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
scope = SCOPE = sys.modules["__main__"].__dict__
request = None
source_name = ""


def compiled(source, name):
    """The last expression is the value: it becomes an assignment."""
    tree = compile(source, name, "exec", FLAGS | ast.PyCF_ONLY_AST, True)
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = tree.body[-1]
        at = {k: getattr(last, k) for k in last._attributes}
        tree.body[-1] = ast.Assign([ast.Name(VALUE, ast.Store(), **at)],
                                   last.value, **at)
    return compile(tree, name, "exec", FLAGS, True)


def begin(q):
    global source_name
    source_name = q.name
    sys.argv = q.argv or [q.name]
    for entry in q.env:
        key, _, value = entry.partition("=")
        os.environ[key] = value
    scope["input_data"] = revived(q.input.decode("utf-8", "surrogateescape")) \
        if q.input else None
    text = q.source.decode("utf-8", "replace")
    linecache.cache[q.name] = (len(text), None, text.splitlines(True), q.name)


def told(e):
    """name, message, stack, line, column: without the frames that are ours."""
    frames = [f for f in traceback.extract_tb(shortened(e.__traceback__))
              if f.filename != MINE]
    first = next((i for i, f in enumerate(frames)
                  if f.filename == source_name), 0)
    frames = frames[first:]
    at = next((f for f in reversed(frames) if f.filename == source_name), None)
    line = at.lineno if at else None
    column = at.colno + 1 if at and at.colno is not None else None
    stack = "".join(traceback.format_list(frames))
    if isinstance(e, SyntaxError):
        line, column = e.lineno, e.offset
        stack = "".join(traceback.format_exception_only(type(e), e))
    try:
        message = str(e)
        # Its text has the line again, which is told beside it.
        if isinstance(e, SyntaxError) and line and e.filename == source_name:
            message = str(e.msg)
    except BaseException:
        message = "(its text cannot be made)"
    if isinstance(e, MemoryError) and not message:
        message = "out of memory" if e.__traceback__ \
            else "the source is nested too deeply"
    return (whole(type(e).__name__), whole(message), whole(stack),
            line or 0, column or 0)


def kind_of(e, syntax):
    if isinstance(e, SystemExit):
        return EXIT
    if syntax:
        return SYNTAX
    if isinstance(e, MemoryError):
        return NO_MEMORY
    return STACK if isinstance(e, RecursionError) else THROWN


# What the result's addresses point to.
kept = []


def put_text(at, text):
    data = text.encode()
    kept.append(data)
    if data:
        RESULT[at] = address(np.frombuffer(data, "u1"))
        RESULT[at + 1] = len(data)


def answer_error(e, syntax):
    RESULT[1] = kind_of(e, syntax)
    RESULT[2] = 1
    if RESULT[1] == EXIT:
        RESULT[2] = exit_code(e)
        return
    try:
        name, message, stack, line, column = told(e)
    except Exception:
        # The program changed what tells of errors.
        name, message, stack, line, column = type(e).__name__, "", "", 0, 0
    put_text(5, name)
    put_text(7, message)
    put_text(9, stack)
    RESULT[11], RESULT[12] = line, column


def play(q):
    """The value, as text."""
    if q.tools:
        begin_tools(q.tools, scope)
    code = compiled(q.source, q.name)
    done = eval(code, scope, scope)
    if code.co_flags & inspect.CO_COROUTINE:
        asyncio.run(done)
    if q.tools:
        end_tools()
    value = scope.get(VALUE)
    if value is None:
        value = scope.get("result")
    return carried(value)


def go():
    run(Request(word_at(MAIL + 8)))


def run(q):
    RESULT[:] = 0
    RESULT[0] = ANSWER
    try:
        begin(q)
        text = play(q)
    except BaseException as e:
        syntax = isinstance(e, SyntaxError) and not any(
            f.f_code.co_filename == q.name
            for f, _ in traceback.walk_tb(e.__traceback__))
        answer_error(e, syntax)
    else:
        put_text(3, text)
    finish()


def rehearse(source):
    """A run of ours, before there is a host."""
    q = object.__new__(Request)
    q.source, q.input, q.name = source, b"", "warm.py"
    q.argv, q.env, q.tools = [], [], []
    scope["asyncio"] = asyncio
    run(q)
