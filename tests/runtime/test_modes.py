"""A statement computes the same in all modes of a run: as generated code, in the order of queues, in the sanitizers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from itertools import islice
from typing import Any

import numpy as np
import pytest
from mutated_programs import Statement, families, first_statements, mutations
from operand_numbers import EVERYWHERE, LIMITS, SCALARS
from parse_helpers import parsed
from sampling import sampled
from single_operations import REFUSALS, Single, content
from single_operations import Statement as Tried
from xdsl.dialects.builtin import ModuleOp

from pto_dialect.api import check
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.arguments import argument_format
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import CHECKS, SanitizeOptions

MUTATIONS = 2
"""Correct mutations of a statement that run."""
MOST_BYTES = 1 << 20
NEWEST = Schedule.parse("newest", strict=True)


def operations(statement: Statement) -> Iterator[tuple[PtoOp, str]]:
    """The operation of a statement and of some of its mutations that are correct, with their targets."""
    for text in islice((text for text in mutations(statement) if check(text).ok), 1 + MUTATIONS):
        module, _ = parsed(text)
        for op in module.walk():
            if op.name == statement.op.name and isinstance(op, PtoOp):
                yield op, "a2a3" if 'pto.target_arch = "a2a3"' in text else "a5"


def arguments(made: Single, name: str) -> list[Any]:
    """Arguments for a function of one operation."""
    scalars, limits = EVERYWHERE | SCALARS.get(name, {}), LIMITS.get(name, {})
    values: list[Any] = []
    for index, argument in enumerate(made.arguments):
        role = min(argument.roles, default="")
        if argument_format(argument.type) is None:
            values.append(scalars.get(role, 1.5 if t.is_float(argument.type) else 1))
        else:
            values.append(content(argument.type, index, limits.get(role, (0, 100))))
    return values


def kernel(module: ModuleOp, target: str, mode: str) -> Kernel:
    """What runs a function of one operation in a mode."""
    options = RunOptions(fill="poison", accumulate="exact", schedule=NEWEST if mode == "newest" else None)
    if mode == "sanitized":
        return InstrumentedKernel(module, "k", target, options, SanitizeOptions(frozenset(CHECKS), "auto"))
    return Kernel(module, "k", target, options)


def outcome(op: PtoOp, target: str, mode: str) -> list[bytes] | None:
    """Bytes of results and of arguments after a run, and what is printed; None where there is no such run."""
    try:
        made = Single(Tried(op, target, 0))
        values = arguments(made, op.name)
        if sum(value.nbytes for value in values if isinstance(value, np.ndarray)) > MOST_BYTES:
            return None
        with redirect_stdout(StringIO()) as printed, np.errstate(all="ignore"):
            results = kernel(made.module, target, mode).run(values)
    except REFUSALS:
        return None
    return [*(np.asarray(value).tobytes() for value in (*values, *results)), printed.getvalue().encode()]


def is_unfinished(op: PtoOp, mode: str) -> bool:
    """Whether the operation is of an unaligned stream of stores that has no flush at its position, so that its last
    bytes are in memory in the order of the text only, or reads a local array that nothing has set, where a sanitized
    run ends."""
    if mode == "sanitized" and op.name == "pto.local_array_get":
        return True
    return mode == "newest" and any(isinstance(value.type, t.AlignType) for value in (*op.operands, *op.results))


@pytest.mark.parametrize("family", families())
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_modes_compute_the_same(family: str) -> None:
    for statement in sampled(first_statements(family), 2):
        for op, target in operations(statement):
            plain = outcome(op, target, "plain")
            for mode in ("newest", "sanitized"):
                other = outcome(op, target, mode)
                if None not in (plain, other) and not is_unfinished(op, mode):
                    assert other == plain, f"{mode}: {op} on {target}"
