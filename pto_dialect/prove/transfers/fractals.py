"""The bytes of matrices in fractals: loads with a change of layout, loads into L0, products.

Source: docs/reference/layouts.md, "Loads with a change of layout", "Loads into L0".
"""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from pto_dialect.analysis.type_facts import element_type, enumerator
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.extents import round_up
from pto_dialect.ir.core.types import PtrType, byte_width, element_name
from pto_dialect.ir.cube.mad import ClausedMadOp
from pto_dialect.ir.cube.mte import FractalWindowOp, MteGmL1FracOp
from pto_dialect.targets.element_types import FP4

from ..expressions import Expr
from ..values import Numbers
from .spans import Span, product, runs

_BLOCK = 32
"""Bytes of a row of a fractal."""
_SIDE = 16
"""Rows of a fractal."""
_FRACTAL = _SIDE * _BLOCK
"""Bytes of a fractal."""
_SUM_BYTES = 4
"""Bytes of an element of an accumulator."""


def fractal_span(op: PtoOp, name: str, numbers: Numbers) -> Span | None:
    """Returns the bytes that an operation on fractals touches from its operand ``name`` on; ``None`` for other
    operations."""
    if isinstance(op, MteGmL1FracOp):
        return _Load(op, numbers).span(name)
    if isinstance(op, FractalWindowOp) and name in ("source", "destination"):
        return _image(op, name, numbers)
    if isinstance(op, ClausedMadOp):
        return _operand(op, name, numbers)
    return None


def _image(op: PtoOp, name: str, numbers: Numbers) -> Span | None:
    """Returns an operand of a product, in L1 or in L0, as whole fractals without gaps; from the first one in L1 on."""
    groups = operand_groups(op)
    kind = groups["source"][0].type
    packed = isinstance(kind, PtrType) and element_name(kind.element) in FP4
    size = _size(op, "source")
    outer = next((groups[one] for one in ("m", "n") if groups.get(one)), ())
    if packed or size is None or not outer or not groups.get("k"):
        return None
    given = [outer[0], groups["k"][0], *groups.get("start_row", ()), *groups.get("start_col", ())]
    values = [None if (number := numbers.number(one)) is None else number.value for one in given]
    if len(values) not in (2, 4) or None in values:
        return None
    height, width, row, column = (*[value or 0 for value in values], 0, 0)[:4]
    lanes = _BLOCK // size
    group = max(_SIDE, lanes)
    flag = op.attributes.get("transpose")
    if flag is not None and bool(flag.value.data):  # pyright: ignore[reportAttributeAccessIssue]
        rows, blocks = round_up(width, group) // _SIDE, round_up(height, group) // lanes
    else:
        rows, blocks = -(-height // _SIDE), -(-width // lanes)
    length = rows * blocks * _FRACTAL
    start = (column * rows + row) * _FRACTAL if name == "source" else 0
    return Span(Expr(start + length), Expr(length) if not start and min(height, width) > 0 else None)


def _size(op: PtoOp, name: str) -> int | None:
    kind = operand_groups(op)[name][0].type
    element = element_type(kind) if isinstance(kind, (PtrType, MemRefType)) else None
    return None if element is None else byte_width(element)


def _operand(op: ClausedMadOp, name: str, numbers: Numbers) -> Span | None:
    groups = operand_groups(op)
    if name in ("lhs", "rhs"):
        rows = groups["m" if name == "lhs" else "n"]
        return _matrix(numbers, rows, groups["k"], _size(op, name))
    if name != "dst":
        return None
    rows, columns = (numbers.number(groups[one][0]) for one in ("m", "n"))
    if rows is None or columns is None or rows.value is None or columns.value is None:
        return None
    whole = round_up(rows.value, _SIDE) * round_up(columns.value, _SIDE) * _SUM_BYTES
    return Span(Expr(whole), Expr(_SUM_BYTES) if min(rows.value, columns.value) > 0 else None)


def _matrix(
    numbers: Numbers, rows: tuple[SSAValue, ...], columns: tuple[SSAValue, ...], size: int | None
) -> Span | None:
    """Returns a matrix of whole fractals."""
    if not rows or not columns or size is None:
        return None
    height, width = numbers.number(rows[0]), numbers.number(columns[0])
    if height is None or width is None or height.value is None or width.value is None:
        return None
    whole = round_up(height.value, _SIDE) * round_up(width.value * size, _BLOCK)
    # Transposed loads of narrow elements fill squares of blocks.
    return Span(Expr(round_up(whole, _BLOCK * _BLOCK)), Expr(size) if min(height.value, width.value) > 0 else None)


class _Load:
    """A load from global memory into fractals of L1."""

    def __init__(self, op: MteGmL1FracOp, numbers: Numbers) -> None:
        self.op = op
        groups = operand_groups(op)
        names = ("n_value", "d_value", "group_count", "src_inner_stride", "src_outer_stride")
        names += ("dst_loop2_stride", "dst_loop3_stride", "dst_loop4_stride")
        self.numbers = {name: numbers.number(groups[name][0]) if groups.get(name) else Expr(0) for name in names}
        self.size = _size(op, "source")

    def span(self, name: str) -> Span:
        """Returns the bytes at one side."""
        n, d, count = (self.numbers[one] for one in ("n_value", "d_value", "group_count"))
        size = self.size
        if n is None or d is None or count is None or size is None:
            return Span(None)
        sure = all(runs(one) for one in (n, d, count))
        if name == "destination":
            blocks = d.times(size).plus(_BLOCK - 1).over(_BLOCK)
            steps = [(count, "dst_loop4_stride"), (n, "dst_loop2_stride"), (blocks, "dst_loop3_stride")]
            length = _reach([(times, self.numbers[stride], _BLOCK) for times, stride in steps])
            return Span(None if length is None else length.plus(_BLOCK), Expr(_BLOCK) if sure else None)
        inner = self.numbers["src_inner_stride"]
        rows, columns = (inner, Expr(size)) if enumerator(self.op, "mode") == "nd2nz" else (Expr(size), inner)
        length = _reach([(count, self.numbers["src_outer_stride"], 1), (n, rows, 1), (d, columns, 1)])
        return Span(None if length is None else length.plus(size), Expr(size) if sure else None)


def _reach(steps: list[tuple[Expr, Expr | None, int]]) -> Expr | None:
    """Returns the distance to the last of some steps in several dimensions."""
    total = Expr(0)
    for count, stride, unit in steps:
        if count.value == 1:
            continue
        distance = None if stride is None else product(count.plus(-1), stride)
        if distance is None:
            return None
        total = total.plus(distance, unit)
    return total
