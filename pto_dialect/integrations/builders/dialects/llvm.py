"""The module `mlir.dialects.llvm`, as far as programs of `pto` use it."""

from __future__ import annotations

from typing import Any

from ..ir.attributes import unwrap, wrap
from ..ir.context import Context, need_context
from ..ir.types import Type, read_type
from .tables import add_operations, to_dense, to_integer

_TABLE = """
    UndefOp mlir.undef @res
    ZeroOp mlir.zero @res
    ConstantOp mlir.constant @res #value
    IntToPtrOp inttoptr @res arg
    PtrToIntOp ptrtoint @res arg
    BitcastOp bitcast @res arg
    AddrSpaceCastOp addrspacecast @res arg
    LoadOp load @res addr #alignment=
    StoreOp store value addr #alignment=
    GEPOp getelementptr @res base dynamicIndices* #rawConstantIndices #elem_type #inbounds=
    AllocaOp alloca @res arraySize #elem_type #alignment=
    InsertElementOp insertelement vector value position : vector
    ExtractElementOp extractelement vector position
    ExtractValueOp extractvalue @res container #position
    InsertValueOp insertvalue container value #position : container
"""


def _element_type(value: Any) -> Any:
    return unwrap(value, "the value")


def _dense_i32(value: Any) -> Any:
    from xdsl.dialects.builtin import DenseArrayBase, i32  # deferred: start-up

    return DenseArrayBase.from_list(i32, [int(one) for one in value])


add_operations(
    globals(),
    "llvm",
    _TABLE,
    {
        "alignment": to_integer(64),
        "position": to_dense,
        "rawConstantIndices": _dense_i32,
        "elem_type": _element_type,
    },
)


class PointerType(Type):
    """A pointer of LLVM."""

    @classmethod
    def _holds(cls, attribute: Any) -> bool:
        return str(attribute).startswith("!llvm.ptr")

    @staticmethod
    def get(address_space: int | None = None, context: Context | None = None) -> Any:
        """Returns the type of pointers into an address space."""
        if isinstance(address_space, Context):
            context, address_space = address_space, None
        need_context(context)
        of = read_type(f"!llvm.ptr<{address_space}>" if address_space else "!llvm.ptr")
        made = object.__new__(PointerType)
        made._x = of
        return made

    @property
    def address_space(self) -> int:
        """The number of the address space."""
        text = str(wrap(self._x))
        return int(text[10:-1]) if "<" in text else 0


def register_dialect(context: Any = None, load: bool = True) -> None:
    """Does nothing: the dialect is known."""
