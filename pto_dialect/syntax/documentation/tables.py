"""Operations, and forms of operations, that the instruction manual describes and the dialect does not have.

Source: docs/reference/language.md, "Level 1 and Level 2", "Notations of documents".
"""

from __future__ import annotations

from pto_dialect.ir.core.index import OPS

UNSUPPORTED = frozenset(
    word
    for words in (
        "tfusedmuladd tfusedmuladdrelu tmuladddst taddreluconv tadddeqrelu tsubrelu tpairreducesum tinterleave",
        "tdeinterleave timg2col tpack talias tquant_dn tquant_hif4 tmatmul_mx_hif4 setfmatrix tsetfmatrix",
        "set_img2col_rpt set_img2col_padding tset_img2col_rpt tset_img2col_padding sethf32mode settf32mode",
        "tsethf32mode tsettf32mode vrec vrsqrt vmov vbcnt vcls vsubs vands vors vxors vaddrelu vsubrelu vshift",
        "vslide vtranspose vsort32 vsld vsst vstu vidu copy_vreg_to_ub",
    )
    for word in words.split()
    if f"pto.{word}" not in OPS
)
"""Operations that the manual describes and the dialect does not have; they become operations of dialect ``manual``. An
operation that the dialect has takes precedence over an entry here."""

OTHER_NAMES = frozenset(("vbroadcast", "vperm", "tsync.op"))
"""Operations that the dialect has under a name that the operands determine."""

OTHER_FORMS = {
    "pto.tcolargmax": "the manual also has a result for the value",
    "pto.tcolargmin": "the manual also has a result for the value",
    "pto.trandom": "the manual gives key and counter as tiles, the dialect as six numbers",
    "pto.ttri": "an older page has two tiles",
    "pto.textract_fp": "an older page leaves out fp",
    "pto.tgetval": "the manual gives the number in outs(..)",
    "pto.psel": "the manual has a mask besides the selecting predicate",
    **dict.fromkeys(("pto.pge_b8", "pto.pge_b16", "pto.pge_b32"), "an older page has a number in place of the pattern"),
    **dict.fromkeys(
        ("pto.sync.set", "pto.sync.wait", "pto.set_intra_block", "pto.wait_intra_block"),
        "the manual has numbers of cores and events, or the pipe as a number; the dialect names a pipe",
    ),
    **dict.fromkeys(("pto.get_buf", "pto.rls_buf"), "the manual has the pipe as an operand"),
    "pto.vusqz": "the manual leaves out the register",
    "pto.vpack": "the manual packs two registers at once, the dialect one into a named half",
    "pto.vexpdif": "the manual leaves out the part, which f16 needs",
    "pto.vmull": "the manual subtracts the product from a third register",
    **dict.fromkeys(("pto.vaddreluconv", "pto.vmulconv"), "the manual has a mask"),
    **dict.fromkeys(("pto.vsldb", "pto.vsstb"), "the manual has one packed number, the dialect two strides"),
    **dict.fromkeys(("pto.comm.tnotify", "pto.comm.twait", "pto.comm.ttest"), "the manual leaves out the operands"),
    "pto.subview": "the manual has operands and outs(..) in place of sizes",
}
"""Operations that some pages write with other operands than the dialect has, and the difference. Such a statement
becomes an operation of dialect ``manual`` as well."""

OTHER_ATTRIBUTES = {
    "pto.tcmp": {"cmp": "cmpMode"},
    "pto.tcmps": {"cmp": "cmpMode"},
    "pto.ttri": {"isUpperOrLower": "upperOrLower"},
    "pto.vcvt": {"round_mode": "rnd"},
}
"""Operation to attributes that have another name in the manual than in the dialect."""

WITHOUT_BUFFERS = "the manual leaves out the buffers, or the part of the queue, that the dialect names"
"""The same for operations in parentheses: communication and queues."""
