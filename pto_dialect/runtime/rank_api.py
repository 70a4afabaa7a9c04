"""Running programs on several ranks from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from pto_dialect.targets.backend import Backend

from .api import CompiledKernel, compile
from .errors import BindingError, NoValueError, ProgramError, located, takes_text
from .memory.spaces import Array
from .run.arguments import argument_format
from .run.per_core import launcher_value
from .run.rank_processes import run_ranks_apart
from .run.ranks import Part
from .run.windows import World


@dataclass(frozen=True)
class Window:
    """An argument that is the buffer ``name`` in a window: that of the own rank plus ``shift``, or that of ``rank``."""

    name: str
    rank: int | None = None
    shift: int = 0


@dataclass(frozen=True)
class RankConstant:
    """An argument that every rank determines itself."""

    text: str


CONTEXT: Final = RankConstant("context")
"""The communication context: rank, number of ranks, addresses of windows."""
RANK: Final = RankConstant("rank")
"""The id of the rank."""
RANKS: Final = RankConstant("ranks")
"""The number of ranks."""


def run_ranks(
    module: ModuleOp,
    arguments: Mapping[str, Any],
    ranks: int,
    windows: Mapping[str, Array],
    entry: str | None = None,
    target: str | None = None,
    *,
    blocks: int = 1,
    processes: int = 1,
    accumulate: str = "fast",
    backend: Backend | None = None,
    verify: bool = True,
) -> list[dict[str, Any]]:
    """Compiles a function and runs it once on each of ``ranks`` ranks, concurrently, in up to ``processes`` processes.

    ``windows`` has the memory that peers reach, by name: arrays whose first axis is the rank; afterwards they hold what
    the ranks have stored. ``arguments`` maps names to ``Window``, ``CONTEXT``, ``RANK``, ``RANKS``, a list with a value
    for each rank, or one value of which each rank has a copy. The result has for each rank the result of ``run``.

    Raises ``BindingError`` for arguments that do not fit, ``ProgramError`` for an error in the program, including
    ``sync-deadlock`` where ranks wait for each other forever, ``VerifyError`` for a module with errors.
    """
    kernel = compile(module, entry, target, accumulate=accumulate, backend=backend, verify=verify)
    bound = _with_known(kernel, arguments)
    for name, array in windows.items():
        if array.shape[:1] != (ranks,):
            raise BindingError(f"window {name} has the shape {array.shape}, whose first axis is not {ranks} ranks")
    try:
        world = World(ranks, {name: array[0].nbytes for name, array in windows.items()})
    except ValueError as error:
        raise BindingError(str(error)) from None
    shared = [
        {name: world.array(name, rank, array.shape[1:], array.dtype) for name, array in windows.items()}
        for rank in range(ranks)
    ]
    for rank, mine in enumerate(shared):
        for name, array in mine.items():
            array[...] = windows[name][rank]
    values = [
        {name: _value(name, type_, bound[name], rank, shared, world) for name, type_ in kernel.types}
        for rank in range(ranks)
    ]
    parts = [Part(kernel.kernel, list(mine.values()), blocks) for mine in values]
    try:
        returned = run_ranks_apart(parts, world, processes)
    except ProgramError as error:
        raise located(error, module) from None
    finally:
        for rank, mine in enumerate(shared):
            for name, array in mine.items():
                windows[name][rank] = array
    return [_outputs(mine, results) for mine, results in zip(values, returned, strict=True)]


def _with_known(kernel: CompiledKernel, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments completed by those that only launchers know."""
    unknown = set(arguments) - set(kernel.arguments)
    if unknown:
        raise BindingError(f"unknown arguments: {', '.join(sorted(unknown))}")
    values = dict(arguments)
    for name, type_ in kernel.types:
        known = launcher_value(name, type_)
        if known is not None:
            values.setdefault(name, known)
    missing = [name for name in kernel.arguments if name not in values]
    if missing:
        raise NoValueError(missing, takes_text(kernel.kernel.entry, kernel.types))
    return values


def _value(
    name: str, type_: Attribute, value: Any, rank: int, shared: Sequence[Mapping[str, Array]], world: World
) -> Any:
    """Returns the value of an argument on one rank."""
    if isinstance(value, Window):
        peer = (rank + value.shift) % world.ranks if value.rank is None else value.rank
        if value.name not in shared[0] or not 0 <= peer < world.ranks:
            raise BindingError(f"argument {name}: there is no window {value.name} of rank {peer}", name)
        return shared[peer][value.name]
    if isinstance(value, RankConstant):
        return {"context": _context(type_, world.context(rank)), "rank": rank, "ranks": world.ranks}[value.text]
    if isinstance(value, list | tuple):
        if len(value) != world.ranks:
            raise BindingError(f"argument {name} has {len(value)} values for {world.ranks} ranks", name)
        return value[rank]
    return value.copy() if isinstance(value, np.ndarray) else value


def _context(type_: Attribute, numbers: Array) -> Array:
    """Returns a context, which has numbers of two widths, as the integers that an argument takes."""
    fmt = argument_format(type_)
    return numbers if fmt is None or fmt.kind == "float" else numbers.view(fmt.storage)


def _outputs(values: Mapping[str, Any], returned: Sequence[Any]) -> dict[str, Any]:
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    return arrays | {str(index): value for index, value in enumerate(returned)}
