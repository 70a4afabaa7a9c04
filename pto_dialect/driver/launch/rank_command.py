"""A command line with ``--ranks`` as the launch file that says the same. Source: docs/ranks.md, "Values"."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..report import render
from ..run.status import WRONG_LAUNCH, Streams
from .document import Document, LaunchError
from .paths import Folder
from .plan import plans_of
from .ranks import run_rank_plans
from .session import Settings

_TABLES = {"windows": "windows", "arguments": "arguments", "expectations": "expect", "outputs": "outputs"}
"""Parameters with pairs of a name and a value, and the table that has them in a launch file."""
_KEYS = ("entry", "blocks", "rtol", "atol")


def run_ranks_of(path: str, given: Mapping[str, Any], settings: Settings, streams: Streams) -> int:
    """Runs the program in ``path`` on the ranks of the parameters ``given``; codes are those of ``run_plan``."""
    try:
        document = Document("command line", _text(path, given))
        plans = plans_of(document, Folder("", allow_outside=True), path, given["ranks"])
    except LaunchError as error:
        streams.err(render((error.diagnostic,), streams.color))
        return WRONG_LAUNCH
    return run_rank_plans(plans, settings, streams)


def _text(path: str, given: Mapping[str, Any]) -> str:
    lines = [f"program = {json.dumps(path)}", f"ranks = {given['ranks']}"]
    lines += [f"{key} = {json.dumps(given[key])}" for key in _KEYS if given[key] is not None]
    for parameter, table in _TABLES.items():
        if given[parameter]:
            lines += ["", f"[{table}]"]
            lines += [f"{json.dumps(name)} = {json.dumps(value)}" for name, value in given[parameter]]
    return "\n".join(lines) + "\n"
