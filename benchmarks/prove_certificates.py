"""Which proofs have a certificate, and does the checker refuse spoiled ones?

Usage: python benchmarks/prove_certificates.py [FILE.pto ...] [--entries ENTRIES.json] [--most N] [--spoiled N]

The FILEs have functions with a known order, by default those of ``tests/prove/programs``. Counts the proven functions
that have a certificate, by the reason why others have none. Each certificate is spoiled in up to ``--spoiled`` ways: by
facts that are added, by other flags, ids, pairs, statements, forms. Up to ``--most`` changes of each proven function
are certified again where brute force finds a fault: none may succeed. ``--entries`` takes the functions that
``prove_corpus.py --json`` found proven; these are only spoiled. The exit code is 1 if something wrong is accepted.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

from order_judge import Judge, Range  # noqa: E402
from order_programs import FOLDER, OrderProgram, read_programs  # noqa: E402
from order_values import Unmodelled  # noqa: E402
from prove_corpus import module_of, target_of  # noqa: E402
from prove_mutations import mutations  # noqa: E402
from spoiled_certificates import changed  # noqa: E402
from xdsl.dialects.builtin import ModuleOp  # noqa: E402

from pto_dialect import parse  # noqa: E402
from pto_dialect.certify.certificate import verify  # noqa: E402
from pto_dialect.certify.check import RefusedError  # noqa: E402
from pto_dialect.certify.course import NotCoveredError  # noqa: E402
from pto_dialect.certify.write import certificate_of  # noqa: E402
from pto_dialect.diagnostics.refused import ParseError  # noqa: E402
from pto_dialect.prove.reader import entry_functions  # noqa: E402


class Counts:
    """What became of functions, spoiled certificates and changed functions."""

    def __init__(self, spoiled: int) -> None:
        self.most = spoiled
        self.functions: Counter[str] = Counter()
        self.spoiled: Counter[str] = Counter()
        self.changed: Counter[str] = Counter()

    def certify(self, text: str, module: ModuleOp, name: str, target: str | None) -> None:
        """Writes the certificate of a function and spoils it."""
        line = certificate(text, module, name, target)
        self.functions["a certificate" if line[0] == "{" else re.sub(r"^pto\.\w+: ", "", line)] += 1
        if line[0] != "{":
            return
        found = list(changed(line))
        for what, weakens, other in found[:: max(1, -(-len(found) // self.most))]:
            try:
                verify(other, text, module, target)
            except (RefusedError, NotCoveredError):
                self.spoiled["refused"] += 1
                continue
            self.spoiled["accepted, states less" if weakens else "accepted"] += 1
            if not weakens:
                print(f"@{name}: accepted in spite of: {what}", flush=True)

    def change(self, program: OrderProgram, most: int, numbers: Range) -> None:
        """Certifies changed functions that have a fault."""
        changes = list(mutations(program.text))
        for what, text in changes[:: max(1, -(-len(changes) // most))]:
            try:
                module = parse(text, "changed.pto")
                faulty = Judge(module, program.name).verdict(numbers).kind == "refuted"
            except (ParseError, Unmodelled):
                continue
            if faulty:
                line = certificate(text, module, program.name, None)
                self.changed["certified" if line[0] == "{" else "refused"] += 1
                if line[0] == "{":
                    print(f"{program.id} line {what}: certified", flush=True)


def certificate(text: str, module: ModuleOp, name: str, target: str | None) -> str:
    """The certificate of a function, or why it has none."""
    (function,) = (one for one in entry_functions(module) if one.properties["sym_name"].data == name)  # type: ignore[attr-defined]
    try:
        return certificate_of(text, module, function, target)
    except (RefusedError, NotCoveredError) as error:
        return str(error)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument(
    "paths", metavar="[FILE.pto]...", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--entries", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Of prove_corpus.py.")
@click.option("--most", type=click.IntRange(0), default=6, show_default=True, help="Changes of each function.")
@click.option("--spoiled", type=click.IntRange(1), default=200, show_default=True, help="Changes of a certificate.")
@click.option("--high", type=click.IntRange(0), default=6, show_default=True, help="Largest argument of brute force.")
def main(paths: tuple[Path, ...], entries: Path | None, most: int, spoiled: int, high: int) -> None:
    """Certify the proven functions of each FILE and of the entries."""
    counts = Counts(spoiled)
    for path in paths or (() if entries else sorted(FOLDER.glob("*.pto"))):
        text = path.read_text(encoding="utf-8")
        module = parse(text, str(path))
        for program in read_programs(path.resolve()):
            if program.kind == "proven":
                counts.certify(text, module, program.name, None)
                if most and not program.marks:
                    counts.change(program, most, Range(-1, high))
    for entry in json.loads(entries.read_text(encoding="utf-8")) if entries else ():
        if entry["verdict"] == "proven":
            text = Path(entry["file"]).read_text(encoding="utf-8", errors="replace")
            found, target = module_of(Path(entry["file"]), target_of(text)), target_of(text)
            if isinstance(found, ModuleOp):
                counts.certify(text, found, entry["name"], target)
    for what, those in (
        ("proven functions", counts.functions),
        ("spoiled certificates", counts.spoiled),
        ("changed functions with a fault", counts.changed),
    ):
        print(f"{those.total()} {what}: {', '.join(f'{count} {name}' for name, count in those.most_common())}")
    sys.exit(1 if counts.spoiled["accepted"] or counts.changed["certified"] else 0)


if __name__ == "__main__":
    main()
