"""Dates are UTC throughout: a sheet's dates have no zone."""

ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)"
                 r"(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII)


def iso_date(s):
    """A datetime if the text is one as ISO 8601 writes it."""
    m = ISO.fullmatch(s)
    if not m:
        return None
    y, month, d, h, minute, sec, part, zone = m.groups()
    try:
        t = datetime.datetime(int(y), int(month), int(d), int(h or 0),
                              int(minute or 0), int(sec or 0),
                              int(((part or "") + "000000")[:6]))
        if zone and zone != "Z":
            z = zone.replace(":", "")
            away = datetime.timedelta(hours=int(z[1:3]), minutes=int(z[3:]))
            t = t + away if z[0] == "-" else t - away
        return t
    except (ValueError, OverflowError):
        return None


def date(v):
    if is_date(v):
        return moment(v)
    if type(v) is str:
        d = iso_date(v.strip())
        if d:
            return d
        if parse(v) is None:
            n = day_part(v.strip())
            v = bad_value(f"{shown(v)} is not a date; write it 2024-02-29") \
                if n is None else n
    n = number(v)
    if n < 0 or n > 2958466:
        bad_number("this number is no date")
    return from_serial(n)


def whole(d):
    return datetime.datetime(d.year, d.month, d.day)


def made(y, m, d):
    """Months and days that there are not are those of other months."""
    y += (m - 1) // 12
    m = (m - 1) % 12 + 1
    try:
        return datetime.datetime(y, m, 1) + datetime.timedelta(days=d - 1)
    except (ValueError, OverflowError):
        bad_number("the date lies outside of the years 1 to 9999")


def length(y, m):
    if (y, m) == (9999, 12):
        return 31
    return (made(y, m + 1, 1) - datetime.timedelta(days=1)).day


def later(d, months):
    """So many months on, at most to that month's last day."""
    d = whole(date(d))
    t = made(d.year, d.month + integer(months), 1)
    return t.replace(day=min(d.day, length(t.year, t.month)))


def months_between(a, b):
    return 12 * (b.year - a.year) + b.month - a.month - (b.day < a.day)


@helper
def DATEDIF(start, end, unit):
    a, b = whole(date(start)), whole(date(end))
    if a > b:
        bad_number("DATEDIF begins after it ends")
    months = months_between(a, b)
    unit = text(unit).upper()
    if unit == "Y":
        return months // 12
    if unit == "M":
        return months
    if unit == "D":
        return (b - a).days
    if unit == "YM":
        return months % 12
    if unit == "MD":
        if b.day >= a.day:
            return b.day - a.day
        t = made(b.year, b.month - 1, 1)
        return (b - made(t.year, t.month,
                         min(a.day, length(t.year, t.month)))).days
    if unit == "YD":
        t = made(b.year, a.month, a.day)
        return (b - (t if t <= b else made(b.year - 1, a.month,
                                           a.day))).days
    bad_number("the unit of DATEDIF is Y, M, D, MD, YM or YD")


@helper
def NETWORKDAYS(start, end, holidays=None):
    """Days from Monday to Friday, both ends counted, without the holidays."""
    a, b = whole(date(start)).toordinal(), whole(date(end)).toordinal()
    sign = -1 if a > b else 1
    a, b = min(a, b), max(a, b)
    weeks = (b - a + 1) // 7
    n = 5 * weeks
    for d in range(a + 7 * weeks, b + 1):
        n += (d - 1) % 7 < 5  # the first day of the calendar is a Monday
    off = {whole(date(v)).toordinal() for v in flat([holidays])
           if v is not None}
    n -= sum(a <= d <= b and (d - 1) % 7 < 5 for d in off)
    return sign * n


@helper
def DATE(y, m, d):
    y = integer(y)
    if 0 <= y < 1900:
        y += 1900
    if y < 0 or y > 9999:
        bad_number("the year lies outside of 0 to 9999")
    return made(y, integer(m), integer(d))


@helper
def DATEVALUE(s):
    return serial(whole(date(text(s))))


UNIX = datetime.datetime(1970, 1, 1)


@helper
def NOW():
    us = NOW_US()
    if us is None:
        bad_value("there is no time: the policy has `clock: none`")
    return UNIX + datetime.timedelta(milliseconds=us // 1000)


@helper
def TODAY():
    return whole(NOW())


@helper
def YEAR(d):
    return date(d).year


@helper
def MONTH(d):
    return date(d).month


@helper
def DAY(d):
    return date(d).day


@helper
def HOUR(d):
    return date(d).hour


@helper
def MINUTE(d):
    return date(d).minute


@helper
def SECOND(d):
    return date(d).second


@helper
def DAYS(end, start):
    return (whole(date(end)) - whole(date(start))).days


@helper
def WEEKDAY(d, kind=1):
    n, kind = date(d).weekday(), integer(kind)  # Monday: 0
    if kind == 1:
        return (n + 1) % 7 + 1
    if kind == 2:
        return n + 1
    return n if kind == 3 else bad_number("the type of WEEKDAY is 1, 2 or 3")


@helper
def EDATE(d, months):
    return later(d, months)


@helper
def EOMONTH(d, months):
    t = later(d, months)
    return t.replace(day=length(t.year, t.month))
