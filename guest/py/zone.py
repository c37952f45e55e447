"""Local time by TZ, if the policy has it: libc here knows UTC alone.  zone.c
asks `offset`.
"""
local_zone = [None]


def by_rule(text):
    """The zone of a rule such as EST5EDT,M3.2.0,M11.1.0: the last line of a
    file of zones."""
    head = struct.pack(">4sc15x6L", b"TZif", b"2", 0, 0, 0, 0, 1, 4)
    block = head + struct.pack(">lBB4s", 0, 0, 0, b"UTC")
    return zoneinfo.ZoneInfo.from_file(io.BytesIO(
        block + block + b"\n" + text.encode() + b"\n"))


def zone_of(text):
    for make in (zoneinfo.ZoneInfo, by_rule):
        try:
            return make(text.removeprefix(":"))
        except Exception:
            pass
    return None  # as libc does with one that it does not know


def offset(seconds):
    """(seconds east of UTC, whether in summer, abbreviation)"""
    try:
        at = datetime.datetime.fromtimestamp(seconds, local_zone[0])
    except (ValueError, OverflowError, OSError):
        return 0, 0, "UTC"
    return (int(at.utcoffset().total_seconds()), int(bool(at.dst())),
            at.tzname())


JANUARY, JULY = 2114380800, 2130019200  # of 2037: the rule, not its history


def tzset():
    text = os.environ.get("TZ")
    local_zone[0] = zone_of(text) if text else None
    ZONED(local_zone[0] is not None)
    pair = [(0, 0, "UTC")] * 2 if local_zone[0] is None else sorted(
        (offset(JANUARY), offset(JULY)), key=lambda at: at[0])
    time.timezone, time.altzone = -pair[0][0], -pair[1][0]
    time.daylight = int(pair[0][0] != pair[1][0])
    time.tzname = pair[0][2], pair[1][2]


time.tzset = tzset
