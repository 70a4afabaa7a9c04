"""The generated pages of the site: one for each operation, links that lead somewhere, and a home page."""

import re
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from groups import in_groups

from pto_dialect.driver.explain.lookup import operation_named
from pto_dialect.driver.explain.site import operation_pages, page_at, paths
from pto_dialect.driver.reference.operations import TITLES
from pto_dialect.ir.core.index import OPS

PROGRAM = """
  %c16 = arith.constant 16 : i64 // a remark
  pto.tadd ins(%a, %b : !pto.tile_buf<vec, 16x16xf32>, !t) outs(%c : !t)
"""
ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
PATHS = paths()
SOME = [path for path in PATHS if "/pto." not in path] + [f"operations/{name}.md" for name in list(OPS)[::40]]


def hooks() -> ModuleType:
    spec = spec_from_file_location("site_hooks", DOCS / "site" / "hooks.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_operation_has_a_page_and_is_explained() -> None:
    assert {f"operations/{name}.md" for name in OPS} <= set(PATHS)
    assert len(PATHS) == len(set(PATHS))
    assert [name for name in OPS if operation_named(name) != name] == []


@in_groups("path", SOME)
def test_links_lead_to_pages(path: str) -> None:
    text = page_at(path)
    assert text.startswith('---\ntitle: "')
    for target in re.findall(r"(?<!\\)\]\(([^)#]+)", text):
        found = ((DOCS / path).parent / target).resolve().relative_to(DOCS)
        assert str(found) in PATHS or (DOCS / found).is_file(), (path, target)


def test_an_unknown_page_is_none() -> None:
    with pytest.raises(KeyError):
        page_at("operations/pto.nothing.md")


def test_cells_hold_no_characters_with_a_meaning() -> None:
    text = page_at("operations/families/tile_elementwise.md")
    assert "src0\\[i,j\\] &lt;&lt; src1\\[i,j\\]" in text
    for block in re.findall(r"(?:^\|.*\n)+", page_at("operations/pto.mad.md"), re.MULTILINE):
        assert len({line.count("|") for line in block.splitlines()}) == 1


def test_the_home_page_is_the_readme_with_links_of_the_site() -> None:
    text = hooks().home()
    assert "# pto_dialect" in text and "(operations/index.md)" in text
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert target in PATHS or (DOCS / target).is_file(), target


def test_programs_are_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    pygments = pytest.importorskip("pygments")
    monkeypatch.syspath_prepend(str(DOCS / "site"))
    import_module("pto_lexer").register()
    lexer = import_module("pygments.lexers").get_lexer_by_name("mlir")
    found = {text: str(token) for token, text in pygments.lex(PROGRAM, lexer)}
    assert found["pto.tadd"] == found["arith.constant"] == "Token.Name.Function"
    assert found["%a"] == "Token.Name.Variable" and found["i64"] == "Token.Keyword.Type"
    assert found["// a remark"] == "Token.Comment.Single" and found["16"] == "Token.Literal.Number"
    assert "".join(text for _, text in pygments.lex(PROGRAM, lexer)).strip() == PROGRAM.strip()


def test_the_navigation_has_operations_by_family() -> None:
    pages = operation_pages()
    assert [name for names in pages.values() for name in names[1:]] == [
        f"operations/{name}.md" for family in TITLES for name in OPS if OPS[name][0] == family
    ]
    nav = [{"Guides": []}, {"Operations": ["operations/index.md"]}, {"Reference": []}]
    hooks().on_config(SimpleNamespace(nav=nav))
    assert [next(iter(entry)) for entry in nav[1]["Operations"][1:]] == list(TITLES.values())


def test_the_navigation_has_every_page_but_the_generated_ones() -> None:
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r"([\w/-]+\.md)$", config, re.MULTILINE)
    known = [name for name in named if name not in ("index.md", "reference/numerics.md", "performance.md")]
    nav = [{"Home": "index.md"}, {"Guides": known}, {"Reference": ["reference/README.md"]}]
    hooks().on_config(SimpleNamespace(nav=nav))
    (_, guides, reference) = (next(iter(entry.values())) for entry in nav)
    assert "reference/numerics.md" in reference and "performance.md" in guides
    written = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert {*guides, *reference} == written | {"operations/index.md", "operations/terms.md"}
