"""Values to text and back; what JSON lacks is tagged (docs/guide/result.md).

The same in the image, in the data image and, put into guest/native/bootstrap.py
when that is built, in the native tier: one source has one result.  So it needs
no more than any Python 3 of a host has, and imports nothing.
"""
DEPTH = 200


def tagged(kind, value=None):
    return {"$redoma": kind} if value is None else {"$redoma": kind,
                                                    "value": value}


def whole(text):
    """JSON is UTF-8: half of a surrogate pair is U+FFFD.  What the text itself
    is, its class is not asked: a key that is equal to nothing would forge a
    tag."""
    text = str.__str__(text)
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def digits(convert, v):
    """int to str or back, of any length: a run's limits bound it."""
    try:
        return convert(v)
    except ValueError:
        # A Python that has no such limit raises nothing here.
        most = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(0)
        return convert(v)
    finally:
        sys.set_int_max_str_digits(most)


# A class of the program's own may have any methods.  So what stands behind a tag
# is what the methods of the classes that we know say: a subclass cannot put
# there what is none of its kind.

def carry_number(v):
    if isinstance(v, int):
        v = int.__index__(v)
        return v if abs(v) <= 2 ** 53 - 1 else tagged("bigint",
                                                      digits(str, v))
    v = float.__float__(v)
    if v != v:
        return tagged("nan")
    if v in (math.inf, -math.inf):
        return tagged("inf" if v > 0 else "-inf")
    if v == 0 and math.copysign(1, v) < 0:
        return tagged("-0")
    return int(v) if v.is_integer() and abs(v) < 2 ** 53 else v


def carry_date(v):
    """A day, a time of a place that is not named, or an instant."""
    if not isinstance(v, datetime.datetime):
        return tagged("date", datetime.date.isoformat(v))
    if v != v:  # pandas' NaT is a datetime; as JavaScript's invalid date
        return tagged("date", "")
    v = datetime.datetime.combine(datetime.datetime.date(v),
                                  datetime.datetime.timetz(v))
    micro = v.microsecond
    if v.utcoffset() is None:
        return tagged("date", v.isoformat(
            timespec="microseconds" if micro else "seconds"))
    try:
        v = v.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    except OverflowError:  # of year 1 or 9999: as it is, then
        return tagged("date", v.isoformat())
    return tagged("date", v.isoformat(
        timespec="microseconds" if micro % 1000 else "milliseconds") + "Z")


def carry_duration(v):
    """As ISO 8601 has it, in seconds."""
    micro = datetime.timedelta.__floordiv__(
        v, datetime.timedelta(microseconds=1))
    seconds, part = divmod(abs(micro), 10 ** 6)
    part = f".{part:06}".rstrip("0") if part else ""
    return tagged("duration", f"{'-' if micro < 0 else ''}PT{seconds}{part}S")


INSTEAD = (("to_dicts", "take its .to_dicts()"),
           ("to_pylist", "take its .to_pylist()"),
           ("tolist", "take its .tolist()"), ("to_dict", "take its .to_dict()"),
           ("__dataclass_fields__", "take dataclasses.asdict() of it"),
           ("_value_", "take its .value"), ("__iter__", "take list() of it"))


def instead(v):
    """What carries the same, of tables and columns of data and of objects."""
    if isinstance(v, type):
        return ""
    for name, take in INSTEAD:
        if hasattr(v, name):
            if name == "to_dict" and hasattr(v, "columns"):
                take = "take its .to_dict('records')"
            return "; " + take
    return ""


def scalar(v):
    """numpy's, as Python's own."""
    x = v.item()
    if isinstance(x, int) and v.dtype.kind in "mM":  # of nanoseconds
        x = v.astype(v.dtype.kind + "8[us]").item()
    return x


def carry_dict(v, at, above):
    if all(isinstance(k, str) for k in v):
        out = {whole(k): carry(x, f"{at}.{k}", above) for k, x in v.items()}
        if len(out) < len(v):
            raise TypeError(f"the value cannot be carried: {at} has two keys "
                            "that are the same in UTF-8")
        return tagged("object", out) if "$redoma" in out else out
    return tagged("map", [[carry(k, f"{at} key", above),
                           carry(x, f"{at}[…]", above)]
                          for k, x in v.items()])


def carry(v, at="value", above=()):
    if v is None or isinstance(v, bool):
        return v
    if isinstance(v, str):
        return whole(v)
    if isinstance(v, (int, float)):
        return carry_number(v)
    if isinstance(v, (bytes, bytearray, memoryview)):
        return tagged("bytes", base64.b64encode(bytes(v)).decode())
    if isinstance(v, decimal.Decimal):
        return tagged("decimal", decimal.Decimal.__str__(v))
    if isinstance(v, datetime.date):
        return carry_date(v)
    if isinstance(v, datetime.time):
        return tagged("time", datetime.time.isoformat(v))
    if isinstance(v, datetime.timedelta):
        return carry_duration(v)
    if isinstance(v, complex):
        v = complex.__pos__(v)
        return tagged("complex", [carry(v.real), carry(v.imag)])
    return carry_parts(v, at, above)


