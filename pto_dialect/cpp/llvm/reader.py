"""LLVM IR text to objects. Only requested functions are read.

Every instruction is one line (a switch is some), so lines are read with a few regular expressions: ten times as fast as
a Lark grammar that only finds the tokens (docs/decisions.md, "C++ kernels").
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .constants import cells, string_bytes, symbol_name
from .instructions import BINARY, CASTS, InstructionReader, balanced_end, split_type
from .location import SourceLocation
from .metadata import Metadata
from .model import BasicBlock, Constant, Function, Global, GlobalVariable, Instruction, Value
from .types import TypeReadError, Types, split_list

_DEFINE = re.compile(r'define [^@"]*?(?:"[^"]*"[^@"]*)*@("[^"]*"|[\w.$-]+)\(')
_GLOBAL = re.compile(r'@("[^"]*"|[\w.$-]+) = ([^"]*?)\b(global|constant) (.*)\Z', re.DOTALL)
_TYPE = re.compile(r'(%(?:"[^"]*"|[\w.$-]+)) = type (.*)')
_LABEL_LINE = re.compile(r'("[^"]*"|[\w.$-]+):(?:\s|\Z)')
_DEBUG = re.compile(r"!dbg (!\d+)")
_ANNOTATION = re.compile(r"\{ ptr (@[^,]+), ptr (@[^,]+),")


class IrError(Exception):
    """A text that is no LLVM IR of the subset: ``message`` and the line number."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"line {line}: {message}")
        self.message = message
        self.line = line


class Module:
    """A module: its functions, global variables, types and debug locations."""

    def __init__(self) -> None:
        self.types = Types()
        self.metadata = Metadata()
        self.globals: dict[str, GlobalVariable] = {}
        self.has_assembly = False
        """Whether there is assembly outside of functions, other than declarations of symbols by a library."""
        self._texts: dict[str, tuple[int, int]] = {}
        self._lines: list[str] = []
        self._functions: dict[str, Function] = {}
        self._strings: dict[str, bytes | None] = {}

    @property
    def function_names(self) -> list[str]:
        """The functions that have a body, in the order of the text."""
        return list(self._texts)

    def function(self, name: str) -> Function | None:
        """Returns a function with a body. Raises ``IrError``."""
        if name not in self._functions and name in self._texts:
            start, end = self._texts[name]
            self._functions[name] = _read_function(self, name, self._lines, start, end)
        return self._functions.get(name)

    def function_debug(self, name: str) -> str:
        """Returns the reference of the debug information of a function with a body."""
        match = _DEBUG.search(self._lines[self._texts[name][0]])
        return match[1] if match else ""

    def locations(self, name: str) -> Iterator[SourceLocation]:
        """Yields the locations of the instructions of a function, each once."""
        start, end = self._texts[name]
        references = dict.fromkeys(_DEBUG.findall("\n".join(self._lines[start + 1 : end])))
        yield from filter(None, map(self.metadata.location, references))

    def string(self, operand: object) -> str | None:
        """Returns the text of a string constant, up to its first zero, ``None`` if ``operand`` is not one."""
        if not isinstance(operand, Global):
            return None
        if operand.name not in self._strings:
            variable = self.globals.get(operand.name)
            is_constant = variable is not None and variable.is_constant
            self._strings[operand.name] = string_bytes(variable.initial) if variable and is_constant else None
        content = self._strings[operand.name]
        if content is None:
            return None
        return content[operand.offset :].split(b"\0")[0].decode("utf-8", "replace")

    def cells(self, name: str) -> list[tuple[int, Constant | Global]] | None:
        """Returns the scalars of a constant table with their offsets, ``None`` if it cannot be read as such."""
        variable = self.globals[name]
        try:
            found = list(cells(variable.type, variable.initial, self.types))
        except (TypeReadError, RecursionError):
            return None
        read = [(offset, value) for offset, value in found if isinstance(value, (Constant, Global))]
        return read if len(read) == len(found) else None

    def may_change(self, variable: str, function: str) -> bool:
        """Returns whether functions besides ``function`` do more with a variable than load it."""
        start, end = self._texts[function]
        symbol = re.compile(rf'@"?{re.escape(variable)}(?![\w.$-])')
        others = (line for number, line in enumerate(self._lines) if not start <= number <= end)
        return any(symbol.search(line) and line.startswith(" ") and " = load " not in line for line in others)

    def is_static_of_function(self, variable: str) -> bool:
        """Returns whether a variable is a static one of a function, with a value that this file states."""
        return variable.startswith("_ZZ") and bool(self.globals[variable].initial)

    def annotated(self, word: str) -> list[str]:
        """Returns the functions with ``annotate(word)``, each once, in the order of the annotations."""
        variable = self.globals.get("llvm.global.annotations")
        found: dict[str, None] = {}
        for function, text in _ANNOTATION.findall(variable.initial if variable else ""):
            if self.string(Global(symbol_name(text))) == word:
                found[symbol_name(function)] = None
        return list(found)


def read_module(text: str) -> Module:
    """Returns the module of a text of LLVM IR. Raises ``IrError``."""
    module = Module()
    lines = module._lines = text.splitlines()
    number = 0
    while number < len(lines):
        line = lines[number]
        if line.startswith("!"):
            reference, _, node = line.partition(" = ")
            module.metadata.texts[reference] = node
        elif line.startswith("define "):
            number = _scan_function(module, lines, number)
        elif line.startswith("@"):
            _read_global(module, line)
        elif line.startswith("%") and (match := _TYPE.match(line)):
            module.types.named[match[1]] = match[2]
        elif line.startswith("module asm ") and not line.startswith('module asm ".globl '):
            module.has_assembly = True
        number += 1
    return module


