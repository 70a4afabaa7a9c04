"""docs/habits.md holds: every command line ends as its row says."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from tools.shell_words import with_responses
from tools.start import routed

PAGE = Path(__file__).parents[3] / "docs" / "habits.md"
PROGRAM = 'module attributes {pto.target_arch = "a5"} {\n  func.func @f() {\n    return\n  }\n}\n'
FILES = {
    "kernel.pto": PROGRAM,
    "wrong.pto": PROGRAM.replace("    return", "    pto.barier <PIPE_V>\n    return"),
    "loose.pto": PROGRAM.replace("  func.func", "func.func"),
    "expected.pto": PROGRAM.replace(
        "    return", "    // expected-error@+1 {{unknown operation}}\n    pto.barier <PIPE_V>\n    return"
    ),
    "foreign.pto": PROGRAM.replace("    return", '    "other.op"() : () -> ()\n    return'),
    "kernels/one.pto": PROGRAM,
    "launches/one.pto": PROGRAM,
    "launches/one.launch.toml": 'program = "one.pto"\n',
    "arguments.txt": "--target a5\n'kernel.pto'\n",
    "pto.toml": "",
}


class Habit(NamedTuple):
    """A row: the command line, its exit code, and a text of its output (``None``: there is no output)."""

    line: str
    code: int
    said: str | None


def habits() -> list[Habit]:
    found: list[Habit] = []
    for row in PAGE.read_text(encoding="utf-8").splitlines():
        match = re.fullmatch(r"\| `(pto.*?)` \| (\d) \| (?:`(.*?)`|nothing(?:: .*)?) \|", row)
        if match is not None:
            said = None if match[3] is None else match[3].replace("\\|", "|")
            found.append(Habit(match[1], int(match[2]), said))
    return found


HABITS = habits()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("habits")
    for name, text in FILES.items():
        path = made / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return made


def outcome(line: str) -> tuple[int, str]:
    """The exit code and both streams of a command line, without a shell."""
    words = shlex.split(line)
    given = None
    if "<" in words:
        at = words.index("<")
        given = Path(words[at + 1]).read_text(encoding="utf-8")
        del words[at : at + 2]
    name, *rest = with_responses(words)
    module = name.replace("-", "_")
    if name == "pto":
        found, sub, rest = routed(rest)
        name, module = (name, module) if found is None else (f"pto {sub}", found.module)
    command = import_module(f"pto_dialect.tools.{module}").main
    result = CliRunner().invoke(command, rest, input=given, prog_name=name)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


@pytest.mark.parametrize("habit", HABITS, ids=lambda habit: habit.line)
def test_habit(habit: Habit, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    code, output = outcome(habit.line)
    if habit.said is None:
        assert (code, output) == (habit.code, "")
    else:
        assert (code, habit.said in output) == (habit.code, True), output
    changed = [name for name, text in FILES.items() if (folder / name).read_text(encoding="utf-8") != text]
    assert changed == []


def test_the_page_has_its_rows() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert len(rows) == len(HABITS) >= 87
    assert len({habit.line for habit in HABITS}) == len(HABITS)
