"""Man pages: one for each command that is installed, with its options or sub-commands."""

import sys
import tomllib
from pathlib import Path
from subprocess import run

from tools.subcommands import SUBCOMMANDS

CHECKOUT = Path(__file__).parents[2]


def test_every_command_has_its_page(tmp_path: Path) -> None:
    run([sys.executable, CHECKOUT / "docs" / "site" / "man_pages.py", tmp_path], check=True, timeout=120)
    scripts = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    modules = {each.module.replace("_", "-") for each in SUBCOMMANDS.values()}
    assert {f"{name}.1" for name in {*scripts, *modules}} <= {page.name for page in tmp_path.iterdir()}
    text = (tmp_path / "pto.1").read_text(encoding="utf-8")
    assert all(f"\\fB{name}\\fP" in text for name in SUBCOMMANDS)
    assert "--verify-only" in (tmp_path / "pto-opt.1").read_text(encoding="utf-8").replace("\\-", "-")
