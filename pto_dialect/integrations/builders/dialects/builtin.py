"""The module `mlir.dialects.builtin`."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ModuleOp as XModuleOp

from ..declare import GeneratedOp
from ..ir.attributes import StringAttr
from ..ir.build import insert, locate
from ..ir.context import need_location
from ..ir.operations import register_view
from ..ir.structure import CONTEXT, Block
from .tables import add_ir, add_operations, read_form

_MODULE = read_form("builtin", "ModuleOp module #sym_name= #sym_visibility=")


@register_view
class ModuleOp(GeneratedOp):
    """The operation `builtin.module`."""

    FORM = _MODULE
    OPERATION_NAME = "builtin.module"

    def __init__(self, *, sym_name: Any = None, sym_visibility: Any = None, loc: Any = None, ip: Any = None) -> None:
        where = need_location(loc)
        made = XModuleOp([])
        del made.location
        self._x = made
        for name, value in (("sym_name", sym_name), ("sym_visibility", sym_visibility)):
            if value is not None:
                self.attributes[name] = StringAttr.get(value, where.context) if isinstance(value, str) else value
        setattr(made, CONTEXT, where.context)
        locate(made, where)
        insert(made, ip)
        made._builders_view = self  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def body(self) -> Block:
        """The block."""
        return self.regions[0].blocks[0]


add_operations(globals(), "builtin", "UnrealizedConversionCastOp unrealized_conversion_cast @outputs* inputs*")
add_ir(globals())
