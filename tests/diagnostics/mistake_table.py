"""The table of frequent mistakes in ``mistakes/*.txt``: what is in a row, and the programs that it makes.

A row begins with ``=== title`` and ``@ frame``. Its lines are those of a patch: ``- `` a wrong line, ``+ `` what
it should be, two blanks a line that is right. ``> LINE:COLUMN MESSAGE | HELP`` after the wrong lines is what is
reported about them, counted in the row's own lines; ``> warning ..`` where the program is no error. ``$T`` stands for
a type. Rows of the frame ``run`` are command lines of ``pto-run``, with ``> EXIT-CODE MESSAGE``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "mistakes"

TYPES = {
    "S": "!pto.tile<16x16xf32>",
    "SH": "!pto.tile<16x16xf16>",
    "T": "!pto.tile_buf<vec, 16x64xf32>",
    "H": "!pto.tile_buf<vec, 16x64xf16>",
    "I": "!pto.tile_buf<vec, 16x64xi32>",
    "U8": "!pto.tile_buf<vec, 16x64xui8>",
    "HALF": "!pto.tile_buf<vec, 16x32xf32>",
    "COL": "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>",
    "MAT": "!pto.tile_buf<mat, 16x64xf32>",
    "P": "!pto.partition_tensor_view<16x64xf32>",
    "L": "!pto.tile_buf<left, 64x64xf16, blayout=col_major, slayout=row_major>",
    "R": "!pto.tile_buf<right, 64x64xf16, slayout=col_major>",
    "A": "!pto.tile_buf<acc, 64x64xf32, blayout=col_major, slayout=row_major, fractal=1024>",
    "M": "!pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>",
    "AH": "!pto.tile_buf<acc, 64x64xf16, blayout=col_major, slayout=row_major, fractal=1024>",
    "RB": "!pto.tile_buf<right, 64x64xbf16, slayout=col_major>",
    "RS": "!pto.tile_buf<right, 32x64xf16, slayout=col_major>",
    "LA": "!pto.ptr<f16, l0a>",
    "LB": "!pto.ptr<f16, l0b>",
    "LC": "!pto.ptr<f32, l0c>",
    "V": "!pto.vreg<64xf32>",
    "K": "!pto.mask<b32>",
    "X": "!pto.vmi.vreg<128xf32>",
}
"""Short names of types."""


def _function(arguments: str, *lines: str) -> tuple[str, str]:
    head = [f"func.func @f({arguments}) {{", *lines]
    return 'module attributes {pto.target_arch = "a5"} {\n' + "".join(f"{line}\n" for line in head), "return\n}\n}\n"


FRAMES = {
    "file": ("", ""),
    "asm": (
        ".arg %a : $S\n.arg %b : $S\n.arg %h : $SH\n.arg %g : $SH\n.arg %m : !pto.memref<16x16xf32>\n",
        "",
    ),
    "level1": _function("%a: $S, %b: $S, %d: $S, %h: $SH, %g: $SH"),
    "tiles": _function(
        "%a: $T, %b: $T, %c: $T, %k: $I, %h: $H, %k8: $U8, %half: $HALF, %l1: $MAT, %col: $COL, %in: $P, %out: $P, "
        "%p: !pto.ptr<f32, gm>, %s: f32, %n: index, %one: index, %c16: index, %c64: index, "
        "%tv: !pto.tensor_view<?x?xf32>"
    ),
    "cube": _function(
        "%a: $L, %b: $R, %c: $A, %am: $M, %v: !pto.tile_buf<vec, 64x64xf32>, %ch: $AH, %bf: $RB, %b32: $RS, "
        "%ga: !pto.partition_tensor_view<64x64xf16>, %gc: !pto.partition_tensor_view<64x64xf32>"
    ),
    "sync": _function(""),
    "micro": _function(
        "%gm: !pto.ptr<f32, gm>, %ub: !pto.ptr<f32, ub>, %c0: i64, %c1: i64, %c64: i64, %i32: i32, %n: index"
    ),
    "vector": (
        _function(
            "%gm: !pto.ptr<f32, gm>, %ub: !pto.ptr<f32, ub>, %i: index, %i32: i32",
            "pto.vecscope {",
            '%m = pto.pset_b32 "PAT_ALL" : $K',
            '%m16 = pto.pset_b16 "PAT_ALL" : !pto.mask<b16>',
            "%x = pto.vlds %ub[%i] : !pto.ptr<f32, ub> -> $V",
            "%y = pto.vlds %ub[%i] : !pto.ptr<f32, ub> -> $V",
        )[0],
        "}\nreturn\n}\n}\n",
    ),
    "mad": _function(
        "%a: $LA, %b: $LB, %c: $LC, %ci: !pto.ptr<i32, l0c>, %l1: !pto.ptr<f16, l1>, %g: !pto.ptr<f32, gm>, %i: index",
        "%m = arith.constant 16 : i64",
        "%z = arith.constant 0 : i64",
        "%big = arith.constant 8192 : i64",
    ),
    "simt": (
        'module attributes {pto.target_arch = "a5"} {\n'
        "func.func @item(%g: !pto.ptr<f32, gm>) attributes {pto.simt_entry} {\nreturn\n}\n"
        "func.func @f(%g: !pto.ptr<f32, gm>) attributes {pto.kernel} {\n%n = arith.constant 8 : i32\n",
        "return\n}\n}\n",
    ),
    "vmi": _function("%x: $X, %y: $X"),
    "core": (
        "func.func @f(%n: index, %w: i32, %p: i1, %s: f32, %mem: memref<16x16xf32>) {\n"
        "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n",
        "return\n}\n",
    ),
    "calls": ("func.func @helper(%w: i32) {\nreturn\n}\nfunc.func @f(%n: index, %w: i32) {\n", "return\n}\n"),
}
"""What is before and after the lines of a row."""


class Told(NamedTuple):
    """What is expected about a wrong program: severity, place in the row's lines, message, begin of the help."""

    severity: str
    line: int
    column: int
    message: str
    help: str


