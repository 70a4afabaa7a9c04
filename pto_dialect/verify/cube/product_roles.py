"""Role of each operand of a matrix product, for all forms of ``pto.tmatmul`` and ``pto.tgemv``.

Source: docs/reference/operations.md, "Tiles: matrix products"; docs/reference/constraints.md, "Matrix products of
tiles", "Matrix-vector products".
"""

from __future__ import annotations

from typing import NamedTuple

from pto_dialect.diagnostics.remedy import Remedy

from ..tile.facts import Tile, is_lowered
from ..tile.relations import ALWAYS, Cell, Finding, TileOperands

_FORMS: dict[str, dict[str, str]] = {
    "": {"lhs": "lhs", "rhs": "rhs"},
    ".acc": {"c_in": "acc_in", "lhs": "lhs", "rhs": "rhs"},
    ".bias": {"lhs": "a", "rhs": "b", "bias": "bias"},
    ".mx": {"lhs": "a", "scale of lhs": "a_scale", "rhs": "b", "scale of rhs": "b_scale"},
    ".mx.acc": {"c_in": "c_in", "lhs": "a", "scale of lhs": "a_scale", "rhs": "b", "scale of rhs": "b_scale"},
    ".mx.bias": {
        "lhs": "a",
        "scale of lhs": "a_scale",
        "rhs": "b",
        "scale of rhs": "b_scale",
        "bias": "bias",
    },
}
"""Form of the operation -> role of each input and its declared name."""

_ROLES = {f"pto.{base}{form}": roles for base in ("tmatmul", "tgemv") for form, roles in _FORMS.items()}

MATMUL = tuple(name for name in _ROLES if name.startswith("pto.tmatmul"))
GEMV = tuple(name for name in _ROLES if name.startswith("pto.tgemv"))
ALL = MATMUL + GEMV
MX = tuple(name for name in ALL if ".mx" in name)
PLAIN = tuple(name for name in ALL if ".mx" not in name)


def roles_of(name: str) -> dict[str, str]:
    """Returns the role of each input of a product and the declared name of the operand."""
    return _ROLES[name]


NEVER = Cell(None, None)
"""Severity of a finding that every target allows."""


class Part(NamedTuple):
    """One operand (or the result) of a product; ``lowered`` states that it is a memref."""

    role: str
    name: str
    tile: Tile
    lowered: bool


class Product:
    """The operands of one product whose types are tiles of rank 2, by role; others are ``None``."""

    def __init__(self, operands: TileOperands) -> None:
        """Sorts the operands of one product by role; raises ``KeyError`` for another operation."""
        self.operands = operands
        self.name = operands.op_name
        names = _ROLES[self.name]
        self.lhs = self._part("lhs", names["lhs"])
        self.rhs = self._part("rhs", names["rhs"])
        self.dst = self._part("dst", "dst")
        self.c_in = self._part("c_in", names.get("c_in"))
        self.bias = self._part("bias", names.get("bias"))
        self.lhs_scale = self._part("scale of lhs", names.get("scale of lhs"))
        self.rhs_scale = self._part("scale of rhs", names.get("scale of rhs"))

    @property
    def is_gemv(self) -> bool:
        """Whether the operation is a product of a row and a matrix, which has rules of its own."""
        # The class determines the operands of a form, equally for both kinds of products.
        return self.name in GEMV

    @property
    def is_mx(self) -> bool:
        """Whether the form has scales."""
        return ".mx" in self.name

    def _part(self, role: str, name: str | None) -> Part | None:
        value = None if name is None else self.operands.value(name)
        tile = None if name is None else self.operands.tile(name)
        if name is None or value is None or tile is None:
            return None
        return Part(role, name, tile, is_lowered(value))

    def finding(
        self, rule: str, cell: Cell, part: Part, message: str, help: str | None = None, *remedies: Remedy
    ) -> Finding:
        """Returns a violation that points at an operand."""
        return self.operands.finding(rule, cell, part.name, message, help, remedies=remedies)

    def memory_finding(self, rule: str, part: Part, wanted: str) -> Finding:
        """Returns the finding that an operand is in another memory than ``wanted``."""
        return self.operands.memory_finding(rule, ALWAYS, part.name, part.tile.loc, wanted, role=part.role)
