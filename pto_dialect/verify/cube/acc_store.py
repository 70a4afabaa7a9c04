"""One accumulator write-back as its rules see it: operands by name, clauses by their tokens."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.analysis.type_facts import element_type
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.types import element_name
from pto_dialect.targets.fixpipe_modes import QUANT_MODES, QuantMode

STORES = ("pto.mte_l0c_l1", "pto.mte_l0c_gm", "pto.mte_l0c_ub")

DESTINATIONS = {"pto.mte_l0c_l1": "l1", "pto.mte_l0c_gm": "gm", "pto.mte_l0c_ub": "ub"}
"""Memory space that each operation writes."""

PACKED_DESTINATIONS = {
    "pto.copy_matrix_cc_to_cbuf": "l1",
    "pto.copy_matrix_cc_to_gm": "gm",
    "pto.copy_matrix_cc_to_ub": "ub",
}
"""The same for the operations with packed configuration words."""


@dataclass(slots=True)
class AccStore:
    """Operands and clauses of one ``pto.mte_l0c_*`` operation; an absent one is ``None``.

    ``layout``, ``unit_flag``, ``relu``, ``saturation``, ``dst_mode``, ``atomic_type`` and ``atomic_op`` are the tokens
    of their clauses; ``loop3`` holds count, source stride and destination stride.
    """

    source: SSAValue
    destination: SSAValue
    m: SSAValue
    n: SSAValue
    src_stride: SSAValue
    dst_stride: SSAValue
    quant: QuantMode | None
    quant_payload: SSAValue | None
    relu: str | None
    relu_payload: SSAValue | None
    clip: SSAValue | None
    layout: str | None
    loop0: SSAValue | None
    split: SSAValue | None
    loop3: tuple[SSAValue, ...]
    unit_flag: str | None
    saturation: str | None
    dst_mode: str | None
    sub_block: SSAValue | None
    atomic_type: str | None
    atomic_op: str | None

    @property
    def source_element(self) -> str:
        """Returns the name of the accumulator's element type."""
        return _element_name(self.source)

    @property
    def destination_element(self) -> str:
        """Returns the name of the destination's element type."""
        return _element_name(self.destination)


def _element_name(value: SSAValue) -> str:
    element = element_type(value.type)
    return element_name(element) if element is not None else "?"


def _clause_value(attribute: Attribute | None) -> str | None:
    return attribute.value if isinstance(attribute, EnumAttr) else None


def read_acc_store(op: Operation) -> AccStore:
    """Returns the operands and clauses of ``op``, a ``pto.mte_l0c_*`` operation whose structure is valid."""
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    attributes = op.attributes

    def operand(name: str) -> SSAValue | None:
        values = groups.get(name, ())
        return values[0] if values else None

    quant_word = _clause_value(attributes.get("pre_quant_mode"))
    unit_flag = _clause_value(attributes.get("unit_flag"))
    return AccStore(
        source=groups["source"][0],
        destination=groups["destination"][0],
        m=groups["m"][0],
        n=groups["n"][0],
        src_stride=groups["src_stride"][0],
        dst_stride=groups["dst_stride"][0],
        quant=QUANT_MODES[quant_word] if quant_word is not None else None,
        quant_payload=operand("pre_quant"),
        relu=_clause_value(attributes.get("pre_relu_mode")),
        relu_payload=operand("pre_relu"),
        clip=operand("clip_value"),
        layout=_clause_value(attributes.get("mode")),
        loop0=operand("loop0_src_stride"),
        split=operand("split"),
        loop3=(*groups["loop3_count"], *groups["loop3_src_stride"], *groups["loop3_dst_stride"]),
        unit_flag=None if unit_flag == "off" else unit_flag,
        saturation=_clause_value(attributes.get("sat_mode")),
        dst_mode=_clause_value(attributes.get("dst_mode")),
        sub_block=operand("sub_blockid"),
        atomic_type=_clause_value(attributes.get("atomic_type")),
        atomic_op=_clause_value(attributes.get("atomic_op")),
    )
