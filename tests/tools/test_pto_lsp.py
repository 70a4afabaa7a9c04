"""The command ``pto-lsp``, which needs an extra."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_without_its_library_the_command_says_what_to_install() -> None:
    code = "import sys; sys.modules['pygls'] = None; from tools.pto_lsp import main; main(['--stdio'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: pto-lsp needs pygls, which is not installed: pip install 'pto-dialect[lsp]'\n"


def test_the_version_and_the_help_need_nothing() -> None:
    code = "import sys; sys.modules['pygls'] = None; from tools.pto_lsp import main; main(sys.argv[1:])"
    for option, word in (("--version", "pto-lsp"), ("--help", "--log FILE")):
        command = [sys.executable, "-c", code, option]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
        assert done.returncode == 0
        assert word in done.stdout
