"""Enumeration attributes of the dialect, as one table, and the attribute classes.

A ``#pto`` enumeration has one of two spellings, which are not interchangeable: form B ``#pto.pipe<PIPE_V>`` and form S
``#pto<cmp gt>``.  Source: docs/reference/language.md, "Attributes".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import BuiltinAttribute, Data
from xdsl.parser import AttrParser
from xdsl.printer import Printer


@dataclass(frozen=True)
class EnumSpec:
    """One enumeration: its name, whether it is written in form B, and its values in encoding order."""

    name: str
    bracketed: bool
    values: tuple[str, ...]

    def spell(self, value: str) -> str:
        """Full text of one value."""
        return f"#pto.{self.name}<{value}>" if self.bracketed else f"#pto<{self.name} {value}>"


def _forms(bracketed: bool, table: dict[str, str]) -> dict[str, EnumSpec]:
    return {name: EnumSpec(name, bracketed, tuple(values.split())) for name, values in table.items()}


_QUANT_BASES = (
    "qf322hif8_pre qf322hif8_pre_hybrid qf322fp8_pre qf322f32_pre qf322b8_pre qf322s4_pre qf322f16_pre "
    "qf322bf16_pre qs322bf16_pre qf162b8_pre qf162s4_pre qf162s16_pre deqs32_int deqf16 deqs16 req8 req4"
)
QUANT_PRE_MODES = "no_convert f32_f16 f32_bf16 " + " ".join(
    f"{base}_{kind}" for base in _QUANT_BASES.split() for kind in ("vec", "scalar")
)

_OP_KINDS = "TLOAD TSTORE_ACC TSTORE_VEC TMOV_M2L TMOV_M2S TMOV_M2B TMOV_M2V TMOV_V2M TMATMUL TVEC TVECWAIT_EVENT"
_PRECISION = "default high_precision"

ENUMS: dict[str, EnumSpec] = _forms(
    True,
    {
        "address_space": "zero gm mat left right acc vec bias scaling",
        "pipe": "PIPE_S PIPE_V PIPE_M PIPE_MTE1 PIPE_MTE2 PIPE_MTE3 PIPE_ALL PIPE_MTE4 PIPE_MTE5 PIPE_V2 PIPE_FIX "
        "VIRTUAL_PIPE_MTE2_L1A VIRTUAL_PIPE_MTE2_L1B PIPE_NUM PIPE_UNASSIGNED",
        "event": " ".join(f"EVENT_ID{i}" for i in range(8)),
        "pipe_event_type": _OP_KINDS,
        "sync_op_type": _OP_KINDS,
        "membar": "VV_ALL VST_VLD VLD_VST VST_VST VS_ALL VST_LD VLD_ST VST_ST SV_ALL ST_VLD LD_VST ST_VST SS_ALL "
        "ST_LD LD_ST ST_ST",
        "fence_scope": "local_memory gm all",
        "dsb_mem": "ALL DDR UB SEQ",
        "dcci_cache_line": "SINGLE_CACHE_LINE ENTIRE_DATA_CACHE",
        "dcci_dst": "CACHELINE_ALL CACHELINE_UB CACHELINE_OUT CACHELINE_ATOMIC",
        "sync_all_mode": "hard soft",
        "sync_core_type": "aiv_only aic_only mix",
        "layout": "nd dn nz mx_a_zz mx_b_nn",
        "kernel_kind": "cube vector",
        "func_core_type": "AIC AIV MIX AIC_OR_AIV",
        "module_core_type": "AIC AIV MIX",
        "padmode": "PadNull PadFirstElem PadValue",
        "pad_value": "null zero max min",
        "blayout": "row_major col_major",
        "slayout": "none_box row_major col_major",
        "compact_mode": "null normal row_plus_one",
        "mask_pattern": "P0101 P1010 P0001 P0010 P0100 P1000 P1111",
        "acc_to_vec_mode": "single_mode_vec0 single_mode_vec1 dual_mode_split_m dual_mode_split_n",
        "signedness": "signed unsigned",
        "l1cache": "uncache cache",
        "ld_l2cache": "nmfv nmlv nmprs nmpref nakeep naclean nadrop idsfv idslv idsprs idspref exfv exlv exprs expref",
        "st_l2cache": "nmfv nmlv nmprs nmred naci napw napi nared wbhfv wbhlv wbhprs wbhred wtsfv wtslv wtsprs wtsred",
        "rounding": "r a f c z o h",
        "saturation": "nosat sat",
        "tinsert_mode": "split2 split4",
    },
) | _forms(
    False,
    {
        "cmp": "eq ne lt le gt ge",
        "round_mode": "NONE RINT ROUND FLOOR CEIL TRUNC ODD",
        "saturation_mode": "ON OFF",
        **{
            f"{op}_precision": _PRECISION
            for op in ("div", "exp", "log", "recip", "rem", "rsqrt", "sqrt", "fmod", "pow")
        },
        "st_phase": "unspecified partial final",
        "acc_phase": "unspecified partial final",
        "atomic_type": "atomic_none atomic_add atomic_max atomic_min",
        "notify_op": "atomic_add set",
        "wait_cmp": "eq ne gt ge lt le",
        "reduce_op": "sum max min",
        "relu_pre_mode": "no_relu normal_relu scalar_relu vector_relu pwl",
        "unit_flag_ctrl": "off check_only check_and_clear",
        "mad_unit_flag_mode": "check_only check_and_set",
        "tf32_mode": "round_even round_away",
        "mad_sat_mode": "sat nosat",
        "quant_pre_mode": QUANT_PRE_MODES,
        "acc_store_mode": "nz2nd nz2dn nz2nz",
        "acc_store_sat_mode": "sat nosat sat_preserve_nan",
        "acc_store_ub_dst_mode": "single split_m split_n",
        "acc_store_atomic_type": "f32 f16 s16 s32 s8 bf16",
        "acc_store_atomic_op": "add max min",
        "cube_load_frac_mode": "nd2nz dn2nz",
        "gather_oob": "undefined clamp wrap zero",
        "scatter_oob": "undefined skip clamp wrap",
        "scatter_atomic_op": "none add max min",
        "coalesce": "row elem",
        "scatter_conflict": "default last",
        "quant_type": "INT8_SYM INT8_ASYM MXFP8 MXFP4_E2M1",
        "quant_scale_alg": "ocp nv",
        "mx_group_axis": "axis0 axis1",
        "vec_store_mode": "nd nz",
        "print_format": "width8_precision4 width8_precision2 width10_precision6",
    },
)

PIPE_ALIASES = {"PIPE_CUBE": "PIPE_M", "PIPE_FIXP": "PIPE_FIX"}
"""Pipe names of the documents, which are read and printed canonically."""

ENUM_ALIASES: dict[str, dict[str, str]] = {"pipe": PIPE_ALIASES, "round_mode": {"CAST_RINT": "RINT"}}
"""Enumeration to other spellings of its enumerators, which the reader accepts; the IR has the canonical ones."""


class EnumAttr(Data[tuple[str, str]], BuiltinAttribute):
    """A value of one of the dialect's enumerations: ``data`` is (enumeration name, value)."""

    name = "pto.enum"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[str, str]:
        """Refuses: only the parser of the dialect reads attributes of PTO."""
        raise parser.raise_error("pto enumerations are read by the pto parser only")

    def print_parameter(self, printer: Printer) -> None:
        """Prints the parameter in the form that xDSL's printer requires."""
        printer.print_string(str(self))

    # One class has many names in the text, so xDSL's printer must delegate the whole spelling.
    print_builtin = print_parameter

    @property
    def kind(self) -> str:
        """Name of the enumeration, a key of ``ENUMS``."""
        return self.data[0]

    @property
    def value(self) -> str:
        """The enumerator."""
        return self.data[1]

    def __str__(self) -> str:
        return ENUMS[self.data[0]].spell(self.data[1])


