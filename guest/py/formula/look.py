"""Looking things up.  A table is a list of rows (lists), a list of whole columns
([rows.sku, rows.price]), or rows itself."""


def table(v):
    """The columns of it."""
    if isinstance(v, Failure):
        v.raised()
    if isinstance(v, dict):  # rows
        return [as_list(c) for c in v.values()]
    if not is_list(v):
        bad_value("this is no table")
    v = as_list(v)
    if v and isinstance(v[0], Column):
        return [as_list(c) for c in v]
    rows = [as_list(row) for row in v]
    return [[row[i] if i < len(row) else None for row in rows]
            for i in range(max(map(len, rows), default=0))]


def one(v):
    if isinstance(v, Failure):
        v.raised()
    return v


WILD = re.compile(r"[*?~]")


def key_of(v):
    """Equal for what compare says is equal; None if that is nothing."""
    kind = rank(v)
    if kind == 0:
        return serial(v) if is_date(v) else v
    return v.lower() if kind == 1 else (v,) if kind == 2 else None


def index_of(cells):
    """Of a column that is used again and again."""
    found = INDEXES.get(id(cells))
    if not found:
        found = INDEXES[id(cells)] = aside(places_in, cells)
    return found


def places_in(cells):
    places = {}
    for i, v in enumerate(cells):
        if isinstance(v, Failure):
            return places, i
        places.setdefault(key_of(v), i)
    return places, len(cells)


def exact_in_column(cells, key):
    places, error = index_of(cells)
    key = key_of(key)
    i = places.get(key, -1) if key is not None else -1
    if i < 0 and error < len(cells):
        cells[error].raised()
    return i


def exact(cells, key, last=False, wild=True):
    """Index of what equals the key; texts may have wildcards."""
    order = range(len(cells))
    pattern = wild and type(key) is str and WILD.search(key)
    if not pattern and not last and id(cells) in COLUMNS:
        return exact_in_column(cells, key)
    if pattern:
        p = wildcard(key, True)

        def same(v):
            return type(v) is str and p.match(v) is not None
    else:
        def same(v):
            return v is not None and compare(v, key) == 0
    return next((i for i in (reversed(order) if last else order)
                 if same(cells[i])), -1)


def same_kind(a, b):
    return rank(a) == rank(b)


def nearest(cells, key, down):
    """The last that is not beyond the key, in a sorted list."""
    if down:
        i = 0
        while i < len(cells) and compare(cells[i], key) >= 0:
            i += 1
        return i - 1
    low, high = 0, len(cells)
    while low < high:
        mid = (low + high) // 2
        if compare(cells[mid], key) <= 0:
            low = mid + 1
        else:
            high = mid
    return next((i for i in range(low - 1, -1, -1)
                 if same_kind(cells[i], key)), -1)


def missing(key):
    nothing(f'"{text(key)[:40]}" was not found')


def lookup(key, keys, values, approximate):
    key = one(key)
    i = nearest(keys, key, False) if approximate else exact(keys, key)
    return missing(key) if i < 0 else one(values[i])


@helper
def VLOOKUP(key, where, column, approximate=True):
    t = table(where)
    if type(column) is str and isinstance(where, dict):
        c = list(where).index(column) + 1 if column in list(where) else 0
    else:
        c = integer(column)
    if c < 1:
        bad_value("columns count from 1")
    if c > len(t):
        outside("VLOOKUP past the last column")
    return lookup(key, t[0], t[c - 1], truth(approximate))


@helper
def HLOOKUP(key, where, row, approximate=True):
    t, r = table(where), integer(row)
    if r < 1:
        bad_value("rows count from 1")
    if not t or r > len(t[0]):
        outside("HLOOKUP past the last row")
    return lookup(key, [c[0] for c in t], [c[r - 1] for c in t],
                  truth(approximate))


@helper
def MATCH(key, cells, kind=1):
    key, cells, kind = one(key), as_list(cells), number(kind)
    i = exact(cells, key) if kind == 0 else nearest(cells, key, kind < 0)
    return missing(key) if i < 0 else i + 1


def closest(keys, key, mode):
    """Of those beyond the key, or before it, the nearest."""
    best = -1
    for k, v in enumerate(keys):
        c = compare(v, key)
        if v is None or (c > 0 if mode < 0 else c < 0):
            continue
        d = compare(v, keys[best]) if best >= 0 else 0
        if best < 0 or (d > 0 if mode < 0 else d < 0):
            best = k
    return best


MISSING = object()


@helper
def XLOOKUP(key, keys, values, other=MISSING, mode=0, search=1):
    key, keys, values = one(key), as_list(keys), as_list(values)
    if len(keys) != len(values):
        bad_value("XLOOKUP needs as many keys as values")
    mode = number(mode)
    i = exact(keys, key, number(search) < 0, mode == 2)
    if i < 0 and mode in (1, -1):
        i = closest(keys, key, mode)
    if i >= 0:
        return one(values[i])
    return missing(key) if other is MISSING else other


@helper
def INDEX(cells, row, column=None):
    flat_one = is_list(cells) and not any(map(is_list, as_list(cells)[:1]))
    if flat_one:
        cells = as_list(cells)
        r = None if row is None else integer(row)
        if r is None or (column is not None and r <= 1 and
                         len(cells) >= integer(column)):
            r = integer(column)
        if r == 0:
            return list(cells)
        return one(cells[r - 1]) if 1 <= r <= len(cells) else \
            outside("INDEX lies outside of the list")
    t = table(cells)
    c, r = integer(1 if column is None else column), integer(row)
    if not 0 <= c <= len(t) or not 0 <= r <= len(t[max(c, 1) - 1]):
        outside("INDEX lies outside of the table")
    # 0 is all of them.
    if c == 0 and r == 0:
        return [list(row) for row in zip(*t)]
    if c == 0:
        return [cells[r - 1] for cells in t]
    return list(t[c - 1]) if r == 0 else one(t[c - 1][r - 1])


@helper
def UNIQUE(cells):
    seen, found = [set(), set(), set(), set()], []
    for v in as_list(cells):
        kind = rank(v)
        key = v.lower() if kind == 1 else \
            serial(v) if is_date(v) else repr(v) if kind == 3 else v
        if key not in seen[kind]:
            seen[kind].add(key)
            found.append(one(v))
    return found


class Order:
    """By the order of a sheet; blanks are the last."""
    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        return compare(self.v, other.v) < 0


def ordered(cells, down):
    some = [v for v in cells if one(v) is not None]
    return sorted(some, key=Order, reverse=down) + \
        [None] * (len(cells) - len(some))


@helper
def SORT(cells, column=1, direction=1):
    down, cells = number(direction) < 0, as_list(cells)
    if not cells or not is_list(cells[0]):
        return ordered(cells, down)
    c = integer(column) - 1
    return sorted(cells, key=lambda row: Order(as_list(row)[c]), reverse=down)


@helper
def FILTER(cells, include, other=MISSING):
    cells, include = as_list(cells), as_list(include)
    if len(cells) != len(include):
        bad_value("FILTER needs a truth for each element")
    found = [v for v, c in zip(cells, include) if truth(c)]
    if found or other is MISSING:
        return found or nothing("FILTER leaves nothing")
    return other
