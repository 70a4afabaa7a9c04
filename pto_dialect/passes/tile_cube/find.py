"""Finds the matrix products of a program: the loops around a store whose iterations make one larger product.

Source: docs/reference/numerics.md, "Matrix products"; docs/reference/core-dialects.md, "Control flow".
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.scf import ForOp, IfOp, YieldOp
from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.analysis.constants import constant_of, constant_trip_count
from pto_dialect.ir.buffers.pointers import AddptrOp, CastptrOp
from pto_dialect.ir.buffers.views import AllocTileOp, MakeTensorViewOp, PartitionViewOp
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.location import label_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import DYNAMIC, PtrType, ShapedView, TileBufType, byte_width
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.tile.memory import TLoadOp, TStoreOp
from pto_dialect.ir.tile.move import TExtractOp, TMovOp
from pto_dialect.passes.instructions.writer import is_handle
from pto_dialect.targets.matmul_types import MX_K_MULTIPLE

from .product import (
    ADDING,
    BEGINNING,
    FAMILY_OF,
    Family,
    NotTiledError,
    Operand,
    Product,
    Start,
    Window,
    at,
    roles_of,
    steps_of,
)
from .repeats import check_outside, is_inside, repeats_around
from .sums import Sum, sum_of

_EQUAL, _UNEQUAL = 0, 1


def product_of(store: TStoreOp) -> Product:
    """Returns the largest product that ``store`` writes a tile of. Raises :class:`NotTiledError`."""
    return _Finder(store).find()


class _Finder:
    """Follows one store to the loads of its product, and to the loops around it."""

    def __init__(self, store: TStoreOp) -> None:
        self.store = store
        self.sums = store.src
        self.tiles: set[SSAValue] = {store.src}
        self.ops: set[Operation] = {store}

    def find(self) -> Product:
        """Returns the product."""
        _plain(self.store, {"src", "dst", "preQuantScalar", "fp"}, {"stPhase"})
        acc = self._tile(self.sums)
        out = _window(self.store.dst)
        if (out.rows, out.cols) != (acc.valid_rows, acc.valid_cols):
            raise NotTiledError("it stores other sizes than those of its accumulator")
        block = self.store.parent
        assert block is not None
        product = self._terms(block, acc, out)
        if (product.left.window.rows, product.right.window.cols) != (out.rows, out.cols):
            raise NotTiledError("its operands have other sizes than its accumulator")
        product.rows, product.cols = out.rows, out.cols
        if self.store.fp is not None:
            product.inputs = {**product.inputs, "table": self._operand(self.store.fp, self.store)}
        _check_sizes(product)
        self._apart(product)
        while self._widen(product):
            pass
        product.inner = product.place
        product.repeats = repeats_around(product, self._belongs)
        self.ops.update(product.repeats)
        self._alone(product)
        _overlap_free(product)
        return product

    # ------------------------------------------------------------ sums over k

    def _terms(self, block: Block, acc: TileBufType, out: Window) -> Product:
        """Returns the products before the store, joined along k."""
        product: Product | None = None
        for op in block.ops:
            if op is self.store:
                break
            inside = [inner for inner in walk(op) if self.sums in inner.operands]
            if not inside:
                continue
            start, adding, length, loop = self._term(op)
            operands = self._operands(start, adding)
            if loop is not None:
                operands = _along(loop, operands, length)
                length *= constant_trip_count(loop) or 1
            if product is None:
                if start is None:
                    raise NotTiledError("its first product adds to sums that it has not computed")
                family = FAMILY_OF[type(start.products()[0])]
                product = Product(
                    self.store, family, out, operands, start, length, block, self.store, acc, self.store, self.ops
                )  # fmt: skip
                if loop is not None and constant_trip_count(loop) is None:
                    product.open["depth"] = loop
            elif "depth" in product.open or (loop is not None and constant_trip_count(loop) is None):
                raise NotTiledError("only a run knows how often its loop along k runs, and it has other products")
            elif start is not None:
                raise NotTiledError("its sums begin twice")
            else:
                _follows(product, operands, FAMILY_OF[type(adding)] if adding else None)
                product.depth += length
        if product is None:
            raise NotTiledError("nothing in its block multiplies")
        return product

    def _term(self, op: Operation) -> tuple[Start | None, PtoOp | None, int, ForOp | None]:
        """Returns what one operation of the block adds to the sums: how the sums begin in it, the product that adds to
        them, the length of one product along k, the loop around it."""
        loop = op if isinstance(op, ForOp) else None
        if loop is not None:
            if loop.iter_args or constant_trip_count(loop) == 0:
                raise NotTiledError("its loop along k has values of its own, or never runs")
            users = [inner for inner in loop.body.block.ops if _uses(inner, self.sums)]
            if len(users) != 1:
                raise NotTiledError("its loop along k has several products")
            op = users[0]
            self.ops.add(loop)
        start: Start | None = None
        adding: PtoOp | None = None
        if isinstance(op, ADDING):
            adding = self._adding(op)
        elif loop is not None:
            start, adding = self._choice(op, loop)
        else:
            start = self._begin(op)
        one = adding or (start.products()[0] if start else None)
        assert one is not None
        return start, adding, _depth(one), loop

    def _choice(self, op: Operation, loop: ForOp) -> tuple[Start, PtoOp]:
        """Returns an ``scf.if`` that begins the sums in the first iteration of a loop and adds to them in the
        others."""
        if not isinstance(op, IfOp) or op.results:
            raise NotTiledError("its loop along k begins its sums in every iteration")
        test = op.cond.owner
        if not isinstance(test, CmpiOp) or test.predicate.value.data not in (_EQUAL, _UNEQUAL):
            raise NotTiledError("nobody knows in which iteration its sums begin")
        index, low = loop.body.block.args[0], constant_of(loop.lb)
        difference = sum_of(test.lhs).minus(sum_of(test.rhs))
        factor = difference.factor(index)
        if abs(factor) != 1 or not isinstance(low, int) or difference.at(index, low) != Sum():
            raise NotTiledError("nobody knows in which iteration its sums begin")
        first, others = op.true_region, op.false_region
        if test.predicate.value.data == _UNEQUAL:
            first, others = others, first
        self.ops.add(op)
        return self._begin(self._only(first.blocks)), self._adding(self._only(others.blocks))

    def _begin(self, op: Operation) -> Start:
        """How ``op`` begins the sums."""
        if isinstance(op, IfOp) and not op.results:
            self.ops.add(op)
            then, other = (self._begin(self._only(region.blocks)) for region in (op.true_region, op.false_region))
            return Start(None, op.cond, then, other)
        if not isinstance(op, BEGINNING) or not _writes(op, self.sums):
            raise NotTiledError(f"{op.name} uses its accumulator")
        self.ops.add(op)
        return Start(op)

    def _adding(self, op: Operation) -> PtoOp:
        if not isinstance(op, ADDING) or not _writes(op, self.sums) or _given(op, "sums") is not self.sums:
            raise NotTiledError(f"{op.name} uses its accumulator")
        self.ops.add(op)
        return op

    def _only(self, blocks: object) -> Operation:
        """Returns the only operation of a branch."""
        found = [op for block in blocks for op in block.ops if not isinstance(op, YieldOp)]  # pyright: ignore
        if len(found) != 1:
            raise NotTiledError("a branch contains more than its product")
        return found[0]

    # ------------------------------------------------------------ operands

    def _operands(self, start: Start | None, adding: PtoOp | None) -> dict[str, Operand]:
        """Returns the operands of the products of a term, which are the same for all of them."""
        products = [*(start.products() if start else ()), *([adding] if adding else [])]
        for op in products:
            _plain(op, set(operand_groups(op)), {"accPhase"})
        if len({FAMILY_OF[type(op)] for op in products}) != 1:
            raise NotTiledError("its products are of different kinds")
        found: dict[str, SSAValue] = {}
        for op in products:
            for role in roles_of(type(op)):
                value = _given(op, role)
                if role != "sums" and found.setdefault(role, value) is not value:
                    several = "it has several biases" if role == "bias" else "its products have different operands"
                    raise NotTiledError(several)
        return {role: self._operand(value, products[0]) for role, value in found.items()}

    def _operand(self, value: SSAValue, user: Operation) -> Operand:
        """Returns where the elements of an operand come from."""
        level0 = self._tile(value)
        move = self._writer(value, user)
        if not isinstance(move, (TMovOp, TExtractOp)):
            raise NotTiledError(f"{move.name} writes {_name(value)}")
        window = isinstance(move, TExtractOp)
        _plain(move, {"src", "dst", *(("indexRow", "indexCol") if window else ())}, set())
        level1 = self._tile(move.src)
        load = self._writer(move.src, move)
        if not isinstance(load, TLoadOp):
            raise NotTiledError(f"{load.name} writes {_name(move.src)}")
        _plain(load, {"src", "dst"}, set())
        part = _window(load.src)
        if (part.rows, part.cols) != (level1.valid_rows, level1.valid_cols):
            raise NotTiledError(f"its part of global memory has other sizes than {_name(move.src)}")
        row, col = (sum_of(move.indexRow), sum_of(move.indexCol)) if window else (Sum(), Sum())
        shown = Window(part.part, part.row.plus(row), part.col.plus(col), level0.valid_rows, level0.valid_cols)
        if not window and (part.rows, part.cols) != (shown.rows, shown.cols):
            raise NotTiledError(f"{_name(value)} has other sizes than {_name(move.src)}")
        self.ops |= {move, load}
        return Operand(shown, load, move, level1, level0)

    def _tile(self, value: SSAValue) -> TileBufType:
        owner, kind = value.owner, value.type
        if not isinstance(owner, AllocTileOp) or owner.addr is not None or not isinstance(kind, TileBufType):
            raise NotTiledError(f"{_name(value)} has an address already, or is a part of another tile")
        if DYNAMIC in (kind.valid_rows, kind.valid_cols):
            raise NotTiledError(f"only a run knows the sizes of {_name(value)}")
        if byte_width(kind.element) is None:
            raise NotTiledError(f"elements of {_name(value)} share bytes")
        self.tiles.add(value)
        return kind

    def _writer(self, tile: SSAValue, reader: Operation) -> PtoOp:
        """Returns the operation whose elements of ``tile`` another one reads."""
        inner = reader
        while True:
            block = inner.parent
            assert block is not None
            before = inner.prev_op
            while before is not None:
                if _uses(before, tile):
                    if _writes(before, tile):
                        assert isinstance(before, PtoOp)
                        return before
                    if any(_writes(op, tile) for op in walk(before)):
                        raise NotTiledError(f"nobody knows what {_name(tile)} holds")
                before = before.prev_op
            outer = block.parent_op()
            if outer is None or any(op is tile.owner for op in block.ops):
                raise NotTiledError(f"nothing writes {_name(tile)} before it is read")
            if isinstance(outer, ForOp) and any(_writes(op, tile) for op in walk(outer)):
                raise NotTiledError(f"{_name(tile)} holds what an earlier iteration has loaded")
            inner = outer

    # ------------------------------------------------------------ the loops around it

    def _widen(self, product: Product) -> bool:
        """Takes the loop around the product into it, where its iterations compute rows or columns of a larger one."""
        loop = product.block.parent_op()
        if not isinstance(loop, ForOp) or loop.iter_args:
            return False
        trips, low, step = constant_trip_count(loop), constant_of(loop.lb), constant_of(loop.step)
        if trips == 0 or not isinstance(low, int) or not isinstance(step, int) or step <= 0:
            return False
        if any(is_inside(one.ub, loop) for one in product.open.values()):
            return False
        if any(op is not loop and not self._belongs(op) for op in walk(loop)):
            return False
        index = loop.body.block.args[0]
        found = {
            role: (window.row.factor(index) * step, window.col.factor(index) * step)
            for role, window in product.windows().items()
        }
        axis = next((one for one in ("rows", "cols") if found == _steps_along(product, one)), None)
        if axis is None or axis in product.open or loop.parent is None:
            return False
        if trips is None:
            product.open[axis] = loop
        else:
            setattr(product, axis, getattr(product, axis) * trips)
        product.begin_at(index, low)
        product.block, product.place = loop.parent, loop
        product.loops.append(loop)
        self.ops.add(loop)
        return True

    def _belongs(self, op: Operation) -> bool:
        """Returns whether an operation is one of the product, or computes handles and numbers only."""
        return op in self.ops or is_handle(op) or isinstance(op, YieldOp) or has_role(op, Role.CONSTANT | Role.SCALAR)

    def _apart(self, product: Product) -> None:
        """Checks that nothing else uses the tiles of the product."""
        for tile in self.tiles:
            for use in tile.uses:
                if use.operation not in self.ops:
                    raise NotTiledError(f"{use.operation.name} uses {_name(tile)} too")

    def _alone(self, product: Product) -> None:
        """Checks that the product can be computed at its last operation, and from what is known there."""
        top = {_at_level(op, product.block) for op in self.ops}
        if None in top:
            raise NotTiledError("a part of it is outside of its loops")
        started = False
        for op in product.block.ops:
            started = started or op in top
            if op is product.place:
                break
            if started and any(not self._belongs(inner) for inner in walk(op)):
                raise NotTiledError(f"{op.name} is between its operations")
        check_outside(product)


def _at_level(op: Operation, block: Block) -> Operation | None:
    """Returns the operation of ``block`` that contains ``op``."""
    inner: Operation | None = op
    while inner is not None and inner.parent is not block:
        inner = inner.parent_op()
    return inner


def _uses(op: Operation, tile: SSAValue) -> bool:
    return any(tile in inner.operands for inner in walk(op))


def _writes(op: Operation, tile: SSAValue) -> bool:
    return isinstance(op, PtoOp) and tile in operand_groups(op).get("dst", ())


def _depth(op: PtoOp) -> int:
    kind = _given(op, "left").type
    if not isinstance(kind, TileBufType) or kind.valid_cols == DYNAMIC:
        raise NotTiledError("only a run knows its sizes")
    return kind.valid_cols


def _steps_along(product: Product, axis: str) -> dict[str, tuple[int, int]]:
    """Returns how far all parts of arrays go from one iteration of a loop over rows or columns to the next."""
    rows, cols = (product.rows, 0) if axis == "rows" else (0, product.cols)
    return {role: steps_of(role, rows, cols, 0) for role in product.windows()}


def _given(op: PtoOp, role: str) -> SSAValue:
    """Returns an operand of a product by what it is."""
    return operand_groups(op)[roles_of(type(op))[role]][0]


def _along(loop: ForOp, operands: Mapping[str, Operand], length: int) -> dict[str, Operand]:
    """Returns the operands of the first iteration of a loop along k."""
    index, low, step = loop.body.block.args[0], constant_of(loop.lb), constant_of(loop.step)
    if not isinstance(low, int) or not isinstance(step, int):
        raise NotTiledError("only a run knows where its loop along k begins")
    for role, one in operands.items():
        found = (one.window.row.factor(index) * step, one.window.col.factor(index) * step)
        # A bias is the same for all of k.
        if found != (steps_of(role, 0, 0, length)):
            raise NotTiledError("its loop along k does not go from one tile of its operands to the next")
    return at(operands, index, low)


def _follows(product: Product, operands: Mapping[str, Operand], family: Family | None) -> None:
    """Checks that operands continue those of a product along k."""
    if family is not product.family:
        raise NotTiledError("its products are of different kinds")
    for role, operand in operands.items():
        one, other = operand.window, product.inputs[role].window
        row, col = steps_of(role, 0, 0, product.depth)
        rows, cols = (one.rows == other.rows or row, one.cols == other.cols or col)
        if (
            one.part.source != other.part.source
            or (one.row.minus(other.row), one.col.minus(other.col)) != (Sum(row), Sum(col))
            or not (rows and cols)
        ):
            raise NotTiledError("its products do not follow one another along k")


def _check_sizes(product: Product) -> None:
    """Checks that scales, bias and table belong to all rows and columns."""
    depth = product.right.window.rows
    for role, operand in product.inputs.items():
        rows, cols = steps_of(role, product.rows, product.cols, depth)
        rows = rows or 1
        if (operand.window.rows, operand.window.cols) != (rows, cols):
            what = "its bias has another number of columns" if role == "bias" else "its operands have different sizes"
            raise NotTiledError(what)
    if product.family.scaled and product.open:
        raise NotTiledError("only a run knows how often its loop along k runs")
    if product.family.scaled and depth % MX_K_MULTIPLE:
        raise NotTiledError(f"its k is no multiple of {MX_K_MULTIPLE}")


def _window(value: SSAValue) -> Window:
    part = value.owner
    if not isinstance(part, PartitionViewOp):
        raise NotTiledError("its array is no part of a view")
    sizes = [constant_of(size) for size in part.sizes]
    rows, cols = sizes[-2:] if len(sizes) > 1 else (None, None)
    if not isinstance(rows, int) or not isinstance(cols, int) or any(size != 1 for size in sizes[:-2]):
        raise NotTiledError("only a run knows the sizes of its parts of arrays, or they have more than two dimensions")
    return Window(part, sum_of(part.offsets[-2]), sum_of(part.offsets[-1]), rows, cols)


def _plain(op: PtoOp, operands: set[str], neutral: set[str]) -> None:
    """Checks that an operation has no operands but ``operands``, and that attributes of ``neutral`` are not stated."""
    more = {name for name, values in operand_groups(op).items() if values} - operands
    stated = {*op.attributes, *op.properties} & neutral if not isinstance(op, (TLoadOp, TMovOp, TExtractOp)) else (
        {*op.attributes, *op.properties} - {"operandSegmentSizes"}
    )  # fmt: skip
    if more or stated:
        raise NotTiledError(f"{op.name} has {', '.join(sorted((*more, *stated)))}")


def _overlap_free(product: Product) -> None:
    """Checks that no order of loads and stores matters: the result shares no memory with the operands, and none of its
    elements is stored twice."""
    *inputs, out = [_array(window.part) for window in product.windows().values()]
    if any(not isinstance(value.owner, Block) or _is_number(value) for value in (*inputs, out)):
        raise NotTiledError("nobody knows whether its arrays share memory")
    if out in inputs:
        raise NotTiledError("it stores to the array of an operand")
    if not _apart_in_memory(product):
        raise NotTiledError("elements of its result may share bytes")


def _apart_in_memory(product: Product) -> bool:
    """Returns whether all elements of the result are in different bytes, as far as they are in its view."""
    view = product.out.part.source.owner
    if not isinstance(view, MakeTensorViewOp) or len(view.strides) < 2:
        return False
    down, right = (constant_of(stride) for stride in view.strides[-2:])
    if product.open and right == 1:
        width = constant_of(view.shape[-1])
        in_order = isinstance(width, int) and isinstance(down, int) and width <= down
        return in_order or view.strides[-2] is view.shape[-1]
    if not isinstance(down, int) or not isinstance(right, int) or {"rows", "cols"} & {*product.open}:
        return False
    return (right >= 1 and down >= right * product.cols) or (down >= 1 and right >= down * product.rows)


def _array(part: PartitionViewOp) -> SSAValue:
    """Returns the memory that a view shows."""
    view = part.source.owner
    if not isinstance(view, MakeTensorViewOp):
        return part.source
    pointer = view.ptr
    while isinstance(pointer.owner, (AddptrOp, CastptrOp)):
        pointer = pointer.owner.ptr if isinstance(pointer.owner, AddptrOp) else pointer.owner.input
    return pointer


def _is_number(value: SSAValue) -> bool:
    """Returns whether an array is at an address that is a number."""
    return not isinstance(value.type, (PtrType, ShapedView))


def _name(value: SSAValue) -> str:
    return label_of(value, "a tile")
