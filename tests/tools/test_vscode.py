"""The extension for VS Code: what it names exists, and is what the server and the grammar have."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import sys
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
    text = (FOLDER / "client.js").read_text(encoding="utf-8")
    sent = set(re.findall(r"(\w+): rest\.\1", text)) | {"codeLens"}
    assert "codeLens: lenses" in text
    # What the client itself needs.
    own = {"pto.server", "pto.command", "pto.runArguments"}
    assert {f"pto.{name}" for name in sent} | own == set(properties)
    assert set(properties["pto.target"]["enum"]) == {None, *PROFILE_NAMES, *OPTION_ALIASES}
    chosen = Settings.read({"target": "a3", "inlayHints": False, "codeLens": False})
    assert chosen == Settings("a3", inlay_hints=False, code_lens=False)
    assert Settings.read({"target": "b7", "inlayHints": "no"}) == Settings()


def test_the_build_takes_files_that_exist() -> None:
    script = (FOLDER / "build.sh").read_text(encoding="utf-8")
    named = re.findall(r"\"\$root\"?/((?:tools|grammar|LICENSE)[\w./-]*)", script)
    assert len(named) >= 5
    assert [name for name in named if not (ROOT / name).exists()] == []
    # Each file that the extension requires is bundled.
    sources = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.js")}
    required = {f"{name}.js" for text in sources.values() for name in re.findall(r'require\("\./(\w+)"\)', text)}
    assert required | {"client.js"} == set(sources)
    assert [name for name in sources if f"/tools/vscode/{name}" not in script] == []


def test_the_manifest_shows_what_a_store_wants() -> None:
    assert (FOLDER / PACKAGE["icon"]).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", (FOLDER / PACKAGE["icon"]).read_bytes()[16:24])
    assert width == height >= 128
    assert PACKAGE["repository"]["url"].endswith("/pto-dialect.git")


def test_the_extension_with_a_stub_of_the_editor(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no Node")
    command = [sys.executable, "-m", "pto_dialect"]
    environment = os.environ | {"PTO_COMMAND": json.dumps(command), "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    test = ROOT / "tests" / "tools" / "vscode" / "extension.test.js"
    done = subprocess.run(
        [node, "--test", str(test)], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert re.search(r"^# pass (?:[89]|\d\d)$", done.stdout, re.MULTILINE), done.stdout
