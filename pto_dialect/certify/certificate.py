"""Certificates as text: what a certificate states, and whether it is one of a program.

Source: docs/reference/order-proof.md, "Certificates".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from xdsl.ir import Operation

from pto_dialect.ir.core.facts.pipe import Pipe
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk

from .check import Check, RefusedError, State
from .course import Course

VERSION = 1
_PIPES = {pipe.name: pipe for pipe in Pipe if pipe is not Pipe.ALL}
KEYS = ("certificate", "program", "function", "target", "statements", "pairs", "loops")
LOOP_KEYS = ("known", "flags", "released", "held")


@dataclass(frozen=True)
class Certificate:
    """``program`` is the digest of its text; ``statements`` are name and pipe of each operation that accesses memory,
    ``pairs`` those that need an order, ``loops`` the invariants of the loops, all by number."""

    program: str
    function: str
    target: str
    statements: list[list[str]]
    pairs: list[list[int]]
    loops: list[State]


def digest(text: str) -> str:
    """What stands for the text of a program."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def verify(text: str, program: str, module: Operation, target: str | None = None) -> Certificate:
    """The certificate ``text`` if it proves the order of its function in ``module``, which is verified and was read
    from ``program``; ``target`` is the chip, if the program states none or another one.

    Raises :class:`RefusedError` with the reason, and ``NotCoveredError`` for what no certificate covers."""
    found = _read(text)
    if found.program != digest(program):
        raise RefusedError("it is for a program with another text")
    course = Course(_function(module, found.function), target)
    if course.arch != found.target:
        raise RefusedError(f"the function is for {course.arch}, the certificate for {found.target}")
    check = Check(course, dict(enumerate(found.loops)))
    if found.statements != statements_of(course):
        raise RefusedError("its statements are not those of the function")
    if found.pairs != [list(pair) for pair in check.pairs]:
        raise RefusedError("its pairs of statements are not those that need an order")
    if len(found.loops) != len(course.loops):
        raise RefusedError("its loops are not those of the function")
    check.run()
    return found


def statements_of(course: Course) -> list[list[str]]:
    """Name and pipe of each operation that accesses memory."""
    return [[one.op.name, one.pipe.name] for one in course.work]


def _function(module: Operation, name: str) -> Operation:
    found = [op for op in walk(module) if has_role(op, Role.FUNCTION) and _name(op) == name and op.regions[0].blocks]
    if len(found) != 1:
        raise RefusedError(f"the program has {len(found)} functions with the name '{name}'")
    return found[0]


def _name(function: Operation) -> str:
    return getattr(function.properties.get("sym_name"), "data", "")


# ------------------------------------------------------------ reading


def _read(text: str) -> Certificate:
    """A certificate from its text. Raises :class:`RefusedError` for anything else."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise RefusedError("it is no JSON document") from None
    entries = _record(data, KEYS)
    if entries[0] != VERSION or isinstance(entries[0], bool):
        raise RefusedError(f"its version is not {VERSION}")
    program, function, target = (_typed(one, str) for one in entries[1:4])
    statements = [[_typed(word, str) for word in _typed(one, list)] for one in _typed(entries[4], list)]
    count = len(statements)
    pairs = [[_number(one, count) for one in _typed(pair, list)] for pair in _typed(entries[5], list)]
    loops = [_state(one, count) for one in _typed(entries[6], list)]
    return Certificate(program, function, target, statements, pairs, loops)


def _record(data: Any, keys: tuple[str, ...]) -> list[Any]:
    """The values of a record with these keys."""
    if not isinstance(data, dict) or set(data) != set(keys):
        raise RefusedError(f"it lacks or adds keys of a record of {', '.join(keys)}")
    return [data[key] for key in keys]


def _typed(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise RefusedError(f"it has a {type(value).__name__} instead of a {kind.__name__}")
    return value


def _number(value: Any, end: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < end:
        raise RefusedError(f"it has {str(value)[:40]} instead of a number below {end}")
    return value


def _bits(value: Any, count: int) -> int:
    found = 0
    for one in _typed(value, list):
        found |= 1 << _number(one, count)
    return found


def _pipe(value: Any) -> Pipe:
    if not isinstance(value, str) or value not in _PIPES:
        raise RefusedError(f"it has {str(value)[:40]} instead of a pipe")
    return _PIPES[value]


def _rows(value: Any, length: int) -> Iterator[list[Any]]:
    for row in _typed(value, list):
        if len(_typed(row, list)) != length:
            raise RefusedError(f"it has a row of {len(row)} instead of {length}")
        yield row


def _state(data: Any, count: int) -> State:
    known, flags, released, held = _record(data, LOOP_KEYS)
    state = State(dict.fromkeys(Pipe, 0))
    for pipe, numbers in _typed(known, dict).items():
        state.known[_pipe(pipe)] = _bits(numbers, count)
    for source, target, number, numbers in _rows(flags, 4):
        state.flags[_pipe(source), _pipe(target), _number(number, 8)] = _bits(numbers, count)
    for number, numbers in _rows(released, 2):
        state.released[_number(number, 32)] = _bits(numbers, count)
    state.held = frozenset((_pipe(pipe), _number(number, 32)) for pipe, number in _rows(held, 2))
    return state
