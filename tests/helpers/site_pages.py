"""The built site in a browser: what is looked at on each page, and what it finds.

`python tests/helpers/site_pages.py build/site [--pictures FOLDER] [--pages rules.html ...]` looks at pages of the whole
site in three widths, light and dark, and tests the search.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from browser_pages import AXE, browser

PAGES = (
    *("index.html", "tutorial.html", "pto-run.html", "report.html", "rules.html", "architecture.html"),
    *("reference/index.html", "reference/target-tables.html", "reference/layouts.html"),
    *("operations/index.html", "operations/terms.html", "operations/pto.tmatmul.html", "operations/pto.tload.html"),
    *("operations/pto.mte_l0c_l1.html", "operations/families/mte.html", "sanitizers.html"),
)
"""One page of every kind, at the least."""
QUESTIONS = {"tload": "pto.tload", "row maximum": "pto.trowmax"}
"""What is written into the search, and the page that is to be among the first."""
WIDTHS = (1440, 800, 390)
PATIENCE = 600
"""Looks at what the search has found so far: 60 seconds on a busy machine."""
FIRST_PAINT = 1000
"""Milliseconds up to the first picture."""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing about it."""

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def opened(started: Any, address: str, said: list[str], width: int = WIDTHS[0], theme: str = "light") -> Any:
    """A page of the site; what it complains of, and what it fetches from elsewhere, is added to ``said``."""
    page = started.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
    page.on("console", lambda one: said.append(f"{address}: {one.text}") if one.type == "error" else None)
    page.on("pageerror", lambda one: said.append(f"{address}: {one}"))
    local = ("http://127.0.0.1", "file:", "data:", "blob:")
    page.on("request", lambda one: None if one.url.startswith(local) else said.append(f"{address}: {one.url}"))
    page.goto(address, timeout=120_000)  # A page of all rules takes its time on a busy machine.
    page.wait_for_load_state("load")
    return page


def complaints(page: Any) -> list[str]:
    """What axe finds that is serious or worse, as rule and place."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("() => axe.run({resultTypes: ['violations']})")
    serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    return [f"{one['id']} {node['target']} {node['failureSummary']}" for one in serious for node in one["nodes"][:4]]


def looks(started: Any, address: str, width: int, theme: str, pictures: Path | None = None) -> list[str]:
    """What is wrong with a page in a window of a width and a theme of the system; a picture of it goes to a folder."""
    said: list[str] = []
    page = opened(started, address, said, width, theme)
    where = f"{address} ({theme}, {width} points)"
    scheme = page.evaluate("() => document.body.getAttribute('data-md-color-scheme')")
    if scheme != {"light": "default", "dark": "slate"}[theme]:
        said.append(f"{where}: shown in {scheme}")
    wider = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    if wider > 0:
        said.append(f"{where}: {wider} points wider than the window")
    said += [f"{where}: {one}" for one in complaints(page)]
    if pictures is not None:
        name = "-".join(address.removesuffix(".html").split("/")[3:])
        page.screenshot(path=pictures / f"{name}-{width}-{theme}.png")
    page.close()
    return said


def paint(started: Any, address: str) -> float:
    """Milliseconds until something of a page is shown."""
    page = opened(started, address, [])
    page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length > 0")
    time = page.evaluate("() => performance.getEntriesByName('first-contentful-paint')[0].startTime")
    page.close()
    return time


def found(page: Any, question: str, wanted: str) -> list[str]:
    """The first titles that the search finds, with the keyboard alone, once ``wanted`` is among them or never comes."""
    page.keyboard.press("/")
    page.wait_for_function("() => document.activeElement.classList.contains('md-search__input')")
    page.keyboard.press("Control+a")
    page.keyboard.type(question)
    titles: list[str] = []
    for _ in range(PATIENCE):
        page.wait_for_timeout(100)
        titles = page.locator(".md-search-result__item").locator("h1, h2").all_text_contents()[:5]
        if any(wanted in title for title in titles):
            break
    page.keyboard.press("Escape")
    return titles


def searched(started: Any, address: str) -> list[str]:
    """What is wrong with the search."""
    said: list[str] = []
    page = opened(started, address, said)
    for question, wanted in QUESTIONS.items():
        titles = found(page, question, wanted)
        if not any(wanted in title for title in titles):
            said.append(f"{address}: {question!r} finds {titles}")
    page.close()
    return said


def looked_at(started: Any, address: str, path: str, pictures: Path | None) -> list[str]:
    """What is wrong with one page in all widths and themes, and whether it is painted in time."""
    wrong = [
        one
        for theme in ("light", "dark")
        for width in WIDTHS
        for one in looks(started, f"{address}/{path}", width, theme, pictures)
    ]
    time = min(paint(started, f"{address}/{path}") for _ in range(3))
    print(f"{path}: first paint after {time:.0f} ms, {len(wrong)} things wrong", flush=True)
    return [*wrong, *([f"{path}: first paint after {time:.0f} ms"] if time > FIRST_PAINT else [])]


def main() -> int:
    """Looks at the site; the number of things that are wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of what is looked at")
    parser.add_argument("--pages", nargs="*", metavar="PAGE", help="only these pages, without the search")
    chosen = parser.parse_args()
    pages = PAGES if chosen.pages is None else chosen.pages
    wrong: list[str] = []
    with browser() as started, served(chosen.site) as address:
        for path in pages:
            wrong += looked_at(started, address, path, chosen.pictures)
        if chosen.pages is None:
            wrong += searched(started, f"{address}/index.html")
            # Without a server, as a folder that was copied.
            wrong += searched(started, (chosen.site / "index.html").resolve().as_uri())
    for one in wrong:
        print(one)
    print(f"{len(pages)} pages, {len(wrong)} things wrong")
    return len(wrong)


if __name__ == "__main__":
    try:
        sys.exit(min(main(), 1))
    except pytest.skip.Exception as missing:
        sys.exit(f"site_pages: {missing}")
