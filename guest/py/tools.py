"""The caller's tools: tools.NAME(...) is the answer, or in async code what is
awaited for it.
"""
AGAIN, TOO_BIG = -6, -1  # errno of WASI, negative
ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class ToolError(Exception):
    """A call that failed.  Its class has the name that the tool gave."""
    __module__ = "redoma"
    tool = name = message = None


def failure(tool, name, message):
    e = type(name, (ToolError,), {"__module__": "redoma"})(message)
    e.tool, e.name, e.message = tool, name, message
    return e


class Answer(asyncio.Future):
    """What is awaited."""
    __slots__ = ("_tool",)

    def __getitem__(self, key):
        raise TypeError(self.forgotten())

    def __getattr__(self, name):
        raise AttributeError(name if name[0] == "_" else self.forgotten())

    def forgotten(self):
        return (f"the answer of tools.{self._tool} was not awaited: write "
                f"`await tools.{self._tool}(...)`")


class Call:
    __slots__ = ("tool", "text", "over", "error", "value", "answer")


granted = []
unsent = collections.deque()
sent = {}


def settle_call(call, error, value=None):
    call.over, call.error, call.value = True, error, value
    answer = call.answer
    if answer is None or answer.done() or answer.get_loop().is_closed():
        return
    if error is None:
        answer.set_result(value)
    else:
        answer.set_exception(error)


def send_more():
    """As many as may be under way."""
    while unsent:
        call = unsent[0]
        if call.answer is None or not call.answer.cancelled():
            n = TOOL_SEND(call.text)
            if n == AGAIN:
                return
            if n > 0:
                sent[n] = call
            else:
                settle_call(call, failure(
                    call.tool, "ToolError", "the arguments of one call are "
                    "over 1 MiB: grant a file, or call it for a part at a "
                    "time" if n == TOO_BIG else
                    f"tools.{call.tool} cannot be called here: the caller "
                    "granted no tool" if not granted else
                    "the tool cannot be called here"))
        call.text = None
        unsent.popleft()


def take_answer(n, answer):
    call = sent.pop(n)
    if answer[:1] != b"\0":
        name, message = answer[1:].split(b"\0", 1)
        settle_call(call, failure(call.tool, name.decode(errors="replace"),
                                  message.decode(errors="replace")))
        return
    try:
        value = revived(answer[1:].decode())
    except MemoryError:
        raise
    except Exception:
        settle_call(call, failure(
            call.tool, "ToolError", "the tool's answer cannot be read: it is "
            "nested too deeply, or has a $redoma tag that is unknown"))
    else:
        settle_call(call, None, value)


def hear(us):
    """Takes what was answered; if nothing was, waits that long (-1: for
    ever)."""
    while got := TOOL_HEAR(us):
        take_answer(*got)
        us = 0
    send_more()


def wanted():
    """Some call's answer would be of use to the loop."""
    for calls in (sent.values(), unsent):
        for call in calls:
            if call.answer is not None and not call.answer.done():
                return True
    return False


def in_async(frame):
    """Whether the program's code at that frame is that of an `async def`.
    Generator expressions and lambdas belong to what they stand in; what the
    library calls, to who called the library."""
    if asyncio._get_running_loop() is None:
        return False
    while frame and (frame.f_code.co_filename.startswith("<")
                     or frame.f_code.co_name in ("<genexpr>", "<lambda>")):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_flags & ASYNC != 0


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
        call.text = TOOL_TEXT(name, named)
        if self.ahead or in_async(sys._getframe(1)):
            call.answer = Answer(loop=asyncio.get_running_loop())
            call.answer._tool = name
            unsent.append(call)
            send_more()
            return call.answer
        unsent.append(call)
        send_more()
        while not call.over:
            hear(-1)
        if call.error is not None:
            raise call.error
        return call.value


class Tools:
    """A name that was not granted is called all the same: the caller of this
    run learns of it, and the program is told."""
    __slots__ = ("ahead",)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "aio" and name not in granted and not self.ahead:
            return awaited_tools
        return Tool(name, self.ahead)

    def __getitem__(self, name):
        return Tool(name, self.ahead)

    def __iter__(self):
        return iter(granted)

    def __len__(self):
        return len(granted)

    def __contains__(self, name):
        return name in granted

    def __dir__(self):
        return [*granted]

    def __repr__(self):
        return f"<tools: {', '.join(granted)}>"


tools = Tools()
tools.ahead = False
awaited_tools = Tools()
awaited_tools.ahead = True


def carried_args(args):
    return carried(args, "arguments")


def begin_tools(names, scope):
    granted[:] = names
    scope["tools"] = tools


def end_tools():
    """A call that nobody waits for is still answered."""
    while sent or unsent:
        if all(c.answer is not None and c.answer.cancelled()
               for calls in (sent.values(), unsent) for c in calls):
            return
        hear(-1)


class Ours:
    """The module `redoma`."""
    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        module.ToolError = ToolError
        module.input_data = SCOPE["input_data"]
        module.tools = tools
