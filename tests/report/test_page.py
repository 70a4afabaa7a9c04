"""The page itself: what enters it, what it is made of. Source: docs/report.md, "What is in the page"."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest
from read_pages import Read, page

from pto_dialect.report import page as pages

FOLDER = Path(pages.__file__).parent / "page"
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    '"onload="alert(1)',
    "&lt;b&gt; & 'quotes'",
    "\u2028\u2029",
    "]]>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_stay_texts(text: str) -> None:
    inside = pages.escaped({"text": text})
    assert json.loads(inside) == {"text": text}
    assert not re.search("[<>&\u2028\u2029]", inside)


def test_names_and_texts_of_programs_never_leave_the_document(tmp_path: Path) -> None:
    program = """// </script><img src=x onerror="document.title='broken'">
module attributes {pto.target_arch = "a5"} {
  func.func @"</title><script>alert(1)</script>"(%a: !pto.ptr<f32, gm>) attributes {pto.kernel} {
    return
  }
}
"""
    found = Read(page(tmp_path, program, "--arg", "0=zeros:f32:8", "--entry", "</title><script>alert(1)</script>"))
    assert found.doc["entry"] == "</title><script>alert(1)</script>"
    assert "</title><script>alert" not in found.text
    assert "onerror=" not in found.text.replace(
        json.dumps(program)[1:-1].replace("<", "\\u003c").replace(">", "\\u003e"), ""
    )
    assert found.text.count("<script") == 2 + found.text.count('id="chunk-')


def test_nothing_but_the_code_of_the_package_may_run(tmp_path: Path) -> None:
    text = pages.html({"entry": "f", "file": "x"}, {1: "QUJD"})
    code = re.findall(r"<script>(.*?)</script>", text, re.S)
    assert len(code) == 1
    digest = base64.b64encode(hashlib.sha256(code[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert "default-src 'none'" in text


def test_nothing_comes_from_the_network() -> None:
    text = pages.html({"entry": "f", "file": "x"}, {})
    plain = text.replace("http://www.w3.org/2000/svg", "").replace("http://www.w3.org/1999/xlink", "")
    assert not re.search(r"""(src|href)\s*=\s*["'](https?:)?//""", plain)
    assert "@import" not in plain and "url(http" not in plain


def test_all_sources_are_part_of_the_page() -> None:
    assert sorted(one.name for one in FOLDER.glob("*.js")) == sorted(pages._SCRIPTS)
    assert sorted(one.name for one in (FOLDER / "vendor").glob("*.js")) == sorted(pages._LIBRARIES)
    assert all((FOLDER / name).is_file() for name in pages._STYLES)


def test_sources_make_no_markup_and_run_no_text() -> None:
    for source in FOLDER.glob("*.js"):
        text = source.read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|createContextualFragment",
            text,
        ), source
        assert text.count("\n") <= 500, source


def test_libraries_are_those_that_are_named_with_their_licences() -> None:
    vendor = FOLDER / "vendor"
    rows = json.loads((vendor / "libraries.json").read_text(encoding="utf-8"))
    assert {row["file"] for row in rows} == {one.name for one in vendor.iterdir()} - {"libraries.json", "LICENSES.txt"}
    licences = (vendor / "LICENSES.txt").read_text(encoding="utf-8")
    for row in rows:
        assert hashlib.sha256((vendor / row["file"]).read_bytes()).hexdigest() == row["sha256"], row["file"]
        assert f"{row['package']} {row['version']}" in licences
        assert row["licence"] in ("ISC", "MIT", "BSD-3-Clause")
