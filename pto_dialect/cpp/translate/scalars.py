"""Instructions on numbers as operations of ``arith`` and ``math``."""

from __future__ import annotations

from collections.abc import Callable

from ..llvm.model import Instruction
from .calls import is_clock
from .context import Context
from .folding import compare, fold, neutral, signed, unsigned
from .interface import Operand
from .linear import width_of

_BINARY = {
    "add": "addi", "sub": "subi", "mul": "muli", "udiv": "divui", "sdiv": "divsi", "urem": "remui", "srem": "remsi",
    "shl": "shli", "lshr": "shrui", "ashr": "shrsi", "and": "andi", "or": "ori", "xor": "xori",
    "fadd": "addf", "fsub": "subf", "fmul": "mulf", "fdiv": "divf", "frem": "remf",
}  # fmt: skip
_CASTS = {
    "sitofp": "sitofp", "uitofp": "uitofp", "fptosi": "fptosi", "fptoui": "fptoui",
    "fpext": "extf", "fptrunc": "truncf", "bitcast": "bitcast",
}  # fmt: skip
_TWO = {
    "smax": "arith.maxsi", "smin": "arith.minsi", "umax": "arith.maxui", "umin": "arith.minui",
    "maxnum": "arith.maxnumf", "minnum": "arith.minnumf", "maximum": "arith.maximumf", "minimum": "arith.minimumf",
    "pow": "math.powf", "copysign": "math.copysign", "atan2": "math.atan2",
}  # fmt: skip
_ONE = {
    "ctpop": "math.ctpop", "fabs": "math.absf", "sqrt": "math.sqrt", "exp": "math.exp", "exp2": "math.exp2",
    "log": "math.log", "log2": "math.log2", "log10": "math.log10", "sin": "math.sin", "cos": "math.cos",
    "floor": "math.floor", "ceil": "math.ceil", "trunc": "math.trunc", "round": "math.round",
    "roundeven": "math.roundeven", "rint": "math.roundeven", "nearbyint": "math.roundeven",
    "cttz": "math.cttz", "ctlz": "math.ctlz", "abs": "math.absi",
    "tan": "math.tan", "asin": "math.asin", "acos": "math.acos", "atan": "math.atan",
    "sinh": "math.sinh", "cosh": "math.cosh", "tanh": "math.tanh",
}  # fmt: skip
_LIBRARY = frozenset((
    "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "cbrt", "expm1",
    "log1p",
))  # fmt: skip
"""Functions of the mathematical library that are called by their names where the compiler has no intrinsic for them."""
_ROUNDED = {
    "lround": "math.round", "llround": "math.round", "lrint": "math.roundeven", "llrint": "math.roundeven",
}  # fmt: skip
"""Functions whose result is an integer."""
_PASSED = ("expect", "ssa.copy", "launder.invariant.group")


def translate_scalar(instruction: Instruction, ctx: Context) -> Operand | None:
    """Returns the result of an instruction on numbers, ``None`` if it is another instruction."""
    translate = _TRANSLATIONS.get(instruction.opcode)
    return translate(instruction, ctx) if translate is not None else None


def define(ctx: Context, type: str, body: str, hint: str = "v") -> Operand:
    """Emits an operation without side effects and returns its result, whose LLVM type is ``type``."""
    return Operand(type, name=ctx.writer.define(body, hint, True))


def integer(operand: Operand) -> int | None:
    """Returns the number of an integer constant."""
    return operand.value if isinstance(operand.value, int) else None


def binary(ctx: Context, opcode: str, left: Operand, right: Operand, hint: str = "v") -> Operand:
    """Returns the result of an operation on two numbers of the same type."""
    type, width = left.type, width_of(left.type)
    a, b = integer(left), integer(right)
    if width is not None:
        folded = fold(opcode, a, b, width) if a is not None and b is not None else None
        if folded is not None:
            return Operand(type, folded)
        kept = neutral(opcode, a, b)
        if kept is not None:
            return (left, right)[kept]
    body = f"arith.{_BINARY[opcode]} {ctx.name(left)}, {ctx.name(right)} : {ctx.type(type)}"
    return define(ctx, type, body, hint)