def carry_parts(v, at, above):
    if id(v) in above or len(above) > DEPTH:
        raise TypeError(f"the value cannot be carried: {at} contains itself "
                        "or is nested too deeply")
    above = (*above, id(v))
    if isinstance(v, dict):
        return carry_dict(v, at, above)
    if isinstance(v, (list, tuple)):
        return [carry(x, f"{at}[{i}]", above) for i, x in enumerate(v)]
    if isinstance(v, (set, frozenset)):
        return tagged("set", [carry(x, f"{at}[…]", above) for x in v])
    if hasattr(v, "item") and getattr(v, "shape", None) == ():
        return carry(scalar(v), at, above)
    raise TypeError(f"the value cannot be carried: {at} is a "
                    f"{type(v).__name__}{instead(v)}")


print_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False,
                              check_circular=False,
                              separators=(",", ":")).encode


def carried(v, at="value"):
    return print_json(carry(v, at))


# ---- and back ----

# How the text of a tag is spelt, and no other way (docs/guide/result.md); the
# same in guest/js/spell.c and guest/native/bootstrap.js.
CLOCK = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3}|\.\d{6})?"
ZONE = r"[+-](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{6})?)?"
SPELT = {kind: re.compile(pattern, re.ASCII) for kind, pattern in (
    ("bigint", r"0|-?[1-9]\d*"),
    ("decimal", r"-?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Infinity|s?NaN\d*)"),
    ("date", rf"|(?:\d{{4}}|[+-]\d{{6}})-\d\d-\d\d"
             rf"(?:T{CLOCK}(?:Z|{ZONE})?)?"),
    ("time", rf"{CLOCK}(?:{ZONE})?"),
    ("duration", r"(-?)PT(\d+)(?:\.(\d{1,6}))?S"))}


def revive_date(text):
    if not text:
        return None
    if "T" not in text:
        return datetime.date.fromisoformat(text)
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def revive_duration(text):
    sign, seconds, part = SPELT["duration"].fullmatch(text).groups()
    micro = int(seconds) * 10 ** 6 + int((part or "").ljust(6, "0"))
    return datetime.timedelta(microseconds=-micro if sign else micro)


def revive_bytes(text):
    v = base64.b64decode(text)
    if base64.b64encode(v).decode() != text:
        raise ValueError
    return v


# What the value of a tag is, and what is made of it.
OF_NOTHING = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf, "-0": -0.0,
              "undefined": None}
OF_TEXT = {
    "bigint": lambda t: digits(int, t), "date": revive_date,
    "bytes": revive_bytes, "decimal": decimal.Decimal,
    "time": datetime.time.fromisoformat, "duration": revive_duration,
}


def of_text(kind, text):
    try:
        if kind in SPELT and not SPELT[kind].fullmatch(text):
            raise ValueError
        return OF_TEXT[kind](text)
    except (ArithmeticError, TypeError, ValueError):
        raise ValueError(f"{text!r:.80} is no {kind}") from None


def is_pair(v):
    return isinstance(v, list) and len(v) == 2


def is_number(v):
    return type(v) in (int, float) or \
        isinstance(v, dict) and type(revive(v)) is float


def of_list(kind, v, firm):
    if kind == "set":
        v = revive(v, True)
        return frozenset(v) if firm else set(v)
    if kind == "map":
        if not all(map(is_pair, v)):
            raise ValueError("it is no list of [key, value]")
        return {revive(k, True): revive(x) for k, x in v}
    if kind == "tuple":
        return tuple(revive(x, firm) for x in v)
    if not is_pair(v) or not all(map(is_number, v)):
        raise ValueError("it is no [real, imaginary]")
    return complex(*map(revive, v))


def of_tag(kind, tag, firm):
    v = tag.get("value")
    if len(tag) != 1 + ("value" in tag):
        raise ValueError("a tag has nothing but its value")
    if kind in OF_NOTHING and len(tag) == 1:
        return OF_NOTHING[kind]
    if kind in OF_TEXT and isinstance(v, str):
        return of_text(kind, v)
    if kind == "object" and isinstance(v, dict):
        return {k: revive(x) for k, x in v.items()}
    if kind in ("set", "map", "tuple", "complex") and isinstance(v, list):
        return of_list(kind, v, firm)
    raise ValueError("it is unknown, or its value is of another type")


def revive(v, firm=False):
    """A list that is firm, as what a set or the keys of a dict hold have to
    be, is a tuple."""
    if isinstance(v, list):
        return tuple(revive(x, True) for x in v) if firm \
            else [revive(x) for x in v]
    if not isinstance(v, dict):
        return v
    kind = v.get("$redoma")
    if not isinstance(kind, str):
        return {k: revive(x) for k, x in v.items()}
    try:
        return of_tag(kind, v, firm)
    except (OverflowError, TypeError, ValueError) as e:
        raise ValueError(f"the tag {kind!r:.40} cannot be read: {e}") from None


def revived(text):
    v = json.loads(text)
    # A tag may be spelt with escapes.
    return revive(v) if "$redoma" in text or "\\u00" in text else v
