"""The code generators of operations, found by operation name; families are imported on first use.

Names are used rather than classes, because most modules with kernels serve several families: a program with one of them
would load the classes of all. A kernel that needs the class of an operation imports it locally.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation

from pto_dialect.analysis.type_facts import space_of
from pto_dialect.families import LANE_MODULES, kernel_modules
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.registry import family_of_name
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.targets.transfer_memories import MEMORIES

from .refusals import reason

if TYPE_CHECKING:
    from ..compile.generator import Generate, Generator

Row = TypeVar("Row")

KERNELS: dict[str, Generate] = {}
"""Code generators by operation name."""


def _registering(table: dict[str, Generate], mnemonics: tuple[str, ...]) -> Callable[[Generate], Generate]:
    def register(function: Generate) -> Generate:
        table.update(dict.fromkeys(mnemonics, function))
        return function

    return register


def kernel(*mnemonics: str) -> Callable[[Generate], Generate]:
    """Registers the code generator of the named operations."""
    return _registering(KERNELS, mnemonics)


def kernels(rows: Mapping[str, Row]) -> Callable[[Callable[[Any, Generator, Row], None]], Generate]:
    """Registers the code generator of operations by name, which takes the value of the name as a third argument."""

    def register(function: Callable[[Any, Generator, Row], None]) -> Generate:
        @kernel(*rows)
        @wraps(function)
        def write(op: Operation, generator: Generator) -> None:
            function(op, generator, rows[op.name])

        return write

    return register


LANE_KERNELS: dict[str, Generate] = {}
"""Code generators of operations on values that differ between work-items, by operation name."""


def lane_kernel(*mnemonics: str) -> Callable[[Generate], Generate]:
    """Registers the code generator of the named operations where work-items have values of their own."""
    return _registering(LANE_KERNELS, mnemonics)


_imported: set[str] = set()


def _import(modules: Iterable[str]) -> None:
    for module in modules:
        if module not in _imported:
            import_module(f"{__package__}.{module}")
            _imported.add(module)


def find(name: str) -> Generate | None:
    """Returns the code generator of operation ``name``; imports modules of its family until one has it."""
    if name not in KERNELS:
        for module in kernel_modules(family_of_name(name)):
            _import((module,))
            if name in KERNELS:
                break
    return KERNELS.get(name)


def generate(op: Operation, generator: Generator) -> None:
    """Writes the code of one operation; raises ``ProgramError`` for one that cannot be executed."""
    if generator.lanes is not None and generator.lanes.concerns(op):
        _generate_lanes(op, generator)
        return
    emit = find(op.name)
    if emit is None:
        why = reason(op.name) or "its execution is not supported"
        raise generator.error("unmodelled", f"{op.name} cannot be executed: {why}", op)
    _check_memories(op, generator)
    if has_role(op, Role.ADDRESSES):
        with generator.as_pointers([value for value in op.operands if isinstance(value.type, MemRefType)]):
            emit(op, generator)
    else:
        emit(op, generator)


def _check_memories(op: Operation, generator: Generator) -> None:
    """Refuses transfers of other memories than those of their names: verification accepts some, hardware has none."""
    ends = MEMORIES.get(op.name)
    if ends is None:
        return
    for name, memory in zip(ends._fields, ends, strict=True):
        found = space_of(named(op, name).type)
        if found is not None and found != memory:
            message = f"{op.name} with its {name} in {found} cannot be executed: it copies from {' to '.join(ends)}"
            raise generator.error("unmodelled", message, op)


def _generate_lanes(op: Operation, generator: Generator) -> None:
    _import(LANE_MODULES)
    emit = LANE_KERNELS.get(op.name)
    if emit is None:
        message = f"{op.name} cannot be executed on values that differ between work-items"
        raise generator.error("unmodelled", message, op)
    emit(op, generator)
