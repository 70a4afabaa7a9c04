"""Do two versions of the package compute the same?  Compares results of launches and examples byte by byte.

Usage: python benchmarks/run_identity.py OLD NEW [FOLDER...] [--only REGEX] [--show K] [--history [--csv FILE]]

OLD and NEW are trees of this project (work trees of two commits). Both run the examples, with either accumulation and
on every target, and each launch file below the FOLDERs in a copy of its folder: ``benchmarks/goldens.py --keep FOLDER``
writes such folders with the inputs of a launch table. Compared are the bytes of all files after a run, what was stated,
and how it ended. Prints how many differ and the first of them; exits with 1 when one does.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import two_versions
from two_versions import Request, selected


def said(request: Request) -> Iterator[tuple[str, list[str]]]:
    """What the version that is imported says and computes, by run."""
    yield from _examples(request)
    for folder in map(Path, request["folders"]):
        for path in sorted(folder.rglob("*.launch.toml")):
            if selected(request, str(path)) and re.search(request["pattern"], str(path)):
                yield str(path), list(_launch(path))


def _examples(request: Request) -> Iterator[tuple[str, list[str]]]:
    import numpy as np

    import pto_dialect
    from examples.check import FOLDER, run
    from examples.run_all import EXAMPLES, label, load
    from pto_dialect.runtime.errors import BindingError, ProgramError

    for example in EXAMPLES:
        for number, case in enumerate(load(example)[0]):
            for target in case.targets:
                for accumulate in ("fast", "exact"):
                    name = f"{label(example, case)} #{number} {case.shapes} {target} {accumulate}"
                    if not selected(request, name) or not re.search(request["pattern"], name):
                        continue
                    lines = [str(pto_dialect.check(FOLDER / example / case.program, target))]
                    try:
                        results = run(example, case, target, accumulate)[0]
                        lines += [f"{key}: {digest(np.ascontiguousarray(a).tobytes())}" for key, a in results.items()]
                    except (ValueError, BindingError, ProgramError) as error:
                        lines.append(f"ended: {type(error).__name__}: {error}")
                    yield name, lines


def _launch(path: Path) -> Iterator[str]:
    from pto_dialect.driver.launch.document import LaunchError
    from pto_dialect.driver.launch.plan import read_plan
    from pto_dialect.driver.launch.session import Settings, run_plan
    from pto_dialect.driver.run.status import Streams

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "run")
        shutil.copytree(path.parent, folder)
        words: list[str] = []
        try:
            plan = read_plan(str(folder / path.name), allow_outside=True)
            code = run_plan(plan, Settings(quiet=True), Streams(words.append, words.append), {})
        except LaunchError as error:
            code = f"no launch: {error}"
        yield f"exit code {code}"
        yield from "".join(words).replace(scratch, "").splitlines()
        for file in sorted(file for file in folder.rglob("*") if file.is_file() and file.suffix != ".py"):
            yield f"{file.relative_to(folder)}: {digest(file.read_bytes())}"


def digest(data: bytes) -> str:
    """Stands for the bytes of a result."""
    return hashlib.sha256(data).hexdigest()[:16]


def main() -> int:
    """Runs the comparison."""
    parser = two_versions.arguments(__doc__)
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER")
    parser.add_argument("--only", default="", metavar="REGEX", help="runs whose name or path matches")
    args = parser.parse_args()
    request: Request = {"folders": [str(folder.resolve()) for folder in args.folders], "pattern": args.only}
    return two_versions.run(__file__, "runs", request, args)


if __name__ == "__main__":
    if two_versions.is_worker():
        two_versions.answer(said)
    else:
        sys.exit(main())
