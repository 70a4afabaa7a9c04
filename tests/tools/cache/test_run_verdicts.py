"""pto-run does not check a program again in which nothing was found, and does the same."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pto_dialect.diagnostics.engine import Counts, DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.driver import pipeline
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import build_checked, build_module, process
from pto_dialect.driver.verdicts import Verdicts
from pto_dialect.syntax.print.printer import print_module

EXAMPLES = Path(__file__).parents[3] / "examples"
MAIN = import_module("pto_dialect.tools.pto_run").main

GOOD = "func.func @f() {\n  return\n}\n"
WRONG = "func.func @f() {\n  %0 = arith.addi %0, %0 : i32\n  return\n}\n"
WARNING = 'func.func @f() {\n  "my.op"() : () -> ()\n  return\n}\n'
OPTIONS = Options(printing=False)


@pytest.fixture
def kept(tmp_path: Path) -> Verdicts:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    return Verdicts(str(folder), "this version")


def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many passes are requested, run by run."""
    asked: list[int] = []
    original = pipeline.run_passes

    def count(module, names, *rest, **options):
        asked.append(len(list(names)))
        return original(module, names, *rest, **options)

    monkeypatch.setattr(pipeline, "run_passes", count)
    return asked


def built(text: str, kept: Verdicts | None, options: Options = OPTIONS) -> tuple[str | None, Counts]:
    engine = DiagnosticEngine(options.policy)
    module = build_checked(SourceFile("a.pto", text), engine, options, kept)
    return module and print_module(module, debuginfo=True), engine.counts()


def test_a_program_without_findings_is_checked_once(kept: Verdicts, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = passes(monkeypatch)
    found = [built(GOOD, kept) for _ in range(3)]
    assert asked == [len(OPTIONS.passes), 0, 0]
    assert found[0] == found[1] == found[2] == built(GOOD, None)


@pytest.mark.parametrize("text", [WRONG, WARNING])
def test_a_program_with_findings_is_always_checked(kept: Verdicts, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    plain = built(text, None)
    assert plain[1] != Counts()
    asked = passes(monkeypatch)
    # Whatever pto-opt has kept about it.
    kept.keep(text, "a.pto", OPTIONS, process(text, "a.pto", OPTIONS))
    del asked[:]
    assert [built(text, kept) for _ in range(2)] == [plain, plain]
    assert 0 not in asked


def test_findings_that_are_allowed_are_none_with_these_options_only(
    kept: Verdicts, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowing = OPTIONS._replace(policy=DiagnosticOptions(allow=frozenset(["dialect-unregistered"])))
    assert built(WARNING, kept, allowing)[1] == Counts()
    asked = passes(monkeypatch)
    assert built(WARNING, kept, allowing)[1] == Counts()
    assert asked == [0]
    assert built(WARNING, kept)[1].warnings == 1


def test_what_pto_opt_has_found_counts(kept: Verdicts, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.keep(GOOD, "a.pto", OPTIONS, process(GOOD, "a.pto", OPTIONS))
    asked = passes(monkeypatch)
    built(GOOD, kept)
    assert asked == [0]
    engine = DiagnosticEngine()
    build_module(SourceFile("a.pto", GOOD), engine, OPTIONS)
    assert asked == [0, len(OPTIONS.passes)]


@pytest.mark.parametrize("name", ["rms_norm", "gemm"])
def test_examples_run_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path / "cache"))

    def run(*arguments: str) -> tuple[int, str, str]:
        files = [str(path) for path in sorted(Path().glob("*.launch.toml"))]
        assert files
        result: Result = CliRunner().invoke(MAIN, [*files, *arguments], prog_name="pto-run")
        return result.exit_code, result.stdout, result.stderr

    plain = run()
    monkeypatch.setattr(MAIN, "alone", True)
    first = run()
    asked = passes(monkeypatch)
    again = run()
    assert plain == first == again
    assert asked and set(asked) == {0}
    assert run("--no-cache") == plain
    assert set(asked) == {0, len(OPTIONS.passes)}
