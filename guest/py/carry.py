"""Values to text and back; what JSON lacks is tagged.  The same as in
guest/native/bootstrap.py: one source has one result in both tiers.
"""
DEPTH = 200


def tagged(kind, value=None):
    return {"$redoma": kind} if value is None else {"$redoma": kind,
                                                    "value": value}


def whole(text):
    """JSON is UTF-8: half of a surrogate pair is U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def digits(convert, v):
    """int to str or back, of any length: a run's limits bound it."""
    most = sys.get_int_max_str_digits()
    try:
        return convert(v)
    except ValueError:
        sys.set_int_max_str_digits(0)
        return convert(v)
    finally:
        sys.set_int_max_str_digits(most)


def carry_number(v):
    if isinstance(v, int):
        return int(v) if abs(v) <= 2 ** 53 - 1 else tagged("bigint",
                                                         digits(str, v))
    if v != v:
        return tagged("nan")
    if v in (math.inf, -math.inf):
        return tagged("inf" if v > 0 else "-inf")
    if v == 0 and math.copysign(1, v) < 0:
        return tagged("-0")
    return int(v) if v.is_integer() and abs(v) < 2 ** 53 else float(v)


def carry_dict(v, at, above):
    out = {}
    for k, x in v.items():
        if not isinstance(k, str):
            raise TypeError(f"the value cannot be carried: {at} has the key "
                            f"{k!r}, and keys are strings")
        out[whole(k)] = carry(x, f"{at}.{k}", above)
    return tagged("object", out) if "$redoma" in out else out


def carry_date(v):
    if isinstance(v, datetime.datetime) and v.tzinfo is not None:
        v = v.astimezone(datetime.timezone.utc)
        return tagged("date", v.strftime("%Y-%m-%dT%H:%M:%S.")
                      + f"{v.microsecond // 1000:03d}Z")
    return v.isoformat()


def instead(v):
    """What carries the same, of tables and columns of data."""
    if hasattr(v, "to_dict") and hasattr(v, "columns"):
        return "; take its .to_dict('records')"
    for name in ("tolist", "to_dict"):
        if hasattr(v, name):
            return f"; take its .{name}()"
    return ""


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
        return str(v)
    if isinstance(v, (datetime.date, datetime.time)):
        return carry_date(v)
    if isinstance(v, complex):
        return tagged("complex", [carry(v.real), carry(v.imag)])
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
    raise TypeError(f"the value cannot be carried: {at} is a "
                    f"{type(v).__name__}{instead(v)}")


print_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False,
                              check_circular=False,
                              separators=(",", ":")).encode


def carried(v):
    return print_json(carry(v))


def revive(v):
    if isinstance(v, list):
        return [revive(x) for x in v]
    if not isinstance(v, dict):
        return v
    kind, value = v.get("$redoma"), v.get("value")
    if kind is None:
        return {k: revive(x) for k, x in v.items()}
    if kind == "object":
        return {k: revive(x) for k, x in value.items()}
    if kind in ("set", "map"):
        value = revive(value)
        return set(value) if kind == "set" else dict(value)
    if kind == "complex":
        return complex(*revive(value))
    if kind not in SIMPLE:
        raise ValueError(f"unknown tag {kind!r} in the input")
    return SIMPLE[kind](value)


SIMPLE = {
    "bigint": lambda t: digits(int, t), "bytes": base64.b64decode,
    "date": lambda t: datetime.datetime.fromisoformat(
        t.replace("Z", "+00:00")),
    "nan": lambda _: math.nan, "inf": lambda _: math.inf,
    "-inf": lambda _: -math.inf, "-0": lambda _: -0.0,
    "undefined": lambda _: None,
}


def revived(text):
    v = json.loads(text)
    return revive(v) if '"$redoma"' in text else v
