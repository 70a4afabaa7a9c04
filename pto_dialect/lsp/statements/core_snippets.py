"""Whole statements of operations of the core dialects, from their written forms."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pto_dialect.ir.core.types import type_text
from pto_dialect.ir.core_dialects.forms import CLASSES, HOLE, forms_of, operands_of, result_count

from .placeholders import escaped, free_names
from .scope import Typed


def operand_patterns(name: str) -> tuple[str, ...]:
    """Returns what the types of the operands of an operation must spell, as patterns; nothing for one in generic form
    only."""
    return tuple(CLASSES[of][0] for form in forms_of(name)[:1] for of in operands_of(form).values())


def core_statement(name: str, scope: Sequence[Typed], results: int) -> str | None:
    """Returns the statement as a snippet, ``None`` where no form has such results.

    ``results`` is the number of results whose names, with the equals sign, the text already has.
    """
    forms = forms_of(name)
    form = next((form for form in forms if results in (0, result_count(form))), None)
    if form is None:
        return None
    if results and form.startswith("<"):
        form = form.partition(" = ")[2]
    return _Filled(form, scope).text()


class _Filled:
    """A form whose operands are values in scope."""

    def __init__(self, form: str, scope: Sequence[Typed]) -> None:
        self.form, self.scope = form, scope
        self.types = {of: self._type(of) for of in CLASSES if f":{of}>" in form or f"<{of}>" in form}
        self.stops = 0
        self.used: list[str] = []
        self.bound: dict[str, str] = {}

    def _type(self, of: str) -> str:
        pattern, usual = CLASSES[of]
        return next((text for value in self.scope if re.fullmatch(pattern, text := type_text(value.type))), usual)

    def text(self) -> str:
        parts: list[str] = []
        last = 0
        for hole in HOLE.finditer(self.form):
            parts += escaped(self.form[last : hole.start()]), self._filled(hole)
            last = hole.end()
        return "".join((*parts, escaped(self.form[last:])))

    def _filled(self, hole: re.Match[str]) -> str:
        if hole[0] == "<>":
            return "$0"
        if hole["name"] in self.types:
            return escaped(self.types[hole["name"]])
        self.stops += 1
        if hole["operand"]:
            text = self._operand(hole)
        elif hole["text"]:
            text = self._bound(hole["text"]) if hole["text"].startswith("%") else hole["text"]
        else:
            text = self._free("v")
        return f"${{{self.stops}:{escaped(text)}}}"

    def _operand(self, hole: re.Match[str]) -> str:
        """Returns the nearest value of the type that is not an operand yet."""
        kind = self.types[hole["of"]]
        fitting = [value.name for value in self.scope if type_text(value.type) == kind]
        fresh = (name for name in fitting if name not in self.used)
        name = next(fresh, fitting[0] if fitting else f"%{hole['operand']}")
        self.used.append(name)
        return name

    def _bound(self, name: str) -> str:
        """Returns the name of a loop's counter or value; another one where a value in scope has it."""
        if name not in self.bound:
            taken = any(value.name == name for value in self.scope)
            self.bound[name] = self._free(name[1:]) if taken else name
        return self.bound[name]

    def _free(self, stem: str) -> str:
        """Returns a name that neither scope nor statement has."""
        name = next(name for name in free_names(stem, self.scope, len(self.used) + 1) if name not in self.used)
        self.used.append(name)
        return name
