"""The page of an operation, from its declaration, the tables of the targets, the rules and its example."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pto_dialect.analysis.cycles.static import static_cycles
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.families import level_of
from pto_dialect.ir.clauses import clauses_of
from pto_dialect.ir.core.aliases import DEPRECATED
from pto_dialect.ir.core.base import PtoOp, Slot, op_spec, signature
from pto_dialect.ir.core.registry import family_of, op_class
from pto_dialect.ir.core.roles import Role
from pto_dialect.runtime.kernels.refusals import reason
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.targets.choice import get_profile
from pto_dialect.targets.tile_layouts import TileLayout
from pto_dialect.verify.engine.rule import Rule

from ..reference.clauses import written
from ..reference.operations import TITLES, computes, pipe, targets
from .checked_by import rules_of
from .element_types import element_types
from .examples import Example, example_of
from .layouts import BY_NAME, order, picture
from .manual.effects import differences, effects
from .manual.memories import memories
from .manual.prose import marked, prose_of, summary_of
from .manual.spellings import spellings
from .manual.syntax import laid_out, typed
from .manual.units import unit_of
from .operand_words import access, kind_of, meaning, yielded
from .page import Block, Code, Page, Section, Table, Text, code, codes, plain
from .related import aliases, related
from .running import Ran, run
from .schema import forms, values_of
from .search.operation_purposes import PURPOSES
from .word_meanings import word_meanings
from .wrong import wrong

_ENUM = re.compile(r"#pto<\w+ (\w+)>")
"""An enumerator in its long form."""
_ARITY = {"1": "", "?": ", optional", "*": ", any number"}
_SOURCE = re.compile(r"docs/(reference/\w[\w-]*\.md), \"([^\"]+)\"")
_LAYOUT = re.compile(r"<(\w+), [^<>]*?(blayout=(\w+))?(?:, )?(slayout=(\w+))?[^<>]*>")


def operation_page(name: str) -> Page:
    """Returns everything that is known about operation ``name``."""
    cls = op_class(name)
    ran = run(example_of(name))
    said = prose_of(name)
    sections = [
        Section("Mechanism", tuple(Text(marked(paragraph)) for paragraph in said.mechanism)),
        Section("Example", tuple(_example(name, ran))),
        Section("Overview", tuple(_overview(cls))),
        Section("Syntax", tuple(_syntax(cls))),
        Section("Operands", tuple(_operands(cls))),
        Section("Attributes", tuple(_attributes(cls))),
        Section("Clauses", tuple(_clauses(cls))),
        Section("Constraints", tuple(_constraints(name))),
        Section("A mistake", tuple(_mistake(name))),
        Section("Effects", tuple(effects(cls, pipe_of(cls)))),
        Section("Formula", tuple(_formula(cls, said.formula))),
        Section("Layouts", tuple(_layouts(name))),
        Section("Element types", tuple(element_types(example_of(name)))),
        Section("Targets", tuple(differences(cls))),
        Section("Cycles", tuple(_cycles(cls))),
        Section("Related operations", tuple(_related(name))),
        Section("Source", tuple(_sources(cls))),
    ]
    return Page(name, said.summary, tuple(section for section in sections if section.blocks))


def _syntax(cls: type[PtoOp]) -> Iterator[Block]:
    lines = forms(cls)
    yield Code("text", "\n".join(laid_out(typed(line, cls)) for line in lines[:-1] or lines) + _generic(lines))
    yield Text(_legend(lines))
    yield from spellings(cls)


def _generic(lines: Sequence[str]) -> str:
    return f"\n{laid_out(lines[-1])}" if len(lines) > 1 else ""


_MARKS = (
    (re.compile(r"\bT\b"), "`T` stands for a type"),
    (re.compile(r" \[|\[,|\w\[[,%]|\[T"), "`[..]` for optional parts"),
    (re.compile(r"\w\|\w"), "`a|b` for one of these keywords"),
    (re.compile(r"\[I\b"), "`I` for a number"),
    (re.compile(r"<[A-Z]+(?:_[A-Z]+)*>"), "`<WORD>` for an enumerator of the attribute of that name"),
)


def _legend(lines: Sequence[str]) -> str:
    """Returns what the marks mean that the forms have."""
    text = "\n".join(lines)
    marks = [said for pattern, said in _MARKS if pattern.search(text)]
    if marks and " stands for " not in marks[0]:
        marks[0] = marks[0].replace(" for ", " stands for ", 1)
    generic = "The last line is the generic form, which every operation has."
    return f"{', '.join(marks)}. {generic}" if marks else generic


def _overview(cls: type[PtoOp]) -> Iterator[Block]:
    family = family_of(cls)
    refused = reason(cls.name)
    rows = [
        ("family", f"[{TITLES[family]}](families/{family}.md)"),
        ("level", level_of(family) or "tile and common"),
        ("targets", targets(cls) or "–"),
        ("pipe", pipe_of(cls)),
        ("runs", "yes" if refused is None else f"no: {refused}"),
    ]
    others = aliases().get(cls.name)
    if cls.name in PURPOSES:
        rows.append(("use it for", "; ".join(map(plain, PURPOSES[cls.name]))))
    if others:
        rows.append(("also written", codes(others)))
    if cls.name in DEPRECATED:
        rows.append(("versions", f"only in the older dialect; now {DEPRECATED[cls.name]}"))
    elif op_spec(cls).since == "august":
        rows.append(("versions", "only in the newer dialect"))
    yield Table(("", ""), tuple(rows))


def pipe_of(cls: type[PtoOp]) -> str:
    """Returns the pipe; of operations that name one, the attribute that does so."""
    attributes = signature(cls).attributes
    found = pipe(cls)
    usual, dependent, _ = found.partition("by its operands")
    if not dependent:
        return found
    end = "dst" if Role.WAITS in op_spec(cls).roles else "src"
    named = next((name for name in (f"{end}_pipe", f"{end}_op", "pipe", "op_type") if name in attributes), None)
    if named is not None:
        return f"the one that `{named}` names"
    return f"{usual.removesuffix(', ')}, or another one as its operands say" if usual else "as its operands say"


def _operands(cls: type[PtoOp]) -> Iterator[Block]:
    declared = signature(cls)
    places = memories(cls)
    rows = [
        (
            f"`%{slot.name}`",
            f"{plain(kind_of(cls, slot))}{places.get(slot.name, '')}{_ARITY[slot.arity]}{_access(cls, slot.name)}",
            _unit(cls, slot),
            meaning(cls, slot),
        )
        for slot in declared.operands
    ]
    rows += [
        (
            f"`%{slot.name.rstrip('_')}`",
            f"{plain(kind_of(cls, slot))}{_ARITY[slot.arity]}; result",
            "–",
            yielded(cls, slot),
        )
        for slot in declared.results
    ]
    if rows:
        yield Table(("operand", "type", "unit and range", "meaning"), tuple(rows))


def _access(cls: type[PtoOp], name: str) -> str:
    """Returns what is done to the memory of an operand; nothing where only its value counts."""
    found = access(cls, name)
    return "" if found == "value" else f"; {found}"


def _unit(cls: type[PtoOp], slot: Slot, attribute: bool = False) -> str:
    found = unit_of(cls, slot, attribute)
    return "–" if found is None else marked(str(found))


def _attributes(cls: type[PtoOp]) -> Iterator[Block]:
    defaults = signature(cls).defaults
    rows = []
    for slot in signature(cls).attributes.values():
        words = values_of(cls, slot)
        values = codes(words) if words else plain(slot.kind.label)
        absent = code(_ENUM.sub(r"\1", str(defaults[slot.name]))) if slot.name in defaults else "absent"
        default = "needed" if slot.arity == "1" else absent
        unit = unit_of(cls, slot, True)
        said = f"{meaning(cls, slot, True)}{f', in {unit.unit}' if unit is not None else ''}"
        rows.append((f"`{slot.name}`", default, said, values))
    if rows:
        yield Table(("attribute", "default", "meaning", "values"), tuple(rows))
    said = [row for slot in signature(cls).attributes.values() for row in word_meanings(cls, slot)]
    if said:
        yield Table(("word", "meaning"), tuple((codes(words), plain(text)) for words, text in dict.fromkeys(said)))


def _clauses(cls: type[PtoOp]) -> Iterator[Block]:
    rows: list[tuple[str, str, str]] = []
    for taken in clauses_of(cls):
        needed = "needed" if taken.row.needed or taken.row.leads else "optional"
        rows.append((codes(written(taken.row, [cls])), needed, plain(taken.row.summary)))
    if rows:
        yield Text("In this order, each at most once:")
        yield Table(("clause", "", "meaning"), tuple(rows))


def _layouts(name: str) -> Iterator[Block]:
    """Yields the layouts of blocks that the locations of the example's tiles have, each once."""
    having: dict[TileLayout, dict[str, list[str]]] = {}
    for location in dict.fromkeys(found[1] for found in _LAYOUT.finditer(example_of(name).program)):
        for target in ("a2a3", "a5"):
            wanted = get_profile(target).layouts.get(location)
            if wanted is not None and wanted.native.slayout != "none_box":
                having.setdefault(wanted.native, {}).setdefault(location, []).append(target)
    for layout, places in having.items():
        label = next(key for key, known in BY_NAME.items() if known == layout[:2])
        where = " and ".join(f"`{location}` ({', '.join(chips)})" for location, chips in places.items())
        yield Text(f"Tiles in {where} are {label}. {order(layout)}")
        yield picture(layout)


