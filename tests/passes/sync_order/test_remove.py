"""What remove-redundant-sync takes out, what it leaves, and what it says. Source: docs/reference/synchronisation.md,
"Judging a program".
"""

from random import Random

import pytest
from lowering_programs import SCHEDULES, add, disorder, kernel, load, lowered, part, results, store
from random_tile_programs import RandomProgram, arguments

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.passes.registry import pass_class

HEAD = (part("p", "a", "c0"), part("q", "b", "c0"))
LOOP = "scf.for %i = %c0 to %n step %c1 {"
ALL = "pto.barrier #pto.pipe<PIPE_ALL>"


def flag(word: str, source: str, target: str, number: int = 0) -> str:
    return f"pto.{word}_flag[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID{number}>]"


def pair(source: str, target: str, number: int = 0) -> tuple[str, str]:
    return flag("set", source, target, number), flag("wait", source, target, number)


def removed(text: str) -> tuple[str, list[Diagnostic]]:
    """The program without what is needless, and what is reported of it."""
    module = parse(text, "program.pto")
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True, max_errors=0))
    pass_class("remove-redundant-sync")(target=None).run(module, engine)
    return print_module(module), list(engine.diagnostics)


def gone(*lines: str, target: str = "a5") -> list[str]:
    """The signals among ``lines`` that go, in one pass; a second one finds nothing."""
    before = kernel(*lines, target=target)
    after, _ = removed(before)
    assert removed(after) == (after, [])
    left = [line.strip() for line in after.splitlines()]
    lost: list[str] = []
    for line in (line.strip() for line in print_module(parse(before)).splitlines()):
        if line in left:
            left.remove(line)
        else:
            lost.append(line)
    return lost


def test_what_a_chain_orders_needs_no_flag_of_its_own():
    """The store knows of the sum, which knew of the load."""
    direct = pair("MTE2", "MTE3")
    chain = (load("p", "x"), direct[0], *pair("MTE2", "V"), add("x", "x", "y"), *pair("V", "MTE3"), direct[1])
    assert gone(*HEAD, *chain, store("y", "q"), store("x", "p")) == list(direct)
    _, (said,) = removed(kernel(*HEAD, *chain, store("y", "q"), store("x", "p")))
    assert said.rule == "sync-removed"
    assert "pto.tstore (line 28) depends on pto.tload (line 19)" in said.message
    assert said.message.endswith(
        "and pto.set_flag (line 21), pto.wait_flag (line 22), pto.set_flag (line 24) and pto.wait_flag "
        "(line 25) order the two"
    )


def test_what_nothing_depends_on_goes():
    text = kernel(*HEAD, load("p", "x"), *pair("MTE2", "V"), add("y", "y", "z"))
    _, (said,) = removed(text)
    assert said.message.endswith("is taken out: nothing after it has to wait for what is before it")
    assert gone(*HEAD, load("p", "x"), *pair("MTE2", "V"), add("x", "y", "z")) == []


def test_the_flags_of_a_loop_go_together_or_not_at_all():
    way_back = pair("V", "MTE2", 1)
    body = (way_back[1], load("p", "x"), *pair("MTE2", "V"), add("x", "x", "x"), way_back[0])
    assert gone(*HEAD, way_back[0], LOOP, *body, "}", way_back[1]) == []
    other = pair("V", "MTE2", 2)
    twice = (*HEAD, way_back[0], other[0], LOOP, other[1], *body, other[0], "}", way_back[1], other[1])
    assert sorted(gone(*twice)) == sorted((*way_back, *way_back))


def test_a_full_barrier_beside_flags_goes():
    lines = (*HEAD, load("p", "x"), flag("set", "MTE2", "V"), ALL, flag("wait", "MTE2", "V"), add("x", "x", "x"))
    assert gone(*lines) == ["pto.barrier <PIPE_ALL>"]


def test_the_last_barrier_stays():
    """Whoever started the function may count on it."""
    assert gone(*HEAD, load("p", "x"), *pair("MTE2", "V"), add("x", "x", "x"), ALL) == []


