"""A device of this process for scripts that launch C++ kernels with ``torch`` and ``ctypes``.

Tensors of the device are tensors of the CPU. The compiler of the device is replaced by ``cpp_host/bisheng``, which
writes its arguments; a library that is loaded from such a file has the launch functions of the kernel's file, whose
launches are carried out by the translated kernels.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

from cpp_launch import Memory, NoRun, Program, Programs, Value
from isa_kernels import STANDINS, split, with_blocks

from pto_dialect.cpp.compiler import CompileError, compile_to_ir, cores_of
from pto_dialect.cpp.compilers import find_compiler
from pto_dialect.cpp.entries import qualified_name
from pto_dialect.cpp.llvm.reader import read_module

torch: Any = importlib.import_module("torch")

CORES = 4
"""Cube cores of the device; each has two vector cores."""
_KEPT: list[object] = []
"""Libraries, whose callbacks must live."""
_HERE = Path(__file__).resolve().parent
_HEAD = "PTO-KERNEL\n"
_CDLL = ctypes.CDLL


class Device:
    """What has run, and why something did not."""

    def __init__(self, seconds: float) -> None:
        self.ends = time.monotonic() + seconds
        self.memories: dict[int, int] = {}
        self.programs: dict[tuple[str, str], Program] = {}
        self.files: set[str] = set()
        self.failure: NoRun | None = None
        self.launches = 0

    def memory(self, address: int) -> Memory:
        """The memory of a tensor from an address on."""
        if address in self.memories:
            return Memory(address, self.memories[address] - address)
        ends = [end for start, end in self.memories.items() if start <= address < end]
        return Memory(address, max(ends) - address) if ends else Memory(0, 0)

    def library(self, command: list[str], folder: Path) -> ctypes.CDLL:
        """The library that a command of the compiler makes; a folder, then the command."""
        try:
            return Library(self, command).load(Path(tempfile.mkdtemp(dir=folder)))
        except NoRun as error:
            self.failure = self.failure or error
            raise RuntimeError(f"{error.kind}: {error.reason}") from None

    def know(self, tensor: Any) -> int:
        """Notes the memory of a tensor; returns its address."""
        address, storage = _data_ptr(tensor), tensor.untyped_storage()
        self.memories[address] = storage.data_ptr() + storage.nbytes()
        return address


_data_ptr = torch.Tensor.data_ptr


class Library:
    """The launch functions of a kernel file, compiled for this machine; each launch calls back."""

    def __init__(self, device: Device, command: list[str]) -> None:
        self._device = device
        folder, *words = _with_objects(command)
        sources = [word for word in words if word.endswith((".cpp", ".cce"))]
        self._file = Path(folder, sources[0]).resolve()
        values = [word[2:] for word in words if word.startswith("-I")]
        includes = [str(Path(folder, one)) for one in values if Path(folder, one).is_dir()]
        defines = [word[2:] for word in words if word.startswith("-D") and not word[2:].startswith(_OWN)]
        target = "a5" if any(mark in " ".join(words) for mark in _MARKS_OF_A5) else "a2a3"
        self._programs = Programs(target, [*includes, str(self._file.parent)], defines)
        self._names: dict[str, str] = {}
        self._callback = _CALLBACK(self._launched)

    def load(self, folder: Path) -> ctypes.CDLL:
        """The library; raises ``NoRun``."""
        one = self._programs
        text = with_blocks(self._file.read_text(errors="surrogateescape")).replace("(long); ", "(long);\n", 1)
        text = _WEAK + text
        includes = [*one.includes, str(STANDINS)]
        try:
            irs = [
                compile_to_ir(
                    text, str(self._file), core=core, target=one.target, includes=includes, defines=one.defines
                )
                for core in cores_of(text, str(self._file), includes)
            ]
        except CompileError as error:
            shown = [line for line in str(error).splitlines() if "error" in line]
            raise NoRun("not translated", (shown or [str(error)])[0][:300]) from None
        stubs = [_STUBS]
        for ir in irs:
            module = read_module(ir.text)
            for name in module.annotated("pto.entry"):
                if name not in self._names:
                    self._names[name] = qualified_name(module, name)
                    function = module.function(name)
                    types = [argument.type for argument in (function.arguments if function is not None else ())]
                    stubs.append(_stub(name, types))
        # Calls of what does nothing on a core are not in its text.
        launchers, _ = split(max((ir.text for ir in irs), key=len), self._file.name)
        (folder / "launch.ll").write_text(launchers, errors="surrogateescape")
        _compile(
            [*find_compiler().command, "-c", "-O1", "-fPIC", "-w", "-fno-sanitize=all", "launch.ll", "-o", "launch.o"],
            folder,
        )
        undefined = subprocess.run(
            ["nm", "-u", "launch.o"], cwd=folder, capture_output=True, text=True, check=True
        ).stdout
        # Functions of the device that no launch reaches.
        names = [word for word in undefined.split() if word != "U"]
        device = [word for word in names if "__pto_" in word]
        found = [word for word in names if "rtGetC2cCtrlAddr" in word]
        stubs += [
            f'extern "C" int {name}(uint64_t *address, uint32_t *size) {{ return *address = *size = 0; }}'
            for name in found
        ]
        stubs += [f'extern "C" void {name}() {{ __builtin_trap(); }}' for name in device]
        (folder / "stubs.cpp").write_text("\n".join(stubs))
        _compile(["g++", "-shared", "-fPIC", "-w", "stubs.cpp", "launch.o", "-o", "launch.so"], folder)
        library = _CDLL(str(folder / "launch.so"))
        ctypes.c_void_p.in_dll(library, "pto_callback").value = ctypes.cast(self._callback, ctypes.c_void_p).value
        _KEPT.append(self)
        return library

    def _launched(self, name: bytes, blocks: int, count: int, values: Any) -> None:
        device = self._device
        if device.failure is not None:
            return
        try:
            if time.monotonic() > device.ends:
                raise NoRun("too slow", f"stopped after {device.launches} launches")
            self._launch(self._names[name.decode()], blocks, [values[n] for n in range(count)])
        except NoRun as error:
            device.failure = error
        except Exception as error:
            device.failure = NoRun("crash", repr(error)[:300])

    def _launch(self, entry: str, blocks: int, bits: list[int]) -> None:
        device = self._device
        key = (str(self._file), entry)
        known = device.programs.get(key)
        device.files.add(str(self._file))
        program = known or self._programs.program([(self._file, entry)])
        device.programs[key] = program
        types = program.kernel.types
        if len(types) != len(bits):
            raise NoRun("not bound", f"{entry} takes {len(types)} arguments, the host passes {len(bits)}")
        values: dict[str, Value] = {}
        for (name, type_), one in zip(types, bits, strict=True):
            signed = one - (1 << 64) if one >> 63 else one
            values[name] = device.memory(one) if "ptr" in str(type_) else signed
        device.launches += 1
        program.run(values, max(blocks, 1), known is None)


_WEAK = """#undef __global__
#define __global__ __attribute__((annotate("pto.entry"), used, noinline, weak))
"""
"""Kernels whose bodies the compiler does not look at: it would leave out arguments that one core does not use."""
_OWN = ("MEMORY_BASE", "REGISTER_BASE")
_MARKS_OF_A5 = ("dav-3510", "dav-c310", "REGISTER_BASE")
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.POINTER(ctypes.c_uint64))
_C_TYPES = {
    "ptr": "void *", "i1": "bool", "i8": "signed char", "i16": "short", "i32": "int", "i64": "long", "float": "float",
    "double": "double", "half": "_Float16",
}  # fmt: skip
_STUBS = """
#include <cstdint>
#include <cstring>
#include <type_traits>
extern "C" {
void (*pto_callback)(const char *, long, int, const uint64_t *);
static long blocks = 1;
void isa_blocks(long number) { blocks = number; }
}
template <class T> static uint64_t bits(T value)
{
    if constexpr (std::is_integral_v<T>) return (uint64_t)(int64_t)value;
    uint64_t all = 0;
    memcpy(&all, &value, sizeof(value));
    return all;
}
"""


def _with_objects(command: list[str]) -> list[str]:
    """A command of the compiler with those that made its object files."""
    folder, *words = command
    found = [folder]
    for word in words:
        file = Path(folder, word)
        if word.endswith(".o") and file.is_file() and file.open("rb").read(len(_HEAD)) == _HEAD.encode():
            found += file.read_text().removeprefix(_HEAD).splitlines()[1:]
    return [*found, *words]


def _stub(name: str, types: list[str]) -> str:
    parameters = ", ".join(f"{_C_TYPES.get(one, 'short')} a{n}" for n, one in enumerate(types))
    values = ", ".join(f"bits(a{n})" for n in range(len(types)))
    call = f'const uint64_t all[] = {{{values or 0}}}; pto_callback("{name}", blocks, {len(types)}, all);'
    return f'extern "C" void {name}({parameters}) {{ {call} }}'


def _compile(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise NoRun("no launch function", f"the launch functions do not compile: {done.stderr.strip()[:200]}")


_PRODUCTS = ("matmul", "mm", "bmm", "__matmul__")
_NARROW = (torch.float16, torch.bfloat16)


class _OnDevice(importlib.import_module("torch.overrides").TorchFunctionMode):
    """Puts what is for the device onto the CPU."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        if name == "to":
            args = tuple(_cpu(one) for one in args)
        if name == "empty_like":
            # New tensors of the device are contiguous.
            kwargs = {**(kwargs or {}), "memory_format": torch.contiguous_format}
        if name in _PRODUCTS and all(getattr(one, "dtype", None) in _NARROW for one in args[:2]):
            # The device adds products of narrow numbers in wider ones, and rounds once.
            return func(*(one.double() for one in args[:2])).to(args[0].dtype)
        kwargs = {key: _cpu(one) if key == "device" else one for key, one in (kwargs or {}).items()}
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        return func(*args, **kwargs)


