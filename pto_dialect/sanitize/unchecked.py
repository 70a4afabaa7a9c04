"""What a sanitized run did not check, and why: a run without findings may mean less than it seems.

Source: docs/reference/instrumentation.md, "No findings".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from pto_dialect.analysis.pipe_order import has_flags, is_closing_barrier, pipe_barriers
from pto_dialect.diagnostics.origins import shown_line
from pto_dialect.diagnostics.wording import count
from pto_dialect.ir.buffers.pointers import CastptrOp
from pto_dialect.ir.core.base import Effect, PtoOp, op_spec
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.sync.comm import AsyncTransferOp
from pto_dialect.ir.sync.cross_core import CmoCacheinvalidOp, DcciOp

from .options import CHECKS, ON_REQUEST

if TYPE_CHECKING:
    from .launch import InstrumentedKernel

_SHOWN = 4


def unchecked(kernel: InstrumentedKernel) -> list[str]:
    """Returns one line for each omitted check."""
    observer = kernel.observer
    operations = kernel.program.operations
    lines: list[str] = []
    checks = observer.options.checks
    missing = [name for name in CHECKS if name not in checks and name not in ON_REQUEST]
    if missing:
        lines.append(f"{', '.join(missing)}: not selected")
    if observer.ordered and "race" in checks:
        lines.append(f"order of the pipes: {_left(operations)}; --sync strict checks it all the same")
    reached = {site.op for site in observer.sites.reached()}
    missed = [site.op for site in observer.sites if site.op not in reached and _acts(site.op)]
    if missed and not kernel.stopped:
        lines.append(f"{count(len(missed), 'operation')} that this run did not get to ({_lines_text(missed)})")
    if "overlap" in checks:
        numbers = [op for op in operations if _points_by_number(op)]
        if numbers:
            pointers = f"{count(len(numbers), 'pointer')} made from numbers ({_lines_text(numbers)})"
            lines.append(f"overlap of memory at {pointers}: no tile owns it")
    caches = [op for op in operations if isinstance(op, DcciOp | CmoCacheinvalidOp)]
    if caches:
        lines.append(f"caches of the scalar unit ({_lines_text(caches)}): memory is always up to date here")
    started = [op for op in operations if isinstance(op, AsyncTransferOp)]
    if started:
        lines.append(
            f"what uses memory before an asynchronous transfer has ended ({_lines_text(started)}): it ends at once here"
        )
    return lines


def assumed(kernel: InstrumentedKernel) -> str:
    """Returns what is assumed to order the pipes, where only barriers indicate it; empty where flags do, or nothing
    does."""
    operations = kernel.program.operations
    barriers = pipe_barriers(operations)
    is_automatic = kernel.sanitize.sync == "auto" and "race" in kernel.observer.options.checks
    if not is_automatic or not barriers or kernel.observer.ordered or has_flags(operations):
        return ""
    named = [op for op in barriers if not is_closing_barrier(op)] or barriers
    return f"the program orders its pipes by hand, with barriers between pieces of work ({_lines_text(named)})"


def _left(operations: Sequence[Operation]) -> str:
    barriers = pipe_barriers(operations)
    closing = f"; its barriers on all pipes only close parts of it ({_lines_text(barriers)})" if barriers else ""
    return f"the program leaves it to the compiler{closing}"


def _acts(op: Operation) -> bool:
    """Returns whether an operation accesses memory or orders others."""
    return not isinstance(op, PtoOp) or op_spec(type(op)).effect not in (Effect.PURE, Effect.HANDLE, Effect.QUERY)


def _points_by_number(op: Operation) -> bool:
    if not isinstance(op, CastptrOp):
        return False
    space = getattr(op.results[0].type, "space", "gm")
    return space != "gm" and not hasattr(named(op, "input").type, "space")


def _lines_text(ops: Sequence[Operation]) -> str:
    """Returns the lines, the first few of them."""
    spans = (span_of(op) for op in ops)
    lines = list(dict.fromkeys(shown_line(span) for span in spans if span is not None))
    if not lines:
        return "without locations"
    more = ", ..." if len(lines) > _SHOWN else ""
    return f"line{'' if len(lines) == 1 else 's'} {', '.join(map(str, lines[:_SHOWN]))}{more}"
