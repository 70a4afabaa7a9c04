"""The conformance runner on a small tree of its own."""

from __future__ import annotations

import csv
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "conformance.py"

GOOD = "func.func @good(%x: i32) -> i32 {\n  %0 = arith.addi %x, %x : i32\n  return %0 : i32\n}\n"
BAD = "func.func @bad() {\n  pto.barrier #pto.pipe<PIPE_NOWHERE>\n  return\n}\n"
A5_ONLY = """func.func @narrow() {
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf8E4M3FN>
  pto.trelu ins(%t : !pto.tile_buf<vec, 16x32xf8E4M3FN>) outs(%t : !pto.tile_buf<vec, 16x32xf8E4M3FN>)
  return
}
"""

STRICT_TOOL = """#!{python}
import sys
text = open(sys.argv[-1]).read()
line, failed = 1, False
for number, part in enumerate(text.split("// -----\\n")):
    if "@second" in part or '"second"' in part:
        where = f"within split at {{sys.argv[-1]}}:{{line - 1}} offset :2:1" if number else f"{{sys.argv[-1]}}:2:1"
        print(f"{{where}}: error: no second please", file=sys.stderr)
        failed = True
    line += part.count("\\n") + 1
sys.exit(failed)
"""


def run(tree: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The runner in a process of its own, without an MLIR tool unless one is named."""
    command = [sys.executable, str(SCRIPT), str(tree), *map(str, arguments)]
    if "--mlir-opt" not in command:
        command += ["--mlir-opt", "none"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def grow(tree: Path, **texts: str) -> None:
    """Writes ``name.pto`` files below ``tree``."""
    tree.mkdir(exist_ok=True)
    for name, text in texts.items():
        (tree / f"{name}.pto").write_text(text)


def verdict_file(path: Path, *rows: tuple[str, str, str, str, str]) -> Path:
    """A verdict file; a row is path, text, arch and the two verdicts."""
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("repository", "path", "sha256", "arch", "verdict", "newer_verdict"))
        for name, text, arch, verdict, newer in rows:
            writer.writerow(("some/where", name, hashlib.sha256(text.encode()).hexdigest(), arch, verdict, newer))
    return path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    grow(tmp_path / "tree", bad=BAD, good=GOOD)
    return tmp_path / "tree"


def test_agreement_with_either_verdict(tree: Path, tmp_path: Path) -> None:
    verdicts = verdict_file(
        tmp_path / "v.csv",
        ("good.pto", GOOD, "auto", "reject", "accept"),
        ("bad.pto", BAD, "auto", "reject", "accept"),
    )
    result = run(tree, "--verdicts", verdicts)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "2 of 2 agree (100.00%)" in result.stdout
    assert "programs: 2 (0.0 MB), 1 accepted" in result.stdout
    assert "generic form: read back 1/1, same structure 1/1, print fixpoint 1/1" in result.stdout


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_disagreements_are_listed(tree: Path, tmp_path: Path, jobs: str) -> None:
    verdicts = verdict_file(
        tmp_path / "v.csv",
        ("good.pto", GOOD, "auto", "reject", "reject"),
        ("bad.pto", BAD, "auto", "accept", "accept"),
    )
    report = tmp_path / "out.csv"
    result = run(tree, "--verdicts", verdicts, "--csv", report, "-j", jobs)
    assert result.returncode == 1
    assert "0 of 2 agree (0.00%); 1 rejected and 1 accepted" in result.stdout
    with report.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["path"], row["kind"], row["reference"]) for row in rows] == [
        ("bad.pto", "wrong-reject", "accept"),
        ("good.pto", "wrong-accept", "reject"),
    ]
    assert rows[0]["detail"].startswith("sync-pipe-token: ")


def test_another_text_under_the_same_path_is_not_judged(tree: Path, tmp_path: Path) -> None:
    verdicts = verdict_file(tmp_path / "v.csv", ("good.pto", GOOD + "\n", "auto", "reject", "reject"))
    result = run(tree, "--verdicts", verdicts)
    assert result.returncode == 0
    assert "verdicts" not in result.stdout


def test_the_arch_column_chooses_the_target(tmp_path: Path) -> None:
    grow(tmp_path / "t", narrow=A5_ONLY)
    outcome = {}
    for arch in ("a3", "a5"):
        row = ("narrow.pto", A5_ONLY, arch, "accept", "accept")
        outcome[arch] = run(tmp_path / "t", "--verdicts", verdict_file(tmp_path / "v.csv", row)).stdout
    assert "0 of 1 agree" in outcome["a3"]
    assert "wrong-reject: narrow.pto [a3]" in outcome["a3"]
    assert outcome["a3"] != outcome["a5"]


def test_generic_forms_go_to_the_tool(tmp_path: Path) -> None:
    names = ("first", "second", "third")
    grow(tmp_path / "t", **{name: GOOD.replace("good", name) for name in names})
    tool = tmp_path / "strict"
    tool.write_text(STRICT_TOOL.format(python=sys.executable))
    tool.chmod(0o755)
    result = run(tmp_path / "t", "--mlir-opt", tool)
    assert result.returncode == 1
    assert "mlir-opt: 2/3" in result.stdout
    assert "mlir-opt: second.pto [auto] no second please" in result.stdout


def test_a_tree_without_programs(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert result.returncode == 1
    assert "has no .pto files" in result.stderr
