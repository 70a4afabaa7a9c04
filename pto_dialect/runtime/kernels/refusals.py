"""Operations that are not executed, each with the reason; docs/semantics.md lists them.

``python -m pto_dialect.runtime.kernels.refusals > docs/semantics.md`` writes the page.
"""

from __future__ import annotations

from pto_dialect.ir.core.base import op_spec
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class

from .backend_table import section

FORMS: tuple[tuple[str, str], ...] = (
    ("pto.vsts with MRG4CHN or MRG2CHN", "the hardware does not support channel merging"),
    ("transfers from or to another memory than that of their name", "hardware has no such transfer"),
    ("pto.convert with round(h)", "no page defines the rounding"),
    ("packed pairs outside of SIMT bodies", "no operation there computes with them"),
    (
        "tiles, structs and memrefs of own layout that differ between work-items",
        "a work-item has numbers, pointers, and arrays of its own",
    ),
    ("pto.vmi conversions with rounding H", "the page calls it half-up, known results round ties toward zero"),
    ("pto.vmi arithmetic of 8-bit floats and packed numbers", "no page defines it; convert the lanes first"),
    ("pto.vmi.vload with dist_mode unpack to lanes as wide as the elements", "there is nothing to widen"),
    ("block transfers of logical vectors of more than 256 bytes with a repeat stride", "no page defines the repeat"),
    ("pto.vmi.vgatherb with another number of offsets than lanes", "no page defines which lane takes which offset"),
    ("pto.load_cbuf_to_ca and _cb with a transpose operand", "only the attribute has a defined meaning"),
    (
        "scf.execute_region whose blocks work-items reach separately",
        "only functions are compiled for work-items at different blocks; a call does it",
    ),
    (
        "arith and math on vectors and tensors outside of SIMT bodies",
        "registers and tiles have operations of their own",
    ),
)
"""Forms of executable operations."""


_AFFINE = "its maps are not computed; scf and arith say the same"
_INDEX = "arith computes with index as well"
_FORALL = "it distributes work over the devices of a mapping; scf.parallel runs"
_HINT = "it is a hint or a promise to a compiler"

CORE: dict[str, str] = {
    **dict.fromkeys(("func.call_indirect", "func.constant"), "a core has no table of functions; calls name theirs"),
    "memref.get_global": "a module has no memory of its own",
    "memref.view": "memory is taken apart with memref.subview and memref.reinterpret_cast",
    **dict.fromkeys(("memref.reshape", "memref.transpose"), "memory is taken apart with memref.reinterpret_cast"),
    "memref.realloc": "memory of a core has a fixed place",
    **dict.fromkeys(
        ("memref.alloca_scope", "memref.alloca_scope.return"), "memory is given back at the end of the function"
    ),
    **dict.fromkeys(("memref.assume_alignment", "memref.prefetch"), _HINT),
    **dict.fromkeys(("memref.generic_atomic_rmw", "memref.atomic_yield"), "memref.atomic_rmw runs"),
    **dict.fromkeys(("scf.forall", "scf.forall.in_parallel"), _FORALL),
}
"""Operations of the core dialects that are checked and not executed; ``DIALECTS`` lists those of which none is."""

DIALECTS: dict[str, str] = {"affine": _AFFINE, "index": _INDEX}
"""Core dialects none of whose operations is executed."""


def reason(name: str) -> str | None:
    """Returns why operation ``name`` is not executed; ``None`` when no reason is recorded."""
    if name in OPS:
        return op_spec(op_class(name)).unexecuted or None
    return CORE.get(name) or DIALECTS.get(name.partition(".")[0])


def page() -> str:
    """Returns the text of docs/semantics.md."""
    groups: dict[str, list[str]] = {}
    for name in OPS:
        why = reason(name)
        if why is not None:
            groups.setdefault(why, []).append(name.removeprefix("pto."))
    number = sum(map(len, groups.values()))
    lines = [
        "# Semantics of a run",
        "",
        *section(),
        "## Operations that are not executed",
        "",
        f"`pto-run` executes {len(OPS) - number} of the {len(OPS)} operations of the dialect. It refuses the others",
        "with their source location and the reason, and never computes undefined results. `pto-opt` parses, verifies",
        "and prints all of them.",
        "",
        "This page is written by `python -m pto_dialect.runtime.kernels.refusals > docs/semantics.md`.",
        "",
    ]
    for why, names in groups.items():
        lines += [f"### {why[0].upper()}{why[1:]}", "", _wrapped(names), ""]
    lines += ["### Operations of the core dialects", ""]
    lines += [
        "Operations of the core dialects that `pto-opt` verifies run, except for those that",
        "[core-operations.md](reference/core-operations.md) marks, which are listed here. Dialects and operations that",
        "are printed as written have no known semantics, and none of them runs.",
        "",
    ]
    lines += ["| operation | reason |", "|---|---|", *_rows(), ""]
    lines += ["### Forms of other operations", "", "| form | reason |", "|---|---|"]
    lines += [f"| {form} | {why} |" for form, why in FORMS]
    return "\n".join(lines) + "\n"


def _rows() -> list[str]:
    rows = [f"| all of {dialect} | {why} |" for dialect, why in DIALECTS.items()]
    return [*(f"| {name} | {why} |" for name, why in CORE.items()), *rows]


def _wrapped(names: list[str]) -> str:
    lines, line = [], ""
    for name in names:
        piece = f"`{name}`"
        if line and len(line) + len(piece) + 1 > 118:
            lines.append(line)
            line = ""
        line += (" " if line else "") + piece
    return "\n".join([*lines, line])


if __name__ == "__main__":
    print(page(), end="")
