"""The last line of a run."""

from __future__ import annotations

from pto_dialect.diagnostics.engine import Counts


def single(counts: Counts) -> str:
    """What one input gave, e.g. ``2 errors, 1 warning``; empty when it gave nothing."""
    if not any(counts):
        return ""
    from pto_dialect.diagnostics.render import summary  # deferred: start-up

    return summary(counts)


def batch(files: int, failed: int, counts: Counts) -> str:
    """What many gave, e.g. ``12 files: 10 ok, 2 failed (5 errors, 1 warning)``."""
    found = [_number(counts.errors, "error"), _number(counts.warnings, "warning")]
    if counts.infos:
        found.append(_number(counts.infos, "info"))
    hidden = f"; {_number(counts.hidden_errors, 'error')} not shown" if counts.hidden_errors else ""
    return f"{_number(files, 'file')}: {files - failed} ok, {failed} failed ({', '.join(found)}{hidden})"


def _number(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
