"""Frequent operations and their names in other languages, for suggestions about unknown names.

The frequent ones are ordered by the number of programs that use them.
"""

from __future__ import annotations

_USUAL = """
    arith.constant func.func return module scf.for scf.if scf.yield arith.addi arith.muli arith.index_cast arith.addf
    arith.subi arith.mulf arith.subf arith.divf arith.cmpi arith.select func.call
    pto.alloc_tile pto.make_tensor_view pto.partition_view pto.tstore pto.tload pto.barrier pto.castptr pto.vecscope
    pto.set_flag pto.wait_flag pto.mte_ub_gm pto.mte_gm_ub pto.vsts pto.vlds pto.tadd pto.tmov pto.tcvt pto.tmatmul
    pto.texpands pto.load_scalar pto.tmuls pto.tmul pto.plt_b32 pto.textract pto.tmatmul.acc pto.tadds pto.subview
    pto.pset_b32 pto.trowexpandmul pto.tcolexpandmul pto.trowsum pto.trecip pto.tsub pto.texp pto.mte_l0c_gm
    pto.mte_l1_l0a pto.addptr pto.tmax pto.trowmax pto.mte_l1_l0b pto.tgather pto.store_scalar pto.mte_gm_l1_frac
    pto.tdiv pto.mad pto.tsqrt pto.trelu pto.mte_gm_l1 pto.vadd pto.vmul pto.vsub pto.vmi.vadd pto.vmi.vmul
    pto.vmi.vload pto.vmi.vstore pto.get_block_idx pto.tcolsum pto.ttrans pto.tmatmul.bias pto.vrelu
"""
USUAL_OPERATIONS: tuple[str, ...] = tuple(_USUAL.split())
"""The operations that most programs consist of, the most used first."""

_OTHER_LANGUAGES: dict[str, str] = {
    ".arg": "arg args param input .args .param .input",
    ".const": "const .constant .consts",
    "func.func": "def fn fun function void kernel __global__ define",
    "return": "ret",
    "arith.constant": "const",
    "scf.for": "loop foreach",
    "scf.while": "while",
    "pto.alloc_tile": "alloc tile_alloc alloca new_tile tile",
    "pto.tmatmul": "gemm tgemm mmul tmm tdot dot mma",
    "pto.mad": "mmad mma",
    "pto.tmov": "tcopy tcpy",
    "pto.tcvt": "tcast tconvert cast convert",
    "pto.ttrans": "ttranspose transpose",
    "pto.trowsum": "treducesum reduce_sum treduce_sum tsum rowsum",
    "pto.tcolsum": "treducesum reduce_sum treduce_sum tsum colsum",
    "pto.trowmax": "treducemax reduce_max treduce_max rowmax",
    "pto.tcolmax": "treducemax reduce_max treduce_max colmax",
    "pto.trowexpand": "tbroadcast broadcast tbrc",
    "pto.tcolexpand": "tbroadcast broadcast tbrc",
    "pto.texpands": "tfill fill tdup memset tset tzero",
    "pto.barrier": "sync pipe_sync synchronize",
    "pto.syncall": "sync_all",
    "pto.mte_gm_ub": "copy_in data_copy",
    "pto.mte_ub_gm": "copy_out data_copy",
}

FOREIGN_NAMES: dict[str, list[str]] = {}
"""Names that users of other languages write for an operation, without ``pto.``, and the operations they mean."""
for _meant, _words in _OTHER_LANGUAGES.items():
    for _word in _words.split():
        FOREIGN_NAMES.setdefault(_word, []).append(_meant)
