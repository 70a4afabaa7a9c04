"""Programs on several ranks: ``run_ranks`` and what its arguments may be."""

from pto_dialect.runtime.rank_api import CONTEXT, RANK, RANKS, Window, run_ranks

__all__ = ["CONTEXT", "RANK", "RANKS", "Window", "run_ranks"]
