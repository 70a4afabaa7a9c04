"""Launches of kernels that packages like `ptodsl` have built; the packages here are small ones of our own."""

import ctypes
import importlib
import operator
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner

from pto_dialect.integrations.builders import ir, pto
from pto_dialect.integrations.builders.dialects import func
from pto_dialect.integrations.builders.ir import conventions
from pto_dialect.integrations.builders.launch import importing, install, pointers, saved
from pto_dialect.integrations.builders.launch.kernels import Launched as LaunchedKernel
from pto_dialect.integrations.builders.launch.texts import located_text
from pto_dialect.integrations.events import Event, Launched, instrumented, observed
from pto_dialect.integrations.sanitized import sanitized
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.sanitize.options import SanitizeOptions
from tools.pto_run import main as run

SCALE = """
module attributes {pto.target_arch = "a5"} {
  func.func @scale(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %s: f32) attributes {pto.entry} {
    %block = pto.get_block_idx
    %at = arith.index_cast %block : i64 to index
    %0 = pto.load_scalar %x[%at] : !pto.ptr<f32> -> f32
    %1 = arith.mulf %0, %s : f32
    pto.store_scalar %1, %y[%at] : !pto.ptr<f32>, f32
    return
  }
}
"""
HANDLES = '''
import ctypes
from types import SimpleNamespace

TEXT = """{text}"""

class Compiled:
    _module_spec = SimpleNamespace(function_name="scale", target_arch="a5", mode="auto", insert_sync=None)
    _kernel_signature = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_float)
    def mlir_module(self):
        return object()
    def mlir_text(self):
        return TEXT

def _marshal_launch_args(signature, args):
    if len(args) != len(signature):
        raise TypeError(f"expected {{len(signature)}} launch argument(s), got {{len(args)}}")
    return [v if isinstance(v, ctypes.c_void_p) else kind(v) for kind, v in zip(signature, args)]

class LaunchHandle:
    def __init__(self, compiled, grid, stream):
        self._compiled, self._grid, self._stream = compiled, grid, stream
    def __call__(self, *args):
        raise RuntimeError("command failed: ptoas")
'''
WRAPPER = '''
import ctypes
from pathlib import Path

TEXT = """{text}"""

def to_ir_module(meta_data):
    return lambda fn: TEXT

class JitWrapper:
    _enable_insert_sync, _npu_arch, _lib, _compiled, _meta_data = True, "dav-c310", None, False, None
    def __init__(self, fn, folder):
        self._fn, self._output_dir = fn, folder
    def _resolve_runtime_arg_types(self):
        return ["ptr", "ptr", "f32"]
    def _artifact_paths(self):
        return (self._output_dir / "kernel.pto",)
    def _build(self):
        raise RuntimeError("bisheng")
    def __call__(self, *args, blocks):
        if not self._compiled:
            self._build()
        self._lib.call_kernel(ctypes.c_uint32(blocks), ctypes.c_void_p(0), *args)
'''


