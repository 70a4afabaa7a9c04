"""How builders are started, and which bindings they run on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = "from ptoas.mlir import ir\nfrom mlir.ir import Context\nassert Context is ir.Context\nprint(ir.__name__)\n"
OURS = "pto_dialect.integrations.builders.ir"
RUN = (sys.executable, "-m", "pto_dialect.integrations.builders")
ROOT = str(Path(__file__).parents[3])


def run(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([*variables.pop("paths", "").split(os.pathsep), ROOT]).strip(os.pathsep)
    environment = {**os.environ, "PYTHONPATH": paths, **variables}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def installed(folder: Path, text: str = "") -> Path:
    """Makes a package `ptoas` with compiled bindings, whose module `ir` has this text."""
    (folder / "ptoas" / "mlir" / "_mlir_libs").mkdir(parents=True)
    (folder / "ptoas" / "mlir" / "dialects").mkdir()
    (folder / "ptoas" / "mlir" / "dialects" / "pto.py").write_text("")
    (folder / "ptoas" / "__init__.py").write_text("")
    (folder / "ptoas" / "mlir" / "__init__.py").write_text("")
    (folder / "ptoas" / "mlir" / "ir.py").write_text(text)
    return folder


def test_module_runs_a_program_with_its_arguments(tmp_path: Path) -> None:
    script = tmp_path / "build.py"
    script.write_text(SCRIPT + "import sys\nprint(sys.argv[1:], __name__)\n")
    ended = run(*RUN, str(script), "--force", "x")
    assert ended.stdout.splitlines() == [OURS, "['--force', 'x'] __main__"]
    assert ended.stderr == "pto-dialect: this program runs on pto-dialect instead of MLIR's bindings\n"


def test_programs_that_a_program_starts_run_on_the_package_as_well(tmp_path: Path) -> None:
    (tmp_path / "inner.py").write_text(SCRIPT)
    script = tmp_path / "outer.py"
    script.write_text(f"import subprocess, sys\nsubprocess.run([sys.executable, {str(tmp_path / 'inner.py')!r}])\n")
    assert run(*RUN, "--quiet", str(script)).stdout == f"{OURS}\n"


def test_import_of_use_is_enough(tmp_path: Path) -> None:
    script = tmp_path / "build.py"
    script.write_text("import pto_dialect.integrations.builders.use\n" + SCRIPT)
    assert run(sys.executable, str(script)).stdout == f"{OURS}\n"


def test_folder_in_the_path_is_enough(tmp_path: Path) -> None:
    folder = run(*RUN, "--path").stdout.strip()
    script = tmp_path / "build.py"
    script.write_text(SCRIPT)
    assert run(sys.executable, str(script), paths=folder).stdout == f"{OURS}\n"


def test_installed_bindings_are_used_unless_forced(tmp_path: Path) -> None:
    folder = installed(tmp_path / "site", "WHO = 'installed'\n")
    script = tmp_path / "build.py"
    script.write_text("import ptoas.mlir.ir as ir\nprint(getattr(ir, 'WHO', 'ours'))\n")
    found = run(*RUN, str(script), paths=str(folder))
    assert found.stdout == "installed\n" and f"the installed bindings in {folder}" in found.stderr
    assert run(*RUN, "--force", "--quiet", str(script), paths=str(folder)).stdout == "ours\n"


def test_installed_bindings_that_do_not_start_are_replaced(tmp_path: Path) -> None:
    folder = installed(tmp_path / "site", "raise ImportError('libLLVM.so is missing')\n")
    script = tmp_path / "build.py"
    script.write_text(SCRIPT)
    found = run(*RUN, str(script), paths=str(folder))
    assert found.stdout == f"{OURS}\n" and "do not start: libLLVM.so is missing" in found.stderr


def test_pytest_option_and_variable(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(f"from ptoas.mlir import ir\ndef test(): assert ir.__name__ == {OURS!r}\n")
    command = (sys.executable, "-m", "pytest", "-q", str(tmp_path))
    for ended in (run(*command, "--pto-builders"), run(*command, PTO_BUILDERS="1")):
        assert ended.returncode == 0, ended.stdout + ended.stderr


def test_missing_file_is_an_error_of_the_command() -> None:
    ended = run(*RUN, "missing.py")
    assert ended.returncode == 2 and "there is no file 'missing.py'" in ended.stderr


def test_checks_are_taken_only_with_an_equals_sign(tmp_path: Path) -> None:
    script = tmp_path / "build.py"
    script.write_text("import sys\nprint(sys.argv[1:])\n")
    for options in (["--sanitize"], ["--sanitize=race,init"], ["--save", str(tmp_path / "out"), "--sanitize"]):
        ended = run(*RUN, "--quiet", *options, str(script), "--sanitize", "x")
        assert (ended.stdout, ended.stderr, ended.returncode) == ("['--sanitize', 'x']\n", "", 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sanitize=foo", __file__], "--sanitize: there is no check 'foo'; checks are "),
        (["--save", __file__, __file__], f"--save: cannot write below '{__file__}': File exists"),
        (["-c", "print(1)"], "cannot run 'print(1)': No such file or directory"),
    ],
)
def test_mistakes_of_the_command_are_one_line(options: list[str], message: str) -> None:
    ended = run(*RUN, "--quiet", *options)
    usage, told = ended.stderr.splitlines()
    assert (ended.returncode, ended.stdout, message in told) == (2, "", True), ended.stderr
    assert usage.startswith("usage: ")


@pytest.mark.parametrize("name", ["nope.mod", "nope", "os.nope", ".", "a b"])
def test_missing_module_is_reported_as_by_python(name: str) -> None:
    ended = run(*RUN, "--quiet", "-m", name)
    assert (ended.returncode, ended.stderr) == (1, f"{sys.executable}: No module named {name}\n")


def test_interrupted_program_shows_its_own_frames(tmp_path: Path) -> None:
    script = tmp_path / "build.py"
    script.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass\n")
    ended = run(*RUN, "--quiet", str(script))
    frames = [line for line in ended.stderr.splitlines() if line.startswith("  File")]
    assert ended.returncode == 130 and ended.stderr.endswith("KeyboardInterrupt\n")
    assert len(frames) == 1 and str(script) in frames[0]


def test_fault_of_a_launch_shows_the_frames_of_the_program(tmp_path: Path) -> None:
    script = tmp_path / "build.py"
    script.write_text(
        "import numpy as np\n"
        "from pto_dialect.integrations.builders.launch.kernels import Launched\n"
        "text = 'func.func @f(%x: !pto.ptr<f32>) { return }'\n"
        "Launched(text, 'f', 'f.pto', None, True)(10**9, [np.zeros(4, np.float32)])\n"
    )
    ended = run(*RUN, "--quiet", str(script))
    assert [line.strip() for line in ended.stderr.splitlines() if line.startswith("  File")] == [
        f'File "{script}", line 4, in <module>'
    ]
    assert ended.stderr.endswith("BindingError: a launch has at most 65535 blocks, found 1000000000\n")


def test_error_of_a_program_is_its_own(tmp_path: Path) -> None:
    script = tmp_path / "build.py"
    script.write_text("from mlir.dialects import pto\npto.TAddsOp\n")
    ended = run(*RUN, "--quiet", str(script))
    first, *frames, last = ended.stderr.splitlines()
    assert (ended.returncode, first) == (1, "Traceback (most recent call last):")
    assert [line.strip() for line in frames if line.startswith("  File")] == [f'File "{script}", line 2, in <module>']
    assert last.startswith("AttributeError: pto has no operation, type or enumeration 'TAddsOp'; did you mean TAddSOp")


def test_start_loads_neither_numpy_nor_the_run_time() -> None:
    code = "from pto_dialect.integrations.builders import install\ninstall(quiet=True)\nimport sys\n"
    code += "print([name for name in sys.modules if name in ('numpy', 'torch', 'pto_dialect.runtime')])\n"
    assert run(sys.executable, "-c", code).stdout == "[]\n"


@pytest.mark.parametrize("line", ["from ptoas.mlir.dialects import linalg", "import mlir.dialects.linalg"])
def test_missing_dialect_is_reported_with_those_that_exist(tmp_path: Path, line: str) -> None:
    (tmp_path / "build.py").write_text(f"{line}\n")
    ended = run(*RUN, "--quiet", str(tmp_path / "build.py"))
    dialects = "arith, builtin, cf, func, index, llvm, math, memref, scf, vector, pto"
    told = f"ModuleNotFoundError: there is no dialect 'linalg' here; there are {dialects}"
    assert ended.stderr.splitlines()[-1] == told


def test_missing_module_of_mlir_is_an_import_error(tmp_path: Path) -> None:
    (tmp_path / "build.py").write_text("try:\n  from mlir import passmanager\nexcept ImportError as e:\n  print(e)\n")
    ended = run(*RUN, "--quiet", str(tmp_path / "build.py"))
    assert ended.stdout == "there is no module 'passmanager' of mlir here; there are dialects and ir\n"


@pytest.mark.parametrize("start", [RUN, (sys.executable, "-c")])
def test_missing_ptodsl_is_one_sentence(tmp_path: Path, start: tuple[str, ...]) -> None:
    text = "import pto_dialect.integrations.builders.use\nfrom ptodsl import pto\n"
    script = tmp_path / "kernel.py"
    script.write_text(text)
    ended = run(*start, text if start[-1] == "-c" else str(script))
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: there is no package 'ptodsl': pto-dialect runs it, but")
    assert "PYTHONPATH" in last


def test_program_may_ask_for_ptodsl(tmp_path: Path) -> None:
    script = tmp_path / "kernel.py"
    script.write_text("import importlib.util\nprint(importlib.util.find_spec('ptodsl'))\n")
    ended = run(*RUN, str(script))
    assert ended.stdout == "None\n"


GATHER = """\
from ptoas.mlir.ir import Context, Location, Module

