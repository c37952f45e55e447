"""asyncio without sockets and threads: a loop that sleeps until its next timer;
and the last of what is imported before the snapshot.
"""


def change_asyncio(asyncio):
    from asyncio import base_events, events

    class Timers:
        """In place of a selector: answers of tools are all that comes."""
        def select(self, timeout):
            if wanted():
                hear(-1 if timeout is None else int(timeout * 1e6))
                return []
            if timeout is None:
                raise RuntimeError("asyncio waits, and nothing is left that "
                                   "could wake it")
            if timeout > 0:
                time.sleep(timeout)
            return []

    class Loop(base_events.BaseEventLoop):
        def __init__(self):
            super().__init__()
            self._selector = Timers()

        def _process_events(self, event_list):
            pass

        def _write_to_self(self):
            pass

        def run_in_executor(self, executor, func, *args):
            future = self.create_future()
            # As in a thread of its own: there no loop runs.
            running = events._get_running_loop()
            events._set_running_loop(None)
            try:
                future.set_result(func(*args))
            except Exception as e:
                future.set_exception(e)
            finally:
                events._set_running_loop(running)
            return future

        async def getaddrinfo(self, *args, **kwargs):
            NO_SOCKETS()

        async def create_connection(self, *args, **kwargs):
            NO_SOCKETS()

        async def create_server(self, *args, **kwargs):
            NO_SOCKETS()

        async def subprocess_exec(self, *args, **kwargs):
            NO_PROCESSES()

        async def subprocess_shell(self, *args, **kwargs):
            NO_PROCESSES()

    # 3.14 and later give it another name.
    base = getattr(events, "BaseDefaultEventLoopPolicy", None) or \
        events._BaseDefaultEventLoopPolicy

    class Policy(base):
        _loop_factory = Loop

    events._event_loop_policy = Policy()
    asyncio.SelectorEventLoop = asyncio.EventLoop = Loop
    asyncio.DefaultEventLoopPolicy = Policy


CHANGES["asyncio"] = change_asyncio

# What an image holds besides, now that all changes are known.
import argparse, ast, asyncio, concurrent.futures, difflib, fnmatch, glob
import gzip, inspect, logging, pickle, pprint, queue, secrets, shutil, sqlite3
import tempfile, threading, urllib.parse, xml.etree.ElementTree, zipfile
import zoneinfo
