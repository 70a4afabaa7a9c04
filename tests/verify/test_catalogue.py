"""The generated rule catalogue is complete, well formed and up to date."""

import re

import pytest

from pto_dialect.verify import catalogue
from pto_dialect.verify.engine.rule import RULES, WITHOUT_EXAMPLE
from pto_dialect.verify.verifier import load_all_rules

TEXT = catalogue.render()


def test_the_catalogue_in_docs_is_what_the_rules_say() -> None:
    assert catalogue.CATALOGUE.read_text(encoding="utf-8") == TEXT, (
        "docs/rules.md is out of date; run python -m pto_dialect.verify.catalogue"
    )


def test_each_rule_has_one_row() -> None:
    load_all_rules()
    rows = re.findall(r"^\| \[?`([a-z0-9-]+)`", TEXT, re.MULTILINE)
    assert sorted(rows) == sorted(RULES)


def test_rows_have_four_cells() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("|")]
    assert rows
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}


def test_links_lead_to_headings() -> None:
    targets = set(re.findall(r"\]\(#([^)]+)\)", TEXT))
    assert targets
    assert targets == set(re.findall(r"^### (.+)$", TEXT, re.MULTILINE))


def test_examples_are_whole_programs() -> None:
    programs = re.findall(r"^```mlir\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    declared = [text for rule in RULES.values() for text in (rule.bad, rule.good) if text is not None]
    assert len(programs) == len(declared)
    assert all("module" in program for program in programs)


def test_every_rule_has_its_section() -> None:
    """A failing and a mended program or command; only what nothing can show has none."""
    sections = re.findall(r"^### (.+?)$(.*?)(?=^##)", TEXT + "\n## end", re.MULTILINE | re.DOTALL)
    assert {name for name, _ in sections} == set(RULES) - set(WITHOUT_EXAMPLE)
    assert all("Rejected:\n" in text and "Accepted:\n" in text for _, text in sections)


def test_every_stage_has_its_section() -> None:
    load_all_rules()
    assert {rule.stage for rule in RULES.values()} <= set(catalogue.STAGES)


def test_writing(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "CATALOGUE", tmp_path / "docs" / "rules.md")
    catalogue.main()
    assert (tmp_path / "docs" / "rules.md").read_text(encoding="utf-8") == TEXT
