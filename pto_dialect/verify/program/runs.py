"""Rules that the sanitizers check at run time: ``verify/examples/run.txt`` declares them with their programs.

Source: docs/reference/instrumentation.md, "Findings".
"""

from __future__ import annotations

from pto_dialect.diagnostics.diagnostic import Severity

from ..engine.pages import FINDINGS
from ..engine.rule import RUN, rule
from ..examples.programs import read_examples

RUN_RULES = {
    id: rule(id, Severity[example.note.upper()], RUN, example.text, FINDINGS)
    for id, example in read_examples("run").items()
}
"""The run rules by id."""
