"""Every pass of the table: what it is, what its options are, what users read about it, and that it works."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from pathlib import Path

import pytest
from click.testing import CliRunner
from xdsl.context import Context
from xdsl.utils.arg_spec import parse_pipeline as parse_xdsl_pipeline

from pto_dialect import parse
from pto_dialect.api import print_module
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.passes.registry import PASS_TABLE, VERIFY_PASSES, pass_class
from tools.pto_opt import main

ROOT = Path(__file__).parents[2]
EXAMPLES = [place for place in sorted((ROOT / "examples").rglob("*.pto")) if "faulty" not in place.parts]


def test_examples_are_there() -> None:
    assert len(EXAMPLES) > 10


@pytest.mark.parametrize("name", PASS_TABLE)
def test_a_pass_describes_itself(name: str) -> None:
    entry, cls = PASS_TABLE[name], pass_class(name)
    assert (entry.cls, cls.name) == (cls.__name__, name)
    assert cls.__module__ == f"pto_dialect.passes.{entry.module}"
    assert next(field.name for field in fields(cls)) == "target"
    assert all(field.default is not MISSING for field in fields(cls))


@pytest.mark.parametrize("name", PASS_TABLE)
def test_a_pass_takes_its_options_from_a_pipeline_of_xdsl(name: str) -> None:
    (plain,), (chosen,) = (parse_xdsl_pipeline(text) for text in (name, f"{name}{{target=a5}}"))
    cls = pass_class(name)
    assert cls.from_pass_spec(plain) == cls()
    assert cls.from_pass_spec(chosen) == cls(target="a5")


@pytest.mark.parametrize("name", PASS_TABLE)
def test_help_and_guide_have_the_summary_of_the_table(name: str) -> None:
    help_text = " ".join(CliRunner().invoke(main, ["--help"]).output.split())
    guide = (ROOT / "docs" / "pto-opt.md").read_text(encoding="utf-8")
    assert f"{name} {PASS_TABLE[name].summary}" in help_text
    assert f"| `{name}` | {PASS_TABLE[name].summary} |" in guide


def test_the_guide_names_no_other_pass() -> None:
    guide = (ROOT / "docs" / "pto-opt.md").read_text(encoding="utf-8")
    table = guide.split("| pass | what it checks |\n")[1].split("\n\n")[0]
    assert re.findall(r"^\| `([\w-]+)`", table, re.MULTILINE) == list(PASS_TABLE)


@pytest.mark.parametrize("place", EXAMPLES, ids=lambda place: place.stem)
def test_passes_accept_the_examples_and_leave_them_as_they_are(place: Path) -> None:
    module = parse(place.read_text(encoding="utf-8"), place.name)
    before = print_module(module)
    # Examples without flags are for insert-sync: nothing orders their pipes yet (tests/prove/test_examples.py).
    for name in (name for name, entry in PASS_TABLE.items() if not entry.changes and name != "prove-order"):
        engine = DiagnosticEngine()
        pass_class(name)().run(module, engine)
        assert [found.rule for found in engine.diagnostics if found.severity is Severity.ERROR] == [], name
        pass_class(name)().apply(Context(), module)
    assert print_module(module) == before


def test_the_passes_that_follow_one_another_are_those_that_only_look() -> None:
    assert tuple(name for name in PASS_TABLE if name.startswith("verify-")) == VERIFY_PASSES
