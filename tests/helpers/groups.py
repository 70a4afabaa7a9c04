"""One test for each group of items: fewer tests are collected, and all items that fail are named."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


def each(
    argument: str, items: Iterable[T], group: Callable[[T], str], label: Callable[[T], str] = str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Runs a test for all ``items`` of each group: ``argument`` is its parameter, other parameters are fixtures."""
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(group(item), []).append(item)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def run(group: str, **fixtures: Any) -> None:
            errors: list[Exception] = []
            for item in groups[group]:
                try:
                    test(**{argument: item}, **fixtures)
                except Exception as error:
                    error.add_note(f"{argument}: {label(item)}")
                    errors.append(error)
            if errors:
                raise ExceptionGroup(f"{len(errors)} of {len(groups[group])} fail", errors)

        parameters = list(inspect.signature(test).parameters.values())
        fixtures = [parameter for parameter in parameters if parameter.name != argument]
        first = inspect.Parameter("group", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        run.__signature__ = inspect.Signature([first, *fixtures])
        return pytest.mark.parametrize("group", list(groups))(run)

    return decorate
