"""What there is not: one sentence each, which says what there is instead.

Run before prelude.py, which shares its names.
"""
import sys


def sentence(what, instead):
    return f"{what} in a sandbox: {instead}"


def refuse(kind, what, instead):
    """Raises what Python raises where there is no such thing."""
    def refused(*args, **kwargs):
        raise kind(sentence(what, instead))
    return refused


THREADS = ("there are no threads", "call the function itself, or use "
           "asyncio for work that waits")
PROCESSES = ("no process can be started", "do the work in Python; for a "
             "program of the host use `redoma run --native`")
NETWORK = ("there is no network", "call a tool that was granted "
           "(tools.NAME), pass the data in as input, or grant a file that "
           "holds it")
MACHINE = ("no code of the machine can be called", "use what is built in, "
           "or run the source with a Python of the host: `redoma run "
           "--native`")
TERMINAL = ("there is no terminal", "read standard input, and print")
GRANTED = ("grant a directory that holds it (--read DIR/=/lib/) and begin "
           "with sys.path.append('/lib')")

NO_THREADS = refuse(RuntimeError, *THREADS)
NO_PROCESSES = refuse(OSError, *PROCESSES)
NO_SOCKETS = refuse(OSError, *NETWORK)

ABSENT = {
    **dict.fromkeys(("ctypes", "_ctypes", "cffi"), MACHINE),
    **dict.fromkeys(("multiprocessing", "_multiprocessing",
                     "_posixsubprocess", "_posixshmem"), PROCESSES),
    **dict.fromkeys(("ssl", "_ssl"), NETWORK),
    **dict.fromkeys(("termios", "readline", "curses", "_curses",
                     "_curses_panel"), TERMINAL),
    **dict.fromkeys(("tkinter", "_tkinter", "turtle"),
                    ("there is no screen", "return or print what is to be "
                     "seen")),
    **dict.fromkeys(("pip", "venv", "ensurepip"),
                    ("nothing can be installed", "a package of Python alone "
                     "needs no installation: " + GRANTED)),
    **dict.fromkeys(("dbm", "_dbm", "_gdbm"),
                    ("there is no dbm", "use sqlite3, or write JSON to a "
                     "granted file")),
    **dict.fromkeys(("pwd", "grp"),
                    ("there are no users", "what the program should know "
                     "of them is passed in as input or --env")),
    "fcntl": ("files have no locks", "nobody else writes what a run was "
              "granted to write"),
    "mmap": ("no file can be mapped", "read it, or seek() to the part that "
             "is needed"),
    "resource": ("a program sets no limits", "they are the policy's, such "
                 "as limits.memory, and the result's usage says what was "
                 "used"),
    "_lsprof": ("there is no profiler", "measure with time.perf_counter()"),
}


def absent(name):
    """Why there is no module of that name."""
    what, instead = ABSENT.get(name) or (
        "it is not", f"{GRANTED}; what needs the network is a tool's work "
        "(--tool), and what needs code of the machine runs with `redoma "
        "run --native`")
    return f"No module named '{name}': {sentence(what, instead)}"


CHANGES = {}  # name of a module: called with it once it is loaded
SIGNALS = {"alarm", "setitimer", "getitimer", "pause", "sigwait",
           "sigwaitinfo", "sigtimedwait", "sigpending", "pthread_kill",
           "pthread_sigmask", "siginterrupt", "set_wakeup_fd"}


def change_signal(module):
    def missing(name):
        why = ": " + sentence(
            "no signal comes", "limits.wall of the policy ends a run that "
            "takes too long, and time.monotonic() says how long it took"
        ) if name in SIGNALS else ""
        raise AttributeError(f"module 'signal' has no attribute '{name}'"
                             + why, name=name, obj=module)
    module.__getattr__ = missing


def change_tempfile(module):
    candidates, find = (module._candidate_tempdir_list,
                        module._get_default_tempdir)

    def granted(path):
        """By listing, which is not refused as looking at a name is."""
        at = "/"
        for part in path.strip("/").split("/"):
            if part and part not in os.listdir(at):
                return False
            at = os.path.join(at, part)
        return True

    def there():
        return [path for path in candidates() if granted(path)]

    def found(*args):
        try:
            return find(*args)
        except FileNotFoundError as e:
            raise FileNotFoundError(e.errno, sentence(
                "there is no place for temporary files", "grant one (--write "
                "DIR/=/tmp/:10MiB), or keep the data in memory, as in "
                "io.BytesIO")) from None

    module._candidate_tempdir_list = there
    module._get_default_tempdir = found


CHANGES["signal"] = change_signal
CHANGES["tempfile"] = change_tempfile
