"""The stand-in for `torch_npu`. It changes PyTorch, so each program has a process of its own."""

import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")

HEAD = """
from pto_dialect.integrations.builders.launch import install
install()
import torch, torch_npu
from pto_dialect.integrations.builders.launch.pointers import memory
"""


def output_of(program: str) -> list[str]:
    """The lines that a program prints."""
    text = HEAD + textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning:pto_dialect", "-c", text], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_tensors_of_the_device_are_copies_in_the_memory_of_the_host() -> None:
    assert output_of("""
        host = torch.ones(4)
        device = host.to("npu:0")
        other = host.npu()
        third = host.to(torch.device("npu"), torch.float32)
        for one in device, other, third:
            one.add_(1)
        back = device.cpu()
        back.zero_()
        print(host.tolist(), device.tolist(), other.tolist(), third.tolist(), device.device)
    """) == ["[1.0, 1.0, 1.0, 1.0] [2.0, 2.0, 2.0, 2.0] [2.0, 2.0, 2.0, 2.0] [2.0, 2.0, 2.0, 2.0] cpu"]


def test_factories_and_the_default_device_take_the_device() -> None:
    assert output_of("""
        print(torch.empty((2, 3), dtype=torch.float16, device="npu:0").shape)
        print(torch.full((2,), 7, device=torch.device("npu", 0)).tolist())
        print(torch.ones(1, pin_memory=True).tolist())
        torch.set_default_device("npu")
        print(torch.zeros(2).device, torch.randn(2, device="npu").shape)
    """) == ["torch.Size([2, 3])", "[7, 7]", "[1.0]", "cpu torch.Size([2])"]


def test_change_of_element_type_alone_copies_nothing() -> None:
    assert output_of("""
        x = torch.ones(2)
        print(x.to(torch.float32) is x, x.to("cpu") is x)
    """) == ["True False"]


def test_address_is_known_as_long_as_the_memory_lives() -> None:
    assert output_of("""
        x = torch.arange(8, dtype=torch.int32).to("npu")
        part = x[2:]
        address = part.data_ptr()
        del x
        print(memory.buffer_at(address).content.size)
        del part
        try:
            memory.buffer_at(address)
        except Exception as error:
            print(type(error).__name__)
    """) == ["32", "BindingError"]


def test_streams_events_and_properties() -> None:
    assert output_of("""
        torch.npu.config.allow_internal_format = False
        torch_npu.npu.set_compile_mode(jit_compile=False)
        torch.npu.set_device("npu:0")
        first, last = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
        with torch.npu.stream(torch.npu.Stream()):
            first.record()
        last.record()
        torch.npu.synchronize()
        print(type(torch.npu.current_stream()._as_parameter_).__name__, first.elapsed_time(last) > 0)
        print(torch.npu.is_available(), torch.npu.device_count(), torch.npu.get_device_properties(0).cube_core_num)
        torch.npu.manual_seed(1)
    """) == ["c_void_p True", "True 1 20"]


def test_function_that_needs_a_device_is_named() -> None:
    assert output_of("""
        try:
            torch_npu.npu_fusion_attention(1)
        except AttributeError as error:
            print(error)
        print(hasattr(torch.npu, "__path__"))
    """) == [
        "torch_npu.npu_fusion_attention needs a device: pto-dialect provides torch_npu without one, for launches",
        "False",
    ]


def test_installed_extension_is_used(tmp_path: Path) -> None:
    (tmp_path / "torch_npu.py").touch()
    assert output_of(f"""
        import sys
        from pto_dialect.integrations.builders.launch.importing import is_stand_in
        print(is_stand_in("torch_npu"))
        sys.path.insert(0, {str(tmp_path)!r})
        print(is_stand_in("torch_npu"))
    """) == ["True", "False"]
