"""What does ``pto prove`` say about the functions with signals of given programs?

Usage: python benchmarks/prove_corpus.py PATH ... [--seconds S] [--list VERDICT] [--json FILE]

Takes all ``.pto`` files below each PATH. A function counts if it, or one that it calls, has flags, locks, barriers, or
signals to other cores; with ``--queues`` also one that only moves entries of queues. Of functions with the same text
one counts. A function with several verdicts has the least of them. Prints the number of functions of each verdict, the
undecided ones by reason, the refuted ones by kind of fault, and the times. ``--replay`` runs the call of each witness;
``--list`` names the functions of a verdict, with its reason or fault, and what the run shows.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import click
from xdsl.ir import Operation

from pto_dialect.analysis.symbols import Symbols
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import build_module
from pto_dialect.driver.prove.replay import replay
from pto_dialect.ir.core.base import PtoOp, op_spec
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.prove.decide import Answer, Verdict
from pto_dialect.prove.functions import verdicts
from pto_dialect.prove.report import diagnostic_of

SIGNALS = Role.PIPES | Role.LOCK | Role.CORES | Role.BLOCKS | Role.PEERS | Role.SIGNAL
ORDER = (Answer.REFUTED, Answer.UNDECIDED, Answer.PROVEN)
_ARCH = re.compile(r"--pto-arch[= ](a\d)")


def has_signals(function: Operation, symbols: Symbols, queues: bool, seen: set[Operation]) -> bool:
    """Whether a function, or one that it calls, has a signal, or uses a queue if these count."""
    seen.add(function)
    for op in function.walk():
        if has_role(op, SIGNALS) or (queues and isinstance(op, PtoOp) and op_spec(type(op)).queue is not None):
            return True
        callee = symbols.callee(op) if has_role(op, Role.CALL) else None
        if callee is not None and callee not in seen and has_signals(callee, symbols, queues, seen):
            return True
    return False


def target_of(text: str) -> str | None:
    """The chip that a command line in a program names."""
    stated = _ARCH.search(text)
    return None if stated is None else stated[1].replace("a3", "a2a3").replace("a2a2a3", "a2a3")


def module_of(path: Path, target: str | None) -> Operation | None:
    """The program of a file; ``None`` if it has errors."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    source = SourceFile(str(path), path.read_text(encoding="utf-8", errors="replace"))
    module = build_module(source, engine, Options(target=target))
    return None if any(one.severity is Severity.ERROR for one in engine.diagnostics) else module


def entries(path: Path, seconds: float, queues: bool, replayed: bool) -> Iterator[dict[str, Any]]:
    """One entry for each function with signals of a file."""
    target = target_of(path.read_text(encoding="utf-8", errors="replace"))
    module = module_of(path, target)
    if module is None:
        return
    found: dict[str, list[Verdict]] = {}
    symbols = Symbols()
    started = process_time()
    for verdict in verdicts(module, target, (), seconds):
        if verdict.name in found or has_signals(verdict.function, symbols, queues, set()):
            found.setdefault(verdict.name, []).append(verdict)
    spent = process_time() - started
    for name, those in found.items():
        least = min(those, key=lambda one: ORDER.index(one.answer))
        witness = least.witness
        shown = replay(least, target) if replayed else None
        yield {
            "file": str(path),
            "name": name,
            "verdict": least.answer.value,
            "reason": least.reason,
            "kind": None if witness is None else witness.fault.kind.value,
            "message": diagnostic_of(least).message,
            "replay": shown.text if shown is not None else None,
            "text": hash(str(least.function)),
            "seconds": spent / len(found),
        }


def short(reason: str) -> str:
    """A reason without the names and numbers of one program."""
    return re.sub(r"%\w+|'[^']*'", "...", reason)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--seconds", type=float, default=2.0, show_default=True, help="Processor time for each function.")
@click.option("--list", "listed", type=click.Choice([one.value for one in Answer]), multiple=True)
@click.option("--queues", is_flag=True, help="Count functions that only use queues as well.")
@click.option("--replay", "replayed", is_flag=True, help="Run the call of each witness.")
@click.option("--json", "target", type=click.Path(path_type=Path), help="Write all entries there.")
def main(
    paths: tuple[Path, ...],
    seconds: float,
    listed: tuple[str, ...],
    queues: bool,
    replayed: bool,
    target: Path | None,
) -> None:
    """Count the verdicts about the functions with signals below each PATH."""
    files = [file for path in paths for file in (sorted(path.rglob("*.pto")) if path.is_dir() else [path])]
    texts: set[str] = set()
    known: dict[int, dict[str, Any]] = {}
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        if text in texts:
            continue
        texts.add(text)
        try:
            for entry in entries(file, seconds, queues, replayed):
                known.setdefault(entry["text"], entry)
        except Exception as error:
            print(f"{file}: {error!r}", file=sys.stderr)
    found = list(known.values())
    if target is not None:
        target.write_text(json.dumps(found, indent=1), encoding="utf-8")
    for entry in found:
        if entry["verdict"] in listed:
            replay_text = f" ({entry['replay']})" if entry["replay"] else ""
            print(f"{entry['file']} @{entry['name']}: {entry['message']}{replay_text}")
    counts = Counter(entry["verdict"] for entry in found)
    print(f"{len(found)} functions with signals: {', '.join(f'{counts[one.value]} {one.value}' for one in Answer)}")
    for verdict, key in (("refuted", "kind"), ("undecided", "reason")):
        reasons = Counter(short(str(entry[key])) for entry in found if entry["verdict"] == verdict)
        for reason, count in reasons.most_common():
            print(f"  {count} {verdict}: {reason}")
    times = sorted(entry["seconds"] for entry in found)
    if times:
        late = times[int(0.99 * (len(times) - 1))]
        print(f"median {median(times) * 1000:.1f} ms, 99 % {late * 1000:.0f} ms, slowest {times[-1]:.2f} s")


if __name__ == "__main__":
    main()
