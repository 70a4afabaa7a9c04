"""Dialogues with the debugger: every command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from debug_dialogues import dialogue, session_of
from sanitize_programs import load, program, store, ub

from pto_dialect.debug.commands import ALIASES, Debugger
from pto_dialect.debug.session import Session

TMULS, CALL, TADD, LOOP, STORE, LOAD, ALLOC = 4, 23, 24, 21, 27, 20, 19
"""Lines of the program."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture
def session(folder: Path) -> Session:
    return session_of(folder)


def lines_of(said: list[str]) -> list[int]:
    """The line that each answer ends with; 0 for an answer that shows none."""
    numbers = [text.split("\n")[-1][:5].strip() for text in said]
    return [int(number) if number.isdigit() else 0 for number in numbers]


def test_steps_go_forwards_and_backwards(session: Session) -> None:
    said = dialogue(session, "step", "step 3", "back", "s 2", "stepi", "rstep 100", "goto end", "goto 4", "goto begin")
    assert lines_of(said) == [LOAD, TMULS, CALL, TADD, CALL, ALLOC, 0, TMULS, ALLOC]
    assert said[6] == "the run is over"


def test_lines(session: Session) -> None:
    said = dialogue(session, "next 2", "next", "next", "n", "rnext", "reverse-next 2")
    assert lines_of(said) == [LOOP, CALL, TMULS, TADD, TMULS, LOOP]


def test_over_loops_and_calls_into_and_out_of_functions(session: Session) -> None:
    said = dialogue(
        session, "goto 2", "over", "goto 3", "over", "over", "goto 2", "into", "where", "out", "into", "over"
    )
    assert lines_of(said)[1] == STORE
    assert lines_of(said)[3:5] == [TADD, STORE]
    assert lines_of(said)[6] == TMULS
    assert said[7] == f"#0 @double line {TMULS}\n#1 @k line {CALL} [%i = 0]"
    assert lines_of(said)[8:] == [TADD, TMULS, TADD]


def test_breakpoints(session: Session) -> None:
    said = dialogue(
        session, f"break {TADD}", "c", "b pto.tmuls if %two == 2", "c", "c", "rc", "rc", "info breakpoints",
        "disable 1", "c", "c", "enable 1", "delete 2", "c", "delete", "info breakpoints", "c",
    )  # fmt: skip
    assert said[0] == f"breakpoint 1, {TADD}"
    assert lines_of(said)[1] == TADD
    assert lines_of(said)[3:7] == [TMULS, TADD, TMULS, TADD]
    assert said[7] == f"1: {TADD}, 3 hits\n2: pto.tmuls if %two == 2, 2 hits"
    assert lines_of(said)[9:11] == [TMULS, TMULS]
    assert lines_of(said)[13] == TADD
    assert said[15:] == ["none", "the run is over"]


def test_conditions_on_indices_and_values(session: Session) -> None:
    said = dialogue(
        session, "break tadd if %i == 1", "c", "c", "delete", "rc", "b t* if max(abs(%x)) > 1000", "c", "p max(%x)"
    )
    assert "[%i = 1]" in said[1]
    assert said[2] == "the run is over"
    assert said[4].startswith("this is the begin")
    assert "[%i = 2]" in said[6]
    assert float(said[7]) == 63 * 32


def test_until(session: Session) -> None:
    said = dialogue(session, "until max(%x) > 500", "print max(%x)", "back", "print %t[3, 15]", "until %i == 9")
    assert lines_of(said)[0] == TADD
    assert float(said[1]) == 63 * 8
    assert float(said[3].split()[-1]) == 63 * 4
    assert said[4] == "the run is over"


def test_watchpoints_stop_after_the_write(session: Session) -> None:
    said = dialogue(
        session,
        "goto 3",
        "watch %x",
        "c",
        "info step",
        "rc",
        "delete",
        "watch ub 0 4",
        "goto 0",
        "c",
        "watch b 0 8",
        "c",
    )
    assert said[1] == "breakpoint 1, write of %x"
    assert said[2].startswith("breakpoint 1, write of %x\n")
    assert lines_of(said)[4] == LOOP
    assert lines_of(said)[8] == LOOP
    assert said[10].startswith("breakpoint 2, write of ub 0 4")


def test_nans(folder: Path) -> None:
    value = np.zeros(64, np.float32)
    value[17] = np.nan
    session = session_of(folder, given=[value, np.zeros(64, np.float32)])
    said = dialogue(session, "nan", "c", "p isnan(%x)[1, 1]", "nan %t", "delete 1", "c", "back")
    assert lines_of(said)[1] == LOOP
    assert said[2] == "True"
    assert lines_of(said)[6] == TMULS