def choose(ctx: Context, condition: Operand, then: Operand, otherwise: Operand, hint: str = "v") -> Operand:
    """Returns one of two numbers."""
    if condition.value is not None:
        return then if condition.value else otherwise
    if is_equal(then, otherwise):
        return then
    if then.type == "i1" and then.value is not None and otherwise.value is not None:
        return condition if then.value else binary(ctx, "xor", condition, Operand("i1", 1), hint)
    if ctx.choose_tile is not None and _is_unplaced(then) and _is_unplaced(otherwise):
        return ctx.choose_tile(condition, then, otherwise)
    body = f"arith.select {ctx.name(condition)}, {ctx.name(then)}, {ctx.name(otherwise)} : {ctx.type(then.type)}"
    return define(ctx, then.type, body, hint)


def _is_unplaced(operand: Operand) -> bool:
    """Returns whether an operand is the address of a tile that is no number."""
    return operand.assigned is not None and operand.name is None and operand.value is None


def is_equal(a: Operand, b: Operand) -> bool:
    """Returns whether two operands are the same constant or value."""
    if a.name is not None or b.name is not None:
        return a.name == b.name
    if a.origin is not None or b.origin is not None:
        return a.origin is b.origin
    return a.value == b.value and a.assigned is b.assigned and repr(a.value) == repr(b.value)


def is_one_of(ctx: Context, subject: Operand, numbers: tuple[int, ...]) -> Operand:
    """Returns whether an integer is one of some numbers."""
    found = Operand("i1", 0)
    for number in numbers:
        equal = compared(ctx, "eq", subject, Operand(subject.type, number))
        found = equal if found.value == 0 else binary(ctx, "or", found, equal, "is_case")
    return found


def compared(ctx: Context, predicate: str, left: Operand, right: Operand, hint: str = "v") -> Operand:
    """Returns the result of a comparison of integers."""
    a, b, width = integer(left), integer(right), width_of(left.type)
    if a is not None and b is not None and width is not None:
        return Operand("i1", int(compare(predicate, a, b, width)))
    body = f"arith.cmpi {predicate}, {ctx.name(left)}, {ctx.name(right)} : {ctx.type(left.type)}"
    return define(ctx, "i1", body, hint)


def as_number(ctx: Context, operand: Operand) -> Operand:
    """Returns a pointer as its address, other operands as they are."""
    if operand.type != "ptr":
        return operand
    if operand.origin is None and operand.value == 0:
        return Operand("i64", 0)
    element = getattr(operand.origin, "element", "i8")
    name = ctx.pointer_name(operand, element)
    return define(ctx, "i64", f"pto.ptrtoint {name} : !pto.ptr<{element}> -> i64", "address")


# -------------------------------------------------------------------- instructions


def _binary(instruction: Instruction, ctx: Context) -> Operand:
    left, right = (ctx.operand(operand) for operand in instruction.operands)
    return binary(ctx, instruction.opcode, left, right, instruction.name)


def _compare(instruction: Instruction, ctx: Context) -> Operand:
    left, right = (as_number(ctx, ctx.operand(operand)) for operand in instruction.operands)
    return compared(ctx, instruction.word, left, right, instruction.name)


def _compare_floats(instruction: Instruction, ctx: Context) -> Operand:
    left, right = (ctx.operand(operand) for operand in instruction.operands)
    body = f"arith.cmpf {instruction.word}, {ctx.name(left)}, {ctx.name(right)} : {ctx.type(left.type)}"
    return define(ctx, "i1", body, instruction.name)


