"""What is reported about an operation has one order, whatever rules were loaded before."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from pto_dialect.api import check
from pto_dialect.verify.engine.rule import load_all_rules
if sys.argv[1:]:
    import importlib
    from pto_dialect.families import all_rule_modules
    for name in reversed(all_rule_modules()):
        importlib.import_module(f"pto_dialect.{name}")
print(check('''module attributes {pto.target_arch = "a5"} {
func.func @f(%a: !pto.tile_buf<vec, 8x64xi32>, %b: f32, %d: !pto.tile_buf<vec, 8x64xf32>) {
  pto.taxpy ins(%a, %b : !pto.tile_buf<vec, 8x64xi32>, f32) outs(%d : !pto.tile_buf<vec, 8x64xf32>)
  return
}
}
'''))
"""


def said(*words: str) -> str:
    """The diagnostics of a fresh process."""
    return subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=True).stdout


def test_diagnostics_have_one_order() -> None:
    found = said()
    assert found.count("error: ") >= 2
    assert said("all rules, the last first") == found
