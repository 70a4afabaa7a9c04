"""The modelled time of a program without contents.  Source: docs/cycles.md, "Times in Python"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from pto_dialect.analysis.cycles.static import ModuleCycles, table_for
from pto_dialect.analysis.target import profile_of
from pto_dialect.runtime.errors import BindingError, NoValueError
from pto_dialect.runtime.run.arguments import argument_format
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.per_core import launcher_value

from ..instrument.cycle_times import CycleTimeline
from ..options import SanitizeOptions
from .kernel import TimesKernel

_NO_CHECKS = SanitizeOptions(checks=frozenset())


def times_kernel(
    module: ModuleOp,
    entry: str | None = None,
    target: str | None = None,
    table: str | None = None,
    options: Mapping[str, str] | None = None,
    run: RunOptions | None = None,
) -> TimesKernel:
    """Returns the kernel of a verified module whose runs are timed, with the parameters in the file ``table``.

    Raises ``ProgramError`` for operations that cannot be executed, ``CycleTableError`` for a wrong table.
    """
    arch = profile_of(module, target).arch
    timeline = CycleTimeline(table_for(arch, table), arch, options or {}, cached=False, steps=False)
    return TimesKernel(module, entry, target, run or RunOptions(), _NO_CHECKS, timeline)


def modelled_cycles(
    module: ModuleOp,
    arguments: Mapping[str, Any],
    entry: str | None = None,
    target: str | None = None,
    *,
    blocks: int = 1,
    table: str | None = None,
    options: Mapping[str, str] | None = None,
) -> ModuleCycles:
    """Returns the cycles of a run of a verified module.

    ``arguments`` maps names to numbers, and to shapes (tuples) or arrays for buffers: their contents are not computed
    and not changed. Where control or addresses depend on contents, they are computed as in any run, from the arrays
    or from zeros; ``contents_reason`` of the result says so. Raises ``BindingError`` for arguments that do not fit,
    ``ProgramError`` for an error in the program.
    """
    kernel = times_kernel(module, entry, target, table, options)
    values = [_value(name, type_, arguments) for name, type_ in kernel.arguments]
    missing = [name for (name, _), value in zip(kernel.arguments, values, strict=True) if value is None]
    if missing:
        raise NoValueError(missing)
    unknown = arguments.keys() - {name for name, _ in kernel.arguments}
    if unknown:
        raise BindingError(f"unknown arguments: {', '.join(sorted(unknown))}")
    kernel.run(values, blocks)
    return kernel.cycles("")


def _value(name: str, type_: Attribute, arguments: Mapping[str, Any]) -> Any:
    value = arguments.get(name)
    if value is None:
        return launcher_value(name, type_)
    if not isinstance(value, tuple):
        return value
    fmt = argument_format(type_)
    if fmt is None:
        raise BindingError(f"argument {name} is a number, not a buffer", name)
    return np.zeros(value, fmt.storage)
