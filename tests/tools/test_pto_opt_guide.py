"""The examples of the user guides show what the commands really print.

`python tests/tools/test_pto_opt_guide.py` writes the present output into the guides.
"""

import os
import re
import shlex
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
GUIDE = CHECKOUT / "docs" / "pto-opt.md"
FORMS = CHECKOUT / "docs" / "forms.md"
CYCLES = CHECKOUT / "docs" / "cycles.md"
FIXES = CHECKOUT / "docs" / "fixes.md"

_PROGRAM = re.compile(r"^`([\w.]+)`[^\n]*:\n\n```mlir\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"^```console\n\$ (pto-opt|pto-run) ([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def with_present_output(text: str, directory: Path) -> str:
    """The guide with each example's output replaced by what the command prints now."""
    from run_lines import run_command

    for name, program in _PROGRAM.findall(text):
        (directory / name).write_text(program, encoding="utf-8")

    def example(found: re.Match[str]) -> str:
        before = Path.cwd()
        os.chdir(directory)
        try:
            result = run_command(found[1], shlex.split(found[2]))
        finally:
            os.chdir(before)
        assert not result.crashed, result.stderr.decode()
        return f"```console\n$ {found[1]} {found[2]}\n{result.interleaved.decode()}```"

    return _EXAMPLE.sub(example, text)


@pytest.mark.parametrize(
    ("guide", "least"), [(GUIDE, 6), (FORMS, 3), (CYCLES, 1), (FIXES, 1)], ids=lambda value: getattr(value, "stem", "")
)
def test_the_guide_shows_real_output(tmp_path: Path, guide: Path, least: int) -> None:
    text = guide.read_text(encoding="utf-8")
    assert len(_EXAMPLE.findall(text)) >= least
    assert with_present_output(text, tmp_path) == text


@pytest.mark.parametrize("guide", [CYCLES, FIXES], ids=lambda guide: guide.stem)
def test_the_python_of_a_guide_runs(guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = guide.read_text(encoding="utf-8")
    for name, program in _PROGRAM.findall(text):
        (tmp_path / name).write_text(program, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks
    for code in blocks:
        exec(compile(code, guide.name, "exec"), {})


def test_the_guide_names_every_option() -> None:
    main = import_module("pto_dialect.tools.pto_opt").main
    text = GUIDE.read_text(encoding="utf-8")
    options = [name for option in main.params for name in (*option.opts, *option.secondary_opts)]
    explained = {"--passes", "--jobs", "--version", "paths"}
    missing = [name for name in options if f"`{name}" not in text and name not in explained]
    assert missing == []


if __name__ == "__main__":
    sys.path[:0] = [str(CHECKOUT), str(CHECKOUT / "lit-tests")]
    import pto_dialect

    pto_dialect.__path__.append(str(CHECKOUT))
    for page in (GUIDE, FORMS, CYCLES, FIXES):
        with tempfile.TemporaryDirectory() as folder:
            page.write_text(with_present_output(page.read_text(encoding="utf-8"), Path(folder)), encoding="utf-8")
