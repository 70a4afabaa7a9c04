"""Every operation of the specification is declared once, completely and consistently."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from xdsl.ir import Operation
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator

from pto_dialect.ir import make_index
from pto_dialect.ir.aliases import (
    ATTRIBUTE_ALIASES,
    DEPRECATED,
    MNEMONIC_ALIASES,
    OPERAND_DEPENDENT_ALIASES,
    canonical,
)
from pto_dialect.ir.base import Effect, OpSpec, Pipe, PtoOp, Shape, op_spec, signature
from pto_dialect.ir.index import OPS
from pto_dialect.ir.kinds import Kind
from pto_dialect.ir.registry import all_op_classes, family_of, op_class
from pto_dialect.runtime.kernels import refusals
from pto_dialect.runtime.kernels.registry import find

MNEMONICS = (Path(__file__).parent / "mnemonics.txt").read_text(encoding="utf-8").split()
CLASSES = all_op_classes()
EACH = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.name)

# Operations per shape: syntax-families page, section 2.
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
    Shape.DPS: 114,
    Shape.DPS_INNER: 8,
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
MEMORY_DESTINATIONS = {"pto.tstore", "pto.tstore_fp", "pto.mscatter"}


def operand_names(cls: type[PtoOp]) -> list[str]:
    return [slot.name for slot in signature(cls).operands]


def result_names(cls: type[PtoOp]) -> list[str]:
    return [slot.name for slot in signature(cls).results]


# --- completeness -----------------------------------------------------------------------------------------


def test_every_operation_of_the_specification_is_declared() -> None:
    assert len(MNEMONICS) == len(set(MNEMONICS)) == 693
    assert list(OPS) == sorted(MNEMONICS)
    assert [cls.name for cls in CLASSES] == list(OPS)


@EACH
def test_an_operation_is_executed_or_refused_with_a_reason(cls: type[PtoOp]) -> None:
    executed, why = find(cls.name) is not None, refusals.reason(cls.name)
    assert executed != (why is not None), why


def test_refused_operations_and_families_exist() -> None:
    assert set(refusals.OPERATIONS) <= set(OPS)
    assert set(refusals.FAMILIES) <= {family for family, _, _ in OPS.values()}


def test_page_of_refused_operations_is_up_to_date() -> None:
    page = Path(__file__).parents[2] / "docs" / "semantics.md"
    assert page.read_text(encoding="utf-8") == refusals.page()


def test_index_is_what_the_declarations_say() -> None:
    path = Path(make_index.__file__).parent / "index.py"
    assert path.read_text(encoding="utf-8") == make_index.render()


def test_index_generator_knows_every_family_module() -> None:
    folder = Path(make_index.__file__).parent
    declaring = {
        path.stem
        for path in folder.glob("*.py")
        if re.search(r'^class \w+Op\(.*?^    name = "pto\.', path.read_text(encoding="utf-8"), re.M | re.S)
    }
    assert declaring == set(make_index.FAMILIES)


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
        "from pto_dialect.ir import index, registry, aliases\n"
        "ops = [m for m in sys.modules if m.startswith('xdsl') or m.startswith('numpy')]\n"
        "assert not ops, ops\n"
        "assert 'pto.tadd' in index.OPS\n"
        "registry.op_class('pto.tadd')\n"
        "loaded = {m.rsplit('.', 1)[1] for m in sys.modules if m.startswith('pto_dialect.ir.')}\n"
        "families = {module for module, _, _ in index.OPS.values()}\n"
        "assert loaded & families == {'tile_elementwise'}, loaded & families\n"
        "assert 'numpy' not in sys.modules\n"
    )
    root = Path(__file__).parents[2]
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
    text = " ".join((cls.__doc__ or "").split())
    pages = "numerics|layouts|execution|language|targets"
    assert "__doc__" in cls.__dict__
    assert re.search(rf"\((?:{pages}) page, sections? [\d.]+.*\)\.$", text), text
    assert len(text) > 30


@EACH
def test_declared_names_exist(cls: type[PtoOp]) -> None:
    spec = op_spec(cls)
    operands = set(operand_names(cls))
    attributes = set(signature(cls).attributes)
    for names in (spec.reads, spec.writes, spec.text, spec.typed or ()):
        assert set(names) <= operands, names
        assert len(set(names)) == len(names), names
    assert set(spec.tokens) <= attributes
    assert {name for name, _ in spec.defaults} <= attributes


@EACH
def test_every_operand_has_a_place_in_the_text(cls: type[PtoOp]) -> None:
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
    for name, text in op_spec(cls).defaults:
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
    assert set(data) - {"excuted"} <= set(spec.writes) or cls.name == "pto.tprefetch"


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


# --- single facts of irregular operations -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("mnemonic", "declared", "text", "typed"),
    [
        ("tsetval", "dst? offset val", "offset val dst", None),
        ("store_scalar", "ptr offset value", "value ptr offset", "ptr value"),
        ("addptr", "ptr offset", None, "ptr"),
        ("mgather", "mem idx dst? scratch?", "mem idx scratch dst", None),
        ("textract", "src indexRow indexCol dst? fp? preQuantScalar?",
         "src indexRow indexCol preQuantScalar fp dst", None),
        ("tinsert", "src indexRow indexCol dst? fp? preQuantScalar?",
         "src indexRow indexCol fp preQuantScalar dst", None),
        ("tquant", "src fp offset? tmp? dst?", "src fp offset dst tmp", None),
        ("tgather", "src dst? cdst? indices? tmp? kValue?", "src indices kValue tmp dst cdst", None),
        ("tmrgsort", "srcs* blockLen? dsts* tmp? excuted?", "srcs blockLen tmp dsts excuted", None),
        ("tsels", "mask src tmp? scalar dst?", None, None),
        ("mad_bias", "lhs rhs dst bias m n k", None, None),
        ("mte_ub_ub", "source destination n_burst len_burst src_stride dst_stride",
         "source destination len_burst n_burst src_stride dst_stride",
         "source destination n_burst len_burst src_stride dst_stride"),
        ("make_tensor_view", "ptr shape* strides*", None, ""),
        ("alloc_tile", "addr? valid_row? valid_col?", None, ""),
        ("eventid_array_set", "array index value", None, "array"),
        ("vsts", "value destination offset mask", None, "value destination mask"),
        ("vstsx2", "low high destination offset mask", None, None),
        ("vmi.vstore", "values* destination offset stride? block_stride? repeat_stride? mask*", None,
         "values destination mask"),
        ("simt_launch", "dimX dimY dimZ args*", None, "args"),
        ("comm.treduce", "dst acc recvPing recvPong? group*", None, None),
        ("tpush", "tile pipe_handle aiv_subblockid?", None, "tile pipe_handle"),
    ],
)  # fmt: skip
def test_operand_orders(mnemonic: str, declared: str, text: str | None, typed: str | None) -> None:
    cls = op_class(f"pto.{mnemonic}")
    arities = [slot.name + slot.arity.replace("1", "") for slot in signature(cls).operands]
    assert arities == declared.split()
    assert op_spec(cls).text == tuple((text or "").split())
    assert op_spec(cls).typed == (None if typed is None else tuple(typed.split()))


@pytest.mark.parametrize(
    ("mnemonic", "tokens"),
    [
        ("set_flag", "src_pipe dst_pipe event_id"),
        ("get_buf", "op_type buf_id mode"),
        ("atomic_cas", "l2cache signedness"),
        ("convert", "rounding saturation signedness"),
        ("vmulscvt", "rnd part"),
        ("vtrc", "round_mode"),
        ("mad", "unit_flag_mode disable_gemv sat_mode tf32_mode n_dir"),
        ("mad_mx", "unit_flag_mode disable_gemv sat_mode n_dir"),
        ("mte_l0c_gm", "unit_flag pre_quant_mode pre_relu_mode mode sat_mode atomic_type atomic_op"),
        ("mte_l0c_ub", "dst_mode unit_flag pre_quant_mode pre_relu_mode mode sat_mode"),
        ("tload", "pad_mode init_out_buffer"),
        ("tgather", "maskPattern axis"),
        ("reserve_buffer", "name size location autoAlloc base"),
        ("syncall", "mode core_type"),
        ("section.simt", "dimX dimY dimZ"),
        ("tadd", ""),
    ],
)
def test_attributes_spelled_outside_the_dictionary(mnemonic: str, tokens: str) -> None:
    assert op_spec(op_class(f"pto.{mnemonic}")).tokens == tuple(tokens.split())


def test_bare_tokens_have_a_meaning() -> None:
    """Keywords and untyped integers can only be read where the kind says what they are."""
    for cls in CLASSES:
        spec = op_spec(cls)
        for name in spec.tokens:
            kind = signature(cls).attributes[name].kind
            known = kind.enums or kind.words or kind.integer is not None
            assert known or kind.label in (
                "true or false", "a unit attribute", "a string attribute", "a symbol", "an array attribute",
                "any attribute",
            ), (cls.name, name)  # fmt: skip


def test_specification_names_of_attributes_that_python_reserves() -> None:
    assert set(signature(op_class("pto.reserve_buffer")).attributes) == {
        "name", "size", "location", "autoAlloc", "base",
    }  # fmt: skip
    assert set(signature(op_class("pto.import_reserved_buffer")).attributes) == {"name", "peer_func"}


def test_segments_are_not_attributes_of_the_program() -> None:
    sign = signature(op_class("pto.mte_gm_ub"))
    assert sign.segmented
    assert sign.attributes == {}
    assert not signature(op_class("pto.tadd")).segmented


def test_terminators() -> None:
    assert op_class("pto.yield").has_trait(IsTerminator)
    for mnemonic in ("section.cube", "section.vector", "section.simt", "vecscope", "strict_vecscope"):
        assert op_class(f"pto.{mnemonic}").has_trait(NoTerminator)
    assert not op_class("pto.fusion_region").has_trait(NoTerminator)
    isolated = [cls.name for cls in CLASSES if cls.has_trait(IsolatedFromAbove)]
    assert isolated == ["pto.strict_vecscope"]


def test_pipes() -> None:
    pipes = Counter(op_spec(cls).pipe for cls in CLASSES)
    assert pipes[Pipe.M] == 22
    assert op_spec(op_class("pto.comm.treduce")).pipes == (Pipe.V, Pipe.MTE3)
    assert OpSpec().pipe is None


# --- aliases ----------------------------------------------------------------------------------------------


def test_aliases_lead_to_operations() -> None:
    assert set(MNEMONIC_ALIASES.values()) <= set(OPS)
    assert not set(MNEMONIC_ALIASES) & set(OPS)
    assert all(set(targets) <= set(OPS) for targets in OPERAND_DEPENDENT_ALIASES.values())
    for (mnemonic, alias), attribute in ATTRIBUTE_ALIASES.items():
        attributes = signature(op_class(mnemonic)).attributes
        assert attribute in attributes and alias not in attributes


def test_canonical_spelling() -> None:
    assert canonical("pto.TMATMUL_ACC") == "pto.tmatmul.acc"
    assert canonical("pto.tadd") == "pto.tadd"
    assert canonical("pto.pipe_barrier") == "pto.barrier"
    assert canonical("pto.unknown") == "pto.unknown"


def test_hints_name_existing_replacements() -> None:
    for hint in DEPRECATED.values():
        for name in re.findall(r"pto\.[\w.]+", hint):
            assert op_spec(op_class(name)).since != "june"
