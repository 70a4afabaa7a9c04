"""Reports for services."""

import json
from xml.etree import ElementTree

from pto_dialect.diagnostics import Diagnostic, Severity, SourceFile, Span
from pto_dialect.diagnostics.formats_ci import to_github, to_gitlab, to_junit

SOURCE = SourceFile("a,b.pto", "one\ntwo three\n", first_line=5)
DIAGNOSTICS = [
    Diagnostic("mad-space", Severity.ERROR, "100 % <wrong>\nsecond", Span(SOURCE, 8, 13), help="do & so"),
    Diagnostic("dead-tile", Severity.WARNING, "over\x00 two lines", Span(SOURCE, 0, 6)),
    Diagnostic("internal", Severity.INFO, "nowhere"),
    Diagnostic("internal", Severity.INFO, "nowhere"),
]


def test_github_annotations() -> None:
    assert to_github(DIAGNOSTICS).splitlines() == [
        "::error file=a%2Cb.pto,line=6,endLine=6,col=5,endColumn=10,title=mad-space::"
        "100 %25 <wrong>%0Asecond%0Ahelp: do & so",
        "::warning file=a%2Cb.pto,line=5,endLine=6,title=dead-tile::over\x00 two lines",
        "::notice title=internal::nowhere",
        "::notice title=internal::nowhere",
    ]
    assert to_github([]) == ""


def test_gitlab_code_quality() -> None:
    first, second, third, fourth = json.loads(to_gitlab(DIAGNOSTICS))
    assert first["location"] == {"path": "a,b.pto", "lines": {"begin": 6}}
    assert [entry["severity"] for entry in (first, second, third)] == ["major", "minor", "info"]
    assert (first["check_name"], first["description"]) == ("mad-space", "100 % <wrong>\nsecond\nhelp: do & so")
    assert third["fingerprint"] != fourth["fingerprint"]
    (moved,) = json.loads(to_gitlab([DIAGNOSTICS[0]._replace(span=Span(SOURCE, 0, 3))]))
    assert moved["fingerprint"] == first["fingerprint"]
    assert json.loads(to_gitlab([])) == []


def test_junit_xml() -> None:
    (suite,) = ElementTree.fromstring(to_junit(DIAGNOSTICS))
    assert (suite.get("tests"), suite.get("failures")) == ("4", "1")
    failure = suite[0][0]
    assert (suite[0].get("classname"), suite[0].get("name")) == ("a,b.pto", "mad-space (6:5)")
    assert (failure.tag, failure.get("type")) == ("failure", "mad-space")
    assert failure.text == "100 % <wrong>\nsecond\nhelp: do & so"
    assert suite[1][0].text == "warning: over\ufffd two lines"
    (empty,) = ElementTree.fromstring(to_junit([]))
    assert (empty.get("tests"), empty.get("failures"), len(empty)) == ("1", "0", 1)
