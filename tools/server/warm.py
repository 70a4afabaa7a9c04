"""What a server has done once before the first call comes, so that no call does it for the first time."""

from __future__ import annotations

import io
import sys
from contextlib import suppress
from importlib import import_module

from pto_dialect.families import FAMILIES, all_rule_modules

_TILE = "!pto.tile_buf<vec, 16x64xf32>"
_PART = "!pto.partition_tensor_view<16x64xf32>"
_TENSOR = "!pto.tensor_view<16x64xf32>"
_RIGHT = f"""
func.func @add(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %v = pto.make_tensor_view %a, shape = [%c16, %c64], strides = [%c64, %c1] : {_TENSOR}
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c64] : {_TENSOR} -> {_PART}
  %t = pto.alloc_tile : {_TILE}
  scf.for %i = %c0 to %c16 step %c1 {{
    pto.tload ins(%p : {_PART}) outs(%t : {_TILE})
    pto.tadd ins(%t, %t : {_TILE}, {_TILE}) outs(%t : {_TILE})
    pto.tstore ins(%t : {_TILE}) outs(%p : {_PART})
  }}
  return
}}
"""
_WRONG = """
func.func @f() {
  %0 = arith.constant 0 : index
  return %x : i32
}
"""

_LATER = ("accel.class_code", "accel.regex_code", "driver.verdict_data")
"""Modules of the package that only a process of its own imports; ``_OTHERS`` are what those import when used."""
_OTHERS = ("hashlib", "json")


def warm_up() -> None:
    """Loads all operations and rules, and lets the command check and print programs with and without errors.

    Standard streams must be discarded.
    """
    for family in FAMILIES.values():
        if family.operations is not None:
            import_module(f"pto_dialect.ir.{family.operations}")
    for name in (*all_rule_modules(), *_LATER):
        import_module(f"pto_dialect.{name}")
    for name in _OTHERS:
        import_module(name)
    from pto_dialect.driver.verdicts import open_verdicts  # deferred: start-up

    from ..pto_opt import main  # deferred: start-up

    open_verdicts()
    usual = sys.stdin
    try:
        for text in (_RIGHT, _WRONG):
            sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode("ascii")))
            with suppress(SystemExit):
                main(["-"])
    finally:
        sys.stdin = usual
