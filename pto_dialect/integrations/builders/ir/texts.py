"""Strings of Python programs as parts of `.pto` programs, whose texts are UTF-8."""

from __future__ import annotations


def plain_text(value: object, what: str) -> str:
    """Returns a string that a program can have; ``what`` names it in errors.

    Raises ``TypeError`` for what is no string, ``ValueError`` for one that UTF-8 cannot state: with half of a
    surrogate pair, or bytes of another encoding.
    """
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"{what} is not UTF-8: byte {error.start} is {value[error.start]:#04x}") from None
    if not isinstance(value, str):
        raise TypeError(f"{what} is a string, found {type(value).__name__}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            code = ord(value[error.start])
            raise ValueError(f"{what} has U+{code:04X} at {error.start}, half of a surrogate pair") from None
    return value