@pytest.fixture(autouse=True)
def own_conventions(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a package changes for its process ends with the test."""
    monkeypatch.setattr(conventions, "mlir_names", False)
    monkeypatch.setattr(conventions, "plain_types", False)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for packages to import, whose modules are forgotten afterwards."""
    before = dict(sys.modules)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - set(before):
        if name.partition(".")[0] in {"ptodsl", "torch_npu"}:
            del sys.modules[name]


def add_module(folder: Path, name: str, text: str) -> ModuleType:
    """The module ``name`` below ``folder``, imported."""
    path = folder.joinpath(*name.split(".")).with_suffix(".py")
    path.parent.mkdir(parents=True)
    for parent in path.relative_to(folder).parents[:-1]:
        (folder / parent / "__init__.py").touch()
    path.write_text(text.format(text=SCALE))
    return importlib.import_module(name)


@pytest.fixture
def handles(packages: Path) -> ModuleType:
    """A package like PTODSL."""
    install()
    return add_module(packages, "ptodsl._runtime.launch", HANDLES)


def launch(handles: ModuleType, x: Any, y: Any, s: Any, grid: int = 3) -> None:
    """Launches the kernel of ``handles``."""
    handles.LaunchHandle(handles.Compiled(), grid, None)(x, y, s)


def test_kernel_runs_on_arrays_with_one_block_for_each_of_grid(handles: ModuleType) -> None:
    x, y = np.array([1, 2, 3, 4], np.float32), np.zeros(4, np.float32)
    launch(handles, x, y, 2.0)
    assert y.tolist() == [2, 4, 6, 0]


def test_numbers_of_ml_dtypes_are_numbers_of_python(handles: ModuleType) -> None:
    x, y = np.array([1, 2, 3, 4], np.float32), np.zeros(4, np.float32)
    launch(handles, x, y, ml_dtypes.bfloat16(1.5))
    assert y.tolist() == [1.5, 3, 4.5, 0]
    with pointers.addresses([ml_dtypes.int4(-3), np.int8(5)], [None, None]) as numbers:
        assert list(map(operator.index, numbers)) == [-3, 5]


def test_pointer_is_an_address_inside_an_array(handles: ModuleType) -> None:
    x, y = np.array([1, 2, 3, 4], np.float32), np.zeros(8, np.float32)
    launch(handles, pointers.pointer(x), ctypes.c_void_p(pointers.pointer(y) + 8), 2.0)
    assert y.tolist() == [0, 0, 2, 4, 6, 0, 0, 0]


def test_address_of_no_array_is_refused(handles: ModuleType) -> None:
    y = np.zeros(4, np.float32)
    with pytest.raises(BindingError, match="no tensor of this process has the address 0x10;"):
        launch(handles, ctypes.c_void_p(16), y, 2.0)


def test_address_of_an_array_that_was_removed_is_refused(handles: ModuleType) -> None:
    x, y = np.zeros(4, np.float32), np.zeros(4, np.float32)
    address = pointers.pointer(x)
    del x
    with pytest.raises(BindingError, match=f"no tensor of this process has the address {address:#x};"):
        launch(handles, ctypes.c_void_p(address), y, 2.0)


def test_array_with_gaps_is_refused(handles: ModuleType) -> None:
    with pytest.raises(BindingError, match="argument x is not contiguous"):
        launch(handles, np.zeros(8, np.float32)[::2], np.zeros(4, np.float32), 2.0)


def test_array_of_floats_of_another_size_is_refused(handles: ModuleType) -> None:
    with pytest.raises(BindingError, match="argument x needs elements of f32, found an array of float64"):
        launch(handles, np.zeros(4), np.zeros(4, np.float32), 2.0)
    # The bits of elements are elements.
    bits, y = np.full(4, 0x3F800000, np.uint32), np.zeros(4, np.float32)
    launch(handles, bits, y, 2.0)
    assert y.tolist() == [2, 2, 2, 0]


def test_array_that_cannot_be_written_is_refused(handles: ModuleType) -> None:
    y = np.zeros(4, np.float32)
    y.flags.writeable = False
    with pytest.raises(BindingError, match="argument y is not writable"):
        launch(handles, np.zeros(4, np.float32), y, 2.0)


def test_more_blocks_than_a_chip_launches_are_refused(handles: ModuleType) -> None:
    x = np.zeros(4, np.float32)
    with pytest.raises(BindingError, match="a launch has at most 65535 blocks, found 1000000000"):
        launch(handles, x, x.copy(), 2.0, grid=10**9)


def test_arguments_are_called_as_in_python(tmp_path: Path) -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        pointer = pto.PtrType.get(ir.F32Type.get())
        with ir.InsertionPoint(module.body):
            kernel = func.FuncOp("keep", ([pointer, pointer], []))
        with ir.InsertionPoint(kernel.add_entry_block()):
            func.ReturnOp([])
    text = located_text(module, "keep", ["source", "target"])
    assert text is not None and "@keep(%source: !pto.ptr<f32, gm>, %target: !pto.ptr<f32, gm>)" in text
    assert "source" not in str(module)
    found = LaunchedKernel(text, "keep", "keep.pto", None, True).pointers
    assert [one and (one.name, one.elements.name) for one in found] == [("source", "f32"), ("target", "f32")]


def test_marshalling_of_the_package_refuses_a_wrong_number_of_arguments(handles: ModuleType) -> None:
    with pytest.raises(TypeError, match=r"expected 3 launch argument\(s\), got 1"):
        handles.LaunchHandle(handles.Compiled(), 1, None)(np.zeros(4, np.float32))


def test_tensor_on_a_device_is_refused(handles: ModuleType) -> None:
    tensor = SimpleNamespace(device=SimpleNamespace(type="npu", __str__=lambda: "npu"), untyped_storage=None)
    with pytest.raises(BindingError, match="tensors have to be in the memory of the host, found one on "):
        launch(handles, tensor, np.zeros(4, np.float32), 2.0)


def test_array_of_one_element_is_a_number(packages: Path) -> None:
    x, y = np.array([1, 2], np.float32), np.zeros(2, np.float32)
    LaunchedKernel(SCALE, "scale", "scale.pto", None, True)(2, [x, y, np.array([4.0], np.float32)])
    assert y.tolist() == [4, 8]


def test_wrong_number_of_arguments_is_a_type_error(packages: Path) -> None:
    with pytest.raises(TypeError, match="@scale has 3 arguments, the launch has 1"):
        LaunchedKernel(SCALE, "scale", "scale.pto", None, True)(2, [1])


def test_null_pointer_has_no_memory(handles: ModuleType) -> None:
    x = np.ones(4, np.float32)
    with pytest.raises(ProgramError, match="outside"):
        launch(handles, x, ctypes.c_void_p(0), 2.0)


def test_launches_are_sanitized_on_request(handles: ModuleType) -> None:
    x, y = np.ones(2, np.float32), np.zeros(4, np.float32)
    events: list[Event] = []
    with instrumented(SanitizeOptions()), observed(events.append):
        launch(handles, x, y, 2.0)
    rules = [found.rule for event in events if isinstance(event, Launched) for found in event.findings]
    assert "mem-oob" in rules


def test_package_that_is_imported_already_is_changed(packages: Path) -> None:
    module = add_module(packages, "ptodsl._runtime.launch", HANDLES)
    install()
    x, y = np.array([5], np.float32), np.zeros(1, np.float32)
    launch(module, x, y, 2.0, grid=1)
    assert y.tolist() == [10]


def test_loader_of_a_changed_module_is_its_own(handles: ModuleType) -> None:
    assert type(handles.__loader__).__name__ == "SourceFileLoader"
    assert handles.__spec__ is not None and handles.__spec__.loader is handles.__loader__


def test_install_twice_adds_one_finder(packages: Path) -> None:
    install()
    install()
    assert sum(isinstance(finder, importing._Finder) for finder in sys.meta_path) == 1


def test_wrapper_of_huawei_csl_builds_and_launches(packages: Path) -> None:
    install()
    module = add_module(packages, "ptodsl.compiler.jit", WRAPPER)

    def scale(x: Any, y: Any, s: Any) -> None:
        """Only its name counts."""

    kernel = module.JitWrapper(scale, packages / "out")
    x, y = np.array([1, 2, 3, 4], np.float32), np.zeros(4, np.float32)
    kernel(x, y, 3.0, blocks=2)
    assert y.tolist() == [3, 6, 0, 0]
    assert (packages / "out" / "kernel.pto").read_text() == SCALE + "\n"


_STORE = "pto.store_scalar %1, %y[%at] : !pto.ptr<f32>, f32"
LOCATED = SCALE.replace(_STORE, f"{_STORE} loc(FILE:2:3)")


def located(folder: Path) -> LaunchedKernel:
    """A kernel whose store comes from a line of a Python file."""
    (folder / "model.py").write_text("def kernel(x, y, s):\n  y[at] = x[at] * s\n")
    text = LOCATED.replace("FILE", f'"{folder / "model.py"}"')
    return LaunchedKernel(text, "scale", "scale.pto", None, True)


def test_findings_show_the_python_line_and_then_the_statement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = located(tmp_path)
    with pytest.raises(SystemExit) as end, sanitized("bounds"):
        kernel(2, [np.ones(2, np.float32), np.zeros(1, np.float32), 2.0])
    shown = capsys.readouterr().err
    assert end.value.code == 3
    assert f"{tmp_path / 'model.py'}:2:3: error: " in shown and "  y[at] = x[at] * s\n" in shown
    assert "scale.pto:8:5: note: the statement of the program" in shown
    assert shown.endswith("pto-dialect: the sanitizers report 1 errors\n")


def test_saved_launch_runs_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved, "_folder", [])
    saved.save_launches(str(tmp_path / "out"))
    x, y = np.array([1, 2], np.float32), np.zeros(2, np.float32)
    located(tmp_path)(2, [x, y, 3.0])
    located(tmp_path)(2, [x, y, 4.0])
    folder = tmp_path / "out" / "scale-1"
    assert sorted(path.name for path in folder.iterdir()) == [
        "argument0.bin", "argument1.bin", "kernel.pto", "model.py", "run.launch.toml",
    ]  # fmt: skip
    assert 'loc("model.py":2:3)' in (folder / "kernel.pto").read_text()
    told = CliRunner().invoke(run, [str(folder / "run.launch.toml")])
    assert (told.exit_code, "[3. 6.]" in told.stdout) == (0, True), told.output
    assert (tmp_path / "out" / "scale-2").is_dir()