def test_findings_and_signals(folder: Path) -> None:
    flags = [f'pto.{word}_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]' for word in ("set", "wait")]
    session = session_of(folder, program(ub("x", 0), load("%x"), store("%x"), *flags), checks=True)
    said = dialogue(
        session, "finding", "c", "info findings", "delete", "b pto.set_flag", "c", "info signals", "goto end"
    )
    assert "pto.mte_ub_gm" in said[1]
    assert "[race-" in said[2]
    told = said[2].split("\n")
    assert any(line.startswith("  line ") for line in told)
    assert sum(line.startswith("  help: pto.set_flag") for line in told) == 1
    assert said[6].startswith("sets MTE2 -> MTE3 event 0")


def test_values(session: Session, tmp_path: Path) -> None:
    np.save(tmp_path / "ref.npy", np.arange(64, dtype=np.float32).reshape(4, 16) * 2)
    said = dialogue(
        session, "goto 5", "print %x[1, :3]", "p %x", f"load ref {tmp_path / 'ref.npy'}", "p max(abs(%x - ref))",
        "compare %x , ref", "compare %x , ref + 1", "display %x[0, 1]", "step", "undisplay 1", "display", "locals",
        "info arguments", "p %b[:2]", "p 7 % 4", "p T(%x)[1, 0]",
    )  # fmt: skip
    assert said[1] == "3 float32\n[32. 34. 36.]"
    assert said[2].startswith("tile 4x16 of f32, row_major, at block0.aiv0.ub + 0\n4x16 float32\n")
    assert said[4] == "0"
    assert said[5] == "equal: 64 elements"
    assert said[6] == "64 of 64 elements differ, by at most 1; first [0, 0]: 0.0 and 1.0"
    assert said[7] == "%x[0, 1] = 2"
    assert said[8].split("\n")[-1] == "%x[0, 1] = 4"
    assert said[10] == ""
    assert "%i = 1" in said[11].split("\n")
    assert "%x: tile 4x16 of f32, row_major, at block0.aiv0.ub + 0" in said[11].split("\n")
    assert said[12].split("\n")[0] == "%a: !pto.ptr<f32, gm> = 64 float32"
    assert said[13:] == ["2 float32\n[0. 0.]", "3", "4"]


def test_memory_and_writers(session: Session) -> None:
    said = dialogue(
        session,
        "goto 2",
        "memory ub 4 8",
        "x ub 4 8 f32",
        "memory",
        "writer %x",
        "writer ub 512 4",
        "goto 0",
        "writer ub 0 4",
    )
    assert said[1] == "0x000004  00 00 80 3f 00 00 00 40                          ...?...@"
    assert said[2] == "2 float32\n[1. 2.]"
    assert said[3] == "a: 256 bytes\nb: 256 bytes\nblock0.aiv0.ub: 262144 bytes"
    assert said[4].startswith(f"#1 block 0 core MTE2 k.pto:{LOAD}\n")
    assert said[5] == said[7] == "nobody has written them"


def test_locations(session: Session) -> None:
    said = dialogue(session, "goto 5", "pipes", "bt", "break tadd", "list", "l 1", "idle V", "idle MTE2", "info step")
    assert said[1].split("\n")[1] == f"block 0 core V: last #4 pto.tmuls line {TMULS}; next #5 pto.tadd line {TADD}"
    assert said[2] == f"#0 @k line {TADD} [%i = 0]"
    assert f"*>{TADD:>5}  " in said[4]
    assert said[5].lstrip().startswith("1  module attributes")
    assert lines_of(said)[6] == lines_of(said)[7] == TADD
    assert said[8].split("\n")[0] == "reads 256 bytes of block0.aiv0.ub in [0, 256)"


def test_changed_values_are_used_from_there(session: Session) -> None:
    said = dialogue(
        session, "goto 5", "set %x[0, 1:3] = 100", "p %x[0, :4]", "goto end", "p %b[:4]", "goto 2", "set ub 0 f32 = -1",
        "goto end", "p %b[:4]", "goto 0", "set a 0 f32 = 3", "goto end", "p %b[:4]", "set %b[0] = 1",
    )  # fmt: skip
    assert said[2] == "4 float32\n[  0. 100. 100.   6.]"
    assert said[4] == "4 float32\n[   0. 3200. 3200.  192.]"
    # Changes that came later are forgotten.
    assert said[8] == "4 float32\n[-64.  64. 128. 192.]"
    assert said[12] == "4 float32\n[192.  64. 128. 192.]"
    assert said[13] == "error: %b is no tile, view or pointer here; numbers of the program cannot be changed" or said[
        13
    ].startswith("error: the run is over")


