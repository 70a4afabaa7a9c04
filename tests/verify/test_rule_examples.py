"""Every rule's own examples: the bad statement is reported under the rule, the good one is accepted."""

import ast
import contextlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from groups import each

import pto_dialect
from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.passes.run import run_passes
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.engine.example_programs import bad_program, example_program, free_names, good_program
from pto_dialect.verify.engine.rule import (
    MEMORY,
    PARSE,
    REPORTED_AS,
    RULES,
    RUN,
    SYNC,
    WITHOUT_EXAMPLE,
    Rule,
    load_all_rules,
)
from pto_dialect.verify.verifier import verify_module
from run_lines import run_command

load_all_rules()

ALL = sorted(RULES.values(), key=lambda rule: rule.id)
"""In an order that does not depend on what was loaded first."""
WITH_COMMANDS = [rule for rule in ALL if rule.commands is not None]
CHECKED = [rule for rule in ALL if rule not in WITH_COMMANDS and rule.id not in WITHOUT_EXAMPLE]
WITH_BAD = [rule for rule in CHECKED if rule.stage != RUN]
WITH_GOOD = CHECKED

FURTHER = (SYNC, MEMORY)
"""Passes that look beyond single operations."""

SECOND_MISTAKE = {
    # K is 32, so one column of scales would do.
    "matmul-mx-k64": {"mx-scale-shape"},
}
"""Rules whose bad example breaks another rule as well."""


def area(rule: Rule) -> str:
    """The first word of the id of a rule."""
    return rule.id.partition("-")[0]


def diagnose(text: str) -> tuple[Diagnostic, ...]:
    """Everything that parsing and verifying ``text`` reports, infos included."""
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True, max_errors=0))
    module = parse_program(SourceFile("example.pto", text), engine)
    if module is not None and not engine.has_errors:
        verify_module(module, engine)
        if not engine.has_errors:
            run_passes(module, FURTHER, engine, None)
    return engine.diagnostics


@each("rule", WITH_BAD, area, lambda rule: rule.id)
def test_bad_example_breaks_the_rule(rule: Rule) -> None:
    text = bad_program(rule)
    assert text is not None
    found = [d for d in diagnose(text) if d.rule == REPORTED_AS.get(rule.id, rule.id)]
    assert found, [(d.rule, d.message) for d in diagnose(text)]
    if rule.stage != PARSE:
        assert {d.severity for d in found} == {rule.severity}
    assert all(d.span is not None for d in found)


@each("rule", WITH_GOOD, area, lambda rule: rule.id)
def test_good_example_is_accepted(rule: Rule) -> None:
    text = good_program(rule)
    assert text is not None
    found = diagnose(text)
    assert REPORTED_AS.get(rule.id, rule.id) not in [d.rule for d in found]
    assert [(d.rule, d.message) for d in found if d.severity is Severity.ERROR] == []


@each("rule", WITH_BAD, area, lambda rule: rule.id)
def test_bad_example_has_no_other_error(rule: Rule) -> None:
    """One mistake gives one error: nothing else is wrong, and nothing follows from the mistake."""
    text = bad_program(rule)
    assert text is not None
    own = REPORTED_AS.get(rule.id, rule.id)
    others = {d.rule for d in diagnose(text) if d.severity is Severity.ERROR and d.rule != own}
    assert others == SECOND_MISTAKE.get(rule.id, set())


def test_every_rule_has_examples() -> None:
    """A rule without a program or a command line says why in ``WITHOUT_EXAMPLE``."""
    without = {rule.id for rule in RULES.values() if not rule.commands and (rule.bad is None or rule.good is None)}
    assert without == set(WITHOUT_EXAMPLE)
    assert all(WITHOUT_EXAMPLE.values())


def shell(command: str, program: str | None, folder: Path) -> tuple[int, str]:
    """Exit code and output of a command line that finds the program as ``example.pto``."""
    if program is not None:
        (folder / "example.pto").write_text(program, encoding="utf-8")
    words = shlex.split(command)
    if words[0] == "pto-opt" and not re.search(r"[|;<>&$]", command):
        # One command that needs no shell runs in this process, which has loaded everything.
        with contextlib.chdir(folder):
            result = run_command(words[0], words[1:])
        return result.exit_code, result.interleaved.decode(errors="replace")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout.decode(errors="replace")


