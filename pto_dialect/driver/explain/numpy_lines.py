"""The numpy lines behind the name that generated Python calls."""

from __future__ import annotations

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
    lines = text.split("\n")
    return [f"# {name}", *lines[:_MOST], *(["    .."] if len(lines) > _MOST else [])]
