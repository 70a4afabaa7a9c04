"""What has no vector function that computes the same bits, and why. Source: docs/reference/tiles.md, "Elementwise",
"Irregular operations"; docs/reference/vectors.md, "Loads and stores".
"""

import re

from cube_programs import refusals
from groups import in_groups

BITS = "its rows of bits are contiguous, and where they begin is known at run time only"
PART_OF_BITS = "its bits are a part of a tile, and whole rows of bytes are written"
LISTS = "how many records its lists have only a run knows"
BLOCKS = "how many blocks it merges only a run knows"
PATTERN = "how many elements its pattern keeps only a run knows"
OTHER_SCRATCH = "its scratch tile has bytes of its lists or other elements"
SMALL_SCRATCH = "neither its destination nor its scratch tile has room for all records"
NOT_WHOLE = "positions count from the beginning of a tile, not of a part of one"
NO_ROOM = "its destination has no room for all records of a row"


def program(statement: str, backend: str, tiles: dict[str, str]) -> str:
    """A function of tiles and a statement, in which ``$x`` is the type of %x. Sizes ``?`` are arguments. ``y[8] ..``
    makes a part of %y, from row 0 and column 8 on."""
    lines: list[str] = []
    types: dict[str, str] = {}
    for name, words in tiles.items():
        whole = re.match(r"(\w+)\[(\d+)\] ", words)
        types[name] = kind = f"!pto.tile_buf<vec, {words[whole.end() if whole else 0 :]}>"
        if whole:
            rows, cols = re.findall(r"\d+", words[whole.end() :])[:2]
            place = f"%{whole[1]}[%c0, %c{whole[2]}] sizes [{rows}, {cols}]"
            lines.append(f"%{name} = pto.subview {place} : {types[whole[1]]} -> {kind}")
        else:
            valid = re.search(r"valid=([\d?]+)x([\d?]+)", words)
            sizes = zip(("valid_row = %r", "valid_col = %n"), valid.groups() if valid else (), strict=False)
            lines.append(f"%{name} = pto.alloc_tile {' '.join(size for size, word in sizes if word == '?')} : {kind}")
    lines.append(re.sub(r"\$(\w+)", lambda found: types[found[1]], statement))
    numbers = [f"%c{number} = arith.constant {number} : index" for number in (0, 4, 8)]
    body = "".join(f"    {line}\n" for line in (*numbers, "%block = arith.constant 64 : i32", *lines))
    attribute = f', pto.backend = "{backend}"' if backend else ""
    return (
        f'module attributes {{pto.target_arch = "a5"{attribute}}} {{\n'
        f"  func.func @f(%r: index, %n: index, %s: f32) {{\n{body}    return\n  }}\n}}\n"
    )


_COMPARED = "pto.tcmp ins(%x, %y {cmpMode = #pto<cmp gt>} : $x, $y) outs(%z : $z)"
_WITH_NUMBER = "pto.tcmps ins(%x, %s {cmpMode = #pto<cmp gt>} : $x, f32) outs(%z : $z)"
_CHOSEN = "pto.tsel ins(%m, %x, %y, %t : $m, $x, $y, $t) outs(%z : $z)"
_MERGED = "pto.tmrgsort ins(%x, %y, %t {exhausted = false} : $x, $y, $t) outs(%z, %counts : $z, vector<4xi16>)"
_COUNTS = "%counts = arith.constant dense<0> : vector<4xi16>\n    "
_KEPT = "pto.tgather ins(%x, {maskPattern = #pto.mask_pattern<P0101>} : $x) outs(%z : $z)"
_F = "4x64xf32"
_LIST, _LONG = "1x64xf32", "1x128xf32"

