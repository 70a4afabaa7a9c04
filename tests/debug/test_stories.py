"""The stories of the guide with the debugger: what it shows is what the debugger says.

Source: docs/find-the-mistake-debugger.md, "A product that is too small".
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from tools.pto_run import main

GUIDE = (Path(__file__).parents[2] / "docs" / "find-the-mistake-debugger.md").read_text(encoding="utf-8")
STORIES = re.findall(
    r"`(\w+)\.pto`[^`]*(?:`[^`]+`[^`]*)*?```mlir\n(.*?)```\s+```console\n\$ pto-run (.*?)\n(.*?)```", GUIDE, re.S
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("stories")
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE, re.S)
    exec(compile(code.replace('save("', f'save("{found}/'), "guide", "exec"), {})
    return found


def test_all_stories_are_written_again() -> None:
    names = ["product", "rows", "stale", "columns", "events", "bytes", "maximum", "turned", "limits"]
    assert [name for name, *_ in STORIES] == [*names, "rounding", "offset", "barrier"]


@pytest.mark.parametrize(("name", "program", "command", "said"), STORIES, ids=[name for name, *_ in STORIES])
def test_a_story(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, program: str, command: str, said: str
) -> None:
    monkeypatch.chdir(folder)
    Path(f"{name}.pto").write_text(program, encoding="utf-8")
    commands = re.findall(r"^\(pto\) (.*)$", said, re.M)
    result = CliRunner().invoke(main, [*shlex.split(command), "--no-cache"], input="".join(f"{c}\n" for c in commands))
    told = [line.rstrip() for line in result.stdout.rstrip().split("\n")]
    assert told[: told.index("(pto)") if "(pto)" in told else None] == said.rstrip().split("\n")
