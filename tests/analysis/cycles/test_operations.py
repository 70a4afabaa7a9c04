"""What the cycle laws receive about single operations. Source: docs/reference/cycles.md, "What counts"."""

from __future__ import annotations

import pytest

from pto_dialect import parse
from pto_dialect.analysis.cycles.operations import PipeWork, pipe_work_of
from pto_dialect.analysis.cycles.work import Work
from pto_dialect.ir.core.walk import walk

F = "vec, 16x64xf32"
H = "vec, 16x64xf16"
COLUMN = "vec, 16x1xf32, blayout=col_major"
MAT = "mat, 64x32xf16, blayout=col_major, slayout=row_major"
SMALL = "mat, 48x32xf16, valid=40x30, blayout=col_major, slayout=row_major"
LEFT = "left, 64x32xf16, blayout=col_major, slayout=row_major"
OPEN = "left, 64x32xf16, valid=?x?, blayout=col_major, slayout=row_major"
RIGHT = "right, 32x48xf16, slayout=col_major"
ACC = "acc, 64x48xf32, blayout=col_major, slayout=row_major, fractal=1024"
PART = "acc, 64x48xf32, valid=50x40, blayout=col_major, slayout=row_major, fractal=1024"
UNKNOWN = "acc, 64x48xf32, valid=?x40, blayout=col_major, slayout=row_major, fractal=1024"


def told(text: str, types: list[str], arch: str = "a5", **options: str) -> PipeWork | None:
    """What the laws receive about the operation in ``text``, whose operands ``%a0``, ``%a1`` .. are arguments."""
    arguments = ", ".join(f"%a{number}: {type_}" for number, type_ in enumerate(types))
    head = f'module attributes {{pto.target_arch = "{arch}"}} {{\n  func.func @f({arguments}) {{\n'
    module = parse(f"{head}    {text}\n    return\n  }}\n}}")
    found = [one for op in walk(module) if (one := pipe_work_of(op, arch, options)) is not None]
    assert len(found) < 2
    return found[0] if found else None


def full(type_: str) -> str:
    """A type as programs write it, from ``view SHAPE`` or what a tile has in its brackets."""
    return f"!pto.partition_tensor_view<{type_[5:]}>" if type_.startswith("view ") else f"!pto.tile_buf<{type_}>"


def tiles(name: str, ins: list[str], outs: list[str], attributes: str = "") -> Work:
    """What the laws receive about a tile operation with these operands."""
    types = [full(each) for each in (*ins, *outs)]
    values = [f"%a{number}" for number in range(len(types))]
    halves = [
        f"{word}({', '.join(values[part])} : {', '.join(types[part])})"
        for word, part in (("ins", slice(0, len(ins))), ("outs", slice(len(ins), None)))
    ]
    found = told(f"pto.{name} {' '.join(halves)} {attributes}", types)
    assert found is not None
    return found.work


