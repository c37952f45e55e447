"""TEXT: a number or a date by a pattern, in the one form that knows no locale: a
point before decimals, a comma between thousands, English names."""

MONTHS = ("January February March April May June July August September "
          "October November December").split()
DAYNAMES = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
PIECE = re.compile(r'"([^"]*)"|\\(.)|(\[[^\]]*\])|(AM/PM|A/P|y+|m+|d+|h+|s+'
                   r'|e[+-]0+|.)', re.I | re.S)
SECTION = re.compile(r'(?:"[^"]*"|\\.|[^;])*', re.S)


def pieces(form):
    """Pairs: what is literal or None, and what is a code or None."""
    found = []
    for m in PIECE.finditer(form):
        quoted, escaped, bracket, code = m.groups()
        if code is not None:
            found.append((None, code))
        elif bracket is None:
            found.append((escaped if quoted is None else quoted, None))
    return found


def sections(form):
    found, at = [], 0
    while True:
        m = SECTION.match(form, at)
        found.append(m[0])
        at = m.end() + 1
        if at > len(form):
            return found


def codes(parts, letters):
    return [c for _, c in parts if c and c[0].lower() in letters]


def of_month(d, n):
    name = MONTHS[d.month - 1]
    if n <= 2:
        return f"{d.month:0{n}d}"
    return name[:3] if n == 3 else name[0] if n == 5 else name


def of_day(d, n):
    name = DAYNAMES[d.weekday()]
    return f"{d.day:0{n}d}" if n <= 2 else name[:3] if n == 3 else name


def of_half(d, code):
    if len(code) == 1:
        return code
    half = "AM" if d.hour < 12 else "PM"
    return half[0] if len(code) == 3 else half


def date_by(d, parts):
    half = any(c.lower() in ("am/pm", "a/p") for c in codes(parts, "a"))
    out, hours = [], False
    for i, (literal, code) in enumerate(parts):
        if code is None:
            out.append(literal)
            continue
        n, which = len(code), code[0].lower()
        after = codes(parts[i + 1:], "ymdhs")
        # Behind hours and before seconds these are minutes.
        minutes = which == "m" and n <= 2 and \
            (hours or (after and after[0][0] in "sS"))
        if which == "y":
            out.append(f"{d.year % 100:02d}" if n <= 2 else f"{d.year:04d}")
        elif minutes:
            out.append(f"{d.minute:0{n}d}")
        elif which == "m":
            out.append(of_month(d, n))
        elif which == "d":
            out.append(of_day(d, n))
        elif which == "h":
            h = (d.hour + 11) % 12 + 1 if half else d.hour
            out.append(f"{h:0{n}d}")
        elif which == "s":
            out.append(f"{d.second:0{n}d}")
        elif which == "a":
            out.append(of_half(d, code))
        else:
            out.append(code)
            continue
        hours = which == "h"
    return "".join(out)


class Shape:
    """Of a pattern for numbers: where its digits stand, and what they say."""
    def __init__(self, parts):
        self.first, self.last = -1, -1
        self.whole = self.part = ""
        self.point = self.comma = False
        self.exponent, self.thousands = None, 0
        self.percent = sum(c == "%" for _, c in parts)
        for i, (_, c) in enumerate(parts):
            self.take(i, c)

    def take(self, i, c):
        if c and len(c) > 2 and c[0] in "eE" and self.first >= 0:
            self.exponent, self.last = c, i
        if c is None or c not in "0#?.," or (self.first < 0 and c == ","):
            return
        if self.first < 0:
            self.first = i
        self.last = i
        if c == ".":
            self.point = True
        elif c == ",":
            self.thousands += 1
        else:
            if self.point:
                self.part += c
            else:
                self.whole += c
                self.comma = self.comma or self.thousands > 0
            self.thousands = 0

    def holds(self, i, c):
        return self.first <= i <= self.last and c is not None and \
            (c == self.exponent or c in "0#?.,")


def scaled(n, s):
    """The number before its power of ten, and that as text."""
    width = max(len(s.whole), 1)
    power = math.floor(math.log10(n)) - width + 1 if n else 0
    sign = "-" if power < 0 else "+" if s.exponent[1] == "+" else ""
    tail = s.exponent[0] + sign + f"{abs(power):0{len(s.exponent) - 2}d}"
    return tidy(n / 10 ** power if power >= 0 else n * 10 ** -power), tail


def digits(n, s):
    least, tail = s.part.rfind("0") + 1, ""
    if s.exponent:
        n, tail = scaled(n, s)
    places = min(len(s.part), 15)
    n = HELPERS["ROUND"](n, places)
    whole, _, part = f"{n:.{places}f}".partition(".")
    while len(part) > least and part.endswith("0"):
        part = part[:-1]
    if whole == "0" and "0" not in s.whole:
        whole = ""
    whole = whole.rjust(s.whole.count("0"), "0")
    if s.comma:
        lead = len(whole) % 3
        groups = [whole[:lead]] if lead else []
        groups += [whole[i:i + 3] for i in range(lead, len(whole), 3)]
        whole = ",".join(groups)
    return whole + ("." if s.point else "") + part + tail


def number_by(n, form):
    found = sections(form)
    negative, which = n < 0, 0
    if negative and len(found) > 1:
        which, negative = 1, False
    elif n == 0 and len(found) > 2:
        which = 2
    parts = pieces(found[which])
    s = Shape(parts)
    if s.first < 0:
        words = "".join(c if t is None else t for t, c in parts)
        return "-" + words if negative and words else words
    told = digits(tidy(abs(n) * 100 ** s.percent / 1000 ** s.thousands), s)
    out = []
    for i, (literal, c) in enumerate(parts):
        if i == s.first:
            out.append(told)
        if not s.holds(i, c):
            out.append(" " if c == "_" else c if literal is None else literal)
    out = "".join(out)
    return "-" + out if negative and re.search("[1-9]", told) else out


def is_dated(form):
    parts = pieces(sections(form)[0])
    return codes(parts, "ymdhs") and not codes(parts, "0#?")


@helper
def TEXT(v, form):
    form = text(form)
    if form == "":
        return ""
    if type(v) is str:
        n = parse(v)
        n = iso_date(v) if n is None else n
        if n is None:
            return v
        v = n
    if form.lower() in ("general", "@") or type(v) is bool:
        return text(v)
    if is_dated(form):
        return date_by(moment(v) if is_date(v) else from_serial(number(v)),
                       pieces(sections(form)[0]))
    return number_by(number(v), form)
