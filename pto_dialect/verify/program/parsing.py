"""Rules that the parser checks; declared here so that the catalogue lists them."""

from __future__ import annotations

from ..engine.rule import read_rules

_RULES = read_rules("parse")


VMI_LANES = _RULES["vmi-lanes"]
SYNC_FLAG_RANGE = _RULES["sync-flag-range"]
VSTS_DIST = _RULES["vsts-dist"]
PREDICATE_IMMEDIATE = _RULES["pld-imm"]
SPECIAL_REGISTER = _RULES["sprclr-ar"]
VCVT_CONTRACT_RULE = _RULES["vcvt-contract"]
VTRC_FORM = _RULES["vtrc-form"]
VEXPDIF_FORM = _RULES["vexpdif-form"]
VCI_FORM = _RULES["vci-form"]
VMI_CONVERSION = _RULES["vmi-cvt"]
VMI_MODES = _RULES["vmi-load-modes"]
