"""``pto-run --compare``: runs a program twice, or two programs, and reports where their values diverge."""

from __future__ import annotations

import os
from dataclasses import replace
from tempfile import TemporaryDirectory

from pto_dialect.debug.compare import compare, comparison_text
from pto_dialect.recording import RecordingError
from pto_dialect.recording import open as open_recording
from pto_dialect.runtime.numerics.formats import format_of

from ..inputs import Input
from .command import run_program
from .compare import Tolerance
from .request import Request
from .status import OK, WRONG_LAUNCH, WRONG_PROGRAM, Streams


def compare_programs(one: Input, requests: tuple[Request, Request], other: Input, streams: Streams) -> int:
    """Runs ``one`` and ``other`` as requested, and reports where they diverge; returns ``WRONG_PROGRAM`` in that
    case."""
    with TemporaryDirectory(prefix="pto-compare-") as folder:
        paths: list[str] = []
        for number, (item, request) in enumerate(zip((one, other), requests, strict=True)):
            assert request.sanitizing is not None
            path = os.path.join(folder, f"{number}.pto-rec")
            recorded = replace(request.sanitizing, record=path)
            silent = Streams(_nothing, streams.err, streams.color)
            code = run_program(item, replace(request, sanitizing=recorded, quiet=True), silent)
            if code != OK:
                return code
            paths.append(path)
        tolerance = requests[0].tolerance
        try:
            with open_recording(paths[0]) as left, open_recording(paths[1]) as right:
                found = compare(left, right, lambda element: _tolerances(tolerance, element))
                streams.out(comparison_text(left, right, found) + "\n")
        except RecordingError as error:
            streams.err(f"error: {error}\n")
            return WRONG_LAUNCH
    return OK if found.parting is None else WRONG_PROGRAM


def _tolerances(tolerance: Tolerance, element: str) -> tuple[float, float]:
    try:
        return tolerance.of(format_of(element))
    except (KeyError, ValueError):
        return 0.0, 0.0


def _nothing(_: str) -> None:
    """What the single runs say is not shown."""
