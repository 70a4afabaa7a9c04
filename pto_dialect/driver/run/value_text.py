"""The VALUE of an argument, an output or an expectation as it is written, before any file is touched.

Source: docs/reference/execution.md, "Launches".
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

GENERATORS = ("zeros", "ones", "random")
By = Literal["core", "block"]
EACH: dict[str, By] = {"per-core:": "core", "per-block:": "block"}
"""What a value begins with that differs from core to core, or from block to block."""
FORMS = "x.npy, x.npz:KEY, x.bin:TYPE:SHAPE, zeros:, ones: or random:TYPE:SHAPE[:seed=N], or a number"

NPY = "npy"
NPZ = "npz"
RAW = "raw"

_WRITE_BACK = ":inout"
_NUMBER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|inf|nan)|true|false")
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|\d+)")
_DIGITS = 80
_SHAPE = re.compile(r"0|[1-9]\d*(?:x[1-9]\d*)*")
_ARCHIVE = re.compile(r"(?P<path>.+?\.(?P<kind>npy|npz))(?::(?P<rest>.*))?", re.DOTALL)

Shape = tuple[int, ...]


class ValueTextError(ValueError):
    """A value that is not written as it should be; the message is for the user."""


class Number(NamedTuple):
    """A literal: an int, a float or a bool."""

    value: int | float | bool
    text: str


class Stored(NamedTuple):
    """The content of a file.

    ``kind`` is ``npy``, ``npz`` or ``raw``, ``key`` the array of an archive (``None``: its only one),
    ``element`` the stated element type, ``shape`` the stated shape of a raw file; both ``None`` where nothing
    is stated.
    """

    path: str
    kind: str
    key: str | None
    element: str | None
    shape: Shape | None
    text: str


class Generated(NamedTuple):
    """Zeros, ones or random numbers of an element type and a shape."""

    kind: str
    element: str
    shape: Shape
    seed: int
    text: str


class Split(NamedTuple):
    """Part ``part`` of ``of`` equal ones of the first axis of ``whole``."""

    whole: Stored | Generated
    part: int
    of: int

    @property
    def text(self) -> str:
        """For messages."""
        return f"part {self.part} of {self.whole.text}"

    @property
    def element(self) -> str | None:
        """The element type that is stated."""
        return self.whole.element


Elements = Stored | Generated | Split
"""What an array comes from."""

Content = Number | Elements


class Each(NamedTuple):
    """A value that differs from core to core, or from block to block (``by``).

    ``content`` is an expression over the index of a core, or an array: of a number for each, or of a part of a buffer
    for each.
    """

    by: By
    content: str | Stored | Generated
    text: str


class Given(NamedTuple):
    """A value of ``--arg``; ``write_back``: the file receives what the program leaves in the buffer."""

    content: Content | Each
    write_back: bool = False

    @property
    def stored(self) -> Stored | None:
        """The file of the value, if there is one."""
        return file_of(self.content)

    def at(self, path: str) -> Given:
        """Returns the same with the file at ``path``."""
        stored = self.stored
        assert stored is not None
        moved = stored._replace(path=path)
        if isinstance(self.content, Split):
            return self._replace(content=self.content._replace(whole=moved))
        content = self.content._replace(content=moved) if isinstance(self.content, Each) else moved
        return self._replace(content=content)


def file_of(content: Content | Each) -> Stored | None:
    """Returns the file of a value, if there is one."""
    if isinstance(content, Each):
        return content.content if isinstance(content.content, Stored) else None
    content = content.whole if isinstance(content, Split) else content
    return content if isinstance(content, Stored) else None


class OutputFile(NamedTuple):
    """A file to write: ``kind`` as in ``Stored``, ``key`` the array of an archive (``None``: the buffer's
    name)."""

    path: str
    kind: str
    key: str | None


_ELEMENT = re.compile(r"(\w+)\[(\d+)\]\Z")


def split_assignment(text: str, form: str = "NAME=VALUE") -> tuple[str, str]:
    """Name (without ``%``) and value of ``NAME=VALUE``; ``args[0]`` of a C++ kernel is the argument ``args_0``."""
    name, equals, value = text.partition("=")
    name = _ELEMENT.sub(r"\1_\2", name.strip().removeprefix("%"))
    if not (name and equals and value):
        raise ValueTextError(f"'{text}' is not written as {form}")
    return name, value


def parse_given(text: str) -> Given:
    """Returns a value of ``--arg``; raises :class:`ValueTextError`."""
    plain = text.removesuffix(_WRITE_BACK)
    given = Given(_each(plain) if plain.startswith(tuple(EACH)) else parse_content(plain))
    if not text.endswith(_WRITE_BACK):
        return given
    if given.stored is None:
        raise ValueTextError(f"'{given.content.text}' is no file that {_WRITE_BACK} could write back to")
    return given._replace(write_back=True)


def parse_content(text: str) -> Content:
    """Returns a number, a file or generated elements; raises :class:`ValueTextError`."""
    if _NUMBER.fullmatch(text):
        return Number(_number(text), text)
    kind = text.partition(":")[0]
    if kind in GENERATORS:
        return _generated(kind, text)
    archive = _ARCHIVE.fullmatch(text)
    if archive:
        return _archive(archive, text)
    return _raw(text)


def _each(text: str) -> Each:
    start = next(prefix for prefix in EACH if text.startswith(prefix))
    rest = text.removeprefix(start)
    # An expression has no colon, and names no file.
    if ":" in rest or _ARCHIVE.fullmatch(rest):
        content = parse_content(rest)
        assert isinstance(content, Stored | Generated)
        return Each(EACH[start], content, text)
    from pto_dialect.runtime.run.core_expression import CoreExpression, ExpressionError  # deferred: start-up

    try:
        CoreExpression(rest)
    except ExpressionError as error:
        raise ValueTextError(str(error)) from None
    return Each(EACH[start], rest, text)


def parse_output(text: str) -> OutputFile:
    """Returns a value of ``--out``: ``y.npy``, ``y.npz[:KEY]`` or ``y.bin``; raises :class:`ValueTextError`."""
    archive = _ARCHIVE.fullmatch(text)
    rest = archive["rest"] if archive else None
    if archive and archive["kind"] == NPZ and rest != "":
        return OutputFile(archive["path"], NPZ, rest)
    if archive and archive["kind"] == NPY and rest is None:
        return OutputFile(text, NPY, None)
    if text.endswith(".bin"):
        return OutputFile(text, RAW, None)
    raise ValueTextError(f"'{text}' is no file to write, expected y.npy, y.npz:KEY or y.bin")


def shape_text(shape: Shape) -> str:
    """Returns ``256x512``; ``scalar`` without dimensions."""
    return "x".join(map(str, shape)) or "scalar"


def _number(text: str) -> int | float | bool:
    if text in ("true", "false"):
        return text == "true"
    if _INTEGER.fullmatch(text):
        return _integer(text, text, 16 if "x" in text.lower() else 10)
    return float(text)


def _integer(digits: str, whole: str, base: int = 10) -> int:
    """Returns the number that ``digits`` in the value ``whole`` spell; none that anything here counts has so many."""
    if len(digits) > _DIGITS:
        raise ValueTextError(f"the number in '{whole[:_DIGITS]}…' has {len(digits)} digits, at most {_DIGITS} are read")
    return int(digits, base)


def _shape(text: str, whole: str) -> Shape:
    if not _SHAPE.fullmatch(text):
        raise ValueTextError(f"'{text}' in '{whole}' is no shape, expected positive numbers such as 256x512")
    return tuple(_integer(extent, whole) for extent in text.split("x"))


def _generated(kind: str, text: str) -> Generated:
    _, *parts = text.split(":")
    seed = 0
    if kind == "random" and parts and parts[-1].startswith("seed="):
        digits = parts.pop().removeprefix("seed=")
        if not digits.isdecimal() or not digits.isascii():
            raise ValueTextError(f"'{digits}' in '{text}' is no seed, expected a number from 0")
        seed = _integer(digits, text)
    if len(parts) != 2:
        form = f"{kind}:TYPE:SHAPE{'[:seed=N]' if kind == 'random' else ''}"
        raise ValueTextError(f"'{text}' is not written as {form}")
    return Generated(kind, parts[0], _shape(parts[1], text), seed, text)


def _archive(found: re.Match[str], text: str) -> Stored:
    path, kind, rest = found["path"], found["kind"], found["rest"]
    if rest is None:
        return Stored(path, kind, None, None, None, text)
    parts = rest.split(":")
    key = parts.pop(0) if kind == NPZ else None
    if key == "" or len(parts) > 1 or "" in parts:
        form = f"{path}:KEY[:TYPE]" if kind == NPZ else f"{path}[:TYPE]"
        raise ValueTextError(f"'{text}' is not written as {form}; the file has the shape")
    return Stored(path, kind, key, parts[0] if parts else None, None, text)


def _raw(text: str) -> Stored:
    path, *parts = text.split(":")
    if not parts:
        if "." in text or "/" in text:
            raise ValueTextError(f"'{text}' has no element type, write {text}:TYPE or {text}:TYPE:SHAPE")
        raise ValueTextError(f"'{text}' is no value, expected {FORMS}")
    # Colons may belong to the path, so the parts count from the end; a shape begins with a digit, a type
    # never does.
    shape = _shape(parts.pop(), text) if len(parts) > 1 and parts[-1][:1].isdecimal() else None
    element = parts.pop()
    path = ":".join((path, *parts))
    if not path or not element:
        raise ValueTextError(f"'{text}' is not written as FILE:TYPE:SHAPE")
    return Stored(path, RAW, None, element, shape, text)
