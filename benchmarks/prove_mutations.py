"""One signal or address of proven programs changes: does ``pto prove`` notice?

Usage: python benchmarks/prove_mutations.py [FILE.pto ...] [--most N] [--high H] [--entries ENTRIES.json [--part K/M]]

Each flag, barrier or buffer id of a function that is known to be in order is deleted, moved by one statement, or gets
another id; each address of a tile moves by half a tile.  Brute force over arguments up to H determines which changes
break the order.  Of these, 99 % have to be refuted; those that are still in order must not be refuted.  Otherwise the
exit code is 1.

``--entries`` takes the functions instead that ``prove_corpus.py --json`` found proven, whose values nobody enumerates.
There runs decide: the one of the witness confirms what is refuted, and random ones, as in ``prove_runs.py``, may not
contradict what is proven.  What is undecided counts as missed if a random run reports a fault.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

from order_judge import Judge, Range  # noqa: E402
from order_programs import FOLDER, OrderProgram, read_programs  # noqa: E402
from order_values import Unmodelled  # noqa: E402
from order_verdicts import proofs, stated  # noqa: E402
from prove_corpus import ORDER, target_of  # noqa: E402
from prove_random import agreement  # noqa: E402
from prove_runs import Runs  # noqa: E402

from pto_dialect import parse  # noqa: E402
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions  # noqa: E402
from pto_dialect.diagnostics.refused import ParseError  # noqa: E402
from pto_dialect.diagnostics.source import SourceFile  # noqa: E402
from pto_dialect.driver.options import Options  # noqa: E402
from pto_dialect.driver.pipeline import build_module  # noqa: E402
from pto_dialect.driver.prove.replay import replay  # noqa: E402
from pto_dialect.prove.functions import verdicts  # noqa: E402

_SIGNAL = re.compile(r"\s+pto\.(set_flag|wait_flag|barrier|get_buf|rls_buf)")
_ID = re.compile(r"EVENT_ID(\d)")
_ADDRESS = re.compile(r"(\s+%p\d+ = arith\.constant )(\d+)( : i64)")
GOAL = 0.99


def mutations(text: str) -> Iterator[tuple[str, str]]:
    """Changed texts with what was changed: line and kind."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if _SIGNAL.match(line):
            rest = lines[:number] + lines[number + 1 :]
            yield f"{number + 1} deleted", "\n".join(rest)
            for place, word in ((number - 1, "up"), (number + 1, "down")):
                if _is_statement(lines[place]):
                    yield f"{number + 1} {word}", "\n".join([*rest[:place], line, *rest[place:]])
            if _ID.search(line):
                other = _ID.sub(lambda match: f"EVENT_ID{(int(match[1]) + 1) % 8}", line)
                yield f"{number + 1} other id", "\n".join([*lines[:number], other, *lines[number + 1 :]])
        address = _ADDRESS.fullmatch(line)
        if address:
            moved = f"{address[1]}{int(address[2]) + 128}{address[3]}"
            yield f"{number + 1} address", "\n".join([*lines[:number], moved, *lines[number + 1 :]])


def _is_statement(line: str) -> bool:
    """Whether a signal may change places with this line."""
    return line.lstrip().startswith("pto.") and not line.rstrip().endswith("{") and " = " not in line


def checked(program: OrderProgram, text: str, numbers: Range, folder: Path) -> tuple[str, str]:
    """What became of a changed program: whether it has a fault, and what the prover states."""
    try:
        module = parse(text, "changed.pto")
    except ParseError:
        return "refused", "refused"
    judge = Judge(module, program.name)
    try:
        kind = judge.verdict(numbers).kind
    except Unmodelled:
        return "not modelled", "not modelled"
    path = folder / "changed.pto"
    path.write_text(text, encoding="utf-8")
    try:
        entry = stated(proofs(path)[program.name])
    except RuntimeError:
        return "refused", "refused"
    result = agreement(judge, entry, numbers)
    return kind, entry["verdict"] if result.kind != "wrong" else f"wrong: {result.why}"


