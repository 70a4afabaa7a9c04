"""Every operation that runs has a run against a formula that does not come from the package: on each target that has
the operation, and in each form that changes what it computes.

`formulas.txt` lists tests that compare results with formulas. They run here once more while what they compile is
noted; the declarations say what there has to be. What cannot be or need not be is in `formula_exceptions.txt`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from fnmatch import fnmatchcase
from pathlib import Path

from formula_forms import declared_forms
from groups import in_groups

from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import all_op_classes, family_of, op_class
from pto_dialect.runtime.kernels.registry import find
from pto_dialect.targets.op_availability import (
    A2A3_FOREIGN_LEVELS,
    A2A3_FOREIGN_PREFIXES,
    A2A3_UNAVAILABLE,
    A5_FOREIGN_LEVELS,
    A5_UNAVAILABLE,
)
from pto_dialect.verify.program.arch import level_of

HERE = Path(__file__).parent
RUNNING = [name for name in OPS if find(name) is not None]


def lines(name: str) -> list[str]:
    """Lines of a table beside this file."""
    text = (HERE / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


EXCEPTIONS = [tuple(part.strip() for part in line.split(" | ")) for line in lines("formula_exceptions.txt")]
"""Pattern of operations, pattern of targets or forms, reason."""


def compiled() -> frozenset[tuple[str, str, str]]:
    """Operation, target and form of all that the listed tests compile."""
    root = HERE.parents[1]
    file = Path(tempfile.gettempdir()) / f"pto-forms-{os.getpid()}.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "formula_forms"]
    path = os.pathsep.join((str(root), str(root / "tests" / "helpers")))
    try:
        run = subprocess.run(
            [*command, *lines("formulas.txt")],
            cwd=root,
            env={**os.environ, "PTO_FORMS": str(file), "PYTHONPATH": path},
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
        found = json.loads(file.read_text(encoding="utf-8"))
    finally:
        file.unlink(missing_ok=True)
    return frozenset((name, target, form) for seen in found.values() for name, target, form in seen)


def targets_of(name: str) -> list[str]:
    """Targets that have an operation."""
    level, short = level_of(family_of(op_class(name))), name.removeprefix("pto.")
    foreign = level in A2A3_FOREIGN_LEVELS or short.startswith(A2A3_FOREIGN_PREFIXES)
    found = [] if foreign or short in A2A3_UNAVAILABLE else ["a2a3"]
    return found if level in A5_FOREIGN_LEVELS or short in A5_UNAVAILABLE else [*found, "a5"]


def excepted(name: str, what: str) -> tuple[str, ...] | None:
    """The first exception for an operation on a target or in a form."""
    short = name.removeprefix("pto.")
    return next((e for e in EXCEPTIONS if fnmatchcase(short, e[0]) and fnmatchcase(what, e[1])), None)


def lacking(run: frozenset[tuple[str, str, str]]) -> dict[tuple[str, str], bool]:
    """Operations with their targets and forms, and whether they are missing in what the listed tests run."""
    found: dict[tuple[str, str], bool] = {}
    for name in RUNNING:
        for target in targets_of(name):
            found[name, target] = (name, target, "") not in run
        for form in declared_forms(op_class(name)):
            if form:
                found[name, form] = not any((name, target, form) in run for target in ("a2a3", "a5"))
    return found


def test_every_operation_has_a_formula_on_each_target_and_in_each_form() -> None:
    """One test, because the listed tests take long and each process would run them again. An exception that nothing
    needs any more says something wrong."""
    found = [(name, what) for (name, what), lacks in lacking(compiled()).items() if lacks]
    without = [f"{name}: {what}" for name, what in found if not excepted(name, what)]
    assert not without, "no test of formulas.txt runs:\n" + "\n".join(without)
    used = {excepted(name, what) for name, what in found}
    assert not [e for e in EXCEPTIONS if e not in used]


@in_groups("line", range(len(EXCEPTIONS)))
def test_exceptions_have_reasons(line: int) -> None:
    name, what, reason = EXCEPTIONS[line]
    assert len(reason) > 10 and what
    assert any(fnmatchcase(cls.name.removeprefix("pto."), name) for cls in all_op_classes())
