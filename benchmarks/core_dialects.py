"""Compares verdicts on operations of the core dialects with those of MLIR.

Usage: python benchmarks/core_dialects.py [--count N] [--seed S] [--show N] [--generic]

Right programs of func, arith, math, scf, cf and memref operations, in custom and in generic form, and of affine, index
and further scf and memref operations in generic form, get one change each
(a type, a name, a number, an operation, an operand more or fewer, a line more or fewer); both tools say whether the
result is right. Programs on which they differ are printed, but for differences that are meant, which are counted.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
from mlir_opt import refused_texts

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module

TOOLS = ("mlir-opt-19", "mlir-opt")
PROGRAMS = Path(__file__).parent / "core_programs.mlir"
GENERIC = Path(__file__).parent / "core_generic_programs.mlir"
"""Programs whose operations the package reads in generic form only."""

TYPES = (
    *("i1", "i8", "i16", "i32", "i64", "index", "f16", "bf16", "f32", "f64", "ui32", "si8", "ui64", "none"),
    *("vector<4xi32>", "vector<4xi1>", "vector<4xf32>", "vector<2x4xi32>", "vector<4xi64>", "vector<4xui32>"),
    *("memref<4xf32>", "memref<?xf32>", "memref<4x4xf32>", "memref<4xi32>", "memref<*xf32>"),
    *("memref<4xf32, 1>", "memref<4xf32, strided<[2]>>", "memref<4xf32, strided<[?], offset: ?>>"),
    *("tensor<4xi32>", "tensor<?xi32>"),
)
"""Types that replace others."""

ATTRIBUTES = (
    *("affine_map<() -> (0)>", "affine_map<(d0) -> (d0)>", "affine_map<()[s0] -> (s0)>", "affine_map<(d0) -> ()>"),
    *("affine_map<(d0, d1) -> (d1, d0)>", "affine_map<(d0, d1) -> (d0, d0)>", "affine_map<(d0)[s0] -> (d0, s0 mod 4)>"),
    *("affine_map<(d0, d1)[s0] -> (d0 * s0 + d1 floordiv 2)>", "affine_map<(d0, d1, d2) -> (d0, d1)>"),
    *("affine_set<(d0) : (d0 >= 0)>", "affine_set<()[s0] : (s0 - 4 == 0)>", "affine_set<(d0)[s0] : (d0 - s0 >= 0)>"),
    *("array<i64: 1>", "array<i64: 1, 1>", "array<i64: 0, 0, 0>", "array<i32: 1, 1, 1>", "array<i32: 0, 0, 1>"),
    *("array<i32: 0, 1, 0, 0>", "array<i64: -9223372036854775808>", "dense<1> : tensor<1xi32>"),
    *("dense<[1, 2]> : tensor<2xi32>", "dense<1> : tensor<2xi64>", "#index<cmp_predicate ult>", "1 : index", "2 : i32"),
    *("true", "[0]", "[1, 1]", "unit", '"word"'),
)
"""Attributes that replace others."""

NUMBERS = ("0", "1", "2", "3", "4", "8", "-1", "15", "100")
_TOKEN = re.compile(
    r"""(?P<string>"[^"]*")|(?P<block>\^\w+)|(?P<name>%[\w]+(?:\#\d+)?)
      |(?P<type>\b(?:memref|vector|tensor)<(?:[^<>]|<[^<>]*>)*>|\b(?:i\d+|si\d+|ui\d+|index|f16|bf16|f32|f64)\b)
      |(?P<attribute>\baffine_(?:map|set)<(?:[^<>]|->|[<>]=)*>|\#index<[^<>]*>|\barray<[^<>]*>
        |\bdense<[^<>]*>[ ]:[ ]tensor<[^<>]*>)
      |(?P<op>\b(?:arith|math|scf|cf|memref|func|affine|index)\.\w+(?:\.\w+)?)
      |(?P<number>(?<![\w.\#-])-?\d+(?![\w.x:]))|(?P<word>\b[a-z_]\w*\b)""",
    re.VERBOSE,
)
_OPERATION = re.compile(r"(?:arith|math|scf|cf|memref|func|affine|index)\.[\w.]+")
_FOLDED = {"true": "false", "false": "true", "none": "fast", "nsw": "nuw"}


class Change(NamedTuple):
    """A program with one change, and what was changed."""

    text: str
    what: str


def pieces(text: str) -> list[re.Match[str]]:
    """The locations of a program that a change can take."""
    return [found for found in _TOKEN.finditer(text) if found.lastgroup is not None]


def changed(text: str, names: list[str], source: random.Random) -> Change:
    """``text`` with one change."""
    places = pieces(text)
    kind = source.choice(
        ("attribute", "type", "type", "type", "type", "name", "name", "op", "op", "number", "word", "line", "double",
         "swap", "drop", "add", "block")
    )  # fmt: skip
    if kind in ("line", "double", "swap"):
        lines = text.splitlines()
        inner = [number for number, line in enumerate(lines) if line.strip() and 0 < number < len(lines) - 1]
        number = source.choice(inner)
        if kind == "line":
            del lines[number]
        elif kind == "double":
            lines.insert(number, lines[number])
        elif number + 1 < len(lines):
            lines[number], lines[number + 1] = lines[number + 1], lines[number]
        return Change("\n".join(lines) + "\n", f"{kind} {number + 1}")
    if kind in ("drop", "add"):
        return _listed(text, kind, source)
    if kind == "op":
        found = [place for place in places if place.lastgroup == "op" or _quoted_operation(place)]
    else:
        found = [place for place in places if place.lastgroup == kind]
    if not found:
        return Change(text, "nothing")
    place = source.choice(found)
    old = place.group()
    if kind == "type":
        new = source.choice(TYPES)
    elif kind == "name":
        new = source.choice([other.group() for other in places if other.lastgroup == "name"])
    elif kind == "block":
        new = source.choice([other.group() for other in places if other.lastgroup == "block"])
    elif kind == "number":
        new = source.choice(NUMBERS)
    elif kind == "attribute":
        new = source.choice(ATTRIBUTES)
    elif kind == "op":
        dialect = old.strip('"').partition(".")[0]
        new = source.choice([name for name in names if name.startswith(dialect + ".")])
        new = f'"{new}"' if old.startswith('"') else new
    else:
        new = _FOLDED.get(old, old)
    return Change(text[: place.start()] + new + text[place.end() :], f"{kind} {old} -> {new}")


def _quoted_operation(place: re.Match[str]) -> bool:
    return place.lastgroup == "string" and _OPERATION.fullmatch(place.group()[1:-1]) is not None


_LIST = re.compile(r"\(((?:%[\w#]+)(?:, %[\w#]+)*)\)(.*?) : \(([^()]*)\) -> ")


def _listed(text: str, kind: str, source: random.Random) -> Change:
    """An operand of a generic form more or fewer, with its type."""
    found = list(_LIST.finditer(text))
    if not found:
        return Change(text, "nothing")
    place = source.choice(found)
    values, types = place[1].split(", "), _split(place[3])
    if len(values) != len(types):
        return Change(text, "nothing")
    number = source.randrange(len(values))
    if kind == "drop":
        del values[number], types[number]
    else:
        values.insert(number, values[number])
        types.insert(number, types[number])
    new = f"({', '.join(values)}){place[2]} : ({', '.join(types)}) -> "
    return Change(text[: place.start()] + new + text[place.end() :], f"{kind} operand {number}")


def _split(types: str) -> list[str]:
    parts: list[str] = []
    depth = 0
    for part in types.split(", "):
        if depth:
            parts[-1] += ", " + part
        else:
            parts.append(part)
        depth += part.count("<") + part.count("[") - part.count(">") - part.count("]")
    return parts


def verdict(text: str) -> tuple[bool, str]:
    """Whether the package accepts a program, and its first error."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    module = parse_program(SourceFile("core.mlir", text), engine)
    if module is not None and not engine.has_errors:
        verify_module(module, engine)
    errors = [d for d in engine.diagnostics if d.severity.label == "error"]
    return not errors, f"{errors[0].message} [{errors[0].rule}]" if errors else ""


MEANT = (
    (
        "read in generic form only",
        re.compile("accepted"),
        re.compile(r"is read in generic form only \[op-unknown\]"),
    ),
    (
        "constants that are memrefs have no meaning",
        re.compile("accepted"),
        re.compile(r"dense<\.\.> .*\[literal-type\]"),
    ),
)
"""Differences on purpose: the reason, what MLIR says, what the package says."""


def base_programs(tool: str, generic: bool) -> Iterator[str]:
    """The right programs in both forms; the generic one is printed by MLIR. ``generic``: those of ``GENERIC`` only."""
    command = [tool, "--mlir-print-op-generic", "--mlir-print-local-scope", "-"]
    for path in (GENERIC,) if generic else (PROGRAMS, GENERIC):
        for text in path.read_text(encoding="utf-8").split("// -----\n"):
            if path is PROGRAMS:
                yield text
            yield subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--count", type=click.IntRange(1), default=4000, show_default=True, help="Changed programs.")
@click.option("--seed", type=int, default=1, show_default=True, help="Start of the random numbers.")
@click.option("--show", type=int, default=20, show_default=True, help="Disagreements to print.")
@click.option("--generic", is_flag=True, help="Only operations that are read in generic form alone.")
def main(count: int, seed: int, show: int, generic: bool) -> None:
    """Compare verdicts on changed programs with MLIR. Exit code 1 when any differs that is not meant to."""
    tool = next((found for found in map(shutil.which, TOOLS) if found), None)
    if tool is None:
        click.echo("skipped: there is no mlir-opt")
        return
    source = random.Random(seed)
    base = list(base_programs(tool, generic))
    names = sorted({found for text in base for found in _OPERATION.findall(text)})
    texts = [Change(text, "as it is") for text in base]
    texts += [changed(source.choice(base), names, source) for _ in range(count)]
    refused = refused_texts(tool, [change.text for change in texts])
    kinds: Counter[str] = Counter()
    shown = 0
    for number, change in enumerate(texts):
        accepted, error = verdict(change.text)
        if accepted == (number not in refused):
            kinds["agree, accepted" if accepted else "agree, refused"] += 1
            continue
        reference = refused.get(number, "accepted")
        reason = meant(change.text, reference, error)
        kinds[f"meant: {reason}" if reason else "differ"] += 1
        if reason is None and shown < show:
            shown += 1
            click.echo(f"--- {change.what}\nhere: {error or 'accepted'}\nMLIR: {reference}\n{change.text}")
    for kind, total in kinds.most_common():
        click.echo(f"{total:7} {kind}")
    if kinds["differ"]:
        raise SystemExit(1)


def meant(text: str, reference: str, error: str) -> str | None:
    """Why the verdicts differ on purpose; ``None`` when they should not."""
    for reason, theirs, ours in MEANT:
        if theirs.search(reference) and ours.search(error or "accepted"):
            return reason
    return None


if __name__ == "__main__":
    main()