class Mistake(NamedTuple):
    """A row: where it is, its frame, its wrong and right lines, and what is reported."""

    file: str
    title: str
    frame: str
    wrong: list[str]
    right: list[str]
    told: list[str]

    def program(self, lines: list[str]) -> tuple[str, int]:
        """The whole text with ``lines`` in the frame, and the number of lines before them."""
        begin, end = FRAMES[self.frame]
        return filled(begin) + filled("\n".join(lines)) + "\n" + filled(end), begin.count("\n")

    def expected(self) -> list[Told]:
        """What is expected about the program."""
        found: list[Told] = []
        for entry in self.told:
            severity = "warning" if entry.startswith("warning ") else "error"
            place, _, rest = entry.removeprefix("warning ").partition(" ")
            line, _, column = place.partition(":")
            message, _, help = filled(rest).partition(" | ")
            found.append(Told(severity, int(line), int(column), message, help))
        return found


def filled(text: str) -> str:
    """``text`` with the short names of types replaced."""
    return re.sub(r"\$([A-Z][A-Z0-9]*)", lambda found: TYPES[found[1]], text)


def mistakes() -> list[Mistake]:
    """All rows."""
    rows: list[Mistake] = []
    for path in sorted(FOLDER.glob("*.txt")):
        for text in path.read_text().split("=== ")[1:]:
            title, frame, *lines = text.rstrip("\n").split("\n")
            row = Mistake(path.stem, title, frame.removeprefix("@ "), [], [], [])
            for line in lines:
                mark, content = line[:2], line[2:]
                if mark == "> ":
                    row.told.append(content)
                elif mark in ("- ", "  "):
                    row.wrong.append(content)
                if mark in ("+ ", "  "):
                    row.right.append(content)
            rows.append(row)
    return rows
