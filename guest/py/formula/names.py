"""What names there are in a formula.  Nothing of it can be changed by one: an
expression sets no attribute, and what leads inside of a function is refused
(tree.c)."""
import _strptime
import builtins
import gc
import sys
import time
import types
import unicodedata  # of the parser, for names beyond ASCII

RANGE_MAX = 1 << 20


def bounded_range(*args):
    """What runs over it in C looks at no clock."""
    r = range(*args)
    if len(r) > RANGE_MAX:
        raise ValueError("a range has at most 1,048,576 numbers")
    return r


def imported(name, *args):
    """What datetime asks for; a formula cannot name it."""
    if name not in ("time", "_strptime"):
        raise ImportError("a formula imports nothing")
    return sys.modules[name]


def looking(kind):
    """Such an iterator, of which each step looks at the clock."""
    return lambda *args, **more: POLLED(kind(*args, **more))


def sum_numbers(values, /, start=0):
    if not isinstance(start, (int, float, complex, datetime.timedelta)):
        raise TypeError("sum adds numbers; join texts by ''.join or TEXTJOIN")
    return sum(values, start)


class Row(dict):
    """A row, or all of a table, by names: as keys and as attributes."""
    __slots__ = ()

    def __missing__(self, name):
        raise NameError(f"there is no column {shown(name)}")

    def __getattr__(self, name):
        return self[name]


class Chosen(types.SimpleNamespace):
    """Names of a module, which stay as they are."""

    def __setattr__(self, name, value):
        raise AttributeError("the names of a module are read-only")

    __delattr__ = None


def chosen_of(module, names):
    return Chosen(**{n: getattr(module, n)
                                    for n in names.split()})


NAMES = {n: getattr(builtins, n) for n in (
    "abs all any ascii bin bool bytes callable chr complex dict divmod float "
    "format frozenset hash hex int isinstance len list max min next oct ord "
    "pow repr round set slice sorted str tuple").split()}
NAMES |= {n: looking(getattr(builtins, n)) for n in (
    "enumerate filter iter map reversed zip").split()}
NAMES |= {
    "range": bounded_range, "sum": sum_numbers, "true": True, "false": False,
    "null": None,
    "math": chosen_of(math, " ".join(n for n in dir(math) if n[0] != "_")),
    "re": chosen_of(re, "compile search match fullmatch split findall "
                    "finditer sub subn escape A ASCII I IGNORECASE M "
                    "MULTILINE S DOTALL X VERBOSE"),
    "datetime": chosen_of(datetime, "date datetime time timedelta timezone "
                          "MINYEAR MAXYEAR UTC"),
}
NAMES |= HELPERS | INNER
NAMES["__import__"] = imported
GLOBALS = {"__builtins__": NAMES}


def settle():
    """The last thing before the snapshot: nothing of the warm-up is left, and
    nothing can be imported."""
    re.purge()
    sys.meta_path[:] = []
    sys.path_hooks[:] = []
    sys.path[:] = []
    sys._clear_internal_caches()
    gc.collect()
    roots = gc.get_objects()
    gc.freeze()
    return roots
