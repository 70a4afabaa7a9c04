"""Launch files: shared buffers, expectations, suites, reports, and one located error for each wrong file."""

from __future__ import annotations

import shutil
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

PROGRAMS = Path(__file__).parent / "programs"

ADD = """program = "add.pto"
[arguments]
x = "ones:f32:4x8"
y = "ones:f32:4x8"
z = "zeros:f32:4x8"
"""


@pytest.fixture(autouse=True)
def programs(pto_run) -> None:
    for name in ("add", "scalars", "blocks", "two"):
        shutil.copy(PROGRAMS / f"{name}.pto", f"{name}.pto")


def launch(pto_run, text: str, *options: str, name: str = "t.launch.toml"):
    Path(name).write_text(text)
    return pto_run.raw(name, *options)


def passed(pto_run, text: str, *options: str) -> str:
    outcome = launch(pto_run, text, *options)
    assert (outcome.code, outcome.err) == (0, ""), outcome
    return outcome.out


# --- what a file can say ----------------------------------------------------------------------------------


def test_the_program_of_the_same_name_is_the_default(pto_run) -> None:
    text = ADD.replace('program = "add.pto"\n', "") + '[expect]\nz = 2\n[outputs]\nz = "z.npy"\n'
    outcome = launch(pto_run, text, name="add.launch.toml")
    assert (outcome.code, outcome.out) == (0, "z: f32 4x8, min 2, max 2, mean 2 -> ./z.npy\n".replace("./", ""))
    np.testing.assert_array_equal(np.load("z.npy"), np.full((4, 8), 2, np.float32))


def test_paths_count_from_the_launch_file(pto_run) -> None:
    Path("sub").mkdir()
    np.full(32, 5, "<f4").tofile("sub/x.bin")
    text = ADD.replace("add.pto", "../add.pto").replace('"ones:f32:4x8"', '"x.bin:f32:4x8"', 1)
    text += '[expect]\nz = 6\n[outputs]\nz = "z.npz:sum"\n'
    outcome = launch(pto_run, text, "--allow-outside", name="sub/t.launch.toml")
    assert (outcome.code, outcome.err) == (0, "")
    assert (np.load("sub/z.npz")["sum"] == 6).all()


def test_numbers_and_results(pto_run) -> None:
    np.save("k.npy", np.array([7, 8], np.int32))
    text = """program = "scalars.pto"
[arguments]
p = "zeros:f32:1"
n = 5
k = "k.npy"
u = 200
f = 0.5
flag = true
[expect]
v = 0.5
"""
    assert "v: f32 = " in passed(pto_run, text)


def test_blocks_and_write_back(pto_run) -> None:
    np.save("p.npy", np.zeros(4, np.int64))
    text = 'program = "blocks.pto"\nblocks = 4\narguments = { p = "p.npy:inout" }\n'
    passed(pto_run, text, "-j", "2")
    assert np.load("p.npy").tolist() == [40, 41, 42, 43]


CHAIN = """program = "add.pto"
[buffers]
h = "random:f32:4x8:seed=3"
r = "zeros:f32:4x8"
[[launch]]
arguments = { x = "h", y = "ones:f32:4x8", z = "h" }
outputs = { z = "middle.npy" }
[[launch]]
entry = "add"
arguments = { 0 = "h", "1" = "h", "%z" = "r" }
expect = { z = { value = "want.npy", exact = true } }
[expect]
r = "want.npy"
[outputs]
r = "r.npy"
h = "h.bin"
"""


def test_launches_share_buffers_in_order(pto_run) -> None:
    h = np.random.default_rng(3).standard_normal((4, 8)).astype(np.float32) + np.float32(1)
    np.save("want.npy", h + h)
    passed(pto_run, CHAIN)
    np.testing.assert_array_equal(np.load("middle.npy"), h)
    np.testing.assert_array_equal(np.load("r.npy"), h + h)
    np.testing.assert_array_equal(np.fromfile("h.bin", "<f4").reshape(4, 8), h)


def test_what_is_stored_is_from_after_its_launch(pto_run) -> None:
    """The second launch overwrites what the first one wrote."""
    text = """program = "add.pto"
[buffers]
h = "ones:f32:4x8"
[[launch]]
arguments = { x = "h", y = "h", z = "h" }
outputs = { z = "first.npy" }
[[launch]]
arguments = { x = "h", y = "h", z = "h" }
outputs = { z = "second.npy" }
"""
    passed(pto_run, text)
    assert (np.load("first.npy") == 2).all()
    assert (np.load("second.npy") == 4).all()


