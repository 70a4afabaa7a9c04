"""Differences between the results of the two libraries of tile operations; docs/semantics.md shows the table."""

from __future__ import annotations

DIFFERENCES: tuple[tuple[str, str, str], ...] = (
    (
        "`trowexpandadd`, `sub`, `mul`, `div`, `max`, `min`, `expdif` with a row_major operand of 32 bytes in each row",
        "column j takes value j modulo their number",
        "all columns take value 0",
    ),
    (
        "`tfillpad*` and the pad of `tload`, kinds max and min, floats",
        "+inf and -inf",
        "the largest and the smallest finite number",
    ),
    (
        "`tcmps`: mask of more than one row",
        "each row begins at the row pitch of the mask tile, where `tsel` and `tsels` read it",
        "rows are contiguous, as the vector unit stores them: 16 bytes for 128 lanes of 16 bits, 32 bytes for "
        "256 lanes of 8 bits, 32-bit elements without gaps",
    ),
    (
        "`tcvt` from floats to integers with round mode `NONE`",
        "toward zero",
        "nearest, ties to even",
    ),
    (
        "`tcvt` without `sat_mode`",
        "saturates from release 0.63 on ([releases](reference/releases.md#changes)), before that as `vpto`",
        "the low bits for narrowing pairs of integers and to i16, i8, ui8; infinity for hif8; others saturate",
    ),
    (
        "`tsort32`: scores that fill an incomplete group of 32",
        "-inf",
        "4286578688 (f32), 64512 (f16): the bits of -inf taken as numbers",
    ),
    (
        "`tmrgsort` of one tile: blocks that do not make up a group of four",
        "0 in the destination",
        "the destination does not change",
    ),
    (
        "`tscatter` with a mask pattern along rows: elements outside of the valid region",
        "0",
        "they do not change",
    ),
)
"""Each difference, and the result of each backend (``emitc``, ``vpto``)."""


def section() -> list[str]:
    """Returns the lines of the page."""
    rows = [f"| {what} | {emitc} | {vpto} |" for what, emitc, vpto in DIFFERENCES]
    return [
        "## The two backends",
        "",
        "Tile operations have two implementations on hardware: a library of headers (`emitc`, every target) and",
        "templates of vector micro-operations (`vpto`, a5 only). On a5 they do not always compute the same.",
        'The option `--backend`, then the launch file, then the attribute `pto.backend = "emitc" | "vpto"` of the',
        "nearest module selects the one that a run follows; the default is `emitc`, as it always is on a2a3.",
        "Micro-operations do not depend on it.",
        "",
        "| operation | `emitc` | `vpto` |",
        "|---|---|---|",
        *rows,
        "",
    ]
