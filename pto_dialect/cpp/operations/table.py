"""Which operation of the dialect a call of the C++ interface is: one table for all names and overloads.

A line is ``NAME operation operands [| mode]``; further lines of a name are its overloads, of which the first one
that fits the operands of a call is taken. The operands are named as the dialect names them, in the order of the call:

- ``name`` is a tile or tensor, ``name@Loc`` a tile in one memory; a list is named once for each of its members;
- ``#name`` is a number with the element type of the tiles, ``#name:type`` one with a type of its own,
  ``#name:own`` one with the sign of the elements too;
- ``=name`` is a constant that becomes an attribute;
- ``!name`` is the list of the numbers of elements that a merge has taken;
- ``a+b`` is one operand of the call and two of the operation.

``| mode=Value`` restricts a line to calls with that mode.
Source: docs/reference/language.md, "Shapes".
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple


class Role(NamedTuple):
    """One operand of a call: what it must be, and the operands of the operation that it is."""

    kind: str
    """``tile`` (or tensor), ``number``, ``attribute`` or ``executed``."""
    names: tuple[str, ...]
    location: str = ""
    type: str = ""


class Row(NamedTuple):
    """One overload."""

    mnemonic: str
    roles: tuple[Role, ...]
    mode: tuple[str, str]
    """A mode with the value that the call must have; empty for any."""


_ELEMENTWISE = """
TABS tabs dst src
TADD tadd dst src0 src1
TADDC taddc dst src0 src1 src2
TADDS tadds dst src #scalar
TADDSC taddsc dst src0 #scalar src1
TAND tand dst src0 src1
TANDS tands dst src #scalar
TAXPY taxpy dst src #scalar
TCMP tcmp dst src0 src1
TCMPS tcmps dst src #scalar
TCVT tcvt dst src
TCVT tcvt dst src tmp
TDIV tdiv dst src0 src1
TDIVS tdivs dst src #scalar
TDIVS tdivs dst #src scalar
TEXP texp dst src
TEXPANDS texpands dst #scalar
TFMOD tfmod dst src0 src1
TFMODS tfmods dst src #scalar
TLOG tlog dst src
TLRELU tlrelu dst src #slope:f32
TMAX tmax dst src0 src1
TMAXS tmaxs dst src #scalar
TMIN tmin dst src0 src1
TMINS tmins dst src #scalar
TMUL tmul dst src0 src1
TMULS tmuls dst src0 #scalar
TNEG tneg dst src
TNOT tnot dst src
TOR tor dst src0 src1
TORS tors dst src #scalar
TPOW tpow dst base exp tmp
TPOWS tpows dst src #scalar tmp
TPRELU tprelu dst src0 src1 tmp
TRECIP trecip dst src
TRELU trelu dst src
TREM trem dst src0 src1 tmp
TREMS trems dst src #scalar tmp
TRSQRT trsqrt dst src
TRSQRT trsqrt dst src tmp
TSEL tsel dst mask src0 src1 tmp
TSELS tsels dst mask src tmp #scalar
TSHL tshl dst src0 src1
TSHLS tshls dst src #scalar
TSHR tshr dst src0 src1
TSHRS tshrs dst src #scalar
TSQRT tsqrt dst src
TSUB tsub dst src0 src1
TSUBC tsubc dst src0 src1 src2
TSUBS tsubs dst src #scalar
TSUBSC tsubsc dst src0 #scalar src1
TXOR txor dst src0 src1 tmp
TXORS txors dst src #scalar tmp
"""

_ROWS_AND_COLUMNS = """
TCOLARGMAX tcolargmax dst src tmp
TCOLARGMIN tcolargmin dst src tmp
TCOLEXPAND tcolexpand dst src
TCOLEXPANDADD tcolexpandadd dst src0 src1
TCOLEXPANDDIV tcolexpanddiv dst src0 src1
TCOLEXPANDEXPDIF tcolexpandexpdif dst src0 src1
TCOLEXPANDMAX tcolexpandmax dst src0 src1
TCOLEXPANDMIN tcolexpandmin dst src0 src1
TCOLEXPANDMUL tcolexpandmul dst src0 src1
TCOLEXPANDSUB tcolexpandsub dst src0 src1
TCOLMAX tcolmax dst src
TCOLMIN tcolmin dst src
TCOLPROD tcolprod dst src
TCOLSUM tcolsum dst src
TCOLSUM tcolsum dst src tmp =isBinary
TCOLSUM tcolsum dst src tmp
TPARTADD tpartadd dst src0 src1
TPARTARGMAX tpartargmax dst src0 src1 dstIdx src0Idx src1Idx
TPARTARGMIN tpartargmin dst src0 src1 dstIdx src0Idx src1Idx
TPARTMAX tpartmax dst src0 src1
TPARTMIN tpartmin dst src0 src1
TPARTMUL tpartmul dst src0 src1
TROWARGMAX trowargmax dst src tmp
TROWARGMIN trowargmin dst src tmp
TROWEXPAND trowexpand dst src
TROWEXPANDADD trowexpandadd dst src0 src1
TROWEXPANDADD trowexpandadd dst src0 src1 tmp
TROWEXPANDDIV trowexpanddiv dst src0 src1
TROWEXPANDDIV trowexpanddiv dst src0 src1 tmp
TROWEXPANDEXPDIF trowexpandexpdif dst src0 src1
TROWEXPANDEXPDIF trowexpandexpdif dst src0 src1 tmp
TROWEXPANDMAX trowexpandmax dst src0 src1
TROWEXPANDMAX trowexpandmax dst src0 src1 tmp
TROWEXPANDMIN trowexpandmin dst src0 src1
TROWEXPANDMIN trowexpandmin dst src0 src1 tmp
TROWEXPANDMUL trowexpandmul dst src0 src1
TROWEXPANDMUL trowexpandmul dst src0 src1 tmp
TROWEXPANDSUB trowexpandsub dst src0 src1
TROWEXPANDSUB trowexpandsub dst src0 src1 tmp
TROWMAX trowmax dst src tmp
TROWMIN trowmin dst src tmp
TROWPROD trowprod dst src tmp
TROWSUM trowsum dst src tmp
"""

_MOVES = """
TCONCAT tconcat dst src0 src1
TCONCAT tconcatidx dst src0 src1 src0Idx src1Idx
TEXTRACT textract dst src
TEXTRACT textract dst src #indexRow:index #indexCol:index
TEXTRACT textract dst src #preQuantScalar:i64 #indexRow:index #indexCol:index
TEXTRACT textract dst src fp #indexRow:index #indexCol:index
TEXTRACT_FP textract dst src fp #indexRow:index #indexCol:index
TFILLPAD tfillpad dst src
TFILLPAD_EXPAND tfillpad dst src
TFILLPAD_INPLACE tfillpad dst src
TINSERT tinsert dst src
TINSERT tinsert dst src #indexRow:index #indexCol:index
TINSERT tinsert dst src #preQuantScalar:i64 #indexRow:index #indexCol:index
TINSERT tinsert dst src fp #indexRow:index #indexCol:index
TINSERT_FP tinsert dst src fp #indexRow:index #indexCol:index
TLOAD tload dst src
TMOV tmov dst src
TMOV tmov dst src fp@Scaling
TMOV tmov dst src #preQuantScalar:i64
TMOV_FP tmov dst src fp
TPREFETCH tprefetch dst src
TPRINT tprint src
TPRINT tprint src tmp
TSTORE tstore dst src
TSTORE tstore dst src #preQuantScalar:i64
TSTORE_FP tstore dst src fp
TTRANS ttrans dst src tmp
"""

_IRREGULAR = """
MGATHER mgather dst mem idx
MGATHER mgather dst mem idx scratch
MSCATTER mscatter mem src idx
TCI tci dst #S:own
TCI tci dst #S:own tmp
TDEQUANT tdequant dst src scale offset
TGATHER tgather dst src
TGATHER tgather dst src indices tmp
TGATHER tgather dst src indices
TGATHER tgather dst src #kValue cdst tmp =offset
TGATHERB tgatherb dst src offsets
THISTOGRAM thistogram dst src idx
TMRGSORT tmrgsort dsts srcs #blockLen:i32
TMRGSORT tmrgsort dsts !excuted tmp srcs srcs srcs srcs
TMRGSORT tmrgsort dsts !excuted tmp srcs srcs srcs
TMRGSORT tmrgsort dsts !excuted tmp srcs srcs
TQUANT tquant.mx dst src exp max scaling exp_zz | quant=MXFP8
TQUANT tquant.mx dst src exp max scaling exp_zz | quant=MXFP4_E2M1
TQUANT tquant.mx dst src exp max scaling | quant=MXFP8
TQUANT tquant.mx dst src exp max scaling | quant=MXFP4_E2M1
TQUANT tquant dst src fp | quant=INT8_SYM
TQUANT tquant dst src fp tmp | quant=INT8_SYM
TQUANT tquant dst src fp offset | quant=INT8_ASYM
TQUANT tquant dst src fp tmp offset | quant=INT8_ASYM
TRANDOM trandom dst #key0:i32 #key1:i32 #counter0:i32 #counter1:i32 #counter2:i32 #counter3:i32
TSCATTER tscatter dst src
TSCATTER tscatter dst src indexes
TSORT32 tsort32 dst src idx
TSORT32 tsort32 dst src idx tmp
TTRI ttri dst #diagonal:i32
"""

_PRODUCTS = """
TGEMV tgemv dst lhs rhs
TGEMV_ACC tgemv.acc dst acc_in lhs rhs
TGEMV_ACC tgemv.acc dst+acc_in lhs rhs
TGEMV_BIAS tgemv.bias dst a b bias
TGEMV_MX tgemv.mx dst a a_scale b b_scale
TGEMV_MX tgemv.mx.bias dst a a_scale b b_scale bias@Bias
TGEMV_MX tgemv.mx.acc dst c_in@Acc a a_scale b b_scale
TMATMUL tmatmul dst lhs rhs
TMATMUL_ACC tmatmul.acc dst acc_in lhs rhs
TMATMUL_ACC tmatmul.acc dst+acc_in lhs rhs
TMATMUL_BIAS tmatmul.bias dst a b bias
TMATMUL_MX tmatmul.mx dst a a_scale b b_scale
TMATMUL_MX tmatmul.mx.bias dst a a_scale b b_scale bias@Bias
TMATMUL_MX tmatmul.mx.acc dst c_in@Acc a a_scale b b_scale
"""

_COMMUNICATION = """
comm::TGET comm.tget dst src ping
comm::TGET comm.tget dst src ping pong
comm::TNOTIFY comm.tnotify signal #value:i32
comm::TPUT comm.tput dst src ping
comm::TPUT comm.tput dst src ping pong
comm::TTEST comm.ttest signal #cmpValue:i32
comm::TWAIT comm.twait signal #cmpValue:i32
"""

_REGISTERS = """
CreatePredicate vlds vldas vldus vsts vstas vstus vdup vadd vadds vsub vmul vmuls vdiv vmax vmaxs vmin vmins vabs vneg
vexp vln vsqrt vrelu vand vor vxor vnot vshl vshls vshr vshrs vcvt vsel vcmp vcmps vcadd vcmax vcmin vmula vintlv
vdintlv vgather2 vscatter
"""

MISSING = {
    "SETFMATRIX": "the dialect has no convolution",
    "SET_IMG2COL_PADDING": "the dialect has no convolution",
    "SET_IMG2COL_RPT": "the dialect has no convolution",
    "TIMG2COL": "the dialect has no convolution",
    "TADDDEQRELU": "the dialect has no addition with dequantisation and relu",
    "TADDRELUCONV": "the dialect has no addition with relu and conversion",
    "TSUBRELUCONV": "the dialect has no subtraction with relu and conversion",
    "TFUSEDMULADD": "the dialect has no fused multiplication and addition: write TMUL and TADD",
    "TFUSEDMULADDRELU": "the dialect has no fused multiplication and addition with relu: write TMUL, TADD and TRELU",
    "TMULADDDST": "the dialect has no multiplication that adds to its destination: write TMUL and TADD",
    "TPAIRREDUCESUM": "the dialect has no sums of neighbours: write TGATHER with P0101 and P1010, and TADD",
    "TINTERLEAVE": "the dialect has no interleaving of tiles",
    "TDEINTERLEAVE": "the dialect has no interleaving of tiles: write TGATHER with P0101 and P1010",
    **dict.fromkeys(_REGISTERS.split(), "vector registers are not translated: use operations of tiles"),
}
"""Why names of the interface are no operation of the dialect."""

SEQUENCES: dict[tuple[str, int], tuple[tuple[str, tuple[int, ...]], ...]] = {
    ("TROWARGMAX", 4): (("TROWMAX", (0, 2, 3)), ("TROWARGMAX", (1, 2, 3))),
    ("TROWARGMIN", 4): (("TROWMIN", (0, 2, 3)), ("TROWARGMIN", (1, 2, 3))),
    ("TCOLARGMAX", 4): (("TCOLMAX", (0, 2)), ("TCOLARGMAX", (1, 2, 3))),
    ("TCOLARGMIN", 4): (("TCOLMIN", (0, 2)), ("TCOLARGMIN", (1, 2, 3))),
    ("TSUBRELU", 3): (("TSUB", (0, 1, 2)), ("TRELU", (0, 0))),
}
"""Calls that are two operations one after the other, with as many operands: names, and the operands that each takes."""


@cache
def rows() -> dict[str, tuple[Row, ...]]:
    """Returns the overloads of each name."""
    found: dict[str, tuple[Row, ...]] = {}
    for text in (_ELEMENTWISE, _ROWS_AND_COLUMNS, _MOVES, _IRREGULAR, _PRODUCTS, _COMMUNICATION):
        for line in text.strip().splitlines():
            call, _, rest = line.partition(" | ")
            name, mnemonic, *roles = call.split()
            mode, _, value = rest.partition("=")
            row = Row(f"pto.{mnemonic}", tuple(map(_role, roles)), (mode, value))
            found[name] = (*found.get(name, ()), row)
    return found


def _role(text: str) -> Role:
    if text.startswith("="):
        return Role("attribute", (text[1:],))
    if text.startswith("!"):
        return Role("executed", (text[1:],))
    name, _, location = text.partition("@")
    if name.startswith("#"):
        number, _, type_ = name[1:].partition(":")
        return Role("number", (number,), type=type_)
    return Role("tile", tuple(name.split("+")), location)


__all__ = ["MISSING", "SEQUENCES", "Role", "Row", "rows"]
