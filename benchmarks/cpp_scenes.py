"""Scenes of the run time: its own tests, with an orchestration function that submits tasks to kernels.

The orchestration is compiled for this machine against the run time's headers and runs here (``cpp_host/host.cpp``); a
task that it submits is carried out at once by the translated kernels. Inputs and expected values are those of the test.
"""

from __future__ import annotations

import ctypes
import importlib.abc
import importlib.util
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

from cpp_launch import Memory, NoRun, Program, Programs, Value

HOST = Path(__file__).resolve().parent / "cpp_host" / "host.cpp"
_CLUSTERS = 24


class Told(ctypes.Structure):
    """A tensor, as the host program describes it."""

    _fields_ = (
        ("address", ctypes.c_uint64), ("size", ctypes.c_uint64), ("start", ctypes.c_uint64),
        ("dtype", ctypes.c_uint32), ("ndims", ctypes.c_uint32),
        ("shapes", ctypes.c_uint32 * 5), ("strides", ctypes.c_uint32 * 5),
    )  # fmt: skip


_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_int32), ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(Told),
    ctypes.c_int32, ctypes.POINTER(ctypes.c_uint64),
)  # fmt: skip
_SIZES = (4, 2, 4, 2, 1, 1, 2, 8, 8, 2, 4, 1, 1, 1, 1)
"""Bytes of the run time's types of elements, by number."""
_NAMES = (
    "float32",
    "float16",
    "int32",
    "int16",
    "int8",
    "uint8",
    "bfloat16",
    "int64",
    "uint64",
    "uint16",
    "uint32",
    "bool",
)


class _Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules of the run time that need its compiled library."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Returns a stub for every module of the run time's package."""
        is_own = fullname == "simpler" or fullname.startswith("simpler.")
        return importlib.util.spec_from_loader(fullname, self) if is_own else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Returns a module that has every name."""
        module = MagicMock(name=spec.name)
        module.__path__ = []
        module.__spec__ = spec
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Does nothing."""


def load(tree: Path, path: Path) -> ModuleType:
    """The module of a test."""
    if not any(isinstance(finder, _Stubs) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Stubs())
        sys.path[:0] = [str(tree)]
        interface: Any = importlib.import_module("simpler.task_interface")
        interface.ArgDirection = SimpleNamespace(IN="IN", OUT="OUT", INOUT="INOUT", SCALAR="SCALAR")
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module


def scenes_of(tree: Path, path: Path) -> Iterator[type[Any]]:
    """The scenes of a test that run on one chip."""
    module = load(tree, path)
    for one in vars(module).values():
        if isinstance(one, type) and one.__module__ == module.__name__ and "CALLABLE" in vars(one):
            yield one


def include_folders(tree: Path, target: str, runtime: str) -> list[str]:
    """Where the run time's own build looks for the headers that kernels and orchestrations include."""
    source = tree / "src"
    own = source / target / "runtime" / runtime
    folders = [
        own / "runtime", own / "common", own / "orchestration", source / "common" / "task_interface", source / "common",
        source / target / "platform" / "include", source / "common" / "platform" / "include",
        tree / "simpler_setup" / "incore", source / "common" / "log" / "include",
    ]  # fmt: skip
    return [str(folder) for folder in folders if folder.is_dir()]


def build_host(tree: Path, target: str, runtime: str, source: Path, entry: str, folder: Path) -> ctypes.CDLL:
    """The orchestration as a library of this machine; raises ``NoRun``."""
    made = folder / f"host-{abs(hash((source, target, runtime, entry)))}.so"
    if not made.exists():
        includes = [f"-I{one}" for one in include_folders(tree, target, runtime)]
        command = [
            "g++", "-std=c++20", "-O0", "-shared", "-fPIC", "-w", "-fpermissive", *includes, f"-I{source.parent}",
            f'-DPTO_ORCHESTRATION="{source}"', f"-DPTO_ENTRY={entry}", f"-DPTO_CLUSTERS={_CLUSTERS}", str(HOST),
            "-o", str(made),
        ]  # fmt: skip
        result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if result.returncode:
            errors = [line for line in result.stderr.splitlines() if "error" in line]
            raise NoRun("no host", (errors or ["g++ failed"])[0][:300])
    return ctypes.CDLL(str(made))


_MEETS = re.compile(r"pto\.(t(push|pop|alloc|free)\b|t(push|pop|alloc|free)_|sync|set_cross|set_intra|a(ic|iv)_init)")
"""Operations that meet another core."""


