"""Where printed modules go."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..diagnostics.files import atomic_write
from .inputs import Input

STDOUT = "-"


class OutputError(ValueError):
    """The output cannot be what the command line says."""


def output_path(output: str, item: Input) -> str:
    """The file for one input: ``output`` itself, or its place below that folder."""
    return os.path.join(output, item.relative) if is_folder(output) else output


def is_folder(output: str) -> bool:
    """An existing folder, or a name that ends like one."""
    return output.endswith(("/", os.sep)) or os.path.isdir(output)


def check_output(output: str, inputs: Sequence[Input], batch: bool) -> None:
    """Raises :class:`OutputError` when ``output`` cannot take what ``inputs`` give, before any work is done.

    Several inputs, or a folder, need a folder, in which no two of them may have the same place.
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
        return
    if batch:
        raise OutputError(f"several inputs cannot go to one file; '{output}' is not a folder (end its name with /)")
    parent = os.path.dirname(output)
    if parent and not os.path.isdir(parent):
        raise OutputError(f"cannot write '{output}': there is no folder '{parent}'")


def write_module(output: str, item: Input, text: str) -> None:
    """Writes the printed module of ``item``, all or nothing; raises OSError."""
    path = output_path(output, item)
    if is_folder(output):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    atomic_write(path, text)
