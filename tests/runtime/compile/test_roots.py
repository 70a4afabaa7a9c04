"""Which cores start what: the functions, kinds of cores and arguments of a launch
(docs/reference/execution.md, "Which core runs what")."""

from __future__ import annotations

import pytest
from parse_helpers import parsed
from xdsl.ir import Operation

from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.runtime.compile.program import (
    Program,
    Symbols,
    find_entry,
    find_program,
    functions_by_unit,
    symbol_of,
)
from pto_dialect.runtime.errors import ProgramError

NUMBER = "%i = pto.get_subblock_idx"
BARRIER = "pto.barrier <PIPE_ALL>"
CUBE, VECTOR = (f"#pto.kernel_kind<{kind}>" for kind in ("cube", "vector"))


def function(name: str, *lines: str, kind: str = "", marks: str = "", arguments: str = "") -> str:
    attributes = ", ".join(part for part in (f"pto.kernel_kind = {kind}" if kind else "", marks) if part)
    stated = f" attributes {{{attributes}}}" if attributes else ""
    return "\n  ".join([f"func.func @{name}({arguments}){stated} {{", *lines, "return\n}"])


def program(*functions: str, entry: str | None = None) -> Program:
    module, _ = parsed('module attributes {pto.target_arch = "a5"} {\n' + "\n".join(functions) + "\n}")
    return find_program(module, find_entry(module, entry), "a5")


def started(found: Program) -> dict[str, str]:
    return {core: symbol_of(root.function) for core, root in found.roots.items()}


SECTIONS = {kind: f"pto.section.{kind} {{\n{BARRIER}\n}}" for kind in ("cube", "vector")}


@pytest.mark.parametrize(
    ("functions", "cores"),
    [
        ([function("k", BARRIER)], {"all": "k"}),
        ([function("k", BARRIER, kind=CUBE)], {"all": "k"}),
        ([function("k", BARRIER, kind=VECTOR)], {"all": "k"}),
        # What needs the number of its vector core runs on both of them, where the function states its kind.
        ([function("k", NUMBER, kind=VECTOR)], {"aiv": "k"}),
        ([function("k", NUMBER, kind=CUBE)], {"all": "k"}),
        ([function("k", NUMBER)], {"all": "k"}),
        ([function("k", SECTIONS["cube"], SECTIONS["vector"])], {"aic": "k", "aiv": "k"}),
        ([function("k", SECTIONS["vector"])], {"all": "k"}),
        ([function("k", SECTIONS["cube"])], {"all": "k"}),
        # Kinds of called functions count as sections do.
        ([function("k", "func.call @c() : () -> ()", "func.call @v() : () -> ()"),
          function("c", BARRIER, kind=CUBE), function("v", BARRIER, kind=VECTOR)], {"aic": "k", "aiv": "k"}),
    ],
)  # fmt: skip
def test_cores_of_one_function(functions: list[str], cores: dict[str, str]) -> None:
    assert started(program(*functions, entry="k")) == cores


RESERVE = '%b = pto.reserve_buffer {name = "q", size = 1024, location = #pto.address_space<mat>, auto = true} -> i32'
IMPORT = '%b = pto.import_reserved_buffer {name = "q", peer_func = @one} -> i32'


@pytest.mark.parametrize("entry", ["one", "two"])
def test_cores_of_a_pair(entry: str) -> None:
    """Two kernels of which one imports a buffer of the other start together, whichever is named."""
    found = program(
        function("one", RESERVE, kind=CUBE, arguments="%n: i32"),
        function("two", IMPORT, kind=VECTOR, arguments="%n: i32"),
        function("other", BARRIER, kind=VECTOR),
        entry=entry,
    )
    assert started(found) == {"aic": "one", "aiv": "two"}
    assert [symbol_of(one) for one in found.functions] == ([entry, "one"] if entry == "two" else [entry, "two"])


