"""Gives programs other names: whatever a name is, it changes nothing and does nothing.

Usage: python benchmarks/fuzz_names.py [--count NAMES] [--seed S] [--commands SHARE] [--first CASE]

Each case takes one of the programs of ``name_programs`` and exchanges all its names: in the text, as far as the
language can write them, or in the module, where a name is any string. It runs plainly, with times, under the
sanitizers, and from the source that is shown; one case in SHARE also through ``pto-run`` and a launch file with
``--arg`` names and keys. Results, findings and counted calls must be those of the program as it is written; no name may
run as code. Ends with 1 when a case differs, and states how to repeat it.
"""

from __future__ import annotations

import argparse
import builtins
import json
import keyword
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
from click.testing import CliRunner
from name_programs import PROGRAMS, Program
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr

from pto_dialect.api import parse
from pto_dialect.ir.core.attribute_text import string_literal, symbol_name
from pto_dialect.runtime.compile.source_check import ATTRIBUTES, BUILTINS, PARAMETERS
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.profiling import ProfileLog
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

CANARY = "a_name_has_run"
"""Attribute of ``builtins`` that names set when they run as code."""

NAME = re.compile(r'%(?P<value>\w+)|\^(?P<label>\w+)|@(?P<function>\w+)|(?<=name = )"(?P<queue>\w+)"')
VALUE = re.compile(r"[A-Za-z_$.\-][\w$.\-]*")
"""What may stand after ``%`` and ``^``; numbers alone are names that nobody keeps."""

_ACTION = f"__import__('builtins').__dict__.update({CANARY}=1)"
PAYLOADS = (
    *(f'x"""\n{_ACTION}\n"""', f"x'''\n{_ACTION}\n'''", f'"; {_ACTION} #', f"'; {_ACTION} #", f"\n{_ACTION}\n"),
    *(f"', {_ACTION}, '", f"):\n    {_ACTION}\ndef g(", f"x={_ACTION}", f"{{{_ACTION}}}", f"x\\\n{_ACTION}", _ACTION),
    *(f"x\r{_ACTION}", f"x\f{_ACTION}", f"x\u2028{_ACTION}", f"(lambda: {_ACTION})()", f"k_add; {_ACTION}"),
    *("", " ", "\\", "\\\\", '\\"', "\\'", '"""', "'''", "%s%n", "{0.__class__}", "{}", "\0", "\x1b[2J", "#", "\ud800"),
    *(
        "../../etc/passwd",
        "a/b",
        "\u202egnp",
        "\ufeff",
        "0",
        "1e400",
        "nan",
        "-",
        "--entry",
        "@x",
        "^bb0",
        "//",
        "/*",
        "*/",
    ),
)
RUN_TIME = (
    *(
        "core",
        "items",
        "mask",
        "np",
        "started",
        "core_1",
        "_",
        "__",
        "v",
        "v_1",
        "v_x",
        "a_x",
        "t_1",
        "t_started",
        "f_main",
    ),
    *("k_add", "k_", "k_tile", "k_gmtensor", "s_x", "w_item", "self", "__builtins__", "__name__", "__import__"),
    *("__globals__", "__class__", "__code__", "builtins", "perf_counter", "Fault", "namespace"),
)
WORDS = (
    *keyword.kwlist,
    *keyword.softkwlist,
    *dir(builtins),
    *sorted({*ATTRIBUTES, *BUILTINS, *PARAMETERS}),
    *RUN_TIME,
)
_LOOKALIKE = {
    "k": "kｋᵏₖ𝐤𝑘𝓀𝕜",
    "a": "aａᵃₐ𝐚ªªₐ",
    "i": "iｉⁱᵢ𝐢ℹⅰ",
    "f": "fｆᶠ𝐟𝒇𝔣ﬀﬁ",
    "x": "xｘˣₓ𝐱𝔵ⅹ×",
    "_": "_＿﹍﹎﹏‿⁀⁔",
    "1": "1１¹₁𝟏①٣۱",
    "v": "vｖᵛᵥ𝐯ⅴνѵ",
}
"""Characters that are one after normalisation, or look like it."""


