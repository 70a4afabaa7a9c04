"""One module of the package starts processes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OWNER = ROOT / "pto_dialect" / "children.py"
FILES = sorted(path for folder in ("pto_dialect", "tools", "grammar") for path in (ROOT / folder).rglob("*.py"))

MODULES = {"subprocess", "multiprocessing", "concurrent.futures.process", "pty", "runpy"}
CALLS = ("exec", "spawn", "popen", "posix_spawn", "system", "startfile")
"""Beginnings of the names of functions of ``os`` that start programs."""
NAMES = {"ProcessPoolExecutor", "create_subprocess_exec", "create_subprocess_shell", "LocalCluster", "forkserver"}
ALLOWED = {
    ("pto_dialect/driver/workers.py", "multiprocessing.connection"),
    ("pto_dialect/driver/workers.py", "multiprocessing.process"),
    ("pto_dialect/runtime/run/rank_processes.py", "multiprocessing.synchronize"),
    # Inside ``clean_start``.
    ("pto_dialect/driver/sweep/cluster.py", "LocalCluster"),
    # The user's own program, which the command line names.
    ("pto_dialect/integrations/starting.py", "runpy"),
    ("pto_dialect/integrations/builders/__main__.py", "subprocess"),
    # The name of a module that is replaced while such a program runs.
    ("pto_dialect/integrations/builders/launch/importing.py", "subprocess"),
}
"""Types and connections, which start nothing, what starts inside of the function that makes the start clean, and the
command whose purpose is to start a program of the user."""


def starts(tree: ast.AST) -> Iterator[str]:
    """What a module names that starts processes."""
    for node in ast.walk(tree):
        named: list[str] = []
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            named = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # A module that is imported by its name.
            yield from (name for name in MODULES if node.value == name)
        for name in named:
            module = any(name == one or name.startswith(f"{one}.") for one in MODULES)
            if module or (name.startswith("os.") and name.removeprefix("os.").startswith(CALLS)):
                yield name
        if isinstance(node, ast.Attribute):
            of_os = isinstance(node.value, ast.Name) and node.value.id in ("os", "posix", "nt")
            if node.attr in NAMES or (of_os and node.attr.startswith(CALLS)):
                yield node.attr
        elif isinstance(node, ast.Name) and node.id in NAMES:
            yield node.id


def starts_of(path: Path) -> Iterator[str]:
    """The same of a file, which is parsed only if one of the names is in it."""
    text = path.read_text(encoding="utf-8")
    words = (
        *MODULES,
        *NAMES,
        *(f"os.{name}" for name in CALLS),
        *(f"import {name}" for name in CALLS),
        "from os import",
    )
    return starts(ast.parse(text)) if any(word in text for word in words) else iter(())


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess",
        "from subprocess import run",
        "import multiprocessing.pool as p",
        "import os\nos.execv('x', [])",
        "from os import posix_spawn",
        "import_module('subprocess')",
        "asyncio.create_subprocess_exec('x')",
        "import os\nos.popen('x')",
    ],
)
def test_the_search_finds(text: str) -> None:
    assert list(starts(ast.parse(text)))


def test_nothing_else_starts_processes() -> None:
    found = {(path.relative_to(ROOT).as_posix(), name) for path in FILES if path != OWNER for name in starts_of(path)}
    assert {(path, name) for path, name in found if not _is_allowed(path, name)} == set()


def _is_allowed(path: str, name: str) -> bool:
    return any(path == file and (name == one or name.startswith(f"{one}.")) for file, one in ALLOWED)


def test_the_owner_starts_them() -> None:
    assert set(starts(ast.parse(OWNER.read_text(encoding="utf-8")))) >= {"subprocess", "create_subprocess_exec"}
