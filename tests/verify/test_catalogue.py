"""The generated rule catalogue is complete, well formed and up to date."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pto_dialect.ir.cube.clauses import ACC_STORE, MAD
from pto_dialect.targets.release import known_releases
from pto_dialect.verify import catalogue
from pto_dialect.verify.engine.rule import RULES, WITHOUT_EXAMPLE, load_all_rules


@pytest.fixture(scope="module")
def text() -> str:
    """The catalogue as the rules make it."""
    return catalogue.render()


def test_the_catalogue_in_docs_is_what_the_rules_say(text: str) -> None:
    assert catalogue.CATALOGUE.read_text(encoding="utf-8") == text, (
        "docs/rules.md is out of date; run python -m pto_dialect.verify.catalogue"
    )


IN_THREADS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from pto_dialect.verify.engine.rule import read_rules

sys.setswitchinterval(1e-6)
start = Barrier(8)

def read(_):
    start.wait()
    return id(read_rules("passes"))

with ThreadPoolExecutor(8) as threads:
    print(len(set(threads.map(read, range(8)))))
"""


def test_threads_that_check_programs_declare_rules_once() -> None:
    """Compilers that call the verifier from a pool of threads read the same file of rules at the same time."""
    done = subprocess.run([sys.executable, "-c", IN_THREADS], capture_output=True, text=True)
    assert done.stdout == "1\n", done.stderr


def test_each_rule_has_one_row(text: str) -> None:
    load_all_rules()
    rows = re.findall(r"^\| \[?`([a-z0-9-]+)`", text, re.MULTILINE)
    assert sorted(rows) == sorted(RULES)


def test_each_entry_of_a_file_is_a_rule() -> None:
    """A head that does not parse would become a part of the programs of the rule above it."""
    folder = Path(catalogue.__file__).parent / "rules"
    heads = [line for path in folder.glob("*.txt") for line in path.read_text(encoding="utf-8").split("\n## ")[1:]]
    names = [head.split()[0] for head in heads if not head.startswith(("incorrect\n", "correct\n"))]
    firsts = [path.read_text(encoding="utf-8").split()[1] for path in folder.glob("*.txt")]
    assert sorted(names + firsts) == sorted(RULES)


def test_texts_with_facts_of_tables_state_them() -> None:
    assert RULES["mad-clause-order"].text == MAD.order_as_text
    assert RULES["fixp-clause-order"].text == ACC_STORE.order_as_text
    assert RULES["release-unknown"].text.endswith(f"names a release of the reference from {known_releases()}")


def test_rows_have_four_cells(text: str) -> None:
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}


def test_links_lead_to_headings(text: str) -> None:
    targets = set(re.findall(r"\]\(#([^)]+)\)", text))
    assert targets
    assert targets == set(re.findall(r"^### (.+)$", text, re.MULTILINE))


def test_examples_are_whole_programs(text: str) -> None:
    programs = re.findall(r"^```mlir\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    declared = [one for rule in RULES.values() for one in (rule.bad, rule.good) if one is not None]
    assert len(programs) == len(declared)
    assert all("module" in program for program in programs)


def test_every_rule_has_its_section(text: str) -> None:
    """A failing and a fixed program or command; only what nothing can show has none."""
    sections = re.findall(r"^### (.+?)$(.*?)(?=^##)", text + "\n## end", re.MULTILINE | re.DOTALL)
    assert {name for name, _ in sections} == set(RULES) - set(WITHOUT_EXAMPLE)
    assert all("Rejected:\n" in shown and "Accepted:\n" in shown for _, shown in sections)


def test_every_stage_has_its_section() -> None:
    load_all_rules()
    assert {rule.stage for rule in RULES.values()} <= set(catalogue.STAGES)


def test_writing(tmp_path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(catalogue, "CATALOGUE", tmp_path / "docs" / "rules.md")
    catalogue.main()
    assert (tmp_path / "docs" / "rules.md").read_text(encoding="utf-8") == text
