"""Rules and kernels are imported by family: a program of one family alone gets all that concerns it.

In this process everything has been imported by some test, so a family without one of its modules would go unnoticed.
Each family therefore gets a process that has imported nothing else.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import pto_dialect
from pto_dialect.families import FAMILIES, LANE_MODULES, all_rule_modules
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import family_of_name
from pto_dialect.runtime.kernels import registry
from pto_dialect.verify import catalogue
from pto_dialect.verify.engine.checks import CHECKS
from pto_dialect.verify.engine.rule import PASSES

# Forks a process per family after the imports that all have in common.
SCRIPT = """
import gc, json, os, sys
import ml_dtypes, numpy
import pto_dialect.runtime.queues.run
from pto_dialect.families import FAMILIES
from pto_dialect.ir.core.index import OPS
from pto_dialect.runtime.kernels import registry
from pto_dialect.verify import verifier
from pto_dialect.verify.engine.rule import PASSES

verifier._load_common_rules()
names, found = json.load(sys.stdin), {}
listed = {f"pto_dialect.runtime.kernels.{module}" for family in FAMILIES.values() for module in family.kernels}
assert not set(sys.modules) & listed
gc.freeze()
gc.disable()
for family, operations in names.items():
    read, write = os.pipe()
    child = os.fork()
    if not child:
        checks = {}
        for name in operations:
            table = verifier._check_tables(name, PASSES)[0]
            checks[name] = [[stage, [f"{f.__module__}.{f.__name__}" for f in some]] for stage, some in table]
        kernels = [name for name in operations if registry.find(name) is not None]
        with os.fdopen(write, "w") as pipe:
            json.dump([checks, kernels], pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        found[family] = json.load(pipe)
    os.waitpid(child, 0)
json.dump(found, sys.stdout)
"""


def operations_by_family() -> dict[str, list[str]]:
    """Operations of this dialect, and those of the core dialects that have rules or kernels."""
    for group in all_rule_modules():
        import_module(f"pto_dialect.{group}")
    for module in {module for family in FAMILIES.values() for module in family.kernels}:
        import_module(f"pto_dialect.runtime.kernels.{module}")
    named = set(OPS) | {name for table in CHECKS.values() for name in table} | set(registry.KERNELS)
    found: dict[str, list[str]] = {}
    for name in sorted(named):
        found.setdefault(family_of_name(name), []).append(name)
    return found


OPERATIONS = operations_by_family()
COMMON = {"verify.tile.scale_order"}
"""Imported by the group that goes with them."""


@cache
def alone() -> dict[str, list]:
    """Checks by operation and operations with kernels, as each family has them alone."""
    folder = Path(pto_dialect.__file__).parents[1]
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps(OPERATIONS),
        capture_output=True,
        text=True,
        cwd=folder,
        check=True,
    )
    return json.loads(run.stdout)


@pytest.mark.parametrize("family", OPERATIONS)
def test_a_family_alone_has_all_its_checks(family: str) -> None:
    checks, _ = alone()[family]
    for name in OPERATIONS[family]:
        wanted = {stage: {f"{f.__module__}.{f.__name__}" for f in CHECKS[stage].get(name, ())} for stage in PASSES}
        found = {stage: set(functions) for stage, functions in checks[name]}
        assert found == {stage: functions for stage, functions in wanted.items() if functions}, name


@pytest.mark.parametrize("family", OPERATIONS)
def test_a_family_alone_has_all_its_kernels(family: str) -> None:
    _, kernels = alone()[family]
    assert kernels == [name for name in OPERATIONS[family] if name in registry.KERNELS]


def test_no_module_is_left_out() -> None:
    """Every file that registers rules, checks or kernels is imported for some family."""
    verify, kernels = Path(catalogue.__file__).parent, Path(registry.__file__).parent
    checks = {f"verify.{name}" for name in modules_with("\n@checks(", verify)}
    assert checks and checks <= {*all_rule_modules()} | COMMON
    registering = modules_with("\n@kernel(", kernels)
    assert registering and registering <= {module for family in FAMILIES.values() for module in family.kernels}
    lanes = modules_with("\n@lane_kernel", kernels)
    assert lanes and lanes <= set(LANE_MODULES)


def modules_with(text: str, folder: Path) -> set[str]:
    """Modules below ``folder`` with ``text`` in them."""
    files = [path for path in folder.rglob("*.py") if text in path.read_text(encoding="utf-8")]
    return {".".join(path.relative_to(folder).with_suffix("").parts) for path in files}
