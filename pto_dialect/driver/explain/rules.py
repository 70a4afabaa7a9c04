"""Explains rules: ``--explain`` and ``--list-rules``."""

from __future__ import annotations

from pto_dialect.diagnostics.engine import DiagnosticOptions
from pto_dialect.diagnostics.suggest import nearest_or
from pto_dialect.verify.engine.example_programs import bad_program, good_program
from pto_dialect.verify.engine.rule import REPORTED_AS, RULES, WITHOUT_EXAMPLE, Rule, load_all_rules

from ..aligned import aligned


class UnknownRuleError(ValueError):
    """There is no rule of this id."""


def known_rules() -> dict[str, Rule]:
    """Returns every rule by id, sorted."""
    load_all_rules()
    return dict(sorted(RULES.items()))


def find_rule(id: str) -> Rule:
    """Returns the rule called ``id``; raises :class:`UnknownRuleError` that says which one may have been meant."""
    rules = known_rules()
    if id in rules:
        return rules[id]
    raise UnknownRuleError(f"unknown rule '{id}'; {nearest_or(id, rules, 'see --list-rules', 3)}")


def explain(declared: Rule) -> str:
    """Returns a page about one rule: what it demands, how severe it is, who checks it, a rejected and an accepted
    program."""
    lines = [
        f"{declared.id}: {declared.text}",
        "",
        f"severity  {declared.severity.label}",
        f"pass      {declared.stage}",
        f"source    {declared.source}",
    ]
    if declared.id in WITHOUT_EXAMPLE:
        lines += ["", f"No program shows it: {WITHOUT_EXAMPLE[declared.id]}."]
    bad, good = bad_program(declared), good_program(declared)
    commands = declared.commands
    if bad is not None:
        lines += ["", "This program breaks it:", "", *_indented(bad)]
        lines += ["", *_reported(bad, declared)] if commands is None else ["", f"    $ {commands.bad}"]
    elif commands is not None:
        lines += ["", "This command breaks it:", "", f"    $ {commands.bad}"]
    if good is not None:
        lines += ["", "This program satisfies it:", "", *_indented(good)]
        lines += [] if commands is None else ["", f"    $ {commands.good}"]
    elif commands is not None:
        lines += ["", "This command satisfies it:", "", f"    $ {commands.good}"]
    return "\n".join(lines).rstrip() + "\n"


def _reported(program: str, declared: Rule) -> list[str]:
    """Returns the diagnostics of the program that violates the rule."""
    from pto_dialect.diagnostics.render import render_text  # deferred: start-up

    from ..options import Options  # deferred: start-up
    from ..pipeline import process  # deferred: start-up

    wanted = REPORTED_AS.get(declared.id, declared.id)
    options = Options(printing=False, policy=DiagnosticOptions(pedantic=True, max_errors=0))
    found = [diag for diag in process(program, "example.pto", options).diagnostics if diag.rule == wanted]
    return _indented(render_text(found[:1]))


def _indented(text: str) -> list[str]:
    return [f"    {line}".rstrip() for line in text.rstrip("\n").split("\n")]


def list_rules() -> str:
    """Returns a table of all rules: id, severity, pass, text."""
    rows = [(rule.id, rule.severity.label, rule.stage, rule.text) for rule in known_rules().values()]
    head = ("rule", "severity", "pass", "demands")
    return "".join(f"{line}\n" for line in aligned((head, *rows), "<<<<"))


def list_rules_json() -> str:
    """Returns all rules as a JSON document: ``{"version": 1, "rules": [{"id", "severity", "pass", "text",
    "source"}]}``."""
    import json  # deferred: start-up

    rules = [_facts(rule) for rule in known_rules().values()]
    return json.dumps({"version": 1, "rules": rules}, indent=2) + "\n"


def as_data(rule: Rule) -> dict[str, object]:
    """Returns a rule for JSON, with its programs and commands."""
    commands = rule.commands
    return {
        **_facts(rule),
        "incorrect": bad_program(rule),
        "correct": good_program(rule),
        "commands": None if commands is None else {"incorrect": commands.bad, "correct": commands.good},
    }


def _facts(rule: Rule) -> dict[str, object]:
    return {
        "id": rule.id,
        "severity": rule.severity.label,
        "pass": rule.stage,
        "text": rule.text,
        "source": rule.source,
    }