def _select(instruction: Instruction, ctx: Context) -> Operand:
    condition, then, otherwise = (ctx.operand(operand) for operand in instruction.operands)
    if instruction.type != "ptr":
        return choose(ctx, condition, then, otherwise, instruction.name)
    if condition.value is not None:
        return then if condition.value else otherwise
    element = ctx.elements.of(instruction)
    names = [ctx.name(condition), ctx.pointer_name(then, element), ctx.pointer_name(otherwise, element)]
    body = f"arith.select {', '.join(names)} : !pto.ptr<{element}>"
    return ctx.new_pointer(ctx.writer.define(body, instruction.name, True), element)


def _extend(instruction: Instruction, ctx: Context) -> Operand:
    operand = ctx.operand(instruction.operands[0])
    width = width_of(operand.type)
    if isinstance(operand.value, int) and width is not None:
        is_negative = instruction.opcode == "sext"
        value = (-operand.value if width == 1 else operand.value) if is_negative else unsigned(operand.value, width)
        return Operand(instruction.type, value)
    word = "extsi" if instruction.opcode == "sext" or "nneg" in instruction.flags else "extui"
    return _resized(ctx, word, operand, instruction)


def _truncate(instruction: Instruction, ctx: Context) -> Operand:
    operand = ctx.operand(instruction.operands[0])
    width = width_of(instruction.type)
    if isinstance(operand.value, int) and width is not None:
        return Operand(instruction.type, signed(operand.value, width))
    return _resized(ctx, "trunci", operand, instruction)


def _resized(ctx: Context, word: str, operand: Operand, instruction: Instruction) -> Operand:
    """Returns an integer of another width; where it is the same number, it has the same index."""
    name = ctx.name(operand)
    result = define(
        ctx,
        instruction.type,
        f"arith.{word} {name} : {ctx.type(operand.type)} to {ctx.type(instruction.type)}",
        name[1:],
    )
    keeps = word == "extsi" or (word == "trunci" and "nsw" in instruction.flags)
    if keeps and name in ctx.indices and result.name is not None and operand.type != "i1":
        ctx.indices[result.name] = ctx.indices[name]
    return result


def _cast(instruction: Instruction, ctx: Context) -> Operand:
    operand = ctx.operand(instruction.operands[0])
    if operand.type == instruction.type:
        return operand
    source, target = ctx.type(operand.type), ctx.type(instruction.type)
    body = f"arith.{_CASTS[instruction.opcode]} {ctx.name(operand)} : {source} to {target}"
    return define(ctx, instruction.type, body, instruction.name)


def _negate(instruction: Instruction, ctx: Context) -> Operand:
    operand = ctx.operand(instruction.operands[0])
    return define(ctx, operand.type, f"arith.negf {ctx.name(operand)} : {ctx.type(operand.type)}", instruction.name)


def _same(instruction: Instruction, ctx: Context) -> Operand:
    return ctx.operand(instruction.operands[0])


def _to_integer(instruction: Instruction, ctx: Context) -> Operand:
    number = as_number(ctx, ctx.operand(instruction.operands[0]))
    if instruction.type == "i64":
        return number
    return define(ctx, instruction.type, f"arith.trunci {ctx.name(number)} : i64 to {ctx.type(instruction.type)}")


def _to_pointer(instruction: Instruction, ctx: Context) -> Operand:
    number = ctx.operand(instruction.operands[0])
    element = ctx.elements.of(instruction)
    if number.value == 0 and "," not in element:
        return Operand("ptr", 0)
    name = ctx.name(number)
    if number.type != "i64":
        name = ctx.writer.define(f"arith.extui {name} : {ctx.type(number.type)} to i64", "address", True)
    body = f"pto.castptr {name} : i64 -> !pto.ptr<{element}>"
    return ctx.new_pointer(ctx.writer.define(body, instruction.name, True), element)


# -------------------------------------------------------------------- intrinsics


