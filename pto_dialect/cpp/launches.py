"""What a C++ file says about its kernels without a compiler: launches ``kernel<<<blocks, …>>>(…)``, and its cores.

No C++ compiler knows ``<<<``. Launches are replaced by spaces, so that every line and column stays and the launcher
becomes a call, from which the compiler instantiates the kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

CORES = ("vector", "cube")
RUNTIME_ENTRIES = ("kernel_entry", "aicore_kernel")
"""Functions that a run time calls with an array of arguments."""
DEVICE_WORDS = frozenset(("AICORE", "__aicore__"))
"""What functions are marked with that run on the device."""


class Launch(NamedTuple):
    """One launch: what is launched, as written, and the number of blocks, as written."""

    kernel: str
    blocks: str
    line: int


_TOKEN = re.compile(
    r'//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)|R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"'
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|<<<|>>>""",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"\[ *aicore *\]")
_NAME_BEFORE = re.compile(r"[\w:]+\s*\Z")
_TEMPLATE_LIMIT = 2000
_TEMPLATE = re.compile(r"\btemplate\s*<([^<>]*)")

_WORD = re.compile(r"\w+")
_PROCEDURE = re.compile(r"^[^\n;{}()#=]*\bvoid\s+([A-Za-z_]\w*)\s*\([^;{}()]*\)\s*\{", re.MULTILINE)
_KERNEL = re.compile(r"\b__global__\b[^;{}()]*?(\w+)\s*\(")
_SWITCHES = {
    "vector": frozenset({"__DAV_VEC__", "__DAV_C220_VEC__", "__DAV_C310_VEC__"}),
    "cube": frozenset({"__DAV_CUBE__", "__DAV_C220_CUBE__", "__DAV_C310_CUBE__"}),
}
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b([^\n]*)([^#]*)", re.MULTILINE)
"""A condition of the preprocessor, and what follows up to the next directive."""
_UNUSED = re.compile(r"\(void\)\s*\w+\s*;|\breturn\s*;")
"""Statements that do nothing."""
_PIPE_MACRO = re.compile(r"^[ \t]*#[ \t]*(?:ifn?def|define|undef)[ \t]+PIPE_\w+", re.MULTILINE)
"""A macro for a pipe, which is defined where a header has none: it says nothing about what the kernel uses."""
_CUBE_WORD = re.compile(r"(TMATMUL|TGEMV|TileLeft|TileRight|TileAcc)\w*|TIMG2COL|TSTORE_FP|PIPE_(M|MTE1|FIX)")


def has_own_syntax(text: str) -> bool:
    """Returns whether there may be something that only a device compiler knows: launches, the attribute
    ``[aicore]``."""
    return "<<<" in text or _ATTRIBUTE.search(text) is not None


def blank_launches(text: str) -> tuple[str, list[Launch]]:
    """Returns ``text`` with spaces for every ``<<<…>>>`` and ``[aicore]``, and what was launched there."""
    text = _ATTRIBUTE.sub(lambda match: " " * len(match[0]), text)
    launches: list[Launch] = []
    parts: list[str] = []
    done, opened = 0, -1
    for match in _TOKEN.finditer(text):
        if match[0] == "<<<":
            opened = match.start() if opened < 0 else opened
        elif match[0] == ">>>" and opened >= 0:
            inside = text[opened + 3 : match.start()]
            line = text.count("\n", 0, opened) + 1
            launches.append(Launch(_launched(text, opened), _first_argument(inside), line))
            parts += [text[done:opened], re.sub(r"[^\n]", " ", text[opened : match.end()])]
            done, opened = match.end(), -1
    return "".join([*parts, text[done:]]), launches


def _launched(text: str, end: int) -> str:
    """Returns the name before ``end``, with its template arguments."""
    before = text[max(0, end - _TEMPLATE_LIMIT) : end].rstrip()
    start = len(before)
    if before.endswith(">"):
        depth = 0
        for start in range(len(before) - 1, -1, -1):
            depth += {">": 1, "<": -1}.get(before[start], 0)
            if not depth:
                break
    name = _NAME_BEFORE.search(before[:start])
    return before[name.start() if name else start :]


def _first_argument(inside: str) -> str:
    depth = 0
    for index, letter in enumerate(inside):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(letter, 0)
        if letter == "," and not depth:
            return inside[:index].strip()
    return inside.strip()


def without_comments(text: str) -> str:
    """Returns ``text`` with spaces for comments and strings."""
    return _TOKEN.sub(lambda match: match[0] if match[0] in ("<<<", ">>>") else re.sub(r"[^\n]", " ", match[0]), text)


def find_cores(text: str) -> tuple[str, ...]:
    """Returns the cores that a kernel has code for, by what it names: ``vector``, ``cube`` or both."""
    plain = without_comments(text)
    words = frozenset(_WORD.findall(_PIPE_MACRO.sub("", plain)))
    switched = [core for core in CORES if words & _SWITCHES[core]]
    if len(switched) == 2 or (switched and _has_code_for_others(plain)):
        return CORES
    if any(map(_CUBE_WORD.fullmatch, words)):
        return CORES if switched == ["vector"] else ("cube",)
    return ("vector",)


def _has_code_for_others(text: str) -> bool:
    """Returns whether a condition on a core has statements for the others: after ``#else``, ``#elif``, or as it is
    negated."""
    switches = frozenset().union(*_SWITCHES.values())
    opened: list[tuple[bool, bool]] = []
    """For each condition, whether it names a core, and whether its present branch is that of the others."""
    for directive, rest, branch in _CONDITION.findall(text):
        names_core = not switches.isdisjoint(_WORD.findall(rest))
        is_negated = names_core and (directive == "ifndef" or "!" in rest)
        if directive.startswith("if"):
            opened.append((names_core, is_negated))
        elif opened:
            named_core, _ = opened.pop()
            if directive != "endif":
                opened.append((named_core or names_core, named_core or is_negated))
        if any(is_other for _, is_other in opened) and ";" in _UNUSED.sub("", branch):
            return True
    return False


def kernel_names(text: str) -> list[str]:
    """Returns the functions that a text declares as kernels, templates too."""
    return list(dict.fromkeys(_KERNEL.findall(without_comments(text))))


def procedure_names(text: str) -> list[str]:
    """Returns the functions with a body and without a result that a text has, without templates."""
    found = dict.fromkeys(_PROCEDURE.findall(without_comments(text)))
    return [name for name in found if not is_template(name, text)]


def are_called(text: str) -> bool:
    """Returns whether host code calls the kernels of a text, which has functions for the device and launches none."""
    words = frozenset(_WORD.findall(without_comments(text)))
    return bool(words & DEVICE_WORDS) and not words & {"__global__", *RUNTIME_ENTRIES}


def is_template(entry: str, text: str) -> bool:
    """Returns whether a text declares the function ``entry``, with namespaces or without, as a template."""
    return _template_head(entry, text) is not None


def instance_of(entry: str, texts: Iterable[str]) -> str:
    """Returns a template that a text declares with arguments of the right kinds, as an example: ``scale<float,
    128>``."""
    head = next((head for head in (_template_head(entry, text) for text in texts) if head is not None), "")
    arguments = [_example(one) for one in head.split(",") if "=" not in one and "..." not in one]
    return f"{entry}<{', '.join(arguments)}>"


def _template_head(entry: str, text: str) -> str | None:
    """Returns the parameters of the template ``entry``, as far as no ``<`` or ``>`` is among them."""
    name = entry.strip().rpartition("::")[2]
    if not name.isidentifier():
        return None
    plain = without_comments(text)
    for match in re.finditer(rf"\b{name}\s*\(", plain):
        head = plain[max(0, match.start() - _TEMPLATE_LIMIT) : match.start()]
        if found := _TEMPLATE.search(head[max(map(head.rfind, ";{}")) + 1 :]):
            return found[1]
    return None


def _example(parameter: str) -> str:
    """Returns an argument for a parameter of a template."""
    words = set(parameter.split())
    return "float" if words & {"typename", "class"} or not words else "true" if "bool" in words else "128"


def has_addresses(text: str) -> bool:
    """Returns whether a file gives tiles addresses itself; without any, they are placed later."""
    return "TASSIGN" in _WORD.findall(without_comments(text))
