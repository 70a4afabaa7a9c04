"""The page: one HTML file with everything inside.  Source: docs/report.md, "What is in the page".

The document enters as JSON in script elements that no browser executes; the only code are the package's own files,
which the page's policy names by their hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pto_dialect.diagnostics.file_kinds import PAGE_MARK

_LIBRARIES = (
    "d3-array.min.js", "d3-color.min.js", "d3-format.min.js", "d3-interpolate.min.js", "d3-time.min.js",
    "d3-time-format.min.js", "d3-scale.min.js", "d3-scale-chromatic.min.js", "uPlot.iife.min.js", "dagre.min.js",
)  # fmt: skip
"""Libraries of others, in the order in which they need each other."""

_SCRIPTS = (
    "core.js", "dom.js", "decode.js", "model.js", "access.js", "format.js", "selection.js", "source.js",
    "timeline.js", "timeline_draw.js", "advice.js", "limits.js", "findings.js", "memory.js", "tiles.js",
    "tile_draw.js", "flow.js", "roofline.js", "main.js",
)  # fmt: skip
_STYLES = ("vendor/uPlot.min.css", "page.css", "parts.css")

_TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{mark}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="app"><p class="loading">Reading the run …</p></div>
<noscript>This page shows a run of a program; it needs JavaScript, which it brings along.</noscript>
<script type="application/json" id="run">{document}</script>
{chunks}
<script>{code}</script>
</body>
</html>
"""


def escaped(value: Any) -> str:
    """JSON that can stand inside of a script element, whatever texts it has."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    escapes = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
    return text.translate(str.maketrans(escapes))


@cache
def _code() -> str:
    page = files("pto_dialect.report") / "page"
    libraries = [(page / "vendor" / name).read_text(encoding="utf-8") for name in _LIBRARIES]
    own = "\n".join((page / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    # The end tag of a script element would end this element, wherever it occurs.
    return "\n".join((*libraries, f'(() => {{"use strict";\n{own}\n}})();')).replace("</script", "<\\/script")


@cache
def _style() -> str:
    page = files("pto_dialect.report") / "page"
    return "\n".join((page / name).read_text(encoding="utf-8") for name in _STYLES)


def _text(value: str) -> str:
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def html(document: Mapping[str, Any], chunks: Mapping[int, str]) -> str:
    """Returns the page that shows ``document``, with the compressed contents ``chunks`` in base64."""
    code = _code()
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode("ascii")
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = [f'<script type="text/plain" id="chunk-{number}">{data}</script>' for number, data in chunks.items()]
    return _TEMPLATE.format(
        mark=PAGE_MARK,
        policy=policy,
        title=_text(f"{document['entry']} · {document['file']}"),
        style=_style(),
        document=escaped(document),
        chunks="\n".join(parts),
        code=code,
    )
