"""What the translation of operations calls: the emitter of one function."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NoReturn

from pto_dialect.nesting import EXECUTED

from ..llvm.model import Function, Instruction, Value
from .calls import RawGroup, arguments_of, call_name, groups_of, plain_name
from .context import Context, Pointer
from .flow.structure import TOO_DEEP
from .folding import signed, unsigned
from .interface import Call, Group, Operand
from .linear import low_bits, width_of
from .preparation.queues import NO_QUEUES
from .scalars import as_number
from .signals import SET_SIGNAL_BASE, sources_of

_DECLARED = re.compile(r"(?:(?<=[\w>] )(?=\w+\s*[({])|(?=\w+\s*(?:[,;=[]|$)))([A-Za-z_]\w*)")
"""A variable where the declaration calls its constructor."""
_ARGUMENT = re.compile(r"\w+\s*(?:<[^()]*?>)?\s*\(\s*(?:\*?\s*)?([A-Za-z_]\w*)")
_NOT_ADDRESSES = frozenset(("__pto_query", "__pto_constant"))


class FunctionEmitter:
    """Emits the operations of the calls of one function."""

    def __init__(
        self, function: Function, order: list[str], ctx: Context, target: str, core: str,
        sources: Mapping[str, list[str]], numbered_queues: Mapping[str, frozenset[str]] = NO_QUEUES,
    ):  # fmt: skip
        self.target = target
        self.core = core
        self.numbered_queues = numbered_queues
        self.state: dict[str, object] = {}
        self._ctx = ctx
        self._sources = sources
        self._calls: dict[Instruction, Call] = {}
        self._choices: list[Call] = []
        """Calls of no instruction. They are kept, because the identity of a call is its key."""
        self._scopes: dict[int, int] = {}
        self._instructions: dict[int, Instruction] = {}
        self._users: dict[Value, list[tuple[Instruction, int]]] = {}
        self._entries: dict[str, Group] = {}
        """For the descriptor of a queue the tensor that some call moves through it, without its operands."""
        self._stored: set[object] = set()
        self._used: set[object] = set()
        """Operands of all instructions."""
        for name in order:
            for instruction in function.blocks[name].instructions:
                self._used.update(instruction.operands)
                if instruction.opcode == "store":
                    self._stored.add(instruction.operands[0])
                groups = groups_of(instruction, ctx.module)
                self._note_entries(groups)
                if groups and call_name(instruction, ctx.module) == SET_SIGNAL_BASE:
                    ctx.signal_bases.update(sources_of(groups[0].operands[0]))
                for number, group in enumerate(groups):
                    if group.operands and isinstance(group.operands[0], Value):
                        self._users.setdefault(group.operands[0], []).append((instruction, number))

    # ------------------------------------------------------------ calls

    def begin(self, instruction: Instruction) -> Call:
        """Returns the call of an instruction, with its operands as they are at this point."""
        call = self._call(instruction)
        self._scopes[id(call)] = self._ctx.writer.scopes[-1]
        return call

    def begin_choice(self, *operands: Operand) -> Call:
        """Returns a call that chooses one of two tiles, as if the kernel had it at this point."""
        call = Call("__pto_alias", "select", {}, (), operands, "i64", None)
        self._choices.append(call)
        self._scopes[id(call)] = self._ctx.writer.scopes[-1]
        return call

    def _call(self, instruction: Instruction) -> Call:
        known = self._calls.get(instruction)
        if known is not None:
            return self._refresh(known, instruction)
        name, *parts = call_name(instruction, self._ctx.module).split(";")
        modes = {key: value for key, _, value in (part.partition("=") for part in parts)}
        result = None if instruction.type == "void" else instruction.type
        location = self._ctx.frames.location(instruction.debug)
        call = Call(plain_name(instruction.word), name, modes, (), (), result, location, self._label(instruction, name))
        self._calls[instruction] = call
        self._instructions[id(call)] = instruction
        return self._refresh(call, instruction)

    def _refresh(self, call: Call, instruction: Instruction) -> Call:
        call.operands = tuple(self._operand(operand) for operand in arguments_of(instruction))
        call.groups = tuple(
            Group(raw.kind, raw.fields, raw.descriptor, tuple(self._operand(operand) for operand in raw.operands))
            for raw in groups_of(instruction, self._ctx.module)
        )
        return call

    def _operand(self, operand: object) -> Operand:
        """Returns an operand; one whose value is not computed yet has neither value nor name."""
        if isinstance(operand, Value) and operand not in self._ctx.values:
            if self._ctx.memory.address(operand) is not None:
                self._ctx.fail("the address of a local variable is passed to an operation", "pass the value")
            call = self._calls.get(operand) if isinstance(operand, Instruction) else None
            return Operand(operand.type, assigned=call)
        return self._ctx.operand(operand)  # type: ignore[arg-type]

    def finish(self, instruction: Instruction, call: Call, name: str | None) -> Operand | None:
        """Returns the operand of the result of a call."""
        if instruction.type == "void":
            return None
        if instruction.type == "ptr" and name is not None:
            return self._ctx.new_pointer(name, self.element(call))
        if call.function in _NOT_ADDRESSES:
            return self._known(Operand(instruction.type, name=name))
        found = self._known(Operand(instruction.type, name=name))
        return Operand(instruction.type, found.value, found.name, call)

    def _known(self, operand: Operand) -> Operand:
        """Returns a constant for the name of one."""
        text, type = self._ctx.writer.numbers.get(operand.name or "", ("", ""))
        return Operand(operand.type, int(text)) if type[:1] == "i" and type != "i1" else operand

    def _label(self, instruction: Instruction, name: str) -> str:
        location = self._ctx.frames.location(instruction.debug)
        lines = self._sources.get(location.file) if location is not None else None
        if lines is None or location is None or not 0 < location.line <= len(lines):
            return ""
        label = _DECLARED if name == "Tile" else _ARGUMENT
        match = label.match(lines[location.line - 1], max(location.column - 1, 0))
        return match[1] if match else ""

    def users(self, call: Call) -> list[tuple[Call, Group]]:
        """Returns the groups whose first operand is the result of ``call``, in program order."""
        instruction = self._instructions.get(id(call))
        found: list[tuple[Call, Group]] = []
        for user, number in self._users.get(instruction, ()) if instruction is not None else ():
            other = self._call(user)
            found.append((other, other.groups[number]))
        return found

    def _note_entries(self, groups: Sequence[RawGroup]) -> None:
        tensor = next((one for one in groups if one.kind == "global"), None)
        if tensor is None:
            return
        known = Group(tensor.kind, tensor.fields, tensor.descriptor, ())
        for queue in groups:
            if queue.kind == "pipe":
                self._entries.setdefault(queue.descriptor, known)

    def entry_of(self, queue: Group) -> Group | None:
        """Returns the tensor that some call of the function moves through a queue, without its operands."""
        return self._entries.get(queue.descriptor)

    def is_stored(self, call: Call) -> bool:
        """Returns whether the result of ``call`` is stored, so that its users are not known."""
        return self._instructions.get(id(call)) in self._stored

    def is_used(self, call: Call) -> bool:
        """Returns whether anything uses the result of ``call``."""
        return self._instructions.get(id(call)) in self._used

    def is_available(self, operand: Operand) -> bool:
        """Returns whether an operand has a value at this point."""
        return operand.value is not None or operand.name is not None

    def is_visible(self, call: Call) -> bool:
        """Returns whether what was defined at a call may be named here."""
        return self._ctx.writer.is_open(self._scopes.get(id(call), -1))

    def is_argument(self, operand: Operand) -> bool:
        """Returns whether an operand is an argument of the function."""
        origin = operand.origin
        if isinstance(origin, Pointer):
            return origin.index is None and origin.base in self._ctx.writer.parameters
        return operand.name in self._ctx.writer.parameters

    # ------------------------------------------------------------ text

    def emit(self, line: str) -> None:
        """Emits one operation."""
        self._ctx.writer.emit(line)

    def define(self, body: str, hint: str = "v") -> str:
        """Emits an operation with one result and returns the name of it."""
        return self._ctx.writer.define(body, hint, body.startswith(_UNUSED))

    def head(self, body: str, hint: str) -> str:
        """Emits an operation at the begin of the function and returns the name of its result."""
        return self._ctx.writer.head(body, hint)

    @contextmanager
    def loop(self, begin: str, end: str, step: str) -> Iterator[str]:
        """Emits a loop over indices; yields the name of the counter."""
        counter = self.fresh("i")
        with self._region(f"scf.for {counter} = {begin} to {end} step {step} {{"):
            yield counter

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Emits a branch."""
        with self._region(f"scf.if {condition} {{"):
            yield

    @contextmanager
    def _region(self, head: str) -> Iterator[None]:
        writer = self._ctx.writer
        if len(writer.scopes) > EXECUTED:
            self._ctx.fail(*TOO_DEEP)
        writer.bare(head)
        with writer.region():
            yield
        writer.bare("}" + writer.location)

    def element(self, call: Call) -> str:
        """Returns the element type of the pointer that is the result of a call."""
        return self._ctx.elements.of(self._instructions[id(call)])

    def fresh(self, hint: str = "v") -> str:
        """Returns a name that is not used yet."""
        return self._ctx.writer.fresh(hint)

    def constant(self, value: int | float, type: str) -> str:
        """Returns the name of a constant."""
        return self._ctx.constant(value, type)

    def cast(self, operand: Operand, type: str) -> str:
        """Returns an integer operand as index or another integer type, with its sign."""
        operand = as_number(self._ctx, operand)
        if type == "index":
            return self._ctx.index(operand)
        width, wanted = width_of(operand.type), width_of(type)
        if width is None or wanted is None:
            self.fail(f"a value of type {operand.type} is used as {type}")
        if isinstance(operand.value, int):
            return self.constant(signed(operand.value, wanted), type)
        name = self._ctx.name(operand)
        if width == wanted:
            return name
        word = "extsi" if width < wanted else "trunci"
        return self._ctx.writer.define(f"arith.{word} {name} : i{width} to {type}", name[1:], True)

    def scalar(self, operand: Operand, type: str) -> str:
        """Returns a scalar operand as an element type of ``.pto``."""
        plain = type.lstrip("us") if type[:1] in "us" else type
        if isinstance(operand.value, int | float):
            value = operand.value
            if isinstance(value, int) and width_of(plain) and plain != type and type[0] == "u":
                return self.constant(unsigned(value, width_of(plain) or 64), plain)
            return self.constant(value, plain)
        own = self._ctx.type(operand.type)
        if own == plain:
            return self._ctx.name(operand)
        if width_of(plain) is not None and width_of(own) is not None:
            return self.cast(operand, plain)
        self.fail(f"a scalar of type {own} is given where {type} is needed")

    def pointer(self, operand: Operand, elem: str) -> str:
        """Returns a pointer operand as ``!pto.ptr<elem>``."""
        if operand.type != "ptr":
            name = self.cast(operand, "i64")
            return self._ctx.writer.define(f"pto.castptr {name} : i64 -> !pto.ptr<{elem}>", "p", True)
        return self._ctx.pointer_name(operand, elem)

    def is_same(self, first: Operand, second: Operand) -> bool:
        """Returns whether two integer operands must be equal, whatever their widths are."""
        if first.value is not None or second.value is not None:
            return first.value is not None and first.value == second.value
        if first.name is None or second.name is None:
            return False
        if first.name == second.name:
            return True
        a, b = self._ctx.indices.get(first.name), self._ctx.indices.get(second.name)
        if a is not None and a == b:
            return True
        one, two = self._ctx.origins.get(first.name), self._ctx.origins.get(second.name)
        width = min(width_of(first.type) or 64, width_of(second.type) or 64)
        return one is not None and two is not None and low_bits(one, width) == low_bits(two, width)

    def fail(self, message: str, help: str = "") -> NoReturn:
        """Raises ``TranslationError`` at the current call."""
        self._ctx.fail(message, help)


_UNUSED = ("arith.", "math.", "pto.make_tensor_view", "pto.partition_view", "pto.castptr", "pto.addptr")
"""Operations that may be left out if nobody uses their result."""
