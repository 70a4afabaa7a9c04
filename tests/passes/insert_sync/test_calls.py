"""Calls and loops with conditions. Source: docs/reference/synchronisation.md, "Calls"."""

import re

import numpy as np
import pytest
from lowering_programs import PART, SCHEDULES, TILE, add, disorder, kernel, load, lowered, outline, part, results, store

from pto_dialect import parse, print_module

HEAD = (part("p", "a", "c0"), part("q", "b", "c0"))
CALL = f"func.call @g(%x, %p) : ({TILE}, {PART}) -> ()"
BODY = (load("r", "t"), add("t", "t", "t"))


def calling(*lines: str, body: tuple[str, ...] = BODY, more: str = "") -> str:
    """A kernel, and a function @g with a tile %t and a part %r of global memory."""
    text = kernel(*HEAD, *lines).rstrip().removesuffix("}")
    inner = "".join(f"    {line}\n" for line in body)
    return f"{text}  func.func private @g(%t: {TILE}, %r: {PART}{more}) {{\n{inner}    return\n  }}\n}}\n"


def said(text: str) -> str:
    _, (diagnostic,) = lowered(text)
    assert diagnostic.rule == "insert-sync-unsupported"
    return diagnostic.message


def check(text: str, count: int = 3) -> None:
    module, diagnostics = lowered(text)
    assert not diagnostics
    arrays = [np.arange(4096, dtype=np.float32), np.zeros(4096, np.float32), count]
    expected = results(parse(text), arrays)
    assert disorder(module, arrays) == []
    for schedule in SCHEDULES:
        assert results(module, arrays, schedule) == expected


def test_a_call_waits_for_what_the_function_touches():
    text = calling(add("y", "z", "x"), CALL, store("x", "q"))
    module, _ = lowered(text)
    lines = [line.strip() for line in print_module(module).splitlines()]
    flags = [re.sub(r"<PIPE_|<EVENT_ID|>", "", line) for line in lines if "_flag" in line or "call" in line]
    assert [line.split(" :")[0] for line in flags] == [
        "pto.set_flag[V, MTE2, 0]",
        "pto.wait_flag[V, MTE2, 0]",
        "call @g(%x, %p)",
        "pto.set_flag[V, MTE3, 0]",
        "pto.wait_flag[V, MTE3, 0]",
        "pto.set_flag[MTE2, V, 0]",
        "pto.wait_flag[MTE2, V, 0]",
    ]
    check(text)


def test_a_call_of_other_memory_waits_for_nothing():
    words = outline(calling(add("y", "z", "y"), CALL))
    assert [word for word in words[: words.index("tload")] if "MTE2" in word] == []


def test_flags_over_a_call_have_other_numbers_than_those_in_it():
    """The flag for the last sum is set before the call and waited for after it; the function has one of its own."""
    text = calling(load("p", "y"), CALL, add("y", "y", "z"))
    words = outline(text)
    assert "set MTE2>V 1" in words
    assert "set MTE2>V 0" in words
    check(text)


def test_a_function_that_is_called_in_a_loop_twice():
    loop = ("scf.for %i = %c0 to %n step %c1 {", CALL, store("x", "q"), CALL.replace("%x", "%y"), store("y", "q"), "}")
    check(calling(*loop))


def test_a_function_that_calls_another():
    text = calling(CALL, store("x", "q"), body=(f"func.call @h(%t, %r) : ({TILE}, {PART}) -> ()", add("t", "t", "t")))
    inner = f"  func.func private @h(%t: {TILE}, %r: {PART}) {{\n    {load('r', 't')}\n    return\n  }}\n}}\n"
    check(text.rstrip().removesuffix("}") + inner)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            calling("func.call @g(%x, %p) : (T, P) -> ()", body=("func.call @g(%t, %r) : (T, P) -> ()",)),
            "running already",
        ),
        (
            calling("func.call @g(%x, %p, %x) : (T, P, T) -> ()", more=", %u: T"),
            "two of its arguments may be the same memory",
        ),
        (
            calling(CALL, body=("%k = arith.constant 512 : i64", "%o = pto.alloc_tile addr = %k : T", load("r", "o"))),
            "a tile of the function lies where an argument does",
        ),
    ],
)
def test_a_call_that_cannot_be_ordered(text: str, reason: str):
    assert reason in said(text.replace(" T", f" {TILE}").replace("(T", f"({TILE}").replace(" P", f" {PART}"))


