"""Pointers that a phi or select chooses between local and global memory.

They become two pointers, and a value that says which of the two is meant. An access through them becomes a branch with
an access on each side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...llvm.model import BasicBlock, Constant, Function, Global, Instruction, Operand, Value
from ...llvm.reader import Module
from ..addresses import Address, LocalAddress, address_of, local_addresses

_NULL = Constant("ptr", None)
_YES, _NO = Constant("i1", 1), Constant("i1", 0)
_POINTER = {"load": 0, "store": 1}
"""The operand that is the pointer of an access."""


class _Parts:
    """What a pointer becomes: whether it is local, and both pointers, one of which is not used."""

    __slots__ = ("far", "is_local", "near")

    def __init__(self, is_local: Operand, near: Operand, far: Operand) -> None:
        self.is_local = is_local
        self.near = near
        self.far = far


def split_mixed_pointers(function: Function, module: Module) -> None:
    """Changes a function in place. A pointer that is more than accessed and moved stays as it is."""
    instructions = [one for block in function.blocks.values() for one in block.instructions]
    if any(map(_is_join, instructions)):
        _Splitting(function, module, instructions).run()


def _is_join(one: Operand) -> bool:
    return isinstance(one, Instruction) and one.opcode in ("phi", "select") and one.type == "ptr"


def _is_move(one: Operand) -> bool:
    return isinstance(one, Instruction) and one.opcode == "getelementptr"


def _sources(join: Instruction) -> tuple[Operand, ...]:
    return join.operands if join.opcode == "phi" else join.operands[1:]


def _may_use(pointer: Value, user: Instruction, found: set[Value]) -> bool:
    """Returns whether a user of a pointer accesses it, or is a pointer that becomes two as well."""
    place = _POINTER.get(user.opcode)
    if place is not None:
        return all(operand is not pointer or number == place for number, operand in enumerate(user.operands))
    return user in found


class _Splitting:
    def __init__(self, function: Function, module: Module, instructions: list[Instruction]) -> None:
        self._function = function
        self._module = module
        self._instructions = instructions
        self._known: dict[Value, LocalAddress] = local_addresses(function, list(function.blocks), module, {})
        self._moves = [one for one in self._instructions if _is_move(one) and one not in self._known]
        self._near: set[Value] = set()
        """Pointers that may be local."""
        self._parts: dict[Value, _Parts] = {}
        self._added: dict[Instruction, tuple[Instruction, ...]] = {}
        """For a pointer what follows it."""
        self._ends: dict[str, str] = {}
        """For a block that is divided the last part of it."""

    def run(self) -> None:
        mixed = self._mixed([one for one in self._instructions if _is_join(one)])
        if not mixed:
            return
        for pointer in mixed:
            self._parts[pointer] = self._chosen(pointer, mixed) or self._empty(pointer)
        for pointer in mixed:
            self._fill(pointer)
        blocks = list(self._function.blocks.values())
        for block in blocks:
            new = [new for one in block.instructions for new in (one, *self._added.get(one, ()))]
            block.instructions = [one for one in new if one not in self._parts]
        self._function.blocks = {made.name: made for block in blocks for made in self._branched(block)}
        self._relabel()

    # ------------------------------------------------------------ which pointers

    def _mixed(self, joins: list[Instruction]) -> list[Instruction]:
        """Returns the joins of both memories, and the pointers that are computed from them, in their order."""
        self._near = self._reached(joins, self._is_near)
        both = self._near & self._reached(joins, self._is_far)
        users: dict[Value, list[Instruction]] = {}
        for instruction in self._instructions:
            for operand in instruction.operands:
                if operand in both:
                    users.setdefault(operand, []).append(instruction)
        found = set(both)
        while True:
            kept = {
                one
                for one in found
                if all(_may_use(one, user, found) for user in users.get(one, ()))
                and all(source in found for source in one.operands if source in both)  # type: ignore[attr-defined]
            }
            if kept == found:
                return [one for one in self._instructions if one in found]
            found = kept

    def _reached(self, joins: list[Instruction], holds: Callable[[Operand], bool]) -> set[Value]:
        """Returns the joins that a pointer of a kind reaches, and the pointers that are computed from them."""
        found: set[Value] = set()
        while True:
            new = {one for one in joins if any(s in found or holds(s) for s in _sources(one))}
            new |= {one for one in self._moves if one.operands[0] in found}
            if new <= found:
                return found
            found |= new

    def _is_near(self, source: Operand) -> bool:
        return address_of(source, self._known, self._module) is not None

    def _is_far(self, source: Operand) -> bool:
        """Returns whether a pointer is one to global memory by itself."""
        while isinstance(source, Instruction) and source in self._moves:
            source = source.operands[0]
        return isinstance(source, Value) and not self._is_near(source) and not _is_join(source)

    # ------------------------------------------------------------ both pointers

    def _chosen(self, pointer: Instruction, mixed: list[Instruction]) -> _Parts | None:
        """Returns the parts of a select between a local and a global pointer, which are these."""
        if pointer.opcode != "select" or any(source in mixed for source in _sources(pointer)):
            return None
        first, second = (self._split(source) for source in _sources(pointer))
        if first.is_local == second.is_local:
            return None
        if first.is_local == _YES:
            return _Parts(pointer.operands[0], first.near, second.far)
        which = _copy(pointer)
        which.type, which.operands = "i1", (pointer.operands[0], _NO, _YES)
        self._added[pointer] = (which,)
        return _Parts(which, second.near, first.far)

    def _empty(self, pointer: Instruction) -> _Parts:
        """Returns new instructions for a pointer, without operands yet."""
        which, near, far = _copy(pointer), _copy(pointer), _copy(pointer)
        which.type = "i1"
        self._added[pointer] = (near, far) if _is_move(pointer) else (which, near, far)
        return _Parts(which, near, far)

    def _fill(self, pointer: Instruction) -> None:
        parts, made = self._parts[pointer], self._added.get(pointer, ())
        if _is_move(pointer):
            base = self._parts[pointer.operands[0]]  # type: ignore[index]
            for new, of in zip(made, (base.near, base.far), strict=True):
                new.operands = (of, *pointer.operands[1:])
            parts.is_local = self._which(pointer)
        elif len(made) > 1:
            sources = _sources(pointer)
            head = () if pointer.opcode == "phi" else pointer.operands[:1]
            elsewhere = self._variable(sources)
            near = [self._split(source).near for source in sources]
            columns = (
                [self._which(source) for source in sources],
                [elsewhere if one is _NULL else one for one in near],
                [self._split(source).far for source in sources],
            )
            for new, column in zip(made, columns, strict=True):
                new.operands = (*head, *column)

    def _variable(self, sources: tuple[Operand, ...]) -> Operand:
        """Returns a local pointer where none is meant: the variable that another source points into, so that offsets in
        it remain multiples of its elements."""
        for source in sources:
            address = address_of(source, self._known, self._module)
            if isinstance(address, Address):
                return Global(address.root) if isinstance(address.root, str) else address.root
        return _NULL

    def _which(self, source: Operand) -> Operand:
        """Returns whether a pointer is local."""
        while _is_move(source) and source in self._parts:
            source = source.operands[0]  # type: ignore[union-attr]
        return self._split(source).is_local

    def _split(self, source: Operand) -> _Parts:
        if isinstance(source, Value) and source in self._parts:
            return self._parts[source]
        if source in self._near or self._is_near(source):
            return _Parts(_YES, source, _NULL)
        return _Parts(_NO, _NULL, source)

    # ------------------------------------------------------------ branches

    def _branched(self, block: BasicBlock) -> Iterator[BasicBlock]:
        """Yields a block, divided at each access through one of the pointers."""
        current = BasicBlock(block.name)
        for number, access in enumerate(block.instructions):
            place = _POINTER.get(access.opcode)
            parts = self._parts.get(access.operands[place]) if place is not None else None  # type: ignore[arg-type]
            if parts is None or place is None:
                current.instructions.append(access)
                continue
            names = [f"{block.name}.{number}.{word}" for word in ("near", "far", "after")]
            current.instructions.append(_jump(access, (parts.is_local,), *names[:2]))
            yield current
            accesses: list[Instruction] = []
            for name, pointer in zip(names, (parts.near, parts.far), strict=False):
                own = _copy(access)
                own.operands = tuple(pointer if i == place else one for i, one in enumerate(access.operands))
                accesses.append(own)
                yield BasicBlock(name, [own, _jump(access, (), names[2])])
            current = BasicBlock(names[2])
            if access.opcode == "load":
                # The load itself becomes the choice between both, so that its users need no change.
                access.opcode, access.operands, access.labels = "phi", tuple(accesses), tuple(names[:2])
                access.word = access.flags = ""
                current.instructions.append(access)
        self._ends[block.name] = current.name
        yield current

    def _relabel(self) -> None:
        """Makes phis name the last part of a block that was divided."""
        for block in self._function.blocks.values():
            for one in block.instructions:
                if one.opcode == "phi":
                    one.labels = tuple(self._ends.get(label, label) for label in one.labels)


def _copy(model: Instruction) -> Instruction:
    made = Instruction(model.opcode, model.name, model.type, (), model.word, model.flags, model.labels)
    made.debug = model.debug
    return made


def _jump(model: Instruction, operands: tuple[Operand, ...], *labels: str) -> Instruction:
    made = Instruction("br", "", "void", operands, labels=labels)
    made.debug = model.debug
    return made


__all__ = ["split_mixed_pointers"]