def test_a_kernel_with_two_peers() -> None:
    functions = [
        function("one", RESERVE, kind=CUBE),
        *(function(name, IMPORT, kind=VECTOR) for name in ("two", "three")),
    ]
    with pytest.raises(ProgramError, match=r"@one has several peers \(@two, @three\)"):
        program(*functions, entry="one")


def test_functions_of_a_program_are_those_that_it_reaches() -> None:
    found = program(
        function("k", "func.call @a() : () -> ()"),
        function("a", "func.call @b() : () -> ()"),
        function("b", BARRIER),
        function("c", BARRIER),
        entry="k",
    )
    assert [symbol_of(one) for one in found.functions] == ["k", "a", "b"]


def test_recursion_is_refused() -> None:
    call = "func.call @{}() : () -> ()"
    with pytest.raises(ProgramError, match="@k calls itself"):
        program(function("k", call.format("a")), function("a", call.format("k")), entry="k")


@pytest.mark.parametrize(
    ("functions", "entry"),
    [
        ([function("a", BARRIER)], "a"),
        ([function("a", BARRIER), function("b", BARRIER, marks="pto.entry")], "b"),
        # Who calls another is the one that is meant.
        ([function("a", BARRIER), function("b", "func.call @a() : () -> ()")], "b"),
        ([function("a", BARRIER), function("b", BARRIER)], None),
        ([function("a", BARRIER, marks="pto.entry"), function("b", BARRIER, marks="pto.entry")], None),
    ],
)
def test_entry_where_none_is_named(functions: list[str], entry: str | None) -> None:
    module, _ = parsed("\n".join(functions))
    if entry is None:
        with pytest.raises(ProgramError, match="give the entry function; candidates: @a, @b"):
            find_entry(module, None)
    else:
        assert find_entry(module, None) == entry


def test_entries_that_do_not_exist() -> None:
    module, _ = parsed("\n".join(function(name, BARRIER) for name in ("first", "second")))
    with pytest.raises(ProgramError, match=r"no function @frist; did you mean first\?"):
        find_entry(module, "frist")
    with pytest.raises(ProgramError, match="no function @else; there are first, second"):
        find_entry(module, "else")


def calls(module: Operation) -> list[Operation]:
    return [op for op in module.walk() if has_role(op, Role.CALL)]


def test_who_runs_a_call() -> None:
    """Where cores of both kinds take part, those of the callee's kind, unless the call is in code of that kind."""
    both = program(
        function("k", SECTIONS["cube"], SECTIONS["vector"], "func.call @v() : () -> ()",
                 "pto.section.vector {\nfunc.call @v() : () -> ()\n}", "func.call @p() : () -> ()"),
        function("v", BARRIER, kind=VECTOR),
        function("p", BARRIER),
        entry="k",
    )  # fmt: skip
    guards = [both.guard(call, both.symbols.callee(call)) for call in calls(both.entry)]  # type: ignore[arg-type]
    assert guards == ["vector", None, None]
    alone = program(function("k", "func.call @v() : () -> ()"), function("v", BARRIER, kind=VECTOR), entry="k")
    assert [alone.guard(call, alone.symbols.callee(call)) for call in calls(alone.entry)] == [None]  # type: ignore[arg-type]


def test_functions_of_vector_scopes() -> None:
    """What scopes call is one instruction among others, what the code around calls is not; some are both."""
    call = "func.call @{}() : () -> ()"
    found = program(
        function("k", call.format("a"), call.format("c"), "pto.vecscope {", call.format("b"), call.format("c"), "}"),
        *(function(name, call.format("d") if name == "b" else BARRIER) for name in "abcd"),
        entry="k",
    )
    outer, inner = functions_by_unit(found)
    assert [symbol_of(one) for one in outer] == [n for n in map(symbol_of, found.functions) if n in ("k", "a", "c")]
    assert sorted(symbol_of(one) for one in inner) == ["b", "c", "d"]
    assert all(one in Symbols(found.entry.parent_op()).first.values() for one in inner)  # type: ignore[arg-type]
