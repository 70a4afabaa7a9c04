"""Shared and long reasons why a run refuses operations (``OpSpec.unexecuted``)."""

from __future__ import annotations

CONTROL_WORD = "no page defines all fields of its packed control word; the structured operation says the same"
RAW_LOAD = "no page defines its operands; mte_gm_l1_frac, mte_l1_l0a_mx and mte_l1_l0b_mx say the same"
FILLED_BYTES = "no page defines which bytes of L1 are filled for its operands"
CONVERTED_LANES = "no page defines where the converted lanes go"
FUSION = "it is a mark that compilers leave between passes, and programs with it are not complete"
FUSION_END = "it ends a fusion region, which is not executed"
