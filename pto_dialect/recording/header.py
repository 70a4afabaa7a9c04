"""The member of a recording that is no column, checked. Source: docs/reference/recording.md, "Members"."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

Row = TypeVar("Row")

_PLAIN: dict[str, type | tuple[type, ...]] = {"int": int, "str": str, "bool": bool, "float": (int, float)}
"""Types by the text of their annotation; whatever else there is, is a list in JSON or optional."""


def rows(kind: Callable[..., Row], given: Any) -> list[Row]:
    """Named tuples of a ``kind`` from their rows. Raises ``ValueError`` where these are none."""
    if not isinstance(given, list):
        raise ValueError(f"{_name(kind)} is no list")
    return [row(kind, one) for one in given]


def row(kind: Callable[..., Row], given: Any) -> Row:
    """Returns one named tuple from a list of its fields, or an object."""
    annotations: dict[str, Any] = getattr(kind, "__annotations__")  # noqa: B009
    fields = {name: getattr(one, "__forward_arg__", str(one)) for name, one in annotations.items()}
    values = given if isinstance(given, dict) else dict(zip(fields, given, strict=True))
    if values.keys() != fields.keys():
        raise ValueError(f"{_name(kind)} has other fields than it should")
    for name, annotation in fields.items():
        wanted = _PLAIN.get(annotation, tuple if annotation.startswith("tuple") else None)
        value = values[name] = frozen(values[name])
        if wanted is not None and not isinstance(value, wanted):
            raise ValueError(f"{name} of {_name(kind)} is {type(value).__name__}")
    return kind(**values)


def numbers(given: Any) -> list[int]:
    """Returns the integers from 0. Raises ``ValueError``."""
    if not isinstance(given, list) or not all(isinstance(one, int) and one >= 0 for one in given):
        raise ValueError("numbers are expected")
    return given


def number(given: Any) -> int:
    """Returns one integer from 0. Raises ``ValueError``."""
    return numbers([given])[0]


def texts(given: Any) -> list[str]:
    """Texts. Raises ``ValueError``."""
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise ValueError("texts are expected")
    return given


def patterns(given: Any) -> list[tuple[int, tuple[tuple[int, int], ...]]]:
    """Shapes of accesses. Raises ``ValueError``."""
    found: list[tuple[int, tuple[tuple[int, int], ...]]] = []
    for run, dims in list(given):
        found.append((number(run), tuple((number(count), number(stride)) for count, stride in list(dims))))
    return found


def frozen(value: Any) -> Any:
    """Lists as tuples."""
    return tuple(frozen(each) for each in value) if isinstance(value, list) else value


def _name(kind: Callable[..., Any]) -> str:
    return kind.__name__.lower()


def limits(value: Any) -> dict[str, Any] | None:
    """Returns what limits a run; ``None`` where the recording does not say. Raises ``ValueError`` for anything else."""
    if value is None:
        return None
    try:
        good = (
            all(isinstance(value[name], str) for name in ("kind", "text"))
            and all(isinstance(value["cores"][name], int) for name in ("used", "of"))
            and all(_numbers(one, "core", "chip") for one in value["busy"].values())
            and all(isinstance(one["path"], str) and _numbers(one, "gbps", "busy") for one in value["paths"])
            and all(one[name] is None or _numbers(one, name) for one in value["paths"] for name in _SHARES)
            and _numbers(value["critical"], *value["critical"])
            and all(isinstance(one[name], str) for one in value["facts"] for name in ("name", "text"))
        )
    except (KeyError, TypeError, AttributeError):
        good = False
    if not good:
        raise ValueError("the limits of the run are not those of one")
    return value


_SHARES = ("limit_gbps", "share")


def _numbers(value: Any, *names: str) -> bool:
    return all(isinstance(value[name], int | float) and math.isfinite(value[name]) for name in names)
