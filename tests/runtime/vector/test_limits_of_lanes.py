"""How many lanes and repeats vectors may have, and which elements they compute with. Source: docs/reference/vectors.md,
"Logical vectors", "The vector instructions of a2a3".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from run_time_tiles import refused

import pto_dialect
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.kernels.vector.ub_vector import active_lanes, set_mask, set_mode


def unverified(body: str, arguments: str, values: dict[str, Any], results: str = "") -> Any:
    text = f'module attributes {{pto.target_arch = "a5"}} {{\nfunc.func @k({arguments}){results} {{\n{body}\n}}\n}}'
    return pto_dialect.run(pto_dialect.parse(text), values, verify=False)


@pytest.mark.parametrize(("lanes", "runs"), [(1 << 20, True), ((1 << 20) + 64, False)])
def test_the_longest_logical_vector(lanes: int, runs: bool) -> None:
    mask = f"!pto.vmi.mask<{lanes}xpred>"
    body = f"%m = pto.vmi.create_mask %n : index -> {mask}\nreturn"
    if runs:
        unverified(body, "%n: index", {"n": 5})
    else:
        with pytest.raises(ProgramError) as caught:
            unverified(body, "%n: index", {"n": 5})
        assert caught.value.message == "vectors of more than 1048576 lanes cannot be executed"


@pytest.mark.parametrize(("element", "computes"), [
    ("f16", True), ("bf16", True), ("f32", True), ("i8", True), ("f8E4M3FN", False), ("f8E5M2", False),
    ("!pto.f4E2M1x2", False), ("!pto.bf16x2", False),
])  # fmt: skip
def test_elements_that_are_computed_with(element: str, computes: bool) -> None:
    vector, mask = f"!pto.vmi.vreg<64x{element}>", "!pto.vmi.mask<64xpred>"
    pointer = f"!pto.ptr<{element}, ub>"
    body = f"""%c0 = arith.constant 0 : index
    %n = arith.constant 64 : index
    %at = arith.constant 0 : i64
    %p = pto.castptr %at : i64 -> {pointer}
    %m = pto.vmi.create_mask %n : index -> {mask}
    %a = pto.vmi.vload %p[%c0] : {pointer} -> {vector}
    %b = pto.vmi.vadd %a, %a, %m : ({vector}, {vector}, {mask}) -> {vector}
    return"""
    if computes:
        unverified(body, "%x: i32", {"x": 1})
    else:
        with pytest.raises(ProgramError, match="no page defines arithmetic") as caught:
            unverified(body, "%x: i32", {"x": 1})
        assert caught.value.rule == "unmodelled"


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize(("repeats", "rest"), [(0, 0), (0, 3), (1, 0), (254, 7), (255, 0), (255, 5), (256, 0)])
def test_numbers_of_elements_that_the_mask_register_counts(size: int, repeats: int, rest: int) -> None:
    """256 bytes in each repeat, and what is left in another one; of whole ones there are 255 at the most."""
    state: dict[Any, Any] = {}
    lanes = 256 // size
    set_mode(state, True)
    set_mask(state, repeats * lanes + rest, 0)
    if repeats > 255:
        message = f"the mask register counts {repeats * lanes} elements, more than 255 repeats"
        refused("ub-repeat", message, lambda: active_lanes(state, 1, size))
        return
    found = [part.tolist() for part in active_lanes(state, 1, size)]
    assert found == [list(range(lanes))] * repeats + [list(range(rest))] * bool(rest)


@pytest.mark.parametrize("repeats", [-1, 0, 1, 255, 256])
def test_numbers_of_repeats(repeats: int) -> None:
    state: dict[Any, Any] = {}
    set_mask(state, 0b1011, 1 << 63)
    if 0 <= repeats <= 255:
        assert [part.tolist() for part in active_lanes(state, repeats, 2)] == [[0, 1, 3, 127]] * repeats
        assert [part.tolist() for part in active_lanes(state, repeats, 4)] == [[0, 1, 3]] * repeats
    else:
        message = f"the number of repeats must be between 0 and 255, found {repeats}"
        refused("ub-repeat", message, lambda: active_lanes(state, repeats, 2))


def test_no_more_lanes_than_a_number_of_bits() -> None:
    """The mask register without a setting is full."""
    assert [part.tolist() for part in active_lanes({}, 2, 4)] == [np.arange(64).tolist()] * 2


REGISTER, MASK, PREDICATE = "!pto.vreg<64xf32>", "!pto.mask<b32>", "!pto.vmi.mask<64xpred>"


@pytest.mark.parametrize(("op", "operands", "types", "results", "word"), [
    ("pset_b32", "", "", MASK, "pattern"), ("vmi.pset", "", "", PREDICATE, "pattern"),
    ("vldsx2", "%p, %i", "!pto.ptr<f32, ub>, index", f"{REGISTER}, {REGISTER}", "dist"),
    ("vstsx2", "%a, %b, %p, %i, %m", f"{REGISTER}, {REGISTER}, !pto.ptr<f32, ub>, index, {MASK}", "", "dist"),
    ("vcmp", "%a, %b, %m", f"{REGISTER}, {REGISTER}, {MASK}", MASK, "cmp_mode"),
    ("vtrc", "%a, %m", f"{REGISTER}, {MASK}", REGISTER, "round_mode"),
    ("vexpdif", "%a, %b, %m", f"{REGISTER}, {REGISTER}, {MASK}", REGISTER, "part"),
])  # fmt: skip
@pytest.mark.parametrize("attribute", ["", " {{{} = 5 : i32}}"])
def test_keywords_that_are_needed(op: str, operands: str, types: str, results: str, word: str, attribute: str) -> None:
    """Programs that nobody has verified may leave them out, or say something else instead."""
    names = ", ".join(f"%r{place}" for place in range(results.count("!")))
    body = f"""%p = pto.castptr %at : i64 -> !pto.ptr<f32, ub>
    %m = pto.pset_b32 "PAT_ALL" : {MASK}
    %a = pto.vlds %p[%i] : !pto.ptr<f32, ub> -> {REGISTER}
    %b = pto.vlds %p[%i] : !pto.ptr<f32, ub> -> {REGISTER}
    {names}{" = " if names else ""}"pto.{op}"({operands}){attribute.format(word)} : ({types}) -> ({results})
    return"""
    with pytest.raises(ProgramError) as caught:
        unverified(body, "%at: i64, %i: index", {"at": 0, "i": 0})
    assert (caught.value.rule, caught.value.message) == (
        "unmodelled", f"pto.{op} without {word} cannot be executed"
    )  # fmt: skip


@pytest.mark.parametrize(("element", "runs"), [("f32", True), ("f16", True), ("!pto.bf16x2", False), ("i8", False)])
def test_elements_of_vector_instructions_of_a2a3(element: str, runs: bool) -> None:
    """16 or 32 bits, which no two numbers share."""
    pointer = f"!pto.ptr<{element}, ub>"
    numbers, kinds = ", ".join(["%c"] * 7), ", ".join(["i64"] * 7)
    body = f"""%c = arith.constant 1 : i64
    %d = pto.castptr %at : i64 -> {pointer}
    pto.ub.vadd %d, %d, %d, {numbers} : {pointer}, {pointer}, {pointer}, {kinds}
    return"""
    text = f'module attributes {{pto.target_arch = "a3"}} {{\nfunc.func @k(%at: i64) {{\n{body}\n}}\n}}'
    module = pto_dialect.parse(text)
    if runs:
        pto_dialect.run(module, {"at": 0}, verify=False)
    else:
        with pytest.raises(ProgramError, match="it works on 16 or 32 bits"):
            pto_dialect.run(module, {"at": 0}, verify=False)
