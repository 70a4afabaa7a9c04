"""Queries about a whole program while it is compiled use one list of its operations."""

from __future__ import annotations

import pytest
from parse_helpers import parsed

from pto_dialect.analysis import target
from pto_dialect.runtime.compile import program
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

TWO_FUNCTIONS = """
module attributes {pto.target_arch = "a5"} {
func.func private @inner(%n: index) {
  scf.for %i = %n to %n step %n {
    pto.barrier <PIPE_ALL>
  }
  return
}
func.func private @idle() { return }
func.func @outer(%n: index) attributes {pto.kernel} {
  func.call @inner(%n) : (index) -> ()
  return
}
}
"""


def test_operations_of_a_program_are_those_of_its_functions_in_text_order() -> None:
    kernel = Kernel(parsed(TWO_FUNCTIONS)[0], None, None, RunOptions())
    names = ["func.func", "func.call", "func.return", "func.func", "scf.for", "pto.barrier", "scf.yield", "func.return"]
    assert [op.name for op in kernel.program.operations] == names
    assert kernel.program.functions == (kernel.program.operations[0], kernel.program.operations[3])


def test_a_kernel_is_made_with_one_walk_for_symbols_and_one_for_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    walked: list[str] = []
    plain = program.walk

    def counted(root):
        walked.append(root.name)
        return plain(root)

    def refused(root):
        raise AssertionError("the target is stated; nothing else tells it")

    module = parsed(TWO_FUNCTIONS)[0]
    monkeypatch.setattr(program, "walk", counted)
    monkeypatch.setattr(target, "walk", refused)
    Kernel(module, None, None, RunOptions())
    # For the symbols of the module, then for the calls and for the operations of each of two functions.
    assert walked == ["builtin.module", *["func.func"] * 4]