def some_name(rng: random.Random) -> tuple[str, str]:
    """A kind of name and a name; it may be any text."""
    kind = rng.choice(("word", "payload", "lookalike", "unicode", "control", "long", "ascii", "near"))
    if kind == "word":
        return kind, rng.choice(WORDS)
    if kind == "payload":
        return kind, rng.choice(PAYLOADS)
    if kind == "lookalike":
        word = rng.choice(("_k", "_x1", "_fi", "v_a", "_if", "a_k", "k_a1", "i_", "x", "_1"))
        return kind, "".join(rng.choice(_LOOKALIKE.get(c, c)) for c in word)
    if kind == "unicode":
        return kind, "".join(
            chr(rng.choice((rng.randrange(0x80, 0x2FFF), rng.randrange(0x110000)))) for _ in range(rng.randrange(1, 9))
        )
    if kind == "control":
        return kind, "".join(
            chr(rng.randrange(0x21 if rng.random() < 0.2 else 0x80)) for _ in range(rng.randrange(1, 12))
        )
    if kind == "long":
        return kind, rng.choice("abk_") * rng.randrange(60, 3000)
    if kind == "ascii":
        return kind, "".join(rng.choice("abkvft_$.-01_") for _ in range(rng.randrange(1, 7)))
    return kind, rng.choice(WORDS) + rng.choice(("_", "_1", "1", "$", ".", "-", "ª", "·", "\u0301", "\u200d"))


