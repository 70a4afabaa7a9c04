"""Number of threads that numpy's matrix products use while a kernel runs.

A product that fits into the chip's buffers takes some ten microseconds. Splitting it among threads costs more than
that, and on a machine whose processors are busy, or fewer than reported, waiting for the other threads costs
milliseconds. Several cores are used by running blocks concurrently instead.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    """Returns the thread pools of the libraries that numpy has loaded."""
    # Most programs have no products.
    from threadpoolctl import ThreadpoolController  # deferred: optional

    return ThreadpoolController()


def single_threaded_products() -> AbstractContextManager[Any]:
    """Context in which matrix products use one thread; afterwards as many as before."""
    return _controller().limit(limits=1, user_api="blas")
