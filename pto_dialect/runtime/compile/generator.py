"""Compiles one verified function to Python source over numpy.

Scalars become Python locals, ``scf.for`` becomes ``for``, and an instruction becomes one call of a kernel that was
prepared when the function was compiled.  ``kernels/`` has the instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import Pipe, PtoOp, operand_groups
from pto_dialect.ir.core.facts.operation_form import OperationForm, form_of
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.operands import first
from pto_dialect.targets.profile import Profile

from ..errors import ProgramError
from ..memory.atomic import mode_of
from ..memory.scratch import Undefining, nothing
from ..memory.values import ValueTile, copy_value
from ..numerics.formats import Format, format_of
from ..run.machine import RunOptions
from ..run.profiling import ProfileLog
from .emit import Emitter, Expr
from .names import Kind
from .variants import PLAIN, Variant

if TYPE_CHECKING:
    from ..simt.scope import LaneScope
    from .unit import Unit

Generate = Callable[[Any, "Generator"], None]
"""Writes the code of an operation."""


@dataclass(eq=False)
class Generator:
    """Writes the body of one function.

    ``names`` maps values to the locals that hold them, ``views`` tiles to locals with their arrays, ``common`` some
    parts of global-memory views to locals with their ``GmParts``, ``parts`` the same parts to that local and their
    distance, ``held`` tiles that nothing else accesses to locals with their content. ``generate`` writes one operation.
    """

    emitter: Emitter
    profile: Profile
    options: RunOptions
    unit: Unit
    generate: Generate
    queued: bool
    variant: Variant = PLAIN
    profile_log: ProfileLog | None = None
    tracks_numbers: bool = False
    """Whether numbers that were never set are known from others."""

    def __post_init__(self) -> None:
        self.placement = self.unit.placement
        self.core = Expr("core")
        self.lanes: LaneScope | None = None
        self.names: dict[SSAValue, str] = {}
        self.views: dict[SSAValue, str] = {}
        self.common: dict[SSAValue, Expr] = {}
        self.parts: dict[SSAValue, tuple[Expr, Expr]] = {}
        self.locals: dict[Operation, str] = {}
        self.held: dict[SSAValue, Expr] = {}
        self.popped: dict[object, list[SSAValue]] = {}
        self.undefines = self.variant.undefines or self.options.fill == "poison"
        self._undefined: tuple[SSAValue, ...] = ()
        self._forms: dict[PtoOp, OperationForm] = {}

    # ------------------------------------------------------------ names and types

    def name(self, value: SSAValue) -> Expr:
        """Returns the local that holds ``value``."""
        name = self.names.get(value)
        if name is None:
            raise self.error("unmodelled", f"a value of type {t.type_text(value.type)} cannot be executed")
        return Expr(name)

    def bind(self, value: SSAValue) -> Expr:
        """Returns a new local for ``value``."""
        name = self.emitter.fresh(value.name_hint or "", Kind.VALUE)
        self.names[value] = name
        return Expr(name)

    def define(self, value: SSAValue, expression: str) -> None:
        """Writes ``value = expression``."""
        self.emitter.line(f"{self.bind(value)} = {expression}")
        self.prepare_view(value)

    def define_local(self, hint: str, expression: str) -> Expr:
        """Returns a new local without an SSA value."""
        name = self.emitter.fresh(hint)
        self.emitter.line(f"{name} = {expression}")
        return Expr(name)

    def passed(self, value: SSAValue, target: SSAValue) -> Expr:
        """Returns ``value`` in the form of ``target``, to which it is assigned."""
        return self.name(value) if self.lanes is None else self.lanes.passed(value, target, self)

    @contextmanager
    def as_pointers(self, memrefs: Sequence[SSAValue]) -> Iterator[None]:
        """Context in which the names of ``memrefs`` are pointers to their first elements."""
        saved_names = {value: self.names[value] for value in memrefs}
        self.names.update({value: f"{name}.pointer" for value, name in saved_names.items()})
        yield
        self.names.update(saved_names)

    def rebind(self, value: SSAValue, expression: str) -> None:
        """Writes ``value = expression`` for a handle that has a local already."""
        self.emitter.line(f"{self.names[value]} = {expression}")
        view = self.views.get(value)
        if view is not None:
            self.emitter.line(f"{view} = {self.names[value]}.array")

    def format(self, attr: Attribute) -> Format:
        """Returns the number format of an element type."""
        try:
            return format_of(t.element_name(attr))
        except (KeyError, ValueError):
            raise self.error("unmodelled", f"elements of type {t.type_text(attr)} cannot be computed with") from None

    def operands(self, op: PtoOp) -> dict[str, tuple[SSAValue, ...]]:
        """Returns operands by declared name."""
        return operand_groups(op)

    def operand(self, op: PtoOp, name: str) -> SSAValue | None:
        """Returns one operand by declared name, ``None`` when absent."""
        return first(op, name)

    def form(self, op: PtoOp) -> OperationForm:
        """Returns the record of the form that ``op`` has here."""
        form = self._forms.get(op)
        if form is None:
            form = self._forms[op] = form_of(op, self.profile.arch, self.options.backend or "emitc")
        return form

    def pipe(self, op: PtoOp) -> Pipe | None:
        """Returns the pipe that ``op`` is issued to."""
        return self.form(op).pipe

    def error(self, rule: str, message: str, op: Operation | None = None) -> ProgramError:
        """Returns the error that ``op`` (default: the operation being compiled) cannot be compiled."""
        near = op or self.emitter.current
        return ProgramError(rule, message, span_of(near), operation=near)

    # ------------------------------------------------------------ tiles

    def prepare_view(self, value: SSAValue) -> None:
        """Defines, after a tile with static valid region and no boxes, a local with its array."""
        if has_view(value.type):
            self.emitter.line(f"{self.bind_view(value)} = {self.names[value]}.array")

    def bind_view(self, value: SSAValue) -> str:
        """Returns a new local for the array of a tile."""
        name = self.views[value] = self.emitter.fresh(value.name_hint or "", Kind.ARRAY)
        return name

    def view(self, value: SSAValue) -> Expr | None:
        """Returns the local that holds the valid region of a tile as an array of its memory; ``None`` where the region
        changes at run time or is blocked."""
        name = self.views.get(value)
        return Expr(name) if name is not None else None

    def destination(self, op: PtoOp, name: str = "dst", position: int = 0) -> SSAValue:
        """Returns the tile an instruction writes: its destination operand, or (value forms) a new tile value for its
        result.

        A destination operand that is a value itself is the old content of the result (docs/reference/language.md,
        "Level 1 and Level 2", rule 10).
        """
        dst = self.operand(op, name)
        if dst is not None and not (op.results and isinstance(dst.type, t.TileType)):
            return dst
        result = op.results[position]
        type_ = result.type
        if not isinstance(type_, t.TileType):
            raise self.error("unmodelled", f"{op.name} without a destination needs a !pto.tile result")
        if dst is not None and dst.type != type_:
            message = f"the old tile of {op.name} has type {t.type_text(dst.type)}, the new one {t.type_text(type_)}"
            raise self.error("unmodelled", message)
        fmt = self.argument(self.format(type_.element))
        maker = self.argument(ValueTile)
        self.define(result, f"{maker}({type_.rows}, {type_.cols}, {fmt})")
        if dst is not None:
            self.call(copy_value, dst, result, pipe=self.pipe(op))
        return result

    def hold(self, tile: SSAValue, content: Any) -> None:
        """Makes a local hold the content of a tile that nothing else accesses, at first ``content``, where this variant
        may do so."""
        plain = self.variant.holds_tiles and not self.queued and self.lanes is None
        if plain and self.options.fill == "zero" and tile in self.unit.held:
            self.held[tile] = self.define_local(tile.name_hint or "", self.argument(content))
            self.unit.holds = True

    def update(self, tile: SSAValue, function: Callable[..., Any], *arguments: Any) -> None:
        """Assigns the result of ``function`` to a tile that is held."""
        self.emitter.line(f"{self.held[tile]} = {self.argument(function)}({', '.join(map(self.argument, arguments))})")

    # ------------------------------------------------------------ calls

    def argument(self, value: Any) -> str:
        """Returns the text of a call argument: the local of an SSA value, an expression, a literal, or a constant
        object."""
        if isinstance(value, Expr):
            return str(value)
        if value is None or isinstance(value, (bool, int, str)):
            return repr(value)
        if isinstance(value, (tuple, list)):
            return "(" + "".join(f"{self.argument(v)}, " for v in value) + ")"
        if isinstance(value, SSAValue):
            return self.names[value]
        return self.emitter.known(value) or self.emitter.constant(value, constant_hint(value))

    def next_line(self) -> int:
        """Returns the number of the line of the generated source that is written next."""
        return len(self.emitter.lines) + 1

    def call(self, function: Callable[..., Any] | Expr, *arguments: Any, pipe: Pipe | None = None) -> None:
        """Runs ``function`` as an instruction on ``pipe``: at once in program order, or when its queue reaches it."""
        if self._undefined and pipe is not None and callable(function) and function is not copy_value:
            function, arguments = self._undefining(function, arguments)
        text = ", ".join(self.argument(a) for a in arguments)
        target = self.argument(function)
        if self.queued and pipe is not None and pipe is not Pipe.S:
            number = self.next_line()
            if self.profile_log is not None:
                slot = self.profile_log.slot(self.emitter.current)
                if isinstance(function, Expr):
                    target = f"{self.argument(self.profile_log.timed)}({slot}, {function})"
                else:
                    target = self.emitter.constant(self.profile_log.timed(slot, function), constant_hint(function))
            self.emitter.line(f"core.issue({pipe.value!r}, {number}, {target}, {text})")
        elif self.profile_log is not None:
            slot = self.profile_log.slot(self.emitter.current)
            clock = self.argument(perf_counter)
            started = self.define_local("started", f"{clock}()")
            self.emitter.line(f"{target}({text})")
            self.emitter.line(f"{self.argument(self.profile_log.add)}({slot}, {clock}() - {started})")
        else:
            self.emitter.line(f"{target}({text})")

    def value_of_call(self, result: SSAValue, function: Callable[..., Any], *arguments: Any) -> None:
        """Defines ``result`` as the present result of ``function``."""
        text = ", ".join(self.argument(a) for a in arguments)
        self.define(result, f"{self.argument(function)}({text})")

    def atomic_mode(self) -> tuple[Expr, ...]:
        """Returns the atomic mode argument of a store to global memory, where the program changes the mode."""
        return (Expr(f"{self.argument(mode_of)}(core.state['ctrl'])"),) if self.unit.sets_control else ()

    # ------------------------------------------------------------ regions

    def block(self, block: Block) -> None:
        """Writes all operations of a block."""
        for op in block.ops:
            self.operation(op)

    def region(self, region: Region) -> None:
        """Writes a region of one block."""
        if len(region.blocks) > 1:
            raise self.error("unmodelled", "branches between blocks inside a structured region cannot be executed")
        for block in region.blocks:
            self.block(block)

    def operation(self, op: Operation) -> None:
        """Writes one operation."""
        self.emitter.current = op
        if not self.queued:
            self._instruction(op)
            return
        # Whether an instruction of the vector unit uses its registers; outside of a scope it is in an inferred one.
        if any(isinstance(value.type, _REGISTERS) for value in (*op.operands, *op.results)) and not op.regions:
            self.emitter.line(f"yield from core.reach({Pipe.V.value!r})")
        meeting = self._meeting(op)
        if meeting:
            self.emitter.line(meeting)
        self._instruction(op)
        if meeting:
            self.emitter.line(meeting)

    def _instruction(self, op: Operation) -> None:
        """Writes one operation without its synchronization; tiles that it leaves with undefined contents are
        overwritten."""
        self._undefined = self._undefined_tiles(op) if self.undefines and isinstance(op, PtoOp) else ()
        self.generate(op, self)
        if self._undefined and isinstance(op, PtoOp):
            self.call(nothing, pipe=self.pipe(op))
        self._undefined = ()

    def _undefined_tiles(self, op: PtoOp) -> tuple[SSAValue, ...]:
        """Returns the tiles in memory whose contents ``op`` leaves undefined, where they are not other
        operands of it."""
        form, groups = self.form(op), operand_groups(op)
        others = [value for name, values in groups.items() if name not in form.clobbered for value in values]
        clobbered = dict.fromkeys(value for name in form.clobbered for value in groups.get(name, ()))
        return tuple(value for value in clobbered if isinstance(value.type, t.TileBufType) and value not in others)

    def _undefining(
        self, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Returns an instruction followed by its destinations and the tiles that it leaves with undefined contents."""
        op, tiles = self.emitter.current, self._undefined
        assert isinstance(op, PtoOp)
        self._undefined = ()
        form, groups = self.form(op), operand_groups(op)
        kept_values = [value for name in form.writes if name not in form.clobbered for value in groups.get(name, ())]
        kept_values = [value for value in kept_values if isinstance(value.type, t.TileBufType)]
        made = Undefining(function, len(kept_values), len(tiles), constant_hint(function))
        return made, (*arguments, *kept_values, *tiles)

    def _meeting(self, op: Operation) -> str:
        """Returns the line that makes the pipes wait which an operation of several steps orders itself."""
        form = self.form(op) if isinstance(op, PtoOp) else None
        if form is None or not form.self_ordered:
            return ""
        pipes = (Pipe.MTE2, Pipe.V, Pipe.MTE3)
        return f"yield from core.meet({', '.join(repr(pipe.value) for pipe in pipes)})"


_REGISTERS = (t.VRegType, t.MaskType, t.AlignType, t.VmiVRegType, t.VmiMaskType)


def has_view(type_: Attribute) -> bool:
    """Returns whether the valid region of a tile is one strided array that never changes."""
    if isinstance(type_, t.TileBufType):
        return t.DYNAMIC not in (type_.valid_rows, type_.valid_cols) and type_.slayout == "none_box"
    return isinstance(type_, t.TileType)


def constant_hint(value: Any) -> str:
    """Returns a readable name for an object that generated code refers to."""
    label = getattr(value, "label", None) or getattr(value, "__name__", None) or getattr(value, "name", None)
    return label if isinstance(label, str) else type(value).__name__.lower()


def integer_width(type_: Attribute) -> int | None:
    """Returns the bits of an integer type; ``None`` for index (unbounded here) and other types."""
    return type_.width.data if isinstance(type_, IntegerType) else None


def is_integer(type_: Attribute) -> bool:
    """Returns whether a type is an integer or index."""
    return isinstance(type_, (IntegerType, IndexType))
