"""Other spellings of mnemonics. Source: docs/reference/language.md, "Other names", "PTO-AS assembly"."""

from __future__ import annotations

from itertools import product

from parse_helpers import parsed

from pto_dialect.ir.core.aliases import (
    ATTRIBUTE_ALIASES,
    DEPRECATED,
    MNEMONIC_ALIASES,
    OPERAND_DEPENDENT_ALIASES,
    canonical,
)
from pto_dialect.ir.core.suffixes import KEYS, SUFFIX_ATTRIBUTES, SUFFIXED

DOTTED = [f"{stem}.{tail}" for stem in ("tmatmul", "tgemv") for tail in ("acc", "bias", "mx")]
UNDERLINED = ["textract_fp", "tinsert_fp", "tstore_fp"]
COLLECTIVE = ["tput", "tget", "tnotify", "twait", "ttest", "tbroadcast", "treduce"]
RENAMED = {
    "tmov_fp": "tmov.fp", "get_scale_addr": "tget_scale_addr", "subset": "subview", "pipe_barrier": "barrier",
    "set_cross_core": "sync.set", "wait_flag_dev": "sync.wait", "wait_intra_core": "wait_intra_block",
    "vsta": "vstas", "vmrgsort": "vmrgsort4",
}  # fmt: skip


def test_names_that_mean_one_operation() -> None:
    wanted = {name.replace(".", "_"): name for name in DOTTED}
    wanted |= {name.replace("_fp", ".fp"): name for name in UNDERLINED}
    wanted |= {name: f"comm.{name}" for name in COLLECTIVE} | RENAMED
    plain = {name: target for name, target in MNEMONIC_ALIASES.items() if name not in SUFFIXED}
    assert plain == {f"pto.{name}": f"pto.{target}" for name, target in wanted.items()}
    for name, target in plain.items():
        assert canonical(name) == canonical(name.upper().replace("PTO.", "pto.")) == canonical(target) == target


GATHER, SCATTER = ("clamp", "wrap", "zero"), ("skip", "clamp", "wrap")
ATOMIC = ("atomic_add", "atomic_max", "atomic_min")


def test_names_with_suffixes() -> None:
    wanted: dict[str, str] = {f"tmov.{move}": "tmov" for move in ("m2l", "m2r", "m2b", "m2s", "a2v", "v2v", "s2d")}
    for first in ("row", "elem"):
        wanted |= {f"mgather.{first}{'.' if oob else ''}{oob}": "mgather" for oob in ("", *GATHER)}
        for oob, atomic in product(("", *SCATTER), ("", *ATOMIC)):
            wanted[".".join(filter(None, ("mscatter", first, oob, atomic)))] = "mscatter"
    assert {f"pto.{name}": f"pto.{target}" for name, target in wanted.items()} == SUFFIXED


def test_what_suffixes_and_keys_set() -> None:
    gather, scatter = SUFFIX_ATTRIBUTES["pto.mgather"], SUFFIX_ATTRIBUTES["pto.mscatter"]
    rows = {"row": ("coalesce", "row"), "elem": ("coalesce", "elem")}
    assert gather == rows | {word: ("gatherOob", word) for word in GATHER}
    added = {word: ("scatterAtomicOp", word.removeprefix("atomic_")) for word in ATOMIC}
    assert scatter == rows | {word: ("scatterOob", word) for word in SCATTER} | added
    assert KEYS == {
        "atomic": ("atomicType", "atomic_"), "cmp": ("cmpMode", ""), "phase": ("reluPreMode", "normal_"),
    }  # fmt: skip


def test_names_whose_operands_decide() -> None:
    short = {
        name.removeprefix("pto."): [target.removeprefix("pto.") for target in targets]
        for name, targets in OPERAND_DEPENDENT_ALIASES.items()
    }
    assert short == {
        "pld": ["plds", "pldi"], "pst": ["psts", "psti"], "tgather": ["tgather", "comm.tgather"],
        "tscatter": ["tscatter", "comm.tscatter"], "tmov": ["tmov", "tmov.fp"],
    }  # fmt: skip
    assert ATTRIBUTE_ALIASES == {"pto.tcvt": {"satmode": "sat_mode"}, "pto.vcvt": {"round_mode": "rnd"}}


OLD = """
textract_fp: use pto.textract with an fp operand
tinsert_fp: use pto.tinsert with an fp operand
tmov.fp: use pto.tmov with an fp operand
tstore_fp: use pto.tstore with an fp operand
tfillpad_expand: use pto.tfillpad
tfillpad_inplace: use pto.tfillpad
bind_tile: tiles are used directly, without a memref
materialize_tile: tiles are used directly, without a memref
declare_tile_memref: use pto.declare_tile
pointer_cast: use pto.alloc_tile with addr
simd.tile_to_memref: use pto.tile_buf_addr
"""


def test_operations_of_the_older_dialect() -> None:
    rows = [line.partition(": ") for line in OLD.strip().splitlines()]
    assert {f"pto.{name}": advice for name, _, advice in rows} == DEPRECATED


def test_another_spelling_is_read() -> None:
    module, found = parsed("func.func @f() {\n  pto.pipe_barrier #pto.pipe<PIPE_V>\n  return\n}\n")
    assert module is not None and not found
    assert [op.name for op in module.walk() if op.name.startswith("pto.")] == ["pto.barrier"]
