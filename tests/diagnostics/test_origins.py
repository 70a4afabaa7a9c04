"""What a person sees of statements that a compiler made from another source."""

import json
import os
from pathlib import Path

import pytest

from pto_dialect.diagnostics.diagnostic import Diagnostic, Note, Severity
from pto_dialect.diagnostics.fix import Edit, Fix
from pto_dialect.diagnostics.formats import to_json, to_sarif
from pto_dialect.diagnostics.formats_ci import to_github
from pto_dialect.diagnostics.locations import Frame
from pto_dialect.diagnostics.origins import Origins, shown, shown_line
from pto_dialect.diagnostics.render import render_text
from pto_dialect.diagnostics.source import SourceFile, Span

KERNEL = "void helper() {\n  TADD(c, a, b);\n}\nvoid kernel() {\n  helper();\n}\n"
PROGRAM = 'pto.tadd loc("t"(callsite("k.cpp":2:3 at "k.cpp":5:3)))\npto.tsub loc("k.cpp":5:3)\npto.tmul\n'


def source(folder: Path, program: str = PROGRAM) -> SourceFile:
    (folder / "k.cpp").write_text(KERNEL)
    (folder / "p.pto").write_text(program)
    return SourceFile(str(folder / "p.pto"), program)


def about(of: SourceFile, text: str, **more: object) -> Diagnostic:
    start = of.text.index(text)
    found = Diagnostic("race-raw", Severity.ERROR, "nothing orders them", Span(of, start, start + len(text)))
    return found._replace(**more)


def translated(program: str = PROGRAM) -> SourceFile:
    return Origins(None, {"k.cpp": KERNEL}, translated=True).attach(SourceFile("k.cpp", program))


def test_source_line_comes_first_and_the_statement_last(tmp_path: Path) -> None:
    of = source(tmp_path)
    text = render_text(
        [about(of, "pto.tadd", notes=(Note("it is written here", Span(of, PROGRAM.index("pto.tsub"), 1)),))]
    )
    assert text == (
        "k.cpp:2:3: error: nothing orders them [race-raw]\n"
        "    TADD(c, a, b);\n"
        "    ^~~~\n"
        "  k.cpp:5:3: note: it is written here\n"
        "      helper();\n"
        "      ^~~~~~\n"
        "  k.cpp:5:3: note: called from here\n"
        "      helper();\n"
        "      ^~~~~~\n"
        f"  {of.name}:1:1: note: the statement of the program\n"
        '    pto.tadd loc("t"(callsite("k.cpp":2:3 at "k.cpp":5:3)))\n'
        "    ^~~~~~~~\n"
    )


def test_statement_without_a_location_is_shown_itself(tmp_path: Path) -> None:
    of = source(tmp_path)
    found = about(of, "pto.tmul")
    assert shown(found) is found
    assert shown_line(Span(of, PROGRAM.index("pto.tmul"), 1)) == 3


def test_translated_text_is_never_shown_nor_changed() -> None:
    fixes = (Fix("add a barrier", (Edit(0, 0, "x"),)),)
    found = shown(about(translated(), "pto.tadd", fixes=fixes))
    assert found.fixes == ()
    assert "pto." not in render_text([found])
    assert render_text([about(translated(), "pto.tmul")]).startswith("k.cpp:1:1: error")


def test_fixes_of_a_program_of_the_user_stay_changes_of_it(tmp_path: Path) -> None:
    of = source(tmp_path)
    found = about(of, "pto.tsub", fixes=(Fix("add a barrier", (Edit(60, 60, "x"),)),))
    document = json.loads(to_json([found]))["diagnostics"][0]
    assert document["location"] == {
        "file": "k.cpp", "start": {"line": 5, "column": 3}, "end": {"line": 5, "column": 9}
    }  # fmt: skip
    assert document["fixes"][0]["file"] == of.name
    assert document["fixes"][0]["edits"][0]["start"]["line"] == 2
    change = json.loads(to_sarif([found]))["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0]
    assert change["artifactLocation"]["uri"].endswith("p.pto")
    assert to_github([found]).startswith("::error file=k.cpp,line=5,endLine=5,col=3,endColumn=9,title=race-raw::")


def test_one_line_of_the_source_is_reported_once() -> None:
    of = translated('pto.a loc("k.cpp":5:3)\npto.b loc("k.cpp":5:3)\n')
    assert render_text([about(of, "pto.a"), about(of, "pto.b")]).count("error:") == 1


def test_errors_of_the_syntax_are_about_the_text(tmp_path: Path) -> None:
    found = about(source(tmp_path), "pto.tadd", rule="parse-syntax")
    assert render_text([found]).splitlines()[0].startswith(f"{tmp_path}/p.pto:1:1: error")


def test_columns_are_bytes() -> None:
    text = "/* \u00e4\u00e4 */ TADD(a);\n"
    of = Origins(None, {"k.cpp": text}, translated=True).attach(SourceFile("k", 'pto.a loc("k.cpp":1:12)\n'))
    assert render_text([about(of, "pto.a")]).splitlines()[2].index("^") == 2 + text.index("TADD")


def test_hidden_frames_are_left_out() -> None:
    program = 'pto.a loc(callsite("/pkg/include/pto.hpp":9:1 at callsite("k.cpp":2:3 at "k.cpp":5:3)))\n'
    of = Origins(None, {"k.cpp": KERNEL}, translated=True, hidden=("/pkg/include/",)).attach(SourceFile("k", program))
    lines = render_text([about(of, "pto.a")]).splitlines()
    assert lines[0].startswith("k.cpp:2:3: error")
    assert "k.cpp:5:3: note: called from here" in lines[3]


@pytest.mark.parametrize(
    "name", ["../secret.cpp", "link.cpp", "key.pem", "pipe.cpp", "folder.cpp", "missing.cpp", "\0.cpp"]
)
def test_files_that_are_named_but_never_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.cpp").write_text("SECRET\n")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "key.pem").write_text("SECRET\n")
    (inside / "folder.cpp").mkdir()
    (inside / "link.cpp").symlink_to("/etc/passwd")
    os.mkfifo(inside / "pipe.cpp")
    for one in (name, str(inside / name)):
        of = source(inside, f"pto.a loc({json.dumps(one)}:1:1)\n")
        lines = render_text([about(of, "pto.a")]).splitlines()
        assert lines[0].endswith(":1:1: error: nothing orders them [race-raw]")
        assert lines[1].endswith("p.pto:1:1: note: the statement of the program")


@pytest.mark.parametrize(("named", "is_shown"), [("sources", True), ("other", False), ("", False)])
def test_folders_that_the_user_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, is_shown: bool
) -> None:
    for folder in ("build", "sources", "other"):
        (tmp_path / folder).mkdir()
    (tmp_path / "sources" / "k.py").write_text("a = load(x)\n")
    monkeypatch.setenv("PTO_SOURCES", os.pathsep.join(["relative", str(tmp_path / named) if named else ""]))
    frame = Frame(str(tmp_path / "sources" / "k.py"), 1, 5)
    span = Origins(str(tmp_path / "build")).span(frame)
    assert (span.source.text, span.line) == ("a = load(x)\n" if is_shown else "", 1)


def test_file_by_its_whole_name(tmp_path: Path) -> None:
    of = source(tmp_path, f"pto.a loc({json.dumps(str(tmp_path / 'k.cpp'))}:2:3)\n")
    assert "TADD(c, a, b);" in render_text([about(of, "pto.a")])


def test_program_without_a_file_reads_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in ("<stdin>", "not-there.pto"):
        assert "TADD" not in render_text([about(SourceFile(name, PROGRAM), "pto.tadd")])
