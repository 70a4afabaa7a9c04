"""Other spellings of mnemonics, and replacements of the operations that the newer dialect removed.

Source: docs/reference/language.md, "Other names", "Versions".
"""

from __future__ import annotations

from .suffixes import SUFFIXED

MNEMONIC_ALIASES: dict[str, str] = SUFFIXED | {
    f"pto.{alias}": f"pto.{mnemonic}"
    for alias, mnemonic in {
        "tmatmul_acc": "tmatmul.acc",
        "tmatmul_bias": "tmatmul.bias",
        "tmatmul_mx": "tmatmul.mx",
        "tgemv_acc": "tgemv.acc",
        "tgemv_bias": "tgemv.bias",
        "tgemv_mx": "tgemv.mx",
        "textract.fp": "textract_fp",
        "tinsert.fp": "tinsert_fp",
        "tstore.fp": "tstore_fp",
        "tmov_fp": "tmov.fp",
        "get_scale_addr": "tget_scale_addr",
        "subset": "subview",
        "tput": "comm.tput",
        "tget": "comm.tget",
        "tnotify": "comm.tnotify",
        "twait": "comm.twait",
        "ttest": "comm.ttest",
        "tbroadcast": "comm.tbroadcast",
        "treduce": "comm.treduce",
        "pipe_barrier": "barrier",
        "set_cross_core": "sync.set",
        "wait_flag_dev": "sync.wait",
        "wait_intra_core": "wait_intra_block",
        "vsta": "vstas",
        "vmrgsort": "vmrgsort4",
    }.items()
}
"""Documented spelling to mnemonic, where the spelling alone determines it."""

OPERAND_DEPENDENT_ALIASES: dict[str, tuple[str, ...]] = {
    "pto.pld": ("pto.plds", "pto.pldi"),
    "pto.pst": ("pto.psts", "pto.psti"),
    "pto.tgather": ("pto.tgather", "pto.comm.tgather"),
    "pto.tscatter": ("pto.tscatter", "pto.comm.tscatter"),
    "pto.tmov": ("pto.tmov", "pto.tmov.fp"),
}
"""Documented spelling to the mnemonics it may mean, which the operands determine."""

ATTRIBUTE_ALIASES: dict[str, dict[str, str]] = {
    "pto.tcvt": {"satmode": "sat_mode"},
    "pto.vcvt": {"round_mode": "rnd"},
}
"""Mnemonic to other names of its attributes, with the declared names; only the reader accepts these. Synonyms of
enumerators are ``attributes.ENUM_ALIASES``, those of quoted enumerators are in ``words``."""

DEPRECATED: dict[str, str] = {
    "pto.textract_fp": "use pto.textract with an fp operand",
    "pto.tinsert_fp": "use pto.tinsert with an fp operand",
    "pto.tmov.fp": "use pto.tmov with an fp operand",
    "pto.tstore_fp": "use pto.tstore with an fp operand",
    "pto.tfillpad_expand": "use pto.tfillpad",
    "pto.tfillpad_inplace": "use pto.tfillpad",
    "pto.bind_tile": "tiles are used directly, without a memref",
    "pto.declare_tile_memref": "use pto.declare_tile",
    "pto.materialize_tile": "tiles are used directly, without a memref",
    "pto.pointer_cast": "use pto.alloc_tile with addr",
    "pto.simd.tile_to_memref": "use pto.tile_buf_addr",
}
"""Operations of the older dialect only, with their replacements."""

SUCCESSORS: dict[str, str] = {
    "pto.textract_fp": "pto.textract",
    "pto.tinsert_fp": "pto.tinsert",
    "pto.tmov.fp": "pto.tmov",
    "pto.tstore_fp": "pto.tstore",
    "pto.tfillpad_expand": "pto.tfillpad",
    "pto.tfillpad_inplace": "pto.tfillpad",
    "pto.declare_tile_memref": "pto.declare_tile",
    "pto.simd.tile_to_memref": "pto.tile_buf_addr",
}
"""Operations of the older dialect, with those that take their operands today."""


def canonical(mnemonic: str) -> str:
    """Returns the mnemonic of a documented spelling; other spellings are only lowercased."""
    lowered = mnemonic.lower()
    return MNEMONIC_ALIASES.get(lowered, lowered)
