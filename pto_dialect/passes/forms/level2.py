"""``to-level2``: buffers for the tile values of Level 1, and destinations for the operations that yield them.

Source: docs/reference/language.md, "Level 1 and Level 2".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IntegerAttr, ModuleOp, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from pto_dialect.analysis.target import profile_of
from pto_dialect.ir.buffers.views import AllocTileOp
from pto_dialect.ir.core.base import PtoOp, operand_groups, segment_sizes, signature
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.core_dialects.structured import is_for, is_if
from pto_dialect.ir.tile.move import TMovOp
from pto_dialect.verify.engine.rule import Rule, read_rules

from .liveness import is_empty, tile_pairs
from .operands import accesses, destinations, is_tile_operation, is_value
from .plan import Buffer, Plan
from .rebuild import FormPass, Rebuild, RefusedError, name_of
from .sound import stay_sound
from .written import ATTRIBUTE, EMPTY_ELSE, handle_name, read

_RULES = read_rules("passes")
CANNOT_SAY = _RULES["to-level2-unsupported"]


@dataclass(frozen=True)
class ToLevel2Pass(FormPass):
    """Writes the tile values of a program as buffers."""

    name: ClassVar[str] = "to-level2"
    form: ClassVar[str] = "Level 2"
    rule: ClassVar[Rule] = CANNOT_SAY

    def make(self, module: ModuleOp) -> ModuleOp:
        """Returns the program with destinations."""
        return to_level2(module, self.target)


def to_level2(module: ModuleOp, target: str | None = None) -> ModuleOp:
    """Returns a program of Level 1 with destinations: what each operation yields lies in a buffer, over a source where
    that is legal and nobody needs it any more. ``module`` stays as it is. Raises :class:`RefusedError`."""
    fresh = with_buffers(module, target)
    stay_sound(module, fresh, target)
    return fresh


def with_buffers(module: ModuleOp, target: str | None) -> ModuleOp:
    """As :func:`to_level2`, whether rules allow the result or not."""
    return _Writer(target).module(module)


_COPY = segment_sizes(tuple(int(slot.name in ("src", "dst")) for slot in signature(TMovOp).operands))


class _Writer(Rebuild):
    def __init__(self, target: str | None) -> None:
        super().__init__()
        self.target = target
        self.plan: Plan | None = None
        self.buffers: dict[int, SSAValue] = {}
        self.constants: list[Operation] = []
        self.outermost: Block | None = None

    # ------------------------------------------------------------ functions

    def operation(self, op: Operation) -> None:
        """Writes ``op`` with buffers instead of tile values."""
        if has_role(op, Role.FUNCTION):
            self._function(op)
            return
        if self.plan is not None:
            for buffer in self.plan.before.get(op, ()):
                self._allocate(buffer, op)
        if not any(map(is_value, (*op.operands, *op.results))):
            super().operation(op)
            last = self.into.last_op
            assert last is not None
            if has_role(op, Role.CONSTANT):
                self.constants.append(last)
        elif is_for(op):
            self._loop(op)
        elif is_if(op):
            self._choice(op)
        elif has_role(op, Role.YIELD):
            self.emit(self.copied(op, self._plain(op.operands), ()))
        elif has_role(op, Role.RETURN):
            self._return(op)
        elif has_role(op, Role.TILE_ALLOCATION):
            pass
        elif is_tile_operation(op):
            self._tile_operation(op)
        else:
            raise RefusedError(op, f"{op.name} takes or gives a tile value, for which it has no form with buffers")

    def _function(self, op: Operation) -> None:
        tiles = any(
            is_value(value)
            for inner in walk(op)
            for value in (*inner.results, *(a for r in inner.regions for b in r.blocks for a in b.args))
        )
        if not (tiles or read(op)) or self.plan is not None:
            super().operation(op)
            return
        if len(op.regions[0].blocks) != 1:
            raise RefusedError(op, "it goes from block to block; only structured control flow is followed")
        self.plan = Plan(op, profile_of(op, self.target))
        self.buffers = {}
        region = self._body(op.regions[0].block)
        fresh = self.copied(op, (), (), [region])
        fresh.attributes.pop(ATTRIBUTE, None)
        _retype(fresh, region.block, [r for r in _results(op) if r not in {v.type for v in self.plan.results}])
        self.emit(fresh)
        self.plan = None

    def _body(self, block: Block) -> Region:
        plan = self.plan
        assert plan is not None
        region = Region()
        types = [plan.webs.type_of(plan.webs.web_id(a)) if is_value(a) else a.type for a in block.args]
        types += [plan.webs.type_of(plan.webs.web_id(value)) for value in plan.results]
        fresh = Block(arg_types=types)
        region.add_block(fresh)
        self.blocks[block] = fresh
        for old, new in zip(block.args, fresh.args, strict=False):
            self.bind(old, new)
            if is_value(old):
                new._name = handle_name(old._name)
                self.buffers[plan.webs.web_id(old)] = new
        outputs = fresh.args[len(block.args) :]
        for value, new in zip(plan.results, outputs, strict=True):
            new._name = plan.name_of(plan.webs.web_id(value))
        for web, number in plan.given.items():
            self.buffers[web] = outputs[number]
        self.outputs = outputs
        before, self.into = self.into, fresh
        self.constants, self.outermost = [], fresh
        self.block(block)
        self.into = before
        return region

    def _return(self, op: Operation) -> None:
        plan = self.plan
        assert plan is not None
        for value, output in zip(plan.results, self.outputs, strict=True):
            buffer = self._buffer(value)
            if buffer is not output:
                self._copy(buffer, output, op, value)
        self.emit(self.copied(op, self._plain(op.operands), ()))

    # ------------------------------------------------------------ buffers

    def _buffer(self, value: SSAValue) -> SSAValue:
        assert self.plan is not None
        return self.buffers[self.plan.webs.web_id(value)]

    def mapped(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        """Buffers for tiles, what stands for them for other values."""
        return [self._buffer(value) if is_value(value) else self.values[value] for value in values]

    def _plain(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        return [self.values[value] for value in values if not is_value(value)]

    def _allocate(self, buffer: Buffer, near: Operation) -> SSAValue:
        address = [] if buffer.address is None else [self._number(buffer.address, near)]
        op = AllocTileOp.create(
            operands=address,
            result_types=[buffer.type],
            attributes={"operandSegmentSizes": segment_sizes((len(address), 0, 0))},
        )
        op.location = near.location
        op.results[0]._name = buffer.name
        if buffer.web is not None:
            self.buffers[buffer.web] = op.results[0]
        self.emit(op)
        return op.results[0]

    def _number(self, number: int, near: Operation) -> SSAValue:
        """Returns a constant with an address: one that the program has at hand, else a new one."""
        for constant in self.constants:
            value = constant.properties.get("value")
            if constant.parent in (self.into, self.outermost) and value == IntegerAttr(number, i64):
                return constant.results[0]
        op = ConstantOp(IntegerAttr(number, i64))
        op.location = near.location
        op.result._name = f"c{number}_i64"
        self.emit(op)
        return op.result

    def _copy(self, source: SSAValue, target: SSAValue, near: Operation, value: SSAValue) -> None:
        space = target.type.loc  # pyright: ignore[reportAttributeAccessIssue]
        if space != "vec" or source.type != target.type:
            raise RefusedError(
                near, f"{name_of(value)} is needed at two addresses of {space}, and no operation copies it there", value
            )
        op = TMovOp.create(operands=[source, target], attributes={"operandSegmentSizes": _COPY})
        op.location = near.location
        self.emit(op)

    def _pass(self, pairs: Sequence[tuple[SSAValue, SSAValue]], near: Operation) -> None:
        """Gives the second tile of each pair the content of the first, all at once."""
        assert self.plan is not None
        moves = [
            (s, self._buffer(s), self._buffer(t)) for s, t in pairs if not (is_empty(s) or self.plan.webs.same(s, t))
        ]
        targets = [target for _, _, target in moves]
        staged: list[tuple[SSAValue, SSAValue, SSAValue]] = []
        for value, source, target in moves:
            if any(source is other for other in targets if other is not target):
                type_ = source.type
                assert isinstance(type_, TileBufType)
                between = self._allocate(Buffer(type_, None, None), near)
                self._copy(source, between, near, value)
                source = between
            staged.append((value, source, target))
        for value, source, target in staged:
            self._copy(source, target, near, value)

    # ------------------------------------------------------------ operations

    def _tile_operation(self, op: PtoOp) -> None:
        assert self.plan is not None
        uses = accesses(op, profile_of(op, self.target).arch)
        groups: dict[str, Sequence[SSAValue]] = {n: self.mapped(values) for n, values in operand_groups(op).items()}
        made = [result for result in op.results if is_value(result)]
        if made and len(made) != len(op.results):
            raise RefusedError(op, "one of its results is no tile")
        if uses.old is not None:
            # From here on it is in the buffer of the result.
            self._pass([(uses.old.value, op.results[0])], op)
            del groups[uses.old.name]
        names = destinations(op)
        for name, result in zip(names, made, strict=False):
            groups[name] = [self._buffer(result)]
        results = [] if made else [result.type for result in op.results]
        fresh = self.regrouped(op, groups, results)
        self.emit(fresh, None if made else op)

    def _loop(self, op: Operation) -> None:
        assert self.plan is not None and is_for(op)
        block = op.body.block
        arguments = block.args[1:]
        pairs = [
            (initial, argument) for initial, argument in zip(op.iter_args, arguments, strict=True) if is_value(initial)
        ]
        self._pass(pairs, op)
        fresh = Block(arg_types=[argument.type for argument in block.args if not is_value(argument)])
        for old, new in zip([a for a in block.args if not is_value(a)], fresh.args, strict=True):
            self.bind(old, new)
        before, self.into = self.into, fresh
        self._fill(block, tile_pairs(block, arguments))
        self.into = before
        scalars = [result for result in op.results if not is_value(result)]
        loop = self.copied(op, self._plain(op.operands), [r.type for r in scalars], [Region(fresh)])
        self._emit_with_scalars(loop, scalars)
        self._pass([(a, r) for a, r in zip(arguments, op.results, strict=True) if is_value(a)], op)

    def _choice(self, op: Operation) -> None:
        regions: list[Region] = []
        scalars = [result for result in op.results if not is_value(result)]
        for number, region in enumerate(op.regions):
            fresh = Region()
            for block in region.blocks:
                inside = Block()
                before, self.into = self.into, inside
                self._fill(block, tile_pairs(block, op.results))
                self.into = before
                empty = inside.first_op is inside.last_op and not scalars
                if number == 0 or not empty or EMPTY_ELSE in op.attributes:
                    fresh.add_block(inside)
            regions.append(fresh)
        choice = self.copied(op, self.mapped(op.operands), [r.type for r in scalars], regions)
        choice.attributes.pop(EMPTY_ELSE, None)
        self._emit_with_scalars(choice, scalars)

    def _fill(self, block: Block, pairs: Sequence[tuple[SSAValue, SSAValue]]) -> None:
        """Writes a block whose terminator passes the tiles of ``pairs``."""
        for op in block.ops:
            if op is block.last_op:
                self._pass(pairs, op)
            self.operation(op)

    def _emit_with_scalars(self, op: Operation, scalars: Sequence[SSAValue]) -> None:
        self.emit(op)
        for old, new in zip(scalars, op.results, strict=True):
            self.bind(old, new)


def _results(function: Operation) -> list[Attribute]:
    type_ = function.properties.get("function_type")
    return list(type_.outputs.data) if isinstance(type_, FunctionType) else []


def _retype(function: Operation, block: Block, results: Sequence[Attribute]) -> None:
    """Gives a function the type that its block says."""
    function.properties["function_type"] = FunctionType.from_lists([a.type for a in block.args], list(results))
    attributes = function.properties.get("arg_attrs")
    if isinstance(attributes, ArrayAttr):
        missing = len(block.args) - len(attributes.data)
        function.properties["arg_attrs"] = ArrayAttr([*attributes.data, *[DictionaryAttr({})] * missing])
    if not results:
        function.properties.pop("res_attrs", None)