with Context(), Location.unknown():
    empty = Module.create()
    module = Module.parse(
        "func.func @f(%t: !pto.partition_tensor_view<32x32xi32>, %i: !pto.tile_buf<vec, 1x32xi32>, "
        "%d: !pto.tile_buf<vec, 32x32xi32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} { "
        "pto.mgather ins(%t, %i : !pto.partition_tensor_view<32x32xi32>, !pto.tile_buf<vec, 1x32xi32>) "
        "outs(%d : !pto.tile_buf<vec, 32x32xi32>) return }"
    )
    print(empty.operation.attributes["pto.release"], module.operation.attributes["pto.release"])
"""


def test_modules_are_made_for_a_release_of_the_reference(tmp_path: Path) -> None:
    """The newest release refuses a gather that does not state its mode."""
    script = tmp_path / "build.py"
    script.write_text(GATHER)
    newest = run(*RUN, "--quiet", str(script))
    assert newest.returncode == 1 and "pto.mgather states its coalesce mode [mgs-coalesce]" in newest.stderr
    older = run(*RUN, "--quiet", "--reference-release", "0.44", str(script))
    assert (older.returncode, older.stdout) == (0, '"0.44" "0.44"\n'), older.stderr
    unknown = run(*RUN, "--quiet", "--reference-release", "0.99", str(script))
    assert unknown.returncode == 2 and "'0.99' is no known release of the reference" in unknown.stderr
