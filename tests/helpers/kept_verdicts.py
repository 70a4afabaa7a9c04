"""What the verifier says of the round-trip programs with other numbers: constants, attributes, and types.

Nothing is printed or read, so there are more of these than of the programs in ``tests/neighbours``: all attributes near
the stated ones, all constants near, and some types. A digest of rules, severities and messages is kept for each
statement in ``tests/verify/verdicts.txt``; `python tests/helpers/kept_verdicts.py` writes it again.
"""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2] / folder) for folder in ("lit-tests", "tests/helpers")]

from neighbours import Function, Statement, families, other_attributes, other_types, statements  # noqa: E402
from xdsl.dialects.builtin import ModuleOp  # noqa: E402
from xdsl.ir import Attribute, Operation  # noqa: E402

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions  # noqa: E402
from pto_dialect.syntax.types.parser import parse_type  # noqa: E402
from pto_dialect.verify.verifier import verify_module  # noqa: E402

FILE = Path(__file__).parents[1] / "verify" / "verdicts.txt"
_OPTIONS = DiagnosticOptions(pedantic=True, max_errors=0)
_TYPES = 24
"""Types of values that are tried."""
_LONGEST = 40
_KIND = 60


def _said(module: ModuleOp) -> str:
    engine = DiagnosticEngine(_OPTIONS)
    verify_module(module, engine)
    return "\n".join(f"{found.rule} {found.severity} {found.message} {found.help}" for found in engine.diagnostics)


def _constants(op: Operation) -> Iterator[Operation]:
    """Constants that an operation is given."""
    for value in dict.fromkeys(op.operands):
        if isinstance(value.owner, Operation) and value.owner.name == "arith.constant":
            yield value.owner


def variations(statement: Statement) -> Iterator[ModuleOp]:
    """The programs of a statement."""
    function = Function(statement)
    if len(function.parts) > _LONGEST:
        return
    op, target = statement.op, statement.target
    found: list[tuple[dict[str, Attribute | None], dict[Operation, Attribute]]] = []
    found += [({name: other}, {}) for name, value in op.attributes.items() for other in other_attributes(value)]
    for constant in _constants(op):
        near = other_attributes(constant.properties["value"])
        found += [({}, {constant: other}) for other in near if other is not None]
    rng = random.Random(f"{statement.label} numbers")
    for changed, constants in rng.sample(found, min(len(found), _KIND)):
        yield function.module({}, changed, target, constants)
    spelled = [(value, text) for value in function.values for text in other_types(str(value.type))]
    for value, text in rng.sample(spelled, min(len(spelled), _TYPES)):
        try:
            other = parse_type(text)
        except Exception:
            continue
        yield function.module({value: other}, {}, target)


def row(statement: Statement) -> str:
    """One line of the file."""
    said = [_said(module) for module in variations(statement)]
    return f"{statement.label}: {len(said)} {hashlib.sha256('|'.join(said).encode()).hexdigest()[:8]}"


def rows(family: str) -> list[str]:
    """The lines of a family."""
    return [row(statement) for statement in statements(family)]


def kept() -> dict[str, str]:
    """The rows of the file by label."""
    return {line.split(": ")[0]: line for line in FILE.read_text(encoding="utf-8").splitlines()}


if __name__ == "__main__":
    FILE.write_text("".join(f"{line}\n" for name in families() for line in rows(name)), encoding="utf-8")
