"""Programs that differ from the round-trip programs in one thing each.

Every statement of ``lit-tests/roundtrip`` is alone in a function with the statements that make its operands. Its
mutations have another type of one value, or of all values of that type, another attribute, another token or number, or
another target; some have two types or attributes changed, or the sizes of several values, and constants among the
operands take other numbers or become arguments, whose numbers only a run knows.
"""

from __future__ import annotations

import enum
import random
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from roundtrip_files import file_of
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import FunctionType, IntegerAttr, IntegerType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.families import FAMILIES, level_of
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.registry import family_of
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.syntax.types.parser import parse_type
from pto_dialect.targets.op_availability import MICRO_LEVELS

PER_KIND = 2
"""Mutations of a statement by types, by attributes and by words, each."""
PER_PAIR = 1
"""Mutations by two types, and by two attributes."""
PER_NUMBERS = 1
"""Mutations by the number of one constant, and of two."""
PER_SHAPE = 2
"""Mutations with values of other sizes."""

_LONGEST = 40
"""Statements that a function may need; those of longer programs are left out."""
_OPTIONS = DiagnosticOptions(pedantic=True, max_errors=0)


class Statement(NamedTuple):
    """An operation of a round-trip program, its target, and its number among those of its name."""

    op: Operation
    target: str
    label: str


def statements(family: str) -> Iterator[Statement]:
    """Operations of a family in its file that have no regions."""
    default = "a5" if level_of(family) in MICRO_LEVELS else "a2a3"
    counts: dict[tuple[str, str], int] = {}
    for chunk in file_of(family).read_text(encoding="utf-8").split("\n// -----\n"):
        target = next((arch for arch in ("a5", "a2a3") if f'pto.target_arch = "{arch}"' in chunk), default)
        module = parse_program(SourceFile("roundtrip.pto", chunk), DiagnosticEngine(_OPTIONS))
        assert module is not None
        for op in module.walk():
            if isinstance(op, PtoOp) and not op.regions and family_of(type(op)) == family:
                number = counts[op.name, target] = counts.get((op.name, target), 0) + 1
                yield Statement(op, target, f"{op.name} {number} {target}")


def first_statements(family: str) -> list[Statement]:
    """The first statement of every operation of a family on each target."""
    found: dict[tuple[str, str], Statement] = {}
    for statement in statements(family):
        found.setdefault((statement.op.name, statement.target), statement)
    return list(found.values())


# --- the function around a statement ----------------------------------------------------------------------


def _slice(op: Operation) -> list[Operation]:
    """The operation and those without regions that its operands come from, in the order of the program."""
    found: dict[Operation, None] = {}
    todo = [op]
    while todo:
        each = todo.pop()
        found[each] = None
        todo += [v.owner for v in each.operands if isinstance(v.owner, Operation) and not v.owner.regions]
    order: dict[Operation, int] = {}
    for number, each in enumerate(_function(op).walk()):
        order[each] = number
    return sorted(found, key=order.__getitem__)


def _function(op: Operation) -> Operation:
    while op.parent_op() is not None and not isinstance(op, FuncOp):
        op = op.parent_op()  # type: ignore[assignment]
    return op


def _around(op: Operation) -> list[Operation]:
    """Regions around an operation, the outermost first: those that need no operands."""
    found: list[Operation] = []
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp | ModuleOp):
        if not parent.operands and not parent.results and len(parent.regions) == 1:
            found.append(parent)
        parent = parent.parent_op()
    return found[::-1]


