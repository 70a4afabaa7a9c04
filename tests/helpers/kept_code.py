"""The Python that is generated for the statements of the round-trip programs, and what it refers to.

For every flavour of generated code a digest of the source text is kept, with the run-time objects behind its constants
in words, or of the reason why there is none. A change that leaves results as they are may write other code:
`python tests/helpers/kept_code.py` writes ``tests/runtime/compile/code.txt`` again.
"""

from __future__ import annotations

import hashlib
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2] / folder) for folder in ("lit-tests", "tests/helpers")]

from kept_tables import said  # noqa: E402
from neighbours import Function, Statement, families, statements  # noqa: E402

from pto_dialect.runtime.compile.compiler import compile_module  # noqa: E402
from pto_dialect.runtime.compile.flavours import PLAIN, WATCHED  # noqa: E402
from pto_dialect.runtime.errors import BindingError, ProgramError  # noqa: E402
from pto_dialect.runtime.run.machine import RunOptions  # noqa: E402
from pto_dialect.sanitize.report.sites import Sites  # noqa: E402
from pto_dialect.sanitize.watch.generator import WatchedGenerator  # noqa: E402
from pto_dialect.targets.profile import get_profile  # noqa: E402

FILE = Path(__file__).parents[1] / "runtime" / "compile" / "code.txt"
KINDS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("plain", {"flavour": PLAIN}),
    ("queued", {"flavour": PLAIN, "queued": True}),
    ("watched", {"flavour": WATCHED}),
)
_CONSTANT = re.compile(r"\bk_\w+")
_LONGEST = 40


def _object(value: Any) -> str:
    """A constant of generated code in words."""
    state = {name: getattr(value, name) for name in getattr(type(value), "__slots__", ()) if hasattr(value, name)}
    state |= getattr(value, "__dict__", {}) if not isinstance(value, type) and not callable(value) else {}
    if callable(value) and not isinstance(value, type) and hasattr(value, "__dict__"):
        state |= {name: entry for name, entry in vars(value).items() if not name.startswith("__")}
    inner = ", ".join(f"{name}={said(entry, 3)}" for name, entry in sorted(state.items()))
    return f"{said(value, 4)}({inner})"


def code(statement: Statement, **options: Any) -> str:
    """Generated source, and its constants in words; or the reason why there is none."""
    function = Function(statement)
    if len(function.parts) > _LONGEST:
        return "long"
    module = function.module({}, {}, statement.target)
    if options["flavour"] is WATCHED:
        options["generator_class"] = partial(WatchedGenerator, sites=Sites())
    try:
        compiled = compile_module(module, "f", get_profile(statement.target), RunOptions(), **options)
    except (ProgramError, BindingError) as error:
        return f"{getattr(error, 'rule', '')} {error}"
    (run,) = list(compiled.functions.values())[:1]
    names = dict.fromkeys(_CONSTANT.findall(compiled.source))
    return "\n".join([compiled.source, *(f"{name}: {_object(run.__globals__[name])}" for name in names)])


def row(statement: Statement) -> str:
    """One line of the file."""
    found = [hashlib.sha256(code(statement, **options).encode()).hexdigest()[:6] for _, options in KINDS]
    return " ".join([f"{statement.label}:", *found])


def rows(family: str) -> list[str]:
    """The lines of a family."""
    return [row(statement) for statement in statements(family)]


def kept() -> dict[str, str]:
    """The rows of the file by label."""
    return {line.split(": ")[0]: line for line in FILE.read_text(encoding="utf-8").splitlines()}


if __name__ == "__main__":
    FILE.write_text("".join(f"{line}\n" for name in families() for line in rows(name)), encoding="utf-8")
