"""What MkDocs runs: generated pages, operations in the navigation, colours of programs, the home page from the README,
links that lead out of the documentation."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from pto_dialect.driver.explain.search.index import search_index
from pto_dialect.driver.explain.site import operation_pages, pages

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_DOCS_LINK = re.compile(r"\]\(docs/([^)]*)\)")
_WORKER = re.compile(r'("search": ")((?:\.\./)*|\./)assets/javascripts/workers/search\.\w+\.min\.js"')
_DIALOG = re.compile(r'(data-md-component="search" role="dialog")')
_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?!https?:|docs/|#|mailto:)[^)]*\)")


def on_config(config: Any) -> Any:
    """Operations are in the navigation by family; pages that it does not name are at the end of the guides, or of the
    reference."""
    sys.path.append(str(DOCS / "site"))
    import_module("pto_lexer").register()
    sections = {name: entry[name] for entry in config.nav for name in entry}
    sections.get("Operations", []).extend({title: names} for title, names in operation_pages().items())
    known = set(_named(config.nav))
    for path in sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")):
        if path not in known:
            sections["Reference" if path.startswith("reference/") else "Guides"].append(path)
    return config


def _named(entry: Any) -> Iterator[str]:
    """The pages of a part of the navigation."""
    if isinstance(entry, str):
        yield entry
    for inner in entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ():
        yield from _named(inner)


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages that no file holds."""
    file = import_module("mkdocs.structure.files").File
    for path, text in (("index.md", home()), *pages()):
        files.append(file.generated(config, path, content=text))
    return files


WAYS = """
<div class="ways" markdown>

[**Check a program**<br>
Errors with their source location, the rule and a correction: `.pto`, C++ and Python builders.](commands/check.md)

[**Run a kernel**<br>
On numpy buffers with the numerics of the chip; sanitizers find races, deadlocks and reads of old bytes.](tutorial.md)

[**Look up an operation**<br>
A page for each of them: mechanism, syntax, units, constraints, and an example that was run.](operations/index.md)

</div>

![A run of flash attention as a page: its source, and what each pipe does over time](images/report-timeline.png)
"""
"""What the home page has before the text of the README."""


def home() -> str:
    """The README as the first page: links go to pages of the site, what is no page is named only."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    text = _OUTSIDE.sub(r"\1", text)
    text = _DOCS_LINK.sub(lambda link: f"]({_page(link[1])})", text)
    title, paragraph, rest = text.split("\n\n", 2)
    return f"---\nhide: [navigation]\n---\n\n{title}\n\n{paragraph}\n{WAYS}\n{rest}"


def _page(path: str) -> str:
    return path if path.partition("#")[0].endswith(".md") else f"{path.rstrip('/')}/README.md"


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links to files outside of the documentation become names; the README is the home page."""
    del config, files
    depth = page.file.src_uri.count("/")
    markdown = re.sub(
        r"\]\((?:\.\./)+README\.md(#[^)]*)?\)", lambda m: f"]({'../' * depth}index.md{m[1] or ''})", markdown
    )
    out = "../" * (depth + 1)
    markdown = re.sub(rf"\[([^\]]+)\]\({re.escape(out)}[^)]*\)", r"\1", markdown)
    return markdown.replace("```mermaid\n", "```text\n")


def on_post_page(output: str, page: Any, config: Any) -> str:
    """The dialog of the search has a name, which the theme leaves out; screen readers say it. Another worker ranks."""
    del page, config
    output = _WORKER.sub(r'\1\2assets/search.js"', output)
    return _DIALOG.sub(r'\1 aria-label="Search"', output)


def on_post_build(config: Any) -> None:
    """The index that the worker takes, in place of the texts of all pages."""
    file = Path(config.site_dir, "search", "search_index.json")
    index = {"config": {"lang": ["en"]}, "docs": search_index()}
    file.write_text(json.dumps(index, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
