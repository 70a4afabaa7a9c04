"""Inputs of the single-instruction programs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from examples.case import Array, Case, Data

BOTH = ("a2a3", "a5")


def operands(rng: np.random.Generator, rows: int) -> dict[str, Array]:
    """``a`` [rows, 16] and ``b`` [16, 16], f16."""
    a, b = rng.standard_normal((rows, 16)), rng.standard_normal((16, 16))
    return {"a": a.astype(np.float16), "b": b.astype(np.float16)}


def row_f32(rng: np.random.Generator, rows: int) -> Array:
    """An f32 start of a sum [rows, 16]."""
    return rng.standard_normal((rows, 16)).astype(np.float32)


def tile_operations(rng: np.random.Generator) -> Iterator[tuple[str, str, Data, Data]]:
    """Function, shapes, and the arguments in Level 1 and in Level 2 of the five tile operations."""
    for name, rows in (("tmatmul", 16), ("tgemv", 1)):
        shapes = f"{rows}x16 · 16x16, f16"
        given = operands(rng, rows)
        before = {f"{key}0": value for key, value in operands(rng, rows).items()}
        result = {"c": np.zeros((rows, 16), np.float32)}
        start = {"init": row_f32(rng, rows)}
        yield name, shapes, given, given | result
        yield f"{name}_acc", f"c + {shapes}", start | given, before | given | result
        if name == "tgemv":
            yield "tgemv_bias", f"{shapes} + bias", given | start, given | start | result


def cases(seed: int = 6) -> list[Case]:
    """Normally distributed operands; for the write-back on a grid on which the product is exact in every
    order, because its result is rounded to f16."""
    rng = np.random.default_rng(seed)
    found: list[Case] = []
    for entry, shapes, values, buffers in tile_operations(rng):
        found.append(Case(entry, "level1.pto", shapes, values, ("0",), BOTH))
        found.append(Case(entry, "level2.pto", shapes, buffers, ("c",), BOTH))

    assembly: Data = {
        **operands(rng, 16),
        "acc0": row_f32(rng, 16),
        "x": operands(rng, 1)["a"],
        "row0": row_f32(rng, 1),
        "bias": row_f32(rng, 1),
    }
    found.append(Case("main", "assembly.pto", "16x16 and 1x16, f16", assembly, tuple("01234"), BOTH))

    mad: Data = {
        "a": rng.standard_normal((16, 32)).astype(np.float16),
        "b": rng.standard_normal((32, 16)).astype(np.float16),
        "c": np.zeros((16, 16), np.float32),
    }
    found.append(Case("mad", "micro.pto", "16x32 · 32x16, f16", mad, ("c",)))
    store: dict[str, Array] = {
        "a": (rng.integers(-32, 33, (16, 32)) / 8).astype(np.float16),
        "b": (rng.integers(-32, 33, (32, 32)) / 16).astype(np.float16),
        "identity": np.eye(16, dtype=np.float16),
        "y": np.zeros((16, 32), np.float32),
    }
    store["a"][3] *= 8192  # saturates
    found.append(Case("mte_l0c_l1", "micro.pto", "16x32 · 32x32 -> 16x32, f16", store, ("y",)))
    return found
