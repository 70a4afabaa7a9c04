"""How calls are written that have more than operands: template arguments, and modes after the operands.

Which operation a name is says ``pto_dialect.cpp.operations.table``, which attributes a mode is says ``modes`` there,
and the enumerators of C++ are those of the headers. A line here is ``NAME | template arguments | modes as arguments``;
of several lines of a name, the first one is taken whose tiles the operation has and whose required modes it states.

- ``@name`` is the type of an operand, ``#name`` that of a number; with ``-name`` the call has no such operand, with
  ``+name`` it has one;
- ``mode:Type`` is a mode. One with ``=value`` has this value where it is not stated, ``?`` leaves it out then, and
  ``!`` requires that it is stated. Template arguments after the last stated mode are left out, unless they have ``+``.
Source: docs/reference/language.md, "Shapes".
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

_PRECISE = {
    "TEXP": "Exp", "TLOG": "Log", "TRECIP": "Recip", "TSQRT": "Sqrt", "TRSQRT": "Rsqrt", "TDIV": "Div", "TDIVS": "Div",
    "TFMOD": "Fmod", "TFMODS": "FmodS", "TREM": "Rem", "TREMS": "RemS", "TPOW": "Pow", "TPOWS": "Pow",
    "TROWEXPANDDIV": "Div", "TCOLEXPANDDIV": "Div",
}  # fmt: skip
_KINDS = {"@": "type", "#": "element", "+": "with", "-": "without"}
_SPELLINGS = """
TCVT | | round:RoundMode=CAST_RINT sat:SaturationMode?
TCMP | | cmp:CmpMode=EQ
TCMPS | | cmp:CmpMode=EQ
TSTORE | phase:STPhase? @src @dst atomic:AtomicType=AtomicNone relu:ReluPreMode=NoRelu |
TSTORE_FP | @src @dst @fp atomic:AtomicType=AtomicNone relu:ReluPreMode=NoRelu |
TMOV | phase:STPhase? @dst @src @fp tovec:AccToVecMode! relu:ReluPreMode=NoRelu |
TMOV | -fp phase:STPhase? @dst @src tovec:AccToVecMode? relu:ReluPreMode=NoRelu |
TMOV_FP | phase:STPhase? @dst @src @fp relu:ReluPreMode=NoRelu |
TEXTRACT | @dst @src @fp tovec:AccToVecMode! relu:ReluPreMode=NoRelu |
TEXTRACT | -fp @dst @src tovec:AccToVecMode? relu:ReluPreMode=NoRelu |
TEXTRACT_FP | @dst @src @fp relu:ReluPreMode=NoRelu+ |
TINSERT | insert:TInsertMode! |
TINSERT | @dst @src @fp tovec:AccToVecMode! relu:ReluPreMode=NoRelu |
TINSERT | -fp @dst @src tovec:AccToVecMode? relu:ReluPreMode=NoRelu |
TINSERT_FP | @dst @src @fp relu:ReluPreMode=NoRelu+ |
TGATHER | @dst @src @kValue @cdst @tmp cmp:CmpMode=EQ+ |
TGATHER | @dst @src mask:MaskPattern! axis:GatherAxis=GATHER_ROW |
TGATHER | -kValue +tmp |
TSCATTER | mask:MaskPattern! axis:ScatterAxis=SCATTER_ROW |
TSCATTER | |
TCI | @dst @tmp #S descending:int=0+ |
TCI | @dst #S descending:int=0+ |
TTRI | @dst upper:int=0+ |
TMRGSORT | @dst @tmp @srcs exhausted:bool=false+ |
TMRGSORT | |
TRANDOM | rounds:int=10 |
THISTOGRAM | byte:HistByte=BYTE_0+ |
MGATHER | coalesce:Coalesce=Row oob:GatherOOB=Undefined |
MSCATTER | coalesce:Coalesce=Row atomicop:ScatterAtomicOp=None oob:ScatterOOB=Undefined conflict:ScatterConflict=Last |
TQUANT | quant:QuantType=INT8_SYM+ store:VecStoreMode! |
TQUANT | quant:QuantType=INT8_SYM+ |
TPRINT | format:PrintFormat=Width8_Precision4 |
TMATMUL | phase:AccPhase? |
TMATMUL_ACC | phase:AccPhase? |
TMATMUL_BIAS | phase:AccPhase? |
TMATMUL_MX | phase:AccPhase? |
TGEMV | phase:AccPhase? |
TGEMV_ACC | phase:AccPhase? |
TGEMV_BIAS | phase:AccPhase? |
TGEMV_MX | phase:AccPhase? |
comm::TNOTIFY | | notify:comm::NotifyOp=Set
comm::TWAIT | | wait:comm::WaitCmp=EQ
comm::TTEST | | wait:comm::WaitCmp=EQ
comm::TPUT | atomic:AtomicType=AtomicNone |
"""
POINTERS = {"TQUANT": ("offset", "exp", "max", "scaling", "exp_zz")}
"""Operands that are passed as pointers."""
ARRAYS = {"TRANDOM": (("TRandomKey", 2), ("TRandomCounter", 4))}
"""Calls whose numbers after the destination are arrays: their types, and how many numbers each has."""
SAME = {"pto.tfillpad_inplace": "TFILLPAD_INPLACE", "pto.tfillpad_expand": "TFILLPAD_EXPAND"}
"""Names of operations that read back as another operation, which does the same with these tiles."""


class Item(NamedTuple):
    """One template argument or mode of a spelling."""

    kind: str
    """``type``, ``element`` (the type of a number), ``with``, ``without`` or ``mode``."""
    name: str
    enumeration: str = ""
    default: str | None = None
    is_optional: bool = False
    is_required: bool = False
    is_shown: bool = False


class Spelling(NamedTuple):
    """How a call is written."""

    template: tuple[Item, ...] = ()
    arguments: tuple[Item, ...] = ()


@cache
def spellings(name: str) -> tuple[Spelling, ...]:
    """Returns the spellings of a name, in the order in which they are tried."""
    return _all().get(name, (Spelling(),))


@cache
def _all() -> dict[str, tuple[Spelling, ...]]:
    found: dict[str, tuple[Spelling, ...]] = {
        name: (Spelling((Item("mode", "precision", f"{word}Algorithm", is_optional=True),)),)
        for name, word in _PRECISE.items()
    }
    for line in _SPELLINGS.strip().splitlines():
        name, template, arguments = (part.strip() for part in line.split("|"))
        one = Spelling(tuple(map(_item, template.split())), tuple(map(_item, arguments.split())))
        found[name] = (*found.get(name, ()), one)
    return found


def _item(text: str) -> Item:
    if text[0] in _KINDS:
        return Item(_KINDS[text[0]], text[1:])
    mode, _, rest = text.partition(":")
    bare = rest.rstrip("?!+")
    enumeration, _, default = bare.partition("=")
    marks = rest[len(bare) :]
    return Item("mode", mode, enumeration, default or None, "?" in marks, "!" in marks, "+" in marks)


_HEADER = Path(__file__).parents[1] / "include/pto/common/type.hpp"
_COMM = Path(__file__).parents[1] / "include/pto/comm/comm_types.hpp"
_LIST = re.compile(r"#define PTO_LIST\(X, E\)((?:[^\n]*\\\n)*[^\n]*)\nPTO_(?:PLAIN_)?ENUM\((\w+),")
_ENUMERATOR = re.compile(r"X\(E, (\w+), \d+\)")


@cache
def enumerators(name: str) -> tuple[str, ...]:
    """Returns the enumerators of an enumeration of the headers."""
    return _enumerations().get(name.removeprefix("comm::"), ())


@cache
def _enumerations() -> dict[str, tuple[str, ...]]:
    found = {
        match[2]: tuple(_ENUMERATOR.findall(match[1]))
        for file in (_HEADER, _COMM)
        for match in _LIST.finditer(file.read_text())
    }
    return {**found, "AccPhase": ("Unspecified", "Partial", "Final")}


__all__ = ["ARRAYS", "POINTERS", "SAME", "Item", "Spelling", "enumerators", "spellings"]
