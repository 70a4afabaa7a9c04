"""What is nested deeply, or stands for much through aliases, is worked on in linear time up to a limit, and beyond it
is an error at its location."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from time import process_time

import pytest
from parse_helpers import parsed
from xdsl.dialects.builtin import ArrayAttr

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import process
from pto_dialect.driver.statistics import collect
from pto_dialect.ir.core.walk import walk
from pto_dialect.nesting import ALIAS_SIZE, ANGLES, FUNCTIONS, LIMIT
from pto_dialect.passes.registry import PASS_TABLE, VERIFY_PASSES
from pto_dialect.passes.run import run_passes
from pto_dialect.syntax.compare import same_module
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program


@pytest.fixture(autouse=True)
def usual_recursion_limit() -> Iterator[None]:
    """Every test starts with the stack that a fresh process has."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


def function(body: str) -> str:
    constants = "%t = arith.constant true\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
    return f"func.func @f() {{\n{constants}{body}\nreturn\n}}\n"


def attribute(text: str) -> str:
    return function(f'"test.op"() {{x = {text}}} : () -> ()')


def of_type(text: str) -> str:
    return function(f'%x = "test.op"() : () -> ({text})')


ASSEMBLY = ".arg %a : !pto.tile<8x8xf32>\n"

# Regions: the module and the function are levels as well.
DEEP: dict[str, tuple[Callable[[int], str], int]] = {
    "scf.for": (
        lambda n: function(
            "".join(f"scf.for %i{k} = %c0 to %c1 step %c1 {{\n" for k in range(n - 2)) + "}\n" * (n - 2)
        ),
        LIMIT,
    ),
    "scf.if": (lambda n: function("scf.if %t {\n" * (n - 2) + "}\n" * (n - 2)), LIMIT),
    "else": (lambda n: function("scf.if %t {\n} else {\n" * (n - 2) + "}\n" * (n - 2)), LIMIT),
    "scf.while": (
        lambda n: function(
            "scf.while : () -> () {\nscf.condition(%t)\n} do {\n" * (n - 2) + "scf.yield\n}\n" * (n - 2)
        ),
        LIMIT,
    ),
    "generic": (lambda n: function('"test.op"() ({\n' * (n - 2) + "}) : () -> ()\n" * (n - 2)), LIMIT),
    "module": (lambda n: "module {\n" * n + "}\n" * n, LIMIT),
    "after a module": (
        lambda n: "module {\n}\n" + '"test.op"() ({\n' * (n - 1) + "}) : () -> ()\n" * (n - 1),
        LIMIT,
    ),
    "assembly": (lambda n: ASSEMBLY + '"test.op"() ({\n' * (n - 2) + "}) : () -> ()\n" * (n - 2), LIMIT),
    "array": (lambda n: attribute("[" * n + "]" * n), LIMIT),
    "dictionary": (lambda n: attribute("{y = " * n + "1 : i32" + "}" * n), LIMIT),
    "affine map": (lambda n: attribute("affine_map<(d0) -> (" + "(" * (n - 1) + "d0" + " + 1)" * n + ">"), LIMIT),
    "call site": (
        lambda n: function(
            '"test.op"() : () -> () loc(' + 'callsite("a" at ' * (n - 1) + '"f":1:1' + ")" * (n - 1) + ")"
        ),
        LIMIT,
    ),
    "array aliases": (
        lambda n: "#a1 = [1]\n" + "".join(f"#a{i} = [#a{i - 1}]\n" for i in range(2, n + 1)) + attribute(f"#a{n}"),
        LIMIT,
    ),
    "function type": (lambda n: of_type("(" * n + "i32" + ") -> i32" * n), FUNCTIONS),
    "function result": (lambda n: of_type("() -> (" * n + "i32" + ")" * n), FUNCTIONS),
    "tuple": (lambda n: of_type("tuple<" * n + "i32" + ">" * n), ANGLES),
    "unknown type": (lambda n: of_type("!foo.t" + "<" * n + "i32" + ">" * n), ANGLES),
    "unknown attribute": (lambda n: attribute("#foo.a" + "<" * n + "i32" + ">" * n), ANGLES),
    "type aliases": (
        lambda n: "!a0 = i32\n" + "".join(f"!a{i} = tuple<!a{i - 1}>\n" for i in range(1, n + 1)) + of_type(f"!a{n}"),
        ANGLES,
    ),
}


@pytest.mark.parametrize("name", DEEP)
def test_everything_works_at_the_limit(name: str) -> None:
    make, limit = DEEP[name]
    module, found = parsed(make(limit))
    assert {rule for rule, *_ in found} <= {"dialect-unregistered"}, found[:3]
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    # Paths through conditions are many; that they are not all followed is tested with the check itself.
    # The assembly form has no loops, and says so.
    passes = [each for each in PASS_TABLE if each != "to-assembly"] if name == "scf.for" else VERIFY_PASSES
    run_passes(module, passes, engine, None)
    assert not engine.has_errors, engine.diagnostics[0]
    for generic in (False, True):
        text = print_module(module, generic=generic, portable=False)
        again, found = parsed(text)
        assert {rule for rule, *_ in found} <= {"dialect-unregistered"}
        assert same_module(module, again) is None
    print_module(module, debuginfo=True)
    assert collect(module, "t.pto", None).module.function is None


@pytest.mark.parametrize("name", ["scf.if", "array", "dictionary"])
def test_recursion_of_other_tools_fits_below_the_limit(name: str) -> None:
    if name == "scf.if" and sys.version_info[:2] == (3, 12):
        pytest.skip("CPython 3.12 limits recursion through C, as xDSL has it for regions, whatever limit is set")
    make, limit = DEEP[name]
    module, _ = parsed(make(limit))
    assert module.clone().is_structurally_equivalent(module)
    assert list(walk(module)) == list(module.walk())


