"""Recordings and pages of the launches of a file: each launch has its own. Source: docs/report.md,
"A run that fails".
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from ..run.sanitizing import Sanitizing

if TYPE_CHECKING:
    from pto_dialect.report.kernel import ReportKernel

    from .plan import Plan
    from .session import Prepared


def is_kept(request: Sanitizing | None) -> bool:
    """True where each launch is to leave a recording or a page."""
    return request is not None and (request.record is not None or request.html is not None)


def check_kept(plans: Sequence[Plan], request: Sanitizing | None) -> str | None:
    """Why the launches cannot be kept as asked for."""
    if not is_kept(request) or (plans[0].rank is None and plans[0].steps[0].task is None):
        return None
    assert request is not None
    option = "--record" if request.record is not None else "--html"
    what = "ranks" if plans[0].rank is not None else "tasks"
    return f"{option} does not go with launch files that have {what}"


def of_launch(request: Sanitizing | None, number: int, count: int) -> Sanitizing | None:
    """What is asked of launch ``number`` of ``count``: where there are several, names of files get its number."""
    if request is None or count < 2 or not is_kept(request):
        return request
    return replace(request, record=_numbered(request.record, number), html=_numbered(request.html, number))


def of_function(request: Sanitizing | None, number: int, count: int) -> Sanitizing | None:
    """What is asked of function ``number`` of ``count`` that run one after the other: each has files of its own."""
    if request is None or count < 2:
        return request
    paths = {field: _numbered(getattr(request, field), number) for field in ("record", "html", "trace", "report")}
    return replace(request, **paths)


def _numbered(path: str | None, number: int) -> str | None:
    if path is None:
        return None
    stem, ending = os.path.splitext(path)
    return f"{stem}-{number}{ending}"


def page_of_launch(one: Prepared) -> AbstractContextManager[object]:
    """Writes the page of a launch at the end of the block, if there is to be one."""
    request = one.launch.request.sanitizing
    if request is None or request.html is None:
        return nullcontext()
    from ..run.page import RunPage

    return RunPage(one.launch, cast("ReportKernel", one.kernel), request, one.bound, one.expected)
