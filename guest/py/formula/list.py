"""Of many values one."""


def total(values):
    return sum(values)


def spread(values, less):
    """Far from zero the sum of squares must not lose its digits."""
    n = len(values) - less
    if n <= 0:
        divided("too few numbers")
    mean = total(values) / len(values)
    return total([(v - mean) * (v - mean) for v in values]) / n


def dated(args, n):
    """A date if nothing but dates was given."""
    for v in flat(args):
        if v is not None and not is_date(v):
            return n
    return from_serial(n) if args and n else n


def extreme(args, how):
    values = numbers(args)
    if not values:
        return 0
    best = how(values)
    return best if type(args[0]) in (int, float) else dated(args, best)


def percentile(values, k):
    k = number(k)
    if not values:
        bad_number("a percentile of no numbers")
    if not 0 <= k <= 1:
        bad_number("a percentile lies between 0 and 1")
    values.sort()
    at = k * (len(values) - 1)
    low = math.floor(at)
    if low + 1 >= len(values):
        return values[low]
    return values[low] + (at - low) * (values[low + 1] - values[low])


def chosen(cells, condition, values):
    """The numbers of `values` where `cells` meets the condition."""
    test, cells = criterion(condition), as_list(cells)
    values = cells if values is None else as_list(values)
    found = []
    for cell, v in zip(cells, values):
        if not test(cell):
            continue
        if isinstance(v, Failure):
            v.raised()
        if type(v) in (int, float):
            found.append(v)
        elif is_date(v):
            found.append(serial(v))
    return found


def average(values):
    return total(values) / len(values) if values else \
        divided("the average of no numbers")


@helper
@of_columns
def SUM(*args):
    return total(numbers(args))


@helper
@of_columns
def PRODUCT(*args):
    return math.prod(numbers(args))


@helper
@of_columns
def AVERAGE(*args):
    return average(numbers(args))


@helper
@of_columns
def MIN(*args):
    return extreme(args, min)


@helper
@of_columns
def MAX(*args):
    return extreme(args, max)


def counts(v):
    return type(v) in (int, float, bool) or is_date(v) or \
        (type(v) is str and parse(v) is not None)


@helper
@of_columns
def COUNT(*args):
    n = 0
    for v in args:
        if is_list(v):
            n += sum(type(c) in (int, float) or is_date(c) for c in flat(v))
        else:
            n += counts(v)
    return n


@helper
@of_columns
def COUNTA(*args):
    return sum(v is not None for v in flat(args))


@helper
@of_columns
def COUNTBLANK(*args):
    return sum(v is None or (type(v) is str and v == "") for v in flat(args))


@helper
@of_columns
def COUNTIF(cells, condition):
    test = criterion(condition)
    return sum(bool(test(v)) for v in as_list(cells))


@helper
@of_columns
def SUMIF(cells, condition, values=None):
    return total(chosen(cells, condition, values))


@helper
@of_columns
def AVERAGEIF(cells, condition, values=None):
    return average(chosen(cells, condition, values))


@helper
@of_columns
def MEDIAN(*args):
    values = numbers(args)
    if not values:
        bad_number("the median of no numbers")
    return percentile(values, 0.5)


@helper
@of_columns
def VAR(*args):
    return spread(numbers(args), 1)


@helper
@of_columns
def VARP(*args):
    return spread(numbers(args), 0)


@helper
@of_columns
def STDEV(*args):
    return math.sqrt(spread(numbers(args), 1))


@helper
@of_columns
def STDEVP(*args):
    return math.sqrt(spread(numbers(args), 0))


@helper
@of_columns
def PERCENTILE(cells, k):
    return percentile(numbers([cells]), k)


@of_columns
def in_order(cells):
    return tuple(sorted(numbers([cells])))


def below(values, x, equal):
    """How many of the sorted values are less than x, or that and equal."""
    low, high = 0, len(values)
    while low < high:
        mid = (low + high) // 2
        if values[mid] < x or (equal and values[mid] == x):
            low = mid + 1
        else:
            high = mid
    return low


@helper
def RANK(x, cells, order=0):
    x, up, values = number(x), truth(order), in_order(cells)
    less, most = below(values, x, False), below(values, x, True)
    if less == most:
        nothing("RANK of what is not in the list")
    return less + 1 if up else len(values) - most + 1


def placed(cells, k, down):
    values = sorted(numbers([cells]), reverse=down)
    k = integer(k)
    return values[k - 1] if 1 <= k <= len(values) else \
        bad_number("no such place")


@helper
@of_columns
def LARGE(cells, k):
    return placed(cells, k, True)


@helper
@of_columns
def SMALL(cells, k):
    return placed(cells, k, False)
