"""Sanitizers for a whole program: each finding once, when its launch has ended."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.render import render_text
from pto_dialect.integrations.events import Event, Launched, instrumented, observed
from pto_dialect.sanitize.options import SanitizeOptions, parse_checks

FOUND = 3
"""Exit code of a program in which the sanitizers report an error, as that of `pto run --sanitize`."""


@contextmanager
def sanitized(checks: str) -> Iterator[None]:
    """Sanitizes launches inside the ``with`` block; ``checks`` are as for `--sanitize`.

    Ends the process with code 3 after the block if there is an error. Raises ``UnknownCheckError``.
    """
    seen: dict[tuple[str, str], Diagnostic] = {}

    def show(event: Event) -> None:
        found = event.findings if isinstance(event, Launched) else ()
        for one in found:
            text = render_text([one])
            if (one.rule, text) not in seen:
                seen[one.rule, text] = one
                sys.stderr.write(text)

    with instrumented(SanitizeOptions(parse_checks([checks]))), observed(show):
        yield
    errors = sum(one.severity is Severity.ERROR for one in seen.values())
    if errors:
        sys.stderr.write(f"pto-dialect: the sanitizers report {errors} errors\n")
        sys.exit(FOUND)
