"""The generated part of the site: a page for each operation, each family and each term, and an overview.

``python -m pto_dialect.driver.explain.site FOLDER`` writes them.
"""

from __future__ import annotations

import html
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pto_dialect.diagnostics.files import atomic_write
from pto_dialect.families import level_of
from pto_dialect.ir.core.base import op_spec
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class
from pto_dialect.runtime.kernels.refusals import reason
from pto_dialect.targets.choice import get_profile

from ..reference.operations import TITLES, pipe, targets
from .layouts import BY_NAME
from .manual.prose import prose_of
from .operation import operation_page
from .page import Block, Code, Page, Picture, Section, Table, Text, code, plain, segments
from .terms import terms
from .type_keys import KEYS

TERMS = (
    *(name.lower() for name in BY_NAME),
    *("pipe_s", "pipe_v", "pipe_m", "pipe_mte1", "pipe_mte2", "pipe_mte3", "pipe_fix"),
    *("gm", "ub", "l1", "l0a", "l0b", "l0c", "bt", "fb", "vec", "mat", "left", "right", "acc", "bias", "scaling"),
    *("pto.ptr", "pto.tensor_view", "pto.partition_tensor_view", "pto.tile_buf", "pto.multi_tile_buf", "pto.tile"),
    *("pto.vreg", "pto.mask", "pto.align", "pto.vmi.vreg", "pto.vmi.mask", "pto.pipe", "pto.local_array", "pto.struct"),
    *KEYS,
    *("a2a3", "a5"),
)
"""Terms with a page of their own; the others are in the reference."""


_ALL_TERMS = "terms"


def paths() -> list[str]:
    """Returns the paths of the generated pages below the folder of the documentation."""
    return [
        *(f"operations/{name}.md" for name in _PAGES),
        *(f"operations/families/{family}.md" for family in TITLES),
        *(f"operations/{name}.md" for name in OPS),
        *(f"operations/{term_file(term)}" for term in TERMS),
    ]


def operation_pages() -> dict[str, list[str | dict[str, str]]]:
    """Returns the pages of each family by its title: the comparison of its operations, then each of them."""
    return {
        title: [
            {"Comparison": f"operations/families/{family}.md"},
            *(f"operations/{name}.md" for name in OPS if OPS[name][0] == family),
        ]
        for family, title in TITLES.items()
    }


def page_at(path: str) -> str:
    """Returns the Markdown of one generated page. Raises ``KeyError`` for another path."""
    name = path.removeprefix("operations/").removesuffix(".md")
    if name in OPS:
        return render(operation_page(name))
    if name in _PAGES:
        return render(_PAGES[name]())
    if name.startswith("families/"):
        return render(_family(name.removeprefix("families/"))).replace("](pto.", "](../pto.")
    return render(terms()[{term_file(term): term for term in TERMS}[f"{name}.md"]]())


def pages() -> Iterator[tuple[str, str]]:
    """Yields each generated page: its path, and its Markdown."""
    for path in paths():
        yield path, page_at(path)


def term_file(term: str) -> str:
    """Returns the file of a term."""
    return f"term-{term.replace('.', '-')}.md"


def _overview() -> Page:
    rows = []
    for family, title in TITLES.items():
        names = [name for name in OPS if OPS[name][0] == family]
        known = dict.fromkeys(target for name in names for target in targets(op_class(name)).split(", ") if target)
        runs = sum(reason(name) is None for name in names)
        rows.append((f"[{title}](families/{family}.md)", str(len(names)), str(runs), ", ".join(known)))
    intro = (
        f"The {len(OPS)} operations by family, each with a page. Search finds them by name and by what they are for; "
        "`pto-opt --explain NAME` shows the same page in a terminal. Types, pipes, memories and layouts are "
        f"explained as [terms]({_ALL_TERMS}.md)."
    )
    heads = ("family", "operations", "run", "targets")
    return Page("Operations", "", (Section("Families", (Text(intro), Table(heads, tuple(rows)))),))


