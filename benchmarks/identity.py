"""Do two versions of the package say the same?  Compares diagnostics and printed forms byte by byte.

Usage: python benchmarks/identity.py OLD NEW FOLDER... [--edits N] [--seed S] [--targets a2a3,a5] [--rows CSV --tree T]
       [--show K] [--history [--csv FILE]]

OLD and NEW are trees of this project (work trees of two commits). Every ``.pto`` and ``.mlir`` file below the FOLDERs
is checked by both for each target and with ``check-sync`` and ``check-memory``, and printed in the custom and the
generic form; ``--edits`` adds as many broken variants of these programs (see ``fuzz_mutators.py``), ``--rows`` the
programs of a table of changes to the programs below ``--tree`` (see ``change_rows.py``). Prints how many outputs differ
and the first of them, with ``--history`` also which commits made the differences; exits with 1 when one does.
"""

from __future__ import annotations

import csv
import hashlib
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import two_versions
from fuzz_mutators import mutate
from row_changes import Row, places
from two_versions import CRASHED, Request, selected


def said(request: Request) -> Iterator[tuple[str, list[str]]]:
    """What the version that is imported says about each program: diagnostics and printed forms."""
    for line in Path(request["programs"]).read_text(encoding="utf-8").splitlines():
        place: str = json.loads(line)
        if selected(request, place):
            yield place, "\n".join(_about(Path(place), request["targets"])).split("\n")


def _about(place: Path, targets: Sequence[str]) -> Iterator[str]:
    from pto_dialect.diagnostics.render import render_text
    from pto_dialect.driver.options import Options
    from pto_dialect.driver.pipeline import process

    text = place.read_bytes().decode("utf-8", "replace")
    plain = Options().passes
    for target in targets:
        for generic in (False, True):
            passes = plain if generic else (*plain, "check-sync", "check-memory")
            try:
                result = process(text, str(place), Options(target=target or None, passes=passes, generic=generic))
                yield f"// target {target or 'of the module'}, generic: {generic}, ok: {result.ok}"
                yield "" if generic else render_text(result.diagnostics)
                yield result.text or ""
            except Exception as error:
                # A version that breaks is a difference like others.
                yield f"{CRASHED}{type(error).__name__}: {error}"


# ------------------------------------------------------------ the programs


def programs(folders: Sequence[Path]) -> Iterator[Path]:
    """Programs below the folders, each text once."""
    seen: set[bytes] = set()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".pto", ".mlir") and path.is_file():
                digest = hashlib.sha256(path.read_bytes()).digest()
                if digest not in seen:
                    seen.add(digest)
                    yield path


def edited(paths: Sequence[Path], count: int, seed: int, into: Path) -> Iterator[Path]:
    """Writes broken variants of programs of at most 30 kB."""
    texts = [text for path in paths if len(text := path.read_text(encoding="utf-8", errors="replace")) < 30_000]
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        path = into / f"edit{number}.pto"
        path.write_text(mutate(rng, texts), encoding="utf-8", errors="replace")
        yield path


def changed(table: Path, tree: Path, into: Path) -> Iterator[Path]:
    """Writes the programs of a table of changes, each at every location where it fits."""
    with table.open(newline="", encoding="utf-8") as stream:
        for number, row in enumerate(csv.DictReader(stream), start=2):
            text = (tree / row["program"]).read_text(encoding="utf-8", errors="replace")
            change = Row(row["operation"], row["kind of change"], row["change"])
            for place in places(text, change):
                path = into / f"row{number}-line{place.line}.pto"
                path.write_text(place.text, encoding="utf-8", errors="replace")
                yield path


def main() -> int:
    """Runs the comparison."""
    parser = two_versions.arguments(__doc__)
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER")
    parser.add_argument("--edits", type=int, default=0, metavar="N", help="number of broken variants")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", default=",a2a3,a5", help="an empty name is the module's own target")
    parser.add_argument("--rows", type=Path, metavar="CSV", help="table of changes to programs")
    parser.add_argument("--tree", type=Path, metavar="FOLDER", help="where the programs of the table are")
    args = parser.parse_args()
    if (args.rows is None) != (args.tree is None):
        parser.error("--rows goes with --tree")
    with tempfile.TemporaryDirectory() as folder:
        paths = list(programs([path.resolve() for path in args.folders]))
        paths += edited(paths, args.edits, args.seed, Path(folder))
        if args.rows is not None:
            paths += changed(args.rows, args.tree, Path(folder))
        listed = Path(folder, "programs.jsonl")
        listed.write_text("".join(json.dumps(str(path)) + "\n" for path in paths), encoding="utf-8")
        request: Request = {"programs": str(listed), "targets": args.targets.split(",")}
        return two_versions.run(__file__, "programs", request, args)


if __name__ == "__main__":
    if two_versions.is_worker():
        two_versions.answer(said)
    else:
        sys.exit(main())
