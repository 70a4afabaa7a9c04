"""The flavours of generated code: what each kind of run changes about it, one row each.

What a flavour writes besides is told by its generator: that of watched code is ``sanitize/watch/generator.py``.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Flavour(NamedTuple):
    """How code for one kind of run is made.

    ``options`` are those of ``pto-run`` that ask for it. With ``queued`` instructions go through the queues of pipes
    whatever the program does, with ``each_access`` every work-item makes its own accesses, also where all make the
    same; with ``undefines`` contents that an instruction leaves undefined are overwritten. ``shares_parts`` tells that
    parts of a view in global memory share what they have in common, ``holds_tiles`` that tiles which nobody else can
    see are arrays of the code instead of memory.
    """

    name: str
    summary: str
    options: tuple[str, ...] = ()
    queued: bool = False
    each_access: bool = False
    shares_parts: bool = True
    holds_tiles: bool = True
    undefines: bool = False


PLAIN: Final = Flavour("plain", "runs instructions in program order, through queues only where cores wait for others")
PROFILED: Final = Flavour("profiled", "times every instruction", ("--profile",), holds_tiles=False)
WATCHED: Final = Flavour(
    "watched",
    "reports which operation comes next, what it reads and what it writes",
    ("--sanitize", "--trace"),
    queued=True,
    each_access=True,
    shares_parts=False,
    holds_tiles=False,
    undefines=True,
)
FLAVOURS: Final = (PLAIN, PROFILED, WATCHED)
