"""Ways to break a program: tokens, numbers, names, types, lines, blocks, nesting, aliases, splices of two programs.

Each mutator takes a generator of random numbers and the texts, and gives one input.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

TOKEN = re.compile(r"%?[\w.$#@^!]+|\s+|.", re.DOTALL)
INTEGER = re.compile(r"(?<![\w.%@#!^$])-?\d+(?![\w.])|(?<=[<x,\[])\d+(?=x|,|\])")
FLOAT = re.compile(r"-?\d+\.\d+(?:[eE][+-]?\d+)?")
VALUE = re.compile(r"%[\w$.]+")
SYMBOL = re.compile(r"@[\w$.]+")
TYPE = re.compile(r"![\w.]+(?:<[^<>\n]*(?:<[^<>\n]*>[^<>\n]*)*>)?|\b(?:[su]?i\d+|index|[bt]?f\d+)\b")
OPERATION = re.compile(r"\b(?:pto|arith|scf|memref|func|cf|math)\.[\w.]+")
ATTRIBUTE = re.compile(r"#pto[\w.]*<[^<>\n]*>")

SNIPPETS = (
    *(
        "{",
        "}",
        "(",
        ")",
        "<",
        ">",
        "[",
        "]",
        '"',
        ",",
        ":",
        "=",
        "->",
        "%",
        "#",
        "!",
        "@",
        "^",
        "#pto.",
        "!pto.",
        "//",
    ),
    *(
        "ins(",
        "outs(",
        "0x",
        "-1",
        "\0",
        "...",
        "loc(",
        "dense<",
        "affine_map<",
        "module {",
        "{a = [",
        "unit",
        "%a:2 =",
    ),
)
INTEGERS = (
    *(
        "0",
        "-1",
        "1",
        "-0",
        "2",
        "7",
        "8",
        "31",
        "32",
        "33",
        "63",
        "64",
        "255",
        "256",
        "4095",
        "4096",
        "65535",
        "65536",
    ),
    *("2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296", "1099511627776"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615"),
    *(
        "18446744073709551616",
        "999999999999999999999999",
        "0x0",
        "0xFFFFFFFF",
        "0xFFFFFFFFFFFFFFFF",
        "-0x1",
        "1" * 5000,
    ),
)
FLOATS = (
    *("0.0", "-0.0", "1.0e400", "-1.0e400", "1.0e-400", "1.5e38", "3.5e38", "65504.0", "65520.0", "0x7FC00000", "nan"),
    *("inf", "1.0", "0.1", "1e", "." + "9" * 500),
)
NAMES = (
    *(
        "_",
        "0",
        "1",
        "a",
        "range",
        "min",
        "max",
        "core",
        "np",
        "class",
        "lambda",
        "None",
        "True",
        "self",
        "items",
        "mask",
    ),
    *("__class__", "__import__", "started", "k", "v", "a-b", "a.b", "a$b", "x_1", "ｋ", "é", "a" * 3000, "%", "-", ""),
)
QUOTED = ("", " ", '\\"', '\\"\\"\\"', "\\n", "\\00", "\\FF", "a b", "x\\22); import os; (", "é", "\\\\", "${x}", "{0}")
DEPTHS = (1, 2, 5, 6, 7, 20, 64, 65, 300, 999, 1001, 4000)
DOUBLINGS = (3, 10, 17, 25, 60)

Mutator = Callable[[random.Random, Sequence[str]], str]


def noise(rng: random.Random, texts: Sequence[str]) -> str:
    """Random bytes."""
    return bytes(rng.randrange(256) for _ in range(rng.randrange(200))).decode("utf-8", errors="replace")


def truncation(rng: random.Random, texts: Sequence[str]) -> str:
    """The beginning of a program."""
    text = rng.choice(texts)
    return text[: rng.randrange(len(text) + 1)]


def splice(rng: random.Random, texts: Sequence[str]) -> str:
    """The beginning of one program and the end of another."""
    text, other = rng.choice(texts), rng.choice(texts)
    return text[: rng.randrange(len(text))] + other[rng.randrange(len(other)) :]


def tokens(rng: random.Random, texts: Sequence[str]) -> str:
    """Tokens deleted, repeated, replaced, exchanged and misspelt."""
    found = TOKEN.findall(rng.choice(texts))
    for _ in range(rng.randrange(1, 6)):
        if not found:
            break
        place = rng.randrange(len(found))
        change = rng.randrange(5)
        if change == 0:
            del found[place]
        elif change == 1:
            found.insert(place, rng.choice(found))
        elif change == 2:
            found[place] = rng.choice(SNIPPETS)
        elif change == 3:
            other = rng.randrange(len(found))
            found[place], found[other] = found[other], found[place]
        else:
            word = list(found[place])
            word[rng.randrange(len(word))] = chr(rng.randrange(32, 127))
            found[place] = "".join(word)
    return "".join(found)


def replaced(rng: random.Random, text: str, pattern: re.Pattern[str], make: Callable[[str], str], count: int) -> str:
    """``count`` random matches of ``pattern`` replaced."""
    spans = [match.span() for match in pattern.finditer(text)]
    for start, end in sorted(rng.sample(spans, min(count, len(spans))), reverse=True):
        text = text[:start] + make(text[start:end]) + text[end:]
    return text


def numbers(rng: random.Random, texts: Sequence[str]) -> str:
    """Numbers replaced by those at and beyond limits."""
    text = rng.choice(texts)
    if rng.random() < 0.2:
        return replaced(rng, text, FLOAT, lambda _: rng.choice(FLOATS), rng.randrange(1, 3))

    def near(old: str) -> str:
        return str(int(old) + rng.choice((-1, 1, 8, -8))) if rng.random() < 0.3 else rng.choice(INTEGERS)

    return replaced(rng, text, INTEGER, near, rng.choice((1, 1, 1, 2, 3)))


def names(rng: random.Random, texts: Sequence[str]) -> str:
    """Names of values, functions and words in quotes replaced; one name everywhere, or one use of it."""
    text = rng.choice(texts)
    pattern, mark = rng.choice(((VALUE, "%"), (SYMBOL, "@")))
    quoted = mark == "@" and rng.random() < 0.5
    new = f'@"{rng.choice(QUOTED)}"' if quoted else mark + rng.choice(NAMES)
    found = pattern.findall(text)
    if not found:
        return text
    old = rng.choice(found)
    if rng.random() < 0.7:
        return re.sub(re.escape(old) + r"(?![\w$.])", lambda _: new, text)
    return replaced(rng, text, pattern, lambda _: rng.choice((new, rng.choice(found))), 1)


def exchanged(pattern: re.Pattern[str]) -> Mutator:
    """A mutator that replaces matches by those of other programs."""

    def mutate(rng: random.Random, texts: Sequence[str]) -> str:
        others = pattern.findall(rng.choice(texts))
        if not others:
            return tokens(rng, texts)
        return replaced(rng, rng.choice(texts), pattern, lambda _: rng.choice(others), rng.choice((1, 1, 2, 4)))

    return mutate


def lines(rng: random.Random, texts: Sequence[str]) -> str:
    """Lines deleted, repeated, moved, and taken from another program."""
    found = rng.choice(texts).splitlines(keepends=True)
    for _ in range(rng.randrange(1, 5)):
        if not found:
            break
        place = rng.randrange(len(found))
        change = rng.randrange(4)
        if change == 0:
            del found[place : place + rng.choice((1, 1, 2, 5))]
        elif change == 1:
            found.insert(place, found[rng.randrange(len(found))])
        elif change == 2:
            found.insert(rng.randrange(len(found)), found.pop(place))
        else:
            other = rng.choice(texts).splitlines(keepends=True) or [""]
            start = rng.randrange(len(other))
            found[place:place] = other[start : start + rng.choice((1, 1, 3))]
    return "".join(found)


def blocks(rng: random.Random, texts: Sequence[str]) -> str:
    """A bracketed part deleted, doubled, or replaced by one of another program."""
    text = rng.choice(texts)
    mine, theirs = _block(rng, text), None
    if mine is None:
        return lines(rng, texts)
    start, end = mine
    change = rng.randrange(4)
    if change == 0:
        return text[:start] + text[start] + text[end - 1 :]
    if change == 1:
        return text[:end] + text[start:end] + text[end:]
    if change == 2:
        other = rng.choice(texts)
        theirs = _block(rng, other)
        if theirs is not None:
            return text[:start] + other[slice(*theirs)] + text[end:]
    return text[:start] + text[start + 1 : end - 1] * rng.choice((1, 2, 30)) + text[end:]


def _block(rng: random.Random, text: str) -> tuple[int, int] | None:
    opened = [match.start() for match in re.finditer(r"[({\[<]", text)]
    if not opened:
        return None
    start = rng.choice(opened)
    closing = {"(": ")", "{": "}", "[": "]", "<": ">"}[text[start]]
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] == text[start]) - (text[position] == closing)
        if depth == 0:
            return start, position + 1
    return None


def nesting(rng: random.Random, texts: Sequence[str]) -> str:
    """A line, a type or a value within many brackets or regions."""
    text = rng.choice(texts)
    depth = rng.choice(DEPTHS)
    kind = rng.randrange(6)
    if kind == 0:
        found = text.splitlines(keepends=True)
        place = rng.randrange(len(found))
        header, end = rng.choice(
            (
                ("scf.if %c {\n", "}\n"),
                ("module {\n", "}\n"),
                ('"test.op"() ({\n', "}) : () -> ()\n"),
                ("scf.for %i = %c to %c step %c {\n", "}\n"),
                ("pto.section.vector {\n", "}\n"),
            )
        )
        condition = "%c = arith.constant true\n" if "if" in header else "%c = arith.constant 1 : index\n"
        if "%i " in header:
            found[place:place] = [condition, *(f"scf.for %i{n} = %c to %c step %c {{\n" for n in range(depth))]
            found[place + depth + 1 : place + depth + 1] = ["}\n"] * depth
        else:
            found[place:place] = [condition, header * depth, end * depth]
        return "".join(found)
    open_close = rng.choice((("[", "]"), ("{a = ", "}"), ("(", ")"), ("tuple<", ">"), ("() -> (", ")"), ("<", ">")))
    pattern = rng.choice((TYPE, INTEGER, ATTRIBUTE, VALUE))
    return replaced(rng, text, pattern, lambda old: open_close[0] * depth + old + open_close[1] * depth, 1)


def aliases(rng: random.Random, texts: Sequence[str]) -> str:
    """Aliases that stand for much, used in a program."""
    mark, first, step = rng.choice(
        (
            ("#", "1 : i32", "[#z{0}, #z{0}]"),
            ("#", "1 : i32", "{{a = #z{0}, b = #z{0}}}"),
            ("#", "[]", "[#z{0}]"),
            ("!", "i32", "tuple<!z{0}, !z{0}>"),
            ("!", "i32", "(!z{0}) -> !z{0}"),
            ("!", "!pto.ptr<f32, gm>", "!z{0}"),
        )
    )
    levels = rng.choice(DOUBLINGS)
    head = f"{mark}z0 = {first}\n" + "".join(f"{mark}z{n + 1} = {step.format(n)}\n" for n in range(levels))
    use = f"{mark}z{levels}"
    text = rng.choice(texts)
    if mark == "!":
        return head + replaced(rng, text, TYPE, lambda _: use, rng.choice((1, 2, 20)))
    if rng.random() < 0.5:
        return head + replaced(rng, text, ATTRIBUTE, lambda _: use, 1)
    place = text.find("{")
    return head + text[:place] + f" attributes {{x = {use}}} " + text[place:]


def repetition(rng: random.Random, texts: Sequence[str]) -> str:
    """A program many times, or a part of a line many times."""
    text = rng.choice(texts)
    if rng.random() < 0.3:
        return text * rng.choice((2, 10))
    start = rng.randrange(len(text))
    end = min(len(text), start + rng.randrange(1, 60))
    return text[:start] + text[start:end] * rng.choice((2, 50, 1000)) + text[end:]


def _both(first: Mutator, second: Mutator) -> Mutator:
    return lambda rng, texts: second(rng, [first(rng, texts) or " "])


MUTATORS: tuple[tuple[int, Mutator], ...] = (
    (2, noise),
    (5, truncation),
    (5, splice),
    (14, tokens),
    (14, numbers),
    (8, names),
    (10, exchanged(TYPE)),
    (7, exchanged(OPERATION)),
    (4, exchanged(ATTRIBUTE)),
    (8, lines),
    (6, blocks),
    (5, nesting),
    (3, aliases),
    (2, repetition),
    (3, _both(lines, numbers)),
    (3, _both(exchanged(TYPE), exchanged(OPERATION))),
    (1, _both(nesting, tokens)),
)
_WEIGHTS = [weight for weight, _ in MUTATORS]


def mutate(rng: random.Random, texts: Sequence[str]) -> str:
    """One input."""
    ((_, mutator),) = rng.choices(MUTATORS, _WEIGHTS)
    return mutator(rng, texts)
