"""The switch for everything that is here for the sake of speed alone.

Caches between processes, parse templates, deferred definitions, replayed launches and patches of libraries ask
:func:`enabled` before they do anything. With ``PTO_PLAIN=1`` in the environment, or ``--plain`` on the command line,
every one of them is off: the same programs take longer, and nothing else differs.
"""

import os

VARIABLE = "PTO_PLAIN"

OPTION = "--plain"

_plain = os.environ.get(VARIABLE, "") not in ("", "0")


def enabled() -> bool:
    """False when this process has to do without what is here for speed alone."""
    return not _plain


def switch(on: bool) -> bool:
    """Sets what :func:`enabled` answers, in this process and those that it starts; returns the earlier answer.

    Modules that are loaded already keep the classes and patches that they have made.
    """
    global _plain
    before = not _plain
    _plain = not on
    os.environ[VARIABLE] = "0" if on else "1"
    return before