def _scan_function(module: Module, lines: list[str], start: int) -> int:
    match = _DEFINE.match(lines[start])
    end = start
    while end < len(lines) and lines[end] != "}":
        end += 1
    if match is None or end == len(lines):
        raise IrError("the function has no name or no end", start + 1)
    module._texts[symbol_name(match[1])] = start, end
    return end


def _read_global(module: Module, line: str) -> None:
    match = _GLOBAL.match(line)
    if match is None:
        return
    type, rest = split_type(match[4])
    parts = split_list(rest)
    initial = parts[0] if parts and not parts[0].startswith(("align", "section", "comdat")) else ""
    name = symbol_name(match[1])
    module.globals[name] = GlobalVariable(name, type, initial, match[3] == "constant")


def _read_function(module: Module, name: str, lines: list[str], start: int, end: int) -> Function:
    header = lines[start]
    match = _DEFINE.match(header)
    if match is None:
        raise IrError("the function has no name", start + 1)
    opened = match.end() - 1
    values: dict[str, Value] = {}
    reader = InstructionReader(module.types, values)
    arguments = _read_arguments(split_list(header[opened + 1 : balanced_end(header, opened) - 1]), values)
    result = header[: header.index("@")].split()[-1]
    function = Function(name, arguments, result, module.function_debug(name))
    block = BasicBlock(str(sum(a.name.isdigit() for a in arguments)))
    function.blocks[block.name] = block
    number = start + 1
    while number < end:
        raw = lines[number]
        line = raw.strip()
        number += 1
        if not line or line[0] in ";#":
            continue
        if raw[0] != " " and (match := _LABEL_LINE.match(raw)):
            block = _begin_block(function, symbol_name(match[1]))
            continue
        if line.endswith("[") and line.startswith("switch"):
            while number < end and not lines[number].lstrip().startswith("]"):
                line += " " + lines[number].strip()
                number += 1
            line += lines[number].strip() if number < end else "]"
            number += 1
        try:
            _read_line(reader, block, line)
        except (ValueError, IndexError, TypeReadError):
            raise IrError(f"cannot read {line[:80]!r}", number) from None
    _check(function, start)
    return function


def _begin_block(function: Function, name: str) -> BasicBlock:
    first = next(iter(function.blocks.values()))
    if len(function.blocks) == 1 and not first.instructions:
        function.blocks.clear()
    block = function.blocks[name] = BasicBlock(name)
    return block


def _read_line(reader: InstructionReader, block: BasicBlock, line: str) -> None:
    reference = ""
    cut = line.find(", !")
    if cut >= 0:
        match = _DEBUG.search(line, cut)
        reference = match[1] if match else ""
        line = line[:cut]
    instruction = reader.read(line)
    instruction.debug = reference
    block.instructions.append(instruction)


def _read_arguments(parts: list[str], values: dict[str, Value]) -> list[Value]:
    arguments: list[Value] = []
    for index, part in enumerate(parts):
        type, _ = split_type(part)
        last = part.rpartition(" ")[2]
        name = symbol_name(last) if last.startswith("%") else str(index)
        value = values[name] = Value(name, type)
        arguments.append(value)
    return arguments


def _check(function: Function, start: int) -> None:
    """Checks that blocks end with a terminator, labels exist, phis have an operand for each edge, values a definition.

    Raises ``IrError``.
    """
    before: dict[str, set[str]] = {name: set() for name in function.blocks}
    for block in function.blocks.values():
        if not block.instructions or block.terminator.opcode not in TERMINATORS:
            raise IrError(f"block {block.name} of {function.name} has no terminator", start + 1)
        for label in block.terminator.labels:
            if label not in function.blocks:
                raise IrError(f"{function.name} has no block {label}", start + 1)
            before[label].add(block.name)
    known = set(function.arguments)
    for block in function.blocks.values():
        known.update(block.instructions)
    for block in function.blocks.values():
        for instruction in block.instructions:
            _check_instruction(instruction, known, before[block.name], start)


def _check_instruction(instruction: Instruction, known: set[Value], before: set[str], start: int) -> None:
    opcode = instruction.opcode
    count = len(instruction.operands)
    least, most = _OPERANDS.get(opcode, (0, _ANY))
    is_branch = opcode == "br" and len(instruction.labels) != 1 + count
    is_phi = opcode == "phi" and not before.issubset(instruction.labels)
    if not least <= count <= most or is_branch or is_phi:
        raise IrError(f"the instruction {opcode} {instruction.name} is not complete", start + 1)
    for operand in instruction.operands:
        if isinstance(operand, Value) and operand not in known:
            raise IrError(f"the value {operand.name} has no definition", start + 1)


_ANY = 1 << 30
_OPERANDS = {
    **dict.fromkeys(BINARY, (2, 2)),
    **dict.fromkeys(CASTS, (1, 1)),
    **dict.fromkeys(("icmp", "fcmp", "store"), (2, 2)),
    **dict.fromkeys(("load", "fneg", "freeze", "extractvalue", "switch"), (1, 1)),
    "select": (3, 3),
    "getelementptr": (1, _ANY),
    "br": (0, 1),
    "ret": (0, 1),
}
TERMINATORS = frozenset(("br", "switch", "ret", "unreachable", "invoke", "indirectbr", "resume", "callbr"))