def of_function(text: str, name: str) -> list[tuple[str, str]]:
    """The changes of one function of a program."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines, 1) if re.match(r"\s*func\.func ", line)]
    first = next((number for number in starts if re.search(rf"@{re.escape(name)}\b", lines[number - 1])), 0)
    end = next((number for number in starts if number > first), len(lines) + 1)
    return [(what, other) for what, other in mutations(text) if first < int(what.split()[0]) < end]


def by_runs(text: str, name: str, target: str | None) -> str:
    """What the prover states about a changed function, and what runs of it show."""
    module = build_module(
        SourceFile("changed.pto", text), DiagnosticEngine(DiagnosticOptions(max_errors=0)), Options(target=target)
    )
    if module is None:
        return "refused"
    found = list(verdicts(module, target, entry=name))
    least = min(found, key=lambda one: ORDER.index(one.answer))
    shown = replay(least, target)
    if shown is not None:
        return f"refuted, {shown.outcome.value}"
    runs = Runs(module, target, name, Random(text))
    runs.run(20)
    reports = any(one.startswith("reports") for one in runs.counts)
    return f"{least.answer.value}, {'a run reports a fault' if reports else 'runs are clean'}"


def change_entries(path: Path, part: str, most: int) -> bool:
    """Changes proven functions of a table; whether a run contradicts a proof."""
    first, parts = (int(one) for one in part.split("/"))
    counts: Counter[str] = Counter()
    chosen = [one for one in json.loads(path.read_text(encoding="utf-8")) if one["verdict"] == "proven"]
    for entry in chosen[first - 1 :: parts]:
        text = Path(entry["file"]).read_text(encoding="utf-8", errors="replace")
        changes = of_function(text, entry["name"])
        for what, other in changes[:: max(1, -(-len(changes) // most))]:
            try:
                result = by_runs(other, entry["name"], target_of(text))
            except Exception as error:
                result = f"not judged: {type(error).__name__}"
            counts[result] += 1
            if result not in ("refuted, confirmed", "proven, runs are clean", "refused"):
                print(f"{entry['file']} @{entry['name']} line {what}: {result}", flush=True)
    print(f"{counts.total()} changes: {', '.join(f'{count} {result}' for result, count in counts.most_common())}")
    return counts["proven, a run reports a fault"] > 0


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument(
    "paths", metavar="[FILE.pto]...", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--most", type=click.IntRange(1), default=6, show_default=True, help="Changes of each function.")
@click.option("--high", type=click.IntRange(0), default=6, show_default=True, help="Largest argument of brute force.")
@click.option("--entries", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Of prove_corpus.py.")
@click.option("--part", default="1/1", show_default=True, help="K/M: every M-th entry from the K-th on.")
def main(paths: tuple[Path, ...], most: int, high: int, entries: Path | None, part: str) -> None:
    """Change one thing in each function of known order in the FILEs."""
    if entries is not None:
        sys.exit(change_entries(entries, part, most))
    counts: Counter[tuple[str, str]] = Counter()
    programs = [one for path in paths or sorted(FOLDER.glob("*.pto")) for one in read_programs(path.resolve())]
    with tempfile.TemporaryDirectory() as folder:
        for program in programs:
            if program.kind != "proven" or program.marks:
                continue
            changes = list(mutations(program.text))
            for what, text in changes[:: max(1, -(-len(changes) // most))]:
                kind, verdict = checked(program, text, Range(-1, high), Path(folder))
                counts[kind, verdict.partition(":")[0]] += 1
                if verdict.startswith("wrong") or (verdict == "undecided" and kind in ("refuted", "proven")):
                    print(f"{program.id} line {what}: {kind}, {verdict}", flush=True)
    faulty = sum(number for (kind, _), number in counts.items() if kind == "refuted")
    harmless = sum(number for (kind, _), number in counts.items() if kind == "proven")
    for kind, total in (("refuted", faulty), ("proven", harmless)):
        stated_as = (f"{counts[kind, verdict]} {verdict}" for verdict in ("refuted", "proven", "undecided", "wrong"))
        print(f"{total} changes that brute force finds {kind}: {', '.join(stated_as)}")
    wrong = counts["refuted", "wrong"] + counts["proven", "wrong"]
    sys.exit(1 if wrong or counts["refuted", "refuted"] < GOAL * faulty else 0)


if __name__ == "__main__":
    main()
