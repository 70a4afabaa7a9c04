"""Local memory: allocations and constant tables as variables, one for each cell, or as arrays of scalars.

A cell is a range of bytes that accesses do not divide. An access whose address depends on a value may reach several
cells: reading it is a choice among them. Where these are many, the cells of one kind are a local array of the dialect.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import gcd

from ..llvm.model import Constant, Function, Instruction, Operand, Value
from ..llvm.reader import Module
from ..llvm.types import TypeReadError
from .addresses import Address, LocalAddress, Root, address_of, alternatives, local_addresses
from .calls import is_idle, is_interface, plain_name
from .choices import number_choices
from .fields import array_fields
from .flow.tree import Variable
from .linear import first_number, multiple_of
from .reasons import describe

CHOICES = 16
"""An access that reaches more cells than this is one to an array."""
_MAX_CELLS = 4096
_ON_NUMBERS = ("add", "icmp", "phi", "select")
"""What is done with the numbers that stand for pointers."""
_COPIES = ("llvm.memcpy.", "llvm.memmove.")
_FILLS = ("llvm.memset.",)
_NO_ACCESS = ("llvm.lifetime.", "llvm.dbg.", "llvm.assume", "llvm.invariant.")


@dataclass(slots=True)
class Cells:
    """The cells of an allocation or table: variables by offset, and arrays by (offset of the first, stride)."""

    size: int
    cuts: set[int] = field(default_factory=set)
    types: dict[tuple[int, int], str] = field(default_factory=dict)
    variables: dict[int, tuple[int, Variable]] = field(default_factory=dict)
    arrays: dict[tuple[int, int], LocalArray] = field(default_factory=dict)
    offsets: list[int] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class LocalArray:
    """Elements of one type, ``stride`` bytes apart from ``first`` on."""

    first: int
    stride: int
    count: int
    type: str
    access: Instruction
    """The first access to it."""
    name: str = ""

    @property
    def last(self) -> int:
        """The offset of the last element."""
        return self.first + (self.count - 1) * self.stride


@dataclass(frozen=True, slots=True)
class Reach:
    """What an access may reach: ``base`` plus ``stride`` times an index from ``low`` to ``high``."""

    base: int
    stride: int
    low: int
    high: int

    def offsets(self) -> list[int]:
        """Returns the offsets, in the order of the index."""
        return [self.base + number * self.stride for number in range(self.low, self.high + 1)]


class MemoryError_(Exception):
    """Local memory that is used in a way that is not read: the instruction and a message."""

    def __init__(self, instruction: Instruction, message: str, help: str = "") -> None:
        super().__init__(message)
        self.instruction = instruction
        self.message = message
        self.help = help


class LocalMemory:
    """The local memory of a function."""

    def __init__(self, function: Function, order: list[str], module: Module) -> None:
        self.module = module
        self.function = function
        self.choices = number_choices(function, order, module)
        self.addresses = local_addresses(function, order, module, self.choices)
        self.cells: dict[Root, Cells] = {}
        self._multiples: dict[Value, int] = {}
        self._fields: dict[Value, list[tuple[int, int]]] = {}
        instructions = [i for name in order for i in function.blocks[name].instructions]
        self._copies: list[tuple[Address, Address, int]] = []
        for instruction in instructions:
            self._note(instruction)
        for cells in self.cells.values():
            self._join_arrays(cells)
        self._divide_arrays()
        self._share_cuts()
        for root, cells in self.cells.items():
            self._partition(root, cells)

    def address(self, operand: Operand) -> LocalAddress | None:
        """Returns the address of a pointer to local memory."""
        return address_of(operand, self.addresses, self.module)

    # ------------------------------------------------------------ what is accessed

    def _note(self, instruction: Instruction) -> None:
        opcode = instruction.opcode
        if is_idle(instruction):
            return
        if opcode == "asm":
            raise MemoryError_(instruction, *describe(instruction))
        if opcode == "load":
            self._note_access(instruction, instruction.operands[0], instruction.type)
        elif opcode == "store":
            if self.address(instruction.operands[0]) is not None:
                raise MemoryError_(instruction, "the address of a local variable is stored", _BY_VALUE)
            self._refuse_change(instruction, self.address(instruction.operands[1]))
            self._note_access(instruction, instruction.operands[1], instruction.operands[0].type)
        elif opcode == "call" and instruction.word.startswith(_COPIES + _FILLS):
            self._note_block(instruction)
        elif opcode not in ("getelementptr", "alloca", "freeze", "addrspacecast") and instruction not in self.choices:
            if opcode == "call" and instruction.word.startswith(_NO_ACCESS):
                return
            for operand in instruction.operands:
                if opcode == "call" and self.module.string(operand) is not None:
                    continue
                if self.address(operand) is not None and not (operand in self.choices and opcode in _ON_NUMBERS):
                    if opcode == "call" and not is_interface(instruction):
                        raise MemoryError_(instruction, *describe(instruction, self.module.function_names))
                    what = "chosen at run time" if opcode in ("phi", "select") else "passed on"
                    raise MemoryError_(instruction, f"the address of a local variable is {what}", _BY_VALUE)

    def _refuse_change(self, instruction: Instruction, address: LocalAddress | None) -> None:
        for place in alternatives(address) if address is not None else ():
            if isinstance(place.root, str) and not self.module.is_static_of_function(place.root):
                what = f"the global variable {plain_name(place.root)} is changed"
                if place.root.startswith("_ZGVZ"):
                    what = f"the initial value of the static variable {plain_name(place.root)} is not constant"
                raise MemoryError_(instruction, what, "use an argument or a local variable")

    def _cells_of(self, address: Address, instruction: Instruction) -> Cells:
        known = self.cells.get(address.root)
        if known is None:
            known = self.cells[address.root] = Cells(self._size(address.root, instruction))
        return known

    def _size(self, root: Root, instruction: Instruction) -> int:
        try:
            if isinstance(root, str):
                return self.module.types.size(self.module.globals[root].type)
            assert isinstance(root, Instruction)
            count = root.operands[0] if root.operands else Constant("i32", 1)
            number = count.value if isinstance(count, Constant) else None
            if not isinstance(number, int):
                raise MemoryError_(root, "the size of a local array is no constant", "give it a constant size")
            return number * self.module.types.size(root.word)
        except TypeReadError as error:
            raise MemoryError_(instruction, str(error)) from None

    def _note_access(self, instruction: Instruction, pointer: Operand, type: str) -> None:
        address = self.address(pointer)
        if address is None:
            return
        try:
            size = self.module.types.size(type)
        except TypeReadError as error:
            raise MemoryError_(instruction, str(error)) from None
        for place in alternatives(address):
            self._note_place(instruction, place, type, size)

    def _note_place(self, instruction: Instruction, address: Address, type: str, size: int) -> None:
        cells = self._cells_of(address, instruction)
        reach = self.reach(address, size)
        if reach.high - reach.low >= _MAX_CELLS * 16:
            raise MemoryError_(instruction, "a local array is larger than 65,536 elements", "keep it in a tile")
        if reach.high - reach.low >= CHOICES:
            self._note_array(cells, reach, type, size, instruction)
            return
        for offset in reach.offsets():
            cells.cuts.update((offset, offset + size))
            cells.types.setdefault((offset, size), type)

    def _note_array(self, cells: Cells, reach: Reach, type: str, size: int, instruction: Instruction) -> None:
        first = reach.base + reach.low * reach.stride
        known = cells.arrays.get((first, reach.stride))
        if known is None:
            count = reach.high - reach.low + 1
            cells.arrays[first, reach.stride] = LocalArray(first, reach.stride, count, type, instruction)
        elif known.type != type:
            known.type = self._shared(known.type, type, instruction)

    def _shared(self, one: str, other: str, instruction: Instruction) -> str:
        """Returns a type for elements of two types: the bits of both."""
        if {one, other} == {"ptr", "i64"}:
            return "ptr"
        size = self.module.types.size(one)
        if size != self.module.types.size(other):
            address = self.address(instruction.operands[-1])
            roots = () if address is None else (place.root for place in alternatives(address))
            if any(isinstance(root, Instruction) and _CONVOLUTION in root.word for root in roots):
                raise MemoryError_(instruction, "an array of ConvTile has no counterpart in .pto", _NO_CONVOLUTIONS)
            raise MemoryError_(instruction, "the elements of a local array are accessed with two sizes", _ONE_SIZE)
        return f"i{size * 8}"

    def reach(self, address: Address, size: int) -> Reach:
        """Returns what an access of ``size`` bytes may reach."""
        if not address.terms:
            return Reach(address.constant, max(size, 1), 0, 0)
        stride = 0
        for value, factor in address.terms:
            stride = gcd(stride, factor * self.multiple(value))
        begin, end = self._field(address) or (0, self.cells[address.root].size)
        stride = stride or max(size, 1)
        base = begin + (address.constant - begin) % stride
        shift = (address.constant - base) // stride
        count = max((end - size - base) // stride, 0)
        return Reach(address.constant, stride, -shift, count - shift)

    def _field(self, address: Address) -> tuple[int, int] | None:
        """Returns where the array of a structure that an index selects from begins and ends, where the fields of the
        structure are too different for one array of all of it."""
        root = address.root
        if not isinstance(root, Instruction) or root.operands:
            return None
        fields = self._fields.get(root)
        if fields is None:
            try:
                fields = array_fields(self.module.types, root.word)
            except TypeReadError:
                fields = []
            self._fields[root] = fields
        first = address.constant + sum(factor * first_number(value) for value, factor in address.terms)
        return next((one for one in fields if one[0] <= first < one[1]), None)

    def multiple(self, value: Value) -> int:
        """Returns a power of two that divides an index."""
        known = self._multiples.get(value)
        if known is None:
            known = self._multiples[value] = multiple_of(value)
        return known

    def _note_block(self, instruction: Instruction) -> None:
        is_copy = instruction.word.startswith(_COPIES)
        target = self.address(instruction.operands[0])
        source = self.address(instruction.operands[1]) if is_copy else None
        if target is None and source is None:
            return
        length = instruction.operands[2]
        number = length.value if isinstance(length, Constant) else None
        if not isinstance(number, int):
            raise MemoryError_(instruction, "the length of a copy of local memory is no constant")
        self._refuse_change(instruction, target)
        targets = alternatives(target) if target is not None else ()
        sources = alternatives(source) if source is not None else ()
        for address in (*targets, *sources):
            cells = self._cells_of(address, instruction)
            reach = self.reach(address, number)
            for offset in reach.offsets() if reach.high - reach.low < CHOICES else ():
                cells.cuts.update((offset, offset + number))
        self._copies += [(one, other, number) for one in targets for other in sources]

    def _join_arrays(self, cells: Cells) -> None:
        """Makes arrays that have bytes in common one array."""
        arrays: list[LocalArray] = []
        for array in cells.arrays.values():
            joined = array
            while (other := next((one for one in arrays if self._overlap(one, joined)), None)) is not None:
                arrays.remove(other)
                joined = self._joined(other, joined)
            arrays.append(joined)
        cells.arrays = {(array.first, array.stride): array for array in arrays}

    def _overlap(self, one: LocalArray, other: LocalArray) -> bool:
        """Returns whether elements of both may have bytes in common."""
        size, length = self.module.types.size(one.type), self.module.types.size(other.type)
        if one.first >= other.last + length or other.first >= one.last + size:
            return False
        distance = gcd(one.stride, other.stride)
        rest = (other.first - one.first) % distance
        return rest < size or distance - rest < length

    def _joined(self, one: LocalArray, other: LocalArray) -> LocalArray:
        type = one.type if one.type == other.type else self._shared(one.type, other.type, other.access)
        first = min(one.first, other.first)
        stride = gcd(gcd(one.stride, other.stride), one.first - other.first)
        if stride < self.module.types.size(type):
            what = "the elements of a local array are accessed at overlapping bytes"
            raise MemoryError_(other.access, what, _ONE_SIZE)
        return LocalArray(first, stride, (max(one.last, other.last) - first) // stride + 1, type, one.access)

    def _divide_arrays(self) -> None:
        """Makes cuts around the elements of arrays: no cell has bytes of an element, and copies have their sizes."""
        for cells in self.cells.values():
            for array in cells.arrays.values():
                size = self.module.types.size(array.type)
                for number in range(array.count):
                    offset = array.first + number * array.stride
                    cells.cuts.update((offset, offset + size))
                    cells.types.setdefault((offset, size), array.type)

    def _share_cuts(self) -> None:
        """Divides both sides of a copy in the same way."""
        for _ in range(4):
            before = sum(len(cells.cuts) for cells in self.cells.values())
            for target, source, number in self._copies:
                self._share(target, source, number)
                self._share(source, target, number)
            if before == sum(len(cells.cuts) for cells in self.cells.values()):
                return

    def _share(self, source: Address, target: Address, number: int) -> None:
        given, taken = self.cells[source.root], self.cells[target.root]
        for begin in self.reach(source, number).offsets()[:CHOICES]:
            cuts = [cut - begin for cut in given.cuts if begin <= cut <= begin + number]
            types = {(o - begin, s): t for (o, s), t in given.types.items() if begin <= o and o + s <= begin + number}
            for other in self.reach(target, number).offsets()[:CHOICES]:
                taken.cuts.update(other + cut for cut in cuts)
                for (offset, size), type in types.items():
                    taken.types.setdefault((other + offset, size), type)

    def _partition(self, root: Root, cells: Cells) -> None:
        cuts = sorted(cut for cut in cells.cuts if 0 <= cut <= cells.size)
        hint = plain_name(root) if isinstance(root, str) else root.name
        for begin, end in pairwise(cuts):
            if any(self._is_in(array, begin, end) for array in cells.arrays.values()):
                continue
            for start, size in _pieces(begin, end):
                type = cells.types.get((start, size), f"i{size * 8}")
                if type == "ptr" and isinstance(root, str):
                    # What a table has where a pointer may be is a number.
                    type = f"i{size * 8}"
                cells.variables[start] = size, Variable(hint, type)
                if len(cells.variables) > _MAX_CELLS:
                    return
        cells.offsets = sorted(cells.variables)

    def _is_in(self, array: LocalArray, begin: int, end: int) -> bool:
        size = self.module.types.size(array.type)
        number, rest = divmod(begin - array.first, array.stride)
        return 0 <= number < array.count and rest + end - begin <= size

    # ------------------------------------------------------------ what an access means

    def cover(self, root: Root, offset: int, size: int) -> list[tuple[int, int, Variable]] | None:
        """Returns offset, size and variable of the cells that make up a range, ``None`` if they do not."""
        cells = self.cells[root]
        found: list[tuple[int, int, Variable]] = []
        at = offset
        while at < offset + size:
            cell = cells.variables.get(at)
            if cell is None or at + cell[0] > offset + size:
                return None
            found.append((at, cell[0], cell[1]))
            at += cell[0]
        return found

    def array(self, address: Address, reach: Reach, size: int) -> tuple[LocalArray, int] | None:
        """Returns the array that an access reaches, and the number of its element for index 0."""
        for array in self.cells[address.root].arrays.values():
            number, rest = divmod(reach.base - array.first, array.stride)
            first = reach.base + reach.low * reach.stride - array.first
            is_inside = 0 <= first < array.count * array.stride
            same = not address.terms or reach.stride % array.stride == 0
            if rest == 0 and same and is_inside and self.module.types.size(array.type) == size:
                return array, number
        return None

    def elements(self, root: Root, offset: int, size: int) -> list[tuple[int, int]]:
        """Returns offset and size of the elements of arrays that make up a range, nothing if they do not."""
        found: list[tuple[int, int]] = []
        at = offset
        while at < offset + size:
            length = next((one for one in (1, 2, 4, 8) if self.array(Address(root, at), Reach(at, 1, 0, 0), one)), 0)
            if not length or at + length > offset + size:
                return []
            found.append((at, length))
            at += length
        return found

    def effects(self, instruction: Instruction) -> tuple[set[Variable], set[Variable], set[Variable]]:
        """Returns the variables that an instruction reads, may assign, surely assigns."""
        nothing: tuple[set[Variable], set[Variable], set[Variable]] = set(), set(), set()
        if instruction.opcode == "load":
            address = self.address(instruction.operands[0])
            if address is None:
                return nothing
            return set(self._reached(address, self.module.types.size(instruction.type))), set(), set()
        if instruction.opcode == "store":
            address = self.address(instruction.operands[1])
            if address is None:
                return nothing
            targets = set(self._reached(address, self.module.types.size(instruction.operands[0].type)))
            return (targets, targets, set()) if _is_open(address) else (set(), targets, targets)
        if instruction.opcode == "call" and instruction.word.startswith(_COPIES + _FILLS):
            return self._block_effects(instruction)
        return nothing

    def _block_effects(self, instruction: Instruction) -> tuple[set[Variable], set[Variable], set[Variable]]:
        length = instruction.operands[2]
        number = length.value if isinstance(length, Constant) and isinstance(length.value, int) else 0
        target = self.address(instruction.operands[0])
        source = self.address(instruction.operands[1]) if instruction.word.startswith(_COPIES) else None
        reads = set(self._reached(source, number)) if source is not None else set()
        targets = set(self._reached(target, number)) if target is not None else set()
        if target is not None and _is_open(target):
            return reads | targets, targets, set()
        return reads, targets, targets

    def _reached(self, address: LocalAddress, size: int) -> Iterator[Variable]:
        for place in alternatives(address):
            yield from self._reached_at(place, size)

    def _reached_at(self, address: Address, size: int) -> Iterator[Variable]:
        cells = self.cells[address.root]
        reach = self.reach(address, size)
        if reach.high - reach.low >= CHOICES:
            return
        for offset in reach.offsets():
            at = offset
            while at < offset + size:
                cell = cells.variables.get(at)
                if cell is None:
                    at += 1
                    continue
                yield cell[1]
                at += cell[0]


_ONE_SIZE = "use an array for each size"
_CONVOLUTION = "ConvTile"
_NO_CONVOLUTIONS = "the dialect has no tiles of convolutions: use Tile for the operands of a product"
_BY_VALUE = "use the variable itself instead of its address"


def _is_open(address: LocalAddress) -> bool:
    """Returns whether it depends on values which cells are meant."""
    return any(place.terms for place in alternatives(address)) or len(alternatives(address)) > 1


def _pieces(begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yields ranges of 8, 4, 2 or 1 bytes that make up a range."""
    at = begin
    if end - begin in (1, 2, 4, 8):
        yield begin, end - begin
        return
    while at < end:
        size = next(size for size in (8, 4, 2, 1) if at % size == 0 and at + size <= end)
        yield at, size
        at += size
