"""Where buffers lie and when they are needed. Source: docs/reference/memory-planning.md, "Live ranges"."""

import re
from dataclasses import asdict

from lowering_programs import TILE, add, kernel, load, part, store

from pto_dialect import parse
from pto_dialect.driver.memory_map import ProgramMap, as_data, collect, render

HEAD = (part("p", "a", "c0"), part("q", "b", "c0"))
TEXT = re.sub(
    r" addr = %at\d", "", kernel(*HEAD, load("p", "x"), add("x", "x", "y"), add("y", "x", "z"), store("z", "q"))
)


def mapped(text: str = TEXT, reuse: str = "max") -> ProgramMap:
    return collect(parse(text, "program.pto"), "program.pto", None, reuse)


def line_of(text: str, word: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if word in line)


def test_every_buffer_has_its_location_and_its_lines():
    ((memory,),) = [function.memories for function in mapped().functions]
    x, y, z = (next(one for one in memory.buffers if one.name == name) for name in ("%x", "%y", "%z"))
    assert (memory.memory, memory.peak, memory.bound, memory.capacity) == ("ub", 2048, 2048, 262144)
    assert (x.first, x.last) == (line_of(TEXT, "pto.tload"), line_of(TEXT, "outs(%z"))
    assert (y.first, y.last) == (line_of(TEXT, "outs(%y"), line_of(TEXT, "outs(%z"))
    assert (z.begin, z.end - z.begin) in ((x.begin, 1024), (y.begin, 1024))
    assert x.line == line_of(TEXT, "%x = pto.alloc_tile")
    assert x.at_peak and y.at_peak


def test_reuse_is_that_of_the_pass():
    assert mapped(reuse="none").functions[0].memories[0].peak == 3072
    assert mapped(reuse="safe").functions[0].memories[0].peak <= 3072


def test_buffers_of_the_author_are_kept_in_the_whole_function():
    (function,) = mapped(kernel(*HEAD, load("p", "x"), store("x", "q"))).functions
    assert {(one.first, one.last) for one in function.memories[0].buffers} == {(None, None)}


def test_a_function_that_is_not_planned_says_why():
    call = TEXT.replace("return", "func.call @g() : () -> ()\n    return").rstrip().removesuffix("}")
    (function,) = mapped(f"{call}  func.func private @g()\n}}\n").functions
    assert function.problem is not None
    assert function.problem.startswith(f"line {line_of(call, 'func.call')}: ")
    assert "not planned: line" in render([ProgramMap("program.pto", (function,), "0.64")])


def test_the_document_has_what_the_map_has():
    program = mapped()
    assert as_data([program]) == {"version": 1, "programs": [asdict(program)]}


def test_what_nothing_uses_is_never_needed():
    program = mapped(TEXT.replace("return", f"%s = pto.alloc_tile : {TILE}\n    return"))
    ((memory,),) = [function.memories for function in program.functions]
    (spare,) = (one for one in memory.buffers if one.unused)
    assert (spare.name, spare.first, spare.last, spare.at_peak) == ("%s", None, None, False)
    (line,) = (line for line in render([program]).splitlines() if "%s " in line)
    assert line.endswith("never")