def _is_device(one: Any) -> bool:
    return one.startswith("npu") if isinstance(one, str) else getattr(one, "type", "") == "npu"


def _cpu(one: Any) -> Any:
    return torch.device("cpu") if _is_device(one) else one


def _swiglu(values: Any, dim: int = -1) -> Any:
    """What the operator of the device returns, by its definition."""
    gate, value = values.float().chunk(2, dim)
    return (torch.nn.functional.silu(gate) * value).to(values.dtype)


def install(seconds: float, folder: Path) -> Device:
    """Makes this process one that has a device."""
    device = Device(seconds)
    torch.utils.rename_privateuse1_backend("npu")
    properties = SimpleNamespace(
        cube_core_num=CORES, vector_core_num=2 * CORES, name="Ascend910B", total_memory=1 << 34
    )
    stream = SimpleNamespace(_as_parameter_=ctypes.c_void_p(0), npu_stream=0, synchronize=lambda: None)
    npu = MagicMock(name="torch.npu")
    npu.get_device_properties = lambda *_: properties
    npu.current_stream = lambda *_: stream
    npu.is_available = lambda: True
    npu.current_device = lambda: 0
    npu.device_count = lambda: 1
    npu.get_device_name = lambda *_: properties.name
    torch.npu = npu
    sys.modules["torch_npu"] = MagicMock(name="torch_npu", npu_swiglu=_swiglu)
    torch.Tensor.npu = lambda self, *_, **__: self.clone()
    torch.Tensor.is_npu = True
    torch.Tensor.data_ptr = lambda self: device.know(self)

    def load(path: Any, *rest: Any, **named: Any) -> Any:
        text = Path(str(path))
        if text.is_file() and text.open("rb").read(len(_HEAD)) == _HEAD.encode():
            return device.library(text.read_text().removeprefix(_HEAD).splitlines(), folder)
        return _CDLL(path, *rest, **named)

    ctypes.CDLL = load
    os.environ["PATH"] = f"{_HERE / 'cpp_host'}:{os.environ['PATH']}"
    os.environ.setdefault("ASCEND_HOME_PATH", "/nonexistent")
    os.environ.setdefault("ASCEND_TOOLKIT_HOME", "/nonexistent")
    os.environ.setdefault("PTO_LIB_PATH", "/nonexistent")
    os.environ["NPU_DEVICE"] = "npu:0"
    _OnDevice().__enter__()
    return device


__all__ = ["Device", "install"]
