"""``tcvt`` as the conversions of registers that give the same bits.

Source: docs/reference/vectors.md, "Conversion"; docs/reference/tiles.md, "Conversion".
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import IntegerType, StringAttr, f32, i32
from xdsl.ir import Attribute, SSAValue

from pto_dialect.analysis.release import release_of
from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.types import VRegType, element_name
from pto_dialect.ir.sync.flags import MemBarOp
from pto_dialect.ir.vector.arith import VMaxsOp
from pto_dialect.ir.vector.convert import VBitcastOp, VCvtOp, VTrcOp
from pto_dialect.passes.instructions.geometry import ROW_BYTES, NotLoweredError, Reader, Tile, bytes_of
from pto_dialect.passes.instructions.writer import Number, Writer, enum
from pto_dialect.targets.backend import Backend
from pto_dialect.targets.element_types import signed_as_signless
from pto_dialect.targets.rounding import ROUND_MODE_LETTERS
from pto_dialect.targets.tcvt_pairs import default_saturation, wraps_by_default
from pto_dialect.targets.vcvt_contract import vcvt_clauses
from pto_dialect.targets.vector_unit import VL_BYTES

from .registers import Registers, offset_in
from .tiles import may_overlap, refuse_overlap

_TO_ZERO = "Z"
_AWAY = "A"
"""All that hif8 rounds to, whatever the mode is."""
_TO_ODD = "O"
"""Loses nothing that a second rounding has to know."""
_ELEMENTS = frozenset(
    ("f16", "bf16", "f32", "f8E4M3FN", "f8E5M2", "hif8", "i8", "ui8", "i16", "ui16", "i32", "ui32", "i64")
)
"""Elements of 8 to 64 bits that are numbers of their own."""
_SMALL = frozenset(("i8", "ui8", "i16"))
"""Integers that floats become by way of i32 where they keep their low bits."""


class Step(NamedTuple):
    """A conversion of registers: to which element type, with which rounding and saturation, and whether numbers below
    0 become 0 before."""

    element: Attribute
    letter: str
    saturate: bool
    positive: bool = False


def lower_conversion(writer: Writer) -> None:
    """Writes the vector function of a ``tcvt``. Raises :class:`NotLoweredError`."""
    op = writer.anchor
    assert isinstance(op, PtoOp)
    groups, reader = operand_groups(op), Reader(writer)
    src, dst = (reader.tile(groups[name][0]) for name in ("src", "dst"))
    for tile in (src, dst):
        if tile.kind != "ND":
            raise NotLoweredError(op, f"its tiles lie in the layout {tile.kind}, registers are loaded from rows")
        reader.aligned(tile.col, ROW_BYTES // tile.bytes, "column")
    refuse_overlap(op, (src,) if dst.bytes > src.bytes else (), dst, "elements that are converted later")
    Conversion(writer, src, dst, _steps(op, src.type.element, dst.type.element, writer.backend)).write()


def _steps(op: PtoOp, source: Attribute, target: Attribute, backend: Backend) -> list[Step]:
    """Returns the conversions that compute what a ``tcvt`` does. Raises :class:`NotLoweredError`."""
    names = signed_as_signless(element_name(source)), signed_as_signless(element_name(target))
    letter, saturate = _letter(op, *names, backend), _saturates(op, *names, backend)
    chain = _chain(names, target, letter, saturate)
    if chain is None:
        raise NotLoweredError(op, f"no conversions of registers from {names[0]} give the bits of {names[1]}")
    return chain


def _chain(names: tuple[str, str], target: Attribute, letter: str, saturate: bool) -> list[Step] | None:
    source, result = names
    if source == "f32" and result == "f32":
        return [Step(target, letter, saturate)] if letter != _TO_ODD else None
    if source in ("f16", "f32") and result in _SMALL and not saturate:
        # The store packs the low bits of clamped words.
        exact = [Step(f32, letter, False)] if source == "f16" else []
        return [*exact, Step(i32, letter, True)]
    if names == ("i32", "f16"):
        return [Step(f32, _TO_ODD, False), Step(target, letter, saturate)]
    if names == ("f16", "i32"):
        return [Step(f32, letter, False), Step(target, letter, saturate)]
    clauses = vcvt_clauses(source, result) if _ELEMENTS.issuperset(names) else None
    if clauses is None or (clauses.rounding and letter not in clauses.rounding):
        return None
    # Registers are widened without saturation; the only pair that may leave its range does so at 0.
    return [Step(target, letter, saturate, saturate and names == ("i16", "ui32"))]


def _letter(op: PtoOp, source: str, target: str, backend: Backend) -> str:
    """Returns the rounding; without a mode emitc makes integers of floats toward zero."""
    mode = enumerator(op, "rmode") or "RINT"
    if target == "hif8":
        return _AWAY
    floats = [name.startswith(("f", "bf")) for name in (source, target)]
    if mode == "NONE" and floats == [True, False] and backend == "emitc":
        return _TO_ZERO
    return ROUND_MODE_LETTERS[mode]


def _saturates(op: PtoOp, source: str, target: str, backend: Backend) -> bool:
    mode = enumerator(op, "sat_mode") or default_saturation(backend, release_of(op))
    return mode == "ON" if wraps_by_default(source, target) else mode != "OFF"


class Conversion:
    """The loops of one conversion. Each iteration processes as many elements as a register of the widest type holds, so
    that every element is in the low bytes of one lane of that width."""

    def __init__(self, writer: Writer, src: Tile, dst: Tile, chain: list[Step]) -> None:
        self.writer = writer
        self.src = src
        self.dst = dst
        self.chain = chain
        self.width = max(src.bytes, dst.bytes, *(bytes_of(step.element) for step in chain))
        self.lanes = VL_BYTES // self.width
        self.fenced = dst.bytes < src.bytes and may_overlap(src, dst)
        """Whether a register is stored over elements that an earlier iteration has loaded."""
        self.masks: dict[int, SSAValue] = {}
        """All lanes, by the bytes of an element."""

    def write(self) -> None:
        """A loop over rows with one over registers in it."""
        rows, cols = self.dst.rows, self.dst.cols
        dense = all(tile.base_type.cols == cols and tile.col == 0 for tile in (self.src, self.dst))
        if dense:
            rows, cols = 1, self.writer.mul(rows, cols)

        def function() -> None:
            elements = [self.src.type.element, *(step.element for step in self.chain)]
            widths = {bytes_of(element) for element in elements[:-1]}
            full = {self.width} if isinstance(cols, int) and cols >= self.lanes else set[int]()
            for width in sorted(widths | full):
                self.masks[width] = Registers(self.writer, IntegerType(8 * width)).whole()
            self.writer.repeat(rows, lambda line: self._line(line, cols))

        self.writer.scope(function)

    def _line(self, line: Number, cols: Number) -> None:
        writer = self.writer
        full, rest = divmod(cols, self.lanes) if isinstance(cols, int) else (0, 0)
        writer.repeat(full, lambda turn: self._part(line, writer.mul(turn, self.lanes), None))
        if rest:
            self._part(line, full * self.lanes, rest)
        if not isinstance(cols, int):
            writer.repeat(writer.ceildiv(cols, self.lanes), lambda turn: self._step(line, turn, cols))

    def _step(self, line: Number, iteration: Number, cols: Number) -> None:
        at = self.writer.mul(iteration, self.lanes)
        self._part(line, at, self.writer.least(self.writer.sub(cols, at), self.lanes))

    def _part(self, line: Number, at: Number, left: Number | None) -> None:
        """A register of the widest type, or ``left`` of its elements."""
        element = self.src.type.element
        value = Registers(self.writer, element).wider(self.src, line, at, left, self.width // self.src.bytes)
        for step in self.chain:
            value = self._converted(value, element, step)
            element = step.element
        registers = Registers(self.writer, element)
        mask = self.masks[self.width] if left is None else registers.first(left, self.width)
        ratio = self.width // self.dst.bytes
        if element != self.dst.type.element:
            kind = VRegType(VL_BYTES // self.dst.bytes, self.dst.type.element)
            value = self.writer.pto(VBitcastOp, {"input": value}, result=kind)
        dist = {1: "", 2: f"PK_B{8 * self.width}", 4: "PK4_B32"}[ratio]
        if self.fenced:
            self.writer.pto(MemBarOp, {}, {"kind": enum("membar", "VLD_VST")})
        registers.store(value, self.dst.pointer, offset_in(self.writer, self.dst, line, at), mask, dist)

    def _converted(self, value: SSAValue, element: Attribute, step: Step) -> SSAValue:
        writer, mask = self.writer, self.masks[bytes_of(element)]
        if element == step.element:
            return writer.pto(
                VTrcOp, {"input": value, "mask": mask}, {"round_mode": StringAttr(step.letter)}, value.type
            )
        if step.positive:
            zero = writer.function.constant(0, element)
            value = writer.pto(VMaxsOp, {"input": value, "scalar": zero, "mask": mask}, result=value.type)
        clauses = vcvt_clauses(element_name(element), element_name(step.element))
        assert clauses is not None
        attributes: dict[str, Attribute] = {}
        if clauses.rounding:
            attributes["rnd"] = StringAttr(step.letter)
        if clauses.saturation:
            attributes["sat"] = StringAttr("SAT" if step.saturate else "NOSAT")
        if clauses.parts:
            attributes["part"] = StringAttr(clauses.parts[0])
        kind = VRegType(VL_BYTES // bytes_of(step.element), step.element)
        return writer.pto(VCvtOp, {"input": value, "mask": mask}, attributes, kind)
