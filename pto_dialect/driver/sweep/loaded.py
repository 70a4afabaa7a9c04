"""Importing this module loads what every launch needs, by running one."""

from __future__ import annotations

from ..launch.session import Settings
from .jobs import Job
from .work import Done, run_job

PROGRAM = b"""
func.func @first(%x: !pto.ptr<f32>) attributes {pto.kernel} {
  %c0 = arith.constant 0 : index
  %0 = pto.load_scalar %x[%c0] : !pto.ptr<f32> -> f32
  return
}
"""
LAUNCH = 'program = "first.pto"\n[arguments]\nx = "random:f32:1"\n'


def first() -> Done:
    """Returns what becomes of the launch."""
    return run_job(Job("first.launch.toml", LAUNCH, {}, Settings(), {"first.pto": "it"}, {"it": PROGRAM}), {})


first()
