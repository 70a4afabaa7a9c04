"""Loads, stores and address computations: global memory as operations, local memory as variables and arrays."""

from __future__ import annotations

from ..llvm.model import Constant, Instruction
from ..llvm.model import Operand as IrOperand
from ..llvm.types import TypeReadError
from .addresses import Address, Choice, LocalAddress, split_indices
from .context import Context, Pointer
from .elements import scalar_type
from .flow.tree import Variable
from .interface import Operand
from .linear import width_of
from .memory import CHOICES, LocalArray, MemoryError_, Reach
from .ranges import range_of
from .scalars import as_number, binary, choose, compared, define, integer, is_equal
from .signals import send_signal
from .writer import hint_of

_BYTES = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "ptr": 8, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "i1": 1}
_ELEMENT_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}
_UNREADABLE = "the local memory is accessed in a way that cannot be translated"


def element_bytes(element: str) -> int:
    """Returns the size of an element of a pointer."""
    element = element.partition(",")[0]
    if element in _ELEMENT_BYTES:
        return _ELEMENT_BYTES[element]
    digits = "".join(letter for letter in element if letter.isdigit())
    return int(digits) // 8 if element.lstrip("usi") == digits and digits else 1


# -------------------------------------------------------------------- memory of pointers


def same_memory(element: str, pointer: str) -> str:
    """Returns an element type for a pointer into the memory of another one: ``i8, ub`` for ``f32, ub``."""
    _, comma, space = pointer.partition(",")
    return f"{element}{comma}{space}"


