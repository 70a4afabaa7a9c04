"""What PyPTO calls and imports: the assembler, object files, types of the run time, modules."""

from __future__ import annotations

import ctypes
import inspect
import os
import struct
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from pypto_programs import SCALE
from sanitize_programs import load, program, set_flag, store, ub, wait_flag
from xdsl.dialects.builtin import IndexType, IntegerType, bf16, f16, f32

from pto_dialect.api import ParseError
from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.render import render_text
from pto_dialect.diagnostics.source import Span
from pto_dialect.integrations.pypto import assembler, platform
from pto_dialect.integrations.pypto.interface import (
    CallConfig,
    CoreCallable,
    DataType,
    TaskArgs,
    Tensor,
    scalar_to_uint64,
    torch_dtype_to_datatype,
)
from pto_dialect.integrations.pypto.objects import packed, unpacked
from pto_dialect.integrations.pypto.tasks import Access, Call, Task, decode, number
from pto_dialect.ir.core.location import span_of


def text_section(data: bytes) -> bytes:
    """The text section of an ELF file, found by its name."""
    sections, count, names = (
        struct.unpack_from(form, data, at)[0] for form, at in (("<Q", 40), ("<H", 60), ("<H", 62))
    )
    rows = [struct.unpack_from("<IIQQQQ", data, sections + 64 * index) for index in range(count)]
    strings = data[rows[names][4] : rows[names][4] + rows[names][5]]
    found = [row for row in rows if strings[row[0] :].split(b"\0")[0] == b".text"]
    assert len(found) == 1
    return data[found[0][4] : found[0][4] + found[0][5]]


def test_object_files_have_a_text_section() -> None:
    text = "int x; // größer\n"
    assert text_section(packed(text)) == text.encode()
    assert unpacked(packed(text)) == text
    assert unpacked(text_section(packed(text))) == text


def test_program_travels_in_the_text(tmp_path: Path) -> None:
    (tmp_path / "k.pto").write_text(SCALE)
    assembler.assemble(str(tmp_path / "k.pto"), str(tmp_path / "k.cpp"), ["--pto-level=level3", "--pto-arch=a3"])
    code = (tmp_path / "k.cpp").read_text()
    (found,) = assembler.embedded_in(code)
    assert (found.path, found.target, found.text) == (str(tmp_path / "k.pto"), "a2a3", SCALE)
    assert f"AICORE void scale(A... a) {{ pto_note({found.number}ull, 0, a...); }}" in code


def test_wrong_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = SCALE.replace(
        "pto.load_scalar %x[%j] : !pto.ptr<f32> -> f32", "pto.load_scalar %x[%j] : !pto.ptr<f32> -> f16"
    )
    (tmp_path / "k.pto").write_text(wrong)
    with pytest.raises(ParseError, match="%v has type f16"):
        assembler.assemble(str(tmp_path / "k.pto"), str(tmp_path / "k.cpp"))
    assert not (tmp_path / "k.cpp").exists()
    assert assembler.main([str(tmp_path / "k.pto"), "-o", str(tmp_path / "k.cpp")]) == 1
    assert "k.pto:" in capsys.readouterr().err
    assert assembler.main([str(tmp_path / "none.pto"), "-o", "x"]) == 1
    assert assembler.main(["x"]) == 2
    assert assembler.main(["--version"]) == 0


def test_target_of_flags() -> None:
    assert assembler.target_of(["--enable-insert-sync", "--pto-arch=a5"]) == "a5"
    assert assembler.target_of(["--pto-arch=a3"]) == "a2a3"
    assert assembler.target_of(["--pto-arch", "a3", "--x"]) == "a2a3"
    assert assembler.target_of(["--enable-insert-sync"]) is None


def test_assembler_as_a_program(tmp_path: Path) -> None:
    (tmp_path / "k.pto").write_text(SCALE)
    command = [f"{platform._assembler_folder()}/ptoas", str(tmp_path / "k.pto"), "-o", str(tmp_path / "k.cpp")]
    assert subprocess.run(command, timeout=300).returncode == 0
    assert "AICORE void scale" in (tmp_path / "k.cpp").read_text()


