"""Vector predicates. Source: docs/reference/vectors.md, "Predicates"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.vector import collect
from pto_dialect.runtime.vector import memory as m
from pto_dialect.runtime.vector.register import FINEST, PREFIXES, spread
from pto_dialect.runtime.vector.streams import append_mask
from pto_dialect.targets.vector_unit import MASK_BITS

from ..registry import kernel, kernels
from .values import access, define_result, mask_step, optional_result, pointer, required_enumerator, update

_UNITS = {"NORM": 32, "US": 16, "PK": 16, "DS": 32}
"""Bytes of one unit of the offset of ``pldi`` and ``psti``."""


def pattern(name: str, step: int) -> Array:
    """Returns the predicate of a pattern, for lanes ``step`` bits apart."""
    count = MASK_BITS // step
    prefixes = PREFIXES[step]
    numbers = {"PAT_ALL": count, "PAT_ALLF": 0, "PAT_H": count // 2, "PAT_Q": count // 4}
    if name in numbers:
        return prefixes[numbers[name]]
    if name in ("PAT_M3", "PAT_M4"):
        return spread(np.arange(count) % int(name[-1]) == 0, step)
    return prefixes[min(int(name.removeprefix("PAT_VL")), count)]


@kernel(*(f"pto.{kind}_{width}" for kind in ("pset", "pge") for width in FINEST))
def from_pattern(op: PtoOp, g: Generator) -> None:
    """The predicate that a pattern names."""
    step = mask_step(op.results[0])
    g.define(op.results[0], g.emitter.constant(pattern(required_enumerator(op, g, "pattern"), step), "mask"))


def below(prefixes: list[Array], bound: int) -> tuple[Array, int]:
    """Returns the predicate of the lanes below ``bound``, and the remaining count."""
    count = len(prefixes) - 1
    if bound >= count:
        return prefixes[count], bound - count
    return prefixes[max(bound, 0)], 0


@kernel(*(f"pto.plt_{width}" for width in FINEST))
def plt(op: PtoOp, g: Generator) -> None:
    """The first lanes, as many as a number states, and the remaining count."""
    define_result(
        op, g, below, Expr(g.emitter.constant(PREFIXES[mask_step(op.results[0])], "prefixes")), named(op, "scalar")
    )


@kernel(*(f"pto.pltm_{width}" for width in FINEST))
def pltm(op: PtoOp, g: Generator) -> None:
    """The first lanes, as many as a number states, reduced by the lanes of earlier loop iterations."""
    step = mask_step(op.results[0])
    loop, bound = (g.name(named(op, name)) for name in ("loop", "bound"))
    prefixes = g.emitter.constant(PREFIXES[step], "prefixes")
    g.define(op.results[0], f"{g.argument(below)}({prefixes}, {bound} - {loop} * {MASK_BITS // step})[0]")


@kernel("pto.pand", "pto.por", "pto.pxor")
def logic(op: PtoOp, g: Generator) -> None:
    """Bits of two predicates combined, where a third one is set."""
    sign = {"pto.pand": "&", "pto.por": "|", "pto.pxor": "^"}[op.name]
    a, b, mask = (g.name(named(op, name)) for name in ("src0", "src1", "mask"))
    g.define(op.results[0], f"({a} {sign} {b}) & {mask}")


@kernel("pto.pnot")
def pnot(op: PtoOp, g: Generator) -> None:
    """The other bits of a predicate, where a second one is set."""
    a, mask = (g.name(named(op, name)) for name in ("input", "mask"))
    g.define(op.results[0], f"~{a} & {mask}")


def select(a: Array, b: Array, mask: Array) -> Array:
    """mask ? a : b."""
    return np.where(mask, a, b)


@kernel("pto.psel")
def psel(op: PtoOp, g: Generator) -> None:
    """Bits of one predicate where the mask is set, otherwise of the other."""
    define_result(op, g, select, *op.operands)


@kernel("pto.pbitcast")
def pbitcast(op: PtoOp, g: Generator) -> None:
    """The bits of a predicate for lanes of another width."""
    # A copy: a full predicate of one width differs from that of another.
    g.define(op.results[0], f"{g.name(named(op, 'input'))}.copy()")


def pack(mask: Array, higher: bool) -> Array:
    """Returns every second bit, in the lower or the higher half."""
    result = np.zeros(MASK_BITS, np.bool_)
    start = MASK_BITS // 2 if higher else 0
    result[start : start + MASK_BITS // 2] = mask[::2]
    return result


def unpack(mask: Array, higher: bool) -> Array:
    """Returns the bits of the lower or the higher half, one bit apart."""
    result = np.zeros(MASK_BITS, np.bool_)
    result[::2] = mask[MASK_BITS // 2 :] if higher else mask[: MASK_BITS // 2]
    return result


@kernels({"pto.ppack": pack, "pto.punpack": unpack})
def repack(op: PtoOp, g: Generator, function: Callable[[Array, bool], Array]) -> None:
    """Every second bit of a predicate in the half that ``part`` names, 0 in the other; or the bits of that half, each
    followed by a 0."""
    define_result(op, g, function, named(op, "input"), enumerator(op, "part") == "HIGHER")


@kernels({f"pto.{name}_{width}": name == "pdintlv" for name in ("pintlv", "pdintlv") for width in FINEST})
def interleave(op: PtoOp, g: Generator, inverse: bool) -> None:
    """The lanes of two predicates alternating, as two predicates; or the even lanes in one, the odd ones in another."""
    define_result(op, g, collect.interleave_masks, *op.operands, mask_step(op.results[0]), inverse)


# ------------------------------------------------------------ memory


def _step(op: PtoOp, g: Generator, unit: int) -> str:
    """Returns the offset operand, which counts units of ``unit`` bytes, in bytes."""
    offset = g.name(named(op, "offset"))
    return f"{offset} * {unit}" if unit > 1 else str(offset)


@kernels({"pto.plds": {}, "pto.pldi": _UNITS})
def load(op: PtoOp, g: Generator, units: dict[str, int]) -> None:
    """A predicate from memory; the offset counts bytes, or what the distribution takes."""
    dist, updated = enumerator(op, "dist") or "NORM", optional_result(op, 1)
    step = _step(op, g, units.get(dist, 1))
    base, start = access(op, g, "source", step, updated)
    g.define(op.results[0], f"{g.argument(m.load_mask)}({base}, {start}, {dist!r})")
    update(base, step, updated, g)


@kernels({"pto.psts": {}, "pto.psti": _UNITS})
def store(op: PtoOp, g: Generator, units: dict[str, int]) -> None:
    """A predicate to memory; the offset counts bytes, or what the distribution takes."""
    dist, updated = enumerator(op, "dist") or "NORM", optional_result(op, 0)
    step = _step(op, g, units.get(dist, 1))
    base, start = access(op, g, "destination", step, updated)
    g.call(m.store_mask, g.operand(op, "value"), base, start, dist)
    update(base, step, updated, g)


@kernel("pto.pstu")
def pstu(op: PtoOp, g: Generator) -> None:
    """Appends the bits of a predicate, one for each lane, to a stream; the updated base is the new end of
    the stream."""
    state, value, base = (named(op, name) for name in ("align_in", "value", "base"))
    align, updated = op.results
    step = mask_step(value)
    call = f"{g.argument(append_mask)}({g.name(state)}, {g.name(value)}, {pointer(base, g)}, {step}, core.state)"
    g.define(align, call)
    update(pointer(base, g), str(MASK_BITS // step // 8), updated, g)
