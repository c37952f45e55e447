"""A number by a section of a pattern: its digits fill 0, # and ?, what stands
between these stays where it is."""

DIGIT = ("0", "#", "?")
EMPTY = {"0": "0", "#": "", "?": " "}


class Mask:
    """What the pieces of a section say of a number."""
    def __init__(self, parts):
        self.parts = parts
        self.whole, self.part = [], []  # places of digits around the point
        self.silent = set()             # places that are not written
        self.point = self.exponent = self.slash = None
        self.hundreds, commas = 0, []
        for i, (_, c) in enumerate(parts):
            if c == ",":
                if self.after_digit(i):
                    self.silent.add(i)
                    commas.append(i)
            elif c is not None:
                self.take(i, c)
        places = self.whole + self.part
        self.thousands = sum(not any(p > i for p in places) for i in commas)
        self.grouped = any(p > i for p in self.whole for i in commas)

    def after_digit(self, i):
        c = self.parts[i - 1][1] if i else None
        return c in DIGIT or i - 1 in self.silent

    def take(self, i, c):
        if c == "%":
            self.hundreds += 1
        elif self.exponent is not None:
            pass
        elif c in DIGIT:
            (self.whole if self.point is None else self.part).append(i)
        elif c == "." and self.point is None:
            self.point = i
        elif len(c) > 2 and c[0] in "eE" and (self.whole or self.part):
            self.exponent = i
        elif c == "/" and self.slash is None and self.after_digit(i) and \
                self.point is None and self.below(i):
            self.slash = i

    def run(self, i, step, of):
        """Places from i on, one beside the other."""
        found = []
        while 0 <= i < len(self.parts) and self.parts[i][1] is not None and \
                self.parts[i][1] in of:
            found.append(i)
            i += step
        return found

    def below(self, i):
        """Places of a fraction's denominator: digits, or a number."""
        return self.run(i + 1, 1, DIGIT) or self.run(i + 1, 1, tuple("0123456789"))

    def code(self, i):
        return self.parts[i][1]

    def written(self, put):
        out = []
        for i, (literal, c) in enumerate(self.parts):
            if i in put:
                out.append(put[i])
            elif i not in self.silent:
                out.append(c if literal is None else literal)
        return "".join(out)


def fill(m, places, s, put, grouped=False):
    """From the right; the first place takes what is left."""
    done = 0
    for i in reversed(places):
        n = len(s) if i == places[0] else 1
        mine, s = s[len(s) - n:] if n else "", s[:len(s) - n] if n else s
        out = ""
        for d in reversed(mine or EMPTY[m.code(i)]):
            comma = grouped and done and done % 3 == 0 and d != " "
            out = d + ("," if comma else "") + out
            done += 1
        put[i] = out


def fixed(n, places):
    """Digits before and behind the point; of nothing before it, none."""
    exact = min(places, 15)
    whole, _, part = f"{HELPERS['ROUND'](n, exact):.{exact}f}".partition(".")
    return "" if whole == "0" else whole, part.ljust(places, "0")


def power_of(n):
    return int(f"{n:.14e}".partition("e")[2]) if n else 0


def scaled(n, m):
    """The number before its power of ten, and that."""
    step, places = max(len(m.whole), 1), min(len(m.part), 15)
    power = power_of(n) // step * step
    for _ in range(2):
        by = tidy(n / 10 ** power if power >= 0 else n * 10 ** -power)
        if HELPERS["ROUND"](by, places) < 10 ** step:
            break
        power += step
    return by, power


def put_exponent(m, power, put):
    c = m.code(m.exponent)
    sign = "-" if power < 0 else "+" if c[1] == "+" else ""
    width = sum(x == "0" for x in c[2:])
    put[m.exponent] = c[0] + sign + f"{abs(power):0{max(width, 1)}d}"


def put_number(m, n, put):
    if m.exponent is not None:
        n, power = scaled(n, m)
        put_exponent(m, power, put)
    whole, part = fixed(n, len(m.part))
    fill(m, m.whole, whole, put, m.grouped)
    if m.point is not None:
        put[m.point] = "." if m.whole else whole + "."
    kept = [m.code(i) for i in m.part]
    least = len(kept) - kept[::-1].index("0") if "0" in kept else 0
    for k, i in enumerate(m.part):
        put[i] = part[k] if k < least or part[k:].strip("0") else \
            EMPTY[m.code(i)]
    return whole + part


def fraction_near(x, most):
    """The fraction that is nearest to x, its denominator at most `most`."""
    (p0, q0), (p1, q1), rest = (0, 1), (1, 0), x
    for _ in range(40):
        a = math.floor(rest)
        if q0 + a * q1 > most:
            break
        (p0, q0), (p1, q1) = (p1, q1), (p0 + a * p1, q0 + a * q1)
        if rest - a < 1e-11:
            return p1, q1
        rest = 1 / (rest - a)
    k = (most - q0) // q1
    p, q = p0 + k * p1, q0 + k * q1
    return (p1, q1) if abs(p1 / q1 - x) <= abs(p / q - x) else (p, q)


def put_fraction(m, n, put):
    above = m.run(m.slash - 1, -1, DIGIT)[::-1]
    below = m.below(m.slash)
    before = [i for i in m.whole if i < above[0]]
    whole = math.floor(n) if before else 0
    set_by = "".join(m.code(i) for i in below)
    if set_by[0] in DIGIT:
        p, q = fraction_near(tidy(n - whole), 10 ** min(len(below), 9) - 1)
    else:
        q = int(set_by)
        p = math.floor(tidy(n - whole) * q + 0.5)
    if before and p == q:
        whole, p = whole + 1, 0
    fill(m, before, str(whole) if whole or not p else "", put)
    if before and p == 0:
        for i in above + [m.slash] + below:
            put[i] = " "
        return str(whole)
    fill(m, above, str(p), put)
    told, zeros = str(q), sum(m.code(i) == "0" for i in below)
    if set_by[0] in DIGIT:
        told = told.rjust(zeros, "0").ljust(sum(m.code(i) != "#" for i in below))
        for i in below:
            put[i] = ""
        put[below[0]] = told
    return f"{whole}{p}"


def masked(n, parts):
    """Of a number that is not negative: the text, and whether a digit of it is
    more than 0."""
    m, put = Mask(parts), {}
    if not m.whole and not m.part:
        put = {i: number_text(n) for i, (_, c) in enumerate(parts)
               if c and (c == "@" or c.lower() == "general")}
        return m.written(put), bool(put) and n != 0
    n = tidy(n * 100 ** m.hundreds / 1000 ** m.thousands)
    told = (put_number if m.slash is None else put_fraction)(m, n, put)
    return m.written(put), bool(told.strip("0"))
