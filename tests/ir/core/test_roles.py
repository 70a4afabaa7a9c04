"""Roles of operations: what is known without comparing names."""

import pytest
from xdsl.dialects.builtin import UnregisteredOp

from pto_dialect import parse
from pto_dialect.ir.core.base import op_spec
from pto_dialect.ir.core.registry import all_op_classes
from pto_dialect.ir.core.roles import CORE_ROLES, Role, has_role, roles_of

PROGRAM = """\
func.func @f(%n: index, %m: memref<16xf32>) {
  %c = arith.constant 1 : index
  %x = arith.select %t, %c, %n : index
  %t = arith.constant true
  %b = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  %v = pto.treshape %b : !pto.tile_buf<vec, 16x16xf32> -> !pto.tile_buf<vec, 8x32xf32>
  scf.for %i = %c to %n step %c {
    scf.if %t {
      %s = arith.addi %c, %c : index
    }
  }
  pto.barrier #pto.pipe<PIPE_ALL>
  return
}
"""

EXPECTED = {
    "func.func": Role.FUNCTION,
    "arith.constant": Role.CONSTANT | Role.SCALAR,
    "arith.select": Role.SELECT | Role.SCALAR,
    "arith.addi": Role.SCALAR,
    "pto.alloc_tile": Role.ALLOCATION | Role.TILE_ALLOCATION,
    "pto.treshape": Role.VIEW,
    "scf.for": Role.LOOP | Role.COUNTED,
    "scf.if": Role.CHOICE,
    "func.return": Role.RETURN,
    "pto.barrier": Role.PIPES | Role.BARRIER,
}


def test_roles_of_operations_in_a_program() -> None:
    text = PROGRAM.replace("  %t = arith.constant true\n", "").replace("%c = ", "%t = arith.constant true\n  %c = ")
    found = {op.name: roles_of(op) for op in parse(text).walk()}
    assert {name: found[name] for name in EXPECTED} == EXPECTED


def test_one_of_several_roles() -> None:
    module = parse("func.func @f() {\n  return\n}\n")
    end = next(op for op in module.walk() if op.name == "func.return")
    assert has_role(end, Role.RETURN | Role.YIELD)
    assert not has_role(end, Role.LOOP | Role.CALL)


@pytest.mark.parametrize("name", ["affine.for", "foo.for"])
def test_operations_that_no_class_describes_are_distinguished_by_their_own_names(name: str) -> None:
    op = UnregisteredOp.with_name(name).create()
    assert roles_of(op) == CORE_ROLES.get(name, Role.NONE)


@pytest.mark.parametrize(
    ("role", "words"),
    [
        (Role.ACCUMULATES, "tmatmul.acc tmatmul.mx.acc tgemv.acc tgemv.mx.acc mad_acc mad_mx_acc"),
        (Role.JOINS, "dsb fence.barrier_all tsync syncall comm.tput_async comm.tget_async comm.tnotify"),
    ],
)
def test_operations_with_a_role(role: Role, words: str) -> None:
    found = {cls.name for cls in all_op_classes() if role in op_spec(cls).roles}
    assert found == {f"pto.{word}" for word in words.split()}


@pytest.mark.parametrize(
    ("role", "words"),
    [
        (Role.COMPARISON, "arith.cmpi index.cmp"),
        (Role.CONDITION, "scf.condition"),
        (Role.COPY, "memref.copy"),
    ],
)
def test_operations_of_the_core_dialects_with_a_role(role: Role, words: str) -> None:
    assert {name for name, roles in CORE_ROLES.items() if role in roles} == set(words.split())
