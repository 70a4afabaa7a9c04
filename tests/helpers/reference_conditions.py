"""The tables of `tests/verify/reference_conditions`: what the verifier of the reference demands of each operation.

A table is a list of blocks. A block begins with a program that the reference accepts::

    @ a2a3 a5 | tadd tsub | pto.$op ins(%a, %b : !A, !B) outs(%d : !D) | A = vec, 16x64xf32 | B = A | D = A

targets, operations (``$op`` in the text), statements (`` ;; `` between lines), and types by name; ``TARGET`` in the
text is the target. A type is the inside of ``!pto.tile_buf<...>``, another name, or a whole type; ``V 64xf32`` and
``K 64xb32`` are a logical vector and its mask, ``P f32, ub`` a pointer. A row below a block states one condition::

    TAddOp::verify | one element type | B = vec, 16x64xi32 | tile-same-dtype

the function of the reference, the condition as text, what to change so that the program violates just that
condition, and the rules that hold it. Where the reference refuses and this project does not, the last field is
``left out: REASON`` or ``warning RULE: REASON``. Changes are separated by ``;``: types by name, ``/old/new/`` in the
statements, ``target NAME`` where only that target has the condition, ``op NAME NAME`` where only these operations
have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.engine.example_programs import example_program
from pto_dialect.verify.verifier import verify_module

TABLES = Path(__file__).parent.parent / "verify" / "reference_conditions"

_SHORT = {"V": "!pto.vmi.vreg", "K": "!pto.vmi.mask", "P": "!pto.ptr"}
"""Types that are short in the tables: ``V 64xf32``, ``K 64xb32``, ``P f32, ub``."""

_NAME = re.compile(r"!([A-Z]\w*)(?![\w.])")


@dataclass(frozen=True)
class Base:
    """A program that the reference accepts, for several operations and targets."""

    file: str
    line: int
    targets: tuple[str, ...]
    ops: tuple[str, ...]
    text: str
    types: tuple[tuple[str, str], ...]

    def program(self, op: str, target: str, types: dict[str, str], text: str) -> str:
        """The whole program of ``op`` with these types."""

        def spelled(match: re.Match[str]) -> str:
            value = match[1]
            for _ in range(5):
                value = types.get(value, value)
            short, _, rest = value.partition(" ")
            if short in _SHORT:
                return f"{_SHORT[short]}<{rest}>"
            whole = value.startswith(("!", "memref", "vector")) or re.fullmatch(r"[a-z]+\d*\w*", value)
            return value if whole else f"!pto.tile_buf<{value}>"

        lines = text.replace(" ;; ", "\n")
        for _ in range(2):
            lines = _NAME.sub(lambda m: spelled(m) if m[1] in types else m[0], lines)
        return example_program(lines.replace("$op", op).replace("TARGET", target.replace("a2a3", "a3")), target)


@dataclass(frozen=True)
class Condition:
    """One condition: a change of ``base`` that violates it, and what holds it."""

    base: Base
    line: int
    function: str
    words: str
    change: str
    held: str

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that hold it; none where it is left out."""
        if self.held.startswith("left out"):
            return ()
        return tuple(self.held.removeprefix("warning ").split(":")[0].replace(",", " ").split())

    @property
    def is_error(self) -> bool:
        return not self.held.startswith(("left out", "warning"))

    def programs(self) -> Iterator[tuple[str, str, str]]:
        """Operation, target, and the program that violates the condition."""
        types, text = dict(self.base.types), self.base.text
        targets, ops = self.base.targets, self.base.ops
        for part in filter(None, (part.strip() for part in re.split(r"(?<!;);(?!;)", self.change))):
            if part.startswith("/"):
                old, new = part[1:-1].split("/")
                assert old in text, f"{self.base.file}:{self.line}: {old} is not part of the statements"
                text = text.replace(old, new)
            elif part.startswith("target "):
                targets = tuple(part.split()[1:])
            elif part.startswith("op "):
                ops = tuple(part.split()[1:])
            else:
                name, _, value = part.partition("=")
                assert name.strip() in types, f"{self.base.file}:{self.line}: no type {name}"
                types[name.strip()] = value.strip()
        for target in targets:
            for op in ops:
                yield op, target, self.base.program(op, target, types, text)


def read_tables(folder: Path = TABLES) -> tuple[list[Base], list[Condition]]:
    """All blocks and rows."""
    bases: list[Base] = []
    conditions: list[Condition] = []
    for file in sorted(folder.glob("*.txt")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            fields = [field.strip() for field in line.split(" | ")]
            if line.startswith("@"):
                targets, ops, text = fields[0][1:].split(), fields[1].split(), fields[2]
                types = [tuple(part.strip() for part in field.split("=", 1)) for field in fields[3:]]
                bases.append(Base(file.name, number, tuple(targets), tuple(ops), text, tuple(types)))  # type: ignore[arg-type]
            elif line.strip() and not line.startswith("#"):
                assert len(fields) == 4, f"{file.name}:{number}: a row has four fields, found {len(fields)}"
                conditions.append(Condition(bases[-1], number, *fields))
    return bases, conditions


def reported(program: str) -> list[tuple[str, Severity]]:
    """Rules and severities of all that is reported about a program."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    module = parse_program(SourceFile("example.pto", program), engine)
    if module is not None and not engine.has_errors:
        verify_module(module, engine)
    return [(d.rule, d.severity) for d in engine.diagnostics]
