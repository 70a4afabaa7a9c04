"""The options of one launch of ``pto-run``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pto_dialect.diagnostics.engine import DiagnosticOptions
from pto_dialect.runtime.run.machine import RunOptions

from .compare import Tolerance
from .sanitizing import Sanitizing
from .value_text import Content, Given, OutputFile, Stored

if TYPE_CHECKING:
    from ..verdicts import Verdicts


@dataclass(frozen=True)
class Request:
    """One launch.

    ``arguments``, ``outputs`` and ``expectations`` are pairs of a name or position and a value. ``target`` is a2, a3,
    a2a3, a5 or cpu-sim, ``release`` a release of the reference (``None``: the module's own). ``jobs`` is how many
    processes share the ``blocks`` where they are independent. ``dump`` prints all values that were written, ``profile``
    a table of times, ``cycles`` (``text`` or ``json``) the estimated cycles on the chip, with ``advice`` that was
    tried, ``quiet`` leaves out the summary lines, ``emit_python`` prints the generated source instead of running it.
    ``sanitizing`` enables the sanitizers (``None``: disabled). ``timeout`` is how many seconds all of it may take
    (``None``: any), ``max_memory`` how many bytes its arrays may take (``None``: 80 % of the free memory). Without
    ``plans`` the parse templates are disabled. ``verdicts`` are results of earlier runs: a program without diagnostics
    is not checked again. ``listing`` (``text`` or ``json``) lists the functions instead of running one; ``auto``
    synthesizes arguments without a value, from ``seed`` on, and ``init_launch`` is a file that receives them instead.
    ``reference`` names a Python function that computes the expected outputs. ``tasks`` states that the launch is one of
    several in any order, ``computes`` that its results are wanted elsewhere.
    """

    arguments: tuple[tuple[str, Given], ...] = ()
    outputs: tuple[tuple[str, OutputFile], ...] = ()
    expectations: tuple[tuple[str, Content], ...] = ()
    entry: str | None = None
    target: str | None = None
    release: str | None = None
    blocks: int = 1
    jobs: int = 1
    tolerance: Tolerance = field(default_factory=Tolerance)
    run: RunOptions = field(default_factory=RunOptions)
    policy: DiagnosticOptions = field(default_factory=DiagnosticOptions)
    dump: bool = False
    profile: bool = False
    cycles: str | None = None
    advice: bool = True
    quiet: bool = False
    emit_python: bool = False
    sanitizing: Sanitizing | None = None
    timeout: float | None = None
    max_memory: int | None = None
    plans: bool = True
    verdicts: Verdicts | None = None
    listing: str | None = None
    auto: bool = False
    seed: int = 0
    init_launch: str | None = None
    reference: str | None = None
    tasks: bool = False
    computes: bool = False

    @property
    def times_only(self) -> bool:
        """Whether modelled times alone are wanted, so that no contents have to be computed."""
        sanitizing = self.sanitizing
        if self.computes or self.cycles is None or not self.quiet or sanitizing is None or sanitizing.observes:
            return False
        results = self.outputs or self.expectations or any(given.write_back for _, given in self.arguments)
        return not (results or self.dump or self.profile or self.reference is not None)

    def inputs(self) -> list[str]:
        """Returns the files that the launch reads beside its program, but for those that receive what it leaves
        there."""
        contents: list[object] = [given.stored for _, given in self.arguments if not given.write_back]
        contents += [content for _, content in self.expectations]
        return [content.path for content in contents if isinstance(content, Stored)]

    def output_files(self) -> list[tuple[str, str]]:
        """Returns the options that have buffers or results stored, and their files."""
        files = [("--out", file.path) for _, file in self.outputs]
        written = [given.stored for _, given in self.arguments if given.write_back]
        return files + [("--arg", stored.path) for stored in written if stored is not None]
