"""Affine maps as layouts of memrefs, products and quotients by symbols included."""

from __future__ import annotations

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineExpr
from xdsl.parser import ParserState
from xdsl.parser.affine_parser import AffineParser
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken

from pto_dialect.ir.core_dialects.affine_maps import affine_text

_KINDS = {
    "*": AffineBinaryOpKind.Mul,
    "ceildiv": AffineBinaryOpKind.CeilDiv,
    "floordiv": AffineBinaryOpKind.FloorDiv,
    "mod": AffineBinaryOpKind.Mod,
}


class _SemiAffineParser(AffineParser):
    """Reads what xDSL's operators refuse: a symbol on the right."""

    def _create_binop_expr(self, lhs: AffineExpr, rhs: AffineExpr, binop: MLIRToken) -> AffineExpr:
        try:
            return super()._create_binop_expr(lhs, rhs, binop)
        except NotImplementedError:
            return AffineBinaryOpExpr(_KINDS[binop.text], lhs, rhs)


def layout_map(text: str) -> AffineMapAttr:
    """Returns the map that ``affine_map<..>`` spells; raises ValueError or ParseError for other text."""
    if affine_text(text) is None:
        raise ValueError("no affine map")
    body = text[text.index("<") + 1 : -1]
    return AffineMapAttr(_SemiAffineParser(ParserState(MLIRLexer(Input(body, "layout")))).parse_affine_map())
