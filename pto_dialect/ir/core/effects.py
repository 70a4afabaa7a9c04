"""Effects of PTO operations on memory, as xDSL's own passes query them.

Common subexpression elimination and dead code elimination depend on effects. They follow from the declaration: an
operation that computes its results from its operands has none, one that makes a buffer or the state of a stream
allocates its result, one that only reads may be removed where its results are not used, one that writes remains.
Operations that order, signal, print or change a state of the machine declare no effects, which passes treat as unknown
effects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from xdsl.ir import Operation, SSAValue
from xdsl.traits import EffectInstance, MemoryEffectKind

from .facts.role import Role
from .spec import Effect, OpSpec
from .types import AlignType

Groups = Mapping[str, Sequence[SSAValue]]
"""Operands by declared name."""


def effects_of(op: Operation, spec: OpSpec, groups: Groups) -> Set[EffectInstance] | None:
    """Returns the effects on operands and results; ``None`` where they are not only on memory."""
    if spec.state_reads or spec.state_writes or op.regions or spec.roles & Role.UNIQUE:
        return None
    if spec.effect is None:
        return _of_memory(op, groups, spec.reads, spec.writes)
    if spec.effect not in (Effect.PURE, Effect.HANDLE, Effect.QUERY):
        return None
    new = spec.effect is Effect.HANDLE and (spec.roles & Role.ALLOCATION or not op.operands)
    if new or _makes_state(op):
        return {EffectInstance(MemoryEffectKind.ALLOC, result) for result in op.results}
    return frozenset()


def _of_memory(
    op: Operation, groups: Groups, reads: tuple[str, ...], writes: tuple[str, ...]
) -> Set[EffectInstance] | None:
    read, written = ([value for name in names for value in groups.get(name, ())] for names in (reads, writes))
    effects = {EffectInstance(MemoryEffectKind.READ, value) for value in read}
    effects |= {EffectInstance(MemoryEffectKind.WRITE, value) for value in written}
    if written:
        return effects
    if not op.results:
        # An operation that only reads and has no result has another purpose.
        return None
    if writes or _makes_state(op):
        # The value form of an operation that otherwise writes to a tile of the program; a state of its own.
        effects |= {EffectInstance(MemoryEffectKind.ALLOC, result) for result in op.results}
    return effects


def _makes_state(op: Operation) -> bool:
    """Returns whether an operation begins or continues a stream: two equal ones begin two streams."""
    return any(isinstance(result.type, AlignType) for result in op.results)
