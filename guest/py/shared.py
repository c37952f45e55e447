"""What this image and the data image do in the same way.

Like carry.py it imports nothing: prelude.py, and guest/data/start.py there,
have done so before.
"""

# ---- randomness: seeded when it is first drawn, not before ----

DRAWS = ("random", "getrandbits", "seed", "getstate", "setstate")


def entropy():
    try:
        return os.urandom(32)
    except OSError:
        raise RuntimeError("the policy gives no randomness; seed the "
                           "generator: random.seed(1)") from None


def wake(draw, seeded=False):
    """The generator of the module becomes an ordinary one."""
    inst = random._inst
    if type(inst) is Asleep:
        seed = None if seeded else entropy()
        inst.__class__ = random.Random
        for name in DRAWS:
            setattr(random, name, getattr(inst, name))
        if not seeded:
            inst.seed(seed)
    return getattr(inst, draw)


class Asleep(random.Random):
    def random(self):
        return wake("random")()

    def getrandbits(self, k):
        return wake("getrandbits")(k)

    def seed(self, a=None, version=2):
        if a is None:
            a = entropy()
        return wake("seed", True)(a, version)

    def getstate(self):
        return wake("getstate")()

    def setstate(self, state):
        return wake("setstate", True)(state)


def put_to_sleep():
    inst = random._inst
    inst.__class__ = Asleep
    for name in DRAWS:
        setattr(random, name, getattr(inst, name))


# ---- the end of a run ----

def exit_code(e):
    if e.code is None:
        return 0
    if isinstance(e.code, int):
        return e.code & 0xFF
    print(e.code, file=sys.stderr)
    return 1


def finish():
    """As at an interpreter's end: what was registered, and what is kept."""
    if atexit._ncallbacks():
        try:
            atexit._run_exitfuncs()
        except BaseException:
            traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass


KEPT = 50


def shortened(tb):
    """A traceback of many frames without those in the middle."""
    first, n, at = tb, 0, tb
    last = collections.deque(maxlen=KEPT)
    while at:
        n += 1
        if n == KEPT:
            first = at
        last.append(at)
        at = at.tb_next
    if n > 2 * KEPT:
        first.tb_next = last[0]
    return tb
