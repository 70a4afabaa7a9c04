"""What one launch of ``pto-run`` is asked to do."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...diagnostics.engine import DiagnosticOptions
from ...runtime.machine import RunOptions
from .compare import Tolerance
from .sanitizing import Sanitizing
from .value_text import Content, Given, OutputFile


@dataclass(frozen=True)
class Request:
    """One launch.

    ``arguments``, ``outputs`` and ``expectations`` are pairs of a name or position and a value. ``target`` is
    a2, a3, a2a3, a5 or cpu-sim (``None``: the module's own). ``jobs`` is how many processes share the ``blocks``
    where they do not depend on each other. ``dump`` shows all numbers of what was written,
    ``profile`` a table of times, ``quiet`` leaves out the summary lines, ``emit_python`` shows the generated
    source instead of running it. ``sanitizing`` has the run watched (``None``: it is not).
    """

    arguments: tuple[tuple[str, Given], ...] = ()
    outputs: tuple[tuple[str, OutputFile], ...] = ()
    expectations: tuple[tuple[str, Content], ...] = ()
    entry: str | None = None
    target: str | None = None
    blocks: int = 1
    jobs: int = 1
    tolerance: Tolerance = field(default_factory=Tolerance)
    run: RunOptions = field(default_factory=RunOptions)
    policy: DiagnosticOptions = field(default_factory=DiagnosticOptions)
    dump: bool = False
    profile: bool = False
    quiet: bool = False
    emit_python: bool = False
    sanitizing: Sanitizing | None = None
