"""Compiling and running programs from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.refused import VerifyError
from pto_dialect.syntax.print.locations import printed_locations
from pto_dialect.targets.backend import BACKENDS, Backend
from pto_dialect.verify.verifier import verify_module

from .errors import BindingError, NoValueError, ProgramError, located, takes_text
from .run.launch import Kernel
from .run.machine import RunOptions
from .run.per_core import InParts, PerCore, launcher_value

__all__ = ["CompiledKernel", "InParts", "PerCore", "compile", "run"]


Launcher = Callable[[Kernel, Sequence[Any], int, int], list[Any]]

LAUNCHERS: list[Launcher] = []
"""Launchers that replace ``Kernel.run``; the last one is used. An instrumenting client appends its own."""


def launch(kernel: Kernel, values: Sequence[Any], blocks: int, jobs: int) -> list[Any]:
    """Runs a kernel with the arguments of ``Kernel.run``."""
    return LAUNCHERS[-1](kernel, values, blocks, jobs) if LAUNCHERS else kernel.run(values, blocks, jobs)


class CompiledKernel:
    """A kernel that can be called on numpy arrays.

    Positional arguments follow the function's arguments. Array arguments are global-memory buffers (or tiles of a
    value-form function) with the element type's storage dtype and are written in place; scalars are Python numbers. The
    call returns ``None``, one array, or a tuple of the returned tiles.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    @property
    def kernel(self) -> Kernel:
        """The kernel that a call runs."""
        return self._kernel

    @property
    def arguments(self) -> list[str]:
        """Names of the arguments in order."""
        return [name for name, _ in self._kernel.arguments]

    @property
    def types(self) -> list[tuple[str, Attribute]]:
        """Names and types of the arguments in order."""
        return list(self._kernel.arguments)

    @property
    def source(self) -> str:
        """The Python source the kernel was compiled to."""
        return self._kernel.source

    @property
    def listing(self) -> str:
        """The Python source with the lines of the program as comments."""
        return self._kernel.listing

    def __call__(self, *values: Any, blocks: int = 1, jobs: int = 1) -> Any:
        """Runs the kernel on ``blocks`` blocks; independent blocks run in up to ``jobs`` processes.

        A value may be a ``PerCore`` or ``InParts``, which differ from core to core. Arguments that only launchers know
        (docs/launch.md, "Arguments that differ per core") may all be omitted. Raises ``BindingError`` for arguments
        that do not fit, ``ProgramError`` for an error in the program.
        """
        try:
            results = launch(self._kernel, self._filled(values), blocks, jobs)
        except ProgramError as error:
            raise located(error, self._kernel.module) from None
        if not results:
            return None
        return results[0] if len(results) == 1 else tuple(results)

    def _filled(self, values: Sequence[Any]) -> Sequence[Any]:
        """Returns the values completed by those that only launchers know, where the caller omits these."""
        arguments = self._kernel.arguments
        if len(values) == len(arguments):
            return values
        own = [launcher_value(name, type_) for name, type_ in arguments]
        if len(values) + sum(one is not None for one in own) != len(arguments):
            return values
        rest = iter(values)
        return [next(rest) if one is None else one for one in own]


def compile(
    module: ModuleOp,
    entry: str | None = None,
    target: str | None = None,
    *,
    accumulate: str = "fast",
    backend: Backend | None = None,
    verify: bool = True,
) -> CompiledKernel:
    """Compiles a function of a module.

    ``entry`` is its symbol (default: the only or marked kernel), ``target`` a2a3, a5 or cpu-sim (default: the module's
    own), ``accumulate`` ``"fast"`` or ``"exact"``, ``backend`` the library that tile operations follow, ``"emitc"`` or
    ``"vpto"`` (default: the module's own). The module is verified first; ``verify=False`` is for those who have just
    done it. Raises ``VerifyError`` for a module with errors, ``ProgramError`` for operations that cannot be executed.
    Operations that were read from no text are shown as the printer writes them.
    """
    options = checked_options(accumulate, backend)
    if verify:
        verify_checked(module, target)
    try:
        return CompiledKernel(Kernel(module, entry, target, options))
    except ProgramError as error:
        if error.span is not None:
            raise
    with printed_locations(module):
        return CompiledKernel(Kernel(module, entry, target, options))


def checked_options(accumulate: str, backend: Backend | None) -> RunOptions:
    """Returns the options of a run. Raises ``ValueError`` for an unknown option value."""
    if accumulate not in ("fast", "exact"):
        raise ValueError(f"accumulate is 'fast' or 'exact', found {accumulate!r}")
    if backend is not None and backend not in BACKENDS:
        raise ValueError(f"backend is 'emitc' or 'vpto', found {backend!r}")
    return RunOptions(accumulate=accumulate, backend=backend)


def verify_checked(module: ModuleOp, target: str | None) -> None:
    """Raises ``VerifyError`` for a module with errors."""
    diagnostics = _diagnostics(module, target)
    if any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics):
        if any(diagnostic.span is None for diagnostic in diagnostics):
            with printed_locations(module):
                diagnostics = _diagnostics(module, target)
        raise VerifyError(diagnostics)


def _diagnostics(module: ModuleOp, target: str | None) -> tuple[Diagnostic, ...]:
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    verify_module(module, engine, target=target)
    return engine.diagnostics


def run(
    module: ModuleOp,
    arguments: Mapping[str, Any],
    entry: str | None = None,
    target: str | None = None,
    *,
    blocks: int = 1,
    jobs: int = 1,
    accumulate: str = "fast",
    backend: Backend | None = None,
    verify: bool = True,
) -> dict[str, Any]:
    """Compiles and runs a function once.

    ``arguments`` maps argument names (or positions as text) to arrays and numbers, ``PerCore`` numbers and arrays
    ``InParts``. Returns the arrays after the run by
    argument name, and returned tiles under ``"0"``, ``"1"`` ...
    """
    kernel = compile(module, entry, target, accumulate=accumulate, backend=backend, verify=verify)
    values: list[Any] = []
    for position, (name, type_) in enumerate(kernel.types):
        key = name if name in arguments else str(position)
        values.append(arguments[key] if key in arguments else launcher_value(name, type_))
    missing = [name for name, value in zip(kernel.arguments, values, strict=True) if value is None]
    if missing:
        raise NoValueError(missing, takes_text(kernel.kernel.entry, kernel.types))
    unknown = set(arguments) - set(kernel.arguments) - {str(i) for i in range(len(values))}
    if unknown:
        raise BindingError(f"unknown arguments: {', '.join(sorted(unknown))}")
    returned = kernel(*values, blocks=blocks, jobs=jobs)
    arrays = [value.array if isinstance(value, InParts) else value for value in values]
    outputs = {n: v for n, v in zip(kernel.arguments, arrays, strict=True) if not _is_number(v)}
    if returned is not None:
        results = returned if isinstance(returned, tuple) else (returned,)
        outputs |= {str(index): value for index, value in enumerate(results)}
    return outputs


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.generic, PerCore))
