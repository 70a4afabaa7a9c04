"""The PTO tile ISA of Ascend NPUs as text, IR and numbers.

The functions below are the public interface. They live in `pto_dialect.api` and are imported on first use,
so that `import pto_dialect` loads neither xDSL nor numpy:

- `parse(text, filename=...)`: the module a `.pto` text describes,
- `check(path_or_text, target=...)`: its diagnostics,
- `print_module(module, generic=False)`: its canonical text,
- `compile(module, entry, target=...)`: a callable on numpy arrays,
- `run(...)`: compile and call in one step,
- `compile_cpp(path_or_text, entry=...)`: the module of a C++ kernel,
- `emit_cpp(module)`: its text in C++,
- `PerCore(...)`, `InParts(...)`: arguments that differ from core to core,
- `compile_group([...])`: a callable for functions that start together on the cores of each block,
- `TaskGraph(...)`: kernels that wait for the memory that others write, and run in any order otherwise.
"""

from __future__ import annotations

from importlib import import_module

from .version import __version__ as __version__

# What type checkers take for true; ``typing`` is a tenth of what ``import pto_dialect`` costs.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from pto_dialect.api import check, compile, compile_cpp, emit_cpp, parse, print_module, run
    from pto_dialect.driver.task_graph import TaskGraph
    from pto_dialect.runtime.api import InParts, PerCore
    from pto_dialect.runtime.group_api import compile_group

_LAUNCHING = {
    "InParts": "runtime.api",
    "PerCore": "runtime.api",
    "TaskGraph": "driver.task_graph",
    "compile_group": "runtime.group_api",
}
"""Modules that load numpy, by what they have; the rest is in `pto_dialect.api`."""

__all__ = [
    "InParts",
    "PerCore",
    "TaskGraph",
    "check",
    "compile",
    "compile_cpp",
    "compile_group",
    "emit_cpp",
    "parse",
    "print_module",
    "run",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"pto_dialect.{_LAUNCHING.get(name, 'api')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
