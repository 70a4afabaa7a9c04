"""The wheel: built from a clean copy, installed in an empty environment, used outside the checkout."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import pto_dialect

CHECKOUT = Path(__file__).parents[2]

EXAMPLE = "examples/gemm"
"""The directory that is copied next to the environment; the commands below run inside the copy."""

COMMANDS = (
    # command line, text that its standard output contains
    ("pto-opt --version", pto_dialect.__version__),
    ("pto-run --version", pto_dialect.__version__),
    ("pto-opt gemm.pto --verify-only", ""),
    (
        "pto-run gemm.pto --arg a=ones:f16:256x512 --arg b=ones:f16:512x256 --arg bias=ones:f32:1x256"
        " --arg c=zeros:f32:256x256 --arg with_bias=1 --out c=c.npy --expect c=513",
        "c: f32 256x256, min 513, max 513, mean 513 -> c.npy",
    ),
    ("pto-opt --explain pto.tadd", "It verifies, and a run of it gives:"),
    ("pto-opt --explain sanitizers", "# Sanitizers"),
    ("xdsl-opt --help", "verify-structure"),
    ("xdsl-opt gemm.pto", '"pto.tmatmul"'),
    ("xdsl-opt gemm.pto -p canonicalize,verify-shapes -t pto", "pto.tmatmul ins("),
    ("xdsl-opt gemm.pto --print-op-generic -o gemm.mlir", ""),
    ("pto-opt gemm.mlir", "pto.tmatmul ins("),
    ("xdsl-opt gemm.mlir -t pto", "pto.tmatmul ins("),
)

INSTALLED_AS = {
    "pto_dialect": "pto_dialect",
    "tools": "pto_dialect/tools",
    "grammar": "pto_dialect/grammar",
}
"""Directory of the checkout to its path in the wheel."""

CHECKOUT_VARIABLES = ("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV")
"""Variables through which a process could find the checkout."""

SHIPPED_SUFFIXES = (".py", ".lark", ".typed", ".h", ".hpp", ".txt", ".csv", ".js", ".css", ".json")

EDITOR_SUFFIXES = (".js", ".json")
"""Beside the package these are extensions of editors, which are packages of their own."""

LIST_GRAMMAR_FILES = """
from importlib.resources import files
import pto_dialect
print(pto_dialect.__file__)
found = files("pto_dialect.grammar").iterdir()
print(*[file.name for file in found if file.name.endswith(".lark") and file.read_text(encoding="utf-8")])
"""


def run(arguments: list[str | Path], directory: Path) -> str:
    """Standard output of a process that knows nothing of the checkout; fails the test if it fails."""
    environment = {name: value for name, value in os.environ.items() if name not in CHECKOUT_VARIABLES}
    done = subprocess.run(
        arguments, cwd=directory, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    command = " ".join(map(str, arguments))
    assert done.returncode == 0, f"{command} exited with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built through the source archive, so that both are known to be complete."""
    directory = tmp_path_factory.mktemp("build")
    left_out = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__")
    source = shutil.copytree(CHECKOUT, directory / "source", ignore=left_out)
    run([sys.executable, "-m", "build", "--outdir", directory, source], directory)
    (built,) = directory.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the commands of an environment that holds the wheel and its dependencies."""
    directory = tmp_path_factory.mktemp("environment")
    run([sys.executable, "-m", "venv", "--without-pip", directory / "venv"], directory)
    (python,) = (directory / "venv").glob("*/python*3")
    install = ["install", "--quiet", "--no-compile", wheel]
    run([sys.executable, "-m", "pip", "--python", python, *install], directory)
    return python.parent


@pytest.mark.packaging
def test_installed_wheel_runs_an_example(wheel: Path, scripts: Path, tmp_path: Path) -> None:
    expected = {
        f"{place}/{file.relative_to(CHECKOUT / directory).as_posix()}"
        for directory, place in INSTALLED_AS.items()
        for file in (CHECKOUT / directory).rglob("*")
        if (file.suffix in SHIPPED_SUFFIXES or file.parent.match("cpp/include/host"))
        and (directory == "pto_dialect" or file.suffix not in EDITOR_SUFFIXES)
    }
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        tables = {name for name in names if name.endswith(".tables")}
        metadata = set(archive.namelist()) - names
    pages = {name for name in names if name.startswith("pto_dialect/documentation/")}
    assert names - tables - pages == expected
    assert pages == {
        f"pto_dialect/documentation/{page.relative_to(CHECKOUT / 'docs').as_posix()}"
        for page in (CHECKOUT / "docs").rglob("*.md")
        if page.name != "rules.md"
    }
    assert sorted(re.sub("-[0-9a-f]+", "", name) for name in tables) == [
        f"pto_dialect/grammar/{grammar}.tables" for grammar in ("pto", "types")
    ]
    assert any(name.endswith("/LICENSE") for name in metadata)

    location, grammar_files = run([scripts / "python", "-c", LIST_GRAMMAR_FILES], tmp_path).splitlines()
    assert Path(location).is_relative_to(scripts.parent)
    assert grammar_files
    assert set(grammar_files.split()) == {file.name for file in (CHECKOUT / "grammar").glob("*.lark")}

    example = shutil.copytree(CHECKOUT / EXAMPLE, tmp_path / "example")
    for command, printed in COMMANDS:
        name, *arguments = command.split()
        assert printed in run([scripts / name, *arguments], example), command
