"""What pto.print writes is what C's printf writes for one number."""

from __future__ import annotations

import math

import pytest
from groups import in_groups

import pto_dialect
from pto_dialect.diagnostics.refused import VerifyError
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.numerics.print_format import format_number, split_format

WRITTEN = [
    ("n = %d;\n", 7, "n = 7;\n"),
    ("%5d|", -3, "   -3|"),
    ("%-5d|", 3, "3    |"),
    ("%+05lld", 12, "+0012"),
    ("%u", -1, "4294967295"),
    ("%u", -(1 << 31), str(1 << 31)),
    ("%u", -(1 << 31) - 1, str((1 << 64) - (1 << 31) - 1)),
    ("%u", (1 << 32) + 1, str((1 << 32) + 1)),
    ("%x", 0, "0"),
    ("%x", -1, "ffffffff"),
    ("%#X", 255, "0XFF"),
    ("%llu", -(1 << 40), str((1 << 64) - (1 << 40))),
    ("%o", 8, "10"),
    ("%c!", 65, "A!"),
    ("%f", 1.5, "1.500000"),
    ("%.2f%%", 99.5, "99.50%"),
    ("%8.3e", -12345.678, "-1.235e+04"),
    ("%g", 1e-7, "1e-07"),
    ("%hhd", 1, "1"),
    ("%d", 2.75, "2"),
    ("%x", 255.0, "ff"),
    ("%d", math.nan, "nan"),
    ("%f", -math.inf, "-inf"),
    ("100%%", 3, "100%"),
    ("nothing", 3, "nothing"),
    ("%.d", 3, "3"),
]


@in_groups(("text", "number", "written"), WRITTEN)
def test_one_number_is_written_as_c_does(text: str, number: float, written: str) -> None:
    before, conversion, after = split_format(text)
    assert before + (format_number(conversion, number) if conversion else "") + after == written


@pytest.mark.parametrize("text", ["%d %d", "%f and %g", "%s", "%n", "%p", "%", "50% way", "%1001d", "%.1001f", "%*d"])
def test_other_formats_are_refused(text: str) -> None:
    with pytest.raises(Fault) as caught:
        split_format(text)
    assert caught.value.rule == "print-format"


@pytest.mark.parametrize("text", ["%1000d", "%.1000f"])
def test_widths_up_to_a_thousand_are_written(text: str) -> None:
    _, conversion, _ = split_format(text)
    assert len(format_number(conversion, 1)) >= 1000


def test_a_program_with_another_format_is_refused_at_its_location(capsys: pytest.CaptureFixture[str]) -> None:
    program = 'func.func @k(%n: i32) attributes {pto.kernel} {\n  pto.print ins("FORMAT", %n : i32)\n  return\n}\n'
    pto_dialect.compile(pto_dialect.parse(program.replace("FORMAT", "%d%%")))(3)
    assert capsys.readouterr().out == "3%"
    with pytest.raises((ProgramError, VerifyError)) as caught:
        pto_dialect.compile(pto_dialect.parse(program.replace("FORMAT", "%d of %s")))(3)
    assert "2:3: error: " in str(caught.value) and "[print-format]" in str(caught.value)


@pytest.mark.parametrize("element", ["i16", "f16", "i8", "ui32"])
def test_accumulators_of_other_elements_are_refused_at_their_location(element: str) -> None:
    program = f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @k(%a: !pto.ptr<{element}, l0c>, %b: !pto.ptr<f32, l1>, %n: i64) {{
  pto.mte_l0c_l1 %a, %b, %n, %n, %n, %n, nz2nd : !pto.ptr<{element}, l0c>, !pto.ptr<f32, l1>, i64, i64, i64, i64
  return
}}
}}
"""
    with pytest.raises((ProgramError, VerifyError)) as caught:
        pto_dialect.compile(pto_dialect.parse(program))
    assert "3:3: error: " in str(caught.value) and "accumulators hold f32 or i32" in str(caught.value)
