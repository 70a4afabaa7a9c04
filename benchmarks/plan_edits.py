"""Edits after which a statement still looks like one that was read before, and means something else, or nothing.

Each takes a generator of random numbers and a program, and gives another program.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from fuzz_mutators import mutate

NAME = re.compile(r"%(?:\d+|[A-Za-z_$.\-][\w$.\-]*)(?:#\d+)?")
NUMBER = re.compile(r"(?<![\w.%@#!^$-])-?\d+(?:\.\d+(?:[eE][+-]?\d+)?)?(?![\w.])")
CONSTANT = re.compile(r"(?<=arith\.constant )-?[\d.eE+\-]+")
TYPE = re.compile(r"![\w.]+(?:<[^<>\n]*(?:<[^<>\n]*>[^<>\n]*)*>)?|\b(?:i1|i8|i16|i32|i64|index|f16|bf16|f32)\b")
STATEMENT = re.compile(r"^[ \t]*(?:%[^\n=]*=[ \t]*)?(?:pto|arith|scf|func|memref)\.[^\n{}]*$", re.MULTILINE)

NAMES = (
    *("%0", "%00", "%1", "%01", "%a", "%A", "%x_1", "%a.b", "%a-", "%-", "%a->", "%$", "%.", "%é", "%名", "%ａ", "%٣"),
    *(
        "%a#0",
        "%a#1",
        "%a#00000",
        "%a:2",
        "%" + "n" * 300,
        "%",
        "% a",
        "%a b",
        "%%a",
        "a",
        "%1a",
        "%a\u0301",
        "%\u2028",
    ),
)
NUMBERS = (
    *(
        "0",
        "-0",
        "1",
        "-1",
        "00",
        "007",
        "127",
        "128",
        "255",
        "256",
        "-128",
        "-129",
        "32767",
        "32768",
        "65535",
        "65536",
    ),
    *("2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296", "9223372036854775807"),
    *("9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "1" * 25, "٣"),
    *("18446744073709551616", "0x10", "-0x1", "0xFFFFFFFFFFFFFFFF", "1.0", "-0.0", "1.", "1e3", "1.5e400", "1e", "1_0"),
    *("true", "false", "dense<0>", "- 1", "+1", "1 2", "0x7FC00000", "65520.0", "3.5e38", "1.0e-400", "1:", "nan"),
)
TYPES = ("i1", "i8", "i16", "i32", "i64", "index", "f16", "bf16", "f32", "!x", "vector<4xi32>", "si8", "ui8")
TAILS = (
    *(" ;", ";", " x", " {a = 1}", " {}", ' loc("a":1:2)', " : i32", ",", " ,", " %a", " // note", "// %a", " /", "\\"),
    *(
        " }",
        " {",
        " -> i32",
        ")",
        " ]",
        ' "a"',
        " @f",
        " ^bb0",
        " = ",
        " else",
        " pto.barrier",
        " %z = arith.constant 1",
    ),
    *("\t", "\r", "\r\n", "\n\n", " \n// note\n", "\n  : i32", "\n  {a = 1}", "\n  %q", "\u00a0", "\n  x", "\0", "\n;"),
)
COMMENTS = ("// note\n", "//", " // %a = \n", "\n// a comment\n", "/* a */", "# a\n", "; a\n", "//\n\n")
SPACES = ("", " ", "  ", "\t", "\n", "\n    ", "\u00a0", "\r\n", "\x0c", "\u2028")

Edit = Callable[[random.Random, str], str]


def _some(rng: random.Random, text: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return rng.choice(found) if found else None


def _put(text: str, found: re.Match[str] | None, new: str) -> str:
    return text if found is None else text[: found.start()] + new + text[found.end() :]


def _renamed(rng: random.Random, text: str) -> str:
    found = _some(rng, text, NAME)
    if found is None:
        return text
    new = rng.choice(NAMES)
    if rng.random() < 0.5:
        return re.sub(re.escape(found[0]) + r"(?![\w$.\-])", lambda _: new, text)
    return _put(text, found, new)


def _other_name(rng: random.Random, text: str) -> str:
    """A use or definition gets another name of the program: other types, undefined ones, redefinitions."""
    other = _some(rng, text, NAME)
    return _put(text, _some(rng, text, NAME), other[0] if other else "%x")


def _swapped(rng: random.Random, text: str) -> str:
    """Two names of one statement in each other's place."""
    line = _some(rng, text, STATEMENT)
    names = list(NAME.finditer(line[0])) if line else []
    if line is None or len(names) < 2:
        return _other_name(rng, text)
    first, second = sorted(rng.sample(names, 2), key=lambda found: found.start())
    new = line[0][: first.start()] + second[0] + line[0][first.end() : second.start()] + first[0]
    return _put(text, line, new + line[0][second.end() :])


