"""Launches of a file that are ready to run."""

from __future__ import annotations

from typing import NamedTuple

from pto_dialect.runtime.run.launch import Kernel

from ..run.binding import Bound
from ..run.compare import Expected
from ..run.outputs import Place, Places
from ..run.program import Launch
from ..run.value_text import OutputFile
from .plan import Step


class Prepared(NamedTuple):
    """A launch that is ready to run."""

    step: Step
    launch: Launch
    kernel: Kernel
    bound: list[Bound]
    places: Places
    expected: list[Expected]
    outputs: list[tuple[Place, OutputFile]]