def _formula(cls: type[PtoOp], lines: tuple[str, ...]) -> Iterator[Block]:
    if lines:
        yield Code("text", "\n".join(lines))
    notes = _numerics(cls)
    if notes:
        yield Table(("", ""), tuple(notes))


def _numerics(cls: type[PtoOp]) -> list[tuple[str, str]]:
    """Rounding, saturation and NaN, as attributes, clauses and the declaration say."""
    attributes = signature(cls).attributes
    rows: list[tuple[str, str]] = []
    for title, names in _NUMERIC.items():
        given = [slot for name, slot in attributes.items() if name in names]
        if given:
            words = " ".join(codes(values_of(cls, slot) or [slot.name]) for slot in given)
            rows.append((title, f"by `{given[0].name}`: {words}"))
    text = computes(cls)
    if "NaN" in text:
        rows.append(("NaN", "propagates" if "NaN propagates" in text else "as the sentence says"))
    if "with one rounding" in text:
        rows.append(("rounding", "once, at the end"))
    return rows


_NUMERIC = {
    "rounding": frozenset({"rmode", "rnd", "rounding", "round_mode", "tf32_mode"}),
    "saturation": frozenset({"sat_mode", "sat", "saturate", "saturation"}),
    "precision": frozenset({"precisionType"}),
}


