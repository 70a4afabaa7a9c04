"""Tile operations: a call of the interface becomes one operation of the dialect, as the table says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.base import PtoOp, op_spec, signature
from pto_dialect.ir.core.registry import op_class
from pto_dialect.targets.tcvt_pairs import wraps_by_default

from .modes import attributes_of, modes_of
from .operands import Operands, is_same
from .scales import translate_scales
from .statement import Named, statement
from .table import MISSING, SEQUENCES, Role, Row, rows
from .tensors import Tensor
from .tiles import Tile, as_scratch, full_size, number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..translate.interface import Call, Emitter, Group, Operand
    from .tiles import Extent

Given = Tile | Tensor | Named
"""An operand before its handle or view is made; a number has its name already."""

_SCALARS = frozenset(("pto.tload", "pto.tstore", "pto.tcvt"))
"""Operations that count single numbers of 4 bits in vector tiles, where the dialect counts pairs."""
_FLOATS = {"half": "f16", "bfloat": "bf16", "float": "f32"}
_SIGNALS = frozenset(("pto.comm.tnotify", "pto.comm.twait", "pto.comm.ttest"))
_RESULTS = {"pto.comm.ttest": "i1"}
"""Types of results."""
POWERS = frozenset(("pto.tpow", "pto.tpows"))
"""Operations whose scratch tile C++ always passes, and only powers of floats need."""
_BOX = 16
"""Rows and columns of a box of an accumulator."""
_TRANSFERS = frozenset(("pto.tload", "pto.tstore"))


def translate_operation(call: Call, emitter: Emitter, known: Operands) -> Named | None:
    """Emits the operation that a call is, and returns its result, if it has one."""
    groups = [one for one in call.groups if one.kind not in ("enum", "event")]
    if translate_scales(groups, call, emitter, known):
        return None
    parts = SEQUENCES.get((call.name, len(groups)))
    if parts is None:
        return _emit(call.name, groups, call, emitter, known)
    for number, (name, places) in enumerate(parts):
        if number and emitter.target != "a5":
            emitter.emit("pto.barrier <PIPE_V>")
        _emit(name, [groups[place] for place in places], call, emitter, known)
    return None


def _emit(name: str, groups: Sequence[Group], call: Call, emitter: Emitter, known: Operands) -> Named | None:
    """Emits the operation with a name of the interface."""
    modes = modes_of(call, emitter)
    modes |= {mode: value for mode, value in _defaults(call).items() if mode not in modes}
    row = _row(name, groups, modes, emitter)
    mnemonic = row.mnemonic
    op = op_class(mnemonic)
    attributes = attributes_of(op, modes, call, emitter)
    given = _given(row, groups, op, call, emitter, attributes)
    _complete(op, given, attributes, emitter)
    given = _adjusted(op, given, modes, call, emitter, known)
    operands = {
        slot.name: [known.value(one, call) for one in given[slot.name]]
        for slot in signature(op).operands
        if slot.name in given
    }
    text = statement(mnemonic, operands, attributes)
    result = _RESULTS.get(mnemonic)
    if result is None:
        emitter.emit(text)
        return None
    return Named(emitter.define(f"{text} -> {result}", "result"), result)


def _defaults(call: Call) -> dict[str, str]:
    """Returns the modes that C++ leaves to the headers and the dialect states."""
    match call.name:
        case "MGATHER":
            return {"coalesce": "Elem" if len(call.groups) > 3 else "Row"}
        case "MSCATTER":
            return {"coalesce": "Row"}
        case "TCVT":
            target, source = (group.fields[1] for group in call.groups[:2])
            # The headers keep the low bits in the narrowing conversions, which the dialect saturates.
            return {"sat": "OFF"} if target == "hif8" or wraps_by_default(source, target) else {}
        case _:
            return {}


def _row(called: str, groups: Sequence[Group], modes: dict[str, str], emitter: Emitter) -> Row:
    name = called if called in rows() or called in MISSING else f"comm::{called}"
    found = rows().get(name, ())
    for row in found:
        key, value = row.mode
        if (
            len(row.roles) == len(groups)
            and all(map(_fits, row.roles, groups))
            and (not key or modes.get(key) == value)
        ):
            return row
    written = f"{called}({', '.join(map(_shown, groups))})"
    if found:
        emitter.fail(f"{written}: the dialect has no such form of {called}")
    reason = MISSING.get(name)
    emitter.fail(f"{written} has no counterpart in .pto", reason or "")


def _shown(group: Group) -> str:
    return group.fields[0] if group.kind in ("scalar", "pointer", "ptr") else group.kind


def _fits(role: Role, group: Group) -> bool:
    if role.kind in ("number", "attribute"):
        return group.kind == "scalar"
    if role.kind == "executed":
        return group.kind not in ("tile", "global", "scalar")
    return group.kind in ("tile", "global") and role.location in ("", group.fields[0])


def _given(
    row: Row, groups: Sequence[Group], op: type[PtoOp], call: Call, emitter: Emitter, attributes: dict[str, str]
) -> dict[str, list[Given]]:
    found: dict[str, list[Given]] = {}
    for role, group in zip(row.roles, groups, strict=True):
        if role.kind == "tile":
            for name in role.names:
                found.setdefault(name, []).append(Operands.given(group, emitter))
        elif role.kind == "executed":
            type_ = "vector<4xi16>"
            found[role.names[0]] = [Named(emitter.define(f"arith.constant dense<0> : {type_}", "taken"), type_)]
    for role, group in zip(row.roles, groups, strict=True):
        if role.kind == "number":
            type_ = _type_of(role, found, emitter)
            found[role.names[0]] = [number(group.operands[0], type_, emitter)]
        elif role.kind == "attribute":
            (operand,) = group.operands
            if not isinstance(operand.value, int):
                emitter.fail(f"{call.name}: its {role.names[0]} is not constant")
            attributes |= attributes_of(op, {role.names[0]: str(operand.value)}, call, emitter)
    return found


def number(operand: Operand, type_: str, emitter: Emitter) -> Named:
    """Returns a number as a value of a type."""
    if type_ in ("index", "i64", "i32"):
        return Named(emitter.cast(operand, type_), type_)
    if type_.startswith("u"):
        plain = type_.removeprefix("u")
        value = f"builtin.unrealized_conversion_cast {emitter.scalar(operand, plain)} : {plain} to {type_}"
        return Named(emitter.define(value, "start"), type_)
    given = _FLOATS.get(operand.type, type_)
    if given != type_ and operand.value is None and type_ == "f32":
        return Named(emitter.define(f"arith.extf {emitter.scalar(operand, given)} : {given} to {type_}", "wide"), type_)
    return Named(emitter.scalar(operand, type_), type_)


def _type_of(role: Role, given: dict[str, list[Given]], emitter: Emitter) -> str:
    """Returns the type of a number: its own, or that of the elements, which has a sign only where a role says so."""
    if role.type == "own":
        return _element(given, emitter)
    return role.type or _element(given, emitter).removeprefix("u")


def _element(given: dict[str, list[Given]], emitter: Emitter) -> str:
    """Returns the element type of numbers: the one of the sources, else of the destination."""
    for name in ("src", "src0", "scalar", "dst"):
        for one in given.get(name, ()):
            if isinstance(one, Tile):
                return one.element
    emitter.fail("the type of the number is not known")


def _complete(op: type[PtoOp], given: dict[str, list[Given]], attributes: dict[str, str], emitter: Emitter) -> None:
    """Adds what C++ leaves to defaults and the dialect states."""
    for name in ("indexRow", "indexCol"):
        if any(slot.name == name for slot in signature(op).operands):
            given.setdefault(name, [Named(emitter.constant(0, "index"), "index")])
    if op.name in ("pto.tgather", "pto.tscatter") and not given.keys() & {"indices", "indexes", "kValue"}:
        attributes.setdefault("maskPattern", ENUMS["mask_pattern"].spell("P1111"))
        attributes.setdefault("axis", '"row"')


def _adjusted(
    op: type[PtoOp], given: dict[str, list[Given]], modes: dict[str, str], call: Call, emitter: Emitter, known: Operands
) -> dict[str, list[Given]]:
    """Returns the operands with the sizes that the instruction works on."""
    if "tmp" in given:
        given = {**given, "tmp": [as_scratch(one) if isinstance(one, Tile) else one for one in given["tmp"]]}
    if op.name in _SCALARS and any(isinstance(one, Tile) and _is_packed(one) for (one,) in given.values()):
        given = {name: [_paired(one, emitter) for one in values] for name, values in given.items()}
    if op.name in _TRANSFERS:
        (source,), (destination,) = given["src"], given["dst"]
        if isinstance(source, Tensor) and isinstance(destination, Tile):
            destination, source = known.tensors.moved(destination, source)
        elif isinstance(source, Tile) and isinstance(destination, Tensor):
            source, destination = known.tensors.moved(source, destination)
        return {**given, "src": [source], "dst": [destination]}
    if op.name in _SIGNALS:
        return {**given, "signal": [_with_constant_sizes(one, call, emitter) for one in given["signal"]]}
    if op.name == "pto.tmov" and "Split" in modes.get("tovec", ""):
        _check_halves(given, emitter)
    if op.name == "pto.tquant.mx":
        return {
            name: [one.with_known_sizes() if isinstance(one, Tile) else one for one in values]
            for name, values in given.items()
        }
    if op.name in POWERS and "tmp" in given and not _is_float(given["dst"][0]):
        return {name: values for name, values in given.items() if name != "tmp"}
    if op.name == "pto.tcvt":
        return _of_same_shape(given, call, known)
    if op.name == "pto.tinsert":
        return {**given, "dst": [_in_columns_of_boxes(given["dst"][0], given["src"][0])]}
    if op.name == "pto.tfillpad":
        return {name: [_filled(one, modes) for one in values] for name, values in given.items()}
    for left, right in (("lhs", "rhs"), ("a", "b")):
        if left in given and right in given and op_spec(op).pipe is not None:
            return _product(op.name, given, left, right, emitter)
    return given


def _of_same_shape(given: dict[str, list[Given]], call: Call, known: Operands) -> dict[str, list[Given]]:
    """Returns the tiles of a conversion, of which C++ compares the valid sizes alone: windows of the larger ones."""
    (source,), (destination,) = given["src"], given["dst"]
    if not isinstance(source, Tile) or not isinstance(destination, Tile):
        return given
    shape = min(source.rows, destination.rows), min(source.cols, destination.cols)

    def narrowed(tile: Tile) -> Given:
        sizes = zip(map(number_of, tile.valid), shape, strict=True)
        if full_size(tile) == shape or any(size is not None and size > room for size, room in sizes):
            return tile
        return known.handles.first_part(tile, shape, call)

    return {**given, "src": [narrowed(source)], "dst": [narrowed(destination)]}


def _in_columns_of_boxes(destination: Given, source: Given) -> Given:
    """Returns the destination of an insertion. A vector tile in columns of boxes is copied as such, whatever order of
    boxes a tile of L1 states: one with rows of boxes has as many rows then as it states columns."""
    if not isinstance(destination, Tile) or not isinstance(source, Tile) or destination.location != "Mat":
        return destination
    in_columns = (source.location, source.blayout, source.slayout) == ("Vec", "ColMajor", "RowMajor")
    if not in_columns or (destination.blayout, destination.slayout) != ("RowMajor", "RowMajor"):
        return destination
    rows, cols = destination.cols, destination.rows
    return destination._replace(blayout="ColMajor", rows=rows, cols=cols, valid=(rows, cols))


def _check_halves(given: dict[str, list[Given]], emitter: Emitter) -> None:
    """Refuses to split an accumulator into boxes for both cores where its valid part ends within a box: C++ moves whole
    boxes."""
    (source,), (destination,) = given["src"], given["dst"]
    if isinstance(source, Tile) and isinstance(destination, Tile) and destination.slayout != "NoneBox":
        sizes = [number_of(size) for size in source.valid]
        if any(size is not None and size % _BOX for size in sizes):
            emitter.fail(
                "TMOV that splits an accumulator has no counterpart in .pto where valid sizes end within a box"
            )


def _with_constant_sizes(one: Given, call: Call, emitter: Emitter) -> Given:
    """Returns a signal, whose sizes the dialect states."""
    if not isinstance(one, Tensor):
        return one
    known = one.with_known_sizes()
    if not all(isinstance(size, int) for size in known.sizes):
        emitter.fail(f"{call.name} has a counterpart in .pto only if the sizes of its signal are constant")
    return known


def _is_float(one: Given) -> bool:
    return isinstance(one, Tile) and "f" in one.element


def _filled(one: Given, modes: dict[str, str]) -> Given:
    """Returns a tile of padding: those of the matrix unit are filled with zeros without saying so."""
    if isinstance(one, Tile) and one.location == "Mat" and one.pad == "Null":
        return one._replace(pad=modes.get("pad", "Zero"))
    return one


def _product(
    mnemonic: str, given: dict[str, list[Given]], left: str, right: str, emitter: Emitter
) -> dict[str, list[Given]]:
    """Returns the operands of a matrix product: its sizes are those of the left and the right tile alone."""
    (lhs,), (rhs,) = given[left], given[right]
    if not isinstance(lhs, Tile) or not isinstance(rhs, Tile):
        return given
    rows_ = 1 if mnemonic.startswith("pto.tgemv") else lhs.valid[0]
    # All of them state the same sizes, or leave the same ones open.
    found = {
        **given,
        left: [_resized(lhs, *lhs.valid, emitter)],
        right: [_resized(rhs, lhs.valid[1], rhs.valid[1], emitter)],
    }
    for name in ("dst", "acc_in", "c_in", "bias"):
        for one in given.get(name, ()):
            assert isinstance(one, Tile)
            of_rows = one.valid[0] if name == "bias" else rows_
            found[name] = [_resized(one, of_rows, rhs.valid[1], emitter)]
    return found


def _resized(tile: Tile, row: int | str | Operand, col: int | str | Operand, emitter: Emitter) -> Tile:
    sizes = (row, col)
    if any(isinstance(size, int) and size > room for size, room in zip(sizes, (tile.rows, tile.cols), strict=True)):
        return tile
    row, col = (old if is_same(old, new, emitter) else new for old, new in zip(tile.valid, sizes, strict=True))
    return tile._replace(valid=(_stated(row, tile.rows), _stated(col, tile.cols)))


def _stated(size: int | str | Operand, room: int) -> int | str | Operand:
    """Returns a size as a number where it is constant and less than the tile has: types state it in products."""
    known = number_of(size)
    return size if known is None or known == room else known


def _is_packed(tile: Tile) -> bool:
    return tile.location == "Vec" and tile.element.startswith("f4")


def _paired(one: Given, emitter: Emitter) -> Given:
    """Returns a tile or tensor of packed pairs whose elements have been counted as single numbers: pairs are along the
    columns, in a column-major tile and in layout DN along the rows."""
    if isinstance(one, Named) or not one.element.startswith("f4"):
        return one
    if isinstance(one, Tile):
        return _paired_tile(one, emitter) if _is_packed(one) else one
    axis = -2 if one.layout == "DN" else -1
    sizes, strides = [*one.sizes], [*one.strides]
    size, steps = sizes[axis], [step for step in strides if isinstance(step, int)]
    if not isinstance(size, int) or len(steps) < len(strides):
        emitter.fail(f"a tensor of {one.element} has constant sizes in .pto")
    sizes[axis] = -(-size // 2)
    halved: list[Extent] = [step // 2 for step in steps]
    halved[axis] = strides[axis]
    return one._replace(sizes=tuple(sizes), strides=tuple(halved))


def _paired_tile(tile: Tile, emitter: Emitter) -> Tile:
    axis = 0 if tile.blayout == "ColMajor" else 1
    size = number_of(tile.valid[axis])
    if size is None:
        emitter.fail(f"a vector tile of {tile.element} has constant valid columns in .pto")
    half = -(-size // 2)
    if axis:
        return tile._replace(cols=tile.cols // 2, valid=(tile.valid[0], half))
    return tile._replace(rows=tile.rows // 2, valid=(half, tile.valid[1]))


__all__ = ["POWERS", "number", "translate_operation"]
