"""Numbers that a program never set, in sanitized runs. Source: docs/reference/instrumentation.md, "Findings"."""

from __future__ import annotations

from typing import Any, NoReturn

from ..faults import Fault


def _is_number(value: object, number: int) -> bool:
    return type(value) is int and value == number


class Unset:
    """A number without a value, called ``name``. What is computed from it has no value either, so operations that a
    compiler moved before a branch find nothing; whatever needs the value raises ``Fault`` (``mem-uninit``)."""

    __slots__ = ("name",)
    __array_ufunc__ = None

    def __init__(self, name: str) -> None:
        self.name = name

    def _computed(self, *_: object) -> Unset:
        return self

    def _used(self, *_: object, **options: object) -> NoReturn:
        raise Fault("mem-uninit", f"{self.name} is used here, and nothing has set it")

    def _and(self, other: object) -> Any:
        """A conjunction with 0 is 0 whatever the other operand is."""
        return other if other is False or _is_number(other, 0) else self

    def _or(self, other: object) -> Any:
        return other if other is True or _is_number(other, -1) else self

    def __eq__(self, other: object) -> Any:
        return self

    def __ne__(self, other: object) -> Any:
        return self

    __hash__ = object.__hash__
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = __abs__ = __invert__ = _computed
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __truediv__ = __rtruediv__ = _computed
    __xor__ = __rxor__ = _computed
    __and__ = __rand__ = _and
    __or__ = __ror__ = _or
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __lt__ = __le__ = __gt__ = __ge__ = _computed
    __bool__ = __int__ = __index__ = __float__ = __array__ = _used


def with_value(value: Any) -> Any:
    """Returns a number that leaves a function. Raises ``Fault`` (``mem-uninit``) where it has no value."""
    return value._used() if type(value) is Unset else value
