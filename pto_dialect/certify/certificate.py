"""Certificates as text: what a certificate states, and whether it is one of a program.

Source: docs/reference/order-proof.md, "Certificates".
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from xdsl.ir import Operation

from pto_dialect.ir.core.facts.pipe import Pipe
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk

from .check import Check, RefusedError, State
from .course import Course

Data = dict[str, Any]
VERSION = 3


def verify(text: str, program: str, module: Operation, target: str | None = None) -> str:
    """Returns the name of the function whose order in ``module`` the certificate ``text`` proves; the module is
    verified and was read from ``program``, ``target`` is the chip, if the program states none or another one.

    Raises :class:`RefusedError` with the reason, and ``NotCoveredError`` for what no certificate covers."""
    try:
        data = json.loads(text)
        name, loops = data["function"], list(data["loops"])
    except (ValueError, RecursionError, TypeError, KeyError):
        raise RefusedError("it is no certificate") from None
    course = Course(_function(module, name), target)
    try:
        check = Check(course, {number: _state(one, course.count) for number, one in enumerate(loops)})
    except (ValueError, TypeError, KeyError, AttributeError):
        raise RefusedError("its loops are no invariants") from None
    expected = data_of(program, name, check)
    for key in (*expected, *data):
        # As text, because 1.0 and true are equal to 1 otherwise.
        if key not in data or key not in expected or json.dumps(data[key]) != json.dumps(expected[key]):
            raise RefusedError(f"its entry '{key}' is another one than that of the program")
    if len(loops) != len(course.loops):
        raise RefusedError("its loops are not those of the function")
    check.run()
    return str(name)


def data_of(program: str, name: str, check: Check) -> Data:
    """Returns what a certificate states: ``program`` is the digest of the text, ``statements`` are name and pipe of
    each operation that accesses memory, ``pairs`` those that need an order, ``loops`` the invariants, all by number."""
    return {
        "certificate": VERSION,
        "program": sha256(program.encode("utf-8", "surrogatepass")).hexdigest(),
        "function": name,
        "target": check.course.arch,
        "statements": [[one.op.name, one.pipe.name] for one in check.course.work],
        "pairs": [[one, later] for later, bits in enumerate(check.rivals) for one in _numbers(bits)],
        "loops": [_stated(state) for _, state in sorted(check.invariants.items())],
    }


def _function(module: Operation, name: object) -> Operation:
    functions = [op for op in walk(module) if has_role(op, Role.FUNCTION) and op.regions[0].blocks]
    found = [op for op in functions if getattr(op.properties.get("sym_name"), "data", "") == name]
    if len(found) != 1:
        raise RefusedError(f"the program has {len(found)} functions with this name")
    return found[0]


def _stated(one: State) -> dict[str, list[int]]:
    """Returns an invariant; a key names pipes and ids. Buffer ids that carry nothing are left out."""
    words = {" ".join(str(part) if isinstance(part, int) else part.name for part in key): key for key in one}
    return {word: _numbers(one[key]) for word, key in sorted(words.items()) if one[key] or not word.isdecimal()}


def _numbers(bits: int) -> list[int]:
    return [number for number in range(bits.bit_length()) if bits >> number & 1]


def _state(data: dict[str, list[int]], count: int) -> State:
    """Returns what :func:`_stated` makes of an invariant; other forms are noticed later, when it is stated again."""
    found: State = {(number,): 0 for number in range(32)}
    for word, numbers in data.items():
        if not set(numbers) <= set(range(count)):
            raise ValueError(numbers)
        key = tuple(int(part) if part.isdecimal() else Pipe[part] for part in word.split())
        found[key] = sum(1 << number for number in set(numbers))
    return found
