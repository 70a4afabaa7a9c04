"""Numbers of which each is computed from the one before, used twice: the last one stands for more uses of the first
than a program could count, and everything that follows numbers takes time in proportion to the text."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from lowering_programs import TILE, kernel, load, part, store
from parse_helpers import parsed
from xdsl.ir import Operation

from pto_dialect.analysis import program_slice
from pto_dialect.analysis.abstract_values import ExpressionTable, fresh_unknown, unknown_leaves
from pto_dialect.analysis.affine import AffineAnalysis
from pto_dialect.passes.registry import PASS_TABLE

LINKS = 80
CHAINS = {
    "sums": "{b} = arith.addi {a}, {a} : index",
    "products": "{b} = arith.muli {a}, {a} : index",
    "quotients": "{b}x = arith.addi {a}, %c1 : index\n{b} = arith.divsi {a}, {b}x : index",
    "maxima": "{b}x = arith.addi {a}, %c1 : index\n{b} = arith.maxsi {a}, {b}x : index",
    "maps": '{b} = "affine.apply"({a}, {a}) <{{map = affine_map<(d0, d1) -> (d0 + d1)>}}> : (index, index) -> index',
    "choices": "{b}c = arith.cmpi slt, {a}, %c4 : index\n{b}x = arith.addi {a}, {a} : index\n"
    "{b} = arith.select {b}c, {a}, {b}x : index",
    "casts": "{b}x = arith.index_cast {a} : index to i64\n{b}y = arith.addi {b}x, {b}x : i64\n"
    "{b} = arith.index_cast {b}y : i64 to index",
    "branches": "{b}c = arith.cmpi slt, {a}, %c4 : index\n{b} = scf.if {b}c -> (index) {{\n"
    "{b}x = arith.addi {a}, {a} : index\nscf.yield {b}x : index\n}} else {{\nscf.yield {a} : index\n}}",
    "loops": "{b} = scf.for {b}i = %c0 to {a} step %c1 iter_args({b}x = {a}) -> (index) {{\n"
    "{b}y = arith.addi {b}x, {b}x : index\nscf.yield {b}y : index\n}}",
}
FLAGS = [f'pto.{kind}_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]' for kind in ("set", "wait")]
BACK = [f'pto.{kind}_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID0"]' for kind in ("set", "wait")]
MOVED = [load("pa", "x"), *FLAGS, store("x", "pb"), *BACK]
USES = {
    "bound": ["%to = arith.addi %last, %c1 : index", part("pa", "a", "c0"), part("pb", "b", "c0"),
              "scf.for %i = %c0 to %to step %c1 {", *MOVED, "}"],
    "offset": ["scf.for %i = %c0 to %c2 step %c1 {", "%row = arith.addi %i, %last : index", part("pa", "a", "row"),
               part("pb", "a", "last"), *MOVED, "}"],
    "condition": [part("pa", "a", "c0"), part("pb", "b", "c0"), "%few = arith.cmpi slt, %last, %c4 : index",
                  "scf.if %few {", *MOVED, "}", "scf.if %few {", *MOVED, "}"],
    "number": [part("pa", "a", "c0"), part("pb", "b", "c0"), load("pa", "x"),
               *(f'pto.{kind}_flag_dyn["PIPE_MTE2", "PIPE_MTE3", %last]' for kind in ("set", "wait")),
               store("x", "pb")],
    "address": [part("pa", "a", "c0"), "%at = arith.index_cast %last : index to i64",
                f"%place = pto.alloc_tile addr = %at : {TILE}", load("pa", "place"), *FLAGS, store("place", "pa")],
}  # fmt: skip
LEFT_OUT = ("verify-structure", "verify-locations", "verify-type-triples", "verify-shapes", "to-assembly")
"""Passes that every other run has as well, and one that does not take tiles that are allocated."""


def chain(kind: str, first: str = "%n", links: int = LINKS, name: str = "last") -> list[str]:
    """%last is the end of a chain that begins with ``first``."""
    values = [first, *(f"%{name}{number}" for number in range(links - 1)), f"%{name}"]
    return [CHAINS[kind].format(a=a, b=b) for a, b in pairwise(values)]


def run(path: Path, text: str, tool: str, *options: str) -> str:
    path.write_text(text)
    main = import_module(f"pto_dialect.tools.{tool}").main
    result = CliRunner().invoke(main, ["--no-cache", *options, str(path)])
    assert result.exit_code == 0, (options, result.output)
    return result.output


@pytest.mark.parametrize(("kind", "use"), [*((kind, "bound") for kind in CHAINS), *(("products", use) for use in USES)])
def test_checks_of_flags_and_memory(kind: str, use: str, tmp_path: Path) -> None:
    text = kernel(*chain(kind), *USES[use])
    run(tmp_path / "k.pto", text, "pto_opt", "-p", "check-sync{judge=true},check-memory")


@pytest.mark.parametrize("name", [name for name in PASS_TABLE if name not in LEFT_OUT])
def test_passes(name: str, tmp_path: Path) -> None:
    text = kernel(*chain("products"), *USES["offset"])
    if name in ("insert-sync", "double-buffer"):
        text = "".join(line for line in text.splitlines(True) if "_flag" not in line)
    run(tmp_path / "k.pto", text, "pto_opt", "-p", name)


@pytest.mark.parametrize("options", [["--quiet"], ["--sanitize"], ["--emit-python"], ["--cycles"]], ids=" ".join)
@pytest.mark.parametrize("kind", ["choices", "branches"])
def test_runs(kind: str, options: list[str], tmp_path: Path) -> None:
    """Zero stays zero along every chain."""
    arguments = ["n=0", "a=ones:f32:256x16", "b=zeros:f32:256x16"]
    given = [word for argument in arguments for word in ("--arg", argument)]
    run(tmp_path / "k.pto", kernel(*chain(kind), *USES["bound"]), "pto_run", *given, *options)


@pytest.mark.parametrize(
    "options", [[], ["--print-op-generic"], ["--stats"], ["--cycles"], ["--memory-report"]], ids=str
)
@pytest.mark.parametrize("kind", ["maps", "branches"])
def test_what_is_printed(kind: str, options: list[str], tmp_path: Path) -> None:
    run(tmp_path / "k.pto", kernel(*chain(kind), *USES["bound"]), "pto_opt", *options)


@pytest.mark.parametrize("use", ["bound", "offset"])
@pytest.mark.parametrize("links", [30, LINKS])
def test_numbers_that_no_machine_word_holds(use: str, links: int, tmp_path: Path) -> None:
    """The square of a square of 4, and so on: its digits are not computed."""
    text = kernel(*chain("products", "%c4", links), *USES[use])
    run(tmp_path / "k.pto", text, "pto_opt", "-p", "check-sync{judge=true},check-memory,remove-redundant-sync")


# ------------------------------------------------------------ what follows numbers


def scalars(*lines: str) -> list[Operation]:
    head = ["%c1 = arith.constant 1 : index", "%c3 = arith.constant 3 : index"]
    module, errors = parsed("\n".join(["func.func @f(%n: index) {", *head, *lines, "return", "}"]))
    assert module is not None and not errors
    return list(module.walk())


def test_each_operation_is_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ops = scalars(*chain("sums"))
    function = next(op for op in ops if op.name == "func.func")
    last = ops[-2]
    asked: list[object] = []

    def counted(value: object, kind: type) -> bool:
        asked.append(value)
        assert len(asked) <= 2 * LINKS + 10
        return isinstance(value, kind)

    monkeypatch.setattr(program_slice, "isinstance", counted, raising=False)
    found, around = program_slice.compute_slice(function, lambda op: op is last, lambda op: op.operands)
    assert sum(op.name == "arith.addi" for op in found) == LINKS
    assert around == {last, function, function.parent_op()}


def expressions(made: ExpressionTable, links: int = LINKS) -> Iterator[object]:
    number = made.intern(fresh_unknown(made, 1))
    for _ in range(links):
        number = made.intern(("sum", number, number))
        yield number


def test_equal_expressions_are_one_object() -> None:
    made = ExpressionTable()
    first, again = (list(expressions(made)) for _ in range(2))
    assert all(one is other for one, other in zip(first, again, strict=True))
    assert len(set(first)) == LINKS
    assert unknown_leaves(first[-1]) == {(id(made), 1)}  # pyright: ignore[reportArgumentType]


def test_expressions_are_equal_as_their_parts_are() -> None:
    """Also those of two walks, and what is no expression of either."""
    ((*_, one), (*_, same)) = (expressions(ExpressionTable(), 4) for _ in range(2))
    made = ExpressionTable()
    known = made.intern(("sum", 1, ("x",)))
    assert known == ("sum", 1, ("x",)) and hash(known) == hash(("sum", 1, ("x",)))
    assert known == ExpressionTable().intern(("sum", 1, ("x",))) != made.intern(("sum", 2, ("x",)))
    assert one != same and made.intern(7) == 7 and made.intern(known) is known


def test_what_a_long_expression_depends_on() -> None:
    """More links than functions may call one another."""
    made = ExpressionTable()
    assert unknown_leaves(list(expressions(made, 5000))[-1]) == {(id(made), 1)}  # pyright: ignore[reportArgumentType]


def test_sums_of_equal_products() -> None:
    ops = scalars(*chain("products", links=30, name="one"), *chain("products", links=30, name="other"))
    *_, one = [op for op in ops if op.results and (op.results[0].name_hint or "").startswith("one")]
    *_, other = [op for op in ops if op.results and (op.results[0].name_hint or "").startswith("other")]
    sums = AffineAnalysis()
    assert sums.expression_of(one.results[0]).minus(sums.expression_of(other.results[0])).constant_value == 0
    assert sums.expression_of(one.results[0]).minus(sums.expression_of(one.operands[0])).constant_value is None


def test_sums_keep_numbers_of_a_machine_word() -> None:
    ops = [op for op in scalars(*chain("products", "%c3", 30)) if op.name == "arith.muli"]
    sums = AffineAnalysis()
    found = [sums.expression_of(op.results[0]).constant_value for op in ops]
    assert found[:5] == [3**2**power for power in range(1, 6)]
    assert found[-1] is None
