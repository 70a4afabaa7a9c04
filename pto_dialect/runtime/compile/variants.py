"""The code generation variants: the differences that each kind of run makes, one row each.

The generator of a variant writes its further code: that of instrumented code is ``sanitize/instrument/generator.py``.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Variant(NamedTuple):
    """Parameters of the code for one kind of run.

    ``options`` are those of ``pto-run`` that select it. With ``queued`` instructions use the queues of pipes whatever
    the program does, with ``each_access`` every work-item makes its own accesses, also where all make the same; with
    ``undefines`` contents that an instruction leaves undefined are overwritten. ``shares_parts`` states that parts of a
    view in global memory share their common geometry, ``holds_tiles`` that tiles which nothing else accesses are arrays
    of the code instead of memory.
    """

    name: str
    summary: str
    options: tuple[str, ...] = ()
    queued: bool = False
    each_access: bool = False
    shares_parts: bool = True
    holds_tiles: bool = True
    undefines: bool = False


PLAIN: Final = Variant("plain", "runs instructions in program order, through queues only where cores wait for others")
PROFILED: Final = Variant("profiled", "times every instruction", ("--profile",), holds_tiles=False)
INSTRUMENTED: Final = Variant(
    "instrumented",
    "reports which operation comes next, what it reads and what it writes",
    ("--sanitize", "--trace"),
    queued=True,
    each_access=True,
    shares_parts=False,
    holds_tiles=False,
    undefines=True,
)
VARIANTS: Final = (PLAIN, PROFILED, INSTRUMENTED)