def _cycles(cls: type[PtoOp]) -> Iterator[Block]:
    rows = tuple(cycles(example_of(cls.name), [target for target in targets(cls).split(", ") if target]))
    if rows:
        yield Text("Of the example, as the [cycle model](../cycles.md) has it:")
        yield Table(("target", "cycles", "from", "to", "evidence"), rows)
        yield Text(
            "; ".join(f"`{name}`: {said}" for name, said in EVIDENCE.items() if name in {row[4] for row in rows})
        )


def _example(name: str, ran: Ran) -> Iterator[Block]:
    example = example_of(name)
    yield Code("mlir", example.program.rstrip("\n"))
    if ran.findings:
        yield Text("It verifies with a warning: it shows an operation of the older dialect.")
    if ran.refused:
        yield Text(plain(f"It verifies. {ran.refused[0].upper()}{ran.refused[1:]}."))
        return
    if ran.rows:
        yield Text("It verifies, and a run of it gives:")
        yield Table(("", "name", "elements"), tuple((row.way, f"`{row.name}`", code(row.elements)) for row in ran.rows))
        if any(row.elements.startswith("[") for row in ran.rows):
            yield Text("A number in brackets is that of the first element that changed.")
    else:
        yield Text("It verifies and runs.")
    if ran.printed:
        yield Text("It prints:")
        yield Code("text", ran.printed)


def _mistake(name: str) -> Iterator[Block]:
    found = wrong(example_of(name))
    if found is not None:
        yield Code("mlir", found.statement)
        yield Code("console", found.message)


_SEVERE = ("error", "warning", "info")


def _constraints(name: str) -> Iterator[Block]:
    """Yields the rules, numbered: those that reject a program first."""
    found = [rule for rule in rules_of(name) if not rule.id.startswith("parse-")]
    found.sort(key=lambda rule: _SEVERE.index(rule.severity.label))
    rows = [
        (str(number), plain(rule.text), _rule_link(rule), rule.severity.label) for number, rule in enumerate(found, 1)
    ]
    if rows:
        yield Table(("", "constraint", "rule", "severity"), tuple(rows))


def _rule_link(rule: Rule) -> str:
    """Returns the rule, linked to its programs in the catalogue where it has some."""
    shown = rule.bad is not None or rule.commands is not None
    return f"[`{rule.id}`](../rules.md{'#' + rule.id if shown else ''})"


def _related(name: str) -> Iterator[Block]:
    found = related(name)
    if found:
        yield Table(
            ("operation", "what it does"),
            tuple((f"[`{other}`]({other}.md)", summary_of(other)) for other in found),
        )


def _sources(cls: type[PtoOp]) -> Iterator[Block]:
    """Yields the pages that the operation's docstring cites, otherwise those of its module."""
    own, shared = (" ".join((text or "").split()) for text in (cls.__doc__, sys.modules[cls.__module__].__doc__))
    found = _SOURCE.findall(own) or _SOURCE.findall(shared)
    links = [f"[{heading}](../{page}#{_anchor(heading)})" for page, heading in found]
    links.append("[Shapes](../reference/language.md#shapes)")
    yield Text(", ".join(dict.fromkeys(links)))


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


EVIDENCE: Final = {
    "measured": "from measurements of this operation and type",
    "neighbour": "from measurements of other operations of its class, or on the other chip",
    "published": "from a rate or latency that was published",
    "family": "from the law of the family alone",
    "assumed": "from the bytes that it touches alone",
}
"""What figures rest on, as docs/reference/cycles.md has it."""


def cycles(example: Example, targets: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Target, cycles, lower and upper bound and evidence of the operation in its example, for targets that have it."""
    for target in targets:
        module = parse_program(SourceFile("example.pto", example.program), DiagnosticEngine())
        assert module is not None
        lines = static_cycles(module, "example.pto", target, None, {}).lines
        line = {line.operation: line for line in reversed(lines)}.get(example.name)
        if line is not None:
            found = line.estimate
            yield target, f"{found.cycles:.0f}", f"{found.low:.0f}", f"{found.high:.0f}", found.evidence