@pytest.mark.parametrize(
    ("word", "type_", "value"),
    [
        (5, IndexType(), 5),
        ((1 << 64) - 2, IndexType(), -2),
        (0xFFFFFFFF, IntegerType(32), -1),
        (0x1_0000_0007, IntegerType(32), 7),
        (1, IntegerType(1), True),
        (struct.unpack("<I", struct.pack("<f", 1.25))[0], f32, 1.25),
        (int(np.float16(-2.5).view(np.uint16)), f16, -2.5),
        (0x4040, bf16, 3.0),
    ],
)
def test_numbers(word: int, type_: object, value: object) -> None:
    assert number(word, type_) == value  # pyright: ignore[reportArgumentType]


def test_terms_of_a_task() -> None:
    words = [3, 1, 2, 1, 1, 4, 1000, 64, 2, 0x000, 11, 0, 1, 7, 0x101, 11, 1, 2, 8, 9]
    calls = [Call(0, 0, 11, 0, [7]), Call(1, 1, 11, 1, [8, 9])]
    assert decode(words) == Task(3, [2], [Access(4, 1000, 64)], 2, calls, manual=True)


def test_scalars_as_bits() -> None:
    assert scalar_to_uint64(ctypes.c_float(1.0)) == 0x3F800000
    assert scalar_to_uint64(1.0) == 0x3F800000
    assert scalar_to_uint64(ctypes.c_int32(-1)) == 0xFFFFFFFF
    assert scalar_to_uint64(-1) == (1 << 64) - 1


def test_types() -> None:
    assert torch_dtype_to_datatype("torch.bfloat16") is DataType.BFLOAT16
    with pytest.raises(KeyError):
        torch_dtype_to_datatype("torch.complex64")
    tensor = Tensor.make(4096, [2, 3], DataType.FLOAT16)
    assert (tensor.address, tensor.shapes, tensor.nbytes) == (4096, (2, 3), 12)
    args = TaskArgs()
    args.add_tensor(tensor)
    args.add_scalar(-1)
    assert (args.tensor_count(), args.scalar_count(), args.scalars) == (1, 1, [(1 << 64) - 1])
    assert CoreCallable.build([1], packed("x")).text == "x"
    CallConfig(enable_pmu=2).validate()


def test_modules_are_those_that_are_imported(tmp_path: Path) -> None:
    modules = platform.modules()
    assert modules["simpler.task_interface"].DataType is DataType
    assert modules["simpler_setup"].__path__ == []
    compiler = modules["simpler_setup"].KernelCompiler(platform="a5")
    source = tmp_path / "k.cpp"
    (tmp_path / "k.pto").write_text(SCALE)
    assembler.assemble(str(tmp_path / "k.pto"), str(source))
    assert unpacked(compiler.compile_incore(str(source), core_type="aiv")) == source.read_text()
    assert unpacked(compiler.compile_orchestration("runtime", str(source))) == source.read_text()
    # Programs add `include` below this root to the folders of kernels that are C++ themselves.
    assert (Path(modules["simpler_setup.pto_isa"].ensure_pto_isa_root()) / "include").is_dir()
    levels = modules["simpler_setup.log_config"].parse_level
    assert [levels(name) for name in ("debug", "timing", "null", 7)] == [10, 25, 100, 7]


