"""PyPTO on this toolchain: its programs are checked and run on numpy, on any machine.

`install` replaces two things that PyPTO calls: the assembler `ptoas`, which it locates through the environment variable
`PTOAS_ROOT`, and the packages `simpler` and `simpler_setup`, which are its runtime. Importing
`pto_dialect.integrations.pypto.use` does the same. See docs/pypto.md.
"""

from __future__ import annotations

__all__ = ["install"]


def install() -> None:
    """Has PyPTO compile and run its programs with this package, from now on in this process.

    Raises ``ImportError`` where PyPTO is not installed.
    """
    from .platform import install as replace_platform  # deferred: start-up

    replace_platform()
