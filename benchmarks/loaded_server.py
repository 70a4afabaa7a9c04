"""Runs chosen tests again and again, each time in a fork of one process that has loaded and collected all of them.

Started by `mutate.py` as a plugin of pytest.  A change inside of a function is made in the fork, by giving the function
other code; what runs when modules are imported cannot be changed that way.

Requests and answers are lines of JSON on the pipes whose numbers `$PTO_PIPES` lists, two for each client:
`[seconds, path, changed text, test, ...]` is answered with `passed`, `failed`, `late`, or `import` for a change that
only a new process shows.
"""

from __future__ import annotations

import gc
import json
import os
import selectors
import signal
import sys
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from coverage_contexts import test_of
from fork_server import waited

_OPTIMIZED = 0x1
"""The flag of code of functions, as opposed to that of modules and classes."""


def codes(root: CodeType, outer: bool = False) -> list[tuple[CodeType, bool]]:
    """A code object and all inside of it, each with whether it belongs to a function."""
    inside = outer or bool(root.co_flags & _OPTIMIZED)
    found = [(root, inside)]
    for constant in root.co_consts:
        if isinstance(constant, CodeType):
            found += codes(constant, inside)
    return found


def own(code: CodeType) -> tuple[Any, ...]:
    """What a code object does, without what is inside of it."""
    constants = tuple((type(c), repr(c)) for c in code.co_consts if not isinstance(c, CodeType))
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, constants


class Change:
    """New code for the functions of a file."""

    def __init__(self, file: str, source: str, changed: str) -> None:
        old = codes(compile(source, file, "exec", dont_inherit=True))
        new = codes(compile(changed, file, "exec", dont_inherit=True))
        self.possible = [code.co_qualname for code, _ in old] == [code.co_qualname for code, _ in new]
        self.possible &= all(
            inside or own(before) == own(after) for (before, inside), (after, _) in zip(old, new, strict=False)
        )
        pairs = zip(old, new, strict=False)
        self.codes = {before: after for (before, inside), (after, _) in pairs if inside and before != after}

    def apply(self, functions: list[FunctionType]) -> bool:
        """Changes the functions that exist; False when that is not all of the change."""
        if not self.possible:
            return False
        applied = 0
        for function in functions:
            code = self.codes.get(function.__code__)
            if code is not None:
                try:
                    function.__code__ = code
                except ValueError:
                    return False
                applied += 1
        return applied > 0


class LoadedServer:
    """The plugin: its loop of tests serves requests."""

    def __init__(self) -> None:
        self.functions: dict[str, list[FunctionType]] = {}
        self.items: dict[str, list[Any]] = {}
        self.session: Any = None

    def pytest_runtestloop(self, session: Any) -> None:
        """Serves until all clients have ended, and ends the process."""
        self.session = session
        for item in session.items:
            self.items.setdefault(test_of(item.nodeid), []).append(item)
        package = f"{Path.cwd()}/pto_dialect/"
        for found in gc.get_objects():
            if isinstance(found, FunctionType) and found.__code__.co_filename.startswith(package):
                self.functions.setdefault(found.__code__.co_filename, []).append(found)
        gc.collect()
        gc.freeze()
        numbers = [int(number) for number in os.environ["PTO_PIPES"].split(",")]
        selector = selectors.DefaultSelector()
        for reader, writer in zip(numbers[::2], numbers[1::2], strict=True):
            selector.register(os.fdopen(reader), selectors.EVENT_READ, writer)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while selector.get_map():
            for key, _ in selector.select():
                assert not isinstance(key.fileobj, int)
                line = key.fileobj.readline()  # pyright: ignore[reportAttributeAccessIssue]
                if not line:
                    selector.unregister(key.fileobj)
                elif os.fork() == 0:
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    os.write(key.data, self.answer(json.loads(line)).encode() + b"\n")
                    os._exit(0)
        os._exit(0)

    def answer(self, request: list[Any]) -> str:
        """What becomes of the tests with the change."""
        seconds, path, changed, *tests = request
        file = str(Path.cwd() / path)
        source = Path(file).read_text(encoding="utf-8")
        if source != changed and not Change(file, source, changed).apply(self.functions.get(file, [])):
            return "import"
        child = os.fork()
        if child == 0:
            self.run(tests)
        code = waited(child, seconds)
        return "late" if code is None else "passed" if code == 0 else "failed"

    def run(self, tests: list[str]) -> None:
        """Runs tests up to the first that fails, and ends the process."""
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nowhere, number)
        session = self.session
        chosen = [item for test in tests for item in self.items[test]]
        for item, following in zip(chosen, [*chosen[1:], None], strict=True):
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                os._exit(1)
        os._exit(0)


def main() -> None:
    """Collects and serves."""
    sys.exit(int(pytest.main(sys.argv[1:], plugins=[LoadedServer()])))


if __name__ == "__main__":
    main()