def test_a_function_without_a_body():
    text = kernel(*HEAD, "func.call @other() : () -> ()").rstrip().removesuffix("}")
    assert "nobody knows what the function does" in said(text + "  func.func private @other()\n}\n")


WHILE = (
    "%e = scf.while (%k = %c0) : (index) -> index {",
    "%more = arith.cmpi slt, %k, %n : index",
    "scf.condition(%more) %k : index",
    "} do {",
    "^bb0(%k2: index):",
    "%r = arith.muli %k2, %c16 : index",
    part("u", "a", "r"),
    part("w", "b", "r"),
    load("u", "x"),
    add("x", "x", "y"),
    store("y", "w"),
    "%k3 = arith.addi %k2, %c1 : index",
    "scf.yield %k3 : index",
    "}",
)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_loop_with_a_condition_hands_its_tile_back(count: int):
    text = kernel(*WHILE)
    words = outline(text)
    assert words.count("set V>MTE2 0") == 1
    assert words.count("wait V>MTE2 0") == 1
    check(text, count)


def test_a_condition_that_looks_at_memory_is_not_followed():
    get = "%v = pto.tgetval ins(%x, %c1 : !pto.tile_buf<vec, 16x16xf32>, index) outs : f32"
    assert "its condition does more than compute" in said(kernel(WHILE[0], get, *WHILE[1:]))


def test_a_function_that_nobody_has_defined():
    text = kernel(*HEAD, "func.call @other() : () -> ()")
    assert "nobody knows what the function does" in said(text)


ANY_TILE = ("%any = arith.index_cast %n : index to i64", f"%w = pto.alloc_tile addr = %any : {TILE}")
OWN = ("%k = arith.constant 8192 : i64", f"%o = pto.alloc_tile addr = %k : {TILE}", load("r", "o"), add("o", "o", "t"))


def test_an_argument_whose_location_only_a_run_knows_may_lie_where_the_function_has_a_tile():
    """The function orders its own tile as if the argument were elsewhere."""
    call = CALL.replace("%x", "%w")
    assert "a tile of the function lies where an argument does" in said(calling(*ANY_TILE, call, body=OWN))
    check(calling(CALL, body=OWN))
    assert not lowered(calling(*ANY_TILE, call))[1]


def test_a_tile_of_the_function_whose_location_only_a_run_knows_is_ordered_in_it():
    body = ("%k = pto.get_block_idx", f"%o = pto.alloc_tile addr = %k : {TILE}", load("r", "o"), add("t", "t", "t"))
    check(calling(CALL, store("x", "q"), body=body))


@pytest.mark.parametrize(("rows", "refused"), [("c16", False), ("c4", True)])
def test_two_parts_of_one_array_as_arguments(rows: str, refused: bool):
    """Rows from an index that only a run knows, and others after it: apart from 16 rows on, whatever it is."""
    lines = (
        "%r = arith.muli %n, %c16 : index", f"%s = arith.addi %r, %{rows} : index", part("u", "b", "r"),
        part("w", "b", "s"), f"func.call @g(%x, %u, %w) : ({TILE}, {PART}, {PART}) -> ()",
    )  # fmt: skip
    text = calling(*lines, body=(store("t", "r"), store("t", "v")), more=f", %v: {PART}")
    if refused:
        assert "two of its arguments may be the same memory" in said(text)
    else:
        assert not lowered(text)[1]


def test_numbers_that_a_function_orders_itself_with_are_taken():
    """Its own flag has number 2 and its barrier none; a flag over the call has another."""
    flags = 'pto.{}_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID{}"]'
    body = [load("r", "t"), "pto.barrier #pto.pipe<PIPE_V>"]
    for number in (0, 1, 2):
        body += [flags.format("set", number), flags.format("wait", number)]
    words = outline(calling(load("p", "y"), CALL, add("y", "y", "z"), body=(*body, add("t", "t", "t"))))
    assert words[1] == "set MTE2>V 3"
