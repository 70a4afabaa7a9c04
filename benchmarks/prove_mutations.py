"""One signal or address of proven programs changes: does ``pto prove`` notice?

Usage: python benchmarks/prove_mutations.py [FILE.pto ...] [--most N] [--high H]

Each flag, barrier or buffer id of a function that is known to be in order is deleted, moved by one statement, or gets
another id; each address of a tile moves by half a tile.  Brute force over arguments up to H determines which changes
break the order.  Of these, 99 % have to be refuted; those that are still in order must not be refuted.  Otherwise the
exit code is 1.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

from order_judge import Judge, Range  # noqa: E402
from order_programs import FOLDER, OrderProgram, read_programs  # noqa: E402
from order_values import Unmodelled  # noqa: E402
from order_verdicts import proofs, stated  # noqa: E402
from prove_random import agreement  # noqa: E402

from pto_dialect import parse  # noqa: E402
from pto_dialect.diagnostics.refused import ParseError  # noqa: E402

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


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument(
    "paths", metavar="[FILE.pto]...", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--most", type=click.IntRange(1), default=6, show_default=True, help="Changes of each function.")
@click.option("--high", type=click.IntRange(0), default=6, show_default=True, help="Largest argument of brute force.")
def main(paths: tuple[Path, ...], most: int, high: int) -> None:
    """Change one thing in each function of known order in the FILEs."""
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
                if verdict.startswith("wrong") or (kind, verdict) == ("refuted", "undecided"):
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
