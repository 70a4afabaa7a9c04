"""Quoted keywords that operations take as attributes. Source: docs/reference/enumerators.md, "Quoted keywords"."""

from __future__ import annotations

from collections.abc import Iterable

from .kinds import Kind, words


def _words(text: str) -> Kind:
    return words(*text.split())


PATTERN = _words(
    "PAT_ALL PAT_ALLF PAT_H PAT_Q PAT_M3 PAT_M4 "
    "PAT_VL1 PAT_VL2 PAT_VL3 PAT_VL4 PAT_VL8 PAT_VL16 PAT_VL32 PAT_VL64 PAT_VL128"
)
"""Predicate patterns."""


def _prefixed(prefix: str, tokens: Iterable[str]) -> Kind:
    """Returns a list whose enumerators may also be spelled with ``prefix``."""
    found = tuple(tokens)
    return words(*found, synonyms={prefix + token: token for token in found})


ROUND = _prefixed("ROUND_", "RAFCZOH")
"""Rounding letters of conversions."""
ROUND_TO_INTEGRAL = _prefixed("ROUND_", "RAFCZ")
"""Rounding letters of ``vtrc``."""
VMI_ROUND = _words("R A H Z F C")
"""Rounding letters of logical-vector conversions."""
SATURATE = words("SAT", "NOSAT")
SATURATE_ANY_SPELLING = words("SAT", "NOSAT", synonyms={"RS_ENABLE": "SAT", "RS_DISABLE": "NOSAT"})

CONVERSION_PART = _prefixed("PART_", ("EVEN", "ODD", "P0", "P1", "P2", "P3"))
"""Lanes of the wide register that a conversion reads or fills."""
EVEN_ODD = _prefixed("PART_", ("EVEN", "ODD"))
HALF = words("LOWER", "HIGHER")
"""Half of a register or mask."""

COMPARE = _words("eq ne lt le gt ge")
COMPARE_ORDERED = _words("eq ne lt le gt ge oeq one olt ole ogt oge")
COMPARE_INTEGER = _words("eq ne slt sle sgt sge ult ule ugt uge")

LOAD_DIST = _words(
    "NORM BRC_B8 BRC_B16 BRC_B32 BRC_BLK US_B8 US_B16 DS_B8 DS_B16 UNPK_B8 UNPK_B16 UNPK_B32 UNPK4 "
    "SPLT4CHN SPLT2CHN_B8 SPLT2CHN_B16 E2B_B16 E2B_B32"
)
"""How ``vlds`` distributes memory over lanes."""
LOAD_PAIR_DIST = words("BDINTLV", "DINTLV_B8", "DINTLV_B16", "DINTLV_B32")
STORE_PAIR_DIST = words("INTLV_B8", "INTLV_B16", "INTLV_B32")
STORE_DIST = _words(
    "NORM_B8 NORM_B16 NORM_B32 1PT_B8 1PT_B16 1PT_B32 PK_B16 PK_B32 PK_B64 PK4_B32 MRG4CHN_B8 MRG2CHN_B8 MRG2CHN_B16"
)
"""How ``vsts`` collects lanes into memory."""
MASK_LOAD_DIST = words("NORM", "US", "DS")
MASK_STORE_DIST = words("NORM", "PK")

POST_UPDATE = words("POST_UPDATE", "NO_POST_UPDATE")
POSITION = words("LOWEST", "HIGHEST")
ORDER = words("ASC", "DESC")
SPECIAL_REGISTER = words("AR")
AXIS = words("row", "col")

VMI_PMODE = words("merge", "zero")
"""Result of the inactive lanes of a logical vector."""
VMI_COMPARE_PMODE = words("merge", "zeroing")
VMI_LOAD_DIST = words("continuous", "unpack", "dintlv", "brc")
VMI_STORE_DIST = words("continuous", "dintlv")

_WORD_RULES = {
    "pattern": "pat-token",
    "cmp_mode": "vcmp-mode",
    "spr": "sprclr-ar",
    "pto.vlds.dist": "vlds-dist",
    "pto.vsts.dist": "vsts-dist",
    "pto.vldsx2.dist": "x2-dist",
    "pto.vstsx2.dist": "x2-dist",
    "dist": "pld-imm",
    "pto.vcvt.part": "vcvt-contract",
    "pto.vcvt.rnd": "vcvt-contract",
    "pto.vcvt.sat": "vcvt-contract",
    "pto.vmulscvt.part": "vcvt-contract",
    "pto.vmulscvt.rnd": "vcvt-contract",
    "pto.vexpdif.part": "vexpdif-form",
    "pto.vtrc.round_mode": "vtrc-form",
    "pto.vci.order": "vci-form",
    "part": "mask-part",
    "rounding": "vmi-cvt",
    "saturate": "vmi-cvt",
    "dist_mode": "vmi-load-modes",
}


def enumerator_rule(mnemonic: str, attribute: str) -> str | None:
    """Returns the rule about an unknown enumerator of an attribute, where it has one of its own."""
    return _WORD_RULES.get(f"{mnemonic}.{attribute}") or _WORD_RULES.get(attribute)
