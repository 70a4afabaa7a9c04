"""Entries of the parameter lists of types."""

from __future__ import annotations

from typing import Any


class Parameter:
    """One entry of a parameter list: its form, its value and its extent in the spelling."""

    __slots__ = ("end", "form", "key", "start", "value")

    def __init__(self, form: str, value: Any, start: int, end: int, key: str = "") -> None:
        self.form = form
        self.value = value
        self.start = start
        self.end = end
        self.key = key
