"""Builder scripts, and the programs that they print."""

import subprocess
import sys
from pathlib import Path

import pytest

from pto_dialect import api

FOLDER = Path(__file__).with_name("scripts")
SCRIPTS = sorted(FOLDER.glob("*.py"))
RUN = (sys.executable, "-m", "pto_dialect.integrations.builders", "--quiet")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script_prints_its_program(script: Path) -> None:
    ended = subprocess.run([*RUN, str(script)], capture_output=True, text=True, check=False)
    assert (ended.stderr, ended.returncode) == ("", 0)
    assert ended.stdout.rstrip("\n") == script.with_suffix(".pto").read_text(encoding="utf-8").rstrip("\n")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_printed_program_is_verified_and_canonical(script: Path) -> None:
    text = script.with_suffix(".pto").read_text(encoding="utf-8")
    assert api.check(text).ok
    assert api.print_module(api.parse(text)) == text


def test_every_program_has_a_script() -> None:
    assert [path.stem for path in SCRIPTS] == sorted(path.stem for path in FOLDER.glob("*.pto"))
