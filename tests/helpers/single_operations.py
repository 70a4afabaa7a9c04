"""Operations one at a time: each statement of the round-trip programs as a function of its own operands.

Every operand that refers to memory becomes an argument with a memory of its own, so that a run shows which bytes of
which operand are read and written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from io import StringIO
from typing import Any

import numpy as np
from parse_helpers import parsed
from roundtrip_files import file_of
from xdsl.dialects.builtin import FunctionType, IndexType, IntegerType, MemRefType, ModuleOp, StringAttr, VectorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from pto_dialect.families import FAMILIES, level_of
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.registry import family_of
from pto_dialect.runtime.compile.generator import has_view
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.memory.spaces import POISON
from pto_dialect.runtime.run.arguments import argument_format, host_shape
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import Block as MachineBlock
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.instrument.core import InstrumentedCore
from pto_dialect.sanitize.instrument.observer import RunObserver
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.targets.op_availability import MICRO_LEVELS
from pto_dialect.targets.tile_layouts import PACKED_OPERANDS

MEMORY = (t.PtrType, t.TileBufType, t.ShapedView, MemRefType)
"""Types of operands that refer to memory."""

_VALUES = (t.VRegType, t.VmiVRegType, t.VmiMaskType, t.TileType, IntegerType, IndexType)
_KEPT = ("arith.constant", "pto.vsqz")
"""Operations whose results stay as they are in the text."""
_RESULTS = (*_VALUES, t.MaskType)
_OPEN = 16
"""What stands for an extent that only a run knows."""
_BUFFER = 1 << 16
"""Bytes after a pointer."""
_ONE = 127
"""The scale 1 of a block."""


@dataclass
class Statement:
    """One operation of a program, on one target; ``number`` counts those of its name."""

    op: PtoOp
    target: str
    number: int
    backend: str = "emitc"

    @property
    def label(self) -> str:
        """Name, number, target and another backend than the usual one."""
        backend = "" if self.backend == "emitc" else f"-{self.backend}"
        return f"{self.op.name}-{self.number}-{self.target}{backend}"

    @property
    def operands(self) -> list[tuple[str, SSAValue]]:
        """Operands with their declared names."""
        return [(name, value) for name, values in operand_groups(self.op).items() for value in values]

    @property
    def memory_operands(self) -> set[str]:
        """Names of the operands that refer to memory."""
        return {name for name, value in self.operands if isinstance(value.type, MEMORY)}


def _programs() -> Iterator[tuple[str, str, str]]:
    """Family, target and text of each round-trip program."""
    for family in sorted(name for name, family in FAMILIES.items() if family.operations):
        default = "a5" if level_of(family) in MICRO_LEVELS else "a2a3"
        for chunk in file_of(family).read_text(encoding="utf-8").split("\n// -----\n"):
            target = next((arch for arch in ("a5", "a2a3") if f'pto.target_arch = "{arch}"' in chunk), default)
            yield family, target, chunk


def statements_of(text: str, target: str, family: str | None = None) -> Iterator[Statement]:
    """All operations of the dialect in ``text`` (of one family) that take memory operands."""
    module, _ = parsed(text)
    assert module is not None
    for number, op in enumerate(module.walk()):
        if isinstance(op, PtoOp) and not op.regions and family in (None, family_of(type(op))):
            statement = Statement(op, target, number)
            if statement.memory_operands:
                yield statement


@cache
def statements() -> tuple[Statement, ...]:
    """All operations of the round-trip programs, each in the file of its family, that take memory operands."""
    found: list[Statement] = []
    counts: dict[tuple[str, str], int] = {}
    for family, target, text in _programs():
        for statement in statements_of(text, target, family):
            key = (statement.op.name, target)
            statement.number = counts[key] = counts.get(key, 0) + 1
            found.append(statement)
    return tuple(found)


# --- the function around an operation ---------------------------------------------------------------------


@dataclass
class Argument:
    """An argument of the function: ``roles`` are the operands that it is, none where it only serves to make one."""

    name: str
    type: Attribute
    roles: set[str] = field(default_factory=set)

    @property
    def is_memory(self) -> bool:
        """True for what refers to memory."""
        return isinstance(self.type, MEMORY)


class Single:
    """A function of the operands of ``statement`` that runs it and returns its results.

    With ``open_tiles`` the valid regions of tiles are known at run time only.
    """

    def __init__(self, statement: Statement, open_tiles: bool = False) -> None:
        self.statement = statement
        self.open_tiles = open_tiles
        self.arguments: list[Argument] = []
        self._block = Block()
        self._values: dict[SSAValue, SSAValue] = {}
        self._by_value: dict[SSAValue, Argument] = {}
        for name, value in statement.operands:
            self._provide(name, value)
            if value in self._by_value:
                self._by_value[value].roles.add(name)
        op = statement.op.clone(value_mapper=self._values)
        self._block.add_op(op)
        returned = [result for result in op.results if isinstance(result.type, _RESULTS) or t.is_float(result.type)]
        self._block.add_op(ReturnOp(*returned))
        kind = FunctionType.from_lists([a.type for a in self._block.args], [r.type for r in returned])
        function = FuncOp("k", kind, Region(self._block))
        stated = {"pto.target_arch": StringAttr(statement.target), "pto.backend": StringAttr(statement.backend)}
        self.module = ModuleOp([function], stated)

    def _provide(self, name: str, value: SSAValue) -> None:
        """Makes ``value``: an argument, or, for constants and what no argument can be, the result of what makes it."""
        if value in self._values:
            return
        type_, owner = value.type, value.owner
        bindable = isinstance(type_, (*MEMORY, *_VALUES)) or t.is_float(type_)
        if bindable and not (isinstance(owner, Operation) and owner.name in _KEPT):
            if self.open_tiles and isinstance(type_, t.TileBufType) and has_view(type_):
                whole = (type_.valid_rows, type_.valid_cols) == (type_.rows, type_.cols)
                type_ = type_.replace(valid=(t.DYNAMIC, t.DYNAMIC)) if whole else type_
            argument = Argument(f"{name}_n{len(self.arguments)}", type_)
            self._values[value] = self._block.insert_arg(type_, len(self._block.args))
            self._values[value].name_hint = argument.name
            self._by_value[value] = argument
            self.arguments.append(argument)
        elif isinstance(owner, Operation):
            for operand in owner.operands:
                self._provide(f"{name}_of", operand)
            self._block.add_op(owner.clone(value_mapper=self._values))
        else:
            maker = _maker(type_)
            self._block.add_op(maker)
            self._values[value] = maker.results[0]


def _maker(type_: Attribute) -> Operation:
    """An operation that makes a value of a type that no argument of a kernel can have."""
    if isinstance(type_, t.MaskType):
        line = f'%r = pto.pset_{type_.granularity} "PAT_ALL" : {type_}'
    elif isinstance(type_, t.AlignType):
        line = "%r = pto.init_align : !pto.align"
    elif isinstance(type_, VectorType) and isinstance(type_.element_type, IntegerType):
        line = f"%r = arith.constant dense<0> : {type_}"
    else:
        raise NotImplementedError(t.type_text(type_))
    module, _ = parsed(f"func.func @m() {{\n{line}\nreturn\n}}")
    assert module is not None
    maker = next(op for op in module.walk() if op.results)
    maker.detach()
    return maker


# --- its data ---------------------------------------------------------------------------------------------

Limits = Mapping[str, tuple[int, int]]


def content(type_: Attribute, seed: int, limits: tuple[int, int] = (0, 100)) -> np.ndarray:
    """Random numbers for an argument of that type: floats of both signs between 1 and 2, integers within ``limits``,
    scales of quantisation (64-bit words) between 4 and 8, those of blocks about 1."""
    fmt = argument_format(type_)
    assert fmt is not None
    storage = fmt.storage
    if isinstance(type_, t.PtrType):
        shape: tuple[int, ...] = (_BUFFER // storage.itemsize,)
    elif isinstance(type_, (t.VRegType, t.VmiVRegType, t.VmiMaskType)):
        shape = (type_.lanes,)
    elif isinstance(type_, (t.TileType, t.TileBufType)):
        shape = host_shape(type_)
    else:
        shape = tuple(_OPEN if extent < 0 else extent for extent in t.shape_of(type_))
    rng = np.random.default_rng(seed)
    if storage == np.uint64:
        return (4 + 4 * rng.random(shape, np.float32)).view(np.uint32).astype(np.uint64)
    if isinstance(type_, t.TileBufType) and fmt.is_packed:
        pairs = type_.loc in PACKED_OPERANDS
        return rng.integers(0, 256 if pairs else 16, shape).astype(storage)
    if fmt.name == "f8E8M0":
        return rng.integers(_ONE - 1, _ONE + 2, shape).astype(storage)
    if storage.kind == "b":
        return rng.integers(0, 2, shape).astype(storage)
    if storage.kind in "iu":
        low, high = limits
        return rng.integers(low, min(high, np.iinfo(storage).max + 1), shape).astype(storage)
    return (rng.choice([-1.0, 1.0], shape) * (1 + rng.random(shape))).astype(storage)


# --- what a run of it touches -----------------------------------------------------------------------------


@dataclass
class Touched:
    """What runs of one operation show; operands stand for those of one argument, memories for those of no operand.

    ``changed``: their bytes are others than before. ``used``: results, output, other operands, or what is stored in
    them, depend on their bytes. ``reads`` and ``writes``: an instrumented run reports accesses; reads of what the
    operation has stored itself do not count. ``unseen``: an instrumented run misses bytes that have changed, or ends
    otherwise. ``pipes``: where instructions went."""

    changed: list[set[str]] = field(default_factory=list)
    used: list[set[str]] = field(default_factory=list)
    reads: list[set[str]] = field(default_factory=list)
    writes: list[set[str]] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    pipes: set[str] = field(default_factory=set)


_PIPES: set[str] = set()


class _Recorder(RunObserver):
    """Keeps the bytes of each memory that are read and written, in order."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.accesses: list[tuple[str, str, set[int]]] = []

    def read(self, arena: Any, region: Any) -> None:
        self.accesses.append(("reads", arena.name, set(region.offsets().tolist())))
        super().read(arena, region)

    def write(self, arena: Any, region: Any) -> None:
        self.accesses.append(("writes", arena.name, set(region.offsets().tolist())))
        super().write(arena, region)


