"""One model of each operation form: what verifier, runs, sanitizers, checks of the text, planner and cycle model
believe of it is what the record says. Each part is read in its own way, over all forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache

import pytest
from all_forms import Form, all_forms

from pto_dialect.analysis.abstract_state import Step
from pto_dialect.analysis.cycles.operations import pipe_work_of
from pto_dialect.families import level_of
from pto_dialect.ir.core.base import PtoOp, op_spec
from pto_dialect.ir.core.facts.operation_form import Completion, OperationForm, form_of
from pto_dialect.ir.core.facts.pipe import Pipe
from pto_dialect.ir.core.registry import all_op_classes, family_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import MultiTileBufType, TileBufType
from pto_dialect.passes.accesses.items import NUMBER, SCALAR, Leaf, UnsupportedError
from pto_dialect.passes.accesses.locations import HandleLocations, MemoryLocation
from pto_dialect.passes.accesses.program import MEMORY, Reader
from pto_dialect.passes.check_memory import tile_operands
from pto_dialect.passes.forms.operands import accesses, is_tile_operation
from pto_dialect.passes.sync_flow import locations_of
from pto_dialect.sanitize.report.sites import Sites
from pto_dialect.targets.choice import get_profile

ORDERING = Role.PIPES | Role.LOCK | Role.BARRIER | Role.CORES | Role.BLOCKS | Role.PEERS | Role.SIGNAL | Role.JOINS
TILES = (TileBufType, MultiTileBufType)


@cache
def walked() -> tuple[tuple[Form, OperationForm], ...]:
    return tuple((form, form_of(form.op, form.target, form.backend)) for form in all_forms())


def differences(believes: Callable[[Form, OperationForm], object | None]) -> list[str]:
    """What ``believes`` says of forms that it has another opinion of."""
    return [f"{form.label}: {found}" for form, record in walked() if (found := believes(form, record)) is not None]


def memory(form: Form, names: tuple[str, ...], types: tuple[type, ...] = MEMORY) -> set[str]:
    """Those of the operands ``names`` that refer to memory."""
    return {name for value, name in form.name_of.items() if name in names and isinstance(value.type, types)}  # pyright: ignore[reportAttributeAccessIssue]


def test_all_forms_are_walked() -> None:
    classes = Counter(form.op.name for form, _ in walked())
    assert classes.keys() == {cls.name for cls in all_op_classes()}
    assert min(classes.values()) >= 3
    with_scratch = {form.op.name for form, record in walked() if record.scratch}
    assert len(with_scratch) > 30
    print(f"{len(walked())} forms of {len(classes)} operations")


def test_the_record_of_a_form_contradicts_nothing_in_itself() -> None:
    def believes(form: Form, record: OperationForm) -> object | None:
        written = set(record.writes)
        wrong = [
            not set(record.must_write) <= written,
            not set(record.clobbered) <= written,
            not set(record.scratch) <= set(record.clobbered),
            bool(set(record.unused) & {*record.reads, *written}),
            bool(set(record.must_write) & set(record.clobbered)),
            not {*record.reads, *written, *record.unused} <= set(form.present),
            record.pipe is not None and record.pipe not in record.pipes,
            record.pipe not in (None, Pipe.S) and bool(written) and record.completion is Completion.ISSUE,
            record.self_ordered and Pipe.ALL not in record.drains,
        ]
        return record if any(wrong) else None

    assert differences(believes) == []


def test_verifier() -> None:
    def believes(form: Form, record: OperationForm) -> object | None:
        profile, name = get_profile(form.target), form.op.name.removeprefix("pto.")
        level = level_of(family_of(type(form.op)))
        found = profile.available(name) and not (level is not None and profile.is_foreign(name, level))
        return None if found == record.available else found

    assert differences(believes) == []


def test_sanitizer() -> None:
    def believes(form: Form, record: OperationForm) -> object | None:
        if op_spec(type(form.op)).queue is not None:
            # A pop binds its operand, which holds nothing before.
            return None
        sites = Sites()
        sites.arch, sites.backend = form.target, form.backend
        site, names = sites.add(form.op, ()), form.present
        found = [{names[number] for number in site.travelled(writing)} for writing in (False, True)]
        wanted = [memory(form, record.reads, TILES), memory(form, record.writes, TILES)]
        return None if found == wanted else found

    assert differences(believes) == []


def leaf_of(form: Form) -> Leaf | None:
    """What insert-sync and the planner take an operation for, where every operand has a location of its own."""
    given = {value: (MemoryLocation("ub", value),) for value in form.op.operands if isinstance(value.type, MEMORY)}
    reader = Reader(HandleLocations(get_profile(form.target), given), None)
    return reader._leaf(form.op, ())


def test_insert_sync_and_planner() -> None:
    def believes(form: Form, record: OperationForm) -> object | None:
        if has_role(form.op, ORDERING) or form.op.regions or op_spec(type(form.op)).queue is not None:
            return None
        try:
            leaf = leaf_of(form)
        except UnsupportedError:
            return None
        reads, writes = memory(form, record.reads), memory(form, record.writes)
        made = bool(form.op.results) and record.writes_results
        if leaf is None:
            return "nothing" if record.pipe is not None and (reads or writes or made) else None
        names = form.name_of
        found = [{names[place.root] for place in group if place.root in names} for group in (leaf.reads, leaf.writes)]
        pipe = SCALAR if record.self_ordered else NUMBER[record.pipe] if record.pipe is not None else None
        good = found == [reads, writes] and leaf.pipe == pipe and leaf.joins == record.self_ordered
        return None if good else (leaf.pipe, leaf.joins, *found)

    assert differences(believes) == []


def test_check_sync() -> None:
    def believes(form: Form, record: OperationForm) -> object | None:
        if "offsets" in form.present or has_role(form.op, ORDERING):
            return None
        numbers = tuple(
            (number,) if isinstance(value.type, MEMORY) else 0 for number, value in enumerate(form.op.operands)
        )
        step = Step(form.op, numbers, 0)
        places = [locations_of(step, form.target, writing) for writing in (False, True)]
        found = [{form.present[_first(place)] for place in group} for group in places]
        types = tuple(one for one in MEMORY if one.__name__ != "MemRefType")
        wanted = [memory(form, record.reads, types), memory(form, record.writes, types)]
        return None if found == wanted else found

    assert differences(believes) == []


def _first(place: object) -> int:
    while isinstance(place, tuple):
        place = next(part for part in place if isinstance(part, (tuple, int)))
    assert isinstance(place, int)
    return place


def test_check_memory() -> None:
    def believes(form: Form, record: OperationForm) -> object | None:
        groups = tile_operands(form.op, form.target)
        found = [{form.present[number] for number in group} for group in groups]
        reads = memory(form, record.reads, TILES) - set(record.scratch)
        wanted = [reads, memory(form, record.writes, TILES), memory(form, record.clobbered, TILES)]
        return None if found == wanted else found

    assert differences(believes) == []


def test_forms_of_tile_operations() -> None:
    def believes(form: Form, record: OperationForm) -> object | None:
        if not is_tile_operation(form.op):
            return None
        found = accesses(form.op, form.target)
        scratch = {use.name for use in found.scratch}
        outs = set(op_spec(type(form.op)).outs)
        wanted = {name for name in record.scratch if name not in outs}
        return None if wanted <= scratch and not scratch & set(record.unused) else scratch

    assert differences(believes) == []


def test_cycles() -> None:
    def believes(form: Form, record: OperationForm) -> object | None:
        work = pipe_work_of(form.op, form.target, {})
        if work is None or has_role(form.op, ORDERING):
            return None
        return None if record.pipe is not None and work.pipe == record.pipe.value else work.pipe

    assert differences(believes) == []


def test_pipes_of_the_text() -> None:
    def believes(form: Form, record: OperationForm) -> object | None:
        declared = op_spec(type(form.op)).pipe
        forms = {case.pipe for case in op_spec(type(form.op)).forms}
        named = op_spec(type(form.op)).pipe_from
        return None if named or record.pipe in {declared, *forms} else record.pipe

    assert differences(believes) == []


@pytest.mark.parametrize("part", ["reads", "writes", "unused"])
def test_a_part_with_an_opinion_of_its_own_is_noticed(part: str) -> None:
    """The walk can fail: records with one fact changed differ from what the parts believe."""

    def believes(form: Form, record: OperationForm) -> object | None:
        groups = tile_operands(form.op, form.target)
        found = {form.present[number] for number in groups[0 if part == "reads" else 1]}
        names = {"reads": record.reads[1:], "writes": record.writes[1:], "unused": (*record.writes, *record.unused)}
        wanted = memory(form, names[part], TILES) - (set(record.scratch) if part == "reads" else set())
        return None if found == wanted else found

    assert len(differences(believes)) > 20
    assert any(isinstance(form.op, PtoOp) for form, _ in walked())
