"""TEXT: a number, a date or a text by a pattern, in the one form that knows no
locale: a point before decimals, a comma between thousands, English names."""

MONTHS = ("January February March April May June July August September "
          "October November December").split()
DAYNAMES = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
PIECE = re.compile(r'"([^"]*)"|\\(.)|_([^ymdhs])|\*.|\[([^\]]*)\]|(General|AM/PM|A/P'
                   r'|y+|m+|d+|h+|s+|e[+-][0#?]+|.)', re.I | re.S)
SECTION = re.compile(r'(?:"[^"]*"|\\.|[^;])*', re.S)
CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*([+-]?(?:\d+\.?\d*|\.\d+)"
                       r"(?:e[+-]?\d+)?)\s*", re.I | re.ASCII)
DATES_END = 2958466  # the day behind 9999-12-31
ELAPSED = re.compile(r"h+|m+|s+", re.I)
CURRENCY = re.compile(r"\$([^-]*)")
HOLDS = {"<": lambda a, b: a < b, ">": lambda a, b: a > b,
         "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b,
         "=": lambda a, b: a == b, "<>": lambda a, b: a != b}


class Section:
    """Its parts are pairs: what is literal or None, and what is a code or
    None."""
    def __init__(self, form):
        self.parts, self.test = [], None
        for m in PIECE.finditer(form):
            quoted, escaped, blank, bracket, code = m.groups()
            if code is not None:
                self.parts.append((None, code))
            elif bracket is not None:
                self.bracket(bracket)
            elif blank is not None:
                self.parts.append((" ", None))
            elif quoted is not None or escaped is not None:
                self.parts.append((escaped if quoted is None else quoted, None))

    def bracket(self, s):
        """A condition, hours that go on behind 24, a currency; else a colour or
        the like."""
        if CONDITION.fullmatch(s):
            op, n = CONDITION.fullmatch(s).groups()
            self.test = op, float(n)
        elif ELAPSED.fullmatch(s):
            self.parts.append((None, f"[{s}]"))
        elif CURRENCY.match(s):
            self.parts.append((CURRENCY.match(s)[1], None))

    def holds(self, n):
        return self.test is not None and HOLDS[self.test[0]](n, self.test[1])

    def takes_text(self):
        return any(c == "@" for _, c in self.parts)

    def below_zero_alone(self):
        """Its condition says so."""
        return self.test is not None and (
            self.test[0] == "<" and self.test[1] <= 0 or
            self.test[0] == "<=" and self.test[1] < 0)


def sections(form):
    found, at = [], 0
    while True:
        m = SECTION.match(form, at)
        found.append(Section(m[0]))
        at = m.end() + 1
        if at > len(form):
            return found


def bare(code):
    return code.strip("[").lower()[0]


def codes(parts, letters):
    return [c for _, c in parts if c and c.lower() != "general" and
            bare(c) in letters]


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


def fraction_at(parts, i):
    """How many digits of seconds stand there behind their point."""
    if parts[i][1] != "." or not i or not (parts[i - 1][1] or "x")[0] in "sS[":
        return 0
    n = 0
    while i + n + 1 < len(parts) and parts[i + n + 1][1] == "0":
        n += 1
    return min(n, 6)


def is_dated(parts):
    """Letters beside digits, or beside a text, are themselves."""
    in_seconds = sum(fraction_at(parts, i) for i in range(len(parts)))
    return bool(codes(parts, "ymdhs")) and \
        len(codes(parts, "0#?@")) == in_seconds


def rounded(d, parts):
    """To what of its seconds is written."""
    if not codes(parts, "s"):
        return d
    digits = max(fraction_at(parts, i) for i in range(len(parts)))
    unit = 10 ** (6 - digits)
    try:
        return d + datetime.timedelta(
            microseconds=(d.microsecond + unit // 2) // unit * unit -
            d.microsecond)
    except OverflowError:
        return d


def elapsed(d, code):
    """All hours, minutes or seconds since day 0."""
    unit = {"h": 3600, "m": 60, "s": 1}[bare(code)]
    n = (d - EPOCH) // datetime.timedelta(seconds=unit)
    return f"{n:0{len(code) - 2}d}"


def date_by(d, parts):
    half = any(c.lower() in ("am/pm", "a/p") for c in codes(parts, "a"))
    d = rounded(d, parts)
    out, hours, skip = [], False, 0
    for i, (literal, code) in enumerate(parts):
        if skip:
            skip -= 1
            continue
        if code is None:
            out.append(literal)
            continue
        n, which = len(code), bare(code)
        after = codes(parts[i + 1:], "ymdhs")
        # Behind hours and before seconds these are minutes.
        minutes = which == "m" and n <= 2 and \
            (hours or (after and bare(after[0]) == "s"))
        if code[0] == "[":
            out.append(elapsed(d, code))
        elif which == "y":
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
            skip = fraction_at(parts, i)
            out.append(code + f"{d.microsecond:06d}"[:skip])
            continue
        hours = which == "h"
    return "".join(out)


def by_condition(found, n):
    """The section that takes the number, and whether only negative ones come
    to it."""
    for s in found[:2]:
        if s.holds(n):
            return s, s.below_zero_alone()
    if not found[0].test:
        return found[0], False
    rest = 2 if len(found) > 1 and found[1].test else 1
    if rest >= len(found):
        bad_value("no section of the pattern takes this number")
    op, bound = found[0].test
    return found[rest], op in (">", ">=") and bound <= 0


def section_of(found, n):
    if any(s.test for s in found[:2]):
        return by_condition(found, n)
    if n < 0 and len(found) > 1:
        return found[1], True
    return found[2 if n == 0 and len(found) > 2 else 0], False


def number_by(v, found):
    n = number(v)
    # The last may be for texts.
    if len(found) > 1 and found[-1].takes_text():
        found = found[:-1]
    section, negative = section_of(found[:3], n)
    if is_dated(section.parts):
        if n < 0 and not is_date(v):
            bad_value("a negative number is no date")
        if n >= DATES_END:
            bad_number("this number is no date")
        return date_by(moment(v) if is_date(v) else from_serial(n),
                       section.parts)
    out, more = masked(abs(n), section.parts)
    return "-" + out if n < 0 and not negative and more else out


def text_by(s, found):
    own = found[3:4] or [x for x in found[-1:] if x.takes_text()]
    return "".join(s if c == "@" else c if literal is None else literal
                   for literal, c in own[0].parts) if own else s


@helper
def TEXT(v, form):
    form = text(form)
    if form == "":
        return ""
    found = sections(form)
    if len(found) > 4:
        bad_value("a pattern has at most four sections")
    if type(v) is str:
        n = parse(v)
        n = iso_date(v) if n is None else n
        if n is None:
            return text_by(v, found)
        v = n
    if form.lower() in ("general", "@") or type(v) is bool:
        return text(v)
    return number_by(v, found)
