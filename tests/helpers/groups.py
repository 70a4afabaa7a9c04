"""One test for each group of items: fewer tests are collected, and all items that fail are named."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def each(
    argument: str | tuple[str, ...], items: Iterable[T], group: Callable[[T], str], label: Callable[[T], str] = str
) -> Decorator:
    """Runs a test for all ``items`` of each group: ``argument`` is its parameter, or several for the parts of an item;
    other parameters are fixtures."""
    names = (argument,) if isinstance(argument, str) else argument
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(group(item), []).append(item)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def run(group: str, **fixtures: Any) -> None:
            errors: list[Exception] = []
            for item in groups[group]:
                given: Any = (item,) if isinstance(argument, str) else item
                try:
                    test(**dict(zip(names, given, strict=True)), **fixtures)
                except Exception as error:
                    error.add_note(f"{', '.join(names)}: {label(item)}")
                    errors.append(error)
            if errors:
                raise ExceptionGroup(f"{len(errors)} of {len(groups[group])} fail", errors)

        parameters = list(inspect.signature(test).parameters.values())
        fixtures = [parameter for parameter in parameters if parameter.name not in names]
        first = inspect.Parameter("group", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        run.__signature__ = inspect.Signature([first, *fixtures])
        return pytest.mark.parametrize("group", list(groups))(run)

    return decorate


def in_groups(
    argument: str | tuple[str, ...], items: Iterable[T], label: Callable[[T], str] = str, size: int = 16
) -> Decorator:
    """Runs a test for all ``items``, as ``parametrize`` does, ``size`` of them in one test: pytest takes longer for a
    test than many of them. Decorators of other parameters come before this one."""
    positions = count()
    return each(argument, items, lambda _: str(next(positions) // size), label)
