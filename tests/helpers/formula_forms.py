"""Forms of an operation that change what it computes, and a pytest plugin that notes which of them tests compile.

A form is the operation alone (an empty text), with an optional operand (``with scale``), or with one value of an
attribute (``rmode=FLOOR``).  The plugin is used as ``-p formula_forms``; ``$PTO_FORMS`` names the file that gets the
forms by test.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation

from pto_dialect.ir.core.attributes import ENUMS, EnumAttr
from pto_dialect.ir.core.base import PtoOp, operand_groups, signature
from pto_dialect.ir.core.kinds import BOOL


def declared_forms(cls: type[PtoOp]) -> Iterator[str]:
    """All forms that the declaration of an operation allows."""
    declared = signature(cls)
    defaults = {(name, text.rstrip(">").split()[-1]) for name, text in signature(cls).defaults.items()}
    yield ""
    for slot in declared.operands:
        if slot.arity != "1":
            yield f"with {slot.name}"
    for slot in declared.attributes.values():
        words = [*(word for name in slot.kind.enums for word in ENUMS[name].values), *slot.kind.words]
        if slot.kind == BOOL:
            words = ["true"]
        for word in words or ([""] if slot.arity == "?" else []):
            # What the absence of an attribute means is the operation alone.
            if (slot.name, word) not in defaults:
                yield f"{slot.name}={word}"


def _text(attr: Attribute, closed: bool) -> str:
    if isinstance(attr, EnumAttr):
        return attr.data[1]
    if isinstance(attr, StringAttr) and closed:
        return attr.data
    if isinstance(attr, IntegerAttr) and closed:
        return "true" if attr.value.data else "false"
    return ""


def forms_of(op: Operation) -> Iterator[str]:
    """Forms that one operation of a program has."""
    yield ""
    if isinstance(op, PtoOp):
        for name, values in operand_groups(op).items():
            if values:
                yield f"with {name}"
        for name, slot in signature(type(op)).attributes.items():
            attr = op.attributes.get(name) or op.properties.get(name)
            if attr is not None:
                yield f"{name}={_text(attr, slot.kind == BOOL or bool(slot.kind.words))}"


_SEEN: dict[str, set[tuple[str, str, str]]] = {}
_CURRENT = [""]


def pytest_configure(config: Any) -> None:
    """Notes what is compiled from now on."""
    if "PTO_FORMS" not in os.environ:
        return
    from pto_dialect.runtime.kernels import registry

    generate = registry.generate

    def noted(op: Operation, generator: Any) -> None:
        generate(op, generator)
        seen = _SEEN.setdefault(_CURRENT[0], set())
        seen.update((op.name, generator.profile.arch, form) for form in forms_of(op))

    registry.generate = noted


def pytest_runtest_setup(item: Any) -> None:
    """What is compiled belongs to the test that runs."""
    _CURRENT[0] = item.nodeid


def pytest_unconfigure(config: Any) -> None:
    """Writes the file."""
    if "PTO_FORMS" in os.environ:
        worker = getattr(config, "workerinput", {}).get("workerid", "")
        found = {node: sorted(seen) for node, seen in _SEEN.items()}
        Path(os.environ["PTO_FORMS"] + worker).write_text(json.dumps(found), encoding="utf-8")
