"""What check-sync says about flags when it judges them.

Source: docs/reference/synchronisation.md, "Judging a program".
"""

import pytest
from lowering_programs import add, kernel, load, lowered, part, store
from random_tile_programs import RandomProgram

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.passes.accesses.items import Leaf
from pto_dialect.passes.registry import make_pass
from pto_dialect.passes.sync_order.findings import judges
from pto_dialect.passes.sync_order.known import Known

HEAD = (part("p", "a", "c0"), part("q", "b", "c0"))
BARRIER = "pto.barrier <PIPE_MTE3>"
BARRIER_OF_ALL = "pto.barrier <PIPE_ALL>"
LOOP = "scf.for %i = %c0 to %n step %c1 {"


def flag(word: str, source: str, target: str, number: int = 0) -> str:
    return f"pto.{word}_flag[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID{number}>]"


def pair(source: str, target: str, number: int = 0) -> tuple[str, str]:
    return flag("set", source, target, number), flag("wait", source, target, number)


def said(text: str) -> list[Diagnostic]:
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True, max_errors=0))
    make_pass("check-sync{judge=true}", None).run(parse(text, "program.pto"), engine)
    return list(engine.diagnostics)


def rules(*lines: str) -> list[str]:
    return [one.rule for one in said(kernel(*lines))]


def test_flags_that_are_exactly_enough():
    assert (
        rules(*HEAD, load("p", "x"), *pair("MTE2", "V"), add("x", "x", "y"), *pair("V", "MTE3"), store("y", "q")) == []
    )


def test_a_missing_flag_is_an_error_as_before():
    assert rules(*HEAD, load("p", "x"), add("x", "x", "y"), *pair("V", "MTE3"), store("y", "q")) == [
        "sync-static-hazard"
    ]


def test_a_flag_that_is_set_too_late():
    (one,) = said(kernel(*HEAD, load("p", "x"), load("q", "y"), *pair("MTE2", "V"), add("x", "x", "z")))
    assert one.rule == "sync-serialising"
    assert one.message == "V waits for pto.tload (line 20) of MTE2 too, which nothing needs that waits here"
    assert one.help == "set the flag right after pto.tload (line 19)"


def test_a_wait_that_comes_too_early():
    lines = (load("p", "x"), *pair("MTE2", "V"), add("y", "y", "z"), add("x", "x", "z"))
    (one,) = said(kernel(*HEAD, *lines))
    assert one.message == "pto.tadd (line 22) of V waits for MTE2 and depends on nothing of it"
    assert one.help == "wait right before pto.tadd (line 23)"


def test_a_barrier_of_all_pipes_for_one_dependence():
    (one,) = said(kernel(*HEAD, load("p", "x"), "pto.barrier #pto.pipe<PIPE_ALL>", add("x", "x", "y")))
    assert one.rule == "sync-serialising"
    assert one.message == "all pipes wait for each other here, and only V on MTE2 depends"


def test_a_barrier_of_all_pipes_for_two_dependences_and_for_three():
    before = (*HEAD, load("p", "x"), add("y", "y", "z"), BARRIER_OF_ALL)
    (one,) = said(kernel(*before, add("x", "x", "y"), store("z", "q")))
    assert one.message == "all pipes wait for each other here, and only V on MTE2 and MTE3 on V depends"
    assert said(kernel(*before, add("x", "x", "y"), store("z", "q"), store("x", "p"))) == []


def test_the_back_edge_of_a_loop_may_be_missing():
    """Each iteration loads the tile that the one before may still use."""
    body = (load("p", "x"), *pair("MTE2", "V"), add("x", "x", "y"))
    found = said(kernel(*HEAD, LOOP, *body, "}"))
    assert [one.rule for one in found] == ["sync-static-hazard"]


def test_rows_of_their_own_are_proved_to_be_apart():
    """For every number of iterations: no flag leads from a store to the load of the next 16 rows."""
    rows = ("%r = arith.muli %i, %c16 : index", part("p", "a", "r"))
    body = (flag("wait", "MTE3", "MTE2"), load("p", "x"), *pair("MTE2", "MTE3"), store("x", "p"))
    prepared = (flag("set", "MTE3", "MTE2"), LOOP, *rows, *body, flag("set", "MTE3", "MTE2"), "}")
    assert rules(*prepared, flag("wait", "MTE3", "MTE2")) == []


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("seed", range(8))
def test_what_insert_sync_puts_is_proved_and_nothing_of_it_is_needless(seed: int, target: str):
    module, _ = lowered(RandomProgram(seed, target).text)
    found = [one.rule for one in said(print_module(module))]
    assert "sync-undecided" not in found
    assert "sync-redundant" not in found


@pytest.mark.parametrize("seed", [3, 5, 8])
def test_without_any_one_flag_the_proof_fails(seed: int):
    module, _ = lowered(RandomProgram(seed, "a5").text)
    lines = print_module(module).splitlines()
    flags = {line.strip().replace("set_flag", "wait_flag") for line in lines if "set_flag" in line}
    assert flags
    for one in flags:
        less = [line for line in lines if line.strip().replace("set_flag", "wait_flag") != one]
        reported = {found.rule for found in said("\n".join(less))}
        assert reported & {"order-refuted", "sync-static-hazard", "sync-undecided"}, one


def test_what_only_the_next_iteration_needs_is_found_in_the_loop(monkeypatch: pytest.MonkeyPatch):
    """The second store of an iteration comes after the first of the one before: no run of what is around the loop."""
    around = [line for _ in range(40) for line in (load("p", "x"), *pair("MTE2", "V"), add("x", "x", "y"))]
    loop = (LOOP, BARRIER, store("z", "q"), add("x", "x", "x"), "}")
    (judge,) = judges(next(iter(parse(kernel(*HEAD, *around, *loop, *around)).ops)), None)
    (group,) = [group for group in judge.groups() if group.signals[0].kind == "barrier"]
    steps: list[Leaf] = []
    step = Known.step

    def counted(state: Known, leaf: Leaf) -> int:
        steps.append(leaf)
        return step(state, leaf)

    monkeypatch.setattr(Known, "step", counted)
    assert not judge.dispensable(group)
    assert 2 <= len(steps) < 20


@pytest.mark.parametrize("is_ordered", [True, False])
def test_the_prover_decides_what_depends_on_memory(is_ordered: bool):
    """The clocks follow no loop whose condition reads memory."""
    back = pair("V", "MTE2") if is_ordered else ()
    lines = (
        "%zero = arith.constant 0.0 : f32",
        "%end = scf.while (%i = %c0) : (index) -> index {",
        "%is = pto.load_scalar %a[%i] : !pto.ptr<f32> -> f32",
        "%more = arith.cmpf ogt, %is, %zero : f32",
        "scf.condition(%more) %i : index",
        "} do {",
        "^bb0(%j: index):",
        load("q", "x"),
        *pair("MTE2", "V"),
        add("x", "x", "y"),
        *back,
        "%next = arith.addi %j, %c1 : index",
        "scf.yield %next : index",
        "}",
    )
    found = rules(*HEAD, *lines)
    assert ("order-proven" in found, "sync-undecided" in found) == (is_ordered, not is_ordered)
