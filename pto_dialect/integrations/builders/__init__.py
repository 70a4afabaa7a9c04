"""Python programs that build `.pto` with MLIR's bindings run on this package, without LLVM.

`install` puts modules under the names `ptoas.mlir` and `mlir` that do what the compiled bindings do: types, attributes,
operations, insertion points, verification, text. `python -m pto_dialect.integrations.builders FILE` runs a program on
them; importing `pto_dialect.integrations.builders.use` does the same in a program. See docs/builders.md.
"""

from __future__ import annotations

import os
import sys

__all__ = ["RELEASE", "VARIABLE", "install"]

VARIABLE = "PTO_BUILDERS"
"""Environment variable that has builders run on this package: ``1``, or ``force`` also where bindings are installed."""
RELEASE = "PTO_BUILDERS_RELEASE"
"""Environment variable with the release of the reference that modules are made for, where they state none."""

_chosen: list[bool] = []
"""Whether this package is used, once that is decided."""


def install(force: bool = False, quiet: bool = False, release: str | None = None) -> bool:
    """Replaces MLIR's bindings by modules of this package, from now on in this process; returns whether it did.

    Bindings that are installed are used instead unless ``force`` is set. A line on the standard error says which are
    used, unless ``quiet`` is set. ``release`` is the release of the reference that modules are made for, ``0.27`` to
    the newest: its rules and defaults apply, and modules state it. Raises ``ValueError`` for another one. Source:
    docs/reference/releases.md, "Choice of the release".
    """
    if release is not None:
        from pto_dialect.targets.release import release_named, unknown_release  # deferred: start-up

        if release_named(release) is None:
            raise ValueError(unknown_release(release))
        os.environ[RELEASE] = release
    if _chosen and (_chosen[0] or not force):
        return _chosen[0]
    from .modules import find_installed, put_modules, start_installed  # deferred: start-up

    folder = None if force else find_installed()
    reason = "" if folder is None else start_installed(folder)
    ours = folder is None or bool(reason)
    if ours:
        from .launch import install as install_launches  # deferred: start-up

        put_modules()
        install_launches()
    _chosen[:] = [ours]
    if not quiet:
        used = "pto-dialect instead of MLIR's bindings" if ours else f"the installed bindings in {folder}"
        why = f" (those in {folder} do not start: {reason})" if reason else ""
        print(f"pto-dialect: this program runs on {used}{why}", file=sys.stderr)
    return ours


def is_wanted() -> bool:
    """Returns whether the environment selects this package."""
    return os.environ.get(VARIABLE, "") in ("1", "force")


def install_as_wanted() -> bool:
    """Does what the environment selects."""
    return install(force=os.environ.get(VARIABLE) == "force")
