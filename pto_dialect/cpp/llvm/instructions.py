"""Instructions of LLVM IR: one line of text to an ``Instruction``."""

from __future__ import annotations

import re
from collections.abc import Callable

from .constants import read_constant, symbol_name
from .model import Instruction, Operand, Unread, Value
from .types import Types, split_list

_SPLIT_TYPE = re.compile(r'((?:[\[{<]|%"[^"]*"|[\w.%$-]+)\**)\s*')
_ATTRIBUTES = re.compile(r"(?:align \d+ |(?:[a-z_]+)(?:\([^()]*(?:\([^()]*\)[^()]*)*\))? )+(?=\S)")
_SIMPLE = re.compile(r"(i\d+|ptr|half|bfloat|float|double) (?:(?:noundef|nonnull|signext|zeroext) )*(\S+)\Z")
_FLAGS = re.compile(
    r"((?:(?:nuw|nsw|exact|disjoint|nneg|samesign|inbounds|nusw|fast|nnan|ninf|nsz|arcp|contract|afn|reassoc|volatile|"
    r"atomic|inrange\([^)]*\)) )*)"
)
_CALLEE = re.compile(r'(@(?:"[^"]*"|[\w.$-]+)|%(?:"[^"]*"|[\w.$-]+)|asm )')
_PHI_EDGE = re.compile(r'\[ (.+?), %("[^"]*"|[\w.$-]+) \]')
_LABEL = re.compile(r'label %("[^"]*"|[\w.$-]+)')
_CASE = re.compile(r'i\d+ (-?\d+), label %("[^"]*"|[\w.$-]+)')
BINARY = tuple(
    [
        "add",
        "sub",
        "mul",
        "udiv",
        "sdiv",
        "urem",
        "srem",
        "shl",
        "lshr",
        "ashr",
        "and",
        "or",
        "xor",
        "fadd",
        "fsub",
        "fmul",
        "fdiv",
        "frem",
    ]
)
CASTS = [
    "zext",
    "sext",
    "trunc",
    "bitcast",
    "ptrtoint",
    "inttoptr",
    "fpext",
    "fptrunc",
    "sitofp",
    "uitofp",
    "fptosi",
    "fptoui",
    "addrspacecast",
]


def balanced_end(text: str, start: int) -> int:
    """Returns the position after the bracket that closes the one at ``start``."""
    depth = 0
    quoted = False
    for position in range(start, len(text)):
        letter = text[position]
        if letter == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif letter in "([{<":
            depth += 1
        elif letter in ")]}>":
            depth -= 1
            if depth == 0:
                return position + 1
    return len(text)


def split_type(text: str) -> tuple[str, str]:
    """Returns the type at the begin of ``text``, and the rest."""
    match = _SPLIT_TYPE.match(text)
    if match is None:
        return "", text
    if match[1] in "[{<":
        end = balanced_end(text, 0)
        return text[:end], text[end:].lstrip()
    return match[1], text[match.end() :]


class InstructionReader:
    """Reads the instructions of one function; each name has one object, whether it is used before its definition."""

    def __init__(self, types: Types, values: dict[str, Value]) -> None:
        self.types = types
        self.values = values
        self._constants: dict[tuple[str, str], Operand] = {}

    def read(self, line: str) -> Instruction:
        """Returns the instruction of a line without metadata."""
        name = ""
        if line[0] == "%":
            left, _, line = line.partition(" = ")
            name = symbol_name(left)
        opcode, _, rest = line.partition(" ")
        reader = _READERS.get(opcode)
        if reader is None:
            return self.make(name, Instruction(opcode, name, "", word=line))
        return self.make(name, reader(self, name, rest, opcode))

    def make(self, name: str, instruction: Instruction) -> Instruction:
        """Returns ``instruction``, or the object that stands for its name already, filled in."""
        if not name:
            return instruction
        known = self.values.get(name)
        if not isinstance(known, Instruction):
            self.values[name] = instruction
            return instruction
        for slot in ("opcode", "type", "operands", "word", "flags", "labels", "cases"):
            setattr(known, slot, getattr(instruction, slot))
        return known

    def operand(self, type: str, text: str) -> Operand:
        """Returns the operand ``text`` of ``type``."""
        if text[:1] == "%":
            name = symbol_name(text)
            value = self.values.get(name)
            if value is None:
                value = self.values[name] = Instruction("", name, type)
            return value
        key = type, text
        known = self._constants.get(key)
        if known is None:
            known = self._constants[key] = read_constant(type, text, self.types)
        return known

    def typed(self, text: str) -> Operand:
        """Returns the operand of ``i32 noundef %x``."""
        if match := _SIMPLE.match(text):
            return self.operand(match[1], match[2])
        type, rest = split_type(text)
        if type == "metadata":
            return Unread(type, rest)
        if not rest.startswith(("%", "@")):
            match = _ATTRIBUTES.match(rest)
            if match is not None and not rest.startswith(("getelementptr", "inttoptr", "ptrtoint", "splat")):
                rest = rest[match.end() :]
        return self.operand(type, rest)