def new_names(
    rng: random.Random, old: list[str], allowed: Callable[[str], str | None], counts: Counter[str]
) -> dict[str, str]:
    """Different names for ``old``; ``allowed`` makes a name fit for its position, or refuses it."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for one in old:
        while True:
            kind, name = some_name(rng)
            fitting = allowed(name)
            if fitting is not None and fitting not in taken:
                break
        taken.add(fitting)
        found[one] = fitting
        counts[kind] += 1
    return found


def as_value(name: str) -> str | None:
    """``name`` as far as the language can write it after ``%``."""
    kept = "".join(c for c in name if re.fullmatch(r"[\w$.\-]", c))
    kept = kept if re.match(r"[A-Za-z_$.\-]", kept) else f"_{kept}"
    return kept if VALUE.fullmatch(kept) else None


def as_symbol(name: str) -> str | None:
    """``name`` as far as a text in UTF-8 has it."""
    return name if name and not re.search("[\ud800-\udfff]", name) else None


@dataclass(frozen=True)
class Renamed:
    """A program with other names: as text where there is one, as a module, with the names of entry and arguments."""

    module: ModuleOp
    entry: str
    text: str | None
    arguments: list[str]


def places(program: Program) -> dict[str, list[str]]:
    """The names of a program by kind of place."""
    found: dict[str, dict[str, None]] = {"value": {}, "label": {}, "function": {}, "queue": {}}
    for match in NAME.finditer(program.text):
        assert match.lastgroup is not None
        found[match.lastgroup][match[match.lastgroup]] = None
    return {kind: list(names) for kind, names in found.items()}


def renamed_text(program: Program, rng: random.Random, kinds: Counter[str], where: Counter[str]) -> Renamed:
    """The names in the text are others."""
    rules = {"value": as_value, "label": as_value, "function": as_symbol, "queue": as_symbol}
    names = {kind: new_names(rng, old, rules[kind], kinds) for kind, old in places(program).items()}
    where.update({kind: len(new) for kind, new in names.items()})

    def other(match: re.Match[str]) -> str:
        kind = match.lastgroup
        assert kind is not None
        name = names[kind][match[kind]]
        written = symbol_name(name) if rng.random() < 0.5 else f"@{string_literal(name)}"
        return {"value": f"%{name}", "label": f"^{name}", "function": written, "queue": string_literal(name)}[kind]

    text = NAME.sub(other, program.text)
    module = parse(text)
    entry = names["function"][program.entry]
    return Renamed(module, entry, text, [name for name, _ in Kernel(module, entry, None, RunOptions()).arguments])


def renamed_module(program: Program, rng: random.Random, kinds: Counter[str], where: Counter[str]) -> Renamed:
    """The names in the module are any strings, and those of values not even different."""
    module = parse(program.text)
    old = places(program)
    names = {kind: new_names(rng, old[kind], lambda name: name, kinds) for kind in ("function", "queue")}
    where.update({kind: len(new) for kind, new in names.items()})
    arguments = {value for op in module.walk() if op.name == "func.func" for value in op.regions[0].blocks[0].args}
    # Arguments of a pair of kernels are one when they have one name.
    shared = new_names(rng, sorted({str(value.name_hint) for value in arguments}), lambda name: name, kinds)
    for op in module.walk():
        inside = [argument for region in op.regions for block in region.blocks for argument in block.args]
        for value in (*op.results, *inside):
            kind, name = some_name(rng)
            kinds[kind] += 1
            where["argument" if value in arguments else "value"] += 1
            name = shared[str(value.name_hint)] if value in arguments else name
            value._name = name
        for dictionary in (op.properties, op.attributes):
            for key, attribute in list(dictionary.items()):
                if isinstance(attribute, SymbolRefAttr):
                    dictionary[key] = SymbolRefAttr(names["function"][attribute.root_reference.data])
                elif key == "sym_name" and isinstance(attribute, StringAttr):
                    dictionary[key] = StringAttr({**names["queue"], **names["function"]}[attribute.data])
                elif key == "name" and isinstance(attribute, StringAttr):
                    dictionary[key] = StringAttr(names["queue"][attribute.data])
    return Renamed(module, names["function"][program.entry], None, [])


@dataclass(frozen=True)
class Outcome:
    """What a run gives, in a form that compares: bytes of buffers, calls by operation, findings by rule."""

    plain: list[bytes]
    timed: list[bytes]
    calls: list[tuple[str, int]]
    instrumented: list[bytes]
    findings: list[str]
    shown: list[bytes]


def run(kernel: Kernel, program: Program) -> list[bytes]:
    values = program.arguments()
    returned = kernel.run(values)
    return [np.asarray(value).tobytes() for value in (*values, *returned)]


def from_shown_source(kernel: Kernel) -> Kernel:
    """``kernel`` with functions that its shown source defines again."""
    compiled = kernel.compiled
    known = next(iter(compiled.callables.values())).__globals__
    functions = {function.__name__ for function in compiled.callables.values()}
    namespace = {name: value for name, value in known.items() if name not in functions}
    exec(builtins.compile(kernel.source, "<shown>", "exec"), namespace)
    compiled.callables = {op: namespace[function.__name__] for op, function in compiled.callables.items()}
    return kernel


def outcome(module: ModuleOp, entry: str, program: Program) -> Outcome:
    """Runs a program in every way."""
    log = ProfileLog()
    plain = Kernel(module, entry, None, RunOptions())
    timed = Kernel(module, entry, None, RunOptions(), log)
    instrumented = InstrumentedKernel(module, entry, None, RunOptions(fill="poison"), SanitizeOptions())
    return Outcome(
        run(plain, program),
        run(timed, program),
        sorted((name, calls) for name, calls, _ in log.by_operation()),
        run(instrumented, program),
        sorted(finding.rule for finding in instrumented.observer.findings.all),
        run(from_shown_source(plain), program),
    )


# ------------------------------------------------------------ commands


@contextmanager
def folder() -> Iterator[Path]:
    """The working directory for a while."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def command(*words: str) -> str:
    result = CliRunner().invoke(import_module("pto_dialect.tools.pto_run").main, words, prog_name="pto-run")
    if result.exit_code or (result.exception is not None and not isinstance(result.exception, SystemExit)):
        raise AssertionError(f"pto-run {words}: {result.exit_code} {result.output} {result.exception!r}")
    return result.stdout