class _RecordedCore(InstrumentedCore):
    """Keeps the pipes that got instructions."""

    def issue(self, pipe: str, line: int, action: Any, *arguments: Any) -> None:
        _PIPES.add(pipe)
        super().issue(pipe, line, action, *arguments)


_OWN = ("scale_left", "scale_right", "ub")
"""Memories of the core that instructions address without an operand, or through one that names a location elsewhere."""


class _Observed(Kernel):
    """A kernel whose last block can be looked at; its scales of blocks are ``scales`` before the run."""

    scales: Mapping[str, int]
    own: list[tuple[str, Any]]

    def _block(self, index: int, count: int, core_class: Any) -> MachineBlock:
        block = super()._block(index, count, core_class)
        self.own = []
        for arena in block.arenas:
            if arena.space in _OWN:
                if arena.space in self.scales:
                    arena.bytes[...] = self.scales[arena.space]
                self.own.append((arena.space, arena.bytes))
        return block


class _RecordedKernel(_Observed, InstrumentedKernel):
    observer_class = _Recorder
    core_class = _RecordedCore


class Trial:
    """Runs one statement. ``scalars`` gives numbers by operand (default 1), ``limits`` the range of integers."""

    def __init__(
        self, statement: Statement, scalars: Mapping[str, Any], limits: Limits, open_tiles: bool = False
    ) -> None:
        self.made = Single(statement, open_tiles)
        self.scalars = scalars
        self.limits = limits
        options = RunOptions(fill="poison")
        self.kernel = _Observed(self.made.module, "k", statement.target, options)
        sanitize = SanitizeOptions(frozenset(), "strict")
        self.instrumented = _RecordedKernel(self.made.module, "k", statement.target, options, sanitize)
        self.memories = [(i, a) for i, a in enumerate(self.made.arguments) if a.is_memory]

    def values(self, other: int = -1) -> list[Any]:
        """Arguments; the content of number ``other`` is another."""
        found: list[Any] = []
        for index, argument in enumerate(self.made.arguments):
            role = min(argument.roles, default="")
            if argument_format(argument.type) is None:
                found.append(self.scalars.get(role, 1.5 if t.is_float(argument.type) else 1))
            else:
                seed = 1000 * (index == other) + index
                found.append(content(argument.type, seed, self.limits.get(role, (0, 100))))
        return found

    def outcome(self, other: int = -1, scale: str = "") -> tuple[list[np.ndarray], list[np.ndarray], list[Any]]:
        """Bytes of the arguments and of the core's own memories before and after a run, what it returns and prints."""
        arguments = self.values(other)
        self.kernel.scales = {space: _ONE + (space == scale) for space in _OWN[:2]}
        before = [_bytes(arguments[index]).copy() for index, _ in self.memories]
        with redirect_stdout(StringIO()) as printed:
            results = self.kernel.run(arguments)
        after = [_bytes(arguments[index]) for index, _ in self.memories]
        for space, memory in self.kernel.own:
            before.append(np.full(memory.size, self.kernel.scales.get(space, POISON), np.uint8))
            after.append(memory)
        return before, after, [*(_plain(result) for result in results), printed.getvalue()]

    def touched(self) -> Touched:
        """What the runs show."""
        found = Touched()
        before, after, results = self.outcome()
        others = [(argument.roles, (index, "")) for index, argument in self.memories]
        others += [({space}, (-1, space)) for space, _ in self.kernel.own]
        for place, (roles, change) in enumerate(others):
            if (before[place] != after[place]).any():
                found.changed.append(roles)
            if change == (-1, "ub"):
                continue
            try:
                other_before, other_after, other_results = self.outcome(*change)
            except ProgramError:
                found.used.append(roles)
                continue
            both = (before[place] != after[place]) & (other_before[place] != other_after[place])
            own = (after[place] != other_after[place])[both].any()
            pairs = enumerate(zip(after, other_after, strict=True))
            if own or results != other_results or any((a != b).any() for i, (a, b) in pairs if i != place):
                found.used.append(roles)
        self._observer(before, after, found)
        return found

    def _observer(self, before: list[np.ndarray], after: list[np.ndarray], found: Touched) -> None:
        arguments = self.values()
        self.instrumented.scales = dict.fromkeys(_OWN[:2], _ONE)
        _PIPES.clear()
        with redirect_stdout(StringIO()):
            self.instrumented.run(arguments)
        found.pipes = set(_PIPES)
        observer = self.instrumented.observer
        assert isinstance(observer, _Recorder)
        stored: dict[str, set[int]] = {}
        by_name = {argument.name: argument for argument in self.made.arguments}
        for kind, memory, offsets in observer.accesses:
            argument = by_name.get(memory.lstrip("%"))
            roles = argument.roles if argument is not None else {memory.rpartition(".")[2]}
            own = stored.setdefault(memory.lstrip("%"), set())
            if kind == "writes":
                own |= offsets
                found.writes.append(roles)
            elif not offsets <= own:
                found.reads.append(roles)
        for place, (index, argument) in enumerate(self.memories):
            if (_bytes(arguments[index]) != after[place]).any():
                found.unseen.append(f"{argument.name} ends otherwise under watch")
            changed = set(np.flatnonzero(before[place] != after[place]).tolist())
            if isinstance(argument.type, t.PtrType) and not changed <= stored.get(argument.name, set()):
                found.unseen.append(f"bytes of {argument.name} change unseen")


def _bytes(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1).view(np.uint8)


def _plain(value: Any) -> Any:
    array = np.asarray(value)
    return (array.dtype.str, array.shape, array.tobytes())


REFUSALS = (ProgramError, BindingError, NotImplementedError)
"""How a statement that cannot be tried ends."""
