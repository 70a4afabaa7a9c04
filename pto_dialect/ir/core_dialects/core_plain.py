"""Operations of ``affine``, ``index``, ``scf`` and ``memref`` that are read and printed in generic form only.

The verifier's table of the core dialects states their constraints; this module has the names of their properties.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.traits import IsTerminator

_INDEX = (
    "add sub mul divs divu ceildivs ceildivu floordivs rems remu maxs maxu mins minu shl shrs shru and or xor casts "
    "castu sizeof"
)
_PROPERTIES: dict[str, str] = {
    **{f"index.{name}": "" for name in _INDEX.split()},
    "index.cmp": "pred",
    "index.constant": "value",
    "index.bool.constant": "value",
    "affine.apply": "map",
    "affine.min": "map",
    "affine.max": "map",
    "affine.load": "map",
    "affine.store": "map",
    "affine.vector_load": "map",
    "affine.vector_store": "map",
    "affine.prefetch": "map isWrite localityHint isDataCache",
    "affine.for": "lowerBoundMap upperBoundMap step operandSegmentSizes",
    "affine.if": "",
    "affine.parallel": "reductions lowerBoundsMap lowerBoundsGroups upperBoundsMap upperBoundsGroups steps",
    "affine.yield": "",
    "affine.delinearize_index": "",
    "scf.forall": "staticLowerBound staticUpperBound staticStep mapping operandSegmentSizes",
    "scf.forall.in_parallel": "",
    "memref.alloca_scope": "",
    "memref.alloca_scope.return": "",
    "memref.assume_alignment": "alignment",
    "memref.atomic_yield": "",
    "memref.generic_atomic_rmw": "",
    "memref.prefetch": "isWrite localityHint isDataCache",
    "memref.realloc": "alignment",
    "memref.reshape": "",
    "memref.transpose": "permutation",
}
_TERMINATORS = frozenset(
    ("affine.yield", "scf.forall.in_parallel", "memref.alloca_scope.return", "memref.atomic_yield")
)

PLAIN_NAMES = frozenset(_PROPERTIES)
"""Names of these operations."""


@cache
def plain_class(name: str) -> type[IRDLOperation]:
    """Returns the class of an operation of ``PLAIN_NAMES``; it accepts any operands, results and regions."""
    fields: dict[str, Any] = {
        "__doc__": f"``{name}``, as the MLIR dialect defines it.",
        "__module__": __name__,
        "name": name,
        "values": var_operand_def(),
        "outputs": var_result_def(),
        "bodies": var_region_def(),
    }
    for number, key in enumerate(_PROPERTIES[name].split()):
        fields[f"property{number}"] = opt_prop_def(AnyAttr(), prop_name=key)
    if name in _TERMINATORS:
        fields["traits"] = traits_def(IsTerminator())
    word = "".join(part.capitalize() for part in name.replace(".", "_").split("_"))
    return irdl_op_definition(type(f"{word}Op", (IRDLOperation,), fields))
