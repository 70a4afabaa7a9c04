"""The extension of a collection of kernels for ``torch``, compiled for the device of ``cpp_device.py``.

The host functions in ``csrc/host`` are compiled as they are, but for the type of the device and for noting the memory
of tensors; each ``pto_launch_…`` function is that of the file in ``csrc/kernel`` which defines it.
"""

from __future__ import annotations

import ctypes
import importlib.util
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

HOST = Path(__file__).resolve().parent / "cpp_host"
_LAUNCHER = re.compile(r"\bvoid (pto_launch_\w+)\s*\(([^)]*)\)\s*;")
_INCLUDED = ("acl/acl.h", "torch_npu/csrc/core/npu/NPUStream.h", "torch_npu/csrc/framework/OpCommand.h")
_DATA = "return const_cast<void*>(tensor.storage().data());"
_KNOWN = (
    "void* data = const_cast<void*>(tensor.storage().data()); pto_know(data, tensor.storage().nbytes()); return data;"
)


def build(tree: Path, folder: Path, cores: int) -> Path:
    """Compiles the extension once; returns the folder of its package."""
    package = folder / "package" / "pto_kernels"
    made = package / "pto_kernels_ops.so"
    if made.exists():
        return package.parent
    package.mkdir(parents=True, exist_ok=True)
    source = folder / "host"
    source.mkdir(exist_ok=True)
    stubs = [
        '#include "device.hpp"',
        'extern "C" { void *(*pto_find)(const char *); void (*pto_know)(void *, uint64_t); }',
    ]
    stubs.append(
        'extern "C" int rtGetC2cCtrlAddr(uint64_t *address, uint32_t *size) { *address = *size = 0; return 0; }'
    )
    for file in sorted((tree / "csrc" / "host").iterdir()):
        text = file.read_text().replace("c10::DeviceType::PrivateUse1", "c10::DeviceType::CPU").replace(_DATA, _KNOWN)
        text = text.replace("at::empty_like(", "pto_empty_like(")
        (source / file.name).write_text(text)
        stubs += [_stub(match[1], match[2]) for match in _LAUNCHER.finditer(text)]
    for name in _INCLUDED:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text('#include "device.hpp"\n')
    (source / "stubs.cpp").write_text("\n".join(dict.fromkeys(stubs)))
    spec = importlib.util.find_spec("torch")
    assert spec is not None and spec.origin is not None
    root = Path(spec.origin).parent
    includes = [
        source, HOST, root / "include", root / "include/torch/csrc/api/include", sysconfig.get_paths()["include"],
    ]  # fmt: skip
    command = [
        "g++", "-std=c++20", "-O0", "-w", "-shared", "-fPIC", f"-DPTO_CORES={cores}",
        "-DTORCH_EXTENSION_NAME=pto_kernels_ops", *(f"-I{one}" for one in includes), "pybind11.cpp", "stubs.cpp",
        f"-L{root / 'lib'}", f"-Wl,-rpath,{root / 'lib'}", "-ltorch", "-ltorch_cpu", "-ltorch_python", "-lc10",
        "-o", str(made),
    ]  # fmt: skip
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        raise RuntimeError(f"the extension does not compile: {(errors or [''])[0][:300]}")
    (package / "__init__.py").write_text("import torch\nfrom .pto_kernels_ops import *\n")
    return package.parent


def _stub(name: str, parameters: str) -> str:
    listed = [one.strip() for one in parameters.split(",")]
    types = ", ".join(re.sub(r"\w+$", "", one) for one in listed)
    names = ", ".join(re.findall(r"(\w+)$", one)[0] for one in listed)
    body = f'auto *launch = reinterpret_cast<void (*)({types})>(pto_find("{name}")); if (launch) launch({names});'
    return f'extern "C" void {name}({parameters}) {{ {body} }}'


def connect(tree: Path, package: Path, device: Any, load: Any) -> None:
    """Loads the extension; ``load`` gives the library of a kernel file."""
    libraries: dict[Path, ctypes.CDLL] = {}
    texts = {file: file.read_text(errors="replace") for file in sorted((tree / "csrc" / "kernel").glob("*.cpp"))}

    def find(name: bytes) -> int:
        wanted = name.decode()
        for file, text in texts.items():
            if re.search(rf"\b{wanted}\s*\(", text):
                if file not in libraries:
                    library = load(file)
                    if library is None:
                        return 0
                    libraries[file] = library
                return ctypes.cast(getattr(libraries[file], wanted), ctypes.c_void_p).value or 0
        return 0

    def know(address: int, size: int) -> None:
        device.memories[address] = address + size

    kept = (
        ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)(find),
        ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64)(know),
    )
    library = ctypes.PyDLL(str(package / "pto_kernels" / "pto_kernels_ops.so"))
    for name, callback in zip(("pto_find", "pto_know"), kept, strict=True):
        ctypes.c_void_p.in_dll(library, name).value = ctypes.cast(callback, ctypes.c_void_p).value
    device.kept = (kept, library)
    sys.path.insert(0, str(package))


__all__ = ["build", "connect"]
