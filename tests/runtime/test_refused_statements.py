"""Statements that nobody has verified: runs end at their location, with a reason as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pto_dialect
from pto_dialect.runtime.errors import ProgramError

MATRIX = np.zeros((4, 4), np.float32)
ZERO = {"a": 4, "b": 0}
NUMBERS = "%a: i32, %b: i32"


def run(arguments: str, body: str, values: dict[str, Any], target: str = "a5", behind: str = "") -> dict[str, Any]:
    """Runs a function whose body begins in line 3."""
    head = f'module attributes {{pto.target_arch = "{target}"}} {{\nfunc.func @k({arguments}) {{\n'
    module = pto_dialect.parse(f"{head}{body}\nreturn\n}}\n{behind}\n}}")
    return pto_dialect.run(module, values, verify=False)


@pytest.mark.parametrize(
    ("arguments", "body", "values", "rule", "message"),
    [
        *(
            (NUMBERS, f"%c = arith.{name} %a, %b : i32", ZERO, "division-by-zero", "integer division by zero")
            for name in ("divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi")
        ),
        ("%a: i32", "%c = arith.bitcast %a : i32 to vector<1xi32>", {"a": 1}, "unmodelled", "arith.bitcast of i32"),
        (
            "%a: memref<4x4xf32>",
            "%c = memref.subview %a[0, 0] [2, 4] [1, 1] : memref<4x4xf32> to memref<4xf32>",
            {"a": MATRIX},
            "unmodelled",
            "drops dimensions that are not 1",
        ),
        (
            "%a: i32",
            "%c:2 = builtin.unrealized_conversion_cast %a : i32 to i32, i32",
            {"a": 1},
            "unmodelled",
            "changes the number of values",
        ),
    ],
)
@pytest.mark.parametrize("before", [0, 2])
def test_where_a_run_ends(
    arguments: str, body: str, values: dict[str, Any], rule: str, message: str, before: int
) -> None:
    lines = [f"%n{number} = arith.constant {number} : i32" for number in range(before)]
    with pytest.raises(ProgramError) as caught:
        run(arguments, "\n".join([*lines, body]), dict(values))
    assert (caught.value.rule, message in str(caught.value)) == (rule, True)
    assert caught.value.span is not None
    assert caught.value.span.source.line_col(caught.value.span.start) == (3 + before, 1)


SUBVIEW = "%c = pto.subview %a[%n, %n] sizes [8, 16] : !pto.tile_buf<vec, 16x16xf32> -> !pto.tile<8x16xf32>"
POP = "%t = pto.tpop_from_aic {id = 3, split = 1} -> !pto.tile<8x16xf32>"


@pytest.mark.parametrize(
    ("before", "statement", "message"),
    [
        ("%n = arith.constant 0 : index", SUBVIEW, "pto.subview shows a part of a buffer, found !pto.tile<8x16xf32>"),
        ("%b = arith.constant 0 : i32\n"
         "pto.aiv_initialize_pipe {id = 3, dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %b : i32)",
         POP, "pto.tpop_from_aic yields a slot of a queue, found !pto.tile<8x16xf32>"),
    ],
)  # fmt: skip
def test_values_where_bytes_are_shown(before: str, statement: str, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        tile = np.zeros((16, 16), np.float32)
        run("%a: !pto.tile_buf<vec, 16x16xf32>", f"{before}\n{statement}", {"a": tile})
    assert (caught.value.rule, message in str(caught.value)) == ("unmodelled", True)
    assert caught.value.span is not None
    line, _ = caught.value.span.source.line_col(caught.value.span.start)
    assert line == 4 + before.count("\n")


@pytest.mark.parametrize("a", [-7, -1, 0, 5, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("b", [-3, -1, 1, 2, 2**31 - 1])
def test_quotients_of_any_sign(a: int, b: int) -> None:
    """Against Python's own integers; results have 32 bits, and unsigned ones read operands so."""
    size, exact, half = 1 << 32, abs(a) // abs(b), 1 << 31
    quotient = exact if (a < 0) == (b < 0) else -exact
    wanted = {
        "divsi": quotient, "remsi": a - quotient * b, "floordivsi": a // b, "ceildivsi": -(-a // b),
        "divui": a % size // (b % size), "remui": a % size % (b % size), "ceildivui": -(-(a % size) // (b % size)),
    }  # fmt: skip
    names = list(wanted)
    lines = [f"%{name} = arith.{name} %a, %b : i32" for name in names]
    stores = [f"memref.store %{name}, %r[%c{place}] : memref<7xi32>" for place, name in enumerate(names)]
    places = [f"%c{place} = arith.constant {place} : index" for place in range(len(names))]
    found = run(f"{NUMBERS}, %r: memref<7xi32>", "\n".join([*places, *lines, *stores]),
                {"a": a, "b": b, "r": np.zeros(7, np.int32)})["r"]  # fmt: skip
    assert found.tolist() == [(wanted[name] + half) % size - half for name in names]


