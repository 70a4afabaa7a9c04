"""Finds out with the reference tool of MLIR which generic texts it can read, many to a process."""

from __future__ import annotations

import re
import subprocess
import tempfile
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path

BATCH = 200
"""Programs to a process; one that breaks the tool takes the verdicts of its batch with it, so they are queried
again."""

_SEPARATOR = "// -----"
_SPLIT_ERROR = re.compile(r"^within split at \S+:(\d+) offset :\d+:\d+: error: (.*)$")
_PLAIN_ERROR = re.compile(r"^\S+:\d+:\d+: error: (.*)$")


def refused_texts(tool: str, texts: Sequence[str]) -> dict[int, str]:
    """Position and first error of every text that ``tool --allow-unregistered-dialect`` does not accept.

    Raises ``FileNotFoundError`` when there is no such tool.
    """
    refused: dict[int, str] = {}
    for start in range(0, len(texts), BATCH):
        for position, message in _ask(tool, texts[start : start + BATCH]).items():
            refused[start + position] = message
    return refused


def _ask(tool: str, texts: Sequence[str]) -> dict[int, str]:
    """The same for one batch."""
    separator_lines: list[int] = []
    line = 1
    parts: list[str] = []
    for position, text in enumerate(texts):
        body = text if text.endswith("\n") else text + "\n"
        if position:
            separator_lines.append(line)
            parts.append(_SEPARATOR + "\n")
            line += 1
        parts.append(body)
        line += body.count("\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "batch.mlir"
        path.write_text("".join(parts))
        command = [tool, "--allow-unregistered-dialect", "--split-input-file", "-o", "/dev/null", str(path)]
        result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = result.stderr.decode("utf-8", errors="replace")
    refused: dict[int, str] = {}
    for error in errors.splitlines():
        if found := _SPLIT_ERROR.match(error):
            refused.setdefault(bisect_right(separator_lines, int(found[1])), found[2])
        elif found := _PLAIN_ERROR.match(error):
            refused.setdefault(0, found[1])
    broken = result.returncode not in (0, 1)
    if broken or (result.returncode != 0 and not refused):
        if len(texts) == 1:
            return {0: (errors.strip().splitlines() or [f"exit code {result.returncode}"])[0]}
        middle = len(texts) // 2
        later = _ask(tool, texts[middle:])
        return _ask(tool, texts[:middle]) | {middle + position: message for position, message in later.items()}
    return refused
