"""The tables of the package in words: every constant of a module that is no text of a message, entry by entry.

What is kept in ``tests/ROOM/tables.txt`` is compared with what the modules of the room have. A change of a table shows
as a difference of lines; `tests/helpers/write_tables.py` writes them again.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
from xdsl.ir import Attribute

import pto_dialect
from pto_dialect.ir.core.base import signature
from pto_dialect.ir.core.registry import all_op_classes
from pto_dialect.verify.engine.rule import Rule

ROOMS = ("analysis", "ir", "passes", "runtime", "sanitize", "syntax", "targets", "verify")
_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*\Z")
_LONG = 118
_SHOWN = 60
_SIMPLE = (bool, int, float, str, tuple, frozenset, dict, Enum)
_WORDING = "'..'"
_ELSEWHERE = frozenset(("pto_dialect.ir.core.index",))
"""Modules that are written from others, which a test of their own compares."""
_BY_PLACE = frozenset(("_FULL", "FULL", "_WIDENERS", "_SITUATIONS", "NO_HANDLES", "_Latest"))
"""Constants and classes that know objects by where they lie, or change while programs are checked and run."""


def modules(room: str) -> list[str]:
    """Names of the modules of a room."""
    package = import_module(f"pto_dialect.{room}")
    found = [module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    return sorted(name for name in found if not name.endswith("__main__") and name not in _ELSEWHERE)


@cache
def _assigned(module: ModuleType) -> tuple[str, ...]:
    """Constants that the text of a module gives a value, in its order."""
    names: list[str] = []
    for node in ast.parse(inspect.getsource(module)).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        names += [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
    return tuple(name for name in dict.fromkeys(names) if _CONSTANT.match(name) and name not in _BY_PLACE)


def _inner(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Constants of the classes of a module, and what parameters of its functions are by themselves."""
    for owner in vars(module).values():
        if type(owner) is not FunctionType and not issubclass(type(owner), type):
            continue
        if owner.__module__ != module.__name__ or owner.__name__ in _BY_PLACE:
            continue
        if isinstance(owner, FunctionType):
            yield from _defaults(owner)
        elif isinstance(owner, type):
            for name, value in vars(owner).items():
                if isinstance(value, FunctionType):
                    yield from _defaults(value)
                elif not (name.startswith("_") and name.endswith("_")) and isinstance(value, _SIMPLE):
                    yield f"{owner.__qualname__}.{name}", value


def _defaults(function: FunctionType) -> Iterator[tuple[str, Any]]:
    found = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    if any(isinstance(value, _SIMPLE) for value in found) and "<" not in function.__qualname__:
        yield f"{function.__qualname__}()", tuple(found)


@cache
def tables(room: str) -> dict[str, list[str]]:
    """The lines of each module of a room that has tables."""
    found: dict[str, list[str]] = {}
    shown: dict[str, str] = {}
    loaded = [import_module(name) for name in modules(room)]
    for module in loaded:
        lines: list[str] = []
        for name in _assigned(module):
            lines += _constant(name, getattr(module, name, None), module.__name__, shown)
        for name, value in _inner(module):
            lines += _constant(name, value, module.__name__, shown)
        if lines:
            found[module.__name__] = lines
    return found


def _constant(name: str, value: Any, place: str, shown: dict[str, str]) -> Iterator[str]:
    if value is None or isinstance(value, (Path, ModuleType)) or said(value) == _WORDING:
        return
    yield from _lines(f"{name} = ", value, "", place, shown)


def _lines(head: str, value: Any, indent: str, place: str, shown: dict[str, str]) -> Iterator[str]:
    """A value behind ``head`` in one line, or its entries below it; what is still too long as a digest, and what was
    ``shown`` before (by its words, with its place) as that place."""
    whole = said(value)
    if len(indent) + len(head) + len(whole) <= _LONG:
        yield f"{indent}{head}{whole}"
        return
    same = shown.setdefault(whole, f"{place} {head.strip(' =:')}") if len(whole) > 2 * _LONG else ""
    if same != f"{place} {head.strip(' =:')}" and same:
        yield f"{indent}{head}as {same}"
        return
    entries = _entries(value)
    if len(entries) < 2 or len(indent) > 4:
        yield f"{indent}{head}{whole[:_SHOWN]} .. {hashlib.sha256(whole.encode()).hexdigest()[:8]}"
        return
    yield f"{indent}{head}{type(value).__name__}"
    for label, entry in entries:
        yield from _lines(label, entry, f"{indent}  ", place, shown)


