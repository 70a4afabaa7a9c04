"""The operands of the operation that is being written."""

from __future__ import annotations

from lsprotocol import types

from pto_dialect.driver.explain.operand_words import meaning
from pto_dialect.driver.explain.schema import forms
from pto_dialect.driver.reference.operations import computes
from pto_dialect.ir.core.base import op_spec, signature

from .program.document import Document
from .program.statement import Statement

TRIGGERS = ["(", ",", " ", "["]


def signature_help(server: object, document: Document, params: types.SignatureHelpParams) -> types.SignatureHelp | None:
    """Returns the form of the operation, its operands, and which of them comes next."""
    statement = Statement(document.text, document.offset(params.position))
    cls = statement.operation
    if cls is None or statement.in_comment:
        return None
    spec = op_spec(cls)
    slots = {slot.name: slot for slot in signature(cls).operands}
    order = [slots[name] for name in spec.text or tuple(slots)]
    shown = [form for form in forms(cls)[:-1]] or forms(cls)
    found: list[types.SignatureInformation] = []
    written = sum(token.text.count("%") for token in statement.behind if token.type in ("USES", "BINDINGS"))
    for form in shown:
        parameters = []
        for slot in order:
            place = form.find(f"%{slot.name}")
            if place >= 0:
                words = f"{slot.kind.label}: {meaning(cls, slot)}"
                parameters.append(types.ParameterInformation((place, place + len(slot.name) + 1), words))
        number = min(written, len(parameters) - 1) if parameters else None
        found.append(types.SignatureInformation(form, computes(cls).replace("``", "`"), parameters, number))
    return types.SignatureHelp(found, 0, found[0].active_parameter if found else None)
