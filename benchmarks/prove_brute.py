"""The order of functions by brute force: every call with small arguments is unrolled into a graph.

Usage: python benchmarks/prove_brute.py FILE.pto ... [--low L] [--high H] [--runs]

Prints a verdict for each function that no other one calls, as ``pto prove`` would, but for the arguments L to H only,
and compares it with the comment below the function, if there is one.  ``--runs`` compares sanitized runs under several
schedules as well: of the witness, or of some calls of a function without a fault.  The model shares no code with the
prover and the sanitizers.  The exit code is 1 if something differs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

from order_judge import Judge, Range, Verdict, function_names  # noqa: E402
from order_programs import read_programs  # noqa: E402
from order_runs import RULES, SCHEDULES, findings  # noqa: E402
from order_values import Unmodelled  # noqa: E402
from xdsl.dialects.builtin import ModuleOp  # noqa: E402

from pto_dialect import parse  # noqa: E402
from pto_dialect.diagnostics.refused import ParseError  # noqa: E402

CALLS = (0, 1, 3)


def differing_runs(module: ModuleOp, judge: Judge, verdict: Verdict) -> list[str]:
    """Schedules whose sanitized runs say something else than the model."""
    differing = []
    calls = [verdict.arguments] if verdict.faults else [dict.fromkeys(judge.parameters, value) for value in CALLS]
    rules = {rule for fault in verdict.faults for rule in RULES[fault.kind]}
    for schedule in SCHEDULES:
        # Signals are counted in the order of the text: pipes of other schedules are ahead of it.
        ignored = set() if schedule == "text" else {"sync-flag-depth"}
        for arguments in calls:
            shown = findings(module, judge.name, arguments, schedule) - ignored
            counted = bool(rules) and rules <= ignored | RULES["overfull-flag"] and schedule != "text"
            if bool(shown & rules if rules else shown) != bool(rules) and not counted:
                differing.append(f"{judge.name} with {arguments}, schedule {schedule}: the run reports {sorted(shown)}")
    return differing


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("paths", metavar="FILE.pto...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--low", type=int, default=-1, show_default=True, help="Smallest argument.")
@click.option("--high", type=int, default=12, show_default=True, help="Largest argument.")
@click.option("--runs", is_flag=True, help="Compare sanitized runs.")
def main(paths: tuple[Path, ...], low: int, high: int, runs: bool) -> None:
    """Judge the functions of each FILE by brute force."""
    differing: list[str] = []
    for path in paths:
        try:
            module = parse(path.read_text(encoding="utf-8"), str(path))
        except ParseError as error:
            raise click.ClickException(str(error)) from None
        known = {program.name: program for program in read_programs(path)}
        for name in function_names(module):
            program = known.get(name)
            if program is not None and program.is_endless:
                continue
            judge = Judge(module, name)
            try:
                verdict = program.brute_force(Range(low, high)) if program else judge.verdict(Range(low, high))
            except Unmodelled as error:
                print(f"{path}: {name}: not modelled: {error}")
                continue
            print(f"{path}: {name}: {verdict.text}")
            if program is not None and program.verdict != verdict.text:
                differing.append(f"{name}: stated is '{program.verdict}', found is '{verdict.text}'")
            differing += differing_runs(module, judge, verdict) if runs else []
    print(*differing, f"{len(differing)} differences", sep="\n")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
