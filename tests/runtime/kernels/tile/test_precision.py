"""Clauses that require a precision: the numbers are those of the function, however it is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from function_programs import run

TILE = "!pto.tile_buf<vec, 16x32xf32>"
COLUMN = "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"
ROW = "!pto.tile_buf<vec, 1x32xf32>"
UNARY: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "texp": ("exp", np.exp), "tlog": ("log", np.log), "trecip": ("recip", lambda x: 1 / x),
    "trsqrt": ("rsqrt", lambda x: 1 / np.sqrt(x)), "tsqrt": ("sqrt", np.sqrt),
}  # fmt: skip
BINARY: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "tdiv": ("div", np.divide), "tfmod": ("fmod", np.fmod), "tpow": ("pow", np.power), "trem": ("rem", np.mod),
}  # fmt: skip
SPREAD = {"tcolexpanddiv": (ROW, (1, 32)), "trowexpanddiv": (COLUMN, (16, 1))}


def numbers(seed: int, shape: tuple[int, int] = (16, 32)) -> np.ndarray:
    return np.random.default_rng(seed).random(shape).astype(np.float32) * 3 + np.float32(0.25)


def clause(word: str, enum: str) -> str:
    return f" {{precisionType = #pto<{enum}_precision {word}>}}" if word else ""


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize("word", ["", "default", "high_precision"])
@pytest.mark.parametrize("op", UNARY)
def test_one_tile(op: str, word: str, target: str) -> None:
    enum, function = UNARY[op]
    a, found = numbers(1), np.zeros((16, 32), np.float32)
    scratch, types = ("", "") if op != "trsqrt" or target == "a5" else (", %t", f", {TILE}")
    arguments = {"a": (TILE, a), "t": (TILE, np.zeros_like(a)), "d": (TILE, found)}
    run(f"pto.{op} ins(%a{scratch} : {TILE}{types}) outs(%d : {TILE}){clause(word, enum)}", arguments, target=target)
    np.testing.assert_allclose(found, function(a.astype(np.float64)), rtol=1e-6)


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize("word", ["", "default", "high_precision"])
@pytest.mark.parametrize("op", BINARY)
def test_two_tiles(op: str, word: str, target: str) -> None:
    enum, function = BINARY[op]
    a, b, found = numbers(1), numbers(2), np.zeros((16, 32), np.float32)
    scratch, types = (", %t", f", {TILE}") if op in ("tpow", "trem") else ("", "")
    arguments = {"a": (TILE, a), "b": (TILE, b), "t": (TILE, np.zeros_like(a)), "d": (TILE, found)}
    body = f"pto.{op} ins(%a, %b{scratch} : {TILE}, {TILE}{types}) outs(%d : {TILE}){clause(word, enum)}"
    run(body, arguments, target=target)
    np.testing.assert_allclose(found, function(a.astype(np.float64), b.astype(np.float64)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize("word", ["", "default", "high_precision"])
def test_a_tile_and_a_number(word: str, target: str) -> None:
    a, found = numbers(1), np.zeros((16, 32), np.float32)
    body = f"pto.tdivs ins(%a, %x : {TILE}, f32) outs(%d : {TILE}){clause(word, 'div')}"
    run(body, {"a": (TILE, a), "x": ("f32", 1.75), "d": (TILE, found)}, target=target)
    assert (found == a / np.float32(1.75)).all()


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize("word", ["", "default", "high_precision"])
@pytest.mark.parametrize("op", SPREAD)
def test_a_tile_and_a_vector(op: str, word: str, target: str) -> None:
    kind, shape = SPREAD[op]
    a, b, found = numbers(1), numbers(2, shape), np.zeros((16, 32), np.float32)
    body = f"pto.{op} ins(%a, %b : {TILE}, {kind}) outs(%d : {TILE}){clause(word, 'div')}"
    run(body, {"a": (TILE, a), "b": (kind, b), "d": (TILE, found)}, target=target)
    assert (found == a / b).all()
