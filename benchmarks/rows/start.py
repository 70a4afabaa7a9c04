"""What a command costs before it does anything, beside what it is compared with."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

from .front import trees
from .row import Row, Times, alternate, command, python, seconds

ROOT = Path(__file__).resolve().parents[2]


def keep_small(folder: Path) -> None:
    """30 lines that both tools read."""
    lines = [f"    %c{i} = arith.constant {i} : index" for i in range(26)]
    program = "\n".join(["module {", "  func.func @f() {", *lines, "    return", "  }", "}"]) + "\n"
    (folder / "small.pto").write_text(program)
    (folder / "small.mlir").write_text(program)


def small(folder: Path) -> Times:
    """``pto-opt`` on 30 lines against ``xdsl-opt``, without what earlier runs kept."""
    os.environ["PTO_CACHE_DIR"] = str(folder / "cache")
    ours = command("pto-opt", "--no-cache", folder / "small.pto")
    return alternate(ours, command("xdsl-opt", folder / "small.mlir"), 7, warm_up=2)


def again(folder: Path) -> Times:
    """``pto-opt`` on 30 lines that it has seen before against ``xdsl-opt``."""
    os.environ["PTO_CACHE_DIR"] = str(folder / "cache")
    ours = command("pto-opt", folder / "small.pto")
    return alternate(ours, command("xdsl-opt", folder / "small.mlir"), 7, warm_up=2)


def served(folder: Path) -> Times:
    """``pto-opt`` on 30 lines, answered by a server, against ``xdsl-opt``."""
    os.environ |= {"PTO_CACHE_DIR": str(folder / "cache"), "PTO_SERVER": "1", "PTO_SERVER_IDLE": "30"}
    ours = command("pto-opt", "--no-cache", folder / "small.pto")
    ours()
    sockets, end = folder / "cache" / "server", perf_counter() + 60
    while not [path for path in sockets.iterdir() if not path.suffix]:
        if perf_counter() > end:
            raise SystemExit("no server has come")
        sleep(0.1)
    times = alternate(ours, command("xdsl-opt", folder / "small.mlir"), 9, warm_up=2, now=perf_counter)
    for path in sockets.iterdir():
        # The server ends without it.
        path.unlink()
    return times


def version(_: Path) -> Times:
    """``pto-opt --version`` against the import of click."""
    return alternate(command("pto-opt", "--version"), python("import click"), 15, warm_up=2)


def tree(folder: Path) -> Times:
    """All programs below the trees again against the first time; programs with errors are part of them."""
    with TemporaryDirectory(dir=folder) as cache:
        os.environ["PTO_CACHE_DIR"] = cache
        # The parse tables, which the first start after an installation builds, are no part of the first time.
        command("pto-opt", "--no-cache", folder / "small.pto")()
        run = command("pto-opt", *trees(), succeeds=False)
        first = seconds(run)
        return min(seconds(run) for _ in range(3)), first


def launch(_: Path) -> Times:
    """A small ``pto-run`` against the imports of what it needs."""
    file = ROOT / "examples" / "rms_norm" / "rms_norm.launch.toml"
    needed = python("import numpy, ml_dtypes, click, xdsl.dialects.builtin")
    return alternate(command("pto-run", file), needed, 5, warm_up=1)


ROWS = {
    "start-up": Row("pto-opt on 30 lines (xdsl-opt on 30 lines)", small, 0.75, prepare=keep_small),
    "start-again": Row("pto-opt on the same 30 lines again (xdsl-opt)", again, 0.3, prepare=keep_small),
    "start-served": Row("pto-opt on 30 lines, by a server (xdsl-opt)", served, 0.15, prepare=keep_small),
    "version": Row("pto-opt --version (import click)", version, 1.2),
    "tree-again": Row("a tree of programs again (the first time)", tree, 0.1, prepare=keep_small),
    "launch": Row("small pto-run (its imports)", launch, 1.4),
}
