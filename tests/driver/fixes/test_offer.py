"""Fixes in reports."""

import json
from importlib import import_module
from pathlib import Path

from click.testing import CliRunner

from pto_dialect.diagnostics.fix import edited
from pto_dialect.driver.fixes.offer import with_fixes
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import process
from pto_dialect.driver.verdict_data import decode, encode

TWO = """// what stays
func.func @f(%a: i32) {
  %x = arith.add %a, %a : i32
  %y = arith.addi %a %x : i32 // behind it
  return
}
"""


def test_each_diagnostic_has_its_own_fix() -> None:
    options = Options(printing=False)
    first, second = with_fixes(process(TWO, "x.pto", options).diagnostics, options)
    assert [fix.title for fix in first.fixes] == ["replace 'arith.add' by 'arith.addi'"]
    assert [fix.title for fix in second.fixes] == ["insert ','"]
    assert edited(TWO, (*first.fixes[0].edits, *second.fixes[0].edits)) == TWO.replace("add ", "addi ").replace(
        "%a %x", "%a, %x"
    )


def test_programs_of_one_file_have_fixes_of_their_own() -> None:
    options = Options(printing=False, split_input=True)
    text = f"{TWO}// -----\n{TWO}"
    found = with_fixes(process(text, "x.pto", options).diagnostics, options)
    assert [len(diag.fixes) for diag in found] == [1, 1, 1, 1]


def test_reports_have_fixes(tmp_path: Path) -> None:
    file = tmp_path / "x.pto"
    file.write_text(TWO)
    main = import_module("pto_dialect.tools.pto_opt").main
    for form in ("json", "sarif"):
        told = CliRunner().invoke(main, [str(file), "--verify-only", "--diagnostics-format", form])
        document = json.loads(told.stderr)
        results = document["diagnostics"] if form == "json" else document["runs"][0]["results"]
        assert [len(result["fixes"]) for result in results] == [1, 1]


def test_cached_verdicts_have_the_remedies() -> None:
    result = process(TWO, "x.pto", Options())
    cached = decode(encode("key", TWO, result), "key", TWO)
    assert cached is not None and all(one.remedies for one in result.diagnostics)
    assert [one.remedies for one in cached.diagnostics] == [one.remedies for one in result.diagnostics]
