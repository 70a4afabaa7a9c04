"""Where printed modules go."""

from __future__ import annotations

import os
import stat
from collections.abc import Hashable, Sequence

from pto_dialect.diagnostics.file_kinds import OtherKind, check_kind
from pto_dialect.diagnostics.files import atomic_write

from .inputs import Input

STDOUT = "-"


class OutputError(ValueError):
    """The output cannot be what the command line says."""


def output_path(output: str, item: Input) -> str:
    """Returns the file for one input: ``output`` itself, or its relative path in that folder."""
    return os.path.join(output, item.relative) if is_folder(output) else output


def is_folder(output: str) -> bool:
    """Returns an existing folder, or a name that ends like one."""
    return output.endswith(("/", os.sep)) or os.path.isdir(output)


KINDS_OF_LANGUAGES = {"pto": "program", "cpp": "emitted"}
"""What files hold that programs are printed to, by the language they are printed in."""


def check_output(output: str, inputs: Sequence[Input], batch: bool, language: str = "pto") -> None:
    """Raises :class:`OutputError` when ``output`` cannot receive the results of ``inputs`` in a language, before any
    work is done.

    Several inputs, or a folder, need a folder, in which their paths are distinct.
    """
    if output == STDOUT:
        if batch:
            raise OutputError("several inputs cannot go to standard output; name a folder with -o")
        return
    if is_folder(output):
        places: dict[str, str] = {}
        for item in inputs:
            place = os.path.normpath(item.relative)
            if place in places:
                raise OutputError(
                    f"'{places[place]}' and '{item.path}' would both be written to '{place}' in '{output}'"
                )
            places[place] = item.path
        _check_inputs_kept(output, inputs, KINDS_OF_LANGUAGES[language])
        return
    if batch:
        raise OutputError(f"several inputs cannot go to one file; '{output}' is not a folder (end its name with /)")
    parent = os.path.dirname(output)
    if parent and not os.path.isdir(parent):
        raise OutputError(f"cannot write '{output}': there is no folder '{parent}'")
    _check_inputs_kept(output, inputs, KINDS_OF_LANGUAGES[language])


def _check_inputs_kept(output: str, inputs: Sequence[Input], kind: str) -> None:
    read = [item.path for item in inputs if item.data is None]
    for item in inputs:
        path = output_path(output, item)
        check_distinct([("-o", path)], read)
        check_replaced("-o", path, kind)


def check_replaced(option: str, path: str, kind: str) -> None:
    """Raises :class:`OutputError` where ``option`` would replace a file of another kind."""
    try:
        check_kind(path, kind)
    except OtherKind as error:
        raise OutputError(f"{option} cannot write '{path}': {error.strerror}") from None


def check_distinct(
    outputs: Sequence[tuple[str, str]], inputs: Sequence[str], others: Sequence[tuple[str, str]] = ()
) -> None:
    """Raises :class:`OutputError` for an output that would overwrite an input or another output.

    ``outputs`` and ``others`` are pairs of an option and its file; ``others`` may overwrite inputs and each other.
    """
    read = {identity(path): path for path in inputs}
    written: dict[Hashable, str] = {}
    for option, path in outputs:
        place = identity(path)
        if place in read:
            raise OutputError(f"{option} would overwrite '{read[place]}', which is read")
        if place in written:
            raise OutputError(f"{written[place]} and {option} would both be written to '{path}'")
        written[place] = option
    for option, path in others:
        if identity(path) in written:
            raise OutputError(f"{written[identity(path)]} and {option} would both be written to '{path}'")


def identity(path: str) -> Hashable:
    """Returns what two names of one file have in common, links of both kinds included."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path
    # A device or a terminal may be written to from several sides.
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else object()


def write_module(output: str, item: Input, text: str, language: str = "pto") -> None:
    """Writes the module of ``item``, printed in a language, all or nothing; raises OSError."""
    path = output_path(output, item)
    if is_folder(output):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    atomic_write(path, text, KINDS_OF_LANGUAGES[language])