@pytest.mark.parametrize("pipe", ["PIPE_S", "PIPE_ALL", "PIPE_V"])
@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_barriers_between_concurrent_pipes(pipe: str, target: str) -> None:
    """The wait is before its set, so that the text's order alone does not end."""
    barrier = f"pto.barrier #pto.pipe<{pipe}>"
    flag = '["PIPE_V", "PIPE_MTE2", "EVENT_ID1"]'
    lines = [barrier, f"pto.set_flag{flag}", barrier, f"pto.wait_flag{flag}", barrier]
    late = [f"pto.wait_flag{flag}", "" if pipe == "PIPE_ALL" else barrier, f"pto.set_flag{flag}"]
    for body in (lines, late):
        run("%a: !pto.ptr<f32>", "\n".join(line for line in body if line), {"a": np.zeros(4, np.float32)}, target)


def test_a_barrier_for_all_before_the_set_never_ends() -> None:
    flag = '["PIPE_V", "PIPE_MTE2", "EVENT_ID1"]'
    with pytest.raises(ProgramError) as caught:
        body = "\n".join([f"pto.wait_flag{flag}", "pto.barrier #pto.pipe<PIPE_ALL>", f"pto.set_flag{flag}"])
        run("%a: !pto.ptr<f32>", body, {"a": np.zeros(4, np.float32)})
    assert caught.value.rule == "sync-deadlock"


PLACES = ["", ", #pto.address_space<vec>", ", #pto.address_space<gm>", ", #pto.address_space<mat>"]


@pytest.mark.parametrize("source", PLACES)
@pytest.mark.parametrize("target", PLACES)
def test_casts_between_memories(source: str, target: str) -> None:
    """A type that names no memory stands for any."""
    types = f"memref<4xf32{source}> to memref<4xf32{target}>"
    body = f"%m = memref.alloc() : memref<4xf32{source}>\n%c = memref.memory_space_cast %m : {types}"
    if source and target and source != target:
        with pytest.raises(ProgramError) as caught:
            run("%a: i32", body, {"a": 1})
        assert caught.value.rule == "memref-cast"
    else:
        run("%a: i32", body, {"a": 1})


@pytest.mark.parametrize("question", ["dim", "stride"])
def test_a_view_is_queried_in_a_loop_that_partitions_it(question: str) -> None:
    view, part = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<1x8xf32>"
    tile, out = "!pto.tile_buf<vec, 1x8xf32>", np.zeros((4, 8), np.float32)
    body = f"""%c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %v = pto.make_tensor_view %p, shape = [%c4, %c8], strides = [%c8, %c1] : {view}
    %t = pto.alloc_tile : {tile}
    scf.for %i = %c0 to %c4 step %c1 {{
      %n = pto.get_tensor_view_{question} %v, %c0 : {view} -> index
      %k = arith.addi %n, %i : index
      %j = arith.index_cast %k : index to i32
      %f = arith.sitofp %j : i32 to f32
      %w = pto.partition_view %v, offsets = [%i, %c0], sizes = [%c1, %c8] : {view} -> {part}
      pto.texpands ins(%f : f32) outs(%t : {tile})
      pto.tstore ins(%t : {tile}) outs(%w : {part})
    }}"""
    run("%p: !pto.ptr<f32>", body, {"p": out})
    assert out[:, 0].tolist() == [(4 if question == "dim" else 8) + row for row in range(4)]
    assert (out == out[:, :1]).all()
