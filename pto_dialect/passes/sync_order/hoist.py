"""``hoist-sync``: takes the flags that begin and end the pipeline of an inner loop out of the loops around it.

Source: docs/reference/synchronisation.md, "Multi-buffers", "Judging a program".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import symbol_of
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.sync.flags import SetFlagOp, WaitFlagOp
from pto_dialect.passes.base import PtoPass
from pto_dialect.passes.check_sync import entry_functions
from pto_dialect.passes.instructions.writer import is_handle

from .findings import line_of
from .rules import HOISTED, IN_PLACE

_MOST_TRIALS = 6
"""Proofs for one function."""

_SECONDS = 2.0
"""Processor time of a proof."""

Ends = tuple[str, str]
"""The pipe that sets flags, and the one that waits for them."""


class Pipeline(NamedTuple):
    """Flags between two pipes that are set before the loop ``inner``, and waited for after it, in each iteration of the
    loop ``outer``."""

    inner: ForOp
    outer: ForOp
    sets: tuple[SetFlagOp, ...]
    waits: tuple[WaitFlagOp, ...]

    def hoist(self) -> None:
        """Moves the flags around the outer loop."""
        _move(self.sets, InsertPoint.before(self.outer))
        _move(self.waits, InsertPoint.after(self.outer))

    def put_back(self) -> None:
        """Moves the flags around the inner loop again."""
        _move(self.sets, InsertPoint.before(self.inner))
        _move(self.waits, InsertPoint.after(self.inner))


@dataclass(frozen=True)
class HoistSyncPass(PtoPass):
    """Moves flags that begin and end the pipeline of an inner loop out of the loops around it, as far as the order of
    the pipes stays proved: iterations of the outer loop then overlap as those of the inner one do."""

    name: ClassVar[str] = "hoist-sync"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``; a remark names the flags of each loop that are moved. A function whose order is not
        proved as it is stays."""
        for function in entry_functions(module):
            if next(pipelines(function), None) is None:
                continue
            prover = _Prover(module, function, self.target)
            reason = prover.unproved()
            if reason:
                message = f"hoist-sync leaves the flags of this function where they are: {reason}"
                engine.report(IN_PLACE.at(function, message))
                continue
            for moved in _hoisted(function, prover):
                engine.report(_remark(moved))


def _hoisted(function: Operation, prover: _Prover) -> Iterator[Pipeline]:
    """Moves flags, those of the innermost loops first, again out of the next loop; those that are moved."""
    refused: set[tuple[Operation, Operation, Ends]] = set()
    while True:
        found = [one for one in pipelines(function) if (one.inner, one.outer, _ends(one)) not in refused]
        if not found:
            return
        for some in (found, *([one] for one in found if len(found) > 1)):
            if _stays_proved(some, prover):
                yield from some
                break
            refused.update((one.inner, one.outer, _ends(one)) for one in some if len(some) == 1)
        else:
            return


def _stays_proved(some: list[Pipeline], prover: _Prover) -> bool:
    for one in some:
        one.hoist()
    if not prover.unproved():
        return True
    for one in some:
        one.put_back()
    return False


class _Prover:
    """Proves the order of a function, a limited number of times."""

    def __init__(self, module: ModuleOp, function: Operation, target: str | None) -> None:
        self.module, self.target = module, target
        self.entry = symbol_of(function)
        self.trials = 0

    def unproved(self) -> str:
        """Why the order is not proved; empty if it is."""
        from pto_dialect.prove.decide import Answer  # deferred: start-up
        from pto_dialect.prove.functions import verdicts  # deferred: start-up

        self.trials += 1
        if self.trials > _MOST_TRIALS:
            return f"its order was proved {_MOST_TRIALS} times"
        for verdict in verdicts(self.module, self.target, seconds=_SECONDS, entry=self.entry):
            if verdict.answer is not Answer.PROVEN:
                return f"its order is not proved{line_of(verdict.op) if verdict.op is not None else ''}"
        return ""


def pipelines(function: Operation) -> Iterator[Pipeline]:
    """Yields the flags of a function that might move out of a loop."""
    for inner in walk(function):
        outer = inner.parent_op()
        if not isinstance(inner, ForOp) or not isinstance(outer, ForOp):
            continue
        sets, waits = _by_ends(_beside(inner, SetFlagOp)), _by_ends(_beside(inner, WaitFlagOp))
        for ends, flags in sets.items():
            last = waits.get(ends, [])
            numbers = [sorted(_number(flag) for flag in some) for some in (flags, last)]
            if numbers[0] == numbers[1] and len({*numbers[0]}) == len(flags):
                yield Pipeline(inner, outer, tuple(flags), tuple(last))  # pyright: ignore[reportArgumentType]


def _beside(loop: ForOp, kind: type[Operation]) -> list[Operation]:
    """Returns the sets right before a loop, or the waits right after it, with nothing but flags and numbers between."""
    found: list[Operation] = []
    op = loop.prev_op if kind is SetFlagOp else loop.next_op
    while op is not None and (isinstance(op, (SetFlagOp, WaitFlagOp)) or is_handle(op)):
        if isinstance(op, kind):
            found.append(op)
        op = op.prev_op if kind is SetFlagOp else op.next_op
    return found[::-1] if kind is SetFlagOp else found


def _by_ends(flags: Iterable[Operation]) -> dict[Ends, list[Operation]]:
    found: dict[Ends, list[Operation]] = defaultdict(list)
    for flag in flags:
        found[_value(flag, "src_pipe"), _value(flag, "dst_pipe")].append(flag)
    return found


def _ends(one: Pipeline) -> Ends:
    return next(iter(_by_ends(one.sets)))


def _number(flag: Operation) -> str:
    return _value(flag, "event_id")


def _value(flag: Operation, name: str) -> str:
    attribute = flag.attributes[name]
    assert isinstance(attribute, EnumAttr)
    return attribute.data[1]


def _move(ops: Iterable[Operation], point: InsertPoint) -> None:
    for op in ops:
        op.detach()
        Rewriter.insert_op(op, point)


def _remark(one: Pipeline) -> Diagnostic:
    source, target = _ends(one)
    numbers = ", ".join(_number(flag) for flag in one.sets)
    several = "s" if len(one.sets) > 1 else ""
    message = f"flag{several} {numbers} from {source} to {target} moved out of the loop{line_of(one.outer)}"
    return HOISTED.at(one.inner, message)
