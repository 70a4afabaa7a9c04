"""Tables of cycle parameters: what is refused, and where. Source: docs/reference/cycles.md, "Tables"."""

from __future__ import annotations

import pytest
from groups import in_groups

from pto_dialect.analysis.cycles.estimate import estimate
from pto_dialect.analysis.cycles.measurements import parse_measurements
from pto_dialect.analysis.cycles.table import CycleTable, CycleTableError, parse_table, read_table, shipped
from pto_dialect.analysis.cycles.work import Work

HEAD = "law,name,type,parameter,value,prior,evidence,note"


def lines(chip: str = "a2a3") -> list[str]:
    return shipped(chip).text().splitlines()


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_a_table_written_and_read_is_the_same(chip: str) -> None:
    table = shipped(chip)
    again = parse_table(table.text().splitlines(), "again.csv")
    strip = [(key, one.value, one.prior, one.evidence) for key, one in table.entries.items()]
    assert [(key, one.value, one.prior, one.evidence) for key, one in again.entries.items()] == strip


@in_groups(
    ("change", "message"),
    [
        ({0: HEAD.replace("note", "remark")}, "t.csv:1: there is no column 'remark'; columns are"),
        ({0: "law,name,type,parameter"}, "t.csv:1: column 'value' is missing"),
        ({0: HEAD + ",law"}, "t.csv:1: a column is named twice"),
        ({1: "machine,clock_mhz,*,value,-3,,published,"}, "t.csv:2: value: -3 is not a number of cycles"),
        ({1: "machine,clock_mhz,*,value,1e300,,published,"}, "t.csv:2: value: 1e300 is above 1,000,000,000"),
        ({1: "machine,clock_mhz,*,value,nan,,published,"}, "t.csv:2: value: nan is not a number"),
        ({1: "machine,clock_mhz,*,value,,,published,"}, "t.csv:2: value: the value is missing"),
        ({1: "machine,clock_mhz,*,value,fast,,published,"}, "t.csv:2: value: 'fast' is no number"),
        ({1: "machine,clock_mhz,*,value,1"}, "t.csv:2: 8 columns expected, found 5"),
        ({1: "machines,clock_mhz,*,value,1,,published,"}, "t.csv:2: there is no law 'machines'"),
        ({1: "machine,clock_mhz,*,price,1,,published,"}, "t.csv:2: 'machine' has no parameter 'price', but value"),
        ({1: "machine,clock_mhz,*,value,1,,guessed,"}, "t.csv:2: there is no evidence 'guessed'"),
        ({1: "repeat,tadd,f32,fixed,1,,,"}, "is given twice, first in line 2"),
        ({1: None}, "t.csv: 'machine clock_mhz' is missing"),
        ({1: "machine,clock_mhz,*,value,0,,published,"}, "t.csv:2: value: 0 is not positive"),
        ({6: "machine,flow,*,value,2,,published,"}, "t.csv:7: the flow is 1, loops over registers, or 0"),
        ({6: "machine,flow,*,value,1,,published,"}, "t.csv: 'flow flat_start' is missing"),
        ({4: None}, "t.csv: 'machine memory_gbps' is missing"),
        (
            {1: "range,unheard,*,low,9,,,\nrange,unheard,*,high,3,,,"},
            "t.csv:2: 'range unheard' has a low above its high",
        ),
        ({1: "move,gm:moon,*,fixed,1,,,"}, "t.csv:2: 'move gm:moon *' has no parameter 'rate'"),
    ],
)
def test_wrong_tables_are_refused_with_their_location(change: dict[int, str | None], message: str) -> None:
    text = [change.get(number, line) for number, line in enumerate(lines())]
    with pytest.raises(CycleTableError) as error:
        parse_table([part for line in text if line is not None for part in line.split("\n")], "t.csv")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_comments_and_optional_columns() -> None:
    short = ["law,name,type,parameter,value", "# mine", *(",".join(line.split(",")[:5]) for line in lines()[1:])]
    assert isinstance(parse_table(short, "t.csv"), CycleTable)


def test_files_that_cannot_be_read() -> None:
    with pytest.raises(CycleTableError, match="cannot read '/nowhere/t\\.csv': No such file"):
        read_table("/nowhere/t.csv")