def _number(rng: random.Random, text: str) -> str:
    pattern = CONSTANT if rng.random() < 0.6 else NUMBER
    return _put(text, _some(rng, text, pattern), rng.choice(NUMBERS))


def _type(rng: random.Random, text: str) -> str:
    other = _some(rng, text, TYPE)
    new = rng.choice(TYPES) if other is None or rng.random() < 0.5 else other[0]
    return _put(text, _some(rng, text, TYPE), new)


def _results(rng: random.Random, text: str) -> str:
    """Names before a statement: one more, one fewer, a pack, none."""
    line = _some(rng, text, STATEMENT)
    if line is None:
        return text
    indent = re.match(r"[ \t]*", line[0])
    assert indent is not None
    names, equals, rest = line[0].partition("=")
    if not equals or not names.strip().startswith("%"):
        return _put(text, line, indent[0] + rng.choice(("%r = ", "%r, %s = ", "%r:2 = ")) + line[0].strip())
    names = names.strip()
    new = rng.choice((f"{names}, %more", f"{names}:2", f"{names}, {names}", f"{names}#0", "", f"{names}:1", "%a,"))
    return _put(text, line, f"{indent[0]}{new}{' =' if new else ''}{rest}")


def _tail(rng: random.Random, text: str) -> str:
    line = _some(rng, text, STATEMENT)
    return _put(text, line, line[0] + rng.choice(TAILS)) if line else text


def _comment(rng: random.Random, text: str) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + rng.choice(COMMENTS) + text[place:]


def _comma(rng: random.Random, text: str) -> str:
    """A comma left out, doubled, or put somewhere."""
    found = _some(rng, text, re.compile(r",\s*"))
    return _put(text, found, rng.choice(("", " ", ",, ", " , ", ",\n      ")))


def _space(rng: random.Random, text: str) -> str:
    return _put(text, _some(rng, text, re.compile(r"[ \n]+")), rng.choice(SPACES))


def _character(rng: random.Random, text: str) -> str:
    place = rng.randrange(len(text) + 1)
    new = rng.choice(("", "%", '"', "\\", "<", ">", "{", "}", "(", ")", ":", "=", "#", "!", "é", "-", ".", "0", "/"))
    return text[:place] + new + text[place + rng.randrange(2) :]


def _line(rng: random.Random, text: str) -> str:
    """A statement left out, repeated, moved, or joined with the next one."""
    lines = text.split("\n")
    place = rng.randrange(len(lines))
    change = rng.randrange(5)
    if change == 0:
        del lines[place]
    elif change == 1:
        lines.insert(rng.randrange(len(lines) + 1), lines[place])
    elif change == 2:
        lines.insert(rng.randrange(len(lines)), lines.pop(place))
    elif change == 3:
        lines[place : place + 2] = [" ".join(lines[place : place + 2])]
    else:
        lines.insert(
            place, rng.choice(("", "  // note", "  %x = ", "  return", "^bb0:", "  }", "#a = 1 : i32", "!t = i32"))
        )
    return "\n".join(lines)


def _any(rng: random.Random, text: str) -> str:
    return mutate(rng, [text])


EDITS: Sequence[tuple[int, Edit]] = (
    *((5, _renamed), (8, _other_name), (6, _swapped), (8, _number), (5, _type), (6, _results), (8, _tail)),
    *((4, _comment), (4, _comma), (4, _space), (5, _character), (6, _line), (3, _any)),
)
_WEIGHTS = [weight for weight, _ in EDITS]


def edited(rng: random.Random, text: str) -> str:
    """``text`` with one to three edits."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        ((_, edit),) = rng.choices(EDITS, _WEIGHTS)
        text = edit(rng, text or " ")
    return text
