"""How good is ``pto prove`` on programs whose order is known?

Usage: python benchmarks/prove_programs.py [FILE.pto ...] [--high N] [--no-runs]

The files have functions with a verdict below each; by default those of ``tests/prove/programs``.  Brute force confirms
the known verdicts for all arguments up to N, then the verdicts of the prover are compared with them: right, undecided,
wrong; is each witness the smallest one, and does a sanitized run with it show the fault?  Times are those of the
command on the function alone, in one process.  The exit code is 1 when a verdict is wrong, a witness is not the
smallest or not confirmed.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median
from time import process_time

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

from order_judge import Range  # noqa: E402
from order_programs import FOLDER, OrderProgram, read_programs  # noqa: E402
from order_runs import RULES, SCHEDULES, findings  # noqa: E402
from order_verdicts import Entry, Outcome, outcome, proofs, stated  # noqa: E402


def timed(program: OrderProgram, folder: Path) -> tuple[list[Entry] | None, float]:
    """The entries of a function alone, and the seconds that the command took."""
    path = folder / program.path.name
    path.write_text(program.text, encoding="utf-8")
    started = process_time()
    entries = proofs(path)
    return entries.get(program.name), process_time() - started


def is_confirmed(program: OrderProgram, witness: Entry) -> bool:
    """Whether a sanitized run with the arguments of a witness reports its kind of fault under some schedule."""
    arguments = dict.fromkeys(program.judge.parameters, 0) | witness["arguments"]
    rules = RULES.get(witness["kind"], frozenset((witness["kind"],)))
    return any(rules & findings(program.alone, program.name, arguments, schedule) for schedule in SCHEDULES)


def report(program: OrderProgram, result: Outcome, known: str | None) -> None:
    if known is not None and known != program.verdict:
        print(f"{program.id}: brute force finds '{known}', stated is '{program.verdict}'")
    if result.kind == "wrong" or not result.smallest or (result.kind == "undecided" and not program.may_be_undecided):
        print(f"{program.id}: {result.kind}: {result.why}")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument(
    "paths", metavar="[FILE.pto]...", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--high", type=click.IntRange(0), help="Largest argument of brute force; none: no brute force.")
@click.option("--runs/--no-runs", default=True, show_default=True, help="Confirm each witness by a run.")
def main(paths: tuple[Path, ...], high: int | None, runs: bool) -> None:
    """Compare the verdicts of the prover on the functions of each FILE with the known ones."""
    counts: Counter[str] = Counter()
    times: list[float] = []
    programs = [one for path in paths or sorted(FOLDER.glob("*.pto")) for one in read_programs(path.resolve())]
    with tempfile.TemporaryDirectory() as folder:
        for program in programs:
            entries, seconds = timed(program, Path(folder))
            times.append(seconds)
            result = outcome(program, entries)
            known = None if high is None or program.is_endless else program.brute_force(Range(-1, high)).text
            counts["known verdicts not confirmed"] += known not in (None, program.verdict)
            counts[f"{result.kind}{' (allowed)' * (result.kind == 'undecided' and program.may_be_undecided)}"] += 1
            if entries and result.kind == "right" and program.kind == "refuted":
                counts["witnesses"] += 1
                counts["smallest witnesses"] += result.smallest
                if runs and not program.is_endless:
                    counts["witnesses confirmed by a run"] += is_confirmed(program, stated(entries)["witness"])
            report(program, result, known)
    print(f"{len(programs)} functions: {', '.join(f'{number} {name}' for name, number in counts.items() if number)}")
    times.sort()
    late = times[int(0.99 * len(times))]
    print(f"median {median(times) * 1000:.0f} ms, 99 % {late * 1000:.0f} ms, slowest {times[-1]:.2f} s")
    expected = counts["witnesses"] - sum(one.is_endless for one in programs) if runs else 0
    bad = counts["wrong"] or counts["smallest witnesses"] < counts["witnesses"]
    sys.exit(1 if bad or counts["witnesses confirmed by a run"] < expected else 0)


if __name__ == "__main__":
    main()
