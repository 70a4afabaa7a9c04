"""Where the time of a run went, as a table."""

from __future__ import annotations

from pto_dialect.runtime.run.profiling import ProfileLog

_HEAD = ("operation", "calls", "ms", "share")


def profile_table(log: ProfileLog, run_seconds: float, compile_seconds: float) -> str:
    """Calls and milliseconds by operation, slowest first, then scalar code, the whole run and compilation."""
    rows: list[tuple[str, str, str, str]] = []
    instructions = 0.0
    for name, calls, seconds in log.by_operation():
        if calls:
            instructions += seconds
            rows.append((name, str(calls), _ms(seconds), _share(seconds, run_seconds)))
    rest = max(run_seconds - instructions, 0.0)
    rows.append(("scalar code and control flow", "", _ms(rest), _share(rest, run_seconds)))
    rows.append(("run", "", _ms(run_seconds), ""))
    rows.append(("compile", "", _ms(compile_seconds), ""))
    widths = [max(len(row[column]) for row in (_HEAD, *rows)) for column in range(4)]
    return "".join(_line(row, widths) for row in (_HEAD, *rows))


def _line(row: tuple[str, str, str, str], widths: list[int]) -> str:
    first, *numbers = row
    cells = [
        first.ljust(widths[0]),
        *(cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True)),
    ]
    return "  ".join(cells).rstrip() + "\n"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3f}"


def _share(seconds: float, whole: float) -> str:
    return f"{seconds / whole * 100:.1f} %" if whole > 0 else ""
