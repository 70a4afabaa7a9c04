"""A decoder layer of PyPTO's examples on this toolchain: its time, and its error against arithmetic in f64.

    python benchmarks/pypto_layer.py PYPTO_TREE [--heads 64] [--intermediate 25600] [--platform a2a3sim]

compiles `examples/models/qwen3_jit` of a checkout of PyPTO, by default with the dimensions of Qwen3-32B, runs it on
random weights, and compares what it computes (output, K and V of the new token) with numpy. The example leaves out
attention, which contributes the zeros of memory that was not written. PyPTO has to be installed (docs/pypto.md).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
ROWS = 2048
"""Rows of a matrix that are converted to f64 at a time."""


def product(left: Array, right: Any) -> Array:
    """``left`` times a matrix of PyTorch, in f64."""
    total = np.zeros((left.shape[0], right.shape[1]))
    for first in range(0, right.shape[0], ROWS):
        total += left[:, first : first + ROWS] @ right[first : first + ROWS].double().numpy()
    return total


def normed(values: Array, weights: Array, epsilon: float) -> Array:
    """Values over their root mean square, times weights."""
    return values / np.sqrt((values**2).mean(axis=1, keepdims=True) + epsilon) * weights


def relative(found: Array, wanted: Array) -> float:
    """Error in the Euclidean norm, as a part of what is wanted."""
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))


def configured(tree: Path, heads: int, intermediate: int) -> Any:
    """The constants of the example, with these dimensions."""
    sys.path.insert(0, str(tree))
    config: Any = import_module("examples.models.qwen3_jit.config")
    config.NUM_HEADS, config.INTERMEDIATE = heads, intermediate
    config.HIDDEN = heads * config.HEAD_DIM
    config.HIDDEN_INV = 1.0 / config.HIDDEN
    config.NUM_KV_HEADS = heads // config.Q_PER_KV
    config.KV_HIDDEN = config.NUM_KV_HEADS * config.HEAD_DIM
    config.TOTAL_Q_GROUPS = config.NUM_KV_HEADS * config.Q_GROUPS
    config.CACHE_ROWS = config.BATCH * config.NUM_KV_HEADS * config.MAX_SEQ
    return config


def inputs(config: Any) -> dict[str, Any]:
    """Random arguments of the layer, by name."""
    torch = import_module("torch")
    torch.manual_seed(7)
    hidden, inner, kv = config.HIDDEN, config.INTERMEDIATE, config.KV_HIDDEN

    def weights(rows: int, cols: int) -> Any:
        bits = torch.randint(-127, 128, (rows, cols), dtype=torch.int8)
        return bits.to(torch.bfloat16) * (1.5 / 127 / rows**0.5)

    angles = torch.rand(config.MAX_SEQ, config.HALF_DIM) * 6.28
    both = torch.cat([angles, angles], dim=1)
    return {
        "hidden_states": torch.randn(config.BATCH, hidden).to(torch.bfloat16),
        "input_rms_weight": torch.rand(1, hidden) + 0.5,
        "wq": weights(hidden, hidden),
        "wk": weights(hidden, kv),
        "wv": weights(hidden, kv),
        "seq_lens": torch.randint(1, config.MAX_SEQ, (config.BATCH,), dtype=torch.int32),
        "rope_cos": both.cos(),
        "rope_sin": both.sin(),
        "k_cache": torch.zeros(config.CACHE_ROWS, config.HEAD_DIM, dtype=torch.bfloat16),
        "v_cache": torch.zeros(config.CACHE_ROWS, config.HEAD_DIM, dtype=torch.bfloat16),
        "wo": weights(hidden, hidden),
        "post_rms_weight": torch.rand(1, hidden) + 0.5,
        "w_gate": weights(hidden, inner),
        "w_up": weights(hidden, inner),
        "w_down": weights(inner, hidden),
        "out": torch.zeros(config.BATCH, hidden, dtype=torch.bfloat16),
    }


def expected(given: dict[str, Any], config: Any) -> dict[str, Array]:
    """The output, and K and V of the new tokens, in f64 from the same inputs."""
    plain = {name: value.double().numpy() for name, value in given.items() if value.shape[0] <= config.BATCH}
    hidden = plain["hidden_states"]
    first = normed(hidden, plain["input_rms_weight"], config.EPS)
    second = normed(hidden, plain["post_rms_weight"], config.EPS)
    gate = product(second, given["w_gate"])
    inner = gate / (1 + np.exp(-gate)) * product(second, given["w_up"])
    positions = given["seq_lens"].numpy() - 1
    cos, sin = (given[name].double().numpy()[positions][:, None] for name in ("rope_cos", "rope_sin"))
    keys = product(first, given["wk"]).reshape(config.BATCH, config.NUM_KV_HEADS, config.HEAD_DIM)
    half = config.HALF_DIM
    turned = np.concatenate([-keys[..., half:], keys[..., :half]], axis=-1)
    return {
        "out": product(inner, given["w_down"]) + hidden,
        "k": keys * cos + turned * sin,
        "v": product(first, given["wv"]).reshape(keys.shape),
    }


def found(given: dict[str, Any], config: Any) -> dict[str, Array]:
    """What the layer has left in its arguments, as ``expected`` has it."""
    positions = given["seq_lens"].long() - 1
    rows = (torch_range(config) * config.MAX_SEQ) + positions[:, None]
    results = {"out": given["out"].double().numpy()}
    for name in ("k", "v"):
        results[name] = given[f"{name}_cache"][rows].double().numpy()
    return results


def torch_range(config: Any) -> Any:
    """Numbers of the K and V heads of all tokens."""
    torch = import_module("torch")
    return torch.arange(config.BATCH * config.NUM_KV_HEADS).reshape(config.BATCH, config.NUM_KV_HEADS)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--heads", type=int, default=64)
    parser.add_argument("--intermediate", type=int, default=25600)
    parser.add_argument("--platform", default="a2a3sim")
    given = parser.parse_args(arguments)

    folder = tempfile.TemporaryDirectory()
    os.environ["PYPTO_PROG_BUILD_DIR"] = folder.name
    import_module("pto_dialect.integrations.pypto.use")
    config = configured(given.tree, given.heads, given.intermediate)
    layer = import_module("examples.models.qwen3_jit.qwen3_decode").qwen3_decode
    run = import_module("pypto.runtime").RunConfig(platform=given.platform)
    values = inputs(config)
    for which in ("first call, with compilation", "second call"):
        started, busy = perf_counter(), process_time()
        layer(*values.values(), config=run)
        print(f"{which}: {perf_counter() - started:.1f} s, {process_time() - busy:.1f} s of one core")
    results = found(values, config)
    for name, wanted in expected(values, config).items():
        print(f"{name}: relative error {relative(results[name], wanted):.2g}")
    folder.cleanup()
    return 0


if __name__ == "__main__":
    sys.exit(main())
