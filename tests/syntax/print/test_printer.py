"""The printer as a whole: layout, locations, depth, effort."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial

import pytest
from parse_helpers import parsed
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core_dialects.core_ops import core_class
from pto_dialect.syntax.compare import same_module
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program


def read(text: str) -> ModuleOp:
    module, found = parsed(text)
    assert module is not None and found == [], (found, text)
    return module


@pytest.mark.parametrize("generic", [False, True])
def test_text_ends_with_one_newline(generic: bool) -> None:
    text = print_module(read("func.func @f() {\nreturn\n}"), generic=generic)
    assert text.endswith("}\n" if not generic else ") : () -> ()\n")
    assert not text.endswith("\n\n")


def test_locations() -> None:
    source = SourceFile(
        'dir/a "b".pto',
        """func.func @f(%c: i1) {
  %x,
  %y = "other.op"() : () -> (i32, i32)
  scf.if %c {
    pto.trap   // why
  } else { pto.trap }
    return
}
""",
    )
    module = parse_program(source, DiagnosticEngine())
    assert module is not None
    text = print_module(module, debuginfo=True)
    assert (
        text
        == """module {
  func.func @f(%c: i1) {
    %x, %y = "other.op"() : () -> (i32, i32) loc("dir/a \\22b\\22.pto":2:3)
    scf.if %c {
      pto.trap loc("dir/a \\22b\\22.pto":5:5)
    } else {
      pto.trap loc("dir/a \\22b\\22.pto":6:12)
    } loc("dir/a \\22b\\22.pto":4:3)
    return loc("dir/a \\22b\\22.pto":7:5)
  } loc("dir/a \\22b\\22.pto":1:1)
} loc("dir/a \\22b\\22.pto":1:1)
"""
    )
    again, found = parsed(text)
    assert again is not None and [entry[0] for entry in found] == ["dialect-unregistered"]
    assert same_module(again, module) is None
    generic = print_module(module, debuginfo=True, generic=True)
    assert '"pto.trap"() : () -> () loc("dir/a \\22b\\22.pto":5:5)' in generic
    assert same_module(parsed(generic)[0], module) is None


def test_statements_without_a_location_of_their_own() -> None:
    cls = core_class("func.return")
    assert cls is not None
    module = ModuleOp.create(regions=[Region(Block([cls.create()]))])
    assert print_module(module, debuginfo=True) == "module {\n  func.return loc(unknown)\n} loc(unknown)\n"


def nested(depth: int) -> str:
    lines = ["module {", "  func.func @f(%c: i1) {"]
    for level in range(depth):
        indent = "  " * (level + 2)
        lines += [f"{indent}%v{level} = arith.constant {level} : i32", f"{indent}scf.if %c {{"]
    for level in reversed(range(depth)):
        lines.append("  " * (level + 2) + "}")
    return "\n".join([*lines, "    return", "  }", "}", ""])


def test_printing_does_not_recurse() -> None:
    text = nested(900)
    module = read(text)
    room = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    try:
        assert print_module(module) == text
        assert print_module(module, generic=True)
    finally:
        sys.setrecursionlimit(room)
    assert same_module(read(print_module(module, generic=True)), module) is None


def wide(size: int) -> ModuleOp:
    """Many statements with equal names, in one block and in many regions."""
    flat = "\n".join(f"%c{n} = arith.constant {n} : i32\n%s{n} = arith.addi %c{n}, %c0 : i32" for n in range(size))
    loops = "\n".join(f"scf.if %p {{ %t = arith.constant {n} : i32 }}" for n in range(size))
    module = read(f"func.func @f(%p: i1) {{\n{flat}\n{loops}\nreturn\n}}\n")
    for op in module.walk():
        for result in op.results:
            result._name = "c"
    return module


def branches(size: int) -> ModuleOp:
    """Many blocks."""
    blocks = "\n".join(f"^b{n}:\n  %c{n} = arith.constant {n} : i32\n  cf.br ^b{n + 1}" for n in range(size))
    return read(f"func.func @f() {{\ncf.br ^b0\n{blocks}\n^b{size}:\n  return\n}}\n")


def calls(work: Callable[[], object]) -> int:
    """Number of calls, Python's and C's, that ``work`` makes."""
    count = 0

    def hook(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(hook)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("make", [wide, branches])
def test_effort_grows_with_the_length_of_the_text(make: Callable[[int], ModuleOp]) -> None:
    small, large = make(100), make(800)
    for generic in (False, True):
        print_module(small, generic=generic)
        effort = [calls(partial(print_module, module, generic=generic)) for module in (small, large)]
        assert effort[1] < 8.5 * effort[0]


def test_printing_needs_neither_numpy_nor_the_interpreter() -> None:
    code = (
        "import sys, pto_dialect.syntax.print.printer, pto_dialect.syntax.compare\n"
        "sys.exit(any(name == 'numpy' or name.startswith('pto_dialect.runtime') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
