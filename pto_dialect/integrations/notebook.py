"""Programs in notebooks: the cell magic ``%%pto``, and modules, findings and tile types shown as HTML.

``%load_ext pto_dialect.integrations.notebook`` enables both. A cell that starts with ``%%pto NAME`` is a program: it is
checked, its diagnostics are shown below it, and the module is bound to ``NAME``, the text to ``NAME_text``.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.api import CheckResult, check, parse, print_module
from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.render import excerpt
from pto_dialect.ir.core.types import TileBufType, byte_width, type_text

_COLOURS = {Severity.ERROR: "#c0392b", Severity.WARNING: "#b7791f", Severity.INFO: "#2b6cb0"}
_PRE = '<pre style="line-height:1.3;margin:0">'


def module_html(module: ModuleOp) -> str:
    """Returns the printed form of a module."""
    return f"{_PRE}{escape(print_module(module))}</pre>"


def findings_html(found: Iterable[Diagnostic]) -> str:
    """Returns a table of findings: severity, place, message with the line that it is about, and what would be right."""
    rows = "".join(_row(diag) for diag in found)
    return f"<table>{rows}</table>" if rows else "<p>nothing found</p>"


def _row(diag: Diagnostic) -> str:
    place = shown = ""
    if diag.span is not None:
        line, column = diag.span.source.line_col(diag.span.start)
        place = f"{line}:{column}"
        text, pad, mark = excerpt(diag.span)
        shown = f"{_PRE}{escape(text)}\n{' ' * pad}{escape(mark)}</pre>"
    help = f"<div>help: {escape(diag.help)}</div>" if diag.help is not None else ""
    word = f'<b style="color:{_COLOURS[diag.severity]}">{diag.severity.label}</b>'
    what = f"{escape(diag.message)} <code>[{escape(diag.rule)}]</code>{shown}{help}"
    return f'<tr><td>{word}</td><td>{place}</td><td style="text-align:left">{what}</td></tr>'


def tile_html(type_: TileBufType) -> str:
    """Returns a tile type: memory, shapes, layouts and bytes, as a table."""
    size = byte_width(type_.element)
    rows = {
        "memory": type_.loc,
        "shape": f"{type_.rows} × {type_.cols}",
        "valid": " × ".join("?" if n < 0 else str(n) for n in (type_.valid_rows, type_.valid_cols)),
        "elements": type_text(type_.element),
        "layout": f"{type_.blayout}, {type_.slayout}, fractal {type_.fractal}",
        "bytes": "?" if size is None else f"{type_.rows * type_.cols * size:,}",
    }
    cells = "".join(f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in rows.items())
    return f"<table><caption><code>{escape(type_text(type_))}</code></caption>{cells}</table>"


def result_html(result: CheckResult) -> str:
    """Returns what checking a program has found."""
    return findings_html(result.diagnostics)


def pto(line: str, cell: str, shell: Any) -> Any:
    """Returns the magic: checks the program in ``cell`` and binds its module to the name in ``line``."""
    name, *options = line.split() or [""]
    if options or (name and not name.isidentifier()):
        raise ValueError(f"%%pto takes a name for the module, found '{line.strip()}'")
    result = check(cell)
    if name and result.ok:
        shell.user_ns[name] = parse(cell, name)
        shell.user_ns[f"{name}_text"] = cell
    if result.diagnostics or not name:
        return result
    return None


def load_ipython_extension(shell: Any) -> None:
    """What ``%load_ext`` calls."""

    def magic(line: str, cell: str) -> Any:
        return pto(line, cell, shell)

    shell.register_magic_function(magic, "cell", "pto")
    html = shell.display_formatter.formatters["text/html"]
    html.for_type(ModuleOp, module_html)
    html.for_type(CheckResult, result_html)
    html.for_type(Diagnostic, lambda diag: findings_html([diag]))
    html.for_type(TileBufType, tile_html)