def _family(family: str) -> Page:
    rows: list[tuple[str, ...]] = []
    for name in (name for name in OPS if OPS[name][0] == family):
        cls = op_class(name)
        spec = op_spec(cls)
        touched = " ".join(
            [
                *(f"reads {code('%' + name)}" for name in spec.reads[:3]),
                *(f"writes {code('%' + name)}" for name in spec.writes[:3]),
            ]
        )
        runs = "yes" if reason(name) is None else "no"
        said = prose_of(name)
        formula = "; ".join(map(plain, said.formula)) if len(said.formula) == 1 else "–"
        row = (f"[`{name}`]({name}.md)", said.summary, formula, pipe(cls), targets(cls) or "–", touched or "–", runs)
        rows.append((*row, *_types(name)))
    heads = ("operation", "what it does", "formula", "pipe", "targets", "memory", "runs")
    if all(row[2] == "–" for row in rows):
        heads, rows = (*heads[:2], *heads[3:]), [(*row[:2], *row[3:]) for row in rows]
    extra = ("types on a2a3", "types on a5") if rows and len(rows[0]) > len(heads) else ()
    if not extra:
        rows = [row[: len(heads)] for row in rows]
    level = level_of(family)
    summary = f"{len(rows)} operations" + (f" of the level {level}" if level else "")
    return Page(TITLES[family], summary, (Section("Comparison", (Table((*heads, *extra), tuple(rows)),)),))


def _types(name: str) -> tuple[str, ...]:
    """Element types on both targets, for families of tile operations."""
    if not OPS[name][0].startswith("tile_"):
        return ()
    rows = [get_profile(target).tile_dtypes.get(name.removeprefix("pto."), frozenset()) for target in ("a2a3", "a5")]
    return tuple(" ".join(sorted(row)) or "–" for row in rows)


def _terms() -> Page:
    made = terms()
    rows = tuple((f"[`{term}`]({term_file(term)})", made[term]().summary) for term in TERMS)
    return Page("Terms", "types and their keys, pipes, memories, locations, layouts and targets", (
        Section("All terms", (Table(("term", "meaning"), rows),)),
    ))  # fmt: skip


_PAGES: dict[str, Callable[[], Page]] = {"index": _overview, _ALL_TERMS: _terms}
"""Pages that are not about one thing."""


def main() -> None:
    """Writes every page below the folder that the command line names."""
    folder = Path(sys.argv[1])
    for path, text in pages():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        atomic_write(folder / path, text)


if __name__ == "__main__":
    main()


def render(page: Page) -> str:
    """Returns the whole page."""
    lines = ["---", f"title: {json.dumps(page.title)}", "---", "", f"# {html.escape(page.title)}", ""]
    if page.summary:
        lines += [inline(page.summary), ""]
    for section in page.sections:
        lines += [f"## {section.title}", ""]
        for block in section.blocks:
            lines += [*_lines(block), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def inline(text: str) -> str:
    """Returns a text or cell: code as HTML, so that no character in it has a meaning."""
    return "".join(
        f"<code>{_entities(part)}</code>" if is_code else part.replace("<", "&lt;").replace("|", "&#124;")
        for is_code, part in segments(text)
    )


def _entities(text: str) -> str:
    """Characters that mean something in Markdown or HTML as entities."""
    return "".join(f"&#{ord(char)};" if char in "&<>|*_[]\\`{}!" else char for char in text)


def _lines(block: Block) -> Iterable[str]:
    if isinstance(block, Code):
        return [f"```{block.language}", *block.text.split("\n"), "```"]
    if isinstance(block, Picture):
        return [f'<div class="layout">{block.svg}</div>']
    if isinstance(block, Table):
        heads = "| " + " | ".join(map(inline, block.heads)) + " |"
        return [
            heads,
            "|" + "---|" * len(block.heads),
            *("| " + " | ".join(map(inline, row)) + " |" for row in block.rows),
        ]
    return [inline(block.text)]
