"""Writes a function of Level 2 with tile values.

Source: docs/reference/language.md, "Level 1 and Level 2".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.dialects.builtin import FunctionType, UnitAttr
from xdsl.dialects.scf import YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.ir.buffers.views import AllocTileOp
from pto_dialect.ir.core.base import Effect, PtoOp, Shape, op_spec, operand_groups, segment_sizes, signature, stores
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.placement import element_of, location
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import DYNAMIC, TileBufType, TileType, shape_of
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.core_dialects.structured import is_for, is_if
from pto_dialect.passes.accesses.filling import Filling
from pto_dialect.syntax.types.parser import intern_type
from pto_dialect.targets.tile_layouts import ZZ_SCALE

from .contents import Contents, is_buffer
from .operands import Use, destinations, is_tile_operation
from .rebuild import Rebuild, RefusedError, name_of
from .shared import refuse_shared
from .valid import refuse_outside
from .written import EMPTY_ELSE, BufferFacts, numbered

# ------------------------------------------------------------ what remains in buffers


_LINES = frozenset(("tile_reduce",))
"""Families whose operations write one row or one column."""
_COMMON = frozenset(("tile_partial",))
"""Families whose operations write where one of their sources has elements."""


def refuse_remains(function: Operation, contents: Contents) -> None:
    """Raises :class:`RefusedError` where a buffer that is written by operations of several kinds, or that a caller
    gives, is not written as a whole."""
    kinds: dict[SSAValue, set[str]] = {}
    writes, filling = list(_writes(function, contents)), Filling()
    for op, use in writes:
        kinds.setdefault(use.value, set()).add(op.name)
    for op, use in writes:
        maker = use.value.owner
        again = not isinstance(maker, Operation) or len(kinds[use.value]) > 1
        if again and not _fills(op, use, contents, filling):
            raise RefusedError(
                op, f"it may leave elements of {name_of(use.value)} as they were, and a value has no earlier content"
            )


def _writes(function: Operation, contents: Contents) -> Iterator[tuple[PtoOp, Use]]:
    for op in walk(function):
        if is_tile_operation(op):
            for use in contents.accesses(op).writes:
                if use.name not in op_spec(type(op)).in_place:
                    yield op, use


def _fills(op: PtoOp, use: Use, contents: Contents, filling: Filling) -> bool:
    """Returns whether ``op`` writes all elements of a destination."""
    family = OPS[op.name][0]
    shape = shape_of(use.value.type)
    if family in _LINES:
        return 1 in shape
    if family in _COMMON:
        sources = contents.accesses(op).reads
        return all(shape_of(source.value.type) == shape for source in sources if is_buffer(source.value))
    line = shape[0] == 1 and not op_spec(type(op)).reads
    return line or filling.fills(op, use.value)


# ------------------------------------------------------------ effects by location


def refuse_placed(op: PtoOp) -> None:
    """Raises :class:`RefusedError` for an operation that converts what leaves an accumulator, or that loads scales in
    the order of their buffer."""
    source, target = find(op, "src"), find(op, "dst")
    if source is None or target is None:
        return
    spec = op_spec(type(op))
    if location(source) == "acc" and spec.shape is Shape.DPS_KEYED:
        converts = element_of(source) != element_of(target) or set(op.attributes) - {"operandSegmentSizes"}
        if converts or find(op, "fp") is not None or find(op, "preQuantScalar") is not None:
            raise RefusedError(op, f"{op.name} converts what leaves acc, and {name_of(source)} would be in no memory")
    type_ = target.type
    if has_role(op, Role.TILE_LOAD) and isinstance(type_, TileBufType) and type_.fractal == ZZ_SCALE.fractal:
        raise RefusedError(op, f"it loads scales in the order of {name_of(target)}, and a value has no layout")


class ValueWriter(Rebuild):
    """``content`` maps buffers to what they hold now: ``None`` where nobody has written them."""

    def __init__(self) -> None:
        super().__init__()
        self.contents: Contents | None = None
        self.content: dict[SSAValue, SSAValue | None] = {}
        self.empty: dict[SSAValue, Operation] = {}
        self.keys: dict[SSAValue, str] = {}
        self.versions: dict[str, int] = {}
        self.places: dict[SSAValue, Operation | None] = {}
        self.addresses: dict[SSAValue, int] = {}

    # ------------------------------------------------------------ functions

    def function(self, op: Operation, contents: Contents) -> Operation:
        """Writes a function. Raises :class:`RefusedError`."""
        self.contents = contents
        self.content, self.empty, self.keys, self.versions, self.places = {}, {}, {}, {}, {}
        self.addresses = {}
        block = op.regions[0].block
        outputs = self._outputs(op, block)
        contents.follow(op, contents.bits(outputs))
        refuse_remains(op, contents)
        fresh = Block(arg_types=[self._argument_type(a) for a in block.args if a not in outputs])
        for old, new in zip([a for a in block.args if a not in outputs], fresh.args, strict=True):
            self.bind(old, new)
            if is_buffer(old):
                self._know(old)
                new._name = self.keys[old]
                self.versions[self.keys[old]] = 1
                self.content[old] = new
        for output in outputs:
            self._know(output)
            self.content[output] = None
        self.outputs = outputs
        before, self.into = self.into, fresh
        self.block(block)
        self.into = before
        refuse_shared(op, contents, self.addresses, contents.profile)
        self._drop_unused()
        fresh_function = self.copied(op, (), (), [Region(fresh)])
        results = [self._tile_type(output, op) for output in outputs]
        old_type = op.properties["function_type"]
        assert isinstance(old_type, FunctionType)
        fresh_function.properties["function_type"] = FunctionType.from_lists(
            [a.type for a in fresh.args], [*old_type.outputs.data, *results]
        )
        if outputs:
            fresh_function.properties.pop("arg_attrs", None)
        self.emit(fresh_function)
        self.contents = None
        return fresh_function

    def _drop_unused(self) -> None:
        """Takes away the tiles without content that nobody reads; ``places`` has what followed them."""
        unused = {op for op in self.empty.values() if not op.results[0].uses.get_length()}
        for buffer, op in self.empty.items():
            following = op.next_op
            while following in unused:
                assert following is not None
                following = following.next_op
            self.places[buffer] = following if op in unused else op
            op.results[0]._name = f"{self.keys[buffer]}.0"
        for op in unused:
            op.detach()
            op.erase()

    def _outputs(self, op: Operation, block: Block) -> list[SSAValue]:
        """Returns the arguments that the function writes: the last ones, which it does not read before."""
        assert self.contents is not None
        trial = Contents(self.contents.profile)
        arguments = [a for a in block.args if is_buffer(a)]
        needed = trial.follow(op, 0)
        outputs: list[SSAValue] = [a for a in arguments if trial.filled & trial.bits([a])]
        for output in outputs:
            if needed & trial.bits([output]):
                raise RefusedError(
                    op, "it reads and writes a tile of the caller, of which a value keeps the old one", output
                )
        if outputs and list(block.args[-len(outputs) :]) != outputs:
            raise RefusedError(op, "the tiles of the caller that it writes are not its last arguments", outputs[0])
        return outputs

    def _argument_type(self, argument: SSAValue) -> Attribute:
        if not is_buffer(argument):
            return argument.type
        block = argument.owner
        assert isinstance(block, Block)
        op = block.parent_op()
        assert op is not None
        return self._tile_type(argument, op)

    # ------------------------------------------------------------ buffers

    def _tile_type(self, buffer: SSAValue, op: Operation) -> TileType:
        """Returns the type of what a buffer holds."""
        type_ = buffer.type
        assert isinstance(type_, TileBufType)
        if DYNAMIC in (type_.valid_rows, type_.valid_cols):
            raise RefusedError(op, f"only a run knows the valid region of {name_of(buffer)}", buffer)
        if type_.pad or type_.compact:
            raise RefusedError(op, f"{name_of(buffer)} has padding, and a tile value has nothing around it", buffer)
        tile_type = intern_type(TileType(type_.valid_rows, type_.valid_cols, type_.element))
        assert isinstance(tile_type, TileType)
        return tile_type

    def _know(self, buffer: SSAValue) -> None:
        name = buffer._name or f"_{len(self.keys)}"
        key, number = name, 2
        taken = set(self.keys.values())
        while key in taken:
            key, number = f"{name}${number}", number + 1
        self.keys[buffer] = key

    def _allocate(self, op: Operation) -> None:
        buffer = op.results[0]
        assert isinstance(op, PtoOp)
        address = find(op, "addr")
        if address is not None:
            number = constant_of(address)
            if not isinstance(number, int):
                raise RefusedError(op, f"only a run knows the address of {name_of(buffer)}")
            self.addresses[buffer] = number
        if not is_buffer(buffer):
            raise RefusedError(op, f"{name_of(buffer)} has several slots, and a value has none")
        type_ = self._tile_type(buffer, op)
        if any(name != "operandSegmentSizes" for name in op.attributes):
            raise RefusedError(op, f"{name_of(buffer)} has attributes, and a value is made by no statement of its own")
        self._know(buffer)
        empty = AllocTileOp.create(result_types=[type_], attributes={"operandSegmentSizes": segment_sizes((0, 0, 0))})
        empty.location = op.location
        empty.results[0]._name = self.keys[buffer]
        self.emit(empty)
        self.empty[buffer] = empty
        self.content[buffer] = None

    def _now(self, buffer: SSAValue) -> SSAValue:
        """Returns what a buffer holds."""
        if buffer not in self.content:
            op = buffer.owner if isinstance(buffer.owner, Operation) else buffer.owner.parent_op()
            assert op is not None
            raise RefusedError(op, f"{name_of(buffer)} shows bytes of another tile, and values share none", buffer)
        now = self.content[buffer]
        if now is not None:
            return now
        if buffer not in self.empty:
            op = buffer.owner.parent_op() if isinstance(buffer.owner, Block) else buffer.owner
            assert op is not None
            raise RefusedError(op, f"{name_of(buffer)} is read before anything is in it", buffer)
        return self.empty[buffer].results[0]

    def _hold(self, buffer: SSAValue, value: SSAValue) -> None:
        key = self.keys[buffer]
        version = self.versions.get(key, 0)
        self.versions[key] = version + 1
        value._name = key if not version else f"{key}.{version}"
        self.content[buffer] = value

    # ------------------------------------------------------------ operations

    def operation(self, op: Operation) -> None:
        """Writes ``op`` with values instead of buffers."""
        if self.contents is None:
            super().operation(op)
        elif has_role(op, Role.TILE_ALLOCATION):
            self._allocate(op)
        elif is_tile_operation(op):
            self._tile_operation(op)
        elif is_for(op):
            self._loop(op)
        elif is_if(op):
            self._choice(op)
        elif has_role(op, Role.RETURN):
            values = [self._now(output) for output in self.outputs]
            self.emit(self.copied(op, [*self.mapped(op.operands), *values], ()))
        else:
            for value in (*op.operands, *op.results):
                if is_buffer(value):
                    raise RefusedError(op, f"{op.name} works on the handle of a tile, and a value has none")
            super().operation(op)

    def _tile_operation(self, op: PtoOp) -> None:
        assert self.contents is not None
        accesses = self.contents.accesses(op)
        groups: dict[str, Sequence[SSAValue]] = {}
        spec = op_spec(type(op))
        if spec.effect is Effect.HANDLE:
            raise RefusedError(op, f"{op.name} works on the handle of a tile, and a value has none")
        if accesses.writes and (op.results or stores(type(op))):
            raise RefusedError(op, f"{op.name} with a tile as its destination has no form with values")
        most = signature(type(op)).maximum_results
        if most is not None and len(accesses.writes) > max(most, 1):
            raise RefusedError(op, f"{op.name} writes {len(accesses.writes)} tiles here, and gives {most} as values")
        refuse_outside(op, accesses)
        refuse_placed(op)
        written = {use.name for use in accesses.writes}
        for name, values in operand_groups(op).items():
            if name in spec.outs and values and name not in written and not stores(type(op)):
                raise RefusedError(op, f"{name} of {op.name} is no tile")
            if name not in written:
                groups[name] = [self._now(v) if is_buffer(v) else self.values[v] for v in values]
        # The form with values identifies the old tile by the number of operands.
        optional = any(
            groups[slot.name] for slot in signature(type(op)).operands if slot.arity != "1" and slot.name in groups
        )
        for use in accesses.writes:
            if use.name in spec.in_place and (optional or self.content.get(use.value) is not None):
                groups[use.name] = [self._now(use.value)]
        for use in accesses.writes:
            if use.value not in self.content:
                self._now(use.value)
        results = [self._tile_type(use.value, op) for use in accesses.writes]
        if not accesses.writes:
            self.emit(self.regrouped(op, groups, [r.type for r in op.results]), op)
        else:
            fresh = self.regrouped(op, groups, results)
            self.emit(fresh)
            for use, result in zip(accesses.writes, fresh.results, strict=True):
                self._hold(use.value, result)
        for use in accesses.scratch:
            # What a caller gave stays at hand; nobody reads it for what is in it.
            if use.value in self.empty:
                self.content[use.value] = None
        assert [use.name for use in accesses.writes] == [n for n in destinations(op) if n in written]

    def _loop(self, op: Operation) -> None:
        contents = self.contents
        assert contents is not None and is_for(op)
        outside = contents.bits(self.content)
        changed = contents.changed[op] & outside
        carried = list(contents.of(changed & (contents.begin[op] | contents.after[op])))
        block = op.body.block
        self._no_handles(op, (*op.iter_args, *op.results))
        starts = [self._now(buffer) for buffer in carried]
        fresh = Block(arg_types=[*(a.type for a in block.args), *(start.type for start in starts)])
        for old, new in zip(block.args, fresh.args, strict=False):
            self.bind(old, new)
        for buffer in contents.of(changed):
            self.content[buffer] = None
        for buffer, argument in zip(carried, fresh.args[len(block.args) :], strict=True):
            self._hold(buffer, argument)
        self._fill(block, fresh, carried, op)
        types = [*(r.type for r in op.results), *(start.type for start in starts)]
        loop = self.copied(op, [*self.mapped(op.operands), *starts], types, [Region(fresh)])
        self._finish(op, loop, changed, carried)

    def _no_handles(self, op: Operation, values: Iterable[SSAValue]) -> None:
        for value in values:
            if is_buffer(value):
                raise RefusedError(op, f"{op.name} gives the handle of a tile on, and a value has none", value)

    def _choice(self, op: Operation) -> None:
        contents = self.contents
        assert contents is not None
        self._no_handles(op, op.results)
        changed = contents.changed[op] & contents.bits(self.content)
        results = list(contents.of(changed & contents.after[op]))
        before = dict(self.content)
        regions: list[Region] = []
        for region in op.regions:
            self.content = dict(before)
            fresh = Region()
            for block in region.blocks or ([Block([YieldOp()])] if results else []):
                inside = Block()
                self._fill(block, inside, results, op)
                fresh.add_block(inside)
            regions.append(fresh)
        self.content = dict(before)
        types = [*(r.type for r in op.results), *(self._tile_type(buffer, op) for buffer in results)]
        choice = self.copied(op, self.mapped(op.operands), types, regions)
        *_, otherwise = op.regions
        if results and not op.results and otherwise.blocks and otherwise.block.first_op is otherwise.block.last_op:
            choice.attributes[EMPTY_ELSE] = UnitAttr()
        self._finish(op, choice, changed, results)

    def _fill(self, block: Block, fresh: Block, results: Sequence[SSAValue], around: Operation) -> None:
        """Writes ``block`` to ``fresh``; its terminator passes the contents of ``results``."""
        inner = set(self.content)
        before, self.into = self.into, fresh
        for op in block.ops:
            if has_role(op, Role.YIELD):
                values = [*self.mapped(op.operands), *(self._now(buffer) for buffer in results)]
                last = self.copied(op, values, ())
                if block.parent is None:
                    # The branch is new, and nobody wrote its end.
                    last.location = around.location
                self.emit(last)
            else:
                self.operation(op)
        self.into = before
        self.content = {buffer: value for buffer, value in self.content.items() if buffer in inner}

    def _finish(self, op: Operation, fresh: Operation, changed: int, results: Sequence[SSAValue]) -> None:
        assert self.contents is not None
        self.emit(fresh)
        for old, new in zip(op.results, fresh.results, strict=False):
            self.bind(old, new)
        for buffer in self.contents.of(changed):
            self.content[buffer] = None
        for buffer, result in zip(results, fresh.results[len(op.results) :], strict=True):
            self._hold(buffer, result)

    # ------------------------------------------------------------ facts that values do not state

    def buffers_of(self, function: Operation) -> dict[str, BufferFacts]:
        """Returns the buffers of the function that was written last, by the names of their values."""
        numbers = {op: number for number, op in numbered(function)}
        buffers: dict[str, BufferFacts] = {}
        for buffer, key in self.keys.items():
            address = self.places.get(buffer)
            buffers[key] = BufferFacts(
                buffer.type, None if address is None else numbers.get(address), self.addresses.get(buffer)
            )
        return buffers
