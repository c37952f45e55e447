"""Texts.  Positions count from 1, in characters."""

MOST = 1 << 22


def count(n, what):
    n = integer(n)
    return n if n >= 0 else bad_value(f"{what} is negative")


def position(n):
    n = integer(n)
    return n if n >= 1 else bad_value("positions count from 1")


def bounded(n):
    if n > MOST:
        bad_value("the text would be over 4 MiB")


def find(what, s, start, pattern):
    s, what = text(s), text(what)
    start = position(start) - 1
    if start > len(s):
        bad_value("the position is behind the text")
    if pattern:
        m = wildcard(what, False).search(s, start)
        at = m.start() if m else -1
    else:
        at = s.find(what, start)
    return at + 1 if at >= 0 else bad_value(f'"{what}" is not in the text')


def texts(args):
    return [text(cell) for cell in flat(args)]


@helper
def LEFT(s, n=1):
    return text(s)[:count(n, "the length")]


@helper
def RIGHT(s, n=1):
    s, n = text(s), count(n, "the length")
    return s[-n:] if n else ""


@helper
def MID(s, start, n):
    start = position(start) - 1
    return text(s)[start:start + count(n, "the length")]


@helper
def LEN(s):
    return len(text(s))


@helper
def TRIM(s):
    return re.sub(" +", " ", text(s)).strip(" ")


@helper
def CLEAN(s):
    return re.sub(r"[\0-\x1f]", "", text(s))


@helper
def UPPER(s):
    return text(s).upper()


@helper
def LOWER(s):
    return text(s).lower()


WORD = re.compile(r"[^\W\d_]+")


@helper
def PROPER(s):
    return WORD.sub(lambda m: m[0][0].upper() + m[0][1:], text(s).lower())


@helper
def SUBSTITUTE(s, old, new, n=None):
    """The n-th of `old`, or all of them, by `new`."""
    s, old, new = text(s), text(old), text(new)
    if n is not None:
        n = position(n)
    if old == "":
        return s
    if n is None:
        bounded(s.count(old) * len(new))
        return s.replace(old, new)
    i = s.find(old)
    while i >= 0 and n > 1:
        n -= 1
        i = s.find(old, i + len(old))
    return s if i < 0 else s[:i] + new + s[i + len(old):]


@helper
def REPLACE(s, start, n, by):
    s, start = text(s), position(start) - 1
    return s[:start] + text(by) + s[start + count(n, "the length"):]


@helper
def REPT(s, n):
    s, n = text(s), count(n, "the number")
    if not s:
        return s
    bounded(len(s) * n)
    return REPEATED(s, n)


@helper
def EXACT(a, b):
    return text(a) == text(b)


@helper
def FIND(what, s, start=1):
    return find(what, s, start, False)


@helper
def SEARCH(what, s, start=1):
    return find(what, s, start, True)


MONEY = re.compile(r"([+-]?)\s*[$€£¥]\s*")
CLOCK = re.compile(r"(\d{1,4}):([0-5]?\d)(?::([0-5]?\d(?:\.\d+)?))?"
                   r"\s*([AaPp][Mm])?", re.ASCII)
GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?", re.ASCII)


def day_part(s):
    """What a time is of a day; None if the text is none."""
    m = CLOCK.fullmatch(s)
    if not m:
        return None
    h, minute, sec, half = int(m[1]), int(m[2]), float(m[3] or 0), m[4]
    if half:
        if not 1 <= h <= 12:
            return None
        h = h % 12 + (12 if half[0] in "Pp" else 0)
    return tidy((h * 3600 + minute * 60 + sec) / 86400)


@helper
def VALUE(v):
    if type(v) is not str:
        return number(v)
    s, sign, scale = v.strip(), 1, 1
    if s.startswith("(") and s.endswith(")"):
        s, sign = s[1:-1], -1
    if s.endswith("%"):
        s, scale = s[:-1].strip(), 100
    s = MONEY.sub(r"\1", s, count=1) if MONEY.match(s) else s
    if GROUPED.fullmatch(s):
        s = s.replace(",", "")
    n = parse(s)
    if n is not None and n - n == 0:
        n *= sign
        return n / scale if scale > 1 else n
    d = iso_date(v.strip())
    n = serial(d) if d else day_part(v.strip())
    return bad_value(f"{shown(v)} is not a number") if n is None else n


def joined(between, parts):
    bounded(sum(map(len, parts)) + len(between) * max(len(parts) - 1, 0))
    return between.join(parts)


@helper
def CONCAT(*args):
    return joined("", texts(args))


@helper
def CONCATENATE(*args):
    return joined("", texts(args))


@helper
def TEXTJOIN(between, skip, *args):
    parts = texts(args)
    if truth(skip):
        parts = [s for s in parts if s]
    return joined(text(between), parts)


@helper
def SPLIT(s, by):
    s, by = text(s), text(by)
    return s.split(by) if by else list(s)


@helper
def CHAR(n):
    n = integer(n)
    if not 1 <= n <= 0x10ffff or 0xd800 <= n < 0xe000:
        bad_value("no such character")
    return chr(n)


@helper
def CODE(s):
    s = text(s)
    return ord(s[0]) if s else \
        bad_value("an empty text has no first character")