def _strip_flags(rest: str) -> tuple[str, str]:
    match = _FLAGS.match(rest)
    return (match[1], rest[match.end() :]) if match is not None else ("", rest)


def _pair(reader: InstructionReader, text: str) -> tuple[str, tuple[Operand, ...]]:
    """Reads ``i32 %a, %b``."""
    type, values = split_type(text)
    left, _, right = values.rpartition(", ")
    if left.count("(") != left.count(")"):
        left, right = ([*split_list(values), "", ""])[:2]
    return type, (reader.operand(type, left), reader.operand(type, right))


def _binary(reader: InstructionReader, name: str, rest: str, opcode: str) -> Instruction:
    flags, rest = _strip_flags(rest)
    type, operands = _pair(reader, rest)
    return Instruction(opcode, name, type, operands, flags=flags)


def _compare(reader: InstructionReader, name: str, rest: str, opcode: str) -> Instruction:
    flags, rest = _strip_flags(rest)
    predicate, _, rest = rest.partition(" ")
    type, operands = _pair(reader, rest)
    result = "i1" if type[:1] != "<" else type
    return Instruction(opcode, name, result, operands, word=predicate, flags=flags)


def _cast(reader: InstructionReader, name: str, rest: str, opcode: str) -> Instruction:
    flags, rest = _strip_flags(rest)
    source, _, target = rest.rpartition(" to ")
    return Instruction(opcode, name, target, (reader.typed(source),), flags=flags)


def _unary(reader: InstructionReader, name: str, rest: str, opcode: str) -> Instruction:
    _, rest = _strip_flags(rest)
    operand = reader.typed(rest)
    return Instruction(opcode, name, operand.type, (operand,))


def _select(reader: InstructionReader, name: str, rest: str, opcode: str) -> Instruction:
    _, rest = _strip_flags(rest)
    operands = tuple(reader.typed(part) for part in split_list(rest))
    return Instruction(opcode, name, operands[1].type if len(operands) == 3 else "", operands)


def _phi(reader: InstructionReader, name: str, rest: str, opcode: str) -> Instruction:
    _, rest = _strip_flags(rest)
    type, edges = split_type(rest)
    found = _PHI_EDGE.findall(edges)
    operands = tuple(reader.operand(type, value) for value, _ in found)
    return Instruction(opcode, name, type, operands, labels=tuple(symbol_name(label) for _, label in found))


def _load(reader: InstructionReader, name: str, rest: str, opcode: str) -> Instruction:
    flags, rest = _strip_flags(rest)
    type, rest = split_type(rest)
    address = split_list(rest.removeprefix(", "))[0]
    return Instruction(opcode, name, type, (reader.typed(address),), flags=flags)


def _store(reader: InstructionReader, name: str, rest: str, opcode: str) -> Instruction:
    flags, rest = _strip_flags(rest)
    value, address = ([*split_list(rest), "", ""])[:2]
    return Instruction(opcode, name, "void", (reader.typed(value), reader.typed(address)), flags=flags)


def _address(reader: InstructionReader, name: str, rest: str, opcode: str) -> Instruction:
    flags, rest = _strip_flags(rest)
    element, rest = split_type(rest)
    operands = tuple(reader.typed(part) for part in split_list(rest.removeprefix(", ")))
    return Instruction(opcode, name, "ptr", operands, word=element, flags=flags)


def _alloca(reader: InstructionReader, name: str, rest: str, opcode: str) -> Instruction:
    element, rest = split_type(rest)
    parts = split_list(rest.removeprefix(", "))
    count = tuple(reader.typed(part) for part in parts[:1] if not part.startswith(("align", "addrspace")))
    return Instruction(opcode, name, "ptr", count, word=element)