@pytest.mark.parametrize(
    ("name", "ins", "outs", "work"),
    [
        ("texp", [F], [F], Work("texp", "f32", "f32", 16, 64, 16, 64)),
        ("texp", [F + ", valid=8x60"], [F + ", valid=8x60"], Work("texp", "f32", "f32", 16, 64, 8, 60)),
        # What is written counts, not what is read; of a reduction it is what is read.
        ("tcvt", [F], [H + ", valid=3x64"], Work("tcvt", "f32", "f16", 16, 64, 3, 64)),
        ("trowsum", [F, F], [COLUMN], Work("trowsum", "f32", "f32", 16, 64, 16, 64)),
        ("tcolmax", [F], ["vec, 1x64xf32"], Work("tcolmax", "f32", "f32", 16, 64, 16, 64)),
        ("trowexpand", [COLUMN], [F], Work("trowexpand", "f32", "f32", 16, 64, 16, 64)),
        ("tcolexpand", ["vec, 1x64xf32"], [F], Work("tcolexpand", "f32", "f32", 16, 64, 16, 64)),
        # An extent of none is known; one that only a run knows stands for the whole tile.
        ("texp", [F + ", valid=0x64"], [F + ", valid=0x64"], Work("texp", "f32", "f32", 16, 64, 0, 64)),
        ("texp", [F + ", valid=16x0"], [F + ", valid=16x0"], Work("texp", "f32", "f32", 16, 64, 16, 0)),
        ("texp", [F + ", valid=?x9"], [F + ", valid=?x9"], Work("texp", "f32", "f32", 16, 64, 16, 9, is_static=False)),
        ("texp", [F + ", valid=9x?"], [F + ", valid=9x?"], Work("texp", "f32", "f32", 16, 64, 9, 64, is_static=False)),
        # Two elements of four bits share a byte of the tile.
        ("tcvt", ["vec, 4x64xf16"], ["vec, 4x32x!pto.f4E1M2x2"], Work("tcvt", "f16", "f4e1m2", 4, 64, 4, 64)),
        ("tcvt", ["vec, 4x32x!pto.f4E2M1x2, valid=3x9"], ["vec, 4x64xf16, valid=3x18"],
         Work("tcvt", "f4e2m1", "f16", 4, 64, 3, 18)),
        ("tcvt", ["vec, 4x64x!pto.hif8"], ["vec, 4x64xf32"], Work("tcvt", "hif8", "f32", 4, 64, 4, 64)),
        ("tcvt", ["vec, 4x64xf8E4M3FN"], ["vec, 4x64xf32"], Work("tcvt", "f8e4m3", "f32", 4, 64, 4, 64)),
        ("tcvt", ["vec, 4x64xf8E5M2"], ["vec, 4x64xf32"], Work("tcvt", "f8e5m2", "f32", 4, 64, 4, 64)),
        ("tcvt", ["vec, 4x64xsi16"], ["vec, 4x64xui8"], Work("tcvt", "i16", "ui8", 4, 64, 4, 64)),
        # Rows of a tile in columns are those of memory, unless fractals have their own order.
        ("tneg", ["vec, 64x8xf32, blayout=col_major, valid=40x3"], ["vec, 64x8xf32, blayout=col_major, valid=40x3"],
         Work("tneg", "f32", "f32", 8, 64, 3, 40)),
    ],
)  # fmt: skip
def test_shapes_and_types_of_tile_operations(name: str, ins: list[str], outs: list[str], work: Work) -> None:
    assert tiles(name, ins, outs) == work


@pytest.mark.parametrize(
    ("name", "ins", "outs", "work"),
    [
        # A transfer counts what is at its end that is no view, and the blocks of the view.
        ("tload", ["view 16x64xf32"], [F], Work("tload", "f32", "f32", 16, 64, 16, 64, "gm:ub", 1)),
        ("tload", ["view 1x3x5x16x64xf32"], [F], Work("tload", "f32", "f32", 16, 64, 16, 64, "gm:ub", 15)),
        ("tload", ["view 1x3x?x16x64xf32"], [F], Work("tload", "f32", "f32", 16, 64, 16, 64, "gm:ub", 3)),
        ("tload", ["view 64x32xf16"], [MAT], Work("tload", "f16", "f16", 64, 32, 64, 32, "gm:l1", 1)),
        ("tstore", [F + ", valid=7x64"], ["view 7x64xf32"], Work("tstore", "f32", "f32", 16, 64, 7, 64, "ub:gm", 1)),
        ("tstore", [F], ["view 2x3x1x16x64xf32"], Work("tstore", "f32", "f32", 16, 64, 16, 64, "ub:gm", 6)),
        ("tstore", [ACC], ["view 64x48xf16"], Work("tstore", "f32", "f16", 64, 48, 64, 48, "l0c:gm", 1)),
        ("tmov", [F], [F + ", valid=16x9"], Work("tmov", "f32", "f32", 16, 64, 16, 9, "ub:ub", 1)),
        ("tmov", [MAT], [LEFT], Work("tmov", "f16", "f16", 64, 32, 64, 32, "l1:l0a", 1)),
        ("tmov", ["mat, 32x48xf16, blayout=col_major, slayout=row_major"], [RIGHT],
         Work("tmov", "f16", "f16", 32, 48, 32, 48, "l1:l0b", 1)),
        ("tmov", [PART], ["vec, 64x48xf32, valid=50x40"], Work("tmov", "f32", "f32", 64, 48, 50, 40, "l0c:ub", 1)),
        ("tmov", ["mat, 1x64xf32"], ["bias, 1x64xf32"], Work("tmov", "f32", "f32", 1, 64, 1, 64, "l1:bt", 1)),
        ("tmov", ["mat, 1x32xui64"], ["scaling, 1x32xui64"], Work("tmov", "ui64", "ui64", 1, 32, 1, 32, "l1:fb", 1)),
    ],
)  # fmt: skip
def test_transfers_have_a_path_and_blocks(name: str, ins: list[str], outs: list[str], work: Work) -> None:
    assert tiles(name, ins, outs) == work


