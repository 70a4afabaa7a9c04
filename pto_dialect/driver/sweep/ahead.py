"""A process that has loaded what every launch needs, from which the workers of this machine are forked."""

from __future__ import annotations

import sys

from pto_dialect.children import start_fork_server

FORKS = sys.platform == "linux"
"""Elsewhere a fork is not safe, or there is none."""

ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Every worker computes in one thread; this has to be known when numpy is loaded."""

MODULES = ["distributed", "pto_dialect.driver.sweep.loaded"]


def start_ahead() -> None:
    """Starts the process, if possible; it imports modules while this one continues."""
    if not FORKS:
        return
    start_fork_server(MODULES, ENVIRONMENT)