NEEDED = "op,src_dtypes,dst_dtype,tile_rows,tile_cols,valid_rows,valid_cols,measured_cycles"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ([NEEDED + ",colour"], "m.csv:1: there is no column 'colour'"),
        ([NEEDED.replace(",valid_cols", "")], "m.csv:1: column 'valid_cols' is missing"),
        ([NEEDED, "tadd,f32,f32,1,64,1,64,-5"], "m.csv:2: measured_cycles: -5 is not positive"),
        ([NEEDED, "tadd,f32,f32,1,64,1,64"], "m.csv:2: measured_cycles: the value is missing"),
        ([NEEDED, "tadd,f32,f32,1,64,2,64,50"], "m.csv:2: the valid part 2x64 is larger than 1x64"),
        ([NEEDED, "tadd,f32,f32,one,64,2,64,50"], "m.csv:2: tile_rows: 'one' is no number"),
    ],
)
def test_wrong_measurements_are_refused_with_their_location(text: list[str], message: str) -> None:
    with pytest.raises(CycleTableError) as error:
        parse_measurements(text, "m.csv")
    assert message in str(error.value)


def test_measurements_say_what_was_measured() -> None:
    head = NEEDED + ",gm_shape,variant,note,public_model_precision"
    rows = [
        "tsel,mask;f32;f32,f32,3,224,3,192,206,,vf=2D_DEFAULT; op_params=default,,0.9",
        "tload,i16,i16,64,128,64,128,8576,1x1x32x2x128,dst=vec,CLOSED_FORM: x,",
    ]
    select, load = parse_measurements([head, *rows], "m.csv")
    assert (select.work.source, select.work.options["variant"], select.work.options["op_params"]) == (
        *("f32", "2D_DEFAULT", "default"),
    )
    assert select.baseline == pytest.approx(0.1)
    assert (load.work.path, load.work.transfers, load.modelled) == ("gm:ub", 32, True)


def test_transfers_and_products_of_measurements_have_their_memories() -> None:
    head = NEEDED + ",variant"
    rows = [
        "textract,f16,f16,64,64,64,64,90,src=Mat/ColMajor; dst=Left/RowMajor",
        "tstore,f32,f32,64,64,64,64,400,src=Acc",
        "tload,f16,f16,64,64,64,64,300,dst=mat/RowMajor",
        "tmatmul,f16;f16,f32,64,64,64,64,85,k=64",
        "tadd,f32;f32,f32,64,64,64,64,85,vf=1D_POST_UPDATE",
    ]
    works = [one.work for one in parse_measurements([head, *rows], "m.csv")]
    assert [(work.path, work.k) for work in works] == [
        *(("l1:l0a", 0), ("l0c:gm", 0), ("gm:l1", 0), ("", 64), ("", 0)),
    ]


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_a_table_without_one_of_its_lines_is_refused_or_works(chip: str) -> None:
    """Whatever line is missing, negative or zero: a message with its location, or figures for everything."""
    text = lines(chip)
    works = [
        Work("tadd", "f32", "f32", 8, 64, 8, 64), Work("tsel", "f32", "f32", 8, 64, 8, 64),
        Work("tcvt", "f32", "f16", 8, 64, 8, 60), Work("tcolmax", "f32", "f32", 1, 64, 1, 64),
        Work("trowsum", "f32", "f32", 8, 64, 8, 64), Work("tload", "f32", "f32", 8, 64, 8, 64, "gm:ub"),
        Work("tmatmul", "f32", "f32", 8, 64, 8, 64, k=16), Work("flag", "i8", "i8", 1, 1, 1, 1),
        Work("barrier", "i8", "i8", 1, 1, 1, 1), Work("unheard", "f32", "f32", 8, 64, 8, 64),
        Work("trecip", "f16", "f16", 8, 64, 8, 64), Work("tmov", "f32", "f32", 8, 64, 8, 60, "ub:ub"),
    ]  # fmt: skip
    # Lines of operations are equal.
    laws = ("operation", "family", "repeat", "reduce", "column", "broadcast", "convert", "move", "cube")
    chosen = [number for number in range(1, len(text)) if number % 24 == 0 or not text[number].startswith(laws)]
    for number in chosen:
        cells = text[number].split(",")
        for changed in (None, ",".join([*cells[:4], "-2", *cells[5:]]), ",".join([*cells[:4], "0", *cells[5:]])):
            try:
                table = parse_table(
                    [*text[:number], *([] if changed is None else [changed]), *text[number + 1 :]], "t.csv"
                )
            except CycleTableError as error:
                assert str(error).startswith("t.csv")
                continue
            for work in works:
                found = estimate(work, table)
                assert found.low <= found.cycles <= found.high


def test_the_family_is_the_longest_name_that_fits() -> None:
    table = shipped("a5")
    names = {"trowsum": "trowsum", "trowmax": "trow*", "trowexpandsub": "trowexpand*", "trowargmax": "trowarg*"}
    names |= {"tnew": "t*", "tquant.mx": "tquant.mx", "vlds": "v*", "vecscope": "vecscope"}
    assert {name: table.family_of(name) for name in names} == names
    assert table.family_of("simt_launch") is None