def reported(output: str, rule: Rule) -> list[str]:
    """Rules of the diagnostics; verdicts about the order, which come with each proof, for their own rules only."""
    found = re.findall(r"\[([a-z0-9-]+)\]$", output, re.MULTILINE)
    return [one for one in found if not one.startswith("order-") or rule.id.startswith("order-")]


@pytest.mark.parametrize("rule", WITH_COMMANDS, ids=lambda rule: rule.id)
def test_bad_command_breaks_the_rule(rule: Rule, tmp_path: Path) -> None:
    assert rule.commands is not None
    code, output = shell(rule.commands.bad, bad_program(rule), tmp_path)
    assert reported(output, rule) == [rule.id], output
    assert (code != 0) == (rule.severity is Severity.ERROR), output


@pytest.mark.parametrize("rule", WITH_COMMANDS, ids=lambda rule: rule.id)
def test_good_command_is_accepted(rule: Rule, tmp_path: Path) -> None:
    assert rule.commands is not None
    code, output = shell(rule.commands.good, good_program(rule), tmp_path)
    assert code == 0, output
    assert not reported(output, rule)


REPORTING = {"report", "report_once", "report_memory", "finding", "memory_finding"}


def test_every_id_in_a_check_is_that_of_a_rule() -> None:
    named = {
        node.args[0].value: path.name
        for path in (Path(pto_dialect.__file__).parent / "verify").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in REPORTING
        if node.args and isinstance(node.args[0], ast.Constant)
    }
    assert len(named) > 300
    assert {id: file for id, file in named.items() if id not in RULES} == {}


def test_every_reported_rule_is_declared() -> None:
    """Nothing in the package reports under a name that the catalogue does not have."""
    package = Path(pto_dialect.__file__).parent
    call = re.compile(r'(?:Fault|ProgramError|\bg\.error|Unusable|Finding|Diagnostic|Message)\(\s*"([a-z0-9-]+)"')
    raised = re.compile(r'raise at\([^,]+,\s*"([a-z0-9-]+)"')
    named = {
        name: path.name
        for path in package.rglob("*.py")
        for pattern in (call, raised)
        for name in pattern.findall(path.read_text(encoding="utf-8"))
    }
    assert len(named) > 40
    assert {name: place for name, place in named.items() if name not in RULES} == {}


def test_free_names_take_the_stated_types() -> None:
    statement = "%r = pto.x %a, %b[%i], %r2 {k = 1 : i32} : !pto.ptr<f32, ub>, i64, memref<4xf32> -> f16"
    assert free_names(statement) == {
        "%a": "!pto.ptr<f32, ub>",
        "%b": "i64",
        "%i": "index",
        "%r2": "memref<4xf32>",
    }


def test_free_names_follow_the_order_of_the_type_list() -> None:
    statement = "pto.store_scalar %v, %p[%i] : !pto.ptr<f32, gm>, f32"
    assert free_names(statement) == {"%v": "f32", "%p": "!pto.ptr<f32, gm>", "%i": "index"}


def test_free_names_in_destination_passing_style() -> None:
    assert free_names("pto.t ins(%a, %b : !A, !B) outs(%c : !C)") == {"%a": "!A", "%b": "!B", "%c": "!C"}


def test_free_names_leave_out_what_an_earlier_line_defines() -> None:
    text = "%p = pto.castptr %c4 : i64 -> !pto.ptr<f32, ub>\npto.y %p, %n : !pto.ptr<f32, ub>, i64"
    assert free_names(text) == {"%c4": "i64", "%n": "i64"}


def test_example_program_declares_constants_and_arguments() -> None:
    text = example_program("pto.z %cm1, %c2, %x, %c3 : i64, f32, i1, !A16", "a2a3")
    assert "%cm1 = arith.constant -1 : i64" in text
    assert "%c2 = arith.constant 2.0 : f32" in text
    assert "(%x: i1, %c3: !A16)" in text
    assert '"a2a3"' in text and "!A16 = !pto.ptr<f16, l0a>" in text and "!A32" not in text
