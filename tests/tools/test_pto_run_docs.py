"""What the guides show is what happens: commands and statements in them are executed."""

import doctest
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

SWEEP = import_module("pto_dialect.tools.pto_sweep").main
DOCS = Path(__file__).parents[2] / "docs"

BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
FILE_NAME = re.compile(r"(?://|#) (\S+\.(?:pto|toml))\n")


def compare(command: str, printed: str, shown: str) -> None:
    checker = doctest.OutputChecker()
    example = doctest.Example(command, shown)
    if not checker.check_output(shown, printed, doctest.ELLIPSIS):
        pytest.fail(f"$ {command}\n{checker.output_difference(example, printed, doctest.ELLIPSIS)}")


@pytest.mark.parametrize(
    ("page", "least"),
    [("pto-run.md", 6), ("launch-files.md", 4), ("launch.md", 12), ("ranks.md", 3), ("cluster.md", 4)],
)
def test_commands_of_the_guide(pto_run, page: str, least: int) -> None:
    main = pto_run.command
    names: dict[str, object] = {}
    commands = 0
    for block in BLOCK.finditer((DOCS / page).read_text()):
        text = block["text"]
        if block["language"] in ("mlir", "toml"):
            name = FILE_NAME.match(text)
            assert name is not None
            Path(name[1]).write_text(text)
        elif block["language"] == "python" and not text.startswith(">>>"):
            exec(text, names)
        elif block["language"] == "console":
            for part in text.split("$ ")[1:]:
                command, _, shown = part.partition("\n")
                program, *arguments = shlex.split(command)
                assert program == "pto-run" or [program, *arguments[:1]] == ["pto", "sweep"]
                if not shown:
                    continue
                called, given = (main, arguments) if program == "pto-run" else (SWEEP, arguments[1:])
                result = CliRunner().invoke(called, given, prog_name=program)
                compare(command, result.output, shown)
                commands += 1
    assert commands >= least


def test_option_list_of_the_guide_is_complete(pto_run) -> None:
    text = (DOCS / "pto-run.md").read_text()
    for parameter in pto_run.command.params:
        if parameter.name not in ("paths", "version", "help"):
            assert any(f"{option}" in text for option in parameter.opts), parameter.name


@pytest.mark.parametrize(("page", "least"), [("python-api.md", 20), ("launch.md", 12), ("ranks.md", 5)])
def test_python_interface(page: str, least: int) -> None:
    result = doctest.testfile(
        str(DOCS / page),
        module_relative=False,
        globs={"pto_dialect": __import__("pto_dialect")},
    )
    assert result.attempted >= least
    assert result.failed == 0
