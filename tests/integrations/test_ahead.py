"""What forked tests find loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = """
def pytest_addoption(parser):
    parser.addoption("--forked", action="store_true")
"""
"""The option of pytest-forked, without what it does."""

TEST = """
import sys
import numpy as np
from pto_dialect.integrations.ahead import PROGRAM
from pto_dialect.integrations.function import jit

@jit(PROGRAM.replace("f32", "f16").replace("8", "64"), target="a2a3", returns="y")
def copy(x):
    return {"x": x, "y": np.zeros_like(x)}

def test_copy():
    before = set(sys.modules)
    assert copy(np.arange(64, dtype=np.float16)).tolist() == list(range(64))
    loaded = [name for name in set(sys.modules) - before if name.startswith("pto_dialect.")]
    print("loaded:", any(name.startswith(("pto_dialect.syntax", "pto_dialect.verify")) for name in loaded))
"""


@pytest.mark.parametrize(
    ("options", "late"),
    [(["--pto-sanitize", "--forked"], "False"), (["--pto-sanitize"], "True"), (["--forked"], "True")],
)
def test_forked_tests_share_what_reads_programs(tmp_path: Path, options: list[str], late: str) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(TEST)
    command = [sys.executable, "-m", "pytest", "-p", "pto_dialect.integrations.pytest_plugin", "-q", "-s", *options]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert (done.returncode, f"loaded: {late}" in done.stdout) == (0, True), done.stdout + done.stderr


STUBS = {
    "torch.py": "threads = 8\n\n\ndef set_num_threads(number):\n    global threads\n    threads = number\n",
    "pypto/__init__.py": "",
    "pypto/backend/__init__.py": "",
    "pypto/backend/pto_backend.py": "",
}
"""What the plug-in requires of PyTorch and PyPTO, which are not installed here."""


@pytest.mark.parametrize(("options", "threads"), [(["--forked"], 1), ([], 8)])
def test_forked_tests_of_pypto_wait_for_no_threads(tmp_path: Path, options: list[str], threads: int) -> None:
    """Threads of the process that forks are not there in its children, which would wait for them for ever."""
    for name, text in STUBS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(f"import torch\n\n\ndef test_it():\n    assert torch.threads == {threads}\n")
    command = [sys.executable, "-m", "pytest", "-p", "pto_dialect.integrations.pytest_plugin", "-q", "--pto-pypto"]
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": paths}
    done = subprocess.run(
        [*command, *options], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
