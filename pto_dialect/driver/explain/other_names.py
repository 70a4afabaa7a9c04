"""Pages of names that programs and command lines take from elsewhere: operations of the core dialects, and passes."""

from __future__ import annotations

from collections.abc import Iterator

from pto_dialect.ir.core_dialects.core_ops import ALIASES
from pto_dialect.ir.core_dialects.forms import forms_of, shown
from pto_dialect.passes.registry import PASS_TABLE
from pto_dialect.passes.stages import STAGES
from pto_dialect.verify.core.table import CORE_NAMES, CoreSlot, constraints_of

from ..reference.core import DOCUMENTED, declared, runs
from .page import Block, Code, Page, Section, Table, Text, code, codes, plain
from .search.core_purposes import CORE_PURPOSES

_REGIONS = dict.fromkeys(
    [
        *("scf.for", "scf.if", "scf.while", "scf.execute_region", "scf.index_switch", "scf.parallel", "scf.reduce"),
        *("affine.for", "affine.if", "affine.parallel", "memref.alloca_scope"),
    ],
    " ({ .. })",
)
"""What the generic form of an operation has for its regions."""
_SHORT = {long: short for short, long in ALIASES.items()}
_LETTERS = "`T` stands for a type, `..` for statements."
_ARITY = {"1": "", "?": ", optional", "*": ", any number"}


def other_page(word: str) -> Page | None:
    """Returns the page of a core operation (``arith.addi``, ``return``) or of a pass; ``None`` for other words."""
    name = ALIASES.get(word, word)
    if name in DOCUMENTED:
        return _core(name)
    if word in PASS_TABLE:
        return _pass(word)
    return None


def _core(name: str) -> Page:
    dialect = name.partition(".")[0]
    purposes = CORE_PURPOSES.get(name, ())
    known = declared(name)
    sections = [
        Section("Overview", tuple(_overview(name, purposes))),
        Section(
            "Syntax",
            (
                Code("text", "\n".join((*map(shown, forms_of(name)), *_generic(name)))),
                Text(_LETTERS + (" The last line is the generic form." if name in CORE_NAMES else "")),
            ),
        ),
        Section("Operands", tuple(_slots("operand", (*known.operands, *known.results), len(known.operands)))),
        Section("Attributes", tuple(_slots("attribute", known.attributes, 0))),
        Section("Source", (Text("[Core dialects](../reference/core-dialects.md)"),)),
    ]
    said = f"{purposes[0][0].upper()}{purposes[0][1:]}." if purposes else f"Operation of the dialect `{dialect}`."
    return Page(name, said, tuple(section for section in sections if section.blocks))


def _overview(name: str, purposes: tuple[str, ...]) -> Iterator[Block]:
    short = _SHORT.get(name, "")
    rows = [("dialect", name.partition(".")[0]), ("runs", "yes" if runs(name) else "no")]
    rows += [("also written", code(short))] if short else []
    rows += [("use it for", "; ".join(map(plain, purposes)))] if purposes else []
    yield Table(("", ""), tuple(rows))


def _generic(name: str) -> Iterator[str]:
    if name not in CORE_NAMES:
        return
    known = constraints_of(name)
    results = ", ".join(f"%{slot.name}" for slot in known.results)
    operands = ", ".join(f"%{slot.name}" for slot in known.operands)
    kinds = (", ".join("T" for _ in slots) for slots in (known.operands, known.results))
    types = " -> ".join(f"({kind})" for kind in kinds)
    regions = _REGIONS.get(name, "")
    yield f'{f"{results} = " if results else ""}"{name}"({operands}){regions} : {types}'


def _slots(head: str, slots: tuple[CoreSlot, ...], results: int) -> Iterator[Block]:
    """Yields a table of operands, and results from number ``results`` on, or of attributes."""
    mark = "%" if head == "operand" else ""
    rows = tuple(
        (
            f"`{mark}{slot.name}`",
            f"{plain(slot.kind.label)}{_ARITY[slot.arity]}{'; result' if mark and number >= results else ''}",
        )
        for number, slot in enumerate(slots)
    )
    if rows:
        yield Table((head, "type" if mark else "values"), rows)


def _pass(name: str) -> Page:
    entry = PASS_TABLE[name]
    rows = [("purpose", plain(entry.summary)), ("changes the program", "yes" if entry.changes else "no, it reports")]
    rows += [("stage of --lower", stage) for stage, row in STAGES.items() if name in row.passes]
    sections = [Section("Overview", (Table(("", ""), tuple(rows)),)), Section("Syntax", (_call(name),))]
    if entry.options:
        options = tuple(
            (f"`{option}`", code(values[0]) if values else "–", codes(values[1:]) if values else "any text")
            for option, values in entry.options.items()
        )
        sections.append(Section("Options", (Table(("option", "default", "other values"), options),)))
    sections.append(Section("Source", (Text("[pto-opt](../pto-opt.md)"),)))
    return Page(name, "a pass of pto opt", tuple(sections))


def _call(name: str) -> Code:
    options = PASS_TABLE[name].options
    shown = " ".join(f"{option}={values[0]}" for option, values in options.items() if values and values[0])
    return Code("text", f"pto opt -p '{name}{{{shown}}}' FILE" if shown else f"pto opt -p {name} FILE")
