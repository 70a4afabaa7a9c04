"""What the relations between the operands of tile operations say, for every type that differs in one word or number.

Each statement of the round-trip programs is tried with all such types of one value, and of all values that have its
type, and with other attributes. A digest of all that is found, with severities on each target, places and messages, is
kept for each value and attribute in ``tests/verify/tile/relations.txt``; `python tests/helpers/kept_relations.py`
writes it again.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2] / folder) for folder in ("lit-tests", "tests/helpers")]

from neighbours import Statement, families, other_attributes, other_types, statements  # noqa: E402
from xdsl.ir import Attribute, Block, SSAValue  # noqa: E402

from pto_dialect.families import rule_modules  # noqa: E402
from pto_dialect.ir.core.base import PtoOp  # noqa: E402
from pto_dialect.ir.core.types import DYNAMIC, TileBufType  # noqa: E402
from pto_dialect.syntax.types.parser import parse_type  # noqa: E402
from pto_dialect.verify.engine.functions import _load_rules  # noqa: E402
from pto_dialect.verify.tile.relations import _RELATIONS, TileOperands, _sorted_relations  # noqa: E402

FILE = Path(__file__).parents[1] / "verify" / "tile" / "relations.txt"


def tile_families() -> list[str]:
    """Families with relations between tiles."""
    return [name for name in families() if any(module.startswith(("tile.", "cube.")) for module in rule_modules(name))]


def tried(family: str) -> Iterator[Statement]:
    """Statements of a family that relations look at."""
    _load_rules(family)
    seen: set[object] = set()
    for statement in statements(family):
        op = statement.op
        types = (*(v.type for v in op.operands), None, *(r.type for r in op.results))
        key = (op.name, types, tuple(op.attributes.items()))
        if op.name in _RELATIONS and key not in seen:
            seen.add(key)
            yield statement


def _changed(op: PtoOp, types: dict[SSAValue, Attribute], attributes: dict[str, Attribute | None]) -> PtoOp:
    changed = [value for value in op.operands if value in types]
    new = dict(zip(changed, Block(arg_types=[types[value] for value in changed]).args, strict=True))
    kept = {**op.attributes, **attributes}
    return type(op).create(
        operands=[new.get(value, value) for value in op.operands],
        result_types=[types.get(result, result.type) for result in op.results],
        attributes={name: value for name, value in kept.items() if value is not None},
        properties=dict(op.properties),
    )


def _said(op: PtoOp) -> str:
    """All that relations find about an operation."""
    try:
        operands = TileOperands(op)
        found = [finding for function in _sorted_relations(op.name) for finding in function(operands)]
    except Exception as error:
        # Later checks make no sense for it; the kind of its operands is told before.
        return type(error).__name__
    return "\n".join(f"{f.rule.id} {f.cell} {f.operand} {f.message} {f.help}" for f in found)


def _parsed(spelling: str) -> Attribute | None:
    try:
        return parse_type(spelling)
    except Exception:
        return None


def _near(type_: Attribute) -> list[Attribute]:
    """Types near one: another word or number, another valid region, open or not."""
    found = [other for other in map(_parsed, other_types(str(type_))) if other is not None]
    if isinstance(type_, TileBufType):
        rows, cols = type_.rows, type_.cols
        regions = [(DYNAMIC, cols), (rows, DYNAMIC), (DYNAMIC, DYNAMIC), (0, cols), (rows, 0), (1, cols), (rows, 1)]
        found += [type_.replace(valid=valid) for valid in regions if valid != (type_.valid_rows, type_.valid_cols)]
    return found


def variations(op: PtoOp) -> Iterator[tuple[str, list[str]]]:
    """What is changed, and what is said of each change."""
    values = list(dict.fromkeys((*op.operands, *op.results)))
    for number, value in enumerate(values):
        alike = [other for other in values if other.type == value.type]
        others = _near(value.type)
        said = [_said(_changed(op, {value: other}, {})) for other in others]
        if alike[0] is value and len(alike) > 1:
            said += [_said(_changed(op, dict.fromkeys(alike, other), {})) for other in others]
        yield f"{number}", said
    for name, value in op.attributes.items():
        yield name, [_said(_changed(op, {}, {name: other})) for other in other_attributes(value)]


def row(statement: Statement) -> str:
    """One line of the file."""
    op = statement.op
    assert isinstance(op, PtoOp)
    digests = [f"{what}={hashlib.sha256('|'.join(said).encode()).hexdigest()[:6]}" for what, said in variations(op)]
    return " ".join([f"{statement.label}:", *digests])


def kept() -> dict[str, str]:
    """The rows of the file by label."""
    rows = FILE.read_text(encoding="utf-8").splitlines()
    return {row.split(": ")[0]: row for row in rows}


if __name__ == "__main__":
    lines = [row(statement) for family in tile_families() for statement in tried(family)]
    FILE.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
