"""What is reported about the incorrect kernels and their correct twins: snapshots in ``tests/faulty/findings``.

For each kernel: every finding of a sanitized run with its source location, notes and advice, how long each pipe of each
core is busy in the simple cost model, and what the static checks report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faulty_kernels import Kernel, kernels
from overlapping_programs import Overlapping, overlapping
from sanitize_programs import found
from snapshot_runs import busy
from snapshots import described

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.report.timeline import Timeline
from pto_dialect.syntax.read.parser import parse_program

GENERATED = "overlapping"
"""Name of the file of generated programs."""
SEEDS = range(1000, 1006)
FOLDER = Path(__file__).with_name("findings")


def reported(title: str, kernel: Kernel | Overlapping, sync: str) -> Iterator[str]:
    """All that is reported about one program."""
    yield f"=== {title}"
    module = parse_program(SourceFile("k.pto", kernel.text), DiagnosticEngine())
    assert module is not None
    timeline = Timeline(costs=True)
    options = SanitizeOptions(sync="strict" if sync == "strict" else "auto")
    sanitized = InstrumentedKernel(module, None, None, RunOptions(fill="poison"), options, timeline)
    try:
        sanitized.run(kernel.values(), kernel.blocks)
    except ProgramError as error:
        yield f"refused {error.rule} {error}"
    for finding in sanitized.observer.findings.all:
        yield from described(finding.diagnostic())
    yield from busy(timeline)
    for diagnostic in found(kernel.text, ("check-sync", "check-memory")):
        yield from (f"static {line}" for line in described(diagnostic))


def lines(name: str) -> Iterator[str]:
    """The file of the kernels of one name, or of the generated programs with their text."""
    if name == GENERATED:
        for seed in SEEDS:
            program = overlapping(seed)
            first, *others = reported(f"seed {seed}", program, program.sync)
            yield from (first, *program.text.splitlines(), "---", *others)
    for kernel in kernels():
        if kernel.name == name:
            yield from reported(kernel.id, kernel, kernel.launch.get("sync", "auto"))


NAMES = [*dict.fromkeys(kernel.name for kernel in kernels()), GENERATED]


@pytest.mark.parametrize("name", NAMES)
def test_findings_are_those_of_the_snapshot(name: str, compare: Callable[[Path, str], None]) -> None:
    compare(FOLDER / f"{name}.txt", "".join(f"{line}\n" for line in lines(name)))


def test_every_file_has_kernels() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == set(NAMES)
