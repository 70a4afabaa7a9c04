"""Calls of the C++ interface, written down without a compiler, and the program that they become.

A program is a list of declarations ``name = tile Vec f32 16x64 at=0 valid=?x8``, ``name = tensor f32 1x1x1x16x64``,
``name = number f32 2.5``, ``name = pointer f32 ub`` or ``name = enum CmpMode 2``, and of calls
``TADD;mode=value dst src0 src1``. Open sizes (``?``) are arguments of the function.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NoReturn

from pto_dialect.cpp.errors import TranslationError
from pto_dialect.cpp.operations import translate_call
from pto_dialect.cpp.translate.interface import Call, Group, Operand

_LAYOUTS = {
    "Mat": ("ColMajor", "RowMajor", 512),
    "Left": ("RowMajor", "RowMajor", 512),
    "Right": ("RowMajor", "ColMajor", 512),
    "Acc": ("ColMajor", "RowMajor", 1024),
    "ScaleLeft": ("RowMajor", "RowMajor", 32),
    "ScaleRight": ("ColMajor", "ColMajor", 32),
}
_TYPES = {"f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double"}
_FUNCTIONS = ("set_flag", "wait_flag", "pipe_barrier")


class RecordingEmitter:
    """Collects the lines of one function whose calls are all known."""

    def __init__(self, target: str, calls: list[Call], core: str = "") -> None:
        self.target = target
        self.core = core
        self.numbered_queues: Mapping[str, frozenset[str]] = _numbered(calls)
        self.state: dict[str, object] = {}
        self.calls = calls
        self.arguments: dict[str, str] = {}
        self.constants: dict[tuple[str, str], str] = {}
        self.lines: list[str] = []
        self.names: set[str] = set()

    def emit(self, line: str) -> None:
        self.lines.append(line)

    def define(self, body: str, hint: str = "v") -> str:
        name = self.fresh(hint)
        self.emit(f"{name} = {body}")
        return name

    def head(self, body: str, hint: str) -> str:
        name = self.fresh(hint)
        self.lines.insert(0, f"{name} = {body}")
        return name

    @contextmanager
    def loop(self, begin: str, end: str, step: str) -> Iterator[str]:
        counter = self.fresh("i")
        self.emit(f"scf.for {counter} = {begin} to {end} step {step} {{")
        yield counter
        self.emit("}")

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        self.emit(f"scf.if {condition} {{")
        yield
        self.emit("}")

    def element(self, call: Call) -> str:
        return next(group.fields[0] for group in call.groups if group.kind == "global")

    def entry_of(self, queue: Group) -> Group | None:
        calls = (call.groups for call in self.calls if queue in call.groups)
        return next((group for groups in calls for group in groups if group.kind == "global"), None)

    def fresh(self, hint: str = "v") -> str:
        numbered = (f"%{hint}_{n}" if n else f"%{hint}" for n in range(1000))
        name = next(one for one in numbered if one not in self.names)
        self.names.add(name)
        return name

    def constant(self, value: int | float, type: str) -> str:
        text = str(value).lower() if isinstance(value, int) else repr(float(value))
        spelled = f"%c{text.replace('-', 'm').replace('.', 'p')}_{type}"
        return self.constants.setdefault((text, type), spelled)

    def cast(self, operand: Operand, type: str) -> str:
        if operand.value is not None:
            assert isinstance(operand.value, int)
            return self.constant(operand.value, type)
        assert operand.name is not None
        if operand.type == type:
            return operand.name
        if "index" in (operand.type, type):
            return self.define(f"arith.index_cast {operand.name} : {operand.type} to {type}", "i")
        cast = "extsi" if int(type[1:]) > int(operand.type[1:]) else "trunci"
        return self.define(f"arith.{cast} {operand.name} : {operand.type} to {type}", "i")

    def scalar(self, operand: Operand, type: str) -> str:
        if operand.value is not None:
            assert isinstance(operand.value, int | float)
            return self.constant(float(operand.value) if "f" in type else operand.value, type)
        assert operand.name is not None
        return operand.name

    def pointer(self, operand: Operand, elem: str) -> str:
        assert operand.name is not None
        self.arguments[operand.name] = f"!pto.ptr<{elem}>"
        return operand.name

    def users(self, call: Call) -> list[tuple[Call, Group]]:
        groups = [(one, group) for one in self.calls for group in one.groups if group.operands]
        return [(one, group) for one, group in groups if group.operands[0].assigned is call]

    def is_used(self, call: Call) -> bool:
        return bool(self.users(call))

    def is_stored(self, call: Call) -> bool:
        return False

    def is_available(self, operand: Operand) -> bool:
        return True

    def is_visible(self, call: Call) -> bool:
        return True

    def is_argument(self, operand: Operand) -> bool:
        return True

    def is_same(self, first: Operand, second: Operand) -> bool:
        return first.name is not None and first.name == second.name

    def fail(self, message: str, help: str = "") -> NoReturn:
        raise TranslationError(message, None, help)

    def text(self, core: str = "") -> str:
        arguments = ", ".join(f"{name}: {type}" for name, type in self.arguments.items())
        constants = [f"{name} = arith.constant {text} : {type}" for (text, type), name in self.constants.items()]
        lines = "".join(f"    {line}\n" for line in (*constants, *self.lines, "return"))
        kind = f", pto.kernel_kind = #pto.kernel_kind<{core}>" if core else ""
        return (
            f'module attributes {{pto.target_arch = "{self.target}"}} {{\n'
            f"  func.func @kernel({arguments}) attributes {{pto.entry{kind}}} {{\n{lines}  }}\n}}\n"
        )


def _numbered(calls: list[Call]) -> dict[str, frozenset[str]]:
    """The queues with a number: those whose pushes convert, and those that tiles with open sizes are popped from."""
    found: dict[str, set[str]] = {}
    for call in calls:
        queue = next((group for group in call.groups if group.kind == "pipe"), None)
        if queue is None:
            continue
        if call.name == "TPUSH" and call.modes.keys() & {"quant", "relu"}:
            modes = "".join(f";{key}={value}" for key, value in call.modes.items())
            found.setdefault(queue.descriptor, set()).add(f"TPUSH{modes}")
        elif call.name == "TPOP" and any(group.kind == "tile" and "-1" in group.fields[4] for group in call.groups):
            found.setdefault(queue.descriptor, set())
    return {descriptor: frozenset(names) for descriptor, names in found.items()}


def translated(program: str, target: str, core: str = "") -> RecordingEmitter:
    """The function that the calls of a program become."""
    reader = _Reader()
    for line in program.strip().splitlines():
        reader.read(line)
    emitter = RecordingEmitter(target, reader.calls, core)
    emitter.arguments |= reader.arguments
    for call in reader.calls:
        translate_call(call, emitter)
    return emitter


class _Reader:
    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.groups: dict[str, Group] = {}
        self.arguments: dict[str, str] = {}

    def read(self, line: str) -> None:
        if match := re.fullmatch(r"(\w+) = (\w+) (.*)", line):
            name, kind, rest = match.groups()
            self.groups[name] = getattr(self, f"_{kind}")(name, rest.split())
            return
        if " <- " in line:
            self._address(*line.split(" <- "))
            return
        name, *operands = line.split()
        if name == "SHARE":
            self._share(*operands)
        else:
            self._call(name, operands)

    def _address(self, tile: str, written: str) -> None:
        """A call that gives a tile or a tensor its address."""
        name, *operands = written.split()
        group = self.groups[tile]
        name, *modes = name.split(";")
        groups = tuple(self.groups[one] for one in operands)
        pairs = dict(mode.split("=") for mode in modes)
        flat = tuple(one for one_group in groups for one in one_group.operands)
        function = "__pto_alias"
        if name == "TASSIGN":
            function, groups, flat = "__pto_assign", (), flat[:1]
        result = "i64"
        if group.kind == "global":
            function, result = "__pto_query", "ptr"
        call = Call(function, name, pairs, groups, flat, result, None, tile)
        self.calls.append(call)
        state = (Operand(result, assigned=call), *group.operands[1:])
        self.groups[tile] = Group(group.kind, group.fields, group.descriptor, state)

    def _share(self, tile: str, tensor: str) -> None:
        """Gives a tensor the sizes of a tile."""
        _, *sizes = self.groups[tile].operands
        group = self.groups[tensor]
        _, layout, _, *strides = group.fields
        fields = (group.fields[0], layout, "1x1x1x-1x-1", *strides)
        operands = (*group.operands[:4], *sizes, *group.operands[6:])
        self.groups[tensor] = Group("global", fields, f"global:{','.join(fields)}", operands)

    def _call(self, written: str, operands: list[str]) -> None:
        result, _, written = written.rpartition(":=")
        name, *modes = written.split(";")
        groups = tuple(self.groups[one] for one in operands if one in self.groups)
        values = tuple(self._value(one) for one in operands if one not in self.groups)
        flat = values or tuple(one for group in groups for one in group.operands)
        function = f"__pto_{name}" if name in _FUNCTIONS else "__pto_query" if result else "__pto_op"
        pairs = dict(mode.split("=") for mode in modes)
        self.calls.append(Call(function, name, pairs, groups, flat, result or None, None))

    def _value(self, text: str) -> Operand:
        if re.fullmatch(r"-?\d+", text):
            return Operand("i32", int(text))
        self.arguments[f"%{text}"] = "i32"
        return Operand("i32", name=f"%{text}")

    def _tile(self, name: str, words: list[str]) -> Group:
        location, element, shape, *rest = words
        options = dict(one.split("=") for one in rest)
        blayout, slayout, fractal = _LAYOUTS.get(location, ("RowMajor", "NoneBox", 512))
        valid = options.get("valid", shape)
        fields = (
            *(location, element, shape, options.get("blayout", blayout), valid.replace("?", "-1")),
            *(options.get("slayout", slayout), options.get("fractal", str(fractal))),
            *(options.get("pad", "Null"), options.get("compact", "Null")),
        )
        descriptor = f"tile:{','.join(fields)}"
        address = Operand("i64", int(options.get("at", "0"), 0))
        if address.value == -1:
            sizes = self._sizes_of(name, valid)
            return Group("tile", fields, descriptor, (address, *sizes))
        assignment = Call(
            "__pto_assign", "__pto_assign", {}, (), (Operand("ptr", descriptor), address), "i64", None, name
        )
        self.calls.append(assignment)
        sizes = self._sizes_of(name, valid)
        return Group("tile", fields, descriptor, (Operand("i64", assigned=assignment), *sizes))

    def _sizes_of(self, name: str, valid: str) -> list[Operand]:
        return [
            self._size(size, f"%{name}_{what}", "i32")
            for size, what in zip(valid.split("x"), ("rows", "cols"), strict=True)
        ]

    def _pipe(self, name: str, words: list[str]) -> Group:
        fields, to_vector, to_cube = words
        buffers = (Operand("i32", int(one, 0)) for one in (to_vector, to_cube))
        return Group("pipe", tuple(fields.split(",")), f"pipe:{fields}", (Operand("ptr", name=f"%{name}"), *buffers))

    def _tensor(self, name: str, words: list[str]) -> Group:
        element, shape, *rest = words
        options = dict(one.split("=") for one in rest)
        sizes = shape.split("x")
        strides = options.get("strides", "").split("x") if "strides" in options else _contiguous(sizes)
        fields = (
            element,
            options.get("layout", "ND"),
            shape.replace("?", "-1"),
            *(stride.replace("?", "-1") for stride in strides),
        )
        numbers = [self._size(size, f"%{name}_s{i}", "i64") for i, size in enumerate(sizes)]
        numbers += [self._size(stride, f"%{name}_t{i}", "i64") for i, stride in enumerate(strides)]
        return Group("global", fields, f"global:{','.join(fields)}", (Operand("ptr", name=f"%{name}"), *numbers))

    def _number(self, name: str, words: list[str]) -> Group:
        element, value = words
        type_ = _TYPES.get(element, element.removeprefix("u"))
        number = float(value) if element in _TYPES else int(value, 0)
        return Group("scalar", (element,), f"scalar:{element}", (Operand(type_, number),))

    def _pointer(self, name: str, words: list[str]) -> Group:
        return Group("ptr", (words[0], words[1]), f"ptr:{words[0]},{words[1]}", (Operand("ptr", name=f"%{name}"),))

    def _enum(self, name: str, words: list[str]) -> Group:
        return Group("enum", (words[0],), f"enum:{words[0]}", (Operand("i32", int(words[1])),))

    def _object(self, name: str, words: list[str]) -> Group:
        return Group(words[0], (), f"{words[0]}:", ())

    def _size(self, text: str, name: str, type_: str) -> Operand:
        if text != "?":
            return Operand(type_, int(text))
        self.arguments[name] = type_
        return Operand(type_, name=name)


def _contiguous(sizes: list[str]) -> list[str]:
    strides = ["1"]
    for size in reversed(sizes[1:]):
        strides.insert(0, "?" if "?" in (size, strides[0]) else str(int(size) * int(strides[0])))
    return strides