def _intrinsic(instruction: Instruction, ctx: Context) -> Operand | None:
    """Returns the result of a call of an intrinsic on numbers."""
    if not instruction.word.startswith("llvm."):
        return _of_library(instruction, ctx)
    word = instruction.word[5:].rpartition(".")[0]
    to_integer = _ROUNDED.get(word.partition(".")[0])
    if to_integer is not None:
        number = ctx.operand(instruction.operands[0])
        rounded = define(ctx, number.type, f"{to_integer} {ctx.name(number)} : {ctx.type(number.type)}")
        body = f"arith.fptosi {ctx.name(rounded)} : {ctx.type(number.type)} to {ctx.type(instruction.type)}"
        return define(ctx, instruction.type, body, instruction.name)
    if word in _PASSED:
        return ctx.operand(instruction.operands[0])
    if word == "is.constant":
        return Operand("i1", 0)
    operands = [ctx.operand(operand) for operand in instruction.operands]
    return _numbers(word, operands, instruction, ctx)


def _of_library(instruction: Instruction, ctx: Context) -> Operand | None:
    """Returns the result of a function of the mathematical library, unless the kernel has one of its name."""
    name = instruction.word
    word = name if name in _LIBRARY else name.removesuffix("f")
    if word not in _LIBRARY or name in ctx.module.function_names:
        return None
    if instruction.type != ("double" if word == name else "float"):
        return None
    operands = ", ".join(ctx.name(ctx.operand(operand)) for operand in instruction.operands)
    return define(ctx, instruction.type, f"math.{word} {operands} : {ctx.type(instruction.type)}", instruction.name)


def _numbers(word: str, operands: list[Operand], instruction: Instruction, ctx: Context) -> Operand | None:
    if word in _TWO:
        body = f"{_TWO[word]} {ctx.name(operands[0])}, {ctx.name(operands[1])} : {ctx.type(instruction.type)}"
        return define(ctx, instruction.type, body, instruction.name)
    if word in _ONE:
        body = f"{_ONE[word]} {ctx.name(operands[0])} : {ctx.type(instruction.type)}"
        return define(ctx, instruction.type, body, instruction.name)
    if word == "exp10":
        body = f"math.powf {ctx.name(Operand(instruction.type, 10.0))}, {ctx.name(operands[0])}"
        return define(ctx, instruction.type, f"{body} : {ctx.type(instruction.type)}", instruction.name)
    if word in ("fmuladd", "fma"):
        return _multiply_add(word, operands, instruction, ctx)
    if word in ("fshl", "fshr"):
        return _funnel_shift(word, operands, ctx)
    if word in ("uadd.sat", "usub.sat"):
        return _saturating(word, operands, ctx)
    if word in ("sadd.sat", "ssub.sat"):
        return _saturating_signed(word, operands, ctx)
    if word == "bswap":
        return _swap_bytes(operands[0], ctx)
    if word == "bitreverse":
        return _reverse_bits(operands[0], ctx)
    return None


def _multiply_add(word: str, operands: list[Operand], instruction: Instruction, ctx: Context) -> Operand:
    if word == "fmuladd":
        return binary(ctx, "fadd", binary(ctx, "fmul", operands[0], operands[1]), operands[2], instruction.name)
    names = ", ".join(ctx.name(operand) for operand in operands)
    return define(ctx, instruction.type, f"math.fma {names} : {ctx.type(instruction.type)}", instruction.name)


def _funnel_shift(word: str, operands: list[Operand], ctx: Context) -> Operand:
    high, low, amount = operands
    width = width_of(high.type) or 0
    number = integer(amount)
    if number is None:
        return _shift_by_value(word, operands, width, ctx)
    number %= width
    left = number if word == "fshl" else width - number
    if left in (0, width):
        return high if left == 0 else low
    upper = binary(ctx, "shl", high, Operand(high.type, left))
    lower = binary(ctx, "lshr", low, Operand(high.type, width - left))
    return binary(ctx, "or", upper, lower)


