"""The written forms of operations of the core dialects are read, and are right where they may stand."""

import re

import pytest

from pto_dialect import check
from pto_dialect.ir.core_dialects.core_ops import ALIASES, CORE_SHAPES
from pto_dialect.ir.core_dialects.forms import CLASSES, FORMS, HOLE, operands_of, result_count, shown
from pto_dialect.verify.core.table import CORE_NAMES, constraints_of

PARALLEL = (
    "  %c = arith.constant 1 : index\n  %r = scf.parallel (%i) = (%c) to (%c) step (%c) init (%value) -> i32 {{\n"
)
AROUND = {
    "func.return": "{}",
    "func.call": "  {}\n  return",
    "func.constant": "  {}\n  return",
    "func.call_indirect": "  %f = constant @name : (i32) -> ()\n  {}\n  return",
    "llvm.extractvalue": "  %s = llvm.mlir.undef : !llvm.struct<(i32, i32)>\n  {}\n  return",
    "cf.br": "  {}\n^bb1:\n  return",
    "cf.cond_br": "  {}\n^bb1:\n  return\n^bb2:\n  return",
    "cf.switch": "  {}\n^bb1:\n  return\n^bb2:\n  return",
    "scf.yield": "  scf.execute_region {{\n    {}\n  }}\n  return",
    "scf.condition": "  scf.while : () -> () {{\n    {}\n  }} do {{\n    scf.yield\n  }}\n  return",
    "scf.reduce": f"{PARALLEL}    {{}}\n  }}}}\n  return",
    "scf.reduce.return": f"{PARALLEL}    scf.reduce(%value : i32) {{{{\n    ^bb0(%x: i32, %y: i32):\n      {{}}\n"
    "    }}\n  }}\n  return",
}
"""The body of the function in which an operation may stand."""
NEEDS_VALUES = {"scf.yield": 1, "cf.br": 1, "scf.condition": 0, "func.return": 1}
"""The form, by number, whose values what is around would have to take as well."""


def program(name: str, form: str) -> str:
    """A function with a form whose operands are its arguments."""

    def text(hole: re.Match[str]) -> str:
        if hole["operand"]:
            return f"%{hole['operand']}"
        if hole["name"] in CLASSES:
            return CLASSES[hole["name"]][1]
        return hole["text"] or (f"%{hole['name']}" if hole["name"] else "")

    statement = HOLE.sub(text, form)
    if name in ("func.func", "builtin.module"):
        return statement
    body = AROUND.get(name, "  {}\n  return").format(statement)
    arguments = ", ".join(f"%{operand}: {CLASSES[of][1]}" for operand, of in operands_of(form).items())
    called = "func.func private @name(i32)" + (" -> i32" if name == "func.call" and result_count(form) else "")
    return f"{called}\nfunc.func @f({arguments}) {{\n{body}\n}}\n"


def test_all_operations_with_a_form_of_their_own_are_listed() -> None:
    assert set(FORMS) == {ALIASES.get(name, name) for name in CORE_SHAPES}


@pytest.mark.parametrize("name", sorted(FORMS))
def test_forms_verify(name: str) -> None:
    for number, form in enumerate(FORMS[name]):
        if NEEDS_VALUES.get(name) != number:
            text = program(name, form)
            assert check(text).ok, f"{text}\n{check(text)}"


@pytest.mark.parametrize("name", sorted(set(FORMS) & set(CORE_NAMES)))
def test_single_operands_have_the_names_that_the_dialect_declares(name: str) -> None:
    declared = [slot.name for slot in constraints_of(name).operands if slot.arity == "1"]
    found = list(operands_of(FORMS[name][0]))
    assert [operand for operand in found if operand in declared] == [one for one in declared if one in found]
    assert len(found) >= len(declared) or "<=" in FORMS[name][0]


def test_forms_as_documentation_shows_them() -> None:
    assert shown(FORMS["math.fpowi"][0]) == "%result = math.fpowi %lhs, %rhs : T, U"
    assert shown(FORMS["scf.if"][0]) == "scf.if %condition {\n  ..\n}"
