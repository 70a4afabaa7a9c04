"""The numpy lines of a function that generated Python calls, without the checks that end a run."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from typing import Any

import numpy as np

_MOST = 24
_CALLED = re.compile(r"\b(k_\w+)\(")


def numpy_lines(python: tuple[str, ...], constants: dict[str, Any]) -> list[str]:
    """The source of the functions that the lines of a run call; long ones end with ``..``."""
    lines: list[str] = []
    for name in dict.fromkeys(_CALLED.findall("\n".join(python))):
        if name in constants:
            lines += _source(name, constants[name])
    return lines


def _source(name: str, value: Any) -> list[str]:
    inner = getattr(value, "function", None) or getattr(value, "compute", None)
    if isinstance(value, np.ufunc):
        return [f"# {name} is numpy.{value.__name__}"]
    if isinstance(owner := getattr(value, "__self__", None), np.ufunc):
        return [f"# {name} is numpy.{owner.__name__}.{value.__name__}"]
    if inner is not None and not inspect.isfunction(value):
        return _source(name, inner)
    target = value if inspect.isfunction(value) else inspect.getattr_static(type(value), "__call__", None)
    if not inspect.isfunction(target) or not target.__module__.startswith("pto_dialect."):
        return []
    try:
        text = textwrap.dedent(inspect.getsource(target)).rstrip()
    except OSError:
        return []
    lines = _computing(text)
    return [f"# {name}", *lines[:_MOST], *(["    .."] if len(lines) > _MOST else [])]


def _computing(text: str) -> list[str]:
    """The lines of a function without statements that can only raise an error."""
    lines = text.split("\n")
    try:
        (function,) = ast.parse(text).body
    except SyntaxError:  # A lambda inside of a table.
        return lines
    left_out: set[int] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and _only_tests(node):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    kept = [line for number, line in enumerate(lines, 1) if number not in left_out]
    return kept if len(kept) > 1 else lines


def _only_tests(node: ast.stmt) -> bool:
    """Whether a statement does nothing but raise errors."""
    if isinstance(node, ast.Raise):
        return True
    if isinstance(node, (ast.If, ast.For)):
        return all(map(_only_tests, (*node.body, *node.orelse)))
    called = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name.lstrip("_").startswith("check")
