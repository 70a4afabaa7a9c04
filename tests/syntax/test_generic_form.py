"""How values are dealt out to the operands of a generic form without sizes: by trying all combinations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from groups import in_groups

from pto_dialect.ir.core.base import Slot, op_spec, signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class
from pto_dialect.syntax.generic_form import infer_segments

SEGMENTED = sorted(name for name in OPS if signature(op_class(name)).segmented)


def ways(slots: tuple[Slot, ...], total: int, outs: frozenset[str], on_values: bool) -> Iterator[tuple[int, ...]]:
    """All sizes that add up: one value for what must be there and at most one for what may be; destinations that may
    be left out are filled from the first on, and there are none where the operation gives a value instead."""
    choices = []
    for slot in slots:
        several = slot.arity == "*" and slot.name not in outs
        choices.append((1,) if slot.arity == "1" else tuple(range(total + 1)) if several else (0, 1))
    for sizes in product(*choices):
        given = [size for slot, size in zip(slots, sizes, strict=True) if slot.name in outs]
        free = [size for slot, size in zip(slots, sizes, strict=True) if slot.name in outs and slot.arity != "1"]
        if sum(sizes) != total or free != sorted(free, reverse=True):
            continue
        if any(free) if on_values else given[:1] == [0]:
            continue
        yield sizes


@in_groups("name", SEGMENTED)
def test_values_go_where_only_they_can(name: str) -> None:
    cls = op_class(name)
    slots, spec = tuple(signature(cls).operands), op_spec(cls)
    style = spec.shape.value.startswith("OP_DPS")
    outs = frozenset(spec.outs) if style else frozenset()
    for total, results in product(range(min(len(slots), 6) + 2), (0, 1)):
        found = list(ways(slots, total, outs, style and results > 0))
        assert infer_segments(cls, total, results) == (found[0] if len(found) == 1 else None), (total, results)
