"""Runs one program for the command line: run it, list its functions, or synthesize missing arguments."""

from __future__ import annotations

import numpy as np

from pto_dialect.deadline import TimedOut, deadline
from pto_dialect.runtime.errors import BindingError

from ..inputs import Input
from ..report import render
from .files import FileError
from .program import Launch
from .request import Request
from .status import OK, TIMED_OUT, WRONG_LAUNCH, Failure, Streams, out_of_time


def run_program(item: Input, request: Request, streams: Streams) -> int:
    """Carries out ``request`` on the program ``item``.

    Returns ``OK``, ``WRONG_PROGRAM`` (or its result), ``WRONG_LAUNCH``, ``FINDINGS`` of a sanitizer, or ``TIMED_OUT``.
    Files are written only when everything went well.
    """
    try:
        # Infinities and NaNs are values like others here, in summaries as well.
        with np.errstate(all="ignore"), deadline(request.timeout):
            return _run(Launch(item, request, streams))
    except Failure as failure:
        return failure.code
    except TimedOut:
        streams.err(render((out_of_time(None),), streams.color))
        return TIMED_OUT
    except (BindingError, FileError) as error:
        rule = error.rule if isinstance(error, BindingError) else ""
        streams.err(f"error: {error}{f' [{rule}]' if rule else ''}\n")
        return WRONG_LAUNCH


def _run(launch: Launch) -> int:
    """Compiles and runs the program as the request says; returns what becomes of it. Raises ``Failure`` where a step
    before the run has failed and was reported."""
    request = launch.request
    module = launch.module()
    if request.listing is not None:
        from ..explore.listing import show_functions  # deferred: start-up

        launch.streams.out(show_functions(launch.item.name, module, request.target, request.listing))
        return OK
    if request.auto or request.init_launch is not None:
        from ..explore.automatic import run_all, write_launch  # deferred: start-up

        written = request.init_launch
        return run_all(launch, module) if written is None else write_launch(launch, module, written)
    return launch.run_entry(module, launch.entry(module), request.arguments)
