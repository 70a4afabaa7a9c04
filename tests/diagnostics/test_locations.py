"""Reading the locations after statements."""

import json

import pytest

from pto_dialect.diagnostics.locations import DEPTH, FRAMES, Frame, Location, enclosing_location, location_at
from pto_dialect.diagnostics.source import SourceFile

PROGRAM = """#loc3 = loc("m.py":3:4)
func.func @f(%x: i32 loc("x"("k.cpp":1:9)), %n: index) {
  %c0 = arith.constant 0 : index
  // loc("comment.cpp":1:1)
  %c1 = arith.constant 1 : index loc("k.cpp":2:3)
  %0 = arith.addi %x, %x
     : i32 loc(callsite("a.h":1:2 at callsite("k.cpp":3:4 at #loc3))) // behind
  scf.for %i = %c0 to %n step %c1 {
    %1 = arith.addi %x, %x {a = 1} : i32 loc("k.cpp":9:3)
    pto.barrier <PIPE_V>
  } loc("k.cpp":5:6)
  return loc("k.cpp":7:8)
} loc("k.cpp":1:1)
#loc4 = loc("n.py":6:1)
"""


@pytest.mark.parametrize(
    ("at", "places"),
    [
        ("%x", "k.cpp:1"),
        ("%n", "k.cpp:1"),
        ("%c0", ""),
        ("1 : index", "k.cpp:2"),
        ("%0", "a.h:1 k.cpp:3 m.py:3"),
        (": i32 loc(callsite", "a.h:1 k.cpp:3 m.py:3"),
        ("scf.for", "k.cpp:5"),
        ("%1", "k.cpp:9"),
        ("a = 1", "k.cpp:9"),
        ("pto.barrier", ""),
        ("return", "k.cpp:7"),
        ("#loc4", ""),
    ],
)
def test_location_within_a_statement(at: str, places: str) -> None:
    found = location_at(SourceFile("p.pto", PROGRAM), PROGRAM.index(at))
    assert " ".join(f"{one.file}:{one.line}" for one in found.frames) == places


@pytest.mark.parametrize(("at", "line"), [("pto.barrier", 5), ("%c0", 1), ("%1", 9)])
def test_location_of_what_is_around(at: str, line: int) -> None:
    found = enclosing_location(SourceFile("p.pto", PROGRAM), PROGRAM.index(at))
    assert found.frames == (Frame("k.cpp", line, found.frames[0].column),)


@pytest.mark.parametrize(
    ("text", "location"),
    [
        ('"k.cpp":14:5', Location((Frame("k.cpp", 14, 5),))),
        ('"k.cpp":14:5 to :9', Location((Frame("k.cpp", 14, 5),))),
        ('"tile"("k.cpp":14:5)', Location((Frame("k.cpp", 14, 5),), name="tile")),
        ('"tile"', Location(name="tile")),
        ("unknown", Location()),
        ("#missing", Location()),
        ("#self", Location()),
        ('fused<"CSE">["a":1:2, "n"("b":3:4)]', Location((Frame("a", 1, 2),), (Frame("b", 3, 4),), "n")),
        ('fused[unknown, "b":3:4]', Location((Frame("b", 3, 4),))),
        (r'"C:\\a \"b\"\0A.py":7:1', Location((Frame('C:\\a "b"\n.py', 7, 1),))),
        ('"k.cpp":99999999999:1', Location()),
        ('callsite("a":1:2 at unknown)', Location((Frame("a", 1, 2),))),
    ],
)
def test_forms(text: str, location: Location) -> None:
    assert location_at(SourceFile("p.pto", f"pto.a loc({text})\n#self = loc(#self)\n"), 0) == location


def test_locations_that_stand_for_many_are_cut() -> None:
    doubled = "".join(f"#l{n + 1} = loc(callsite(#l{n} at #l{n}))\n" for n in range(40))
    source = SourceFile("p.pto", f'pto.a loc(#l40)\n#l0 = loc("a":1:1)\n{doubled}')
    assert len(location_at(source, 0).frames) <= FRAMES
    deep = "callsite(" * 5000 + '"a":1:1' + ' at "b":1:1)' * 5000
    assert location_at(SourceFile("p.pto", f"pto.a loc({deep})\n"), 0).frames in ((), (Frame("b", 1, 1),) * FRAMES)
    assert DEPTH < 100


@pytest.mark.parametrize(
    "text",
    ['"k.cpp":1:2', '"t"(callsite("a.h":1:2 at callsite("k.cpp":3:4 at "m.py":5:6)))', 'fused["a":1:2, "b":3:4]'],
)
def test_spelling(text: str) -> None:
    assert location_at(SourceFile("p.pto", f"pto.a loc({text})"), 0).spelled(json.dumps) == text
