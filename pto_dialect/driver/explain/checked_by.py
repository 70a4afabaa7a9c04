"""Which rules check an operation: those that its check functions can report, and those whose examples show it.

Check functions name the ids of their rules, so what a function can report is found in its code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType

from pto_dialect.ir.core.index import OPS
from pto_dialect.verify.engine.checks import CHECKS
from pto_dialect.verify.engine.rule import RULES, Rule, load_all_rules
from pto_dialect.verify.tile.relations import relations_of

_NAME = re.compile(r"\bpto\.[\w.]+\w")


def rules_of(name: str) -> tuple[Rule, ...]:
    """Returns the rules about operation ``name``, by id. Rules about any statement are not among them."""
    load_all_rules()
    found = {rule.id: rule for function in _functions(name) for rule in _reported(function)}
    found |= {id: RULES[id] for id in _shown_with().get(name, ())}
    return tuple(rule for _, rule in sorted(found.items()))


def _functions(name: str) -> Iterator[FunctionType]:
    for by_name in CHECKS.values():
        yield from (function for function in by_name.get(name, ()) if isinstance(function, FunctionType))
    yield from (function for function in relations_of(name) if isinstance(function, FunctionType))


@cache
def _shown_with() -> dict[str, frozenset[str]]:
    """Rules by the operations of the program that breaks them, where these are few."""
    found: dict[str, set[str]] = {}
    for rule in RULES.values():
        names = {name for name in _NAME.findall(rule.bad or "") if name in OPS}
        for name in names if len(names) == 1 else ():
            found.setdefault(name, set()).add(rule.id)
    return {name: frozenset(ids) for name, ids in found.items()}


@cache
def _reported(function: FunctionType) -> frozenset[Rule]:
    """Returns the rules that ``function``, and the functions of rule modules that it calls, name."""
    found: set[Rule] = set()
    seen: set[FunctionType] = set()
    waiting = [function]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for code in _codes(current.__code__):
            # Ids without a hyphen are words that other strings may be as well; no operation of this dialect has one.
            ids = [id for id in code.co_consts if isinstance(id, str) and "-" in id]
            found |= {RULES[id] for id in ids if id in RULES}
            values = [current.__globals__.get(name) for name in code.co_names]
            waiting += [value for value in values if isinstance(value, FunctionType) and _is_of_rules(value)]
    return frozenset(found)


def _is_of_rules(function: FunctionType) -> bool:
    return function.__module__.startswith("pto_dialect.verify.")


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