def _branch(reader: InstructionReader, name: str, rest: str, opcode: str) -> Instruction:
    labels = tuple(symbol_name(label) for label in _LABEL.findall(rest))
    condition = (reader.typed(rest.partition(",")[0]),) if rest.startswith("i1") else ()
    return Instruction(opcode, name, "void", condition, labels=labels)


def _switch(reader: InstructionReader, name: str, rest: str, opcode: str) -> Instruction:
    value, default, *_ = split_list(rest.partition("[")[0].strip())
    cases = _CASE.findall(rest.partition("[")[2])
    labels = [symbol_name(_LABEL.findall(default)[0]), *(symbol_name(label) for _, label in cases)]
    numbers = tuple(int(number) for number, _ in cases)
    return Instruction(opcode, name, "void", (reader.typed(value),), labels=tuple(labels), cases=numbers)


def _return(reader: InstructionReader, name: str, rest: str, opcode: str) -> Instruction:
    operands = () if rest == "void" else (reader.typed(rest),)
    return Instruction(opcode, name, "void", operands)


def _unreachable(reader: InstructionReader, name: str, rest: str, opcode: str) -> Instruction:
    return Instruction(opcode, name, "void")


def _tail_call(reader: InstructionReader, name: str, rest: str, opcode: str) -> Instruction:
    return _call(reader, name, rest.removeprefix("call "), "call")


def _call(reader: InstructionReader, name: str, rest: str, opcode: str) -> Instruction:
    match = _CALLEE.search(rest)
    if match is None:
        return Instruction("call", name, "", word=rest)
    if match[1] == "asm ":
        return Instruction("asm", name, _result_type(rest[: match.start()]), word=rest)
    opened = rest.find("(", match.end())
    closed = rest.rfind(")") if "[" not in rest else balanced_end(rest, opened) - 1
    arguments = split_list(rest[opened + 1 : closed])
    head = rest[: match.start()].partition("(")[0].split()
    callee = match[1]
    type = _result_type(rest[: match.start()]) if head else "void"
    operands = tuple(reader.typed(part) for part in arguments)
    if callee[0] == "%":
        return Instruction("indirect call", name, type, operands)
    return Instruction("call", name, type, operands, word=symbol_name(callee))


def _result_type(head: str) -> str:
    """Returns the type before the name of a called function, without flags, attributes and calling conventions."""
    head = head.strip()
    if head.endswith(")"):
        head = head[: head.rindex("(")].strip()
    if head.endswith(("]", "}", ">")):
        for position in range(len(head)):
            if head[position] in "[{<" and balanced_end(head, position) == len(head):
                return head[position:]
    return head.rpartition(" ")[2]


def _extract(reader: InstructionReader, name: str, rest: str, opcode: str) -> Instruction:
    aggregate, *indices = split_list(rest)
    operand = reader.typed(aggregate)
    path = tuple(int(index) for index in indices if index.isdigit())
    type = operand.type
    for index in path:
        inner = reader.types.element(type)
        fields = reader.types.fields(type) if inner is None else ()
        type = inner[1] if inner is not None else fields[index] if index < len(fields) else ""
    return Instruction(opcode, name, type, (operand,), cases=path)


def _insert(reader: InstructionReader, name: str, rest: str, opcode: str) -> Instruction:
    aggregate, part, *indices = split_list(rest)
    operand = reader.typed(aggregate)
    path = tuple(int(index) for index in indices if index.isdigit())
    return Instruction(opcode, name, operand.type, (operand, reader.typed(part)), cases=path)


_Reader = Callable[[InstructionReader, str, str, str], Instruction]
_READERS: dict[str, _Reader] = {
    **dict.fromkeys(BINARY, _binary),
    **dict.fromkeys(CASTS, _cast),
    **dict.fromkeys(("icmp", "fcmp"), _compare),
    **dict.fromkeys(("freeze", "fneg"), _unary),
    **dict.fromkeys(("tail", "musttail", "notail"), _tail_call),
    "call": _call,
    "select": _select,
    "phi": _phi,
    "load": _load,
    "store": _store,
    "getelementptr": _address,
    "alloca": _alloca,
    "br": _branch,
    "switch": _switch,
    "ret": _return,
    "unreachable": _unreachable,
    "extractvalue": _extract,
    "insertvalue": _insert,
}
