"""What a search shows first, in a terminal and on the site."""

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from groups import in_groups

from pto_dialect.driver.explain.search.documents import documents
from pto_dialect.driver.explain.search.guides import GUIDES, slug
from pto_dialect.driver.explain.search.index import search_index
from pto_dialect.driver.explain.search.ranking import search
from pto_dialect.ir.core.index import OPS

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"


def rows_of(name: str) -> list[tuple[str, list[str]]]:
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    parts = (line.partition("|") for line in lines if not line.startswith("#"))
    return [(question.strip(), answers.split()) for question, _, answers in parts]


ROWS = rows_of("questions.txt")
AUTHORS = rows_of("author_questions.txt")
RANK = """
globalThis.self = globalThis;
const { readFileSync } = require("fs");
const [script, index, questions] = process.argv.slice(1).map((file) => readFileSync(file, "utf-8"));
const Ranker = eval(`${script};Ranker`);
const ranker = new Ranker(JSON.parse(index));
const keys = (question) => ranker.search(question).slice(0, 8).map(([, { key }]) => key);
console.log(JSON.stringify(JSON.parse(questions).map(keys)));
"""


@cache
def found(question: str) -> list[str]:
    """The keys of all results in a terminal."""
    return [document.key for document in search(question)]


def answers(key: str, wanted: list[str]) -> bool:
    """Whether a result is one of those, or a part of one of those pages."""
    return key in wanted or key.partition("#")[0] in wanted


def test_answers_are_what_can_be_found() -> None:
    assert len(ROWS) >= 200
    keys = {document.key for document in documents()}
    assert [(question, one) for question, wanted in ROWS for one in wanted if one not in keys] == []


def test_right_pages_come_first() -> None:
    results = {question: found(question)[:3] for question, _ in ROWS}
    first = [question for question, wanted in ROWS if not answers(results[question][0], wanted)]
    missed = [question for question, wanted in ROWS if not any(answers(key, wanted) for key in results[question])]
    assert len(first) <= 0.06 * len(ROWS), first
    assert len(missed) <= 0.01 * len(ROWS), missed


@in_groups("name", list(OPS)[::20])
def test_a_name_finds_its_page(name: str) -> None:
    assert search(name)[0].key == search(name.removeprefix("pto."))[0].key == name


def test_a_name_is_found_while_it_is_typed() -> None:
    assert search("tmat")[0].key == "pto.tmatmul"
    assert search("mem-u")[0].key == "mem-uninit"
    assert search("insert-s")[0].key == "docs/insert-sync.md"


def test_nothing_is_found_where_no_term_is_known() -> None:
    assert search("qwertz") == search("") == search("the of") == []


def test_every_page_can_be_found() -> None:
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert pages == {page for page in GUIDES if "#" not in page}
    for page, (title, _) in GUIDES.items():
        path, _, anchor = page.partition("#")
        lines = (DOCS / path).read_text(encoding="utf-8").splitlines()
        heading = re.sub(r"[`*]", "", lines[0].removeprefix("# "))
        if anchor:
            assert anchor in {slug(line.removeprefix("## ")) for line in lines if line.startswith("## ")}, page
        else:
            assert heading.startswith(title), (page, heading)


def test_the_site_ranks_as_the_terminal(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js runs the script of the site, and is not there")
    questions = [question for question, _ in ROWS + AUTHORS] + [
        "tmat",
        "PTO.TLOAD",
        "mem-u",
        "C++",
        "x + y",
        "",
        "qwertz",
    ]
    (tmp_path / "index.json").write_text(json.dumps(search_index()), encoding="utf-8")
    (tmp_path / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
    files = [DOCS / "site" / "theme" / "assets" / "search.js", tmp_path / "index.json", tmp_path / "questions.json"]
    ran = subprocess.run([node, "-e", RANK, *map(str, files)], capture_output=True, text=True, check=True, timeout=120)
    assert json.loads(ran.stdout) == list(map(found, questions))


def test_the_index_of_the_site_is_small() -> None:
    assert len(json.dumps(search_index(), ensure_ascii=False, separators=(",", ":"))) <= 400_000
