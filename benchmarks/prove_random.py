"""Random functions: does ``pto prove`` agree with brute force?

Usage: python benchmarks/prove_random.py [--count N] [--seed S] [--high H] [--target CHIP] [--memory]

Each function has loops over tiles and slots, branches, flags, barriers and buffer ids; a third has one signal less or
elsewhere.  A proven function may have no fault for arguments up to H, and a witness must be a fault, with the smallest
arguments.  With ``--memory`` branches and loops ask memory; for brute force an argument answers, so that what is
proven or refuted must be so for all its values.  A function that disagrees is printed as small as possible.  The exit
code is 1 if there is one.
"""

from __future__ import annotations

import copy
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
from order_values import Unmodelled  # noqa: E402
from order_verdicts import Entry, Outcome, judged, proofs, stated  # noqa: E402
from prove_generator import Block, Generator, Statement, damaged, module_text, places_of  # noqa: E402

from pto_dialect import parse  # noqa: E402

BATCH = 40


def agreement(judge: Judge, entry: Entry, numbers: Range) -> Outcome:
    """Whether a verdict agrees with brute force over arguments of a range."""
    if entry["verdict"] == "undecided":
        return Outcome("undecided", str(entry["reason"]))
    try:
        known = judge.verdict(numbers)
        witness = entry["witness"]
        if entry["verdict"] == "proven":
            return (
                Outcome("right", "proven") if known.kind == "proven" else Outcome("wrong", f"proven, but {known.text}")
            )
        arguments = dict.fromkeys(judge.parameters, 0) | witness["arguments"]
        faults = judge.faults(arguments)
    except Unmodelled as error:
        return Outcome("not modelled", str(error))
    if known.kind == "proven":
        # The witness lies outside of the range.
        return judged(witness, type(known)("refuted", arguments, tuple(faults)), faults)
    return judged(witness, known, faults)


def agreement_of_memory(judge: Judge, entry: Entry, numbers: Range) -> Outcome:
    """Whether a verdict agrees with brute force over answers of memory, as far as these are modelled."""
    if entry["verdict"] == "undecided":
        return Outcome("undecided", str(entry["reason"]))
    answers = range(14)
    try:
        if entry["verdict"] == "proven":
            for n in range(max(numbers.low, 0), numbers.high + 1):
                for s in answers:
                    if judge.faults({"n": n, "s": s}):
                        return Outcome("wrong", f"proven, but refuted with n = {n}, s = {s}")
            return Outcome("right", "proven")
        n = entry["witness"]["arguments"].get("n", 0)
        free = [s for s in answers if not judge.faults({"n": n, "s": s})]
        return Outcome("wrong", f"no fault with n = {n}, s = {free[0]}") if free else Outcome("right", "refuted")
    except Unmodelled as error:
        return Outcome("not modelled", str(error))


def outcomes(
    functions: dict[str, list[Statement]], numbers: Range, target: str, memory: bool = False
) -> dict[str, Outcome]:
    text = module_text(functions, target)
    module = parse(text, "random.pto")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random.pto"
        path.write_text(text, encoding="utf-8")
        entries = proofs(path)
    if memory:
        module = parse(module_text(functions, target, answered=True), "answered.pto")
    agrees = agreement_of_memory if memory else agreement
    return {name: agrees(Judge(module, name), stated(entries[name]), numbers) for name in functions}


def is_bad(result: Outcome) -> bool:
    return result.kind == "wrong" or not result.smallest


def smaller(body: list[Statement]) -> Iterator[list[Statement]]:
    """The function without one statement, or with the body of a block instead of the block."""
    for number in range(sum(1 for _ in places_of(body))):
        less = copy.deepcopy(body)
        owner, index = list(places_of(less))[number]
        owner.pop(index)
        yield less
        again = copy.deepcopy(body)
        owner, index = list(places_of(again))[number]
        statement = owner[index]
        if isinstance(statement, Block):
            owner[index : index + 1] = statement.body
            yield again


def reduced(body: list[Statement], numbers: Range, target: str, memory: bool) -> list[Statement]:
    """A function that still disagrees although nothing can be left out."""
    progress = True
    while progress:
        progress = False
        for less in smaller(body):
            try:
                bad = is_bad(outcomes({"f": less}, numbers, target, memory)["f"])
            except Exception:  # a text that is no program
                bad = False
            if bad:
                body, progress = less, True
                break
    return body


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--count", type=click.IntRange(1), default=400, show_default=True, help="Number of functions.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the first function.")
@click.option("--high", type=click.IntRange(0), default=7, show_default=True, help="Largest argument of brute force.")
@click.option("--target", type=click.Choice(["a5", "a2a3"]), default="a5", show_default=True, help="Chip.")
@click.option("--reduce/--no-reduce", default=True, show_default=True, help="Make functions that disagree small.")
@click.option("--memory", is_flag=True, help="Branches and loops ask memory.")
def main(count: int, seed: int, high: int, target: str, reduce: bool, memory: bool) -> None:
    """Compare the verdicts about random functions with brute force."""
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    numbers = Range(-1, high)
    for start in range(seed, seed + count, BATCH):
        functions: dict[str, list[Statement]] = {}
        for number in range(start, min(start + BATCH, seed + count)):
            body = Generator(number, memory).function()
            if number % 3 == 0:
                damaged(body, Random(number))
            functions[f"f{number}"] = body
        for name, result in outcomes(functions, numbers, target, memory).items():
            counts[result.kind] += 1
            counts["proven"] += result.kind == "right" and result.why == "proven"
            counts["not smallest"] += result.kind == "right" and not result.smallest
            reasons[result.why] += result.kind == "undecided"
            if is_bad(result):
                print(f"{name}: {result.kind}: {result.why}")
                if reduce:
                    print(module_text({name: reduced(functions[name], numbers, target, memory)}, target))
    print(f"{count} functions: {', '.join(f'{number} {kind}' for kind, number in counts.items() if number)}")
    for reason, number in reasons.most_common(5):
        print(f"  {number} undecided: {reason}" if number else "")
    sys.exit(1 if counts["wrong"] or counts["not smallest"] else 0)


if __name__ == "__main__":
    main()
