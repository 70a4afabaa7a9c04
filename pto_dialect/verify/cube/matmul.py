"""Rules about element types and shapes of ``pto.tmatmul``; the ``pto.tgemv`` forms share what does not depend on M.

Source: docs/reference/targets.md, "Matrix products of tiles".
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.types import DYNAMIC, dim_text
from pto_dialect.targets.a2a3 import A2A3
from pto_dialect.targets.a5 import A5
from pto_dialect.targets.matmul_types import EXTENT_RANGE, Triple

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import SHAPES
from ..tile.facts import statically_differ
from ..tile.relations import ADVICE, ALWAYS, Finding, TileOperands, relation, unless
from .product_roles import ALL, MATMUL, NEVER, PLAIN, Part, Product, roles_of

# ------------------------------------------------------------ element types


@relation(*PLAIN)
def check_types(operands: TileOperands) -> Iterator[Finding]:
    """Checks the combination of element types."""
    product = Product(operands)
    lhs, rhs, dst, bias = product.lhs, product.rhs, product.dst, product.bias
    if lhs is None or rhs is None or dst is None:
        return
    triple = (dst.tile.element, lhs.tile.element, rhs.tile.element)
    cell = unless(lambda profile: profile.matmul_allowed(*triple))
    if cell != NEVER:
        broken = "matmul-types" if product.c_in is None else "matmul-acc-types"
        only = "" if cell == ALWAYS else " on a2a3"
        message = f"{product.name} has no form {combination(triple)}{only}"
        yield product.finding(broken, cell, lhs, message, nearest_combinations(triple))
    for part in (lhs, rhs):
        if part.tile.element == "ui8":
            message = f"{part.role} of {product.name} is unsigned; the 8-bit product is defined for signed values"
            yield product.finding("matmul-unsigned-int8", ADVICE, part, message)
    yield from accumulator_type(product)
    if bias is not None and bias.tile.element != dst.tile.element:
        broken = "gemv-bias-elem" if product.is_gemv else "matmul-bias-elem"
        wanted = dst.tile.element
        message = f"bias of {product.name} must have the element type of dst ({wanted}), found {bias.tile.element}"
        yield product.finding(broken, ALWAYS, bias, message)


def combination(triple: Triple) -> str:
    """Returns a triple as messages show it: (destination, lhs, rhs)."""
    return f"{triple[1]} x {triple[2]} -> {triple[0]}"


def nearest_combinations(triple: Triple) -> str:
    """Returns the allowed triples that differ from ``triple`` in the fewest positions; triples of a single target come
    last."""
    by_distance: dict[int, list[str]] = {}
    for table, where in ((A2A3.matmul_triples, ""), (A5.matmul_triples - A2A3.matmul_triples, " (a5)")):
        for legal in sorted(table):
            distance = sum(a != b for a, b in zip(legal, triple, strict=True))
            by_distance.setdefault(distance, []).append(combination(legal) + where)
    return f"nearest: {', '.join(by_distance[min(by_distance)])}"


def combinations(triples: frozenset[Triple]) -> str:
    """Returns all combinations of a table, for a help line."""
    return ", ".join(sorted(combination(triple) for triple in triples))


def accumulator_type(product: Product) -> Iterator[Finding]:
    """Checks that c_in has the type of the destination."""
    c_in, dst = product.c_in, product.dst
    if c_in is not None and dst is not None and c_in.tile.element != dst.tile.element:
        wanted = dst.tile.element
        message = f"c_in of {product.name} must have the element type of dst ({wanted}), found {c_in.tile.element}"
        yield product.finding("matmul-acc-types", ALWAYS, c_in, message)


# ------------------------------------------------------------ shapes


@relation(*MATMUL)
def check_shapes(operands: TileOperands) -> Iterator[Finding]:
    """Checks M, K and N: equal wherever they occur, and in range."""
    product = Product(operands)
    for letter, a, a_side, b, b_side in shared_extents(product):
        first, second = getattr(a.tile, f"logical_{a_side}"), getattr(b.tile, f"logical_{b_side}")
        if statically_differ(first, second) and not (a.lowered or b.lowered):
            message = check_disagreement(product, letter, a, a_side, first, b, b_side, second)
            yield product.finding("matmul-shape", ALWAYS, b, message)
        else:
            yield from static_extent(product, letter, a, a_side, b, b_side)
    for letter, part, size in extents(product):
        if size > EXTENT_RANGE[1]:
            message = f"{letter} of {product.name} must be at most {EXTENT_RANGE[1]}, found {size}"
            yield product.finding("matmul-range", ALWAYS, part, message)
        elif size == 0:
            yield empty(product, letter, part)


def shared_extents(product: Product) -> Iterator[tuple[str, Part, str, Part, str]]:
    """Returns K, M and N, each with the two operands and dimensions that state it."""
    lhs, rhs, dst = product.lhs, product.rhs, product.dst
    if lhs is not None and rhs is not None:
        yield "K", lhs, "cols", rhs, "rows"
    if lhs is not None and dst is not None:
        yield "M", lhs, "rows", dst, "rows"
    if rhs is not None and dst is not None:
        yield "N", rhs, "cols", dst, "cols"


def extents(product: Product) -> list[tuple[str, Part, int]]:
    """Returns M, K and N with the operand that states them, where they are static."""
    found: list[tuple[str, Part, int]] = []
    if product.lhs is not None:
        found.append(("M", product.lhs, product.lhs.tile.valid_rows))
        found.append(("K", product.lhs, product.lhs.tile.valid_cols))
    if product.rhs is not None:
        found.append(("N", product.rhs, product.rhs.tile.valid_cols))
    return [(letter, part, size) for letter, part, size in found if size != DYNAMIC]


def empty(product: Product, letter: str, part: Part) -> Finding:
    """Checks for a product without rows, columns or summands."""
    end = "MX products need at least 1" if product.is_mx else "nothing is computed"
    message = f"{letter} of {product.name} is 0; {end}"
    return product.finding("matmul-empty", ALWAYS if product.is_mx else ADVICE, part, message)


def static_extent(product: Product, letter: str, a: Part, a_side: str, b: Part, b_side: str) -> Iterator[Finding]:
    """Checks for physical sizes that differ although the valid sizes agree."""
    first, second = getattr(a.tile, a_side), getattr(b.tile, b_side)
    if statically_differ(first, second):
        message = check_disagreement(product, f"physical {letter}", a, a_side, first, b, b_side, second)
        yield product.finding("matmul-static-shape", ADVICE, b, message)


def check_disagreement(
    product: Product, letter: str, a: Part, a_side: str, first: int, b: Part, b_side: str, second: int
) -> str:
    """Checks for two operands that state different sizes for one extent."""
    sides = {"rows": "rows", "cols": "columns"}
    one, other = f"{sides[a_side]} of {a.role}", f"{sides[b_side]} of {b.role}"
    return f"{letter} of {product.name} is {first} ({one}) but {second} ({other})"


@relation(*ALL)
def check_other_shapes(operands: TileOperands) -> Iterator[Finding]:
    """Checks the shapes of c_in and bias, and tiles that are used in two roles."""
    product = Product(operands)
    c_in, bias, dst = product.c_in, product.bias, product.dst
    if c_in is not None and dst is not None:
        a, d = c_in.tile, dst.tile
        if statically_differ(a.valid_rows, d.valid_rows) or statically_differ(a.valid_cols, d.valid_cols):
            wanted, found = (f"{dim_text(t.valid_rows)}x{dim_text(t.valid_cols)}" for t in (d, a))
            message = f"c_in of {product.name} must have the valid region of dst ({wanted}), found {found}"
            yield product.finding("matmul-acc-types", ALWAYS, c_in, message)
    if bias is not None and not product.is_mx:
        if statically_differ(bias.tile.rows, 1):
            message = f"bias of {product.name} must have one row, found {bias.tile.rows}"
            yield product.finding("matmul-bias-row", ALWAYS, bias, message)
        elif product.rhs is not None:
            yield from bias_columns(product, bias, product.rhs)


def bias_columns(product: Product, bias: Part, rhs: Part) -> Iterator[Finding]:
    """Checks that the bias reaches to the last column."""
    have, need = bias.tile.valid_cols, rhs.tile.valid_cols
    if statically_differ(have, need) and have < need:
        message = f"bias of {product.name} has {have} valid columns, the product has {need}"
        yield product.finding("matmul-bias-cols", ADVICE, bias, message)


@checks(SHAPES, *ALL)
def check_aliases(op: Operation, ctx: Context) -> None:
    """Checks that a tile is not both factor and result: they are in different memories."""
    if op.results:
        return
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    dst = next(iter(groups.pop("dst")), None)
    if dst is None:
        return
    # The accumulator may be both source and destination.
    groups.pop(roles_of(op.name).get("c_in", ""), None)
    for values in groups.values():
        for value in values:
            if value is dst:
                ctx.report("matmul-operand-alias", op, f"an input of {op.name} is also its destination", at=value)
