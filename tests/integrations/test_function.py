"""Programs as Python functions, and the interface of clients below them."""

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sanitize_programs import load, program, set_flag, store, ub, wait_flag

from pto_dialect.api import ParseError, VerifyError
from pto_dialect.integrations.base import Device
from pto_dialect.integrations.events import Compiled, Event, Launched, instrumented, observed, watching
from pto_dialect.integrations.function import jit
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.run.kernel import Started
from pto_dialect.sanitize.instrument.core import InstrumentedCore
from pto_dialect.sanitize.launch import InstrumentedKernel, instrumented_cores
from pto_dialect.sanitize.options import SanitizeOptions

SCALE = """
func.func @scale(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %s: f32) {
  %block = pto.get_block_idx
  %at = arith.index_cast %block : i64 to index
  %0 = pto.load_scalar %x[%at] : !pto.ptr<f32> -> f32
  %1 = arith.mulf %0, %s : f32
  pto.store_scalar %1, %y[%at] : !pto.ptr<f32>, f32
  return
}
func.func @other() {
  return
}
"""
RACE = program(ub("x", 0), load("%x"), set_flag("MTE2", "V"), wait_flag("MTE2", "V"), store("%x"))


def test_body_makes_the_arguments() -> None:
    @jit(SCALE, "scale", returns="y", blocks=lambda x, **_: x.size)
    def scale(x: np.ndarray, s: float = 2.0) -> dict[str, object]:
        """Times s."""
        return {"x": x, "y": np.zeros_like(x), "s": s}

    x = np.array([1, 2, 3], np.float32)
    assert scale(x).tolist() == [2, 4, 6]
    assert scale(x, s=3).tolist() == [3, 6, 9]
    assert scale.__doc__ == "Times s."


def test_a_result_that_is_no_argument_is_refused_before_the_launch() -> None:
    @jit(SCALE, "scale", returns=("y", "z"))
    def scale(x: np.ndarray, y: np.ndarray, s: float = 0.5) -> None: ...

    y = np.zeros(1, np.float32)
    with pytest.raises(BindingError, match="scale: returns names z, which is none of x, y, s"):
        scale(np.ones(1, np.float32), y)
    assert y.tolist() == [0]


def test_a_long_list_is_no_array() -> None:
    @jit(SCALE, "scale", returns="y")
    def scale(x: list[float], y: np.ndarray, s: float = 0.5) -> None: ...

    with pytest.raises(BindingError, match=r"argument x .* needs an array, found \[0, 1, 2, 3, 4, 5, \.\.\.\]"):
        scale(list(range(1000)), np.zeros(1000, np.float32))


def test_function_without_a_body_takes_the_arguments() -> None:
    @jit(SCALE, "scale", returns=("y", "x"), blocks=2)
    def scale(x: np.ndarray, y: np.ndarray, s: float = 0.5) -> None: ...

    x, y = np.array([2, 4], np.float32), np.zeros(2, np.float32)
    results = scale(x, y)
    assert results[0] is y
    assert results[1] is x
    assert y.tolist() == [1, 2]


def test_program_in_a_file_beside_the_function(tmp_path: Path) -> None:
    (tmp_path / "scale.pto").write_text(SCALE)
    (tmp_path / "mine.py").write_text(
        'from pto_dialect.integrations.function import jit\n@jit("scale.pto", "scale")\ndef scale(x, y, s): ...\n'
    )
    names: dict[str, object] = {}
    exec(compile((tmp_path / "mine.py").read_text(), str(tmp_path / "mine.py"), "exec"), names)
    y = np.zeros(1, np.float32)
    scale = names["scale"]
    assert callable(scale)
    assert scale(np.ones(1, np.float32), y, 4.0) is None
    assert y.tolist() == [4]


def test_wrong_arguments() -> None:
    @jit(SCALE, "scale")
    def scale(x: np.ndarray, z: np.ndarray) -> None: ...

    with pytest.raises(BindingError, match="argument y is missing, argument s is missing, there is no argument z"):
        scale(np.ones(1, np.float32), np.ones(1, np.float32))

    @jit(SCALE, "scale")
    def wrong() -> Any:
        return 3

    with pytest.raises(TypeError, match="returns the kernel's arguments by name or None, not 3"):
        wrong()


def test_wrong_programs() -> None:
    device = Device("test", "a5")
    with pytest.raises(ParseError):
        device.compile("func.func @f(")
    with pytest.raises(VerifyError):
        device.compile("func.func @f(%t: !pto.tile<2x3xf16>) {\n  pto.tmatmul %t, %t : "
                       "(!pto.tile<2x3xf16>, !pto.tile<2x3xf16>) -> !pto.tile<2x3xf32>\n  return\n}")  # fmt: skip


def test_a_program_is_compiled_once() -> None:
    device = Device("test")
    assert device.compile(SCALE, "a.pto") is device.compile(SCALE, "a.pto")
    assert device.compile(SCALE, "a.pto") is not device.compile(SCALE, "a.pto", "a5")


def test_events() -> None:
    seen: list[Event] = []
    device = Device("test", "a5")
    values = [np.ones(2, np.float32), np.zeros(2, np.float32), 1.0]
    with observed(seen.append):
        scale = device.compile(SCALE, "scale.pto")
        device.launch(scale, values, "scale", blocks=2)
        device.launch(scale, dict(zip("xys", values, strict=True)), "scale")
    device.launch(scale, values, "scale")
    compiled, first, second = seen
    assert isinstance(compiled, Compiled)
    assert isinstance(first, Launched)
    assert isinstance(second, Launched)
    assert (compiled.client, compiled.filename, compiled.target) == ("test", "scale.pto", "a5")
    assert (first.functions, first.blocks, first.findings, first.stopped) == (("scale",), 2, (), False)
    assert second.blocks == 1


def test_a_launch_that_fails_is_reported() -> None:
    seen: list[Event] = []
    device = Device("test")
    with observed(seen.append), pytest.raises(BindingError):
        device.launch(device.compile(SCALE), [1, 2, 3], "scale")
    assert isinstance(seen[-1], Launched)
    assert seen[-1].stopped


def test_sanitized_launches_have_findings() -> None:
    seen: list[Event] = []
    device = Device("test")
    racing = device.compile(RACE, "race.pto")
    buffers = [np.ones(64, np.float32), np.zeros(64, np.float32)]
    options = SanitizeOptions()
    with observed(seen.append), instrumented(options):
        assert watching() is options
        device.launch(racing, buffers)
        device.launch(racing, buffers)
    assert watching() is None
    device.launch(racing, buffers)
    first, second = (event for event in seen if isinstance(event, Launched))
    assert [found.rule for found in first.findings] == ["race-raw"]
    assert [found.rule for found in second.findings] == ["race-raw"]


def test_sanitized_launches_free_all_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[weakref.ref[InstrumentedCore]] = []
    start = InstrumentedKernel.start

    def noted(*arguments: Any) -> Started:
        started = start(*arguments)
        ran.extend(weakref.ref(core) for core in instrumented_cores(started))
        return started

    monkeypatch.setattr(InstrumentedKernel, "start", noted)
    device = Device("test")
    racing = device.compile(RACE, "race.pto")
    with instrumented(SanitizeOptions()):
        for _ in range(3):
            device.launch(racing, [np.ones(64, np.float32), np.zeros(64, np.float32)])
    gc.collect()
    assert len(ran) >= 3
    assert not [core for one in ran if (core := one()) is not None]
    assert [len(kernel.observer.log.count) for kernel in racing.kernels if isinstance(kernel, InstrumentedKernel)] == [
        1
    ]