def test_run_starts_again_as_the_program_was(session: Session) -> None:
    said = dialogue(
        session, "break tadd", "goto 2", "set ub 0 f32 = -1", "goto end", "run", "continue", "goto end", "p %b[:4]"
    )  # fmt: skip
    assert said[4].startswith("#0 ")
    assert lines_of(said)[5] == TADD
    assert said[7] == "4 float32\n[  0.  64. 128. 192.]"


def test_a_recording_alone_cannot_be_changed(session: Session) -> None:
    session.rerun = None
    (_, said) = dialogue(session, "goto 5", "set %x[0, 0] = 1")
    assert said == "error: a recording cannot be changed; run the program with --debug"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("foo", "there is no command foo; help lists them"),
        ("step x", "'x' is no number"),
        ("goto", "the command takes a step"),
        ("break 1000", "no statement that can be stopped at is on line 1000"),
        ("break pto.nothing", "no statement that can be stopped at is called pto.nothing"),
        ("break tadd if", "is called tadd if"),
        ("break tadd if 1 +", "'1 +' is no expression"),
        ("watch %nothing", "there is no buffer %nothing here"),
        ("watch ub 0 9999999", "block0.aiv0.ub has 262144 bytes"),
        ("watch l1 0 4", "no memory is called l1"),
        ("memory ub 0", "memory takes a memory"),
        ("memory ub 0 8 f99", "there is no element format f99"),
        ("memory ub 0 7 f32", "buffer size must be a multiple"),
        ("memory ub -1 4", "bytes [-1, 3) are outside of block0.aiv0.ub"),
        ("idle M", "core has used no pipe M; it has used"),
        ("delete 5", "there is no breakpoint 5"),
        ("undisplay 2", "there is no display 2"),
        ("info nothing", "info takes breakpoints"),
        ("load 1x file", "load takes a name and a file"),
        ("load x /nowhere/x.npy", "cannot read '/nowhere/x.npy'"),
        ("set %x[0, 0]", "set takes a memory range and a value"),
        ("set %two = 3", "%two is no tile, view or pointer here"),
        ("set %x[0, :2] = ref", "there is no ref"),
        ("compare %x", "compare takes two expressions"),
        ("print %x[9, 9]", "out of bounds"),
        ("print", "the command takes an expression"),
    ],
)
def test_mistakes_are_reported(session: Session, command: str, says: str) -> None:
    (_, said) = dialogue(session, "goto 5", command)
    assert said.startswith("error: ")
    assert says in said
    assert "\n" not in said


def test_every_command_is_described_and_used_here() -> None:
    names = [name.removeprefix("do_") for name in dir(Debugger) if name.startswith("do_") and name != "do_EOF"]
    text = Path(__file__).read_text(encoding="utf-8")
    page = Path("docs/debugger.md").read_text(encoding="utf-8")
    for name in names:
        function = getattr(Debugger, f"do_{name}")
        assert function.__doc__, name
        if name not in ("help", "quit"):
            short = [alias for alias, meant in ALIASES.items() if meant == name]
            assert any(f'"{word}' in text for word in (name, *short)), name
            assert function.__doc__.startswith(name), name
            assert f"`{name}" in page, name
    assert set(ALIASES.values()) <= set(names)


def test_stepping_is_quick_in_long_runs(folder: Path) -> None:
    from time import process_time

    text = program(
        ub("x", 0),
        "%n = arith.constant 3000 : index",
        "scf.for %i = %i0 to %n step %i1 {",
        load("%x"),
        store("%x"),
        "}",
    )
    session = session_of(folder, text)
    assert session.end > 6000
    session.move(session.end // 2)
    dialogue(session, "step")
    started = process_time()
    dialogue(session, *["step", "back", "next", "rnext"] * 5)
    assert (process_time() - started) / 20 < 0.25


def test_outliers_are_reported(session: Session) -> None:
    said = dialogue(
        session, "break tmuls", "c", "set %t[0, 0:4] = 1e38", "print %t", "set %t[0, 0:2] = 3.4e38", "info step"
    )
    assert "of" not in said[3].split("\n")[-1]
    assert "2 infinite" in said[5].split("\n")[-1]


def test_an_array_that_is_another_one_transposed(session: Session) -> None:
    session.arrays |= {"one": np.arange(6.0).reshape(2, 3), "square": np.array([[1.0, 2.0], [np.nan, 4.0]])}
    said = dialogue(session, "compare one , T(one)", "compare square , T(square)", "compare square , T(square) + 1")
    assert said[0] == "the shapes differ: (2, 3) and (3, 2); one transposed is the other"
    assert said[1].endswith("; one transposed is the other") and "transposed" not in said[2]
