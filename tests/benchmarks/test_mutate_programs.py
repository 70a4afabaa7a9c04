"""The measurement of verdicts on changed programs, on a small tree of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "mutate_programs.py"
PROGRAM = """module attributes {pto.target_arch = "a5"} {
  func.func @kernel(%a: !pto.ptr<f16, l0a>, %b: !pto.ptr<f16, l0b>, %c: !pto.ptr<f32, l0c>) attributes {pto.kernel} {
    %m = arith.constant 16 : i64
    pto.mad %a, %b, %c, %m, %m, %m sat
      : !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64
    pto.set_flag["PIPE_M", "PIPE_FIX", "EVENT_ID0"]
    return
  }
}
"""


def test_changes_are_judged(tmp_path: Path):
    (tmp_path / "one.pto").write_text(PROGRAM)
    (tmp_path / "wrong.pto").write_text(PROGRAM.replace("EVENT_ID0", "EVENT_ID9"))
    report = tmp_path / "wrong.csv"
    command = [sys.executable, str(SCRIPT), str(tmp_path), "--count", "60", "--csv", str(report)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    first, second = done.stdout.splitlines()[:2]
    # The wrong program is no base for changes.
    assert first.startswith("1 programs, ") and second.endswith("(100.00%)")
    assert report.read_text().startswith("program,kind,what,line,expected,found,detail")


CORE = """func.func private @other(i32)
func.func @f(%c: i1, %m: memref<4xf32>, %n: index, %x: i32, %y: i64, %z: f32) -> i32 {
  %k = arith.constant 7 : i32
  %a = arith.addi %x, %k : i32
  %b = arith.extsi %a : i32 to i64
  %d = arith.mulf %z, %z : f32
  %e = arith.cmpi slt, %a, %k : i32
  %g = arith.select %e, %a, %k : i32
  %v = memref.load %m[%n] : memref<4xf32>
  call @other(%g) : (i32) -> ()
  %r = scf.if %c -> (i32) {
    scf.yield %g : i32
  } else {
    scf.yield %x : i32
  }
  scf.for %i = %n to %n step %n {
    %h = arith.index_cast %i : index to i64
  }
  cf.br ^end(%r : i32)
^end(%p: i32):
  return %p : i32
}
func.func @last() {
  return
}
"""


def test_changes_of_the_core_dialects_are_judged(tmp_path: Path):
    """Every kind finds its locations in one program, and every verdict is right."""
    (tmp_path / "core.pto").write_text(CORE)
    command = [sys.executable, str(SCRIPT), str(tmp_path), "--only", "core_", "--count", "500"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    kinds = (SCRIPT.parent / "core_mutations.py").read_text().count("@kind\n")
    assert f" changes of {kinds} kinds" in done.stdout and "(100.00%)" in done.stdout
