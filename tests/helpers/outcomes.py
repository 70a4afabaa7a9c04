"""What single statements near the round-trip programs compute, as kept in ``tests/outcomes``.

A statement runs in a function of its operands (``single_operations.py``): as it stands, with numbers at the edges of
the formats, and as each neighbour (``neighbours.py``) that the verifier accepts. An outcome is a digest of the bytes
that arguments have afterwards and of what is returned, with two sums of these numbers; or the error that the run ends
with. Digests of operations whose last bits depend on the machine (``INEXACT``) may differ when the sums agree.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from kept_rows import kept
from neighbours import FOLDER as neighbours_folder
from neighbours import Statement, is_accepted, neighbours, statements
from operand_numbers import EVERYWHERE, LIMITS, SCALARS
from parse_helpers import parsed
from single_operations import REFUSALS, Single, content
from single_operations import Statement as Tried
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.run.arguments import argument_format
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

FOLDER = Path(__file__).parents[1] / "outcomes"
INEXACT = re.compile(r"exp|ln|log|pow|sum|prod|mad|matmul|gemv|sqrt|add|mean|dot|lrelu|prelu|silu|gelu|recip|div")
"""Operations, by a part of their names, whose last bits are those of the machine's own mathematics."""

_CLOSE = 0.02
_MOST_BYTES = 1 << 22
_MOST = 8
"""Neighbours of a statement that run."""


def _edges(values: np.ndarray, fmt: Format) -> np.ndarray:
    """The same with the first numbers at the edges of the format."""
    flat = values.reshape(-1)
    if fmt.is_packed or fmt.storage.kind not in "iuf" or flat.size < 16:
        return values
    if fmt.storage.kind == "f":
        limits = ml_dtypes.finfo(fmt.storage)
        edges = [np.nan, np.inf, -np.inf, -0.0, 0.0, limits.max, -limits.max, limits.tiny, limits.smallest_subnormal]
    elif fmt.is_float:
        edges = list(np.array([0, 1, -1], np.int64) % 256 if fmt.storage.itemsize == 1 else [0, 1, 0x8000, 0x7F80])
    else:
        edges = [np.iinfo(fmt.storage).min, np.iinfo(fmt.storage).max, 0, 1]
    flat[: len(edges)] = np.array(edges).astype(fmt.storage)
    return values


def given_arguments(made: Single, name: str, edges: bool) -> list[Any]:
    scalars, limits = EVERYWHERE | SCALARS.get(name, {}), LIMITS.get(name, {})
    found: list[Any] = []
    for index, argument in enumerate(made.arguments):
        role, fmt = min(argument.roles, default=""), argument_format(argument.type)
        if fmt is None:
            found.append(scalars.get(role, 1.5 if t.is_float(argument.type) else 1))
            continue
        values = content(argument.type, index, limits.get(role, (0, 100)))
        found.append(_edges(values, fmt) if edges and role not in limits else values)
    return found


def weighted_sums(values: np.ndarray, type_: Attribute) -> tuple[float, float]:
    """Sum of the sizes of finite numbers, and their sum weighted by place."""
    fmt = argument_format(type_)
    if fmt is not None and values.dtype.itemsize != fmt.storage.itemsize:
        fmt = None
    numbers = np.asarray(decode(values, fmt) if fmt is not None else values, np.float64).reshape(-1)
    numbers = np.where(np.isfinite(numbers) & (np.abs(numbers) < 1e30), numbers, 0)
    return float(np.abs(numbers).sum()), float(numbers @ np.cos(np.arange(numbers.size)))


def same_nans(values: np.ndarray, fmt: Format | None) -> bytes:
    """The bytes, with one pattern for all NaNs of the formats that numpy computes with: processors make others."""
    values = np.ascontiguousarray(values)
    if fmt is None or fmt.is_packed or not fmt.is_float or values.dtype != fmt.storage or fmt.bytes < 2:
        return values.tobytes()
    return np.where(np.isnan(np.asarray(decode(values, fmt), np.float64)), fmt.storage.type(1), values).tobytes()


def outcome(op: PtoOp, target: str, edges: bool) -> str:
    """How a run of a statement ends."""
    try:
        made = Single(Tried(op, target, 0))
        arguments = given_arguments(made, op.name, edges)
        if sum(a.nbytes for a in arguments if isinstance(a, np.ndarray)) > _MOST_BYTES:
            return "large"
        kernel = Kernel(made.module, "k", target, RunOptions(fill="poison", accumulate="exact"))
        with redirect_stdout(StringIO()) as printed, np.errstate(all="ignore"):
            results = kernel.run(arguments)
    except REFUSALS as error:
        rule = getattr(error, "rule", "") or type(error).__name__
        return f"{rule}~{hashlib.sha256(str(error).encode()).hexdigest()[:4]}"
    types = [argument.type for argument in made.arguments if argument.is_memory]
    found = [a for a, argument in zip(arguments, made.arguments, strict=True) if argument.is_memory]
    found += [np.asarray(result) for result in results]
    types += [value.type for op in made.module.walk() if isinstance(op, ReturnOp) for value in op.operands]
    exact = hashlib.sha256(printed.getvalue().encode())
    for values, type_ in zip(found, types, strict=True):
        exact.update(same_nans(values, argument_format(type_)))
    sums = np.array([weighted_sums(values, type_) for values, type_ in zip(found, types, strict=True)] or [(0, 0)]).sum(
        axis=0
    )
    return f"{exact.hexdigest()[:6]}|{sums[0]:.3g}|{sums[1]:.3g}"


def runs(statement: Statement, verdicts: Sequence[str]) -> Iterator[tuple[PtoOp, str, bool]]:
    """What is run: operation, target, and whether its numbers are at the edges; ``verdicts`` are those of
    :func:`neighbours.verdict` about each neighbour."""
    assert isinstance(statement.op, PtoOp)
    yield statement.op, statement.target, False
    yield statement.op, statement.target, True
    seen: set[str] = set()
    for number, (text, said) in enumerate(zip(neighbours(statement), verdicts, strict=True)):
        target = statement.target if number != 1 else {"a5": "a2a3", "a2a3": "a5"}[statement.target]
        if text in seen or not number or not is_accepted(said):
            continue
        if len(seen) == _MOST:
            return
        seen.add(text)
        module, _ = parsed(text)
        ops = [op for op in module.walk() if op.name == statement.op.name]
        if ops and isinstance(ops[-1], PtoOp):
            yield ops[-1], target, False


def row(statement: Statement, verdicts: Sequence[str]) -> str:
    """One line of a file."""
    return " ".join([f"{statement.label}:", *(outcome(*run) for run in runs(statement, verdicts))])


def rows(family: str) -> list[str]:
    """The lines of a family's file; the verdicts about its neighbours are kept already."""
    verdicts = kept(neighbours_folder, family)
    return [row(statement, verdicts[statement.label]) for statement in statements(family)]


def agree(name: str, old: str, new: str) -> bool:
    """Whether two outcomes of an operation are the same as far as every machine computes them."""
    if old == new:
        return True
    if not (INEXACT.search(name) and old.count("|") == new.count("|") == 2):
        return False
    (size, *sums), (other_size, *other_sums) = (map(float, text.split("|")[1:]) for text in (old, new))
    near = _CLOSE * max(abs(size), abs(other_size), 1e-6)
    return abs(size - other_size) <= near and all(abs(a - b) <= near for a, b in zip(sums, other_sums, strict=True))


__all__ = ["FOLDER", "agree", "outcome", "row", "rows", "runs"]
