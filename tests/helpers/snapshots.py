"""Text snapshots: programs, each with the expected output below it.

A file begins with a comment. Then come blocks: a line ``=== title``, the program, a line ``---``, and the output that
a test expects. ``pytest PATH --renew`` writes the outputs of the files of a test again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.source import Span

_TITLE = "=== "
_OUTPUT = "---"


class Block(NamedTuple):
    """A program with a title, and its expected output."""

    title: str
    program: str
    output: str


def read(file: Path) -> tuple[str, list[Block]]:
    """The comment and the blocks of a file."""
    comment, *parts = f"\n{file.read_text(encoding='utf-8')}".split(f"\n{_TITLE}")
    blocks: list[Block] = []
    for part in parts:
        title, _, rest = part.partition("\n")
        program, _, output = rest.partition(f"\n{_OUTPUT}\n")
        blocks.append(Block(title, program, output.strip("\n")))
    return comment.strip("\n"), blocks


def render(comment: str, blocks: list[Block]) -> str:
    """The text of a file."""
    parts = (f"{_TITLE}{title}\n{program}\n{_OUTPUT}\n{output}" for title, program, output in blocks)
    return "\n\n".join([comment, *parts]) + "\n"


def renewed(file: Path, compute: Callable[[Block], str]) -> str:
    """The text of a file with outputs as ``compute`` makes them."""
    comment, blocks = read(file)
    return render(comment, [block._replace(output=compute(block)) for block in blocks])


def files(*folder: str) -> list[Path]:
    """Snapshot files of a folder below ``tests``."""
    return sorted(Path(__file__).parents[1].joinpath(*folder).glob("*.txt"))


def described(diagnostic: Diagnostic) -> Iterator[str]:
    """A diagnostic, one line for each of its parts."""

    def place(span: Span | None) -> str:
        return "-" if span is None else ":".join(map(str, span.source.line_col(span.start)))

    severity = diagnostic.severity.name.lower()
    yield f"{place(diagnostic.span)} {severity}: {diagnostic.message} [{diagnostic.rule}]"
    yield from (f"  {place(note.span)} note: {note.message}" for note in diagnostic.notes)
    if diagnostic.help is not None:
        yield f"  help: {diagnostic.help}"
