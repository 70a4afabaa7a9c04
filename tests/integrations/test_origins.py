"""Places in other languages that locations after statements name."""

import pytest

from pto_dialect.diagnostics.diagnostic import Diagnostic, Note, Severity
from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.integrations.origins import Origin, origin_of, origins_of


def place(text: str, of: str) -> Span:
    source = SourceFile("k.pto", text)
    return Span(source, text.index(of), text.index(of) + len(of))


@pytest.mark.parametrize(
    ("location", "origin"),
    [
        (' loc("model.py":12:8)', Origin("model.py", 12, 8)),
        (' loc(callsite("f"("a.py":1:2) at "b.py":3:4))', Origin("a.py", 1, 2)),
        (r' loc("C:\\a \"b\".py":7:1)', Origin('C:\\a "b".py', 7, 1)),
        (" loc(#loc3)", Origin("x.py", 5, 6)),
        (" loc(#loc4)", None),
        (" loc(unknown)", None),
        ("", None),
    ],
)
def test_location_of_a_statement(location: str, origin: Origin | None) -> None:
    text = f'  pto.a{location}\n  pto.b loc("other.py":1:1)\n#loc3 = loc("x.py":5:6)\n'
    assert origin_of(place(text, "pto.a")) == origin


def test_statement_of_several_lines() -> None:
    text = 'pto.a %x,\n  %y : i32 loc("m.py":3:4)\npto.b\n'
    assert origin_of(place(text, "pto.a %x,\n  %y : i32")) == Origin("m.py", 3, 4)


def test_each_location_of_a_finding_once() -> None:
    text = 'pto.a loc("m.py":3:4)\npto.b loc("m.py":3:4)\npto.c loc("m.py":9:1)\n'
    notes = (Note("first", place(text, "pto.b")), Note("then", place(text, "pto.c")), Note("last"))
    found = Diagnostic("race-war", Severity.ERROR, "text", place(text, "pto.a"), notes)
    assert [str(origin) for origin in origins_of(found)] == ["m.py:3:4", "m.py:9:1"]
    assert origin_of(None) is None
