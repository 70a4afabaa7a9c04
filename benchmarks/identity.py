"""Do two versions of the package say the same?  Compares diagnostics and printed forms byte by byte.

Usage: python benchmarks/identity.py OLD NEW FOLDER... [--edits N] [--seed S] [--show K] [--targets a2a3,a5]

OLD and NEW are trees of this project (work trees of two commits). Every ``.pto`` and ``.mlir`` file below the FOLDERs
is checked by both for each target and with ``check-sync`` and ``check-memory``, and printed in the custom and the
generic form; ``--edits`` adds as many broken variants of these programs (see ``fuzz_mutators.py``), the same for both.
Both versions run at the same time, each in a process of its own with this project's interpreter. Prints how many
outputs differ and the first of them; exits with 1 when one does.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from fuzz_mutators import mutate

WORKER = """
import hashlib, json, sys
from pathlib import Path
root, listed, wanted, targets = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4].split(",")
sys.path.insert(0, root)
import pto_dialect
assert Path(pto_dialect.__file__).resolve().is_relative_to(Path(root).resolve()), pto_dialect.__file__
from pto_dialect.diagnostics.render import render_text
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import process
from pto_dialect.passes.registry import VERIFY_PASSES

def said(text, name):
    for target in targets:
        for generic in (False, True):
            passes = VERIFY_PASSES if generic else (*VERIFY_PASSES, "check-sync", "check-memory")
            try:
                result = process(text, name, Options(target=target or None, passes=passes, generic=generic))
                yield f"// target {target or 'of the module'}, generic: {generic}, ok: {result.ok}"
                yield "" if generic else render_text(result.diagnostics)
                yield result.text or ""
            except Exception as error:
                crashed.append(name)
                yield f"crashed: {type(error).__name__}: {error}"

crashed = []
for line in open(listed, encoding="utf-8"):
    name, place = json.loads(line)
    if wanted and name != wanted:
        continue
    data = Path(place).read_bytes().decode("utf-8", "replace")
    parts = "\\n".join(said(data, name))
    if wanted:
        print(parts)
    else:
        code = "crashed" if name in crashed else hashlib.sha256(parts.encode("utf-8", "replace")).hexdigest()
        print(json.dumps([name, code]), flush=True)
"""
"""What a version runs."""


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


def worker(tree: Path, listed: Path, targets: str, wanted: str = "") -> subprocess.Popen[str]:
    """A process that runs the version in ``tree``."""
    command = [sys.executable, "-I", "-c", WORKER, str(tree), str(listed), wanted, targets]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", errors="replace")


def outputs(trees: Sequence[Path], listed: Path, targets: str) -> list[dict[str, str]]:
    """Hash of what each version says, by program."""
    running = [worker(tree, listed, targets) for tree in trees]
    found = [{}, {}]
    for part, process in zip(found, running, strict=True):
        assert process.stdout is not None
        part.update(json.loads(line) for line in process.stdout)
        if process.wait():
            sys.exit(f"the process of {trees[found.index(part)]} ended with {process.returncode}")
    return found


def main() -> int:
    """Runs the comparison."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--edits", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--targets", default=",a2a3,a5", help="an empty name is the module's own target")
    args = parser.parse_args()
    trees = [args.old.resolve(), args.new.resolve()]
    with tempfile.TemporaryDirectory() as folder:
        paths = list(programs([path.resolve() for path in args.folders]))
        paths += edited(paths, args.edits, args.seed, Path(folder))
        listed = Path(folder, "programs.jsonl")
        listed.write_text("".join(json.dumps([str(path), str(path)]) + "\n" for path in paths), encoding="utf-8")
        old, new = outputs(trees, listed, args.targets)
        different = [name for name in old if old[name] != new.get(name)]
        print(f"{len(old)} programs, {args.edits} of them broken on purpose: {len(different)} differ")
        crashed = [sum(code == "crashed" for code in found.values()) for found in (old, new)]
        print(f"the old version crashed on {crashed[0]}, the new one on {crashed[1]}")
        for name in different[: args.show]:
            before, after = (worker(tree, listed, args.targets, name).communicate()[0].splitlines() for tree in trees)
            print(
                *list(difflib.unified_diff(before, after, f"old {name}", f"new {name}", "", "", 1, ""))[:40], sep="\n"
            )
    return bool(different) or bool(crashed[1])


if __name__ == "__main__":
    sys.exit(main())
