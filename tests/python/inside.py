"""Runs one of CPython's own test modules; the value is what it came to."""
import io, os, sys, types, unittest

name, = sys.argv[1:]
sys.path.insert(0, "/lib")
os.chdir("/tmp")

import test.support

# Upstream runs none of asyncio's tests for WASI, for want of sockets.
if name.startswith("test.test_asyncio"):
    test.support.has_socket_support = True
    for absent in ("ssl", "wsgiref", "wsgiref.simple_server"):
        m = sys.modules[absent] = types.ModuleType(absent)
        m.__getattr__ = lambda name: type(name, (), {})


class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.bad, self.why = set(), {}

    def note(self, test, err=None):
        # A subtest counts as its test.
        test = getattr(test, "test_case", test)
        self.bad.add(test.id())
        if err:
            text = self._exc_info_to_string(err, test).strip()
            self.why.setdefault(test.id(), text[-600:])

    def addFailure(self, test, err):
        self.note(test, err)

    addError = addFailure

    def addSubTest(self, test, subtest, err):
        if err:
            self.note(test, err)

    def addUnexpectedSuccess(self, test):
        self.note(test)


def leaves(suite):
    for x in suite:
        if isinstance(x, unittest.TestSuite):
            yield from leaves(x)
        else:
            yield x


result = Result()
try:
    suite = unittest.defaultTestLoader.loadTestsFromName(name)
except unittest.SkipTest as e:
    verdict = {"skipped": str(e)}
else:
    suite.run(result)
    verdict = {"run": result.testsRun, "skips": len(result.skipped),
               "bad": sorted(result.bad), "why": result.why}
sys.stdout = sys.stderr = io.StringIO()
verdict
