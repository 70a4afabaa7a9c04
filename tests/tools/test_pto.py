"""The command ``pto``, and ``python -m pto_dialect``."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

ROOT = Path(__file__).parents[2]
PROGRAM = "func.func @f() {\n  return\n}\n"


def pto(*args: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    code = "import pto_dialect, runpy, sys; pto_dialect.__path__.append(sys.argv.pop(1)); "
    code += "runpy.run_module('pto_dialect', run_name='__main__')"
    return subprocess.run(
        [sys.executable, "-c", code, str(ROOT), *args],
        capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, **(env or {})},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("args", "out", "err", "code"),
    [
        (("check", "x.pto"), "", "", 0),
        (("check", "y.pto"), "", "no such file or folder: 'y.pto'\n", 2),
        (
            ("lower", "x.pto"),
            f"module {{\n{''.join(f'  {line}' + chr(10) for line in PROGRAM.splitlines())}}}\n",
            "",
            0,
        ),
        (("run",), "", "Usage: pto run [OPTIONS] FILE|DIR...\n", 2),
        (("nonsense",), "", "No such command 'nonsense'.\n", 2),
        (("chek",), "", "No such command 'chek'. Did you mean check?\n", 2),
    ],
)
def test_commands_below_pto(tmp_path: Path, args: tuple[str, ...], out: str, err: str, code: int) -> None:
    (tmp_path / "x.pto").write_text(PROGRAM)
    told = pto(*(str(tmp_path / arg) if arg == "x.pto" else arg for arg in args))
    assert (told.returncode, told.stdout) == (code, out) and err in told.stderr


def test_a_question_needs_no_quotes() -> None:
    told = pto("explain", "row", "maximum")
    assert told.returncode == 0 and told.stdout == pto("explain", "row maximum").stdout


def test_every_command_below_pto_is_there_or_says_that_it_is_not() -> None:
    table = import_module("pto_dialect.tools.subcommands").SUBCOMMANDS
    group = import_module("pto_dialect.tools.pto").main
    help = CliRunner().invoke(group, ["--help"]).stdout
    for name, each in table.items():
        assert f"\n  {name} " in help
        if not (ROOT / "tools" / f"{each.module}.py").is_file():
            told = pto(name)
            assert (told.returncode, told.stderr) == (2, f"error: pto {name} is not part of this installation\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_learn_how_to_complete(shell: str) -> None:
    group = import_module("pto_dialect.tools.pto").main
    text = CliRunner().invoke(group, ["completion", shell]).stdout
    assert f"_PTO_COMPLETE={shell}_complete" in text and f"_PTO_RUN_COMPLETE={shell}_complete" in text


@pytest.mark.parametrize(("shell", "name"), [("bash", "pto-run"), ("zsh", "_pto-run"), ("fish", "pto-run.fish")])
def test_every_command_has_the_file_that_its_shell_looks_for(tmp_path: Path, shell: str, name: str) -> None:
    module = import_module("pto_dialect.tools.pto")
    folder = tmp_path / "new" / "completions"
    told = CliRunner().invoke(module.main, ["completion", shell, "--into", str(folder)])
    assert (told.exit_code, told.stdout) == (0, f"{len(module.INSTALLED)} files in {folder}\n")
    assert len(list(folder.iterdir())) == len(module.INSTALLED)
    text = (folder / name).read_text()
    assert "_PTO_RUN_COMPLETE" in text and "_PTO_COMPLETE" not in text
    told = CliRunner().invoke(module.main, ["completion", shell, "--into", str(folder / name)])
    assert told.exit_code != 0 and not isinstance(told.exception, OSError)


@pytest.mark.parametrize(
    ("given", "page", "rest"),
    [
        (["a/k.pto"], "a/k.html", ["a/k.pto"]),
        (["k.launch.toml", "--quiet"], "k.html", ["k.launch.toml", "--quiet"]),
        (["k.pto", "-o", "p.html", "--arg", "x=1"], "p.html", ["k.pto", "--arg", "x=1"]),
        (["--out=p.html", "k.pto"], "p.html", ["k.pto"]),
    ],
)
def test_report_of_a_program_names_its_page_by_an_option(given: list[str], page: str, rest: list[str]) -> None:
    program = next(word for word in given if word.endswith((".pto", ".toml")))
    found = import_module("pto_dialect.tools.pto_report").page_and_rest(program, given)
    assert found == (page, rest)


def test_options_of_commands_below_pto_are_completed() -> None:
    asked = {"_PTO_COMPLETE": "bash_complete", "COMP_WORDS": "pto run --accu", "COMP_CWORD": "2"}
    assert pto(env=asked).stdout == "plain,--accumulate\n"


@pytest.mark.parametrize(("module", "option"), [("pto_opt", "--verify-only"), ("pto_run", "--list")])
def test_a_changed_file_is_looked_at_again(tmp_path: Path, module: str, option: str) -> None:
    pytest.importorskip("watchfiles", reason="the extra watch is not installed")
    file = tmp_path / "x.pto"
    file.write_text(PROGRAM)
    code = "import pto_dialect, sys; from importlib import import_module\n"
    code += f"pto_dialect.__path__.append(sys.argv.pop(1)); import_module('pto_dialect.tools.{module}').main()"
    call = [sys.executable, "-c", code, str(ROOT), option, "--no-cache", "--watch", str(file)]
    pipe = subprocess.PIPE
    with subprocess.Popen(call, stdout=pipe, stderr=pipe, text=True, cwd=ROOT) as process:
        assert process.stderr is not None and process.stdout is not None
        try:
            for attempt in range(1200):  # A busy machine takes its time to begin.
                time.sleep(0.1)
                # At once, as editors do: half a program would be checked.
                (tmp_path / "new").write_text(f"{PROGRAM}// {attempt}\n")
                (tmp_path / "new").replace(file)
                if select.select([process.stderr], [], [], 0)[0]:
                    break
            assert process.stderr.readline().endswith("x.pto changed\n")
            if module == "pto_run":
                # At the start, and because of the change.
                assert [process.stdout.readline()[:3] for _ in range(2)] == ["@f "] * 2
        finally:
            process.send_signal(signal.SIGINT)
    assert process.returncode == 130


def test_watching_needs_files() -> None:
    told = CliRunner().invoke(import_module("pto_dialect.tools.pto_opt").main, ["--watch", "nowhere.pto"])
    assert (told.exit_code, told.stderr) == (2, "error: no such file or folder: 'nowhere.pto'\n")


def test_the_action_calls_the_command_with_options_that_there_are() -> None:
    text = (ROOT / ".github" / "actions" / "pto-check" / "action.yml").read_text()
    call = next(line for line in text.splitlines() if "run: pto-opt" in line).split()
    options = {name for each in import_module("pto_dialect.tools.pto_opt").main.params for name in each.opts}
    assert {word for word in call if word.startswith("--") and word != "--"} <= options


RACE = """module attributes {pto.target_arch = "a5"} {
  func.func @f(%p: !pto.ptr<f32>) attributes {pto.kernel} {
    pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    return
  }
}
"""


@pytest.mark.parametrize("form", ["json", "github"])
def test_runs_report_in_every_form(tmp_path: Path, form: str) -> None:
    file = tmp_path / "x.pto"
    file.write_text(RACE)
    main = import_module("pto_dialect.tools.pto_run").main
    told = CliRunner().invoke(main, [str(file), "--arg", "p=zeros:f32:8", "--quiet", "--output-format", form])
    if form == "json":
        assert [found["rule"] for found in json.loads(told.stderr)["diagnostics"]] == ["sync-unpaired"]
    else:
        assert told.stderr.startswith("::warning file=") and told.stderr.count("\n") == 1
    assert told.exit_code == 0


@pytest.mark.parametrize("old", [False, True])
def test_report_of_a_program_runs_it(tmp_path: Path, old: bool) -> None:
    program, page = tmp_path / "x.pto", tmp_path / "page.html"
    program.write_text(RACE)
    files = [str(page), str(program)] if old else [str(program), "-o", str(page)]
    told = pto("report", *files, "--arg", "p=zeros:f32:8", "--quiet")
    assert told.returncode == 0, told.stderr
    assert ("note: the program comes first now" in told.stderr) is old
    assert page.read_text().lower().startswith("<!doctype html>")


@pytest.mark.parametrize("option", ["--stats", "--memory-report", "--cycles"])
@pytest.mark.parametrize("stated", [("--output-format", "json"), ("--diagnostics-format=json",)])
def test_one_option_makes_reports_json(tmp_path: Path, option: str, stated: tuple[str, ...]) -> None:
    program = tmp_path / "x.pto"
    program.write_text(PROGRAM)
    main = import_module("pto_dialect.tools.pto_opt").main
    told = CliRunner().invoke(main, [str(program), option, *stated])
    assert told.exit_code == 0 and json.loads(told.stdout)["version"]
    told = CliRunner().invoke(main, [str(program), f"{option}=text", *stated])
    assert not told.stdout.startswith("{")


@pytest.mark.parametrize(("old", "new"), [("pto_sweep", "pto sweep"), ("pto_debug_adapter", "pto debug-adapter")])
def test_old_names_state_the_new_one(old: str, new: str) -> None:
    code = f"import sys; sys.argv = ['x', '--version']; from pto_dialect.tools.start import {old}; {old}()"
    code = f"import pto_dialect; pto_dialect.__path__.append({str(ROOT)!r}); {code}"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    name = old.replace("_", "-")
    assert told.stderr == f"note: {name} is '{new}' now; the old name works in this release only\n"
    assert told.returncode == 0 and told.stdout


def test_no_range_of_numbers_takes_nan() -> None:
    table = import_module("pto_dialect.tools.subcommands").SUBCOMMANDS
    modules = sorted({each.module for each in table.values()})
    commands = {module: import_module(f"pto_dialect.tools.{module}").main for module in modules}
    ranges = [
        (module, param)
        for module, command in commands.items()
        for param in command.params
        if isinstance(param.type, click.FloatRange)
    ]
    assert len(ranges) >= 10
    for module, param in ranges:
        with pytest.raises(click.BadParameter, match="nan is not in the range"):
            param.type.convert("nan", param, None)
        assert param.type.convert("2.5", param, None) == 2.5, module