# --- expectations -----------------------------------------------------------------------------------------

COPY = """
func.func @copy(%p: !pto.tile<2x3xf32>) -> !pto.tile<2x3xf32> {
  return %p : !pto.tile<2x3xf32>
}
"""


@pytest.mark.parametrize(
    ("got", "want", "options", "ok"),
    [
        ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6.00001], "", True),
        ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6.1], "", False),
        ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6.1], "rtol = 0.1", True),
        ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6.1], "rtol = 0, atol = 0.2", True),
        ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6.00001], "exact = true", False),
        ([0, 2, 3, 4, 5, 6], [-0.0, 2, 3, 4, 5, 6], "", True),
        ([0, 2, 3, 4, 5, 6], [-0.0, 2, 3, 4, 5, 6], "exact = true", False),
        ([np.nan, 2, 3, 4, 5, 6], [np.nan, 2, 3, 4, 5, 6], "", True),
        ([np.nan, 2, 3, 4, 5, 6], [np.nan, 2, 3, 4, 5, 6], "exact = true", True),
        ([np.nan, 2, 3, 4, 5, 6], [np.nan, 2, 3, 4, 5, 6], "equal_nan = false", False),
        ([1, 2, 9, 4, 5, 9], [1, 2, 3, 4, 5, 6], "valid = [2, 2]", True),
        ([1, 2, 9, 7, 5, 9], [1, 2, 3, 4, 5, 6], "valid = [2, 2]", False),
        ([1, 2, 9, 7, 5, 9], [1, 2, 3, 4, 5, 6], "valid = [1, 2], exact = true", True),
    ],
)
def test_how_closely(pto_run, got: list[float], want: list[float], options: str, ok: bool) -> None:
    Path("copy.pto").write_text(COPY)
    np.save("got.npy", np.array(got, np.float32).reshape(2, 3))
    np.save("want.npy", np.array(want, np.float32).reshape(2, 3))
    detail = f'{{ value = "want.npy"{", " if options else ""}{options} }}'
    text = f'program = "copy.pto"\narguments = {{ p = "got.npy" }}\nexpect = {{ p = {detail} }}\n'
    assert launch(pto_run, text).code == (0 if ok else 1)