CASES = {
    "elements that are compared differ": (
        _COMPARED, "", {"x": _F, "y": "4x64xi32", "z": "4x32xui8"},
        "pto.tcmp: the vector unit does not compare f32 with i32",
    ),
    "elements that are not compared": (
        _COMPARED, "", {"x": "4x64xbf16", "y": "4x64xbf16", "z": "4x32xui8"},
        "pto.tcmp: the vector unit does not compare bf16 with bf16",
    ),
    "bits in a part of a tile": (
        _COMPARED, "", {"x": _F, "y": _F, "w": "4x64xui8", "z": "w[0] 4x32xui8"}, f"pto.tcmp: {PART_OF_BITS}",
    ),
    "bits that do not fit": (
        _COMPARED, "", {"x": "4x320xf32", "y": "4x320xf32", "z": "4x32xui8"},
        "pto.tcmp: 320 bits do not fit into rows of 32 bytes",
    ),
    "bits one behind the other of rows that a run counts": (
        _WITH_NUMBER, "vpto", {"x": "4x64xf32, valid=?x64", "z": "4x32xui8"}, f"pto.tcmps: {BITS}",
    ),
    "bits one behind the other of columns that a run counts": (
        _WITH_NUMBER, "vpto", {"x": "4x64xf32, valid=4x?", "z": "4x32xui8"}, f"pto.tcmps: {BITS}",
    ),
    "more pieces than room": (
        _WITH_NUMBER, "vpto", {"x": "8x256xf32", "z": "7x32xui8"},
        "pto.tcmps: 16 pieces of 16 bytes do not fit into its destination",
    ),
    "a destination of which a run knows the rows": (
        _WITH_NUMBER, "vpto", {"x": "2x64xf32", "z": "4x64xui8, valid=?x32"}, f"pto.tcmps: {PART_OF_BITS}",
    ),
    "a destination of which a run knows the columns": (
        _WITH_NUMBER, "vpto", {"x": "2x64xf32", "z": "4x64xui8, valid=4x?"}, f"pto.tcmps: {PART_OF_BITS}",
    ),
    "pieces that are cut by the valid region": (
        _WITH_NUMBER, "vpto", {"x": "2x64xf32", "z": "4x64xui8, valid=4x40"}, f"pto.tcmps: {PART_OF_BITS}",
    ),
    "elements that are not chosen": (
        _CHOSEN, "", {"m": "4x32xui8", "x": "4x64xi64", "y": "4x64xi64", "t": "4x32xui8", "z": "4x64xi64"},
        "pto.tsel: registers of i64 are not chosen into i64",
    ),
    "elements that are chosen differ": (
        _CHOSEN, "", {"m": "4x32xui8", "x": _F, "y": "4x64xi32", "t": "4x32xui8", "z": _F},
        "pto.tsel: registers of f32 are not chosen into f32",
    ),
    "records of rows that a run measures": (
        "pto.tsort32 ins(%x, %y : $x, $y) outs(%z : $z)", "",
        {"x": _LIST, "y": "1x64xi32", "z": "1x128xf32, valid=1x?"}, f"pto.tsort32: {NO_ROOM}",
    ),
    "records of other elements": (
        "pto.tsort32 ins(%x, %y : $x, $y) outs(%z : $z)", "",
        {"x": _LIST, "y": "1x64xi32", "z": "1x256xf16"}, f"pto.tsort32: {NO_ROOM}",
    ),
    "records without room": (
        "pto.tsort32 ins(%x, %y : $x, $y) outs(%z : $z)", "",
        {"x": _LIST, "y": "1x64xi32", "z": "1x120xf32"}, f"pto.tsort32: {NO_ROOM}",
    ),
    "blocks of which a run knows the number": (
        "pto.tmrgsort ins(%x, %block : $x, i32) outs(%z : $z)", "",
        {"x": "1x256xf32, valid=1x?", "z": "1x256xf32"}, f"pto.tmrgsort: {BLOCKS}",
    ),
    "blocks for which a run knows the room": (
        "pto.tmrgsort ins(%x, %block : $x, i32) outs(%z : $z)", "",
        {"x": "1x256xf32", "z": "1x256xf32, valid=1x?"}, f"pto.tmrgsort: {BLOCKS}",
    ),
    "a list of which a run knows the length": (
        _COUNTS + _MERGED, "", {"x": _LIST, "y": "1x64xf32, valid=1x?", "t": _LONG, "z": _LONG},
        f"pto.tmrgsort: {LISTS}",
    ),
    "a list without a record": (
        _COUNTS + _MERGED, "", {"x": _LIST, "y": "1x64xf32, valid=1x1", "t": _LONG, "z": _LONG},
        f"pto.tmrgsort: {LISTS}",
    ),
    "lists for which a run knows the room": (
        _COUNTS + _MERGED, "", {"x": _LIST, "y": _LIST, "t": _LONG, "z": "1x128xf32, valid=1x?"},
        f"pto.tmrgsort: {LISTS}",
    ),
    "scratch in columns": (
        _COUNTS + _MERGED, "", {"x": _LIST, "y": _LIST, "t": "8x128xf32, blayout=col_major", "z": _LIST},
        f"pto.tmrgsort: {SMALL_SCRATCH}",
    ),
    "scratch of other elements": (
        _COUNTS + _MERGED, "", {"x": _LIST, "y": _LIST, "t": "1x128xi32", "z": _LIST},
        f"pto.tmrgsort: {OTHER_SCRATCH}",
    ),
    "scratch with bytes of a list": (
        _COUNTS + _MERGED, "", {"y": _LIST, "w": "1x256xf32", "x": "w[0] 1x64xf32", "t": "w[8] 1x128xf32", "z": _LIST},
        f"pto.tmrgsort: {OTHER_SCRATCH}",
    ),
    "scratch that begins within 32 bytes": (
        _COUNTS + _MERGED, "", {"x": _LIST, "y": _LIST, "w": "1x256xf32", "t": "w[4] 1x128xf32", "z": _LIST},
        "pto.tmrgsort: the column that it begins with must be a multiple of 8, found 4",
    ),
    "a pattern over columns that a run counts": (
        _KEPT, "", {"x": "4x64xf32, valid=4x?", "z": "4x32xf32"}, f"pto.tgather: {PATTERN}",
    ),
    "a pattern into columns that a run counts": (
        _KEPT, "", {"x": _F, "z": "4x32xf32, valid=4x?"}, f"pto.tgather: {PATTERN}",
    ),
    "a pattern with elements of another width": (
        _KEPT, "", {"x": _F, "z": "4x32xf16"}, f"pto.tgather: {PATTERN}",
    ),
    "a pattern with more rows than there are": (
        _KEPT, "", {"x": _F, "z": "3x32xf32"},
        "pto.tgather: its pattern keeps 32 elements of a row, and they fill rows of 32",
    ),
    "positions in a part of a tile": (
        "pto.tgather ins(%x, %y, %t : $x, $y, $t) outs(%z : $z)", "",
        {"w": "4x64xf32", "x": "w[0] 4x32xf32", "y": "2x32xi32", "t": "2x32xi32", "z": "2x32xf32"},
        f"pto.tgather: {NOT_WHOLE}",
    ),
    "positions that do not reach all elements": (
        "pto.ttrans ins(%x, %t : $x, $t) outs(%z : $z)", "",
        {"x": "16x2064xf16", "t": "16x16xf16", "z": "16x16xf16"},
        "pto.ttrans: positions of 16 bits do not reach all of its elements",
    ),
    "a sum over no rows": (
        "pto.tcolsum ins(%x : $x) outs(%z : $z)", "", {"x": "4x64xf32, valid=0x64", "z": "1x64xf32"},
        "pto.tcolsum: how many rows it reduces is not known",
    ),
    "a sum over rows that a run counts": (
        "pto.tcolsum ins(%x : $x) outs(%z : $z)", "", {"x": "4x64xf32, valid=?x64", "z": "1x64xf32"},
        "pto.tcolsum: how many rows it reduces is not known",
    ),
    "a number divided by integers": (
        "pto.trecip ins(%x : $x) outs(%z : $z)", "", {"x": "4x64xi32", "z": "4x64xi32"},
        "pto.trecip: the vector unit may compute other bits for i32",
    ),
    "elements of half a byte": (
        "pto.tmov ins(%x : $x) outs(%z : $z)", "", {"x": "4x64xi4", "z": "4x64xi4"},
        "pto.tmov: elements of type i4 have no bytes of their own",
    ),
}  # fmt: skip


@in_groups("case", CASES)
def test_refusals(case):
    statement, backend, tiles, reason = CASES[case]
    assert refusals(program(statement, backend, tiles), "lower-vector") == [reason]
