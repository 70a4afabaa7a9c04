"""Every operation of the dialect is declared once, completely and consistently."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from groups import each, in_groups
from roundtrip_files import checked_lines, forms
from xdsl.ir import Operation

from pto_dialect.families import FAMILIES, level_of
from pto_dialect.ir.core import make_index
from pto_dialect.ir.core.aliases import (
    ATTRIBUTE_ALIASES,
    DEPRECATED,
    MNEMONIC_ALIASES,
    OPERAND_DEPENDENT_ALIASES,
    canonical,
)
from pto_dialect.ir.core.base import Effect, OpSpec, Pipe, PtoOp, Shape, op_spec, signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.kinds import Kind
from pto_dialect.ir.core.registry import all_op_classes, family_of, op_class
from pto_dialect.runtime.kernels import refusals
from pto_dialect.runtime.kernels.registry import find
from pto_dialect.targets.a2a3 import A2A3
from pto_dialect.targets.a5 import A5

MNEMONICS = (Path(__file__).parent / "mnemonics.txt").read_text(encoding="utf-8").split()
CLASSES = all_op_classes()
EACH = each("cls", CLASSES, family_of, lambda cls: cls.name)

# Operations per shape: docs/reference/language.md, "Shapes".
SHAPE_COUNTS = {
    Shape.NULLARY: 20,
    Shape.NULLARY_TYPED: 25,
    Shape.NULLARY_ARROW: 6,
    Shape.FLAT_VOID: 81,
    Shape.FLAT_VALUE: 238,
    Shape.FLAT_TOKEN: 11,
    Shape.FLAT_SUFFIX: 15,
    Shape.LEAD_STRING: 13,
    Shape.INDEXED: 27,
    Shape.INDEXED_STORE: 17,
    Shape.SYNC_BRACKET: 7,
    Shape.SYNC_TOKEN: 14,
    Shape.SYNC_ALL: 1,
    Shape.CACHE: 2,
    Shape.DPS: 115,
    Shape.DPS_INNER: 7,
    Shape.DPS_KEYED: 4,
    Shape.DPS_MASK: 2,
    Shape.DPS_TLOAD: 1,
    Shape.INS_ONLY: 4,
    Shape.PAREN: 18,
    Shape.BRACE_FIELDS: 8,
    Shape.PIPE_INIT: 4,
    Shape.COMM_GROUP: 6,
    Shape.LAUNCH: 1,
    Shape.DMA_BURST: 8,
    Shape.FRAC_LOAD: 1,
    Shape.ACC_STORE: 3,
    Shape.MAD: 6,
    Shape.L0_LOAD: 4,
    Shape.REGION: 6,
    Shape.REGION_YIELD: 1,
    Shape.ALLOC: 2,
    Shape.VIEW_LISTS: 2,
    Shape.SUBVIEW: 1,
    Shape.DIM_QUERY: 2,
    Shape.RETIRED_CAST: 2,
    Shape.GENERIC: 8,
}
DPS_SHAPES = {Shape.DPS, Shape.DPS_INNER, Shape.DPS_KEYED, Shape.DPS_MASK, Shape.DPS_TLOAD}
HANDLES = {"pto.tprefetch", "pto.tget_scale_addr"}
"""Operations whose destination is a handle, of which they write no byte."""
MEMORY_DESTINATIONS = {"pto.tstore", "pto.tstore_fp", "pto.mscatter"}


def operand_names(cls: type[PtoOp]) -> list[str]:
    return [slot.name for slot in signature(cls).operands]


def result_names(cls: type[PtoOp]) -> list[str]:
    return [slot.name for slot in signature(cls).results]


# --- completeness -----------------------------------------------------------------------------------------


def test_every_operation_of_the_dialect_is_declared() -> None:
    assert len(MNEMONICS) == len(set(MNEMONICS)) == 693
    assert list(OPS) == sorted(MNEMONICS)
    assert [cls.name for cls in CLASSES] == list(OPS)


@EACH
def test_an_operation_is_executed_or_refused_with_a_reason(cls: type[PtoOp]) -> None:
    executed, why = find(cls.name) is not None, refusals.reason(cls.name)
    assert executed != (why is not None), why


def test_kin_are_refused_for_one_reason() -> None:
    reasons = {name: refusals.reason(f"pto.{name}") for name in ("mad_raw", "mad_mx_bias_raw", "copy_matrix_cc_to_ub")}
    assert len(set(reasons.values())) == 1 and "control word" in str(reasons["mad_raw"])
    assert sum(bool(op_spec(cls).unexecuted) for cls in CLASSES) == 19


def test_page_of_refused_operations_is_up_to_date() -> None:
    page = Path(__file__).parents[3] / "docs" / "semantics.md"
    assert page.read_text(encoding="utf-8") == refusals.page()


def test_index_is_what_the_declarations_say() -> None:
    path = Path(make_index.__file__).parent / "operations.csv"
    assert path.read_text(encoding="utf-8") == make_index.render()


def test_index_generator_knows_every_family_module() -> None:
    folder = Path(make_index.__file__).parents[1]
    declaring = {
        ".".join(path.relative_to(folder).with_suffix("").parts)
        for path in folder.rglob("*.py")
        if re.search(r'^class \w+Op\([^:]*\bname="pto\.', path.read_text(encoding="utf-8"), re.M)
    }
    assert declaring == {family.operations for family in FAMILIES.values() if family.operations}


def test_operations_per_shape() -> None:
    assert set(SHAPE_COUNTS) == set(Shape)
    assert Counter(op_spec(cls).shape for cls in CLASSES) == SHAPE_COUNTS
    assert Counter(shape for _, _, shape in OPS.values()) == {
        shape.value: number for shape, number in SHAPE_COUNTS.items()
    }


def test_operations_per_generation() -> None:
    generations = Counter(op_spec(cls).since for cls in CLASSES)
    assert generations == {"both": 461, "august": 221, "june": 11}
    assert {cls.name for cls in CLASSES if op_spec(cls).since == "june"} == set(DEPRECATED)


def test_class_names_are_unique() -> None:
    assert len({cls.__name__ for cls in CLASSES}) == len(CLASSES)


def test_no_operation_specialises_another() -> None:
    declared = set(CLASSES)
    for cls in CLASSES:
        assert not declared & set(cls.__mro__[1:]), cls.name


def test_looking_up_imports_only_what_it_needs() -> None:
    script = (
        "import sys\n"
        "from pto_dialect.ir.core import index, registry, aliases\n"
        "ops = [m for m in sys.modules if m.startswith('xdsl') or m.startswith('numpy')]\n"
        "assert not ops, ops\n"
        "assert 'pto.tadd' in index.OPS\n"
        "registry.op_class('pto.tadd')\n"
        "from pto_dialect.families import FAMILIES\n"
        "loaded = {m.removeprefix('pto_dialect.ir.') for m in sys.modules if m.startswith('pto_dialect.ir.')}\n"
        "families = {family.operations for family in FAMILIES.values()}\n"
        "assert loaded & families == {'tile.elementwise'}, loaded & families\n"
        "assert 'numpy' not in sys.modules\n"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_lookup() -> None:
    assert op_class("pto.tmatmul.acc").name == "pto.tmatmul.acc"
    assert op_class("pto.tmatmul.acc") is op_class("pto.tmatmul.acc")
    assert family_of(op_class("pto.tmatmul.acc")) == "matmul"
    with pytest.raises(KeyError):
        op_class("pto.no_such_operation")


# --- each declaration -------------------------------------------------------------------------------------


@EACH
def test_docstring_says_what_and_where(cls: type[PtoOp]) -> None:
    """An operation cites a page itself, or its module does for all that do not."""
    text = " ".join((cls.__doc__ or "").split())
    assert "__doc__" in cls.__dict__
    module = (sys.modules[cls.__module__].__doc__ or "").strip()
    pages = r'docs/reference/[\w-]+\.md(?:, "[^"]+")+.*'
    assert re.search(rf"\({pages}\)\.$", text) or re.search(rf"{pages}\.$", module), text
    assert len(text) > 5


@EACH
def test_declared_names_exist(cls: type[PtoOp]) -> None:
    spec = op_spec(cls)
    operands = set(operand_names(cls))
    attributes = set(signature(cls).attributes)
    for names in (spec.reads, spec.writes, spec.text, spec.typed or ()):
        assert set(names) <= operands, names
        assert len(set(names)) == len(names), names
    assert set(spec.tokens) <= attributes


@EACH
def test_every_operand_has_a_location_in_the_text(cls: type[PtoOp]) -> None:
    spec = op_spec(cls)
    if spec.text:
        assert sorted(spec.text) == sorted(operand_names(cls))
        assert list(spec.text) != operand_names(cls), "repeats the declaration order"
    if spec.typed is not None:
        assert list(spec.typed) != list(spec.text or operand_names(cls)), "repeats the text order"


@EACH
def test_effects_are_declared(cls: type[PtoOp]) -> None:
    spec = op_spec(cls)
    touches = spec.reads or spec.writes or spec.state_reads or spec.state_writes
    assert bool(touches) != (spec.effect is not None)
    if spec.effect is Effect.PURE:
        assert signature(cls).results


@EACH
def test_defaults_belong_to_optional_attributes(cls: type[PtoOp]) -> None:
    attributes = signature(cls).attributes
    for name, text in signature(cls).defaults.items():
        kind = attributes[name].kind
        assert attributes[name].arity == "?"
        if kind.enums:
            assert re.match(rf"#pto(?:\.{kind.enums[0]}<|<{kind.enums[0]} )\w+>$", text)
        elif kind.integer is not None:
            assert re.match(rf"\d+ : {kind.integer}$", text)
        else:
            assert text in ("true", "false")


@EACH
def test_destinations_are_absent_in_the_value_form(cls: type[PtoOp]) -> None:
    spec = op_spec(cls)
    if spec.shape not in DPS_SHAPES:
        return
    arity = {slot.name: slot.arity for slot in signature(cls).operands}
    assert spec.outs and set(spec.outs) <= set(arity)
    data = [name for name in spec.outs if name != "tmp"]
    if cls.name in MEMORY_DESTINATIONS:
        assert [arity[name] for name in spec.outs] == ["1"]
    else:
        assert all(arity[name] in "?*" for name in spec.outs)
        assert result_names(cls) == (["result"] if len(data) == 1 else ["results_"])
        assert signature(cls).maximum_results == len(data)
        assert all(slot.arity == ("?" if len(data) == 1 else "*") for slot in signature(cls).results)
    assert set(data) - {"excuted"} <= set(spec.writes) or cls.name in HANDLES


@EACH
def test_fixed_results_stand_for_all_results(cls: type[PtoOp]) -> None:
    fixed = op_spec(cls).fixed_results
    if fixed:
        assert len(fixed) == len(signature(cls).results)
        assert all(slot.kind.label == text for slot, text in zip(signature(cls).results, fixed, strict=True))


@EACH
def test_names_do_not_hide_parts_of_the_operation(cls: type[PtoOp]) -> None:
    taken = set(dir(Operation)) | {field.name for field in dataclasses.fields(Operation)}
    allowed = {"name", "traits", "irdl_options", "verify_", "get_irdl_definition"}
    for base in cls.__mro__[: cls.__mro__.index(PtoOp)]:
        public = {name for name in vars(base) if not name.startswith("_")}
        assert not (public & taken) - allowed


@EACH
def test_kinds_carry_a_phrase(cls: type[PtoOp]) -> None:
    sign = signature(cls)
    for slot in (*sign.operands, *sign.results, *sign.attributes.values()):
        assert isinstance(slot.kind, Kind)
        assert slot.kind.label


# --- pipes ------------------------------------------------------------------------------------------------

EFFECTS_WITHOUT_PIPE = {
    Effect.HANDLE: "a handle, a view or a pointer is made while the program is read; nothing is queued",
    Effect.QUERY: "the fact is known before the block or the work-item starts",
    Effect.CHANNEL: "both cores agree on queues and sessions before their pipes use them",
    Effect.REGION: "a region is not an instruction, the operations in it have pipes",
}
STATES_WITHOUT_PIPE = {
    "valid_shape": "the valid region is part of the handle of a tile",
    "ffts": "the address is for the units that exchange signals between cores",
}
OPERATIONS_WITHOUT_PIPE = {
    **dict.fromkeys(
        ("pto.get_tensor_view_dim", "pto.get_tensor_view_stride"), "a number that the handle of a view carries"
    ),
    **dict.fromkeys(
        (
            "pto.comm.build_async_session",
            "pto.comm.tput_async",
            "pto.comm.tget_async",
            "pto.comm.test_async_event",
            "pto.comm.wait_async_event",
        ),
        "the engine between ranks does the work, no pipe of the core is busy with it",
    ),
    **dict.fromkeys(
        ("pto.comm.tnotify", "pto.comm.twait", "pto.comm.ttest"),
        "signals between ranks pass the pipes by, flags and barriers order them",
    ),
    "pto.tsync": "it waits for events of whatever pipes its tiles were written by",
}
"""Why an operation has no pipe (docs/reference/execution.md, "Pipes of operations"): by its effect, its state, or for
itself.
"""


def names_its_pipe(cls: type[PtoOp]) -> bool:
    """True for synchronisation whose operands or attributes say on which pipe it waits or signals."""
    return bool(op_spec(cls).pipe_from) and op_spec(cls).effect is Effect.SYNC


def reason_for_no_pipe(cls: type[PtoOp]) -> str | None:
    spec = op_spec(cls)
    states = [STATES_WITHOUT_PIPE.get(state) for state in (*spec.state_reads, *spec.state_writes)]
    by_effect = EFFECTS_WITHOUT_PIPE.get(spec.effect) if spec.effect else None
    return OPERATIONS_WITHOUT_PIPE.get(cls.name) or by_effect or (states[0] if len(states) == 1 else None)


@EACH
def test_an_operation_has_a_pipe_or_a_reason_for_none(cls: type[PtoOp]) -> None:
    if op_spec(cls).pipe is None and not names_its_pipe(cls):
        assert reason_for_no_pipe(cls)
    else:
        assert cls.name not in OPERATIONS_WITHOUT_PIPE


def test_operations_without_a_pipe_of_their_own() -> None:
    """All others run on a pipe that their declaration names."""
    without = [cls for cls in CLASSES if op_spec(cls).pipe is None]
    assert Counter(op_spec(cls).effect for cls in without if not names_its_pipe(cls)) == {
        Effect.HANDLE: 22,
        Effect.QUERY: 25,
        Effect.CHANNEL: 8,
        Effect.REGION: 5,
        Effect.PURE: 2,
        None: 14,
    }
    assert sum(names_its_pipe(cls) for cls in without) == 18


def test_pipes() -> None:
    pipes = Counter(op_spec(cls).pipe for cls in CLASSES)
    assert pipes[Pipe.M] == 22
    assert op_spec(op_class("pto.comm.treduce")).pipes == (Pipe.V, Pipe.MTE3)
    assert OpSpec().pipe is None


# --- round trips ------------------------------------------------------------------------------------------

A5_ONLY = frozenset({"pto.ld_dev", "pto.st_dev"})
"""Operations of families of every target that a rule of their own keeps to a5."""


def targets_of(cls: type[PtoOp]) -> list[str]:
    """Targets on which an operation exists."""
    name = cls.name.removeprefix("pto.")
    level = level_of(family_of(cls)) or ""
    known = [p for p in (A2A3, A5) if name not in p.unavailable_ops and not p.is_foreign(name, level)]
    return [profile.arch for profile in known if profile is A5 or cls.name not in A5_ONLY]


@in_groups("family", sorted({family for family, _, _ in OPS.values()}))
def test_round_trips_go_through_both_forms(family: str) -> None:
    assert forms(family) == {"custom", "generic"}


@EACH
def test_an_operation_survives_a_round_trip_on_each_target(cls: type[PtoOp]) -> None:
    statement = re.compile(rf"(?<![\w.]){re.escape(cls.name)}(?![\w.])")
    targets = targets_of(cls)
    assert targets
    for target in targets:
        assert any(statement.search(line) for line in checked_lines(family_of(cls), target)), target


# --- aliases ----------------------------------------------------------------------------------------------


def test_aliases_lead_to_operations() -> None:
    assert set(MNEMONIC_ALIASES.values()) <= set(OPS)
    assert not set(MNEMONIC_ALIASES) & set(OPS)
    assert all(set(targets) <= set(OPS) for targets in OPERAND_DEPENDENT_ALIASES.values())
    for mnemonic, names in ATTRIBUTE_ALIASES.items():
        attributes = signature(op_class(mnemonic)).attributes
        assert set(names.values()) <= set(attributes) and not set(names) & set(attributes)


def test_canonical_spelling() -> None:
    assert canonical("pto.TMATMUL_ACC") == "pto.tmatmul.acc"
    assert canonical("pto.tadd") == "pto.tadd"
    assert canonical("pto.pipe_barrier") == "pto.barrier"
    assert canonical("pto.unknown") == "pto.unknown"


def test_hints_name_existing_replacements() -> None:
    for hint in DEPRECATED.values():
        for name in re.findall(r"pto\.[\w.]+", hint):
            assert op_spec(op_class(name)).since != "june"