def _entries(value: Any) -> list[tuple[str, Any]]:
    """Parts of a value, each with what stands in front of it."""
    if isinstance(value, Mapping):
        # Classes may share a name; who came first depends on what was loaded before.
        found = ((f"{said(key)}: ", entry) for key, entry in value.items())
        return sorted(found, key=lambda entry: (entry[0], said(entry[1])))
    if isinstance(value, (Set, list)):
        return [("", entry) for entry in sorted(value, key=said)]
    if isinstance(value, tuple):
        return [("", entry) for entry in value]
    if is_dataclass(value) and not isinstance(value, (type, Rule)):
        return [(f"{name}=", entry) for name, entry in _stated(value)]
    return []


def _stated(value: Any) -> list[tuple[str, Any]]:
    """Fields of a data class that are not as they are by themselves."""
    found = [(field, getattr(value, field.name, None)) for field in fields(value) if field.repr]
    return [(field.name, entry) for field, entry in found if field.default is MISSING or entry != field.default]


def said(value: Any, depth: int = 8) -> str:
    """A value in words that are the same in every run; wording is left out."""
    if depth == 0:
        return "..."
    if isinstance(value, (type, FunctionType, BuiltinFunctionType)):
        return _function(value) if isinstance(value, FunctionType) else value.__qualname__
    if isinstance(value, Enum):
        return str(value)
    if isinstance(value, str):
        return _WORDING if " " in value else repr(value.replace(_INSTALLED, "PACKAGE"))
    if value is None or isinstance(value, (bool, int, float, bytes)):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(sorted(f"{said(k, depth - 1)}: {said(v, depth - 1)}" for k, v in value.items())) + "}"
    if isinstance(value, (Set, list)):
        return "{" + ", ".join(sorted(said(entry, depth - 1) for entry in value)) + "}"
    if isinstance(value, tuple):
        named = type(value).__name__ if hasattr(value, "_fields") else ""
        return f"{named}({', '.join(said(entry, depth - 1) for entry in value)})"
    return _object(value, depth)


def _function(function: FunctionType) -> str:
    """Its name; of one without a name what it does."""
    if "<lambda>" not in function.__qualname__:
        return function.__qualname__
    code = function.__code__
    inner = [said(constant) for constant in code.co_consts if isinstance(constant, (bool, int, float, str))]
    cells = [said(cell.cell_contents, 2) for cell in function.__closure__ or ()]
    return f"<{' '.join((*code.co_varnames, *code.co_names, *inner, *cells))}>"


def _object(value: Any, depth: int) -> str:
    kind = type(value).__name__
    if isinstance(value, Attribute):
        return str(value)
    if isinstance(value, re.Pattern):
        return f"/{' '.join(value.pattern.split())}/"
    if isinstance(value, np.ndarray):
        return f"array{value.shape} of {value.dtype} {hashlib.sha256(value.tobytes()).hexdigest()[:8]}"
    if isinstance(value, np.ufunc):
        return value.__name__
    if isinstance(value, (np.generic, np.dtype, range, slice)):
        return repr(value)
    if isinstance(value, partial):
        return f"{said(value.func)}({said(value.args)}, {said(value.keywords)})"
    if is_dataclass(value) and not isinstance(value, Rule):
        return f"{kind}({', '.join(f'{name}={said(entry, depth - 1)}' for name, entry in _stated(value))})"
    return f"rule {value.id}" if isinstance(value, Rule) else kind


FOLDER = Path(__file__).parents[1]
_INSTALLED = str(Path(pto_dialect.__file__).parent)
"""Where the package lies, which is another place on each machine."""


def text(room: str) -> str:
    """The whole file of a room."""
    lines = [f"{name}\n" + "".join(f"  {line}\n" for line in lines) for name, lines in tables(room).items()]
    return "".join(lines)


@cache
def kept(room: str) -> dict[str, list[str]]:
    """What the file of a room has, by module."""
    found: dict[str, list[str]] = {}
    for line in (FOLDER / room / "tables.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            found[next(reversed(found))].append(line[2:])
        else:
            found[line] = []
    return found


def differences(room: str, module: str) -> list[str]:
    """Lines of a module that were kept and are not there; lines that are new are kept from the next writing on."""
    new = tables(room).get(module, [])
    return (
        [line for line in difflib.ndiff(kept(room)[module], new) if line[0] == "-"] if kept(room)[module] != new else []
    )


def operations() -> Iterator[str]:
    """Operands, results and attributes of every operation as they are declared."""
    for cls in all_op_classes():
        declared = signature(cls)
        operands, results = ([_slot(slot) for slot in slots] for slots in (declared.operands, declared.results))
        attributes = [_slot(slot) for slot in declared.attributes.values()]
        yield f"{cls.name}({', '.join(operands)}) -> ({', '.join(results)}) {{{', '.join(attributes)}}}"


def _slot(slot: Any) -> str:
    return f"{slot.name}{'' if slot.arity == '1' else slot.arity}: {slot.kind.label}"
