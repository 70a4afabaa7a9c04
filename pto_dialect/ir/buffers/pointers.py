"""Pointers, scalar memory accesses, and the small arrays and structs of the scalar unit.

Source: docs/reference/execution.md, "Pointers, tiles and views".
"""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, result_def, var_operand_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.forms import DeclarationOp, ElementLoadOp, ElementStoreOp, HandleOp, ScalarElementOp, ViewOp
from ..core.kinds import (
    ANY,
    ARRAY,
    DEVICE_INTEGER,
    I64,
    INDEX,
    INT_OR_FLOAT,
    INTEGER,
    LOCAL_ARRAY,
    NUMBER,
    PTR,
    PTR_OR_MEMREF,
    STRING,
    STRUCT,
    TILE,
    VIEW,
)
from ..core.roles import Role


class AddptrOp(HandleOp, name="pto.addptr", typed=("ptr",), roles=Role.VIEW | Role.DISPLACEMENT):
    """Ptr advanced by ``offset`` elements."""

    ptr = operand_def(PTR)
    offset = operand_def(INDEX)
    result = result_def(PTR)


class CastptrOp(HandleOp, name="pto.castptr", roles=Role.VIEW | Role.ADDRESS):
    """Address or pointer reinterpreted as another address or pointer type."""

    input = operand_def(ANY)
    result = result_def(ANY)


class InttoptrOp(HandleOp, name="pto.inttoptr", roles=Role.ADDRESS):
    """Pointer at a byte address."""

    addr = operand_def(INTEGER)
    result = result_def(PTR)


class PtrtointOp(HandleOp, name="pto.ptrtoint"):
    """Byte address of a pointer."""

    ptr = operand_def(PTR)
    result = result_def(I64)


class TensorViewAddrOp(HandleOp, name="pto.tensor_view_addr"):
    """Base pointer of a view."""

    src = operand_def(VIEW)
    dst = result_def(PTR_OR_MEMREF)


class TileBufAddrOp(ViewOp, name="pto.tile_buf_addr"):
    """Base pointer of a tile."""

    src = operand_def(TILE)
    dst = result_def(PTR_OR_MEMREF)


class LoadOp(ElementLoadOp, name="pto.load", pipe=Pipe.S):
    """The element of ptr at ``offset`` (elements)."""

    ptr = operand_def(PTR_OR_MEMREF)


class LoadScalarOp(ElementLoadOp, name="pto.load_scalar", pipe=Pipe.S):
    """The element of ptr at ``offset`` (elements)."""


class LdDevOp(ElementLoadOp, name="pto.ld_dev", pipe=Pipe.S, since="august"):
    """One element read past the data cache, ``offset`` in elements."""

    value = result_def(DEVICE_INTEGER)


class StoreOp(ElementStoreOp, name="pto.store", pipe=Pipe.S):
    """Element of ptr at ``offset`` = value."""

    ptr = operand_def(PTR_OR_MEMREF)


class StoreScalarOp(ElementStoreOp, name="pto.store_scalar", pipe=Pipe.S):
    """Element of ptr at ``offset`` = value."""


class StDevOp(ElementStoreOp, name="pto.st_dev", pipe=Pipe.S, text=(), since="august"):
    """One element written past the data cache, ``offset`` in elements."""

    value = operand_def(DEVICE_INTEGER)


class ScalarDeclarationOp(DeclarationOp, pipe=Pipe.S, roles=Role.LANE | Role.VARIES):
    """A declaration of the scalar unit whose contents are undefined until set."""


class DeclareLocalArrayOp(ScalarDeclarationOp, name="pto.declare_local_array"):
    """Array of the scalar unit, contents undefined until set."""

    array = result_def(LOCAL_ARRAY)


class LocalArrayGetOp(ScalarElementOp, name="pto.local_array_get", reads=("array",), typed=("array",)):
    """Array element at the indices, row-major."""

    array = operand_def(LOCAL_ARRAY)
    indices = var_operand_def(INDEX)
    result = result_def(NUMBER)


class LocalArraySetOp(ScalarElementOp, name="pto.local_array_set", writes=("array",), typed=("array", "value")):
    """Array element at the indices = value."""

    array = operand_def(LOCAL_ARRAY)
    indices = var_operand_def(INDEX)
    value = operand_def(NUMBER)


class DeclareStructOp(ScalarDeclarationOp, name="pto.declare_struct", since="august"):
    """Struct of the scalar unit, contents undefined until set."""

    s = result_def(STRUCT)


class FieldOp(ScalarElementOp, tokens=("path",), since="august"):
    """Reads or writes the field of a struct."""

    path = attr_def(ARRAY)


class StructGetOp(FieldOp, name="pto.struct_get", reads=("s",)):
    """Field of the struct at a path of field indices."""

    s = operand_def(STRUCT)
    value = result_def(ANY)


class StructSetOp(FieldOp, name="pto.struct_set", writes=("s",)):
    """Field of the struct at a path of field indices = value."""

    s = operand_def(STRUCT)
    value = operand_def(ANY)


class TrapOp(PtoOp, name="pto.trap", shape=Shape.NULLARY, pipe=Pipe.S, effect=Effect.REPORT, roles=Role.REPORT):
    """Stops the program with an error."""


class PrintOp(
    PtoOp,
    name="pto.print",
    shape=Shape.INS_ONLY,
    pipe=Pipe.S,
    effect=Effect.REPORT,
    tokens=("format",),
    roles=Role.REPORT | Role.LANE,
):
    """Prints ``format`` with the scalar."""

    scalar = operand_def(INT_OR_FLOAT)
    format = attr_def(STRING)