def _shift_by_value(word: str, operands: list[Operand], width: int, ctx: Context) -> Operand:
    """Returns a funnel shift by a number that a run computes. The other half is shifted in two steps, since no single
    shift may be by the width."""
    high, low, amount = operands
    type = high.type
    count = binary(ctx, "urem", amount, Operand(type, width))
    rest = binary(ctx, "sub", Operand(type, width - 1), count)
    one, (kept, other), (towards, back) = Operand(type, 1), (high, low), ("shl", "lshr")
    if word == "fshr":
        (kept, other), (towards, back) = (low, high), ("lshr", "shl")
    moved = binary(ctx, back, binary(ctx, back, other, one), rest)
    return binary(ctx, "or", binary(ctx, towards, kept, count), moved)


def _saturating(word: str, operands: list[Operand], ctx: Context) -> Operand:
    left, right = operands
    if word == "usub.sat":
        less = compared(ctx, "ult", left, right)
        return choose(ctx, less, Operand(left.type, 0), binary(ctx, "sub", left, right))
    total = binary(ctx, "add", left, right)
    return choose(ctx, compared(ctx, "ult", total, left), Operand(left.type, -1), total)


def _saturating_signed(word: str, operands: list[Operand], ctx: Context) -> Operand:
    """Returns a sum or difference that stops at the end of the range. It has left the range if its sign differs from
    that of the first number and, of a sum, from that of the second one, whose sign a difference has reversed."""
    left, right = operands
    type, width = left.type, width_of(left.type) or 1
    total = binary(ctx, "add" if word == "sadd.sat" else "sub", left, right)
    other = binary(ctx, "xor", right, total) if word == "sadd.sat" else binary(ctx, "xor", left, right)
    signs = binary(ctx, "and", binary(ctx, "xor", left, total), other)
    positive = binary(ctx, "ashr", total, Operand(type, width - 1))
    end = binary(ctx, "xor", positive, Operand(type, 1 << width - 1))
    return choose(ctx, compared(ctx, "slt", signs, Operand(type, 0)), end, total)


def _swap_bytes(operand: Operand, ctx: Context) -> Operand:
    width = width_of(operand.type) or 8
    found = Operand(operand.type, 0)
    for number in range(width // 8):
        byte = binary(
            ctx, "and", binary(ctx, "lshr", operand, Operand(operand.type, 8 * number)), Operand(operand.type, 255)
        )
        found = binary(ctx, "or", found, binary(ctx, "shl", byte, Operand(operand.type, width - 8 - 8 * number)))
    return found


def _reverse_bits(operand: Operand, ctx: Context) -> Operand:
    """Returns the bits of a number in reverse: adjacent ones change places, then pairs, and so on."""
    width = width_of(operand.type) or 1
    if width & (width - 1):
        ctx.fail(f"the bits of a number of {width} bits cannot be reversed")
    step = 1
    while step < width:
        chosen = sum(1 << bit for bit in range(width) if not bit & step)
        mask, count = Operand(operand.type, chosen), Operand(operand.type, step)
        lower = binary(ctx, "and", binary(ctx, "lshr", operand, count), mask)
        upper = binary(ctx, "shl", binary(ctx, "and", operand, mask), count)
        operand = binary(ctx, "or", lower, upper)
        step *= 2
    return operand


def _clock(instruction: Instruction, ctx: Context) -> Operand | None:
    return Operand(instruction.type, 0) if is_clock(instruction) else None


_TRANSLATIONS: dict[str, Callable[[Instruction, Context], Operand | None]] = {
    **dict.fromkeys(_BINARY, _binary),
    **dict.fromkeys(_CASTS, _cast),
    "icmp": _compare,
    "fcmp": _compare_floats,
    "select": _select,
    "sext": _extend,
    "zext": _extend,
    "trunc": _truncate,
    "fneg": _negate,
    "freeze": _same,
    "addrspacecast": _same,
    "ptrtoint": _to_integer,
    "inttoptr": _to_pointer,
    "call": _intrinsic,
    "asm": _clock,
}
