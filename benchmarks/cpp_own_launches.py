"""Launches hand-written C++ kernels with arguments of its own and compares the results with numpy.

    python benchmarks/cpp_own_launches.py TREES [--case TEXT] [--json FILE]

For kernels whose scripts compare with products of the device bit by bit, or time them with sizes that take hours here.
``TREES`` is a folder with a tree for each repository. Products of halves are compared with sums in double precision;
sums in single precision may differ from these by what additions round, in an order that is the device's.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from cpp_launch import Memory, NoRun, Programs, Value

CORES = 4
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Launch:
    """A kernel with its arrays and numbers by the names of its parameters, and what ``output`` must be; ``ulps`` is the
    number of neighbours by which halves may differ, ``slack`` what is allowed beside these."""

    path: str
    entry: str | None
    arrays: Arrays
    numbers: Mapping[str, float]
    output: str
    expected: np.ndarray
    ulps: int = 0
    slack: np.ndarray | float = 0.0
    blocks: int = CORES
    defines: tuple[str, ...] = ("MEMORY_BASE",)


def halves(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float16)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product of halves, rounded once."""
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float16)


def rounded(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The most by which sums of products in single precision may be wrong."""
    return a.shape[-1] * 2.0**-24 * (np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)))


def rotations(rng: np.random.Generator) -> Iterator[Launch]:
    """Products with one matrix, for rows in all blocks."""
    folder = "pto-kernels/examples/jit_cpp/block_rotate_fp16"
    for rows in (128, 5 * 128):
        a, b = halves(rng, rows, 128), halves(rng, 128, 128)
        arrays = {"a": a, "b": b, "c": np.zeros_like(a)}
        for name in ("block_rotate_fp16", "block_rotate_fp16_double_buffer"):
            yield Launch(f"{folder}/{name}.cpp", None, arrays, {"m": rows}, "c", product(a, b), 1, rounded(a, b))


def batches(rng: np.random.Generator) -> Iterator[Launch]:
    """Products of a batch with one matrix."""
    path = "pto-dsl/examples/aot/batch_matmul/matmul_dynbatch_multicore_2buf/matmul_ref.cpp"
    for count, blocks in ((4, 1), (8, CORES)):
        a, b = halves(rng, count, 128, 128), halves(rng, 128, 128)
        arrays = {"v1": np.zeros_like(a), "v2": a, "v3": b, "v4": np.zeros(0, np.float16)}
        yield Launch(path, None, arrays, {"v5": 0, "v6": count}, "v1", product(a, b), 1, rounded(a, b), blocks)


def tiled(rng: np.random.Generator) -> Iterator[Launch]:
    """A product whose second matrix is stored by columns, in float, with blocks in both directions."""
    path = "pto-kernels/examples/jit_cpp/matmul_swizzle/matmul_original_pto.cpp"
    m, n, k = 256, 512, 192
    a, b = halves(rng, m, k), halves(rng, k, n)
    sizes = {"M": m, "N": n, "K": k, "M_ITER": 2, "N_ITER": 2, "BLOCK_DIM": 4}
    defines = ("MEMORY_BASE", *(f"ORIG_PTO_{name}={size}" for name, size in sizes.items()))
    expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    arrays = {"out": np.zeros((m, n), np.float32), "src0": a, "src1": np.ascontiguousarray(b.T)}
    yield Launch(path, None, arrays, {}, "out", expected, 0, rounded(a, b), 4, defines)


def copies(rng: np.random.Generator) -> Iterator[Launch]:
    """Bytes that are copied."""
    path = "pto-kernels/examples/jit_cpp/fast_hadamard/fuse_int4_dynamic_quant/traffic_copy.cpp"
    for count in (128, 100_000):
        source = rng.integers(-128, 128, count).astype(np.int8)
        yield Launch(path, None, {"src": source, "dst": np.zeros_like(source)}, {"byte_count": count}, "dst", source)


def activations(rng: np.random.Generator) -> Iterator[Launch]:
    """``x / (1 + exp(-x))``, whose steps round to halves."""
    path = "pto-kernels/examples/jit_cpp/silu_dynamic/silu_dynamic.cpp"
    for count in (100, 70_000):
        x = rng.uniform(0, 1, count).astype(np.float16)
        wide = x.astype(np.float64)
        expected = (wide / (1 + np.exp(-wide))).astype(np.float16)
        yield Launch(path, None, {"x": x, "y": np.zeros_like(x)}, {"num_elements": count}, "y", expected, 4)


def transforms(rng: np.random.Generator) -> Iterator[Launch]:
    """The Walsh-Hadamard transform, with a rounding in each step."""
    path = "pto-kernels/examples/jit_cpp/fast_hadamard/standard/fast_hadamard.cpp"
    for rows, size in ((7, 128), (22, 1024)):
        x = halves(rng, rows, size)
        expected = x.copy()
        for _ in range(size.bit_length() - 1):
            even, odd = expected[:, 0::2].copy(), expected[:, 1::2].copy()
            expected = np.concatenate([even + odd, even - odd], axis=1)
        numbers = {"batch": rows, "n": size, "log2_n": size.bit_length() - 1}
        yield Launch(path, None, {"x": x}, numbers, "x", expected)


def scans(rng: np.random.Generator) -> Iterator[Launch]:
    """Running sums, by products with a triangle of ones."""
    path = "pto-kernels/examples/jit_cpp/scan/kernel_scan_single_core.cpp"
    for size, tiles in ((16, 4), (32, 3)):
        x = rng.integers(0, 4, size * size * tiles).astype(np.float32)
        arrays = {"x": x, "out": np.zeros_like(x), "u_s": np.triu(np.ones((size, size), np.float32))}
        defines = ("MEMORY_BASE", f"SCAN_TILE_SIZE={size}")
        yield Launch(path, None, arrays, {"total_len": x.size}, "out", np.cumsum(x), 0, 0.0, 1, defines)


SETS: tuple[Callable[[np.random.Generator], Iterator[Launch]], ...] = (
    rotations, batches, tiled, copies, activations, transforms, scans,
)  # fmt: skip


def run(trees: Path, launch: Launch) -> dict[str, Any]:
    """Runs a launch; returns its ``kind``, ``reason`` and ``findings``."""
    path = trees / launch.path
    outcome: dict[str, Any] = {"path": launch.path, "kind": "agrees", "reason": "", "findings": []}
    try:
        program = Programs("a2a3", [str(path.parent)], launch.defines).program([(path, launch.entry)])
        arrays = {name: np.ascontiguousarray(array).reshape(-1).copy() for name, array in launch.arrays.items()}
        values: dict[str, Value] = {**launch.numbers}
        values |= {name: Memory(array.ctypes.data, array.nbytes) for name, array in arrays.items()}
        program.run(values, launch.blocks, watch=True)
    except NoRun as error:
        return outcome | {"kind": error.kind, "reason": error.reason}
    found, expected = arrays[launch.output], launch.expected.reshape(-1)
    if found.dtype == np.float16:
        distance = np.abs(ordered(found) - ordered(expected))
    else:
        distance = (found != expected).astype(np.int64)
    outcome["reason"] = f"{int((distance > 0).sum())} of {found.size} elements are not equal, by {int(distance.max())}"
    far = np.abs(found.astype(np.float64) - expected.astype(np.float64)) > np.reshape(launch.slack, -1)
    if ((distance > launch.ulps) & far).any():
        outcome["kind"] = "differs"
    return outcome | {"findings": list(program.findings)}


def ordered(halves: np.ndarray) -> np.ndarray:
    """The position of each half among all."""
    bits = halves.view(np.int16).astype(np.int64)
    return np.where(bits < 0, -(bits & 0x7FFF), bits)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=Path)
    parser.add_argument("--case", default="", help="only kernels whose path has this text")
    parser.add_argument("--json", type=Path, help="writes all results")
    options = parser.parse_args(arguments)
    found = []
    for launches in SETS:
        for launch in launches(np.random.default_rng(1)):
            if options.case in launch.path:
                found.append(run(options.trees.resolve(), launch))
                print(f"{found[-1]['kind']:8} {launch.path}  {found[-1]['reason']}", flush=True)
                for text in found[-1]["findings"]:
                    print(f"    {text}")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