def test_a_file_may_hold_the_valid_region_alone(pto_run) -> None:
    Path("copy.pto").write_text(COPY)
    np.save("got.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    np.array([0, 1, 3, 4], "<f4").tofile("want.bin")
    head = 'program = "copy.pto"\narguments = { p = "got.npy" }\n'
    for stated in ("want.bin:f32", "want.bin:f32:2x2"):
        passed(pto_run, head + f'[expect.p]\nvalue = "{stated}"\nvalid = [2, 2]\n')
    outcome = launch(pto_run, head + '[expect.p]\nvalue = "want.bin:f32"\nvalid = [1, 2]\n')
    assert outcome.code == 2
    assert "t.launch.toml:3:2: error: expectation of p" in outcome.err


def test_tolerances_of_the_whole_file(pto_run) -> None:
    assert launch(pto_run, "atol = 1\n" + ADD + "[expect]\nz = 3\n").code == 0
    assert launch(pto_run, "atol = 1\n" + ADD + "[expect]\nz = { value = 3, atol = 0.5, rtol = 0 }\n").code == 1


# --- wrong files ------------------------------------------------------------------------------------------

WRONG = {
    "no TOML": (ADD + "[expect\n", 6, "this is no TOML"),
    "unknown key": ("blokcs = 2\n" + ADD, 1, "blokcs: unknown key; did you mean blocks?"),
    "unknown key in an expectation": (ADD + "[expect]\nz = { value = 2, rtoll = 1 }\n", 7, "did you mean rtol?"),
    "no value in an expectation": (ADD + "[expect]\nz = { rtol = 1 }\n", 7, "expect.z: it has no value"),
    "unknown argument": (ADD + 'zz = "zeros:f32:4x8"\n', 6, "@add has no argument zz"),
    "missing argument": (ADD.replace('z = "zeros:f32:4x8"\n', ""), 2, "no value for argument z"),
    "other element type": (ADD.replace("ones:f32", "ones:f16", 1), 3, "makes f16 elements, not f32"),
    "no value": (ADD.replace("ones:f32:4x8", "ones:f32", 1), 3, "is not written as ones:TYPE:SHAPE"),
    "a table as argument": (ADD + "n = { a = 1 }\n", 6, "expected a number or a string"),
    "unreadable file": (ADD.replace("ones:f32:4x8", "none.npy", 1), 3, "cannot read"),
    "file of another size": (ADD.replace("ones:f32:4x8", "small.bin:f32:4x8", 1), 3, "should have 128 bytes"),
    "unknown entry": ('entry = "ad"\n' + ADD, 1, "has no function @ad; there is @add"),
    "unclear entry": (ADD.replace("add.pto", "two.pto"), 1, "choose one"),
    "unknown program": (ADD.replace("add.pto", "none.pto"), 1, "cannot read program"),
    "unknown target": ('target = "a6"\n' + ADD, 1, "unknown target 'a6'"),
    "no number of blocks": ("blocks = 0\n" + ADD, 1, "blocks: expected a positive number, found 0"),
    "expectation of another shape": (ADD + '[expect]\nz = "ones:f32:4x4"\n', 7, "has shape 4x4, not 4x8"),
    "expectation of another type": (ADD + '[expect.z]\nvalue = "ones:f16:4x8"\nexact = true\n', 6, "needs f32"),
    "expectation of nothing": (ADD + "[expect]\ny2 = 1\n", 7, "has no buffer or result y2"),
    "valid region outside": (ADD + "[expect]\nz = { value = 2, valid = [4, 9] }\n", 7, "valid region 4x9"),
    "output of nothing": (ADD + '[outputs]\nq = "q.npy"\n', 7, "has no buffer or result q"),
    "output without a form": (ADD + '[outputs]\nz = "z.txt"\n', 7, "is no file to write"),
    "output that cannot be written": (ADD + '[outputs]\nz = "no/z.npy"\n', 7, "there is no folder"),
    "arguments beside launches": ("arguments = {}\n" + CHAIN, 1, "it belongs to one of the [[launch]] tables"),
    "unknown buffer": (CHAIN.replace('"%z" = "r"', '"%z" = "rr"'), 10, "'rr' is no value"),
    "unused buffer": (CHAIN.replace("[[launch]]", 'u = "ones:i8:1"\n[[launch]]', 1), 5, "no launch uses buffer u"),
    "buffer of another type": (CHAIN.replace("random:f32", "random:f16"), 3, "makes f16 elements, not f32"),
    "expectation of no buffer": (CHAIN.replace("[expect]\nr", "[expect]\ns"), 13, "'s' is no shared buffer"),
    "wrong key in the second launch": (CHAIN.replace('entry = "add"', 'entri = "add"'), 9, "launch[2].entri: unknown"),
    "two outputs in one file": (CHAIN.replace("h.bin", "r.npy"), 16, "would both be written"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_one_located_error_and_nothing_written(pto_run, case: str) -> None:
    text, line, message = WRONG[case]
    np.ones(3, "<f4").tofile("small.bin")
    np.save("want.npy", np.zeros((4, 8), np.float32))
    for file in ("r.npy", "z.npy", "middle.npy", "h.bin"):
        Path(file).write_bytes(b"\x93NUMPY old")
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    outcome = launch(pto_run, text)
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    head = outcome.err.splitlines()[0]
    assert head.startswith(f"t.launch.toml:{line}:"), outcome.err
    assert message in head
    assert outcome.err.count("error:") == 1
    del before["small.bin"]
    after = {path.name: path.read_bytes() for path in Path().iterdir() if path.name in before}
    assert after == before
    assert {path.name for path in Path().iterdir()} == {*before, "small.bin", "t.launch.toml"}


def test_a_missed_expectation_leaves_files_alone(pto_run) -> None:
    Path("z.npy").write_bytes(b"\x93NUMPY old")
    outcome = launch(pto_run, ADD + '[expect]\nz = 3\n[outputs]\nz = "z.npy"\n')
    assert outcome.code == 1
    assert "z differs from 3: 32 of 32 elements" in outcome.err
    assert Path("z.npy").read_bytes() == b"\x93NUMPY old"


def test_a_fault_of_the_program_is_code_1(pto_run) -> None:
    outcome = launch(pto_run, ADD.replace("zeros:f32:4x8", "zeros:f32:31"))
    assert outcome.code == 1
    assert "[mem-oob]" in outcome.err
    assert "add.pto:" in outcome.err


@pytest.mark.parametrize("option", ["--entry=add", "--arg=x=1", "--blocks=1", "--expect=z=1", "--profile", "--rtol=1"])
def test_options_that_the_file_says(pto_run, option: str) -> None:
    outcome = launch(pto_run, ADD, option)
    assert outcome.code == 2
    assert "does not go with launch files" in outcome.err


def test_command_lines_that_do_not_fit(pto_run) -> None:
    Path("t.launch.toml").write_text(ADD)
    for words, message in (
        (("add.pto", "--junit", "r.xml"), "--junit goes with launch files only"),
        (("none.launch.toml",), "no such file or folder"),
        (("t.launch.toml", "add.pto"), "'add.pto' is no launch file"),
    ):
        outcome = pto_run.raw(*words)
        assert outcome.code == 2
        assert message in outcome.err


def test_the_command_line_prevails(pto_run) -> None:
    text = ADD.replace("[arg", 'target = "a2a3"\nfill = "random"\n[arg')
    passed(pto_run, text, "--target", "a5", "--fill", "poison", "--accumulate", "exact", "--quiet")


@pytest.mark.parametrize("fill", ["zero", "poison", "random", "ones"])
def test_memories_start_with_one_of_three_contents(pto_run, fill: str) -> None:
    text = ADD.replace("[arg", f'fill = "{fill}"\n[arg')
    if fill == "ones":
        Path("t.launch.toml").write_text(text)
        outcome = pto_run.raw("t.launch.toml")
        assert outcome.code == 2 and "zero, poison, random" in outcome.err.replace("'", "")
    else:
        passed(pto_run, text)


# --- many files -------------------------------------------------------------------------------------------


@pytest.fixture
def folder(pto_run) -> Path:
    for number in range(5):
        Path(f"k/{number}").mkdir(parents=True)
        shutil.copy("add.pto", f"k/{number}")
        Path(f"k/{number}/ok.launch.toml").write_text(ADD + "[expect]\nz = 2\n")
    Path("k/2/ok.launch.toml").write_text(ADD + "[expect]\nz = 4\n")
    Path("k/.hidden").mkdir()
    Path("k/.hidden/no.launch.toml").write_text("no = toml = here")
    return Path("k")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_folder_ends_in_a_table(pto_run, folder: Path, jobs: str) -> None:
    outcome = pto_run.raw("k", "-j", jobs)
    assert outcome.code == 1
    lines = outcome.out.splitlines()
    assert lines[-1] == "5 launch files: 4 passed, 1 failed"
    assert [line.split()[0] for line in lines[1:-1]] == [f"k/{number}/ok.launch.toml" for number in range(5)]
    assert [line.split()[2] for line in lines[1:-1]] == ["passed", "passed", "FAILED", "passed", "passed"]
    assert outcome.err.startswith("k/2/ok.launch.toml:\n  z differs from 4: 32 of 32 elements")


def test_a_wrong_file_is_code_2(pto_run, folder: Path) -> None:
    Path("k/3/ok.launch.toml").write_text("entri = 1\n")
    outcome = pto_run.raw("k")
    assert outcome.code == 2
    assert outcome.out.splitlines()[-1] == "5 launch files: 3 passed, 1 failed, 1 wrong"


def test_junit_report(pto_run, folder: Path) -> None:
    Path("k/3/ok.launch.toml").write_text("entri = 1\n")
    Path("report.xml").write_text('<?xml version="1.0"?>\n<testsuites/>\n')
    assert pto_run.raw("k", "--junit", "report.xml", "--color", "always").code == 2
    (suite,) = ElementTree.parse("report.xml").getroot()
    assert {key: suite.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "5",
        "failures": "1",
        "errors": "1",
    }
    cases = list(suite)
    assert [case.get("classname") for case in cases] == [f"k.{number}" for number in range(5)]
    (failure,), (error,) = cases[2].findall("failure"), cases[3].findall("error")
    assert (failure.get("message") or "").startswith("z differs from 4")
    assert error.get("message") == "entri: unknown key; did you mean entry?"
    assert "\x1b" not in Path("report.xml").read_text()


def test_junit_report_of_one_file(pto_run) -> None:
    outcome = launch(pto_run, ADD, "--junit", "r.xml")
    assert (outcome.code, outcome.out) == (0, "z: f32 4x8, min 2, max 2, mean 2\n")
    (suite,) = ElementTree.parse("r.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "0", "0")
    assert launch(pto_run, ADD, "--junit", "no/r.xml").code == 2
