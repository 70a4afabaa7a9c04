"""Proofs from the editor: the verdict about the order of each function, when somebody wants to know.

Source: docs/pto-lsp.md, "Features".
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from pto_dialect.children import python_command, run_child_async

from .diagnostics import SOURCE
from .program.document import Document

if TYPE_CHECKING:
    from .server import Server

PROVE = "pto.prove"
ORDERS = re.compile(r"\bpto\.(?:set_flag|wait_flag|record_event|wait_event|get_buf)")
"""What programs order their pipes with."""
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}
_ANSWERS = {"order-proven": "proven", "order-refuted": "refuted", "order-undecided": "undecided"}


async def carry_out(server: Server, uri: str) -> str | None:
    """Proves the program of an open document, and publishes the verdicts until its text changes."""
    document = server.documents.get(uri)
    if document is None:
        return None
    text = document.text
    target = () if server.settings.target is None else ("--target", server.settings.target)
    command = python_command("pto_dialect.tools.pto_prove:main", "-", "--output-format", "sarif", *target)
    folder = os.path.dirname(document.path or "")
    # The settings of the folder count.
    inside = folder if os.path.isdir(folder) else None
    code, output = await run_child_async(command, text.encode("utf-8", "surrogatepass"), inside)
    found = list(_found(document, output))
    if found:
        answers = [str(one.code) for one in found]
        shown = ", ".join(f"{answers.count(rule)} {word}" for rule, word in _ANSWERS.items())
    else:
        shown = "pto prove needs the extra prove, or a program without errors" if code else "there is no function"
    server.window_show_message(types.ShowMessageParams(types.MessageType.Info, f"prove: {shown}"))
    if server.documents.get(uri) is document and document.text == text:
        server.proofs[uri] = text, found
        server.look_soon(uri, 0)
    return shown


def _found(document: Document, output: str) -> Iterator[types.Diagnostic]:
    """Yields the verdicts of a SARIF log; none of anything else."""
    try:
        results: list[Any] = json.loads(output)["runs"][0]["results"]
    except (ValueError, KeyError, IndexError, TypeError):
        return
    starts = list(accumulate((len(line) + 1 for line in document.text.split("\n")), initial=0))
    for one in results:
        if one["ruleId"] in _ANSWERS:
            region = one["locations"][0]["physicalLocation"].get("region", {}) if one.get("locations") else {}
            line, column = region.get("startLine", 1), region.get("startColumn", 1)
            ends = (line, column), (region.get("endLine", line), region.get("endColumn", column))
            area = document.range(*(starts[min(line, len(starts)) - 1] + column - 1 for line, column in ends))
            severity = _SEVERITIES.get(one.get("level", "error"))
            yield types.Diagnostic(area, one["message"]["text"], severity, code=one["ruleId"], source=SOURCE)
