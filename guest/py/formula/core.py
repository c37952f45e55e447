"""What the helpers share: errors with a code, and what a value is as a number,
a text, a truth or a list.  Blank is None; dates are datetimes, in UTC."""
import datetime
import math
import re

ONE_DAY = datetime.timedelta(days=1)
EPOCH = datetime.datetime(1899, 12, 30)  # of the numbers of sheets for dates


class Failure(Exception):
    """An error of a cell.  As a value it is that of another formula's cell:
    to compute with it raises it."""
    def __init__(self, code, message):
        self.code_ = code
        self.message_ = message

    def raised(self, *args):
        """Another one: this one may be the cell of many rows, and would keep
        what each of them left when it was raised."""
        raise Failure(self.code_, self.message_) from None


for _name in ("add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv "
              "mod rmod pow rpow divmod and rand or ror xor rxor lshift rshift "
              "neg pos abs invert int float index bool len iter contains "
              "getitem call eq ne lt le gt ge format round trunc floor ceil "
              "getattr str hash").split():
    setattr(Failure, f"__{_name}__", Failure.raised)
del _name


def fail(code, message):
    raise Failure(code, message)


def bad_value(message):
    raise Failure("#VALUE!", message)


def bad_number(message):
    raise Failure("#NUM!", message)


def nothing(message):
    raise Failure("#N/A", message)


def divided(message):
    raise Failure("#DIV/0!", message)


def outside(message):
    raise Failure("#REF!", message)


def moment(v):
    """Of a date of any kind the datetime, in UTC and without a zone."""
    if type(v) is datetime.datetime:
        if v.tzinfo is None:
            return v
        return v.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return datetime.datetime(v.year, v.month, v.day)


def is_date(v):
    return isinstance(v, datetime.date)


def serial(d):
    """The number that a sheet has for a date: days since 1899-12-30."""
    d = moment(d) - EPOCH
    part = d.seconds + d.microseconds / 1e6
    return d.days + part / 86400 if part else d.days


def from_serial(n):
    try:
        return EPOCH + datetime.timedelta(milliseconds=round(n * 86400000))
    except OverflowError:
        bad_number("this number is no date")


LISTS = (list, tuple, Column, range, set, frozenset)
MADE = (type(x for x in ()), Iterator, type({}.keys()), type({}.values()),
        type({}.items()))


def is_list(v):
    return isinstance(v, LISTS) or isinstance(v, MADE)


def shown(v):
    if isinstance(v, str):
        return '"%s"' % (v[:40] + "..." if len(v) > 40 else v)
    return type(v).__name__


PLAIN = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)


def parse(s):
    """A text that is a number; None if it is none."""
    if not PLAIN.fullmatch(s):
        return None
    n = float(s)
    return int(n) if n.is_integer() and abs(n) < 2 ** 53 else n


def number(v):
    kind = type(v)
    if kind is float:
        if v != v:
            bad_number("this is not a number (NaN)")
        if v - v != 0:
            divided("this is infinite")
        return v
    if kind is int:
        return v
    if v is None:
        return 0
    if kind is bool:
        return int(v)
    if kind is str:
        n = parse(v)
        if n is None or n - n != 0:
            bad_value(f"{shown(v)} is not a number")
        return n
    if isinstance(v, Failure):
        v.raised()
    if is_date(v):
        return serial(v)
    if kind is datetime.timedelta:
        return v / ONE_DAY
    if is_list(v):
        v = as_list(v)
        if len(v) == 1:
            return number(v[0])
        bad_value("a list is not one number")
    bad_value(f"what has the type {shown(v)} is not a number")


def real(v):
    try:
        return float(number(v))
    except OverflowError:
        bad_number("this number is too large")


def integer(v):
    return math.trunc(number(v))


def tidy(n):
    """A number as a person reads it: without what binary arithmetic adds."""
    return n if type(n) is int else float("%.15g" % n)


def number_text(n):
    if type(n) is int:
        return str(n)
    if n.is_integer() and abs(n) < 1e21:
        return str(int(n))
    s = repr(n)
    if "e" not in s:
        return s
    head, _, power = s.partition("e")
    if -7 < int(power) < 0:
        return f"{n:.{len(head.lstrip('-').replace('.', '')) - int(power) - 1}f}"
    return f"{head}e{int(power):+d}"


def date_text(d):
    d = moment(d)
    if not (d.hour or d.minute or d.second or d.microsecond):
        return d.date().isoformat()
    return d.isoformat(timespec="milliseconds" if d.microsecond
                       else "seconds") + "Z"


def text(v):
    kind = type(v)
    if kind is str:
        return v
    if v is None:
        return ""
    if kind is bool:
        return "TRUE" if v else "FALSE"
    if kind is int or kind is float:
        return number_text(number(v))
    if isinstance(v, Failure):
        v.raised()
    if is_date(v):
        return date_text(v)
    if kind is datetime.timedelta:
        return number_text(v / ONE_DAY)
    if is_list(v):
        v = as_list(v)
        return text(v[0]) if len(v) == 1 else \
            bad_value("a list is not one text")
    bad_value(f"what has the type {shown(v)} is not a text")


def truth(v):
    if v is True or v is False:
        return v
    if type(v) is str:
        s = v.upper()
        if s == "TRUE" or s == "FALSE":
            return s == "TRUE"
        bad_value(f"{shown(v)} is neither true nor false")
    return number(v) != 0


