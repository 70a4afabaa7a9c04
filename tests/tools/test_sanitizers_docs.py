"""What the page on sanitizers shows is what happens."""

import doctest
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```console\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
CODES = {
    **dict.fromkeys(("race", "inverted", "pipeline", "handover", "deadlock", "unwritten", "bounds", "overlap"), 3),
    **dict.fromkeys(("scalar", "cache"), 3),
    **dict.fromkeys(("signals", "membar", "workitems"), 0),
}


def commands() -> list[tuple[str, str]]:
    page = (ROOT / "docs" / "sanitizers.md").read_text()
    parts = [part for block in BLOCK.finditer(page) for part in block["text"].split("$ ")[1:]]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


@pytest.mark.parametrize(("command", "shown"), commands())
def test_a_command_of_the_page(command: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    program, *arguments = shlex.split(command)
    main = import_module(f"tools.{program.replace('-', '_')}").main
    result = CliRunner().invoke(main, arguments, prog_name=program)
    checker = doctest.OutputChecker()
    if not checker.check_output(shown, result.output, doctest.ELLIPSIS):
        example = doctest.Example(command, shown)
        pytest.fail(checker.output_difference(example, result.output, doctest.ELLIPSIS))
    name = next(Path(argument).stem for argument in arguments if argument.endswith(".pto"))
    # Errors that the text alone shows end pto-opt as any others do.
    assert result.exit_code == (1 if program == "pto-opt" and "error: " in result.output else CODES.get(name, 0))


def test_every_incorrect_program_is_shown() -> None:
    shown = {Path(word).stem for command, _ in commands() for word in command.split() if word.endswith(".pto")}
    assert shown == {path.stem for path in (ROOT / "examples" / "faulty").glob("*.pto")}
