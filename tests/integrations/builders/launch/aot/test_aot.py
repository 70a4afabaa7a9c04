"""Kernels compiled ahead of time: `ptoas`, `bisheng` and `ctypes.CDLL` of this package."""

import ctypes
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pto_dialect.integrations.builders.launch.aot import assemble, library, link
from pto_dialect.integrations.builders.launch.pointers import pointer

SCALE = """
func.func @scale(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %s: i32) {
  %block = pto.get_block_idx
  %at = arith.index_cast %block : i64 to index
  %0 = pto.load_scalar %x[%at] : !pto.ptr<f32> -> f32
  %f = arith.sitofp %s : i32 to f32
  %1 = arith.mulf %0, %f : f32
  pto.store_scalar %1, %y[%at] : !pto.ptr<f32>, f32
  return
}
"""
CALLER = """
#ifndef KERNEL
#define KERNEL scale
#endif
#ifndef TEXT
#define TEXT "scale.cpp"
#endif
#include <cstdint>
#include TEXT
// extern "C" void not_this(int a) { KERNEL<<<1, nullptr, 0>>>(a); }
extern "C" void call_kernel(
    uint32_t blockDim, void *stream, uint8_t *x, uint8_t *y, int32_t s)
{
    void *unused = nullptr;
    KERNEL<<<blockDim * 2, nullptr, stream>>>(
        reinterpret_cast<float *>(x), (__gm__ float *)y, s);
}
"""


def built(folder: Path, *options: str) -> Path:
    """The library of the kernel in ``folder``."""
    (folder / "scale.pto").write_text(SCALE)
    (folder / "caller.cpp").write_text(CALLER)
    assembled = ["--enable-insert-sync", "--pto-arch=a5", str(folder / "scale.pto"), "-o", str(folder / "scale.cpp")]
    with pytest.raises(SystemExit) as end:
        assemble.main(assembled)
    assert end.value.code == 0
    path = folder / "scale_lib.so"
    link.main(["-xcce", "-mllvm", "-cce-x", *options, str(folder / "caller.cpp"), "-o", str(path)])
    return path


def test_library_launches_its_kernel(tmp_path: Path) -> None:
    loaded = library.load(built(tmp_path))
    assert loaded is not None
    call = loaded.call_kernel
    call.argtypes, call.restype = [ctypes.c_uint32], None
    x, y = np.array([1, 2, 3, 4], np.float32), np.zeros(4, np.float32)
    call(ctypes.c_uint32(2), None, ctypes.c_void_p(pointer(x)), pointer(y), 3)
    assert y.tolist() == [3, 6, 9, 12]
    with pytest.raises(TypeError, match=r"call_kernel\(\) takes 5 arguments, found 1"):
        call(1)
    with pytest.raises(AttributeError, match=r"scale_lib\.so: undefined symbol: other"):
        _ = loaded.other


def test_program_states_its_chip_and_order(tmp_path: Path) -> None:
    built(tmp_path)
    (found,) = assemble.programs_in((tmp_path / "scale.cpp").read_text())
    assert found == (str(tmp_path / "scale.pto"), SCALE, "a5", True)


def test_definitions_of_the_command_come_before_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "other.cpp").write_text(assemble.Assembled("other.pto", SCALE, None, False).line)
    path = built(tmp_path, "-DKERNEL=other", '-DTEXT="other.cpp"')
    found = link.read_library(path.read_text())
    assert found is not None
    assert (found.functions["call_kernel"].kernel, found.programs[0].file) == ("other", "other.pto")
    assert list(found.functions) == ["call_kernel"]
    assert found.functions["call_kernel"].arguments == ["x", "y", "s"]


def test_expression_that_is_no_parameter_is_null(tmp_path: Path) -> None:
    (tmp_path / "scale.cpp").write_text(assemble.Assembled("scale.pto", SCALE, None, False).line)
    text = CALLER.replace("(__gm__ float *)y", "(float *)unused").replace("blockDim * 2", "24")
    (tmp_path / "caller.cpp").write_text(text)
    found = link.link(tmp_path / "caller.cpp", {})
    assert found.functions["call_kernel"][2:] == ("24", ["x", "0", "s"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'extern "C" void f() { k<<<1, nullptr, 0>>>(); }',
            "includes no program of ptoas; C++ kernels run with pto run",
        ),
        ('#include "scale.cpp"', 'has no extern "C" function with a launch <<<..>>>'),
    ],
)
def test_file_that_cannot_be_linked_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "scale.cpp").write_text(assemble.Assembled("scale.pto", SCALE, None, False).line)
    (tmp_path / "caller.cpp").write_text(text)
    with pytest.raises(SystemExit, match="bisheng of pto-dialect: error: ") as end:
        link.main([str(tmp_path / "caller.cpp"), "-o", str(tmp_path / "lib.so")])
    assert message in str(end.value) and not (tmp_path / "lib.so").exists()


def test_incorrect_program_is_not_assembled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.pto").write_text("func.func @f() {\n  %0 = pto.nothing\n  return\n}\n")
    with pytest.raises(SystemExit) as end:
        assemble.main([str(tmp_path / "bad.pto"), "-o", str(tmp_path / "bad.cpp")])
    assert end.value.code == 1 and "bad.pto:2:8: error: " in capsys.readouterr().err
    assert not (tmp_path / "bad.cpp").exists()


def test_other_files_are_no_libraries(tmp_path: Path) -> None:
    (tmp_path / "a.so").write_bytes(b"\x7fELF")
    assert library.load(tmp_path / "a.so") is library.load(tmp_path / "none.so") is library.load(None) is None


def test_loader_takes_both_kinds_of_libraries(tmp_path: Path) -> None:
    loader: Any = SimpleNamespace(CDLL=ctypes.CDLL, cdll=SimpleNamespace(_dlltype=ctypes.CDLL))
    library.change(loader)
    assert type(loader.CDLL(str(built(tmp_path)))).__name__ == "LoadedLibrary"
    assert isinstance(loader.CDLL(None), ctypes.CDLL)


@pytest.mark.skipif(sys.platform == "win32", reason="the commands are shell scripts")
def test_commands_are_offered_where_none_are_installed(tmp_path: Path) -> None:
    (tmp_path / "k.pto").write_text(SCALE)
    program = (
        "import subprocess, sys\nfrom pto_dialect.integrations.builders.launch import install\ninstall()\n"
        "sys.exit(subprocess.run(['ptoas', 'k.pto'], check=False).returncode)"
    )
    env = {"PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout.startswith(assemble.MARK)) == (0, True), done.stderr
