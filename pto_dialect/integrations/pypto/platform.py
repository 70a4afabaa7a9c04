"""Replaces PyPTO's assembler and runtime by this toolchain."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from pto_dialect.diagnostics.refused import RefusedProgram
from pto_dialect.integrations.commands import command_folder

from . import assembler, domains, external, interface, worker
from .host_code import HEADERS
from .objects import packed

_BACKEND = "pypto.backend.pto_backend"
"""The module of PyPTO that starts the assembler."""


class KernelCompiler:
    """What PyPTO compiles kernels and orchestrations with: it keeps their C++ text."""

    def __init__(self, platform: str = "a2a3", **_: Any) -> None:
        self.platform = platform
        self.project_root = HEADERS

    def get_incore_include_dirs(self) -> list[str]:
        """Returns the folders with headers of kernels."""
        return [str(HEADERS)]

    def get_orchestration_include_dirs(self, runtime_name: str = "") -> list[str]:
        """Returns the folders with headers of orchestrations."""
        return [str(HEADERS)]

    def compile_incore(
        self,
        source_path: str,
        core_type: str = "aiv",
        *_: Any,
        extra_include_dirs: Sequence[str] | None = None,
        **__: Any,
    ) -> bytes:
        """Returns the object file of a kernel's wrapper, or of what stands for a kernel that is C++ of its own.

        Raises ``RuntimeError`` for one that cannot be compiled.
        """
        text = Path(source_path).read_text()
        if assembler.MARK in text:
            return packed(text)
        # PyPTO names folders of the run time as well, whose headers are those of the front end here.
        folders = [one for one in extra_include_dirs or () if not Path(one).is_relative_to(HEADERS)]
        try:
            return packed(external.external_text(str(source_path), core_type, self.platform, folders))
        except (RefusedProgram, ValueError) as error:
            raise RuntimeError(f"{source_path} cannot be compiled:\n{error}") from error

    def compile_orchestration(self, runtime_name: str, source_path: str, *_: Any, **__: Any) -> bytes:
        """Returns the object file of an orchestration."""
        return packed(Path(source_path).read_text())


def modules() -> dict[str, ModuleType]:
    """Returns the modules of the run time that PyPTO imports, by name."""
    types = {name: getattr(interface, name) for name in ("ArgDirection", "CallConfig", "ChipCallable", "CommBufferSpec",
             "CoreCallable", "DataType", "TaskArgs", "Tensor", "TensorArgType", "scalar_to_uint64")}  # fmt: skip
    types |= {"ChipStorageTaskArgs": interface.TaskArgs, "ChipTensor": interface.Tensor}
    torch = {
        "make_chip_tensor_arg": interface.make_chip_tensor_arg,
        "torch_dtype_to_datatype": interface.torch_dtype_to_datatype,
        "make_tensor_arg": lambda worker, tensor: worker.make_tensor_arg(tensor),
    }
    memory = {name: getattr(domains, name) for name in ("AccessMode", "BackendKind", "wrap_fork_inherited")}
    memory["mint_owner_instance_id"] = lambda: b"pto-dialect"
    log = {"get_logger": lambda: logging.getLogger("simpler")}
    return {
        "simpler": _module("simpler", {}, package=True),
        "simpler.task_interface": _module("simpler.task_interface", types),
        "simpler.worker": _module("simpler.worker", {"Worker": worker.Worker}),
        "simpler.buffer": _module("simpler.buffer", memory),
        "simpler._log": _module("simpler._log", log),
        "simpler_setup": _module("simpler_setup", {"KernelCompiler": KernelCompiler, **torch}, package=True),
        "simpler_setup.torch_interop": _module("simpler_setup.torch_interop", torch),
        "simpler_setup.pto_isa": _module("simpler_setup.pto_isa", {"ensure_pto_isa_root": _isa_root}),
        "simpler_setup.log_config": _module("simpler_setup.log_config", {"parse_level": _level}),
        "simpler_setup.tools": _module("simpler_setup.tools", {"__getattr__": _tool}, package=True),
    }


def _isa_root(**_: Any) -> str:
    """Returns the folder that has the headers in `include`, as a checkout of the ISA has."""
    return str(HEADERS.parent)


def _module(name: str, names: dict[str, Any], package: bool = False) -> ModuleType:
    made = ModuleType(name, "Part of PyPTO's run time, as pto-dialect has it.")
    made.__dict__.update(names)
    if package:
        made.__path__ = []
    return made


def _tool(name: str) -> Any:
    """Returns what an import of a tool of the run time makes; ``benchmark`` of PyPTO imports the one that reads
    times."""
    if name == "strace_timing":
        why = "benchmark() needs the times of launches on a board, and launches run on numpy here"
        raise ImportError(f"{why}; `pto run --cycles` estimates the cycles of a kernel in the folder of PyPTO's output")
    raise AttributeError(f"module 'simpler_setup.tools' has no attribute {name!r}")


def _level(level: int | str) -> int:
    if isinstance(level, int):
        return level
    own = {"timing": 25, "null": 100, "warn": logging.WARNING}
    return own.get(level.lower(), logging.getLevelNamesMapping().get(level.upper(), logging.INFO))


@lru_cache(1)
def _assembler_folder() -> str:
    """Returns a folder with an executable `ptoas`, until this process ends."""
    return command_folder({"ptoas": "pto_dialect.integrations.pypto.assembler:main"})


def _assemble(pto_path: str, output_path: str, ptoas_flags: list[str] | None = None) -> None:
    """What PyPTO starts a process for otherwise."""
    try:
        assembler.assemble(pto_path, output_path, ptoas_flags or ())
    except RefusedProgram as error:
        raise RuntimeError(f"ptoas compilation failed: {error}") from error


def install() -> None:
    """Installs the replacements; see the package. Raises ``ImportError`` where PyPTO is not installed, or another
    project of its name."""
    replaced = modules()
    sys.modules.update(replaced)
    try:
        backend: Any = import_module(_BACKEND)
    except ModuleNotFoundError as error:
        for name in replaced:
            sys.modules.pop(name, None)
        raise _explained(error) from error
    os.environ["PTOAS_ROOT"] = _assembler_folder()
    # PyPTO versions that have another function for it start the executable, which does the same more slowly.
    if hasattr(backend, "_run_ptoas"):
        backend._run_ptoas = _assemble


def _explained(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Returns the error of an import of PyPTO, with what to do."""
    if error.name == "pypto":
        return ModuleNotFoundError(
            "No module named 'pypto'; docs/pypto.md has the commands that build it", name="pypto"
        )
    if error.name is None or not f"{_BACKEND}.".startswith(f"{error.name}."):
        return error
    place = ", ".join(import_module("pypto").__path__)
    other = f"the package pypto in {place} is another project of this name, which `pip install pypto` brings"
    command = "pip uninstall pypto; docs/pypto.md has the commands that build PyPTO"
    return ModuleNotFoundError(f"{other}: {command}", name=error.name)


def compute_on_one_thread() -> None:
    """Has PyTorch compute on one thread. The others do not survive a fork, and forked tests would wait for them."""
    torch: Any = import_module("torch")
    torch.set_num_threads(1)


def forget_chip() -> None:
    """Resets PyPTO's choice of a chip, of which it has one per process: tests choose theirs when they run, not when
    their files are imported."""
    backend: Any = import_module("pypto.backend")
    if hasattr(backend, "reset_for_testing"):
        backend.reset_for_testing()
