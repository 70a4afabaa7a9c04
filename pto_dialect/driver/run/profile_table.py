"""Where the time of a run went, as a table."""

from __future__ import annotations

from pto_dialect.runtime.run.profiling import ProfileLog

from ..aligned import aligned

_HEAD = ("operation", "calls", "ms", "share")


def profile_table(log: ProfileLog, run_seconds: float, compile_seconds: float) -> str:
    """Calls and milliseconds by operation, slowest first, then scalar code, the whole run and compilation."""
    rows: list[tuple[str, ...]] = [_HEAD]
    instructions = 0.0
    for name, calls, seconds in log.by_operation():
        if calls:
            instructions += seconds
            rows.append((name, str(calls), _ms(seconds), _share(seconds, run_seconds)))
    rest = max(run_seconds - instructions, 0.0)
    rows.append(("scalar code and control flow", "", _ms(rest), _share(rest, run_seconds)))
    rows.append(("run", "", _ms(run_seconds), ""))
    rows.append(("compile", "", _ms(compile_seconds), ""))
    return "".join(f"{line}\n" for line in aligned(rows, "<>>>"))


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3f}"


def _share(seconds: float, whole: float) -> str:
    return f"{seconds / whole * 100:.1f} %" if whole > 0 else ""