def translate_address(instruction: Instruction, ctx: Context) -> Operand | None:
    """Returns the pointer of an address computation; nothing for local memory, whose addresses are not values."""
    if ctx.memory.address(instruction) is not None:
        return None
    base = ctx.operand(instruction.operands[0])
    pointer = base.origin
    if not isinstance(pointer, Pointer):
        ctx.fail("an address is computed from a null pointer or a text")
    try:
        constant, terms = split_indices(ctx.module, instruction)
    except TypeReadError as error:
        ctx.fail(f"the address computation cannot be translated: {error}")
    size = element_bytes(pointer.element)
    if constant % size or any(stride * ctx.memory.multiple(value) % size for value, stride in terms):
        return _bytewise(instruction, pointer, constant, ctx)
    index = pointer.index
    for value, stride in terms:
        index = _plus(index, _elements(ctx.index(ctx.operand(value)), stride, size, ctx), ctx)
    if constant:
        index = _plus(index, ctx.constant(constant // size, "index"), ctx)
    return ctx.new_pointer(pointer.base, pointer.element, index)


def _elements(index: str, stride: int, size: int, ctx: Context) -> str:
    """Returns the number of elements of ``size`` bytes in ``index`` times ``stride`` bytes, which is whole."""
    if stride % size == 0:
        return _times(index, stride // size, ctx)
    number = _times(index, stride, ctx)
    return ctx.writer.define(f"arith.divsi {number}, {ctx.constant(size, 'index')} : index", "index", True)


def _plus(left: str | None, right: str, ctx: Context) -> str:
    return right if left is None else ctx.writer.define(f"arith.addi {left}, {right} : index", "index", True)


def _times(index: str, factor: int, ctx: Context) -> str:
    if factor == 1:
        return index
    return ctx.writer.define(f"arith.muli {index}, {ctx.constant(factor, 'index')} : index", "index", True)


def _bytewise(instruction: Instruction, pointer: Pointer, constant: int, ctx: Context) -> Operand:
    """Returns the pointer of a computation that does not move by whole elements."""
    element = pointer.element
    index = ctx.constant(constant, "index")
    for value, stride in split_indices(ctx.module, instruction)[1]:
        index = _plus(index, _times(ctx.index(ctx.operand(value)), stride, ctx), ctx)
    byte = same_memory("i8", element)
    base = ctx.pointer_name(Operand("ptr", origin=pointer), byte)
    types = f"!pto.ptr<{byte}> -> !pto.ptr<{byte}>"
    moved = ctx.writer.define(f"pto.addptr {base}, {index} : {types}", instruction.name, True)
    cast = f"pto.castptr {moved} : !pto.ptr<{byte}> -> !pto.ptr<{element}>"
    return ctx.new_pointer(ctx.writer.define(cast, instruction.name, True), element)


def _place(operand: Operand, element: str, ctx: Context) -> tuple[str, str, str]:
    """Returns base and index of an access to an element, and the type of the base."""
    pointer = operand.origin
    zero = ctx.constant(0, "index")
    if not isinstance(pointer, Pointer):
        ctx.fail("a null pointer is accessed")
    element = same_memory(element, pointer.element)
    if pointer.element == element:
        return pointer.base, pointer.index or zero, f"!pto.ptr<{element}>"
    return ctx.pointer_name(operand, element), zero, f"!pto.ptr<{element}>"


def _load_global(instruction: Instruction, ctx: Context) -> Operand:
    element = scalar_type(instruction.type)
    if instruction.type not in _BYTES or instruction.type == "i1":
        ctx.fail(f"a load of type {instruction.type} from global memory cannot be translated")
    base, index, type = _place(ctx.operand(instruction.operands[0]), element, ctx)
    body = f"pto.load_scalar {base}[{index}] : {type} -> {element}"
    name = ctx.writer.define(body, instruction.name)
    if instruction.type != "ptr":
        return Operand(instruction.type, name=name)
    pointee = ctx.elements.of(instruction)
    cast = f"pto.castptr {name} : i64 -> !pto.ptr<{pointee}>"
    return ctx.new_pointer(ctx.writer.define(cast, instruction.name, True), pointee)


def _store_global(instruction: Instruction, ctx: Context) -> None:
    value = as_number(ctx, ctx.operand(instruction.operands[0]))
    if value.type not in _BYTES or value.type == "i1":
        ctx.fail(f"a store of type {value.type} to global memory cannot be translated")
    if instruction.operands[1] in ctx.signal_bases:
        send_signal(value, ctx)
        return
    element = scalar_type(value.type)
    base, index, type = _place(ctx.operand(instruction.operands[1]), element, ctx)
    ctx.writer.emit(f"pto.store_scalar {ctx.name(value)}, {base}[{index}] : {type}, {element}")


# -------------------------------------------------------------------- local memory


def translate_load(instruction: Instruction, ctx: Context) -> Operand:
    """Returns the value of a load."""
    address = ctx.memory.address(instruction.operands[0])
    if address is None:
        return _load_global(instruction, ctx)
    return load_local(address, instruction.type, instruction, ctx)


def translate_store(instruction: Instruction, ctx: Context) -> None:
    """Stores a value."""
    address = ctx.memory.address(instruction.operands[1])
    if address is None:
        _store_global(instruction, ctx)
    else:
        store_local(address, ctx.operand(instruction.operands[0]), instruction, ctx)


def load_local(address: LocalAddress, type: str, instruction: Instruction, ctx: Context) -> Operand:
    """Returns a value of local memory; one of several where an index or a choice selects one."""
    if not isinstance(address, Choice):
        return _load_at(address, type, instruction, ctx)
    selector = ctx.operand(address.selector)
    chosen = _load_at(address.candidates[-1], type, instruction, ctx)
    for number, candidate in reversed(list(enumerate(address.candidates[:-1]))):
        loaded = _load_at(candidate, type, instruction, ctx)
        wanted = compared(ctx, "eq", selector, Operand("i32", number), "is_at")
        chosen = _one_of(wanted, loaded, chosen, instruction, ctx)
    return chosen


def _one_of(condition: Operand, then: Operand, otherwise: Operand, instruction: Instruction, ctx: Context) -> Operand:
    if then.type == "ptr":
        return _choose_pointer(condition, then, otherwise, instruction, ctx)
    return choose(ctx, condition, then, otherwise, instruction.name)


def _load_at(address: Address, type: str, instruction: Instruction, ctx: Context) -> Operand:
    size = ctx.module.types.size(type)
    reach = ctx.memory.reach(address, size)
    array = ctx.memory.array(address, reach, size)
    if array is not None:
        return _load_element(array[0], array[1], address, reach, type, instruction, ctx)
    if reach.high - reach.low >= CHOICES:
        raise MemoryError_(instruction, _UNREADABLE)
    found = [_read(address, offset, size, type, instruction, ctx) for offset in reach.offsets()]
    if len(found) == 1:
        return found[0]
    return _choice(found, address, reach, instruction, ctx)


def _choice(found: list[Operand], address: Address, reach: Reach, instruction: Instruction, ctx: Context) -> Operand:
    chosen = found[-1]
    if all(is_equal(operand, chosen) for operand in found):
        return chosen
    index, factor = _linear_index(address, reach, ctx)
    _check_index(index, factor, address, reach, ctx)
    for number, operand in reversed(list(enumerate(found[:-1]))):
        equal = compared(ctx, "eq", index, Operand(index.type, (reach.low + number) * factor), "is_at")
        chosen = _one_of(equal, operand, chosen, instruction, ctx)
    return chosen


def _choose_pointer(
    condition: Operand, then: Operand, otherwise: Operand, instruction: Instruction, ctx: Context
) -> Operand:
    if condition.value is not None:
        return then if condition.value else otherwise
    element = ctx.elements.of(instruction)
    names = [ctx.name(condition), ctx.pointer_name(then, element), ctx.pointer_name(otherwise, element)]
    body = f"arith.select {', '.join(names)} : !pto.ptr<{element}>"
    return ctx.new_pointer(ctx.writer.define(body, "p", True), element)


def _linear_index(address: Address, reach: Reach, ctx: Context) -> tuple[Operand, int]:
    """Returns the index that numbers the addresses that may be meant, times a factor, and that factor."""
    is_whole = all(stride % reach.stride == 0 for _, stride in address.terms)
    unit = reach.stride if is_whole else 1
    total: Operand | None = None
    for value, stride in address.terms:
        operand = ctx.operand(value)
        if operand.type != "i64" and len(address.terms) > 1:
            body = f"arith.extsi {ctx.name(operand)} : {operand.type} to i64"
            operand = define(ctx, "i64", body) if operand.name else Operand("i64", operand.value)
        scaled = binary(ctx, "mul", operand, Operand(operand.type, stride // unit))
        total = scaled if total is None else binary(ctx, "add", total, scaled)
    return (total if total is not None else Operand("i64", 0)), reach.stride // unit


def _check_index(index: Operand, factor: int, address: Address, reach: Reach, ctx: Context) -> None:
    """Emits the assertion that an index selects an element, unless it surely does."""
    low, high = reach.low * factor, reach.high * factor
    key = address.terms, low, high
    if ctx.writer.is_open(ctx.checked.get(key, -1)) or _is_within(address, reach.stride // factor, low, high, ctx):
        return
    distance = binary(ctx, "sub", index, Operand(index.type, low))
    holds = compared(ctx, "ult", distance, Operand(index.type, high - low + 1), "is_inside")
    if holds.value is None or not holds.value:
        root = address.root.removeprefix("__const.") if isinstance(address.root, str) else address.root.name
        name = hint_of(root.partition(".")[2] if isinstance(address.root, str) and root != address.root else root)
        ctx.writer.emit(f'cf.assert {ctx.name(holds)}, "the index is outside of the array {name}"')
        ctx.checked[key] = ctx.writer.scopes[-1]


def _is_within(address: Address, unit: int, low: int, high: int, ctx: Context) -> bool:
    least = most = 0
    for value, stride in address.terms:
        found = range_of(value, ctx.ranges)
        if found is None:
            return False
        ends = [end * (stride // unit) for end in found]
        least, most = least + min(ends), most + max(ends)
    return low <= least and most <= high


def _read(address: Address, offset: int, size: int, type: str, instruction: Instruction, ctx: Context) -> Operand:
    """Returns the bytes of a range as a value, put together from the cells where there are several."""
    cells = ctx.memory.cover(address.root, offset, size)
    if not cells and (elements := ctx.memory.elements(address.root, offset, size)):
        parts = [
            (place, _load_at(Address(address.root, place), f"i{length * 8}", instruction, ctx))
            for place, length in elements
        ]
        return reinterpret(_joined(parts, offset, size, ctx), type, ctx)
    if not cells:
        return _part_of_cell(address, offset, size, type, instruction, ctx)
    if len(cells) == 1:
        return reinterpret(_content(cells[0][2], ctx), type, ctx)
    parts = [(place, as_bits(_content(variable, ctx), ctx)) for place, _, variable in cells]
    return reinterpret(_joined(parts, offset, size, ctx), type, ctx)


def _joined(parts: list[tuple[int, Operand]], offset: int, size: int, ctx: Context) -> Operand:
    """Returns the integer of ``size`` bytes from ``offset`` on that consists of others, each with its own offset."""
    total = Operand(f"i{size * 8}", 0)
    for place, part in parts:
        wide = _widened(part, total.type, ctx)
        total = binary(ctx, "or", total, binary(ctx, "shl", wide, Operand(total.type, 8 * (place - offset))))
    return total


def _part_of_cell(
    address: Address, offset: int, size: int, type: str, instruction: Instruction, ctx: Context
) -> Operand:
    for begin, (length, variable) in ctx.memory.cells[address.root].variables.items():
        if begin <= offset and offset + size <= begin + length:
            bits = as_bits(_content(variable, ctx), ctx)
            shifted = binary(ctx, "lshr", bits, Operand(bits.type, 8 * (offset - begin)))
            return reinterpret(_narrowed(shifted, f"i{size * 8}", ctx), type, ctx)
    raise MemoryError_(instruction, _UNREADABLE)


def _content(variable: Variable, ctx: Context) -> Operand:
    return ctx.variables.get(variable, Operand(variable.type, 0))


def as_bits(operand: Operand, ctx: Context) -> Operand:
    """Returns a value as the integer of its bytes."""
    operand = as_number(ctx, operand)
    if width_of(operand.type) is not None:
        return operand
    type = f"i{_BYTES[operand.type] * 8}"
    return define(ctx, type, f"arith.bitcast {ctx.name(operand)} : {ctx.type(operand.type)} to {type}")


def _widened(operand: Operand, type: str, ctx: Context) -> Operand:
    if operand.type == type:
        return operand
    number, width = integer(operand), width_of(operand.type) or 64
    if number is not None:
        return Operand(type, number & ((1 << width) - 1))
    return define(ctx, type, f"arith.extui {ctx.name(operand)} : {operand.type} to {type}")


def _narrowed(operand: Operand, type: str, ctx: Context) -> Operand:
    if operand.type == type:
        return operand
    number, width = integer(operand), width_of(type) or 64
    if number is not None:
        low = number & ((1 << width) - 1)
        return Operand(type, low - (1 << width) if low >> (width - 1) else low)
    return define(ctx, type, f"arith.trunci {ctx.name(operand)} : {operand.type} to {type}")


def reinterpret(operand: Operand, type: str, ctx: Context) -> Operand:
    """Returns a value as another type of the same size."""
    if operand.type == type:
        return operand
    bits = as_bits(operand, ctx)
    if type == "ptr":
        if bits.value == 0:
            return Operand("ptr", 0)
        return ctx.new_pointer(
            ctx.writer.define(f"pto.castptr {ctx.name(bits)} : i64 -> !pto.ptr<i8>", "p", True), "i8"
        )
    width = width_of(type)
    if width is not None:
        return _narrowed(bits, type, ctx) if width < (width_of(bits.type) or 0) else _widened(bits, type, ctx)
    return define(ctx, type, f"arith.bitcast {ctx.name(bits)} : {bits.type} to {ctx.type(type)}")


def store_local(address: LocalAddress, value: Operand, instruction: Instruction, ctx: Context) -> None:
    """Stores a value in local memory; where values select a candidate, each one is kept or replaced."""
    if not isinstance(address, Choice):
        _store_at(address, value, None, instruction, ctx)
        return
    selector = ctx.operand(address.selector)
    for number, candidate in enumerate(address.candidates):
        wanted = compared(ctx, "eq", selector, Operand("i32", number), "is_at")
        _store_at(candidate, value, wanted, instruction, ctx)


def _store_at(address: Address, value: Operand, chosen: Operand | None, instruction: Instruction, ctx: Context) -> None:
    size = ctx.module.types.size(value.type)
    reach = ctx.memory.reach(address, size)
    array = ctx.memory.array(address, reach, size)
    if array is not None and chosen is None:
        _store_element(array[0], array[1], address, reach, value, ctx)
        return
    if array is not None or reach.high - reach.low >= CHOICES:
        raise MemoryError_(instruction, _UNREADABLE)
    index, factor = _linear_index(address, reach, ctx) if address.terms else (None, 1)
    if index is not None and chosen is None:
        _check_index(index, factor, address, reach, ctx)
    for number, offset in enumerate(reach.offsets()):
        wanted = chosen
        if index is not None:
            wanted = compared(ctx, "eq", index, Operand(index.type, (reach.low + number) * factor), "is_at")
            wanted = wanted if chosen is None else binary(ctx, "and", wanted, chosen)
        _write(address, offset, size, value, wanted, instruction, ctx)


def _write(
    address: Address,
    offset: int,
    size: int,
    value: Operand,
    wanted: Operand | None,
    instruction: Instruction,
    ctx: Context,
) -> None:
    if wanted is not None and not 0 <= offset <= ctx.memory.cells[address.root].size - size:
        return
    cells = ctx.memory.cover(address.root, offset, size)
    if cells is None:
        elements = ctx.memory.elements(address.root, offset, size)
        if wanted is not None or not elements:
            raise MemoryError_(instruction, _UNREADABLE)
        for place, length in elements:
            _store_at(Address(address.root, place), _part(value, place - offset, length, ctx), None, instruction, ctx)
        return
    for place, length, variable in cells:
        part = _part(value, place - offset, length, ctx) if len(cells) > 1 else value
        part = reinterpret(part, variable.type, ctx)
        if wanted is not None:
            part = _one_of(wanted, part, _content(variable, ctx), instruction, ctx)
        ctx.variables[variable] = part


def _part(value: Operand, begin: int, length: int, ctx: Context) -> Operand:
    """Returns ``length`` bytes of a value as an integer."""
    bits = as_bits(value, ctx)
    shifted = binary(ctx, "lshr", bits, Operand(bits.type, 8 * begin))
    return _narrowed(shifted, f"i{length * 8}", ctx)


# -------------------------------------------------------------------- arrays


def _element_index(number: int, array: LocalArray, address: Address, reach: Reach, ctx: Context) -> str:
    index, factor = _linear_index(address, reach, ctx)
    if factor > 1:
        index = binary(ctx, "sdiv", index, Operand(index.type, factor))
    if address.terms:
        index = binary(ctx, "mul", index, Operand(index.type, reach.stride // array.stride))
    return ctx.index(binary(ctx, "add", index, Operand(index.type, number)))


def _load_element(
    array: LocalArray, number: int, address: Address, reach: Reach, type: str, instruction: Instruction, ctx: Context
) -> Operand:
    element = scalar_type(array.type)
    index = _element_index(number, array, address, reach, ctx)
    body = f"pto.local_array_get {array.name}[{index}] : !pto.local_array<{array.count}x{element}> -> {element}"
    name = ctx.writer.define(body, instruction.name)
    if array.type == "ptr" and type == "ptr":
        cast = f"pto.castptr {name} : i64 -> !pto.ptr<{ctx.elements.of(instruction)}>"
        pointer = ctx.writer.define(cast, instruction.name, True)
        return ctx.new_pointer(pointer, ctx.elements.of(instruction))
    own = "i64" if array.type == "ptr" else array.type
    return reinterpret(Operand(own, name=name), type, ctx)


def _store_element(
    array: LocalArray, number: int, address: Address, reach: Reach, value: Operand, ctx: Context
) -> None:
    index = _element_index(number, array, address, reach, ctx)
    set_element(array, index, value, ctx)


def set_element(array: LocalArray, index: str, value: Operand, ctx: Context) -> None:
    """Sets one element of a local array."""
    element = scalar_type(array.type)
    # The elements of an array of pointers are their bits, and may be other numbers in the same struct.
    is_bits = array.type == "ptr" and value.type == "i64"
    stored = ctx.name(as_number(ctx, value if is_bits else reinterpret(value, array.type, ctx)))
    ctx.writer.emit(
        f"pto.local_array_set {array.name}[{index}], {stored} : !pto.local_array<{array.count}x{element}>, {element}"
    )


def constant_length(operand: IrOperand) -> int:
    """Returns the constant length of a copy."""
    return operand.value if isinstance(operand, Constant) and isinstance(operand.value, int) else 0
