"""Rules about locations and layouts of the operands of ``pto.tmatmul`` and ``pto.tgemv``, for every form.

Source: docs/reference/targets.md, "Layouts of locations".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.remedies.moves import move_to
from pto_dialect.diagnostics.remedies.order import swap_operands
from pto_dialect.targets.a2a3 import A2A3
from pto_dialect.targets.a5 import A5
from pto_dialect.targets.profile import Profile

from ..engine.rule import ERROR, WARNING
from ..tile.facts import Tile
from ..tile.relations import ALWAYS, Cell, Finding, TileOperands, relation
from .product_roles import ALL, NEVER, Part, Product

_LOCATIONS: dict[str, tuple[str, str, str]] = {
    "lhs": ("left", "matmul-loc", "move it there with pto.tmov or pto.textract first"),
    "rhs": ("right", "matmul-loc", "move it there with pto.tmov or pto.textract first"),
    "dst": ("acc", "matmul-dst-loc", "products are written to acc; move the result on with pto.tmov or pto.tstore"),
    "c_in": ("acc", "matmul-acc-in-loc", "only an acc tile can be accumulated into"),
    "bias": ("bias", "matmul-bias-loc", "move it there with pto.tmov from a mat tile"),
}
"""Role -> required location, the rule that requires it, help."""

_LAYOUT_RULES: dict[str, str] = {
    "lhs": "matmul-left-layout",
    "rhs": "matmul-right-layout",
    "dst": "matmul-acc-layout",
    "c_in": "matmul-acc-layout",
    "bias": "matmul-bias-layout",
}


@relation(*ALL)
def check_locations(operands: TileOperands) -> Iterator[Finding]:
    """Checks locations and layouts of the operands."""
    product = Product(operands)
    swapped = False
    if product.lhs is not None and product.rhs is not None:
        swapped = (product.lhs.tile.loc, product.rhs.tile.loc) == ("right", "left")
    if swapped and product.lhs is not None:
        message = f"lhs and rhs of {product.name} are swapped: lhs is in left, rhs in right"
        yield product.finding(_LOCATIONS["lhs"][1], ALWAYS, product.lhs, message, "swap them", swap_operands(True))
    for part in (product.lhs, product.rhs, product.c_in, product.bias, product.dst):
        if swapped and part in (product.lhs, product.rhs):
            continue
        if part is None or part.tile.loc is None or (part.role == "bias" and product.is_mx):
            continue
        wanted, broken, advice = _LOCATIONS[part.role]
        if part.tile.loc != wanted:
            message = f"{part.role} of {product.name} must be in {wanted}, found {part.tile.loc}"
            yield product.finding(broken, ALWAYS, part, message, advice, move_to(wanted))
        elif part.tile.blayout is not None:
            yield from _layout(product, part, wanted)


def _layout(product: Product, part: Part, loc: str) -> Iterator[Finding]:
    """Checks the layout of an operand whose location is correct."""
    tile = part.tile
    cell = _on_targets(product, lambda profile: _layout_severity(profile, loc, tile))
    shown = f"{part.role} of {product.name}"
    if any(cell):
        native = A5.layouts[loc].native
        wanted = f"inner layout {native.slayout}" if loc == "left" else f"layout {native.blayout}/{native.slayout}"
        message = f"{shown} must have {wanted}, found {tile.layout_text}"
        if loc == "bias":
            yield product.finding("matmul-bias-layout", cell, part, message)
            return
        errors = Cell(*(severity if severity is ERROR else None for severity in cell))
        advice = Cell(*(severity if severity is WARNING else None for severity in cell))
        yield product.finding(_LAYOUT_RULES[part.role], errors, part, message)
        yield product.finding("matmul-native-layout", advice, part, message)
        return
    fractal = _on_targets(product, lambda profile: _fractal_severity(profile, loc, tile.fractal))
    if fractal != NEVER:
        broken = "matmul-acc-fractal" if loc == "acc" else "matmul-native-layout"
        expected = A5.layouts[loc].native.fractal
        message = f"{shown} has fractal {tile.fractal}, the blocks of {loc} hold {expected} bytes"
        yield product.finding(broken, fractal, part, message)


def _on_targets(product: Product, severity: Callable[[Profile], Severity | None]) -> Cell:
    """Returns a severity for each target; an MX product counts as an a5 operation on every target."""
    on_a5 = severity(A5)
    return Cell(on_a5 if product.is_mx else severity(A2A3), on_a5)


def _layout_severity(profile: Profile, loc: str, tile: Tile) -> Severity | None:
    """Returns the severity of the layout of ``tile`` for a tile of ``loc``; ``None`` when it is correct."""
    worst: Severity | None = None
    for check in profile.layouts[loc].checks:
        if check.field in ("blayout", "slayout"):
            finding = check.finding(getattr(tile, check.field))
            if finding is not None:
                severity = Severity[finding.upper()]
                worst = severity if worst is None else max(worst, severity)
    return worst


def _fractal_severity(profile: Profile, loc: str, fractal: int) -> Severity | None:
    for check in profile.layouts[loc].checks:
        if check.field == "fractal":
            finding = check.finding(fractal)
            return None if finding is None else Severity[finding.upper()]
    return None
