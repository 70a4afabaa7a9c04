"""Programs as Python functions.

>>> import numpy as np
>>> @jit('''
... func.func @twice(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
...   %c0 = arith.constant 0 : index
...   %0 = pto.load_scalar %x[%c0] : !pto.ptr<f32> -> f32
...   %1 = arith.addf %0, %0 : f32
...   pto.store_scalar %1, %y[%c0] : !pto.ptr<f32>, f32
...   return
... }
... ''', returns="y")
... def twice(x):
...     return {"x": x, "y": np.empty_like(x)}
>>> twice(np.array([2.5], np.float32))
array([5.], dtype=float32)

See docs/integrations.md.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from functools import update_wrapper
from pathlib import Path
from typing import Any

from pto_dialect.driver.inputs import CPP_SUFFIXES, SUFFIX
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.run.machine import RunOptions

from .base import Device, Program, ordered
from .events import watching
from .memory import as_array

Values = Mapping[str, Any]
Blocks = int | Callable[..., int]


class Function:
    """A Python function whose calls launch a kernel; see :func:`jit`."""

    def __init__(
        self,
        prepare: Callable[..., Values | None],
        program: str | os.PathLike[str],
        entry: str | None,
        device: Device,
        blocks: Blocks,
        returns: str | Sequence[str] | None,
        defines: Mapping[str, object],
        includes: Sequence[str | os.PathLike[str]],
    ) -> None:
        update_wrapper(self, prepare)
        self.prepare = prepare
        self.entry = entry
        self.returns = returns
        self._given = program
        self._defines = defines
        self._includes = includes
        self._device = device
        self._blocks = blocks
        self._signature = inspect.signature(prepare)
        self._program: Program | None = None

    @property
    def program(self) -> Program:
        """The verified program; read on first use. Raises as `Device.compile` does, and ``OSError``."""
        if self._program is None:
            text, name = _text_of(self._given, self.prepare)
            if name.endswith(CPP_SUFFIXES):
                text = self._compiled(text, name)
            self._program = self._device.compile(text, name)
        return self._program

    def _compiled(self, text: str, name: str) -> str:
        """Returns the program of a C++ kernel, whose only function is the entry from now on."""
        from pto_dialect.cpp.kernel import compile_kernel  # deferred: start-up
        from pto_dialect.cpp.options import CppOptions, macros_of  # deferred: start-up

        macros = macros_of(self._defines)
        folders = tuple(os.path.join(os.path.dirname(name), folder) for folder in self._includes)
        options = CppOptions(self.entry, self._device.target, macros, folders)
        self.entry = None
        return compile_kernel(text, name, options).text

    def values(self, *args: Any, **kwargs: Any) -> Values:
        """Returns the arguments of the kernel for these arguments of the function."""
        made = self.prepare(*args, **kwargs)
        if made is None:
            bound = self._signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return bound.arguments
        if not isinstance(made, Mapping):
            raise TypeError(f"{self.prepare.__qualname__} returns the kernel's arguments by name or None, not {made!r}")
        return made

    def results(self, values: Values) -> Any:
        """Returns those of ``values`` that a call returns. Raises ``BindingError`` where there are none of the name."""
        if self.returns is None:
            return None
        names = [self.returns] if isinstance(self.returns, str) else self.returns
        for name in names:
            if name not in values:
                known = ", ".join(values)
                raise BindingError(f"{self.prepare.__qualname__}: returns names {name}, which is none of {known}")
        return values[self.returns] if isinstance(self.returns, str) else tuple(values[name] for name in names)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Launches the kernel and returns its results.

        Raises ``BindingError`` for arguments that do not fit, ``ProgramError`` for a fault of the program.
        """
        values = self.values(*args, **kwargs)
        program = self.program
        kernel = program.kernel(self.entry, watching())
        arrays = [as_array(value) for value in ordered(kernel, values)]
        blocks = self._blocks(**values) if callable(self._blocks) else self._blocks
        results = self.results(values)
        self._device.run(program, kernel, arrays, blocks)
        return results


def jit(
    program: str | os.PathLike[str],
    entry: str | None = None,
    *,
    returns: str | Sequence[str] | None = None,
    blocks: Blocks = 1,
    target: str | None = None,
    options: RunOptions | None = None,
    defines: Mapping[str, object] | None = None,
    includes: Sequence[str | os.PathLike[str]] = (),
) -> Callable[[Callable[..., Values | None]], Function]:
    """Makes calls of a Python function launch function ``entry`` of a program.

    ``program`` is its text, or a ``.pto`` file or a C++ kernel, relative to the file of the decorated function. What
    that function returns are the kernel's arguments by name: numpy arrays, tensors and other buffers, which the kernel
    shares, and numbers. If it returns nothing, they are its own arguments. ``returns`` names those that a call returns;
    ``blocks`` is a number or a function of the kernel's arguments; ``target`` is a2, a3, a2a3 or a5 for programs that
    name none. ``defines`` are macros of a C++ kernel, ``includes`` folders of its headers, relative to it; its entry
    may be a template with its arguments. The program is read by the first call.
    """

    def decorate(prepare: Callable[..., Values | None]) -> Function:
        device = Device("jit", target, options)
        return Function(prepare, program, entry, device, blocks, returns, defines or {}, includes)

    return decorate


def _text_of(program: str | os.PathLike[str], function: Callable[..., Any]) -> tuple[str, str]:
    """Returns the text of a program and what diagnostics call it."""
    if isinstance(program, str) and ("\n" in program or not program.endswith((SUFFIX, *CPP_SUFFIXES))):
        return program, f"<{function.__qualname__}>"
    path = Path(inspect.getfile(function)).parent / program
    return path.read_text(encoding="utf-8"), str(path)
