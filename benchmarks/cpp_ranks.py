"""Runs C++ kernels of the run time that several chips execute, with ``pto run --ranks``, and compares with numpy.

    python benchmarks/cpp_ranks.py SIMPLER [--case TEXT] [--json FILE]

Their tests start a process for each chip through the run time's own library, so the launches are written here, with
the arguments and the definition of the results that the tests have. Each launch runs under the sanitizers.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from cpp_translations import folders_of

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Launch:
    """A kernel with its ranks, windows and arguments as ``pto run`` takes them; ``inputs`` are files with the parts of
    all ranks, ``expected`` the outputs of all ranks by the number of the argument."""

    path: str
    ranks: int
    arguments: tuple[str, ...]
    inputs: Arrays
    expected: dict[int, np.ndarray]
    windows: dict[str, str] = field(default_factory=lambda: {"scratch": "zeros:f32:1024"})


COLLECTIVE = ("args[0]=split:x.npy", "args[1]={out}", "args[2]=scratch", "args[3]=ranks", "args[4]=context")
COLLECTIVES = "tests/st/worker/collectives"
EXAMPLES = "examples/workers"


def ramps(ranks: int, count: int) -> np.ndarray:
    """Different numbers for each rank, which sums of floats keep exactly."""
    return np.stack([np.arange(count, dtype=np.float32) + 100 * rank for rank in range(ranks)])


def collective(path: str, ranks: int, count: int, result: Callable[[np.ndarray], np.ndarray], **more: int) -> Launch:
    """A collective of the form that the tests of the run time share."""
    values = ramps(ranks, count)
    expected = result(values)
    arguments = [one.format(out=f"zeros:f32:{expected.shape[1]}") for one in COLLECTIVE]
    if "root" in more:
        arguments[4:] = [f"args[4]={more['root']}", "args[5]=context"]
    return Launch(path, ranks, tuple(arguments), {"x": values}, {1: expected})


def total(values: np.ndarray) -> np.ndarray:
    return np.repeat(values.sum(0, keepdims=True), len(values), 0)


def swapped(values: np.ndarray) -> np.ndarray:
    parts = values.reshape(len(values), len(values), -1)
    return parts.transpose(1, 0, 2).reshape(values.shape)


def launches() -> Iterator[Launch]:
    """All launches."""
    for ranks in (2, 4):
        for mode in ("onephase", "twophase", "ring", "bidirectional_ring"):
            path = f"{COLLECTIVES}/allreduce/kernels/aiv/allreduce_{mode}_kernel.cpp"
            yield collective(path, ranks, 256, total)
        path = f"{COLLECTIVES}/all_to_all/kernels/aiv/all_to_all_kernel.cpp"
        yield replace(collective(path, ranks, 64 * ranks, swapped), windows={"scratch": "zeros:i32:1024"})
        path = f"{COLLECTIVES}/allgather/kernels/aiv/allgather_kernel.cpp"
        yield collective(path, ranks, 64, lambda values: np.repeat(values.reshape(1, -1), len(values), 0))
        path = f"{COLLECTIVES}/reduce_scatter/kernels/aiv/reduce_scatter_kernel.cpp"
        yield collective(path, ranks, 64 * ranks, lambda values: values.sum(0).reshape(len(values), -1))
        path = f"{COLLECTIVES}/broadcast/kernels/aiv/broadcast_kernel.cpp"
        yield collective(path, ranks, 64, lambda values: np.repeat(values[1:2], len(values), 0), root=1)
        yield collective(f"{EXAMPLES}/l3/dual_domain_overlap/kernels/aiv/domain_allreduce_sum.cpp", ranks, 256, total)
        yield mailboxes(ranks)
        yield peer_loads(ranks)
    yield consumer()
    yield affine()


def mailboxes(ranks: int) -> Launch:
    """Sums of matrices that each rank puts into mailboxes of all others."""
    values = ramps(ranks, 64 * 64)
    arguments = tuple(one.format(out="zeros:f32:4096") for one in COLLECTIVE)
    window = {"scratch": f"zeros:i32:{ranks * 4096 + 64}"}
    path = f"{EXAMPLES}/l3/ffn_tp_parallel/kernels/aiv/kernel_allreduce_sum.cpp"
    return Launch(path, ranks, arguments, {"x": values}, {1: total(values)}, window)


def peer_loads(ranks: int) -> Launch:
    """Sums of what is in the windows of all ranks."""
    values = ramps(ranks, 256)
    arguments = ("args[0]=scratch", "args[1]=zeros:f32:256", "args[2]=ranks", "args[3]=context")
    path = f"{EXAMPLES}/l4/global_tload_mixed_l3/kernels/aiv/global_tload_kernel.cpp"
    return Launch(path, ranks, arguments, {"x": values}, {1: total(values)}, {"scratch": "split:x.npy"})


def consumer() -> Launch:
    """What is left when a notification has come: the tensor and the counter."""
    values = ramps(1, 128 * 128)
    arguments = ("args[1]=x.npy", "args[2]=zeros:f32:16384", "args[3]=ones:i32:1")
    path = "tests/st/worker/comm_domain/async_notify/kernels/aiv/kernel_consumer.cpp"
    return Launch(path, 1, arguments, {"x": values}, {2: values + 1}, {})


def affine() -> Launch:
    """A scale and a bias for each element."""
    rng = np.random.default_rng(1)
    x, scale, bias = (rng.uniform(-1, 1, (1, 256)).astype(np.float32) for _ in range(3))
    arguments = ("args[0]=x.npy", "args[1]=scale.npy", "args[2]=bias.npy", "args[3]=zeros:f32:256")
    path = f"{EXAMPLES}/l3/dual_domain_overlap/kernels/aiv/affine_kernel.cpp"
    return Launch(path, 1, arguments, {"x": x, "scale": scale, "bias": bias}, {3: x * scale + bias}, {})


def run(tree: Path, launch: Launch) -> dict[str, Any]:
    """Runs a launch; returns its ``kind``, ``reason`` and ``findings``."""
    path = tree / launch.path
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for key, array in launch.inputs.items():
            np.save(folder / f"{key}.npy", array if launch.ranks > 1 else array[0])
        command = [sys.executable, "-m", "pto_dialect", "run", str(path), "--force"]
        command += [f"-I{one}" for one in folders_of(tree, path, "a2a3")]
        for one in launch.arguments:
            command += ["--arg", one]
        for number in launch.expected:
            file = "{rank}.npy" if launch.ranks > 1 else "0.npy"
            command += ["--out", f"args[{number}]=y{number}_{file}"]
        if launch.ranks > 1:
            command += ["--ranks", str(launch.ranks)]
            for window, value in launch.windows.items():
                command += ["--window", f"{window}={value}"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
        said = messages(done)
        if done.returncode:
            return {"kind": "not run", "reason": (said or done.stderr.splitlines() or [""])[-1][:300], "findings": []}
        kind, reason = "agrees", ""
        for number, expected in launch.expected.items():
            for rank, wanted in enumerate(expected):
                found = np.load(folder / f"y{number}_{rank}.npy").reshape(-1)
                if not np.allclose(found, wanted.reshape(-1), rtol=1e-6, atol=1e-6):
                    kind, reason = "differs", f"args[{number}] of rank {rank}"
        watched = subprocess.run(
            [*command, "--sanitize"], cwd=folder, capture_output=True, text=True, timeout=600, check=False
        )
        return {"kind": kind, "reason": reason, "findings": messages(watched)}


def messages(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The errors and warnings of a command."""
    return [line for line in (done.stdout + done.stderr).splitlines() if "error:" in line or "warning:" in line]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--case", default="", help="only kernels whose path has this text")
    parser.add_argument("--json", type=Path, help="writes all results")
    options = parser.parse_args(arguments)
    found = []
    for launch in launches():
        if options.case in launch.path:
            outcome = run(options.tree.resolve(), launch)
            found.append({"path": launch.path, "ranks": launch.ranks, **outcome})
            print(f"{outcome['kind']:8} {launch.ranks} ranks {launch.path}  {outcome['reason']}", flush=True)
            for text in outcome["findings"]:
                print(f"    {text}")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