def toml(name: str) -> str:
    """A TOML string."""
    return re.sub("[\x00-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(name, ensure_ascii=False))


def by_command(renamed: Renamed, program: Program, where: Counter[str]) -> list[list[bytes]]:
    """The buffers after runs by command line and by launch file."""
    assert renamed.text is not None
    found: list[list[bytes]] = []
    buffers: list[str] = []
    pairs: list[tuple[str, str]] = []
    with folder() as here:
        (here / "k.pto").write_text(renamed.text, encoding="utf-8", newline="")
        for number, (name, value) in enumerate(zip(renamed.arguments, program.arguments(), strict=True)):
            if isinstance(value, np.ndarray):
                buffers.append(name)
                np.save(f"in{number}.npy", value)
            pairs.append((name, f"in{number}.npy" if isinstance(value, np.ndarray) else repr(value)))
        words = ["k.pto", "--entry", f"@{renamed.entry}"]
        words += [word for name, value in pairs for word in ("--arg", f"{name}={value}")]
        outputs = [word for number, name in enumerate(buffers) for word in ("--out", f"{name}={number}.npy")]

        def collect() -> None:
            found.append([np.load(f"{number}.npy").tobytes() for number in range(len(buffers))])
            for number in range(len(buffers)):
                (here / f"{number}.npy").unlink()

        for option in ((), ("--profile",), ("--sanitize",)):
            command(*words, *outputs, *option)
            collect()
        shown = command("k.pto", "--entry", f"@{renamed.entry}", "--emit-python")
        if shown != Kernel(renamed.module, renamed.entry, None, RunOptions()).listing:
            raise AssertionError("--emit-python shows other code than what runs")
        lines = [f"entry = {toml('@' + renamed.entry)}", "[arguments]", *(f"{toml(n)} = {toml(v)}" for n, v in pairs)]
        lines += ["[outputs]", *(f'{toml(name)} = "{number}.npy"' for number, name in enumerate(buffers))]
        (here / "k.launch.toml").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
        command("k.launch.toml")
        collect()
        where["--arg"] += len(pairs)
        where["launch-file key"] += len(pairs)
    return found


# ------------------------------------------------------------ cases


def check_case(
    case: int, seed: int, share: int, kinds: Counter[str], where: Counter[str], wanted: list[Outcome]
) -> None:
    """Raises AssertionError, or whatever else goes wrong, when a name matters."""
    rng = random.Random(f"{seed}/{case}")
    number = case % len(PROGRAMS)
    program = PROGRAMS[number]
    in_text = rng.random() < 0.6
    renamed = (renamed_text if in_text else renamed_module)(program, rng, kinds, where)
    found = outcome(renamed.module, renamed.entry, program)
    if found != wanted[number]:
        raise AssertionError(f"other results: {found} for {wanted[number]}")
    if in_text and share and case // len(PROGRAMS) % share == 0:
        arguments = zip(wanted[number].plain, program.arguments(), strict=False)
        buffers = [content for content, value in arguments if isinstance(value, np.ndarray)]
        for contents in by_command(renamed, program, where):
            if contents != buffers:
                raise AssertionError("pto-run has other results")
    if hasattr(builtins, CANARY):
        delattr(builtins, CANARY)
        raise AssertionError("a name has run as code")


def fuzz(count: int, seed: int, share: int, first: int = 0, tell: Callable[[str], object] = print) -> int:
    """Cases with ``count`` names in all; the number of cases that differ."""
    kinds: Counter[str] = Counter()
    where: Counter[str] = Counter()
    wanted = [outcome(parse(program.text), program.entry, program) for program in PROGRAMS]
    started, failures, case = time.perf_counter(), 0, first
    while kinds.total() < count:
        try:
            check_case(case, seed, share, kinds, where, wanted)
        except Exception as error:
            failures += 1
            tell(f"case {case} of seed {seed}: {type(error).__name__}: {ascii(str(error))[:2000]}")
        case += 1
    seconds = time.perf_counter() - started
    tell(f"{kinds.total()} names in {case - first} programs, {failures} differ, {seconds:.0f} s")
    tell("by kind: " + ", ".join(f"{kind} {number}" for kind, number in sorted(kinds.items())))
    tell("by place: " + ", ".join(f"{place} {number}" for place, number in sorted(where.items())))
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="names")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--commands", type=int, default=20, metavar="SHARE", help="one case in SHARE by commands; 0: none"
    )
    parser.add_argument("--first", type=int, default=0, metavar="CASE", help="number of the first case")
    options = parser.parse_args()
    return 1 if fuzz(options.count, options.seed, options.commands, options.first) else 0


if __name__ == "__main__":
    sys.exit(main())