class Scene:
    """One case of a scene."""

    def __init__(self, tree: Path, owner: type[Any], path: Path, target: str, runtime: str, seconds: float) -> None:
        self.owner, self.path, self.target = owner, path, target
        self.kernels = {one["func_id"]: one for one in owner.CALLABLE["incores"]}
        self.programs = Programs(target, include_folders(tree, target, runtime))
        orchestration = owner.CALLABLE["orchestration"]
        self.source = (path.parent / orchestration["source"]).resolve()
        self.entry = orchestration["function_name"]
        self.signature = orchestration.get("signature", [])
        self.tree, self.runtime, self.seconds = tree, runtime, seconds
        self.failure: NoRun | None = None
        self.used: dict[int, Program] = {}
        self.tasks = 0

    def source_of(self, kernel: int) -> Path:
        """The file of a kernel."""
        return (self.path.parent / self.kernels[kernel]["source"]).resolve()

    def run(self, case: dict[str, Any], folder: Path) -> None:
        """Runs a case and compares; raises ``NoRun`` or ``AssertionError``."""
        test = self.owner()
        params = case.get("params", {})
        args = test.generate_args(params)
        golden = args.clone()
        test.compute_golden(golden, params)
        host = build_host(self.tree, self.target, self.runtime, self.source, self.entry, folder)
        tensors = [(one.name, one.value) for one in args.specs if hasattr(one.value, "data_ptr")]
        numbers = [_bits(one.value) for one in args.specs if not hasattr(one.value, "data_ptr")]
        told = (Told * max(len(tensors), 1))(*(_told(value) for _, value in tensors))
        self.deadline = time.monotonic() + self.seconds
        callback = _CALLBACK(self._task)
        failed = host.pto_run_host(
            callback, len(tensors), told, len(numbers), (ctypes.c_uint64 * max(len(numbers), 1))(*numbers)
        )
        if self.failure is not None:
            raise self.failure
        if failed:
            raise NoRun("no host", "the orchestration reported an error")
        outputs = [name for (name, _), way in zip(tensors, self.signature, strict=False) if way in ("OUT", "INOUT")]
        test.compare_outputs(args, golden, outputs, params)

    def _task(self, kernels: Any, blocks: int, count: int, told: Any, scalars: int, numbers: Any) -> int:
        try:
            if time.monotonic() > self.deadline:
                raise NoRun("too slow", f"not done after {self.seconds:.0f} s and {self.tasks} tasks")
            self.tasks += 1
            self._launch([kernels[n] for n in range(3)], blocks, _values(count, told, scalars, numbers))
        except NoRun as error:
            self.failure = error
        except Exception as error:
            self.failure = NoRun("crash", repr(error)[:300])
        return int(self.failure is not None)

    def _launch(self, kernels: list[int], blocks: int, values: dict[str, Value]) -> None:
        _, first, second = kernels
        used = [one for one in dict.fromkeys(kernels) if one >= 0]
        if first >= 0 and second >= 0 and (first != second or len(used) == 1):
            # The vector cores have kernels of their own, which run one after the other where they exchange nothing.
            if len(used) > 1 and any(_MEETS.search(self.programs.text(self.source_of(one))) for one in used):
                raise NoRun("no such launch", "different kernels on the two vector cores exchange data")
            for one in used:
                self._run([one], blocks, values)
            return
        self._run(used, blocks, values)

    def _run(self, used: list[int], blocks: int, values: dict[str, Value]) -> None:
        sources = [(self.source_of(one), None) for one in used]
        try:
            program = self.programs.program(sources, join=True)
        except NoRun as error:
            names = ", ".join(path.name for path, _ in sources)
            raise NoRun(error.kind, f"{names}: {error.reason}") from None
        watch = not set(used) <= self.used.keys()
        self.used |= dict.fromkeys(used, program)
        program.run(values, max(blocks, 1), watch)


def _told(value: Any) -> Told:
    shape = list(value.shape) or [1]
    kind = str(value.dtype).removeprefix("torch.")
    number = _NAMES.index(kind) if kind in _NAMES else 5
    size = value.element_size() * value.numel()
    return Told(value.data_ptr(), size, 0, number, len(shape), (ctypes.c_uint32 * 5)(*shape[:5]))


def _bits(value: Any) -> int:
    raw = bytes(value) if isinstance(value, ctypes._SimpleCData) else int(value).to_bytes(8, "little", signed=True)
    return int.from_bytes(raw[:8], "little")


def _values(count: int, told: Any, scalars: int, numbers: Any) -> dict[str, Value]:
    """The values of the parameters of a kernel, by name."""
    values: dict[str, Value] = {}
    for n in range(count):
        one = told[n]
        size = _SIZES[one.dtype]
        start = one.start * size
        values[f"args_{n}"] = Memory(one.address + start, max(one.size - start, 0))
        values[f"args_{n}_size"] = one.size
        values[f"args_{n}_dimensions"] = one.ndims
        for dimension in range(5):
            values[f"args_{n}_shape_{dimension}"] = one.shapes[dimension]
            values[f"args_{n}_stride_{dimension}"] = one.strides[dimension]
    for n in range(scalars):
        number = numbers[n]
        values[f"args_{count + n}"] = number - (1 << 64) if number >> 63 else number
    return values


def cases_of(owner: type[Any], target: str) -> list[dict[str, Any]]:
    """The cases of a scene for a target, small ones first as far as their names and marks say so."""
    cases = [one for one in owner.CASES if any(str(name).startswith(target) for name in one.get("platforms", [target]))]
    return sorted(
        cases,
        key=lambda one: (bool(one.get("manual")) is True and one["manual"] is True, "small" not in one["name"].lower()),
    )


__all__ = ["Scene", "cases_of", "scenes_of"]
