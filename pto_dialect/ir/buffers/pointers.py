"""Pointers, scalar memory accesses, and the small arrays and structs of the scalar unit."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, result_def, var_operand_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.forms import ElementLoadOp, ElementStoreOp
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


class AddptrOp(
    PtoOp,
    name="pto.addptr",
    shape=Shape.FLAT_VALUE,
    effect=Effect.HANDLE,
    typed=("ptr",),
    roles=Role.VIEW | Role.DISPLACEMENT,
):
    """Ptr advanced by ``offset`` elements (docs/reference/execution.md, "Pointers, tiles and views")."""

    ptr = operand_def(PTR)
    offset = operand_def(INDEX)
    result = result_def(PTR)


class CastptrOp(
    PtoOp, name="pto.castptr", shape=Shape.FLAT_VALUE, effect=Effect.HANDLE, roles=Role.VIEW | Role.ADDRESS
):
    """Address or pointer reinterpreted as another address or pointer type (docs/reference/execution.md, "Pointers,
    tiles and views").
    """

    input = operand_def(ANY)
    result = result_def(ANY)


class InttoptrOp(PtoOp, name="pto.inttoptr", shape=Shape.FLAT_VALUE, effect=Effect.HANDLE, roles=Role.ADDRESS):
    """Pointer at a byte address (docs/reference/execution.md, "Pointers, tiles and views")."""

    addr = operand_def(INTEGER)
    result = result_def(PTR)


class PtrtointOp(PtoOp, name="pto.ptrtoint", shape=Shape.FLAT_VALUE, effect=Effect.HANDLE):
    """Byte address of a pointer (docs/reference/execution.md, "Pointers, tiles and views")."""

    ptr = operand_def(PTR)
    result = result_def(I64)


class TensorViewAddrOp(PtoOp, name="pto.tensor_view_addr", shape=Shape.FLAT_VALUE, effect=Effect.HANDLE):
    """Base pointer of a view (docs/reference/execution.md, "Pointers, tiles and views")."""

    src = operand_def(VIEW)
    dst = result_def(PTR_OR_MEMREF)


class TileBufAddrOp(PtoOp, name="pto.tile_buf_addr", shape=Shape.FLAT_VALUE, effect=Effect.HANDLE, roles=Role.VIEW):
    """Base pointer of a tile (docs/reference/execution.md, "Pointers, tiles and views")."""

    src = operand_def(TILE)
    dst = result_def(PTR_OR_MEMREF)


class LoadOp(ElementLoadOp, name="pto.load", pipe=Pipe.S):
    """The element of ptr at ``offset`` (elements) (docs/reference/execution.md, "Pointers, tiles and views")."""

    ptr = operand_def(PTR_OR_MEMREF)
    offset = operand_def(INDEX)
    value = result_def(ANY)


class LoadScalarOp(ElementLoadOp, name="pto.load_scalar", pipe=Pipe.S):
    """The element of ptr at ``offset`` (elements) (docs/reference/execution.md, "Pointers, tiles and views")."""

    ptr = operand_def(PTR)
    offset = operand_def(INDEX)
    value = result_def(ANY)


class LdDevOp(ElementLoadOp, name="pto.ld_dev", pipe=Pipe.S, since="august"):
    """One element read past the data cache, ``offset`` in elements (docs/reference/execution.md, "Pointers, tiles and
    views").
    """

    ptr = operand_def(PTR)
    offset = operand_def(INDEX)
    value = result_def(DEVICE_INTEGER)


class ScalarStoreOp(ElementStoreOp, pipe=Pipe.S, text=("value", "ptr", "offset")):
    """Store of the scalar unit, whose pointer is the first operand."""

    offset = operand_def(INDEX)
    value = operand_def(ANY)


class StoreOp(ScalarStoreOp, name="pto.store"):
    """Element of ptr at ``offset`` = value (docs/reference/execution.md, "Pointers, tiles and views")."""

    ptr = operand_def(PTR_OR_MEMREF)


class StoreScalarOp(ScalarStoreOp, name="pto.store_scalar"):
    """Element of ptr at ``offset`` = value (docs/reference/execution.md, "Pointers, tiles and views")."""

    ptr = operand_def(PTR)


class StDevOp(ElementStoreOp, name="pto.st_dev", pipe=Pipe.S, since="august"):
    """One element written past the data cache, ``offset`` in elements (docs/reference/execution.md, "Pointers, tiles
    and views").
    """

    value = operand_def(DEVICE_INTEGER)
    ptr = operand_def(PTR)
    offset = operand_def(INDEX)


class DeclareLocalArrayOp(
    PtoOp,
    name="pto.declare_local_array",
    shape=Shape.NULLARY_ARROW,
    pipe=Pipe.S,
    effect=Effect.HANDLE,
    roles=Role.LANE | Role.VARIES,
):
    """Array of the scalar unit, contents undefined until set (docs/reference/execution.md, "Pointers, tiles and
    views").
    """

    array = result_def(LOCAL_ARRAY)


class LocalArrayGetOp(
    PtoOp, name="pto.local_array_get", shape=Shape.INDEXED, pipe=Pipe.S, reads=("array",), typed=("array",)
):
    """Array element at the indices, row-major (docs/reference/execution.md, "Pointers, tiles and views")."""

    array = operand_def(LOCAL_ARRAY)
    indices = var_operand_def(INDEX)
    result = result_def(NUMBER)


class LocalArraySetOp(
    PtoOp, name="pto.local_array_set", shape=Shape.INDEXED, pipe=Pipe.S, writes=("array",), typed=("array", "value")
):
    """Array element at the indices = value (docs/reference/execution.md, "Pointers, tiles and views")."""

    array = operand_def(LOCAL_ARRAY)
    indices = var_operand_def(INDEX)
    value = operand_def(NUMBER)


class DeclareStructOp(
    PtoOp,
    name="pto.declare_struct",
    shape=Shape.NULLARY_ARROW,
    pipe=Pipe.S,
    effect=Effect.HANDLE,
    since="august",
    roles=Role.LANE | Role.VARIES,
):
    """Struct of the scalar unit, contents undefined until set (docs/reference/execution.md, "Pointers, tiles and
    views").
    """

    s = result_def(STRUCT)


class StructGetOp(
    PtoOp, name="pto.struct_get", shape=Shape.INDEXED, pipe=Pipe.S, reads=("s",), tokens=("path",), since="august"
):
    """Field of the struct at a path of field numbers (docs/reference/execution.md, "Pointers, tiles and views")."""

    s = operand_def(STRUCT)
    path = attr_def(ARRAY)
    value = result_def(ANY)


class StructSetOp(
    PtoOp, name="pto.struct_set", shape=Shape.INDEXED, pipe=Pipe.S, writes=("s",), tokens=("path",), since="august"
):
    """Field of the struct at a path of field numbers = value (docs/reference/execution.md, "Pointers, tiles and
    views").
    """

    s = operand_def(STRUCT)
    value = operand_def(ANY)
    path = attr_def(ARRAY)


class TrapOp(PtoOp, name="pto.trap", shape=Shape.NULLARY, pipe=Pipe.S, effect=Effect.REPORT, roles=Role.REPORT):
    """Stops the program with an error (docs/reference/execution.md, "Pointers, tiles and views")."""


class PrintOp(
    PtoOp,
    name="pto.print",
    shape=Shape.INS_ONLY,
    pipe=Pipe.S,
    effect=Effect.REPORT,
    tokens=("format",),
    roles=Role.REPORT | Role.LANE,
):
    """Prints ``format`` with the scalar (docs/reference/execution.md, "Pointers, tiles and views")."""

    scalar = operand_def(INT_OR_FLOAT)
    format = attr_def(STRING)
