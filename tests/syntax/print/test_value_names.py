"""Names of values and blocks: kept as written, numbered in text order, made unique where they are visible."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parse_helpers import parsed
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region

from pto_dialect.ir.core_dialects.core_ops import core_class
from pto_dialect.syntax.compare import same_module
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program


def read(text: str, schematic: bool = False) -> ModuleOp:
    module, found = parsed(text, schematic=schematic)
    assert module is not None and found == [], (found, text)
    return module


def body_lines(text: str) -> list[str]:
    """Lines of the function in the printed text, without its indentation."""
    return [line[4:] for line in text.splitlines()[2:-3]]


def test_written_names_stay() -> None:
    text = """module {
  func.func @f(%arg0: i32, %a_1: i32, %a.b$-c: i32) {
    %c0_i32_7 = arith.constant 0 : i32
    %-x = arith.addi %a_1, %a.b$-c : i32
    return
  }
}
"""
    assert print_module(read(text)) == text


def test_numbers_and_packs_are_numbered_in_text_order() -> None:
    printed = print_module(
        read("""
func.func @f(%7: i32, %p: i1) {
  %3 = arith.addi %7, %7 : i32
  %r:2 = scf.if %p -> (i32, i32) {
    %9 = arith.addi %3, %3 : i32
    scf.yield %9, %3 : i32, i32
  } else {
    %9 = arith.muli %3, %3 : i32
    scf.yield %9, %3 : i32, i32
  }
  %1 = arith.addi %r#0, %r#1 : i32
  return
}
func.func @g(%5: i32) {
  return
}
""")
    )
    assert (
        printed
        == """module {
  func.func @f(%0: i32, %p: i1) {
    %1 = arith.addi %0, %0 : i32
    %2, %3 = scf.if %p -> (i32, i32) {
      %4 = arith.addi %1, %1 : i32
      scf.yield %4, %1 : i32, i32
    } else {
      %4 = arith.muli %1, %1 : i32
      scf.yield %4, %1 : i32, i32
    }
    %4 = arith.addi %2, %3 : i32
    return
  }
  func.func @g(%0: i32) {
    return
  }
}
"""
    )


def test_sibling_regions_and_the_result_of_a_loop_may_have_equal_names() -> None:
    text = """module {
  func.func @f(%n: index, %x: i32) {
    %y = scf.for %i = %n to %n step %n iter_args(%x_0 = %x) -> (i32) {
      %y = arith.addi %x_0, %x : i32
      scf.yield %y : i32
    }
    scf.for %i = %n to %n step %n {
      %y_1 = arith.addi %y, %x : i32
    }
    %z = arith.addi %y, %y : i32
    return
  }
}
"""
    assert print_module(read(text)) == text


def constant(name: str | None) -> Operation:
    cls = core_class("arith.constant")
    assert cls is not None
    from xdsl.dialects.builtin import IntegerAttr, i32

    op = cls.create(result_types=[i32], properties={"value": IntegerAttr(0, i32)})
    op.results[0]._name = name
    return op


def named(hints: list[str | None]) -> ModuleOp:
    return ModuleOp.create(regions=[Region(Block([constant(hint) for hint in hints]))])


def names(module: ModuleOp) -> list[str]:
    return [line.split(" = ")[0].strip() for line in print_module(module).splitlines()[1:-1]]


@pytest.mark.parametrize(
    ("hints", "expected"),
    [
        (["c", "c", "c"], ["%c", "%c_0", "%c_1"]),
        (["c_0", "c", "c", "c"], ["%c_0", "%c", "%c_1", "%c_2"]),
        (["c", "c", "c_0"], ["%c", "%c_0", "%c_0_0"]),
        ([None, "12", "", "x"], ["%0", "%1", "%2", "%x"]),
        (["3d", "a b", "grün", "%"], ["%_3d", "%a_b", "%gr_n", "%_"]),
    ],
)
def test_taken_and_foreign_names(hints: list[str | None], expected: list[str]) -> None:
    assert names(named(hints)) == expected


@given(
    st.lists(
        st.one_of(st.none(), st.sampled_from(["c", "c_0", "c_1", "0", "x-"]), st.text(max_size=3)),
        max_size=12,
    )
)
def test_names_are_distinct_and_stable(hints: list[str | None]) -> None:
    module = named(hints)
    given_names = names(module)
    assert len(set(given_names)) == len(given_names)
    text = print_module(module)
    again = read(text)
    assert print_module(again) == text
    assert same_module(again, module) is None


def test_collisions_inside_regions_start_again_in_each() -> None:
    text = """module {
  func.func @f(%n: index) {
    scf.for %i = %n to %n step %n {
      scf.for %j = %n to %n step %n {
      }
    }
    return
  }
}
"""
    module = read(text)
    for op in module.walk():
        if op.name == "scf.for":
            op.regions[0].block.args[0]._name = "n"
    assert "%n_0 = %n to" in print_module(module)
    assert "%n_1 = %n to" in print_module(module)
    assert print_module(read(print_module(module))) == print_module(module)


def test_values_used_before_their_block() -> None:
    text = """module {
  func.func @f(%c: i1) {
    cf.br ^bb2
  ^bb1:
    %1 = arith.addi %0, %x : i32
    return
  ^bb2:
    %0 = arith.constant 1 : i32
    %x = arith.constant 2 : i32
    cf.br ^bb1
  }
}
"""
    printed = print_module(read(text))
    assert print_module(read(printed)) == printed
    assert same_module(read(printed), read(text)) is None
    # All values of such a region are numbered in text order before the first statement is printed.
    assert printed == text.replace("%1 = arith.addi %0", "%_ = arith.addi %1").replace("%0", "%1").replace("%_", "%0")


def test_schematic_names_stay() -> None:
    text = """%b = pto.tadd %a, %a : (!pto.tile<...>, !pto.tile<...>) -> !pto.tile<...>
