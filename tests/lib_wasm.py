"""WebAssembly binaries by hand: WebAssembly Core Specification 2.0, ch. 5."""
MAGIC = b"\0asm\1\0\0\0"
I32, I64, F32, F64, V128, FUNCREF, EXTERNREF = (
    0x7F, 0x7E, 0x7D, 0x7C, 0x7B, 0x70, 0x6F)
WASI = "wasi_snapshot_preview1"


def u(n):
    """Unsigned LEB128."""
    out = bytearray()
    while True:
        n, low = n >> 7, n & 0x7F
        out.append(low | (0x80 if n else 0))
        if not n:
            return bytes(out)


def s(n):
    """Signed LEB128."""
    out = bytearray()
    while True:
        low, n = n & 0x7F, n >> 7
        done = (n == 0 and not low & 0x40) or (n == -1 and low & 0x40)
        out.append(low | (0 if done else 0x80))
        if done:
            return bytes(out)


def vec(items):
    items = list(items)
    return u(len(items)) + b"".join(items)


def name(text):
    raw = text if isinstance(text, bytes) else text.encode()
    return u(len(raw)) + raw


def section(number, body):
    return bytes([number]) + u(len(body)) + body


def functype(params=(), results=()):
    return b"\x60" + vec(bytes([p]) for p in params) + vec(
        bytes([r]) for r in results)


def imported(module, field, kind=b"\0\0"):
    return name(module) + name(field) + kind


def body(code, locals_=b"\0"):
    inner = locals_ + code + b"\x0b"
    return u(len(inner)) + inner


def limits(low, high=None):
    return b"\0" + u(low) if high is None else b"\1" + u(low) + u(high)


def custom(label, data):
    return section(0, name(label) + data)


def module(types=(functype(),), imports=(), functions=(0,), codes=(body(b""),),
           exports=("_start",), memory=limits(1), start=None, before=b"",
           after=b"", tables=(), globals_=(), elems=(), datas=(), extra_memory=(),
           export_memory=True):
    """Parts are ready-made bytes; defaults are a module that does nothing."""
    out = MAGIC + before + section(1, vec(types))
    if imports:
        out += section(2, vec(imports))
    out += section(3, vec(u(f) for f in functions))
    if tables:
        out += section(4, vec(tables))
    memories = ([memory] if memory else []) + list(extra_memory)
    if memories:
        out += section(5, vec(memories))
    if globals_:
        out += section(6, vec(globals_))
    rows = [name(e) + b"\0" + u(len(imports) + n)
            for n, e in enumerate(exports)]
    if memory and export_memory:
        rows.append(name("memory") + b"\2\0")
    out += section(7, vec(rows))
    if start is not None:
        out += section(8, u(start))
    if elems:
        out += section(9, vec(elems))
    out += section(10, vec(codes))
    if datas:
        out += section(11, vec(datas))
    return out + after


def const(n):
    return b"\x41" + s(n)


LOOP = b"\x03\x40\x0c\x00\x0b"  # loop br 0 end
UNREACHABLE = b"\x00"
DROP = b"\x1a"
