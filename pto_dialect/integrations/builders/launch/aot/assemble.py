"""The command `ptoas`: verifies a program, and writes a C++ file with its text in a comment.

ptoas [--enable-insert-sync] [--pto-arch=ARCH] PROGRAM [-o FILE.cpp]
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pto_dialect.diagnostics.refused import RefusedProgram

MARK = "// pto-dialect program: "
"""Begins the line of a C++ file that has a program."""
WITH_VALUE = ("-o", "--pto-arch", "--pto-backend", "--pto-level")


class Assembled(NamedTuple):
    """A verified program: its file and text, the chip for programs that name none, and whether a compiler orders its
    pipes."""

    file: str
    text: str
    target: str | None
    ordered: bool

    @property
    def line(self) -> str:
        """The line of a C++ file."""
        return f"{MARK}{json.dumps(self._asdict())}\n"


def programs_in(text: str) -> list[Assembled]:
    """Returns the programs in a C++ file."""
    return [Assembled(**json.loads(line)) for line in re.findall(rf"^{re.escape(MARK)}(.*)$", text, re.MULTILINE)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Carries the command out. Exits with code 1 for a program with errors."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options: dict[str, str] = {}
    files: list[str] = []
    while given:
        word, equals, value = given.pop(0).partition("=")
        if word in WITH_VALUE:
            options[word] = value if equals or not given else given.pop(0)
        elif word.startswith("-") and word != "-":
            options[word] = value
        else:
            files.append(word)
    if "--version" in options:
        print("ptoas of pto-dialect")
        return
    if len(files) > 1:
        sys.exit("ptoas: error: exactly one program is assembled")
    sys.exit(_assemble(files[0] if files else "-", options))


def _assemble(file: str, options: dict[str, str]) -> int:
    from pto_dialect.integrations.base import Device  # deferred: start-up

    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        target = options.get("--pto-arch") or None
        Device("ptoas", target).compile(text, file)
        made = Assembled(file, text, target, "--enable-insert-sync" in options)
        output = options.get("-o", "-")
        if output == "-":
            print(made.line, end="")
        else:
            Path(output).write_text(made.line, encoding="utf-8")
    except RefusedProgram as error:
        print(error, file=sys.stderr)
        return 1
    except (OSError, UnicodeDecodeError) as error:
        print(f"ptoas: error: {error}", file=sys.stderr)
        return 1
    return 0