def test_barriers_of_the_vector_unit():
    lines = (add("x", "y", "z"), "pto.barrier #pto.pipe<PIPE_V>", add("z", "z", "x"), ALL)
    assert gone(*lines, target="a2a3") == []
    assert gone(*lines, target="a5") == ["pto.barrier <PIPE_V>"]


def test_a_read_before_a_signal_to_another_core_stays_before_it():
    """The other core may overwrite the tile from then on."""
    signal = "pto.sync.set #pto.pipe<PIPE_MTE3>, 3"
    assert gone(*HEAD, add("x", "x", "y"), *pair("V", "MTE3"), signal) == []


def test_a_barrier_before_a_signal_stays():
    """The other core may count on the work of the pipe."""
    signal = "pto.sync.set #pto.pipe<PIPE_MTE3>, 3"
    assert gone(*HEAD, load("p", "x"), "pto.barrier #pto.pipe<PIPE_MTE2>", signal) == []
    assert gone(*HEAD, load("p", "x"), "pto.barrier #pto.pipe<PIPE_MTE2>", load("q", "y")) == [
        "pto.barrier <PIPE_MTE2>"
    ]


def test_registers_are_not_changed_too_early():
    """The sum may still need the old control word."""
    lines = (*HEAD, add("x", "x", "y"), *pair("V", "S"), "%k = arith.constant 1 : i64", "pto.set_ctrl %k : i64", ALL)
    assert gone(*lines) == []


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("func.call @g() : () -> ()",), "calls are not followed"),
        (('pto.set_flag_dyn["PIPE_V", "PIPE_MTE2", %n]',), "only a run knows its number"),
        ((flag("wait", "V", "MTE2", 3),), "no set comes before it"),
        ((LOOP, flag("set", "V", "MTE2", 3), "}"), "that none takes"),
        (("scf.if %some {", flag("set", "V", "MTE2", 3), "}"), "unequally often"),
        (('"other.work"() : () -> ()',), "nobody knows what it does"),
    ],
)
def test_a_function_that_is_not_followed_stays(lines: tuple[str, ...], reason: str):
    text = kernel(*HEAD, load("p", "x"), *pair("MTE2", "V"), *lines, add("y", "y", "z"), more=", %some: i1")
    text = text.rstrip().removesuffix("}") + "  func.func private @g() { return }\n}\n"
    after, (said,) = removed(text)
    assert said.rule == "sync-kept"
    assert reason in said.message
    assert after == print_module(parse(text))


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("seed", range(6))
def test_what_insert_sync_puts_stays_and_what_is_put_beside_it_goes(seed: int, target: str):
    """Full barriers outside of loops are needless, and without them the program is as it was."""
    random = Random(seed)
    module, _ = lowered(RandomProgram(seed, target).text)
    expected = print_module(module)
    assert removed(expected) == (expected, [])
    lines = expected.splitlines()
    places = [number for number, line in enumerate(lines) if line.startswith("    pto.t")]
    for number in sorted(random.sample(places, min(3, len(places))), reverse=True):
        lines.insert(number, "pto.barrier <PIPE_ALL>")
    assert removed("\n".join(lines))[0] == expected


@pytest.mark.parametrize("seed", range(6))
def test_a_program_with_too_many_flags_computes_the_same_without_them(seed: int):
    """A flag for every two neighbours of which the pipes differ, as a simple compiler would put them."""
    program = RandomProgram(seed, "a5")
    module, _ = lowered(program.text)
    lines: list[str] = []
    for line in print_module(module).splitlines():
        if line.strip().startswith("pto.t") and "get" not in line:
            lines += [*pair("MTE2", "V", 6), *pair("V", "MTE3", 6), *pair("MTE3", "MTE2", 6)]
        lines.append(line)
    after, said = removed("\n".join(lines))
    assert said
    less = parse(after)
    for count in (0, 3):
        expected = results(parse(program.text), arguments(program, count))
        assert disorder(less, arguments(program, count)) == []
        for schedule in SCHEDULES[:2]:
            assert results(less, arguments(program, count), schedule) == expected