def test_tools_for_measurements_of_boards_say_what_to_use(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, module in platform.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    with pytest.raises(ImportError, match=r"times of launches on a board.*`pto run --cycles` estimates"):
        exec("from simpler_setup.tools import strace_timing")
    # PyPTO continues without the others, and looks for them in these two ways.
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'simpler_setup\.tools\.swimlane_converter'"):
        exec("from simpler_setup.tools.swimlane_converter import load_kernel_config")
    assert find_spec("simpler_setup.tools.swimlane_converter") is None
    with pytest.raises(ImportError, match="cannot import name 'deps_viewer'"):
        exec("from simpler_setup.tools import deps_viewer")


def test_without_pypto_the_error_is_one_line(tmp_path: Path) -> None:
    code = "import pto_dialect.integrations.pypto.use"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    if done.returncode == 0:
        pytest.skip("PyPTO is installed")
    assert "No module named 'pypto'; docs/pypto.md has the commands" in done.stderr.splitlines()[-1]


def test_another_project_of_its_name_is_reported(tmp_path: Path) -> None:
    (tmp_path / "pypto").mkdir()
    (tmp_path / "pypto" / "__init__.py").touch()
    code = "import sys\ntry: import pto_dialect.integrations.pypto.use\nfinally: print('simpler' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    assert f"the package pypto in {tmp_path / 'pypto'} is another project" in done.stderr.splitlines()[-1]
    assert done.stdout == "False\n"


PROGRAM = """
import sys
import numpy as np
from pto_dialect.integrations.function import jit
import pypto.backend.pto_backend as backend

@jit(TEXT)
def racing(a, b): ...

racing(np.ones(64, np.float32), np.zeros(64, np.float32))
print(sys.argv[1:], __name__, backend._run_ptoas.__module__)
"""


def test_command_runs_a_program_of_pypto(tmp_path: Path) -> None:
    """With its arguments, with what replaces the assembler, and under the sanitizers."""
    backend = tmp_path / "pypto" / "backend"
    backend.mkdir(parents=True)
    for path in (tmp_path / "pypto" / "__init__.py", backend / "__init__.py"):
        path.touch()
    (backend / "pto_backend.py").write_text("def _run_ptoas(*arguments): ...\n")
    race = program(ub("x", 0), load("%x"), set_flag("MTE2", "V"), wait_flag("MTE2", "V"), store("%x"))
    script = tmp_path / "model.py"
    script.write_text(f"TEXT = {race!r}\n{PROGRAM}")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}

    def run(*words: str) -> tuple[int, str, str]:
        command = [sys.executable, "-m", "pto_dialect.integrations.pypto", *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout, done.stderr

    out = "['-p', 'a5'] __main__ pto_dialect.integrations.pypto.platform\n"
    assert run(str(script), "-p", "a5") == (0, out, "")
    code, printed, told = run("--sanitize", "model.py", "-p", "a5")
    assert (code, printed, "[race-raw]" in told) == (3, out, True), told
    assert told.endswith("pto-dialect: the sanitizers report 1 errors\n")
    assert run("--sanitize=init", "model.py", "-p", "a5") == (0, out, "")
    assert "--sanitize: there is no check 'x'" in run("--sanitize=x", "model.py")[2]
    assert run("no.py")[2].endswith("error: there is no file 'no.py'\n")


CHIP = """
chip = None

def set_backend_type(name):
    global chip
    if chip not in (None, name):
        raise ValueError("already set")
    chip = name

def reset_for_testing():
    global chip
    chip = None
"""
"""What PyPTO has of the kind."""

CHOOSING = """
from pypto import backend

backend.set_backend_type("a2a3")

def test_a5():
    backend.set_backend_type("a5")
"""


def test_files_that_choose_a_chip_leave_the_choice_to_tests(tmp_path: Path) -> None:
    folder = tmp_path / "pypto" / "backend"
    folder.mkdir(parents=True)
    (tmp_path / "pypto" / "__init__.py").touch()
    (folder / "__init__.py").write_text(CHIP)
    (folder / "pto_backend.py").touch()
    (tmp_path / "test_it.py").write_text(CHOOSING)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "pto_dialect.integrations.pytest_plugin", "test_it.py"]
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    for option, passes in (("--pto-pypto", True), ("-q", False)):
        done = subprocess.run([*command, option], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert (done.returncode == 0) is passes, done.stdout + done.stderr


def test_findings_show_the_python_line_of_a_program_that_is_running(tmp_path: Path) -> None:
    """The statement after this text comes from the next line of this file."""
    here, line = __file__, inspect.currentframe().f_lineno  # pyright: ignore[reportOptionalMemberAccess]
    program = SCALE.replace(
        "%w = arith.mulf %v, %factor : f32", f'%w = arith.mulf %v, %factor : f32 loc("{here}":{line}:5)'
    )
    embedded = assembler.Embedded(7, str(tmp_path / "k.pto"), None, program)
    (source,) = {span.source for op in assembler.program_of(embedded).module.walk() if (span := span_of(op))}
    start = program.index("%w = arith.mulf")
    text = render_text([Diagnostic("race-raw", Severity.ERROR, "wrong", Span(source, start, start + 3))])
    assert text.splitlines()[0].startswith(f"{here}:{line}:5: error: wrong")
    assert text.splitlines()[1].strip().startswith("here, line = __file__")