%9 = pto.tmul %b, %7 : (!pto.tile<...>, !pto.tile<...>) -> !pto.tile<...>
"""
    module = read(text, schematic=True)
    printed = print_module(module)
    assert (
        printed
        == """module {
  %b = pto.tadd %a, %a : (!pto.tile<...>, !pto.tile<...>) -> !pto.tile<...>
  %1 = pto.tmul %b, %0 : (!pto.tile<...>, !pto.tile<...>) -> !pto.tile<...>
}
"""
    )
    again = read(printed, schematic=True)
    assert print_module(again) == printed
    assert same_module(again, module) is None


def test_isolated_regions_start_again_in_custom_form_only() -> None:
    """Tools that do not know the operation see the outer names inside it."""
    text = """module {
  func.func @f(%p: !pto.ptr<f32, ub>) {
    pto.strict_vecscope(%p) {
    ^bb0(%p: !pto.ptr<f32, ub>):
      %0 = pto.get_tid_x : i32
    } : (!pto.ptr<f32, ub>) -> ()
    return
  }
}
"""
    module = read(text)
    assert print_module(module) == text
    assert "^bb0(%p_0: !pto.ptr<f32, ub>):" in print_module(module, generic=True)


def test_printing_a_part_names_values_of_the_rest() -> None:
    module = read("func.func @f(%a: i32, %0: i32) {\n%b = arith.addi %a, %0 : i32\nreturn\n}")
    add = next(op for op in module.walk() if op.name == "arith.addi")
    assert print_module(add) == "%b = arith.addi %a, %0 : i32\n"


def test_names_given_inside_a_region_stay_taken_outside() -> None:
    """A value of the outer region that is first read in an inner one (never valid, still printed)."""
    from pto_dialect.diagnostics.engine import DiagnosticEngine
    from pto_dialect.diagnostics.source import SourceFile

    source = SourceFile(
        "t.pto",
        """
func.func @f(%c: i1) {
  scf.if %c {
    %x = arith.addi %late, %9 : i32
  }
  %0 = arith.constant 1 : i32
  %late = arith.constant 2 : i32
  %1 = arith.constant 3 : i32
  return
}
""",
    )
    module = parse_program(source, DiagnosticEngine())
    assert module is not None
    printed = print_module(module)
    defined = [line.split(" = ")[0].strip() for line in printed.splitlines() if " = " in line]
    assert len(set(defined)) == len(defined)
    assert "%late = arith.constant 2 : i32" in printed
