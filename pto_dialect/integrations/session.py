"""A test session: which kernels each test has run, and what the sanitizers have found in them.

The report of a test is a JSON file (``version`` changes when a field changes its meaning or disappears)::

    {
      "version": 1, "test": "tests/test_add.py::test_add",
      "programs": [{"client": "pypto", "file": "add.pto", "target": "a2a3", "seconds": 0.01}],
      "launches": [{"client": "pypto", "file": "add.pto", "functions": ["add"], "blocks": 4, "seconds": 0.02,
                    "stopped": false, "findings": [0]}],
      "findings": [{... as in `pto-run --report`, and "origins": [{"file": "model.py", "line": 12, "column": 8}]}]
    }

See docs/integrations.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.files import atomic_write
from pto_dialect.diagnostics.formats import to_json
from pto_dialect.diagnostics.render import render_text
from pto_dialect.ir.core.location import span_of
from pto_dialect.runtime.api import LAUNCHERS
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.sanitize.options import SanitizeOptions, parse_checks

from .base import told
from .events import Compiled, Event, Launched, instrumented, observed, watching
from .instrumented import instrumented_kernel
from .origins import origins_of

VERSION = 1


class Session:
    """The tests of a session, one after the other.

    ``checks`` are comma-separated names of checks (``None``: sanitizers are disabled), ``report`` the folder for
    reports (``None``: none are written), ``allow`` rules whose findings are left out. Raises ``UnknownCheckError``, and
    ``OSError`` for a folder that cannot be created.
    """

    def __init__(self, checks: str | None, report: str | None, allow: Collection[str]) -> None:
        self._options = SanitizeOptions(parse_checks([checks])) if checks is not None else None
        self._folder = Path(report) if report is not None else None
        self._allow = frozenset(allow)
        self._test = ""
        self._events: list[Event] = []
        self._judged = 0
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def open(self) -> Iterator[None]:
        """Observes, and watches, inside the ``with`` block."""
        with ExitStack() as stack:
            stack.enter_context(observed(self._events.append))
            stack.enter_context(observe_calls())
            if self._options is not None:
                stack.enter_context(instrumented(self._options))
            yield

    def begin(self, test: str) -> None:
        """What happens from now on belongs to ``test``."""
        self._test, self._judged = test, 0
        self._events.clear()

    def judge(self, allowed: Collection[str] = ()) -> tuple[str, str]:
        """Returns the errors and the warnings since the last call as texts, empty for none; ``allowed`` are further
        rules to leave out."""
        events, self._judged = self._events[self._judged :], len(self._events)
        found = _once(self._kept(events, allowed))
        errors = [one for one in found if one.severity is Severity.ERROR]
        warnings = [one for one in found if one.severity is not Severity.ERROR]
        return shown(errors), shown(warnings)

    def end(self) -> None:
        """Writes the report of the test, if reports are written and it has compiled or run something."""
        if self._folder is not None and self._events:
            atomic_write(str(self._folder / file_name(self._test)), json.dumps(self._document(), indent=1) + "\n")
        self._events.clear()

    def _kept(self, events: list[Event], allowed: Collection[str]) -> list[Diagnostic]:
        findings = [found for event in events if isinstance(event, Launched) for found in event.findings]
        return [found for found in findings if found.rule not in self._allow and found.rule not in allowed]

    def _document(self) -> dict[str, Any]:
        findings = _once(self._kept(self._events, ()))
        numbers = {_key(found): number for number, found in enumerate(findings)}
        programs = [event for event in self._events if isinstance(event, Compiled)]
        launches = [event for event in self._events if isinstance(event, Launched)]
        return {
            "version": VERSION,
            "test": self._test,
            "programs": [
                {"client": one.client, "file": one.filename, "target": one.target, "seconds": round(one.seconds, 6)}
                for one in programs
            ],
            "launches": [
                {
                    "client": one.client,
                    "file": one.filename,
                    "functions": list(one.functions),
                    "blocks": one.blocks,
                    "seconds": round(one.seconds, 6),
                    "stopped": one.stopped,
                    "findings": sorted({numbers[_key(found)] for found in one.findings if _key(found) in numbers}),
                }
                for one in launches
            ],
            "findings": [
                {**plain, "origins": [origin._asdict() for origin in origins_of(found)]}
                for plain, found in zip(json.loads(to_json(findings))["diagnostics"], findings, strict=True)
            ],
        }


def shown(findings: Collection[Diagnostic]) -> str:
    """Findings as `pto-run --sanitize` shows them."""
    return render_text(findings).rstrip("\n")


def file_name(test: str) -> str:
    """Returns a name for the report of a test: its id as far as files may be called so, and a number that tells ids
    apart."""
    readable = re.sub(r"[^\w.\-]+", "_", test).strip("_")[-120:]
    return f"{readable}-{sha256(test.encode()).hexdigest()[:8]}.json"


def _key(found: Diagnostic) -> tuple[Any, ...]:
    place = None if found.span is None else (found.span.source.name, found.span.start, found.span.source.text)
    return found.rule, place, found.message


def _once(findings: Collection[Diagnostic]) -> list[Diagnostic]:
    return list({_key(found): found for found in findings}.values())


CLIENT = "pto_dialect"

_instrumented: WeakKeyDictionary[Kernel, dict[SanitizeOptions, Kernel]] = WeakKeyDictionary()


@contextmanager
def observe_calls() -> Iterator[None]:
    """Reports kernel calls to the observers, and enables the sanitizers, inside the ``with`` block."""
    LAUNCHERS.append(_launch)
    try:
        yield
    finally:
        LAUNCHERS.remove(_launch)


def _launch(kernel: Kernel, values: Sequence[Any], blocks: int, jobs: int) -> list[Any]:
    span = span_of(kernel.function)
    name = span.source.name if span is not None else kernel.entry
    sanitize = watching()
    if sanitize is None:
        return told(CLIENT, name, kernel, values, blocks, jobs)
    made = _instrumented.setdefault(kernel, {})
    if sanitize not in made:
        joined = kernel.group
        what = (None, None) if joined is not None else (kernel.module, kernel.entry)
        made[sanitize] = instrumented_kernel(*what, kernel.profile.name, kernel.options, sanitize, joined)
    return told(CLIENT, name, made[sanitize], values, blocks)