@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize("more", [1, 20_000])
def test_beyond_the_limit_is_one_error(name: str, more: int) -> None:
    make, limit = DEEP[name]
    if name.endswith("aliases"):
        more = min(more, 2_000)
    result = process(make(limit + more), "t.pto", Options(printing=True))
    errors = [diagnostic for diagnostic in result.diagnostics if diagnostic.rule != "dialect-unregistered"]
    assert [(error.rule, f"{limit:,}" in error.message) for error in errors] == [("nesting-limit", True)]
    span = errors[0].span
    assert span is not None
    assert span.start > 0


def test_location_of_the_region_that_is_too_deep() -> None:
    text = function("scf.if %t {\n" * 1200 + "}\n" * 1200)
    _, found = parsed(f"module {{\n{text}}}\n")
    # The module, the function, three constants and all conditions that are allowed are above the line.
    assert [entry[:3] for entry in found] == [("nesting-limit", 1 + 1 + 3 + (LIMIT - 2) + 1, 11)]


DOUBLING = {
    "array": ("#a0 = 1 : i32\n", "#a{} = [#a{}, #a{}]\n", lambda n: attribute(f"#a{n}"), "alias-size"),
    "dictionary": ("#a0 = 1 : i32\n", "#a{} = {{x = #a{}, y = #a{}}}\n", lambda n: attribute(f"#a{n}"), "alias-size"),
    "function": ("!a0 = i32\n", "!a{} = (!a{}) -> !a{}\n", lambda n: of_type(f"!a{n}"), "alias-size"),
    "tuple": ("!a0 = i32\n", "!a{} = tuple<!a{}, !a{}>\n", lambda n: of_type(f"!a{n}"), "nesting-limit"),
    "text": ("#a0 = #foo.x<a>\n", "#a{} = #foo.x<#a{} #a{}>\n", lambda n: attribute(f"#a{n}"), "nesting-limit"),
}


@pytest.mark.parametrize("name", DOUBLING)
@pytest.mark.parametrize("levels", [30, 1500])
def test_aliases_that_double(name: str, levels: int) -> None:
    first, step, use, rule = DOUBLING[name]
    text = first + "".join(step.format(i, i - 1, i - 1) for i in range(1, levels + 1)) + use(levels)
    result = process(text, "t.pto", Options(printing=True))
    errors = [diagnostic.rule for diagnostic in result.diagnostics if diagnostic.rule != "dialect-unregistered"]
    assert errors in ([rule], [rule, rule])


def test_location_of_an_alias_that_stands_for_too_much() -> None:
    first, step, _, _ = DOUBLING["array"]
    text = first + "".join(step.format(i, i - 1, i - 1) for i in range(1, 31))
    found = process(text, "t.pto", Options(printing=True)).diagnostics
    (span,) = {diagnostic.span for diagnostic in found if diagnostic.rule == "alias-size" and diagnostic.span}
    number = text.count("\n", 0, span.start)
    # The whole meaning, which is after the name.
    assert text[span.start : span.end] == f"[#a{number - 1}, #a{number - 1}]"


def test_shared_attributes_stay_shared() -> None:
    text = "#a0 = 1 : i32\n" + "".join(f"#a{i} = [#a{i - 1}, #a{i - 1}]\n" for i in range(1, 10))
    module, found = parsed(text + attribute("[#a9, #a9]"))
    assert {rule for rule, *_ in found} == {"dialect-unregistered"}
    (value,) = [op.attributes["x"] for op in walk(module) if "x" in op.attributes]
    for _ in range(10):
        assert isinstance(value, ArrayAttr)
        assert value.data[0] is value.data[1]
        value = value.data[0]


@pytest.mark.parametrize("use", ['"test.op"() {{x = {0}}} : () -> ()', '%x{1} = "test.op"() : () -> {0}'])
def test_many_uses_of_a_large_alias_are_counted(use: str) -> None:
    kind = "#" if "{{" in use else "!"
    meaning = f'"{"x" * 60_000}"' if kind == "#" else f'!foo.t<"{"x" * 60_000}">'
    uses = "\n".join(use.format(f"{kind}a", number) for number in range(400))
    _, found = parsed(f"{kind}a = {meaning}\n{function(uses)}")
    wrong = [entry for entry in found if entry[0] != "dialect-unregistered"]
    assert [entry[0] for entry in wrong] == ["alias-size"]
    assert "in total" in wrong[0][3]
    assert wrong[0][1] > 100


def test_alias_of_the_largest_size() -> None:
    meaning = f'"{"x" * (ALIAS_SIZE - 2)}"'
    for text, wrong in ((f"#a = {meaning}\n#b = #a\n", []), (f"#a = {meaning}\n#b = [#a, #a]\n", ["alias-size"])):
        assert [rule for rule, *_ in parsed(text + function(""))[1]] == wrong


def test_one_line_of_many_errors_is_linear() -> None:
    source = SourceFile("t.pto", function('"test.op"() : () -> (' + "!pto.tile<" * 100_000 + "i32" + ">" * 100_000))
    engine = DiagnosticEngine()
    parse_program(source, engine)
    assert engine.has_errors


def test_one_line_of_many_braces_is_linear() -> None:
    source = SourceFile("t.pto", function('"test.op"() {a = ' + "}" * 2_500_000 + " : () -> ()"))
    engine, begin = DiagnosticEngine(), process_time()
    parse_program(source, engine)
    assert engine.has_errors
    assert process_time() - begin < 12, "two seconds, or half a minute where the line is measured at every brace"
