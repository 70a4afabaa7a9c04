"""Launches of kernels that Python packages build: `ptodsl` of PTOAS, `ptodsl` of huawei-csl, and their `torch_npu`.

`install` replaces the parts of these packages that compile a program with `ptoas` and the toolkit of the boards and
launch it there: the program runs on numpy instead, on the memory of the host. See docs/ptodsl.md.
"""

from __future__ import annotations

__all__ = ["install"]


def install() -> None:
    """Has kernels of both packages run with this package, from now on in this process; repeated calls do nothing.

    Packages that are imported later are included, and `torch_npu` is provided where it is not installed.
    """
    from .importing import install as watch_imports  # deferred: start-up

    watch_imports()