class Function:
    """A function of what a statement needs; ``types`` says which values have another type than in the program."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        self.parts = _slice(statement.op)
        made = {result for part in self.parts for result in part.results}
        used = dict.fromkeys(value for part in self.parts for value in part.operands if value not in made)
        self.arguments = list(used)
        self.values = [*self.arguments, *(result for part in self.parts for result in part.results)]

    def text(self, types: dict[SSAValue, Attribute], changed: dict[str, Attribute | None], target: str) -> str:
        """The program as text."""
        return print_module(self.module(types, changed, target))

    def module(
        self,
        types: dict[SSAValue, Attribute],
        changed: dict[str, Attribute | None],
        target: str,
        constants: Mapping[Operation, Attribute | None] | None = None,
    ) -> ModuleOp:
        """The program; ``constants`` are those that have another value, or, with None, are arguments."""
        numbers = constants or {}
        opened = [result for part, number in numbers.items() if number is None for result in part.results]
        arguments = [*self.arguments, *opened]
        argument_types = [types.get(value) or value.type for value in arguments]
        block = Block(arg_types=argument_types)
        known: dict[SSAValue, SSAValue] = dict(zip(arguments, block.args, strict=True))
        inner = block
        for parent in _around(self.statement.op):
            region = Region(Block())
            inner.add_op(type(parent).create(attributes=dict(parent.attributes), regions=[region]))
            inner = region.blocks[0]
        for part in self.parts:
            if part.results and part.results[0] in opened:
                continue
            attributes = dict(part.attributes)
            number = numbers.get(part)
            if part is self.statement.op:
                for name, value in changed.items():
                    attributes.pop(name, None)
                    if value is not None:
                        attributes[name] = value
            new = type(part).create(
                operands=[known[value] for value in part.operands],
                result_types=[types.get(result, result.type) for result in part.results],
                attributes=attributes,
                properties={**part.properties, **({"value": number} if number is not None else {})},
            )
            known.update(zip(part.results, new.results, strict=True))
            inner.add_op(new)
        block.add_op(ReturnOp())
        function = FuncOp("f", FunctionType.from_lists(list(block.arg_types), []), Region(block))
        return ModuleOp([function], {"pto.target_arch": StringAttr(target)})


# --- mutations -------------------------------------------------------------------------------------------

_ELEMENTS = ("f32", "f16", "bf16", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "i1", "f8E4M3FN", "!pto.hif8")
_SPACES = ("vec", "mat", "left", "right", "acc", "bias", "scaling", "ub", "gm", "l0a", "l0b", "l0c")
_CHOICES = (
    (re.compile(r"(?<![\w.])(?:f32|f16|bf16|u?i(?:1|8|16|32|64)|f8E\w+|!pto\.(?:hif8|f4E\w+))(?=[\s>,]|$)"), _ELEMENTS),
    (re.compile(r"(?<=x)(?:f32|f16|bf16|u?i(?:8|16|32|64)|f8E\w+|!pto\.(?:hif8|f4E\w+))(?=[>,])"), _ELEMENTS),
    (re.compile(r"(?<=[<\s])(?:vec|mat|left|right|acc|bias|scaling|ub|gm|l0a|l0b|l0c)(?=[,>])"), _SPACES),
    (re.compile(r"row_major|col_major|none_box"), ("row_major", "col_major", "none_box")),
)
_NUMBER = re.compile(r"(?<![\w.#])\d+(?=x|[,>])")


def other_types(text: str) -> list[str]:
    """Spellings of types that differ in one token or number; not all of them are types."""
    found = [
        text[: match.start()] + word + text[match.end() :]
        for pattern, words in _CHOICES
        for match in pattern.finditer(text)
        for word in words
        if word != match[0]
    ]
    for match in _NUMBER.finditer(text):
        number = int(match[0])
        near = dict.fromkeys((number + 1, number - 1, 2 * number, number // 2, 0, 4096))
        found += [text[: match.start()] + str(n) + text[match.end() :] for n in near if n >= 0 and n != number]
    return found


def other_attributes(value: Attribute) -> list[Attribute | None]:
    """Values near an attribute; None leaves it out."""
    found: list[Attribute | None] = [None]
    data: Any = getattr(value, "data", None)
    if isinstance(value, IntegerAttr):
        number = value.value.data
        near = dict.fromkeys((number + 1, number - 1, -1, 0, 2 * number + 1, 4096))
        for other in near:
            try:
                found.append(IntegerAttr(other, value.type))
            except Exception:
                continue
    elif isinstance(data, enum.Enum):
        make: Any = type(value)
        found += [make(other) for other in type(data) if other is not data]
    return found


_WORD = re.compile(r"%?[\w.]+|[^\s\w]")


def other_words(line: str) -> list[str]:
    """Statements that lack a token, have one twice, or have another number."""
    found: list[str] = []
    for match in _WORD.finditer(line):
        before, after = line[: match.start()], line[match.end() :]
        found += [before + after, f"{before}{match[0]} {match[0]}{after}"]
        if match[0].isdecimal():
            found += [before + str(number) + after for number in (int(match[0]) + 1, 0, 65536)]
    return found


def mutations(statement: Statement) -> Iterator[str]:
    """The program of a statement, then its mutations."""
    function = Function(statement)
    if len(function.parts) > _LONGEST:
        return
    rng = random.Random(statement.label)
    plain = function.text({}, {}, statement.target)
    yield plain
    yield function.text({}, {}, "a5" if statement.target == "a2a3" else "a2a3")

    types = [(value, other) for value in function.values for other in other_types(str(value.type))]
    for value, spelled in rng.sample(types, min(len(types), 3 * PER_KIND)):
        try:
            other = parse_type(spelled)
        except Exception:
            continue
        alike = [v for v in function.values if v.type == value.type] if rng.random() < 0.6 else [value]
        yield function.text(dict.fromkeys(alike, other), {}, statement.target)

    near = [(name, other) for name, value in statement.op.attributes.items() for other in other_attributes(value)]
    for name, attribute in rng.sample(near, min(len(near), PER_KIND)):
        yield function.text({}, {name: attribute}, statement.target)

    lines = plain.splitlines()
    place = next(n for n in range(len(lines) - 1, -1, -1) if statement.op.name in lines[n])
    spellings = other_words(lines[place])
    for line in rng.sample(spellings, min(len(spellings), PER_KIND)):
        yield "\n".join([*lines[:place], line, *lines[place + 1 :]])

    yield from _with_two_changes(function)
    yield from _with_other_numbers(function)
    yield from _with_other_shapes(function)


def _with_two_changes(function: Function) -> Iterator[str]:
    """Two attributes, or the types of two values, differ."""
    statement = function.statement
    rng = random.Random(f"two {statement.label}")
    attributes = [(name, other_attributes(value)) for name, value in sorted(statement.op.attributes.items())]
    for _ in range(PER_PAIR if len(attributes) > 1 else 0):
        yield function.text({}, {name: rng.choice(near) for name, near in rng.sample(attributes, 2)}, statement.target)
    for _ in range(PER_PAIR if len(function.values) > 1 else 0):
        try:
            two = rng.sample(function.values, 2)
            yield function.text(
                {value: parse_type(rng.choice(other_types(str(value.type)))) for value in two}, {}, statement.target
            )
        except Exception:
            continue


_NUMBERS = (0, 1, -1, 2, 3, 8, 15, 16, 17, 31, 32, 33, 63, 64, 127, 128, 255, 256, 4095, 4096, 65535, 65536, 1 << 40)


def _with_other_numbers(function: Function) -> Iterator[str]:
    """Constants have other numbers, or are arguments: one of them, then two."""
    statement = function.statement
    rng = random.Random(f"numbers {statement.label}")
    constants = [
        part for part in function.parts if isinstance(part, ConstantOp) and isinstance(part.value, IntegerAttr)
    ]

    def near(part: ConstantOp) -> Attribute | None:
        assert isinstance(part.value, IntegerAttr)
        number = part.value.value.data
        choice = rng.choice((None, None, number + 1, number - 1, 2 * number, *rng.sample(_NUMBERS, 5)))
        width = part.value.type.width.data if isinstance(part.value.type, IntegerType) else 64
        return None if choice is None or choice >> (width - 1) not in (0, -1) else IntegerAttr(choice, part.value.type)

    for count in (1, 2):
        for _ in range(PER_NUMBERS if len(constants) >= count else 0):
            other: dict[Operation, Attribute | None] = {part: near(part) for part in rng.sample(constants, count)}
            yield print_module(function.module({}, {}, statement.target, other))


_SIZES = (1, 2, 4, 8, 16, 17, 32, 33, 64, 128, 255, 256, 512)
_DIMENSION = re.compile(r"(?<=[\s<x=,])(?:\d+|\?)(?=x)|(?<=x)(?:\d+|\?)(?=[,>])")
_VALID = re.compile(r"(, valid=)(?:\d+|\?)x(?:\d+|\?)")
_TILE = re.compile(r"^!pto\.tile_buf<\w+, (\d+)x(\d+)x[^,>]+")


def _with_other_shapes(function: Function) -> Iterator[str]:
    """Values have other sizes: one size of all types that state it, valid sizes of tiles, or sizes that are open."""
    statement = function.statement
    rng = random.Random(f"shapes {statement.label}")
    spelled = {value: str(value.type) for value in function.values}
    sizes = sorted({match[0] for text in spelled.values() for match in _DIMENSION.finditer(text)})
    for _ in range(PER_SHAPE if sizes else 0):
        chosen = rng.sample(sorted(set(spelled.values())), rng.randint(1, 2) if len(set(spelled.values())) > 1 else 1)
        kind, old, new = rng.randrange(4), rng.choice(sizes), str(rng.choice(_SIZES))
        if kind == 0:
            others = {text: _other_dimension(text, old, new) for text in spelled.values()}
        elif kind == 1:
            others = {text: _one_dimension(text, "?", rng) for text in chosen}
        elif kind == 2:
            others = {text: _one_dimension(text, new, rng) for text in chosen}
        else:
            others = {text: _other_valid(text, rng) for text in chosen}
        try:
            types = {
                value: parse_type(others[text]) for value, text in spelled.items() if others.get(text, text) != text
            }
        except Exception:
            continue
        if types:
            yield function.text(types, {}, statement.target)


def _other_dimension(text: str, old: str, new: str) -> str:
    return _DIMENSION.sub(lambda match: new if match[0] == old else match[0], text)


def _one_dimension(text: str, size: str, rng: random.Random) -> str:
    places = list(_DIMENSION.finditer(text))
    if not places:
        return text
    match = rng.choice(places)
    return text[: match.start()] + size + text[match.end() :]


def _other_valid(text: str, rng: random.Random) -> str:
    """A tile type with other valid sizes; other types stay."""
    tile = _TILE.match(text)
    if tile is None:
        return text
    valid = "x".join(str(rng.choice((size, int(size) - 1, 1, 0, "?"))) for size in tile.groups())
    if _VALID.search(text):
        return _VALID.sub(rf"\g<1>{valid}", text)
    return f"{text[: tile.end()]}, valid={valid}{text[tile.end() :]}"


def families() -> list[str]:
    """Families that have a round-trip file."""
    return sorted(name for name, family in FAMILIES.items() if family.operations)