# What whole columns come to is the same for each row: it is computed once, and not
# in the time of the row that happens to be the first.  They stay as they are, and
# as long as the batch.  None of this runs code of a formula.
COLUMNS = {}  # the cells of each column that was used: id -> tuple
INDEXES = {}  # of some of them: id -> (index by key, where an error is first)
NUMBERS = {}  # likewise: id -> their numbers
MEMO = {}     # what helpers came to
MEMO_MAX = 4096
SCALARS = {int, float, str, bool, type(None)}


def aside(f, *args):
    was = ASIDE(True)
    try:
        return f(*args)
    finally:
        ASIDE(was)


def as_list(v):
    """The elements of what is a list, else of a list of it alone."""
    if isinstance(v, Failure):
        v.raised()
    if isinstance(v, (list, tuple)):
        return v
    if isinstance(v, Column):
        cells = aside(CELLS, v)
        COLUMNS[id(cells)] = cells
        return cells
    return list(v) if is_list(v) else [v]


def of_columns(f):
    """A helper whose result cannot be changed."""
    def remembering(*args):
        key, whole = [f], False
        for v in args:
            kind = type(v)
            if kind is Column:
                whole = True
                key.append(id(v))
            elif kind in SCALARS:
                key.append((kind, v))
            else:
                return f(*args)
        if not whole:
            return f(*args)
        key = tuple(key)
        v = MEMO.get(key, MEMO)
        if v is MEMO:
            v = aside(f, *args)
            if len(MEMO) < MEMO_MAX:
                MEMO[key] = v
        return v
    remembering.__name__ = f.__name__
    return remembering


def flat(v):
    """The cells of a list, of a list of lists one after another."""
    for cell in as_list(v):
        if is_list(cell):
            yield from flat(cell)
        else:
            yield cell


def numbers_in(cells):
    found = []
    for cell in cells:
        kind = type(cell)
        if kind is float or kind is int:
            found.append(number(cell))
        elif isinstance(cell, Failure):
            cell.raised()
        elif is_date(cell):
            found.append(serial(cell))
    return found


def numbers_of_column(v):
    found = NUMBERS.get(id(v))
    if found is None:
        found = NUMBERS[id(v)] = aside(numbers_in, as_list(v))
    return found


def numbers(args):
    """What stands in a list counts only if it is a number, what is given by
    itself has to be one."""
    found = []
    for v in args:
        kind = type(v)
        if kind is int or kind is float:
            found.append(number(v))
        elif v is None:
            pass
        elif kind is Column:
            found += numbers_of_column(v)
        elif not is_list(v):
            found.append(number(v))
        else:
            found += numbers_in(flat(v))
    return found


def rank(v):
    """The order of a sheet: numbers, texts without regard to case, truths."""
    kind = type(v)
    if kind is int or kind is float or is_date(v):
        return 0
    return 1 if kind is str else 2 if kind is bool else 3


def compare(a, b):
    if isinstance(a, Failure):
        a.raised()
    if isinstance(b, Failure):
        b.raised()
    ra, rb = rank(a), rank(b)
    if ra != rb:
        return ra - rb
    if ra == 3:
        return 0
    if ra == 1:
        a, b = a.lower(), b.lower()
    elif ra == 0:
        a = serial(a) if is_date(a) else a
        b = serial(b) if is_date(b) else b
    return -1 if a < b else 1 if a > b else 0


def equal(a, b):
    if a is None or b is None:
        other = b if a is None else a
        return other is None or other == "" or \
            (type(other) in (int, float) and other == 0)
    return compare(a, b) == 0


def wildcard(s, whole):
    """A text with * and ?, and ~ before them, as a pattern."""
    p, i = "", 0
    while i < len(s):
        c = s[i]
        if c == "~" and i + 1 < len(s):
            i += 1
            p += re.escape(s[i])
        else:
            p += ".*" if c == "*" else "." if c == "?" else re.escape(c)
        i += 1
    return re.compile(f"(?:{p})\\Z" if whole else p, re.I | re.S)


OPERATOR = re.compile(r"(<=|>=|<>|<|>|=)(.*)", re.S)
ORDERS = {"<": lambda n: n < 0, ">": lambda n: n > 0, "<=": lambda n: n <= 0,
          ">=": lambda n: n >= 0}


def wanted(want):
    """What a condition's text stands for."""
    n = parse(want)
    if n is not None:
        return n
    d = iso_date(want)
    if d:
        return serial(d)
    up = want.upper()
    return up == "TRUE" if up in ("TRUE", "FALSE") else want


def sameness(want):
    if type(want) is str:
        p = wildcard(want, True)
        return lambda v: type(v) is str and p.match(v) is not None

    def same(v):
        if is_date(v):
            v = serial(v)
        elif type(v) is str and type(want) is not bool:
            v = parse(v)
        return (type(v) is bool) == (type(want) is bool) and v == want
    return same


def criterion(c):
    """A condition as COUNTIF has it: ">5", "<>x", "a*", or a value."""
    if isinstance(c, Failure):
        c.raised()
    m = OPERATOR.fullmatch(c) if type(c) is str else None
    op, want = m.groups() if m else ("=", c)
    if want is None or (m and want == ""):
        if op == "<>":
            return lambda v: v is not None and v != ""
        return (lambda v: v is None) if m else \
            lambda v: type(v) in (int, float) and v == 0
    if want == "":
        return lambda v: v is None or v == ""
    if type(want) is str:
        want = wanted(want)
    elif is_date(want):
        want = serial(want)
    same = sameness(want)
    if op == "=":
        return same
    if op == "<>":
        return lambda v: not same(v)

    def ordered(v):
        if is_date(v):
            v = serial(v)
        return rank(v) == rank(want) and ORDERS[op](compare(v, want))
    return ordered


HELPERS = {}


def helper(f):
    HELPERS[f.__name__] = f
    return f