@pytest.mark.parametrize(
    ("left", "acc", "work"),
    [
        (LEFT, ACC, Work("tmatmul", "f16", "f32", 64, 48, 64, 48, k=32)),
        (LEFT.replace("f16", "f16, valid=50x20"), PART, Work("tmatmul", "f16", "f32", 64, 48, 50, 40, k=20)),
        (OPEN, ACC, Work("tmatmul", "f16", "f32", 64, 48, 64, 48, k=32, is_static=False)),
        (LEFT, UNKNOWN, Work("tmatmul", "f16", "f32", 64, 48, 64, 40, k=32, is_static=False)),
        # A product of nothing is a sum of no terms, whatever its result is.
        (LEFT.replace("f16", "f16, valid=64x0"), ACC, Work("tmatmul", "f16", "f32", 64, 48, 0, 48, k=32)),
    ],
)
def test_products_of_tiles_have_the_extents_of_their_result(left: str, acc: str, work: Work) -> None:
    assert tiles("tmatmul", [left, RIGHT], [acc]) == work


@pytest.mark.parametrize(
    ("sizes", "extents", "certain"),
    [
        (("%c24", "%c40", "%c72"), (24, 40, 72), True),
        (("%c24", "%c1", "%n"), (24, 1, 16), False),
        (("%n", "%c40", "%c1"), (16, 40, 1), False),
    ],
)
def test_products_of_pointers_have_the_stated_extents(
    sizes: tuple[str, ...], extents: tuple[int, int, int], certain: bool
) -> None:
    pointers = ("!pto.ptr<bf16, l0a>", "!pto.ptr<bf16, l0b>", "!pto.ptr<f32, l0c>")
    constants = "\n".join(f"%c{n} = arith.constant {n} : i64" for n in (1, 24, 40, 72))
    body = f"pto.mad %a0, %a1, %a2, {', '.join(sizes)} : {', '.join(pointers)}, i64, i64, i64"
    found = told(f"{constants}\n{body}".replace("%n", "%a3"), [*pointers, "i64"])
    m, n, k = extents
    assert found == PipeWork(Work("mad", "bf16", "f32", m, n, m, n, k=k, is_static=certain), "PIPE_M")


@pytest.mark.parametrize(
    ("text", "arch", "name", "pipe"),
    [
        ('pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]', "a5", "flag", "PIPE_MTE2"),
        ('pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]', "a5", "flag", "PIPE_V"),
        ("pto.barrier #pto.pipe<PIPE_MTE3>", "a5", "barrier", "PIPE_MTE3"),
        ('pto.get_buf "PIPE_MTE2", 1, 0', "a5", "flag", "PIPE_MTE2"),
        ('pto.rls_buf "PIPE_M", 1, 0', "a5", "flag", "PIPE_M"),
        ("pto.get_buf[#pto.pipe_event_type<TVEC>, 2, 0]", "a5", "flag", "PIPE_V"),
        (
            "pto.record_event[#pto.sync_op_type<TLOAD>, #pto.sync_op_type<TSTORE_VEC>, <EVENT_ID1>]",
            "a5",
            "flag",
            "PIPE_MTE2",
        ),
        (
            "pto.wait_event[#pto.sync_op_type<TLOAD>, #pto.sync_op_type<TSTORE_VEC>, <EVENT_ID1>]",
            "a5",
            "flag",
            "PIPE_MTE3",
        ),
        ("pto.barrier_sync[<TMATMUL>]", "a5", "barrier", "PIPE_M"),
        # What joins several pipes is started by the scalar one.
        ("pto.barrier #pto.pipe<PIPE_ALL>", "a5", "barrier", "PIPE_S"),
        ('pto.dsb "DDR"', "a5", "barrier", "PIPE_S"),
    ],
)
def test_flags_and_barriers_are_on_the_pipe_that_runs_them(text: str, arch: str, name: str, pipe: str) -> None:
    assert told(text, [], arch) == PipeWork(Work(name, "i8", "i8", 1, 1, 1, 1), pipe)


def test_addresses_numbers_and_handles_take_nothing() -> None:
    assert (
        told("%x = pto.addptr %a0, %a1 : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>", ["!pto.ptr<f32, ub>", "index"])
        is None
    )
    assert told("%x = pto.get_block_idx", []) is None
    assert told(f"%x = pto.alloc_tile : {full(F)}", []) is None
    assert told("%x = arith.addi %a0, %a0 : i32", ["i32"]) is None


def test_the_slow_path_is_taken_from_the_attribute() -> None:
    slow = tiles("trecip", [F], [F], "{precisionType = #pto<recip_precision high_precision>}")
    assert slow.options == {"op_params": "high_precision"}
    assert tiles("trecip", [F], [F]).options == {}
