"""What a test program recorded: its blocks and instructions with their operands, and the device memory."""

from __future__ import annotations

from typing import NamedTuple

ELEMENTS = {
    "float": "f32",
    "_Float16": "f16",
    "bfloat16_t": "bf16",
    "bool": "i8",
    "char": "i8",
    "signed char": "i8",
    "unsigned char": "ui8",
    "short int": "i16",
    "short unsigned int": "ui16",
    "int": "i32",
    "unsigned int": "ui32",
    "long int": "i64",
    "long unsigned int": "ui64",
    "long long int": "i64",
    "long long unsigned int": "ui64",
    "hifloat8_t": "!pto.hif8",
    "float8_e4m3_t": "f8E4M3FN",
    "float8_e5m2_t": "f8E5M2",
    "float8_e8m0_t": "!pto.f8E8M0",
    "float4_e1m2x2_t": "!pto.f4E1M2x2",
    "float4_e2m1x2_t": "!pto.f4E2M1x2",
}
"""Element types of the dialect by those of a host compiler."""


class NotMapped(Exception):
    """A program uses something that the dialect has no counterpart for; the text says what."""


class Tile(NamedTuple):
    """A tile with its address; ``pad`` and the layouts are numbers of the instruction set's enumerations."""

    element: str
    loc: int
    rows: int
    cols: int
    blayout: int
    slayout: int
    fractal: int
    valid_rows: int
    valid_cols: int
    pad: int
    compact: int
    address: int
    dynamic_rows: int
    dynamic_cols: int


class View(NamedTuple):
    """A tensor in device memory: ``memory`` and the byte ``offset`` of its first element in it."""

    element: str
    layout: int
    memory: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Word(NamedTuple):
    """An enumerator: its C++ enumeration without namespace, and its number."""

    kind: str
    value: int


class Number(NamedTuple):
    """A number with its element type."""

    element: str
    value: int | float


class Numbers(NamedTuple):
    """An array of numbers."""

    values: tuple[int, ...]


class Other(NamedTuple):
    """An operand that has no counterpart, with its C++ type."""

    type: str


Operand = Tile | View | Word | Number | Numbers | Other


class Instruction(NamedTuple):
    """One instruction; ``values`` are those among its template arguments, ``control`` the control register."""

    name: str
    control: int
    values: tuple[Operand, ...]
    operands: tuple[Operand, ...]


class Record(NamedTuple):
    """Instructions of all blocks in their order, and the bytes of each device memory."""

    instructions: tuple[Instruction, ...]
    memories: dict[int, int]


def read_record(text: str) -> Record:
    """The record that a test program wrote."""
    instructions: list[Instruction] = []
    memories: dict[int, int] = {}
    for line in text.splitlines():
        kind, *fields = line.split("|")
        if kind == "op":
            name, control, values, *operands = fields
            instructions.append(
                Instruction(
                    name.removesuffix("_IMPL"),
                    int(control),
                    tuple(_operand(value) for value in values.split(";") if value),
                    tuple(map(_operand, operands)),
                )
            )
        elif kind == "memory":
            memories[int(fields[0])] = int(fields[1])
    return Record(tuple(instructions), memories)


def bytes_of(element: str) -> int:
    """Bytes of one element; of a packed pair, which is one element."""
    if element.startswith("!pto.") or element.startswith("f8"):
        return 1
    return int(element.lstrip("buif")) // 8


def _operand(text: str) -> Operand:
    kind, name, *rest = text.split(",")
    if kind == "tile":
        return Tile(_element(name), *map(int, rest))
    if kind == "view":
        numbers = tuple(map(int, rest))
        return View(_element(name), numbers[0], numbers[1], numbers[2], numbers[3:8], numbers[8:13])
    if kind == "enum":
        return Word(name.rpartition("::")[2], int(rest[0]))
    if kind == "number":
        element = _element(name)
        value = rest[0]
        return Number(element, float(value) if "f" in element else int(value))
    if kind == "array":
        return Numbers(tuple(map(int, rest)))
    return Other(",".join((name, *rest)))


def _element(name: str) -> str:
    if name not in ELEMENTS:
        raise NotMapped(f"elements of type {name}")
    return ELEMENTS[name]
