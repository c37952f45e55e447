"""Conditions.  IF, IFS, SWITCH, AND, OR, IFERROR and IFNA are rewritten so that
they evaluate no more than they need; under these names stand what that makes
use of, and functions for who passes one on."""


def every(v, want):
    """Of a list every cell that has a truth counts."""
    some = False
    for cell in flat(v):
        if isinstance(cell, Failure):
            cell.raised()
        if type(cell) not in (bool, int, float):
            continue
        some = True
        if truth(cell) is not want:
            return False
    return some or bad_value("no cell of the list is true or false")


def all_true(v):
    return every(v, True) if is_list(v) else truth(v)


def some_true(v):
    return not every(v, False) if is_list(v) else truth(v)


def no_case():
    nothing("no condition was true, and no case was equal")


def settled(v):
    if isinstance(v, Failure):
        v.raised()
    if type(v) is float and v - v != 0 and v == v:
        number(v)
    return v


def caught(f, other):
    try:
        return settled(f())
    except MemoryError:
        raise
    except Exception:
        pass
    return other()


def caught_na(f, other):
    try:
        return settled(f())
    except Failure as e:
        if e.code_ != "#N/A":
            raise
    return other()


INNER = {"$T": truth, "$A": all_true, "$O": some_true, "$N": no_case,
         "$Q": equal, "$E": caught, "$EN": caught_na, "$R": REPEATED}


@helper
def IF(c, a, b=False):
    return a if truth(c) else b


@helper
def IFS(*args):
    for c, v in zip(args[::2], args[1::2]):
        if truth(c):
            return v
    no_case()


@helper
def SWITCH(v, *args):
    for case, to in zip(args[::2], args[1::2]):
        if equal(v, case):
            return to
    return args[-1] if len(args) % 2 else no_case()


@helper
def IFERROR(v, other=None):
    return caught(lambda: v, lambda: other)


@helper
def IFNA(v, other=None):
    return caught_na(lambda: v, lambda: other)


@helper
def AND(*args):
    return all(map(all_true, args))


@helper
def OR(*args):
    return any(map(some_true, args))


@helper
def XOR(*args):
    return sum(map(some_true, args)) % 2 == 1


@helper
def NOT(v):
    return not truth(v)


@helper
def TRUE():
    return True


@helper
def FALSE():
    return False


@helper
def NA():
    nothing("NA()")


@helper
def ISBLANK(v):
    return v is None


@helper
def ISNUMBER(v):
    return type(v) in (int, float) or is_date(v)


@helper
def ISTEXT(v):
    return type(v) is str


@helper
def ISLOGICAL(v):
    return type(v) is bool
