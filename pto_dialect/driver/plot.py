"""Plots as files, with the extra ``plot``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pto_dialect.diagnostics.file_kinds import check_kind


@contextmanager
def axes(path: str, error: Callable[[str], Exception]) -> Iterator[Any]:
    """The axes of a plot, to be filled inside the ``with`` block and written to ``path`` after it; its suffix selects
    the format. Raises the result of ``error`` for a message where nothing can be drawn or written."""
    try:
        import matplotlib  # deferred: optional
    except ModuleNotFoundError:
        raise error("a plot needs the extra plot: pip install 'pto-dialect[plot]'") from None
    matplotlib.use("Agg")
    from matplotlib.figure import Figure  # deferred: optional

    figure = Figure(figsize=(8, 5), layout="constrained")
    plot = figure.add_subplot()
    yield plot
    plot.legend()
    try:
        check_kind(path, "picture")
        figure.savefig(path)
    except (OSError, ValueError) as failed:
        raise error(f"cannot write '{os.path.basename(path)}': {failed}") from None
