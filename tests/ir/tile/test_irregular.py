"""Single facts of operations that no table says: operand orders, spelled attributes, terminators."""

from __future__ import annotations

import pytest
from groups import in_groups
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator

from pto_dialect.ir.core.base import op_spec, signature
from pto_dialect.ir.core.registry import all_op_classes, op_class

CLASSES = all_op_classes()


@in_groups(("mnemonic", "declared", "text", "typed"), [
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
    ])  # fmt: skip
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
