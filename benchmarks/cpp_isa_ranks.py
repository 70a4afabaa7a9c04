"""Runs C++ tests of the instruction set that several chips execute, with ``pto run --ranks``, and compares with numpy.

    python benchmarks/cpp_isa_ranks.py PTO-ISA [--case TEXT] [--json FILE]

Their host programs start a process for each chip. The launches are written here, with the arguments, the inputs and the
definition of the results that the tests have. Each launch runs under the sanitizers too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cpp_ranks import messages

TESTS = "tests/npu/{}/comm/st/testcase/{}/{}_kernel.cpp"
GATHER = "demos/baseline/allgather_async/csrc/kernel/allgather_kernel.cpp"
SECONDS = 600


class Launch(NamedTuple):
    """A kernel on ranks: what it is called with, and its window (a row for each rank) before and after."""

    path: str
    entry: str
    target: str
    arguments: str
    """``name=value`` as ``pto run`` takes them, with spaces between; ``win+N`` is the window from element N on."""
    before: np.ndarray
    after: np.ndarray
    blocks: int = 1
    include: str = ""


def ramps(ranks: int, count: int, width: int, type_: type) -> np.ndarray:
    """Rows whose first ``count`` elements differ in all ranks; the others are -1."""
    rows = np.full((ranks, width), -1, type_)
    rows[:, :count] = np.arange(count) + 1000 * np.arange(ranks)[:, None]
    return rows


def transfers(ranks: int, target: str) -> Iterator[Launch]:
    """The root sends to all others, or gets from them, with any number of elements."""
    count = 256
    shared = "commBuf=win nranks=ranks root_rank=0 hcclCtx=context sdmaWorkspace=zeros:ui8:4096 sdmaSyncId=0"
    for first, length in ((0, count), (8, 200)):
        arguments = f"{shared} elem_offset={first} elem_count={length}"
        moved = slice(first, first + length)
        put = ramps(ranks, count, 2 * count, np.float32)
        after = put.copy()
        after[1:, count:][:, moved] = put[0, moved]
        yield Launch(of("tput_async", target), "TPutAsyncKernelImpl<float, 256>", target, arguments, put, after)
        get = ramps(ranks, count, (1 + ranks) * count, np.float32)
        after = get.copy()
        for rank in range(1, ranks):
            after[0, (1 + rank) * count :][moved] = get[rank, moved]
        yield Launch(of("tget_async", target), "TGetAsyncKernelImpl<float, 256>", target, arguments, get, after)


def shared_transfers(ranks: int) -> Iterator[Launch]:
    """Blocks that share a transfer by the offset of their sessions, and blocks that do one each."""
    count = 1024
    shared = "commBuf=win nranks=ranks hcclCtx=context sdmaWorkspace=zeros:ui8:4096"
    more = f"{shared} root_rank=0 total_elem_count=1024 sdmaSyncId=0"
    put = ramps(ranks, count, 2 * count, np.float32)
    after = put.copy()
    after[1:, count:] = put[0, :count]
    name = "TPutAsyncMultiCoreKernelImpl<float, 1024>"
    yield Launch(of("tput_async", "a2a3"), name, "a2a3", f"{more} multiCoreMode=0", put, after, 4)
    get = ramps(ranks, count, (1 + ranks) * count, np.float32)
    after = get.copy()
    after[0, 2 * count :] = get[1:, :count].reshape(-1)
    name = "TGetAsyncMultiCoreKernelImpl<float, 1024>"
    yield Launch(of("tget_async", "a2a3"), name, "a2a3", f"{more} multiCoreMode=0", get, after, 4)
    for fresh in (0, 1):
        every = ramps(ranks, count, (1 + ranks) * count, np.int32)
        after = every.copy()
        after[:, count:] = every[:, :count].reshape(-1)
        for way in ("Put", "Get"):
            name = f"T{way}AsyncConcurrentRankKernelImpl<int32_t, 1024>"
            arguments = f"{shared} iters=4 freshSession={fresh}"
            yield Launch(of(f"t{way.lower()}_async", "a2a3"), name, "a2a3", arguments, every, after, ranks)


def collectives(ranks: int) -> Iterator[Launch]:
    """The root gathers, scatters or reduces, with one tile and with two."""
    count = 256
    sides = f"src=win dst=win+{count} hcclCtx=context nranks=ranks"
    gathered = ramps(ranks, count, (1 + ranks) * count, np.float32)
    after = gathered.copy()
    after[0, count:] = gathered[:, :count].reshape(-1)
    yield Launch(of("tgather", "a2a3"), "TGatherKernelImpl<float, 256>", "a2a3", f"{sides} root=0", gathered, after)
    size = 128 * 32
    sides = sides.replace(f"+{count}", f"+{size}")
    gathered = ramps(ranks, size, (1 + ranks) * size, np.int32)
    after = gathered.copy()
    after[0, size:] = gathered[:, :size].reshape(-1)
    yield Launch(
        of("tgather", "a2a3"), "TGatherPingPongKernelImpl<int32_t, 128, 32, 16>", "a2a3", sides, gathered, after
    )
    whole = ranks * count
    scattered = ramps(ranks, whole, whole + count, np.float32)
    after = scattered.copy()
    after[:, whole:] = scattered[0, :whole].reshape(ranks, count)
    sides = f"src=win dst=win+{whole} hcclCtx=context nranks=ranks root=0"
    yield Launch(of("tscatter", "a2a3"), "TScatterKernelImpl<float, 256>", "a2a3", sides, scattered, after)
    reduced: dict[str, Callable[..., np.ndarray]] = {"Sum": np.sum, "Max": np.max}
    for name, function in reduced.items():
        values = ramps(ranks, count, 2 * count, np.float32)
        after = values.copy()
        after[0, count:] = function(values[:, :count], axis=0)
        sides = f"input=win output=win+{count} hcclCtx=context nranks=ranks root=0"
        entry = f"TReduceKernelImpl<float, 256, pto::comm::ReduceOp::{name}>"
        yield Launch(of("treduce", "a2a3"), entry, "a2a3", sides, values, after)


def demonstrations(ranks: int) -> Iterator[Launch]:
    """All ranks have the data of all ranks, a block for each of them."""
    count = 256
    values = ramps(ranks, count, (1 + ranks) * count, np.int32)
    after = values.copy()
    after[:, count:] = values[:, :count].reshape(-1)
    shared = "dataBuf=win nranks=ranks hcclCtx=context sdmaWorkspace=zeros:ui8:4096 sdmaSyncId=0"
    folder = "tests/npu/a2a3/comm/st/testcase"
    for way in ("Put", "Get"):
        yield Launch(GATHER, f"Allgather{way}AsyncMulticoreKernel", "a2a3", shared, values, after, ranks, folder)


def of(name: str, target: str) -> str:
    """The path of a test."""
    return TESTS.format(target, name, name)


def launches() -> Iterator[Launch]:
    """All launches."""
    for ranks in (2, 3):
        for target in ("a2a3", "a5"):
            yield from transfers(ranks, target)
        yield from shared_transfers(ranks)
        yield from collectives(ranks)
        yield from demonstrations(ranks)


def run(tree: Path, launch: Launch) -> dict[str, Any]:
    """Runs a launch; returns its ``kind``, ``reason`` and ``findings``."""
    ranks, width = launch.before.shape
    element = {"float32": "f32", "int32": "i32"}[launch.before.dtype.name]
    bounds = sorted({0, *(int(one.partition("win+")[2]) for one in launch.arguments.split() if "win+" in one)})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        windows = [f"win{begin}" for begin in bounds]
        for window, begin, end in zip(windows, bounds, [*bounds[1:], width], strict=True):
            np.save(folder / f"{window}.npy", launch.before[:, begin:end])
        command = [sys.executable, "-m", "pto_dialect", "run", str(tree / launch.path), "--force"]
        command += ["--entry", launch.entry, "--target", launch.target, "--ranks", str(ranks)]
        command += ["--blocks", str(launch.blocks)]
        command += [f"-I{tree / launch.include}"] if launch.include else []
        for one in launch.arguments.split():
            key, _, value = one.partition("=")
            if value.startswith("win"):
                value = f"win{value.partition('+')[2] or 0}"
                command += ["--out", f"{key}={value}_{{rank}}.npy"]
            command += ["--arg", f"{key}={value}"]
        for window in windows:
            command += ["--window", f"{window}=split:{window}.npy"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
        if done.returncode:
            said = messages(done) or done.stderr.splitlines() or [""]
            return {"kind": "not run", "reason": said[0][:300], "findings": []}
        wrong = [rank for rank in range(ranks) if _found(folder, windows, rank).tolist() != launch.after[rank].tolist()]
        watched = subprocess.run(
            [*command, "--sanitize"], cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        kind, reason = ("differs", f"{element} of ranks {wrong}") if wrong else ("agrees", "")
        return {"kind": kind, "reason": reason, "findings": messages(watched)}


def _found(folder: Path, windows: list[str], rank: int) -> np.ndarray:
    return np.concatenate([np.load(folder / f"{window}_{rank}.npy").reshape(-1) for window in windows])


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--case", default="", help="only launches whose path and entry have this text")
    parser.add_argument("--json", type=Path, help="writes all results")
    options = parser.parse_args(arguments)
    found = []
    for launch in launches():
        if options.case in f"{launch.path} {launch.entry}":
            outcome = run(options.tree.resolve(), launch)
            found.append({"path": launch.path, "entry": launch.entry, "ranks": len(launch.before), **outcome})
            print(
                f"{outcome['kind']:8} {len(launch.before)} ranks {launch.target} {launch.path} {launch.entry}",
                flush=True,
            )
            for text in [*([outcome["reason"]] if outcome["reason"] else []), *outcome["findings"]]:
                print(f"    {text}", flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
