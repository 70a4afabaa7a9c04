"""The form of an operation as tables name it: ``tgather[index]``, ``tmov[vec->vec]``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .relations import TileOperands


def _gather(t: TileOperands) -> str:
    if t.enumerator("maskPattern"):
        return "mask"
    return "compare" if "cdst" in t.values or "kValue" in t.values else "index"


def _scatter(t: TileOperands) -> str:
    return "mask" if t.enumerator("maskPattern") else "index"


def is_zz_move(t: TileOperands) -> bool:
    """Returns whether a tmov reorders MX scales: its third tile is a workspace, not a fixpipe table."""
    third = t.tile("fp")
    return third is not None and third.loc not in (None, "scaling")


def _move(t: TileOperands) -> str:
    if is_zz_move(t):
        return "zz"
    source, destination = t.tile("src"), t.tile("dst")
    if source is None or destination is None or source.loc is None or destination.loc is None:
        return ""
    return f"{source.loc}->{destination.loc}"


_FORMS: Final[Mapping[str, Callable[[TileOperands], str]]] = MappingProxyType(
    {"pto.tgather": _gather, "pto.tscatter": _scatter, "pto.tmov": _move}
)


def form_key(t: TileOperands) -> str:
    """Returns the mnemonic without ``pto.``, with the form in brackets where the operation has several."""
    form = _FORMS.get(t.op_name)
    name = t.op_name.removeprefix("pto.")
    return name if form is None else f"{name}[{form(t)}]"
