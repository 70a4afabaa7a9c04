"""Which operation of the dialect an instruction is: its operands and attributes, as one table.

An instruction that the table does not name is the operation of its name; its operands are the destination and then the
sources in the order of their text, scratch tiles left out where there are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from isa_record import Instruction, NotMapped, Number, Operand, Tile, View, Word

from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.base import PtoOp, op_spec, signature
from pto_dialect.ir.core.registry import OPS, op_class


class Form(NamedTuple):
    """An operation, the names of its operands in the order of the instruction, and the attributes that numbers give.

    ``=name`` is an argument that becomes an attribute, ``-`` one that the operation does not have; ``values`` are the
    attributes of the template values, ``constant`` is more text of the dictionary.
    """

    mnemonic: str
    roles: str
    values: str = ""
    constant: str = ""


class Call(NamedTuple):
    """An instruction as an operation: operands by name, and the text of its attributes."""

    op: type[PtoOp]
    operands: dict[str, list[Operand]]
    attributes: dict[str, str]


_PRODUCT = "dst lhs rhs"
_MX = "dst a a_scale b b_scale"

FORMS: dict[str, tuple[Form, ...]] = {
    "TSTORE": (Form("pto.tstore", "dst src"), Form("pto.tstore", "dst src #preQuantScalar")),
    "TSTORE_FP": (Form("pto.tstore", "dst src fp"),),
    "TMATMUL": (Form("pto.tmatmul", _PRODUCT),),
    "TMATMUL_ACC": (Form("pto.tmatmul.acc", "dst acc_in lhs rhs"), Form("pto.tmatmul.acc", "dst+acc_in lhs rhs")),
    "TMATMUL_BIAS": (Form("pto.tmatmul.bias", "dst a b bias"),),
    "TGEMV": (Form("pto.tgemv", _PRODUCT),),
    "TGEMV_ACC": (Form("pto.tgemv.acc", "dst acc_in lhs rhs"),),
    "TGEMV_BIAS": (Form("pto.tgemv.bias", "dst a b bias"),),
    "TMATMUL_MX": (
        Form("pto.tmatmul.mx", _MX),
        Form("pto.tmatmul.mx.bias", f"{_MX} bias@5"),
        Form("pto.tmatmul.mx.acc", "dst c_in@4 a a_scale b b_scale"),
    ),
    "TGEMV_MX": (
        Form("pto.tgemv.mx", _MX),
        Form("pto.tgemv.mx.bias", f"{_MX} bias@5"),
        Form("pto.tgemv.mx.acc", "dst c_in@4 a a_scale b b_scale"),
    ),
    "TMOV": (
        Form("pto.tmov", "dst src"),
        Form("pto.tmov", "dst src fp@6"),
        Form("pto.tmov", "dst src #preQuantScalar"),
    ),
    "TMOV_FP": (Form("pto.tmov", "dst src fp"),),
    "TEXTRACT": (
        Form("pto.textract", "dst src"),
        Form("pto.textract", "dst src #indexRow #indexCol"),
        Form("pto.textract", "dst src #preQuantScalar #indexRow #indexCol"),
        Form("pto.textract", "dst src fp #indexRow #indexCol"),
    ),
    "TEXTRACT_FP": (Form("pto.textract", "dst src fp #indexRow #indexCol"),),
    "TINSERT": (
        Form("pto.tinsert", "dst src"),
        Form("pto.tinsert", "dst src #indexRow #indexCol"),
        Form("pto.tinsert", "dst src #preQuantScalar #indexRow #indexCol"),
        Form("pto.tinsert", "dst src fp #indexRow #indexCol"),
    ),
    "TINSERT_FP": (Form("pto.tinsert", "dst src fp #indexRow #indexCol"),),
    "TCONCAT": (Form("pto.tconcat", "dst src0 src1"), Form("pto.tconcatidx", "dst src0 src1 src0Idx src1Idx")),
    "TDIVS": (Form("pto.tdivs", "dst src #scalar"), Form("pto.tdivs", "dst #src scalar")),
    "TCOLSUM": (Form("pto.tcolsum", "dst src"), Form("pto.tcolsum", "dst src tmp =isBinary")),
    "TPARTARGMAX": (Form("pto.tpartargmax", "dst src0 src1 dstIdx src0Idx src1Idx"),),
    "TPARTARGMIN": (Form("pto.tpartargmin", "dst src0 src1 dstIdx src0Idx src1Idx"),),
    "TMRGSORT": (
        Form("pto.tmrgsort", "dsts srcs #blockLen"),
        Form("pto.tmrgsort", "dsts !excuted tmp srcs srcs srcs srcs", "exhausted"),
        Form("pto.tmrgsort", "dsts !excuted tmp srcs srcs srcs", "exhausted"),
        Form("pto.tmrgsort", "dsts !excuted tmp srcs srcs", "exhausted"),
    ),
    "TSORT32": (Form("pto.tsort32", "dst src idx"), Form("pto.tsort32", "dst src idx tmp")),
    "TGATHER": (
        Form("pto.tgather", "dst src", constant='axis = "row"'),
        Form("pto.tgather", "dst src indices tmp"),
        Form("pto.tgather", "dst src indices"),
        Form("pto.tgather", "dst src #kValue cdst tmp =offset"),
    ),
    "TSCATTER": (Form("pto.tscatter", "dst src", constant='axis = "row"'), Form("pto.tscatter", "dst src indexes")),
    "TGATHERB": (Form("pto.tgatherb", "dst src offsets"),),
    "TCI": (Form("pto.tci", "dst #S", "descending"), Form("pto.tci", "dst #S tmp", "descending")),
    "TTRI": (Form("pto.ttri", "dst #diagonal", "upperOrLower"),),
    "THISTOGRAM": (Form("pto.thistogram", "dst src idx"),),
    "TQUANT": (
        Form("pto.tquant", "dst src fp"),
        Form("pto.tquant", "dst src fp tmp@0"),
        Form("pto.tquant", "dst src fp offset"),
        Form("pto.tquant", "dst src fp tmp offset"),
    ),
    "TSELS": (Form("pto.tsels", "dst mask src tmp #scalar"),),
    "TSEL": (Form("pto.tsel", "dst mask src0 src1 tmp"),),
    "MGATHER": (Form("pto.mgather", "dst mem idx"), Form("pto.mgather", "dst mem idx scratch")),
    "MSCATTER": (Form("pto.mscatter", "mem src idx"),),
    "TTRANS": (Form("pto.ttrans", "dst src tmp"),),
}

IGNORED = frozenset({"SET_QUANT_SCALAR", "SET_QUANT_VECTOR"})

ENUM_ATTRIBUTES = {
    "CmpMode": "cmpMode",
    "RoundMode": "rmode",
    "SaturationMode": "sat_mode",
    "MaskPattern": "maskPattern",
    "ReluPreMode": "reluPreMode",
    "AtomicType": "atomicType",
    "AccPhase": "accPhase",
    "STPhase": "stPhase",
    "AccToVecMode": "accToVecMode",
    "TInsertMode": "tinsertMode",
    "Coalesce": "coalesce",
    "GatherOOB": "gatherOob",
    "ScatterOOB": "scatterOob",
    "ScatterAtomicOp": "scatterAtomicOp",
    "ScatterConflict": "scatterConflict",
    "PrintFormat": "printFormat",
    "QuantType": "quant_type",
    "QuantScaleAlg": "quantScaleAlg",
    "VecStoreMode": "storeMode",
    "HistByte": "byte",
}
"""Attributes by enumeration; the enumerations of precisions all give ``precisionType``."""

_ENCODINGS = {
    "atomic_type": ("atomic_none", "atomic_add"),
    "st_phase": ("unspecified", "", "partial", "final"),
    "acc_phase": ("unspecified", "", "partial", "final"),
    "mask_pattern": ("", "P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111"),
    "tinsert_mode": ("", "", "split2", "split4"),
    "scatter_conflict": ("last", "default"),
    "quant_type": ("MXFP8", "MXFP4_E2M1", "INT8_SYM", "INT8_ASYM"),
}
"""Enumerations that the instruction set numbers otherwise than the dialect."""

_AXES = ("GatherAxis", "ScatterAxis")
_MODES = {("TFILLPAD", 1): "pto.tfillpad_inplace", ("TFILLPAD", 2): "pto.tfillpad_expand"}


def call_of(instruction: Instruction) -> Call:
    """The operation that an instruction is."""
    if instruction.control:
        raise NotMapped(f"{instruction.name} with bits of the control register")
    words = [one for one in (*instruction.values, *instruction.operands) if isinstance(one, Word)]
    operands = [one for one in instruction.operands if not isinstance(one, Word)]
    numbers = [one for one in instruction.values if isinstance(one, Number)]
    form = _form(instruction, operands)
    mode = next((word.value for word in words if word.kind == "TFillPadMode"), 0)
    op = op_class(_MODES.get((instruction.name, mode), form.mnemonic))
    found: dict[str, list[Operand]] = {}
    attributes: dict[str, str] = {}
    for role, operand in zip(form.roles.split(), operands, strict=True):
        name = role.lstrip("#!").partition("@")[0]
        if name.startswith("="):
            assert isinstance(operand, Number)
            attributes[name[1:]] = _number(name[1:], operand)
            continue
        for one in name.split("+"):
            if one != "-":
                found.setdefault(one, []).append(operand)
    for name, number in zip(form.values.split(), numbers, strict=False):
        attributes[name] = _number(name, number)
    declared = signature(op).attributes
    for word in words:
        if word.kind in _AXES:
            if word.value:
                attributes["axis"] = '"col"'
        elif word.kind == "AccToVecMode" and word.value:
            raise NotMapped("a write to the second vector core")
        elif word.kind not in ("TFillPadMode", "PadValue"):
            name, text = _word(word, op)
            if name in declared:
                attributes[name] = text
    if op.name == "pto.tfillpad":
        found = {name: [_filled(tile) for tile in tiles] for name, tiles in found.items()}
    if form.constant and "maskPattern" in declared:
        key, _, text = form.constant.partition(" = ")
        attributes.setdefault(key, text)
        attributes.setdefault("maskPattern", ENUMS["mask_pattern"].spell("P1111"))
    return Call(op, found, attributes)


def _filled(tile: Operand) -> Operand:
    """A tile of padding: those of the matrix unit are filled with zeros without saying so."""
    return tile._replace(pad=1) if isinstance(tile, Tile) and tile.loc == 1 and not tile.pad else tile


def _form(instruction: Instruction, operands: Sequence[Operand]) -> Form:
    name = instruction.name
    forms = FORMS.get(name)
    if forms is None:
        if not name.isupper():
            raise NotMapped(f"{name}: an instruction below tiles")
        mnemonic = f"pto.{name.lower()}"
        if mnemonic not in OPS:
            raise NotMapped(f"{name}: the dialect has no such operation")
        forms = _usual(mnemonic)
    for form in forms:
        roles = form.roles.split()
        if len(roles) == len(operands) and all(map(_fits, roles, operands)):
            return form
    kinds = " ".join(type(one).__name__ for one in operands)
    raise NotMapped(f"{name} ({kinds}): the dialect has no such form")


def _usual(mnemonic: str) -> tuple[Form, ...]:
    op = op_class(mnemonic)
    spec = op_spec(op)
    names = [slot.name for slot in signature(op).operands]
    text = [name for name in (spec.text or names) if name not in (spec.outs or ("dst",))]
    roles = ["dst", *(f"#{name}" if name in ("scalar", "slope") else name for name in text)]
    optional = {slot.name for slot in signature(op).operands if slot.arity == "?"}
    return (
        Form(mnemonic, " ".join(roles)),
        Form(mnemonic, " ".join(role for role in roles if role == "dst" or role not in optional)),
    )


def _fits(role: str, operand: Operand) -> bool:
    """True for an operand of the kind that a role requires; ``@n`` requires a tile in memory n."""
    if role.startswith("#") or role.startswith("="):
        return isinstance(operand, Number)
    if role.startswith("!"):
        return True
    _, _, loc = role.partition("@")
    return isinstance(operand, Tile | View) and (not loc or (isinstance(operand, Tile) and operand.loc == int(loc)))


def _word(word: Word, op: type[PtoOp]) -> tuple[str, str]:
    if word.kind == "HistByte":
        return "byte", f"{word.value} : i32"
    if word.kind.endswith("Algorithm"):
        kind = word.kind.removesuffix("Algorithm").removesuffix("S").lower()
        return "precisionType", ENUMS[f"{kind}_precision"].spell(ENUMS[f"{kind}_precision"].values[word.value])
    if word.kind not in ENUM_ATTRIBUTES:
        raise NotMapped(f"{word.kind} has no counterpart")
    name = ENUM_ATTRIBUTES[word.kind]
    slot = signature(op).attributes.get(name)
    if slot is None:
        if word.value and word.kind not in ("STPhase", "AccPhase"):
            raise NotMapped(f"{word.kind} of {op.name} has no counterpart")
        return name, ""
    kind = _ENUMERATIONS[name]
    values = _ENCODINGS.get(kind, ENUMS[kind].values)
    return name, ENUMS[kind].spell(values[word.value])


_ENUMERATIONS = {
    "cmpMode": "cmp",
    "rmode": "round_mode",
    "sat_mode": "saturation_mode",
    "maskPattern": "mask_pattern",
    "reluPreMode": "relu_pre_mode",
    "atomicType": "atomic_type",
    "accPhase": "acc_phase",
    "stPhase": "st_phase",
    "accToVecMode": "acc_to_vec_mode",
    "tinsertMode": "tinsert_mode",
    "coalesce": "coalesce",
    "gatherOob": "gather_oob",
    "scatterOob": "scatter_oob",
    "scatterAtomicOp": "scatter_atomic_op",
    "scatterConflict": "scatter_conflict",
    "printFormat": "print_format",
    "quant_type": "quant_type",
    "quantScaleAlg": "quant_scale_alg",
    "storeMode": "vec_store_mode",
}


def _number(name: str, number: Number) -> str:
    if name in ("descending", "exhausted", "isBinary"):
        return "true" if number.value else "false"
    return f"{int(number.value)} : i32"
