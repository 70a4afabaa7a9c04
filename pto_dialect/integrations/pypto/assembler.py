"""What PyPTO calls as `ptoas`: checks a program, and writes C++ that stands for its functions.

The C++ has a stub for each function, which notes what it is called with, and the program itself in a comment, so that
whatever is made of the file can be run without the rest. See docs/pypto.md.
"""

from __future__ import annotations

import json
import linecache
import os
import re
import sys
import zlib
from base64 import b32decode, b32encode
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from pto_dialect.diagnostics.file_kinds import OtherKind, forcing
from pto_dialect.diagnostics.files import atomic_write
from pto_dialect.diagnostics.origins import Origins
from pto_dialect.diagnostics.refused import RefusedProgram
from pto_dialect.runtime.compile.program import functions_of

from ..base import Device, Program
from .deferred import with_registration

CLIENT = "pypto"
MARK = "// pto-dialect program "
ORDERS = "--enable-insert-sync"
"""The flag that has `ptoas` order the pipes of the cores."""

FORCE = "--force"

_PYTHON_FILE = re.compile(r'"([^"\n]+\.py)":\d')
"""A Python file in a location."""

TARGETS = {"a2": "a2a3", "a3": "a2a3", "a5": "a5"}
"""What `--pto-arch` says, and our name for it."""


class Embedded(NamedTuple):
    """A program in a comment of C++: its number, where it was written, its target and its text; ``ordered`` states that
    the assembler was called with an option to order the pipes of the cores. ``source`` is the C++ text of a kernel that
    the program was translated from."""

    number: int
    path: str
    target: str | None
    text: str
    ordered: bool = False
    source: str = ""


@lru_cache(1)
def device() -> Device:
    """Returns the device of PyPTO's programs in this process."""
    return Device(CLIENT)


def program_of(embedded: Embedded) -> Program:
    """Returns the verified program. Raises ``ParseError`` or ``VerifyError``."""
    if embedded.source:
        from pto_dialect.cpp.kernel import origins_of_kernel  # deferred: start-up

        origins_of_kernel(embedded.source, embedded.path).register(embedded.text)
    else:
        folder = os.path.dirname(embedded.path) or "."
        Origins(folder, dict(python_texts(embedded.text))).register(embedded.text)
    return device().compile(embedded.text, embedded.path, embedded.target, embedded.ordered)


def python_texts(text: str) -> Iterator[tuple[str, str]]:
    """Yields the texts of the Python files that locations in a program name, with their names: those that this process
    runs, which diagnostics may show."""
    named = set(_PYTHON_FILE.findall(text))
    if named:
        running = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
        for name in sorted(named & running):
            yield name, "".join(linecache.getlines(name))


def target_of(flags: Sequence[str]) -> str | None:
    """Returns the target that flags of `ptoas` select, as `--pto-arch=a3` or as two arguments; ``None``: that of the
    module."""
    for flag, following in zip_longest(flags, flags[1:], fillvalue=""):
        name, equals, value = flag.partition("=")
        if name == "--pto-arch":
            stated = value if equals else following
            return TARGETS.get(stated, stated)
    return None


def assemble(source: str, output: str, flags: Sequence[str] = ()) -> None:
    """Writes ``output`` for the program in the file ``source``.

    A file of another kind stays, unless ``flags`` have ``--force``. Raises ``ParseError`` or ``VerifyError`` for a
    wrong program, ``OSError``.
    """
    text = with_registration(Path(source).read_text(encoding="utf-8"))
    embedded = Embedded(number_of(source, text), source, target_of(flags), text, ORDERS in flags)
    with forcing(FORCE in flags):
        atomic_write(output, translated(embedded), "cpp")


def translated(embedded: Embedded) -> str:
    """Returns the C++ for a program. Raises ``ParseError`` or ``VerifyError``."""
    program = program_of(embedded)
    lines = ['#include "pto/pto-inst.hpp"', "using namespace pto;", comment_of(embedded)]
    for index, name in enumerate(functions_of(program.module)):
        lines += [
            "template <typename... A>",
            f"AICORE void {name}(A... a) {{ pto_note({embedded.number}ull, {index}, a...); }}",
        ]
    return "\n".join([*lines, ""])


def number_of(path: str, text: str) -> int:
    """Returns the number of the program ``text`` that was written to ``path``."""
    return int.from_bytes(sha256(f"{path}\n{text}".encode(errors="surrogateescape")).digest()[:8], "little")


def comment_of(embedded: Embedded) -> str:
    """Returns a line of C++ with a program in it."""
    number, *words = embedded
    return f"{MARK}{number} {b32encode(zlib.compress(json.dumps(words).encode())).decode()}"


def embedded_in(text: str) -> list[Embedded]:
    """Returns the programs in the comments of a C++ text."""
    found: list[Embedded] = []
    for line in text.splitlines():
        if line.startswith(MARK):
            number, _, packed = line[len(MARK) :].partition(" ")
            found.append(Embedded(int(number), *json.loads(zlib.decompress(b32decode(packed)))))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """`ptoas SOURCE -o OUTPUT [FLAGS]`; returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if "--version" in given:
        print("ptoas (pto-dialect)")
        return 0
    if len(given) < 3 or given[1] != "-o":
        print("ptoas: expected SOURCE -o OUTPUT [FLAGS]", file=sys.stderr)
        return 2
    try:
        assemble(given[0], given[2], given[3:])
    except OtherKind as error:
        print(f"ptoas: -o cannot write '{given[2]}': {error.strerror}", file=sys.stderr)
        return 1
    except (RefusedProgram, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
