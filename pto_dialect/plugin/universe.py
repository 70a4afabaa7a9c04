"""The entry point ``xdsl.universe``: what ``xdsl-opt`` and other tools of xDSL offer once this package is installed.

Everything is a factory, so that a tool that meets no PTO program pays for this small module only.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.target import Target

from pto_dialect.passes.registry import PASS_TABLE, pass_class

from .frontend import add_frontend


def _dialect() -> Dialect:
    from .dialect import PTO  # deferred: start-up

    return PTO


def _target() -> type[Target]:
    from .target import PtoTarget  # deferred: start-up

    return PtoTarget


def _pass(name: str) -> Callable[[], type[ModulePass]]:
    return lambda: pass_class(name)


PTO_UNIVERSE = Universe(
    all_dialects={"pto": _dialect},
    all_passes={name: _pass(name) for name, entry in PASS_TABLE.items() if not entry.shared},
    all_targets={"pto": _target},
)
"""Dialect ``pto``, the passes of ``pto-opt``, and the canonical text as output target ``pto``."""

# A universe has no registry of readers for further file types, so this registers them with the tools directly.
add_frontend()
