"""The extension for VS Code: what it names exists, and is what the server and the grammar have."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tools" / "vscode"
PACKAGE = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))


def test_languages_and_grammars_are_those_of_the_grammar_folder() -> None:
    plain = json.loads((ROOT / "grammar" / "package.json").read_text(encoding="utf-8"))
    for key in ("languages", "grammars"):
        assert PACKAGE["contributes"][key] == plain["contributes"][key]
    assert PACKAGE["version"] == plain["version"]


def test_settings_are_those_of_the_server() -> None:
    pytest.importorskip("pygls", reason="the language server needs it")
    from pto_dialect.lsp.settings import Settings
    from pto_dialect.targets.choice import OPTION_ALIASES, PROFILE_NAMES

    properties = PACKAGE["contributes"]["configuration"]["properties"]
    sent = set(re.findall(r"(\w+): rest\.\1", (FOLDER / "client.js").read_text(encoding="utf-8")))
    assert {f"pto.{name}" for name in sent} | {"pto.server"} == set(properties)
    assert set(properties["pto.target"]["enum"]) == {None, *PROFILE_NAMES, *OPTION_ALIASES}
    chosen = Settings.read({"target": "a3", "inlayHints": False, "codeLens": False})
    assert chosen == Settings("a3", inlay_hints=False, code_lens=False)
    assert Settings.read({"target": "b7", "inlayHints": "no"}) == Settings()


def test_the_build_takes_files_that_exist() -> None:
    script = (FOLDER / "build.sh").read_text(encoding="utf-8")
    named = re.findall(r"\"\$root\"?/((?:tools|grammar|LICENSE)[\w./-]*)", script)
    assert len(named) >= 5
    assert [name for name in named if not (ROOT / name).exists()] == []
    commands = [entry["command"] for entry in PACKAGE["contributes"]["commands"]]
    assert [name for name in commands if f'"{name}"' not in (FOLDER / "client.js").read_text(encoding="utf-8")] == []
