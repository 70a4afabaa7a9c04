"""JSON and SARIF documents."""

import json
from typing import Any

import pytest

from pto_dialect.diagnostics import Counts, Diagnostic, Note, Severity, SourceFile, Span
from pto_dialect.diagnostics.formats import to_json, to_sarif

TEXT = "// 漢\n  pto.mad %b,\n    %c\n"
SOURCE = SourceFile("dir/my kernel.pto", TEXT, first_line=10)
MULTI_LINE = Span(SOURCE, TEXT.index("%b"), TEXT.index("%c") + 2)
POINT = Span(SOURCE, len(TEXT), len(TEXT))
DIAGS = [
    Diagnostic("mad-space", Severity.ERROR, "bad \udc80", MULTI_LINE, (Note("here", POINT), Note("so")), "fix"),
    Diagnostic("target-override", Severity.WARNING, "a5 used"),
    Diagnostic("mad-space", Severity.INFO, "again", POINT),
]


def test_json_is_exactly_the_documented_schema() -> None:
    text = to_json(DIAGS)
    assert text.endswith("}\n")
    end = {"line": 13, "column": 1}
    assert json.loads(text) == {
        "version": 1,
        "counts": {"errors": 1, "warnings": 1, "infos": 1, "hidden_errors": 0},
        "diagnostics": [
            {
                "rule": "mad-space",
                "severity": "error",
                "message": "bad \udc80",
                "location": {
                    "file": "dir/my kernel.pto",
                    "start": {"line": 11, "column": 11},
                    "end": {"line": 12, "column": 7},
                },
                "help": "fix",
                "notes": [
                    {
                        "message": "here",
                        "location": {"file": "dir/my kernel.pto", "start": end, "end": end},
                    },
                    {"message": "so", "location": None},
                ],
            },
            {
                "rule": "target-override",
                "severity": "warning",
                "message": "a5 used",
                "location": None,
                "help": None,
                "notes": [],
            },
            {
                "rule": "mad-space",
                "severity": "info",
                "message": "again",
                "location": {"file": "dir/my kernel.pto", "start": end, "end": end},
                "help": None,
                "notes": [],
            },
        ],
    }


def test_json_of_nothing_and_given_counts() -> None:
    assert json.loads(to_json([])) == {
        "version": 1,
        "counts": {"errors": 0, "warnings": 0, "infos": 0, "hidden_errors": 0},
        "diagnostics": [],
    }
    counts = json.loads(to_json(iter(DIAGS), Counts(30, 1, 1, 10)))["counts"]
    assert counts == {"errors": 30, "warnings": 1, "infos": 1, "hidden_errors": 10}


def sarif(*args: Any, **kwargs: Any) -> dict[str, Any]:
    return json.loads(to_sarif(*args, **kwargs))


def check_region(region: dict[str, Any]) -> None:
    """Section 3.30 of the standard: lines and columns from 1, the end not before the start."""
    assert set(region) == {"startLine", "startColumn", "endLine", "endColumn"}
    assert all(type(value) is int and value >= 1 for value in region.values())
    assert (region["endLine"], region["endColumn"]) >= (region["startLine"], region["startColumn"])


def test_sarif_required_fields() -> None:
    log = sarif(DIAGS, {"mad-space": "Operands live in their buffers.", "unused": "-"}, version="1.2")
    # 3.13: version is required, $schema names the schema, runs is an array.
    assert log["version"] == "2.1.0"
    assert log["$schema"].startswith("https://") and log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    # 3.14: tool is required; columnKind as our columns are characters.
    assert run["columnKind"] == "unicodeCodePoints"
    # 3.18, 3.19: driver with a name; 3.49: each rule has an id, ids are unique.
    driver = run["tool"]["driver"]
    assert driver == {
        "name": "pto-opt",
        "version": "1.2",
        "rules": [
            {"id": "mad-space", "shortDescription": {"text": "Operands live in their buffers."}},
            {"id": "target-override"},
        ],
    }
    # 3.27: message is required; ruleId and ruleIndex agree; level is one of the standard's values.
    results = run["results"]
    assert len(results) == 3
    for result in results:
        assert isinstance(result["message"]["text"], str) and result["message"]["text"]
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"none", "note", "warning", "error"}
        for location in result.get("locations", []) + result.get("relatedLocations", []):
            if "physicalLocation" in location:
                check_region(location["physicalLocation"]["region"])
    assert [result["level"] for result in results] == ["error", "warning", "note"]
    assert [result["ruleIndex"] for result in results] == [0, 1, 0]


def test_sarif_locations_notes_and_help() -> None:
    first, second, third = sarif(DIAGS)["runs"][0]["results"]
    assert first["message"]["text"] == "bad \udc80\nhelp: fix"
    uri = "dir/my%20kernel.pto"
    end = {"startLine": 13, "startColumn": 1, "endLine": 13, "endColumn": 1}
    assert first["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": uri},
                "region": {"startLine": 11, "startColumn": 11, "endLine": 12, "endColumn": 7},
            }
        }
    ]
    assert first["relatedLocations"] == [
        {
            "id": 0,
            "message": {"text": "here"},
            "physicalLocation": {"artifactLocation": {"uri": uri}, "region": end},
        },
        {"id": 1, "message": {"text": "so"}},
    ]
    assert "locations" not in second and "relatedLocations" not in second
    assert third["locations"][0]["physicalLocation"]["region"] == end


def test_reversed_span_is_a_point() -> None:
    diag = Diagnostic("r", Severity.ERROR, "m", Span(SOURCE, 2, 0))
    (place,) = sarif([diag])["runs"][0]["results"][0]["locations"]
    region = {"startLine": 10, "startColumn": 3, "endLine": 10, "endColumn": 3}
    assert place["physicalLocation"]["region"] == region


def test_sarif_of_nothing_still_has_results() -> None:
    # 3.14.23: an empty array says that the tool ran and found nothing.
    (run,) = sarif([])["runs"]
    assert run["results"] == []
    assert run["tool"] == {"driver": {"name": "pto-opt", "rules": []}}


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("a.pto", "a.pto"),
        ("/t/ü#1.pto", "file:///t/%C3%BC%231.pto"),
        ("<stdin>", "%3Cstdin%3E"),
        ("a\\b.pto", "a/b.pto"),
        ("\udcff.pto", "%ED%B3%BF.pto"),
    ],
)
def test_sarif_file_names_are_uri_references(name: str, uri: str) -> None:
    diag = Diagnostic("r", Severity.ERROR, "m", Span(SourceFile(name, "x"), 0, 1))
    place = sarif([diag])["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == uri