class StoredText(Data[str], BuiltinAttribute):
    """Something that is stored as text without interpretation; ``kept`` describes it."""

    name = "pto.kept_text"
    kept: ClassVar[str] = ""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Refuses: only the parser of the dialect reads attributes and types of PTO."""
        raise parser.raise_error(f"{cls.kept} are read by the pto parser only")

    def print_parameter(self, printer: Printer) -> None:
        """Prints the parameter in the form that xDSL's printer requires."""
        printer.print_string(self.data)

    print_builtin = print_parameter

    def __str__(self) -> str:
        return self.data


class OpaqueAttr(StoredText):
    """An attribute of another dialect (or a structured ``#pto`` attribute without own fields), stored as text."""

    name = "pto.opaque_attr"
    kept = "opaque attributes"


class PlaceholderAttr(OpaqueAttr):
    """A token of documentation that represents the value of an attribute, whatever it may be: ``PATTERN``."""

    name = "pto.placeholder"


BROKEN = OpaqueAttr("#broken")
"""Represents an attribute whose incorrect spelling has been reported."""

_interned: dict[tuple[str, str], EnumAttr] = {}


def enum_attr(kind: str, value: str) -> EnumAttr:
    """Returns the interned attribute for ``value`` of enumeration ``kind``; raises KeyError for an unknown value."""
    attr = _interned.get((kind, value))
    if attr is None:
        if value not in ENUMS[kind].values:
            raise KeyError(value)
        attr = _interned[kind, value] = EnumAttr((kind, value))
    return attr
