"""Local variables without a value, by what the compiler says of them.

Optimisation makes anything of a variable that was never set, so a program shows no sign of it afterwards. A variable
without a value on all paths to a use is an error. One that has none on some path is initialised with a query
whose result has no value; a sanitized run reports the use of such a result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

WARNINGS = (
    *("-Wuninitialized", "-Wsometimes-uninitialized", "-Wconditional-uninitialized"),
    *("-Wno-uninitialized-const-reference", "-Wno-uninitialized-const-pointer", "-Wno-static-self-init"),
)
"""Options for the messages that this module reads; older compilers ignore some of them."""

_WARNING = re.compile(r"(?P<place>\S[^\n]*?:\d+:\d+): warning: variable '(?P<name>\w+)' [^\n]*\[-W(?P<kind>[\w-]+)\]")
_NOTE = re.compile(
    r"(?P<file>\S[^\n]*?):(?P<line>\d+):(?P<column>\d+): note: "
    r"(?:initialize the variable '(?P<name>\w+)' to silence this warning|variable '(?P<begun>\w+)' is declared here)"
)
"""The first form names the position after the name of a variable, the second one the begin of the declaration."""
_CERTAIN = "uninitialized"


def certain_errors(output: str) -> str:
    """Returns what a compiler says of variables that have no value where they are used, as errors with notes."""
    return "\n".join(_certain(output))


def _certain(output: str) -> Iterator[str]:
    is_certain = False
    for line in output.splitlines():
        if warning := _WARNING.match(line):
            is_certain = warning["kind"] == _CERTAIN
            if is_certain:
                yield f"{warning['place']}: error: {warning['name']} is used here, and nothing has set it"
        elif is_certain and (note := _NOTE.match(line)):
            name = note["name"] or note["begun"]
            yield f"{note['file']}:{note['line']}:{note['column']}: note: {name} is declared here"


def declared_without_value(output: str, name: str) -> dict[tuple[int, int], str]:
    """Returns the variables in the file ``name`` that have no value on some path, by line and column of their
    declaration."""
    notes = (_NOTE.match(line) for line in output.splitlines())
    return dict(_position(note) for note in notes if note and note["file"] == name)


def _position(note: re.Match[str]) -> tuple[tuple[int, int], str]:
    name = note["name"] or note["begun"]
    return (int(note["line"]), int(note["column"])), name


def with_queries(text: str, variables: Mapping[tuple[int, int], str]) -> str:
    """Returns ``text`` with an initial value for ``variables``; everything else stays where it is."""
    lines = text.encode("utf-8", "surrogateescape").split(b"\n")
    for (line, column), name in sorted(variables.items(), reverse=True):
        content, word = lines[line - 1], name.encode()
        begin = content[: column - 1]
        if not begin.endswith(word):
            match = re.search(rb"\b%s\b" % word, content[column - 1 :])
            begin += content[column - 1 : column - 1 + (match.end() if match else 0)]
        query = f' = __pto_unset{{"unset;variable={name}"}}\n#line {line}\n'.encode()
        lines[line - 1] = begin + query + b" " * len(begin) + content[len(begin) :]
    return b"\n".join(lines).decode("utf-8", "surrogateescape")
