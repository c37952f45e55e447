"""Arithmetic."""


def checked(n):
    if type(n) is complex or (type(n) is float and n - n != 0):
        bad_number("the result is no number that can be had")
    return n


# A number without a fraction stays what it is: as an integer it might be one of
# three hundred digits.
def floor(n):
    return n if abs(n) >= 2 ** 53 else math.floor(n)


def ceil(n):
    return n if abs(n) >= 2 ** 53 else math.ceil(n)


def floor_half(n):
    return floor(n + 0.5)


def at(x, digits, how):
    """x rounded by `how` at that decimal: as the digits that one reads say, so
    that 1.005 rounds up."""
    d, x = integer(digits), number(x)
    if d > 15 or x == 0 or (type(x) is int and d >= 0):
        return x
    if d < -300:
        return 0
    a, p = abs(x), 10 ** abs(d)
    n = how(tidy(a / p if d < 0 else a * p))
    n = n * p if d < 0 else tidy(n / p)
    return -n if x < 0 else n


def multiple(x, by, how):
    """To a multiple, up or down; the sign of both says which way is up."""
    x, by = number(x), number(by)
    if x == 0:
        return 0
    if x > 0 and by < 0:
        bad_number("a positive number has no negative multiple")
    return tidy(how(tidy(x / by)) * by)


@helper
def ROUND(x, digits=0):
    return at(x, digits, floor_half)


@helper
def ROUNDUP(x, digits=0):
    return at(x, digits, ceil)


@helper
def ROUNDDOWN(x, digits=0):
    return at(x, digits, floor)


@helper
def TRUNC(x, digits=0):
    return at(x, digits, floor)


@helper
def INT(x):
    return floor(number(x))


@helper
def CEILING(x, by=1):
    return 0 if number(by) == 0 else multiple(x, by, ceil)


@helper
def FLOOR(x, by=1):
    if number(by) == 0:
        return 0 if number(x) == 0 else divided("FLOOR to a multiple of 0")
    return multiple(x, by, floor)


@helper
def MOD(x, y):
    x, y = number(x), number(y)
    if y == 0:
        divided("MOD by 0")
    return tidy(x - y * floor(x / y))


@helper
def QUOTIENT(x, y):
    if number(y) == 0:
        divided("QUOTIENT by 0")
    n = number(x) / number(y)
    return floor(n) if n >= 0 else -floor(-n)


@helper
def ABS(x):
    return abs(number(x))


@helper
def SIGN(x):
    x = number(x)
    return (x > 0) - (x < 0)


@helper
def POWER(x, y):
    x, y = number(x), number(y)
    if x == 0 and y == 0:
        bad_number("0 to the power of 0")
    if x == 0 and y < 0:
        divided("0 to a negative power")
    n = checked(float(x) ** y)
    return int(n) if type(x) is type(y) is int and n.is_integer() and \
        abs(n) < 2 ** 53 else n


@helper
def SQRT(x):
    if number(x) < 0:
        bad_number("the root of a negative number")
    return math.sqrt(number(x))


def positive(x):
    x = number(x)
    return x if x > 0 else \
        bad_number("the logarithm of what is not positive")


@helper
def LN(x):
    return math.log(positive(x))


@helper
def LOG(x, base=10):
    x, base = positive(x), positive(base)
    if base == 1:
        divided("a logarithm to base 1")
    if base == 10:
        return math.log10(x)
    return math.log2(x) if base == 2 else tidy(math.log(x) / math.log(base))


@helper
def LOG10(x):
    return math.log10(positive(x))


@helper
def EXP(x):
    return math.exp(number(x))


@helper
def PI():
    return math.pi
