"""Launches cannot reach outside their folder, take all memory, never end, or overwrite what is read."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from pto_dialect import deadline
from pto_dialect.driver.run.memory_budget import MemoryBudget, SizeError, free_memory, parse_size
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.faults import format_size

CHECKOUT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"

ADD = """program = "add.pto"
[arguments]
x = "ones:f32:4x8"
y = "ones:f32:4x8"
z = "zeros:f32:4x8"
"""
ADD_ARGS = ("--arg", "x=ones:f32:4x8", "--arg", "y=ones:f32:4x8", "--arg", "z=zeros:f32:4x8")


@pytest.fixture(autouse=True)
def programs(pto_run) -> None:
    for name in ("add", "endless", "blocks", "scalars"):
        shutil.copy(PROGRAMS / f"{name}.pto", f"{name}.pto")


def launch(pto_run, text: str, *options: str, name: str = "t.launch.toml"):
    Path(name).write_text(text)
    return pto_run.raw(name, *options)


def refused(pto_run, text: str, *options: str, name: str = "t.launch.toml") -> str:
    """The message of the one located error that a wrong launch file gives."""
    outcome = launch(pto_run, text, *options, name=name)
    assert outcome.code == 2, outcome
    lines = outcome.err.splitlines()
    assert lines[0].startswith(f"{name}:") and ": error: " in lines[0], outcome.err
    assert sum("error:" in line for line in lines) == 1
    return outcome.err


# --- paths ------------------------------------------------------------------------------------------------


def outside(kind: str) -> str:
    """A launch file in ``k`` that names something outside of it."""
    np.save("x.npy", np.ones((4, 8), np.float32))
    Path("k/link.npy").symlink_to("../x.npy")
    Path("k/folder").symlink_to("..")
    absolute = Path("x.npy").absolute()
    return {
        "program": ADD.replace("add.pto", "../add.pto"),
        "argument": ADD.replace("ones:f32:4x8", "../x.npy", 1),
        "absolute": ADD.replace("ones:f32:4x8", str(absolute), 1),
        "link": ADD.replace("ones:f32:4x8", "link.npy", 1),
        "linked folder": ADD.replace("ones:f32:4x8", "folder/x.npy", 1),
        "expectation": ADD + '[expect]\nz = "../x.npy"\n',
        "output": ADD + '[outputs]\nz = "../z.npy"\n',
        "write back": ADD.replace("zeros:f32:4x8", "../x.npy:inout"),
    }[kind]


KINDS = ("program", "argument", "absolute", "link", "linked folder", "expectation", "output", "write back")


@pytest.mark.parametrize("kind", KINDS)
def test_paths_outside_of_the_folder_need_permission(pto_run, kind: str) -> None:
    Path("k").mkdir()
    shutil.copy("add.pto", "k")
    text = outside(kind)
    said = refused(pto_run, text, name="k/t.launch.toml")
    assert "lies outside of the folder of the launch file" in said and "--allow-outside" in said
    assert ("through a link" in said) == ("link" in kind)
    assert not Path("z.npy").exists()
    outcome = launch(pto_run, text, "--allow-outside", name="k/t.launch.toml")
    assert outcome.code == (1 if kind == "expectation" else 0), outcome


def test_dots_that_stay_inside_are_welcome(pto_run) -> None:
    Path("k").mkdir()
    assert launch(pto_run, ADD.replace("add.pto", "k/../add.pto")).code == 0


@pytest.mark.parametrize("name", ["t.launch.toml", "other.launch.toml"])
def test_a_launch_file_is_no_program(pto_run, name: str) -> None:
    Path("other.launch.toml").write_text('program = "t.launch.toml"\n')
    assert f"'{name}' is a launch file" in refused(pto_run, ADD.replace("add.pto", name))


def test_links_in_a_circle(pto_run) -> None:
    Path("a.pto").symlink_to("b.pto")
    Path("b.pto").symlink_to("a.pto")
    assert "cannot read program" in refused(pto_run, ADD.replace("add.pto", "a.pto"))


@pytest.mark.parametrize("where", ["program", "argument", "output"])
def test_a_path_has_no_nul(pto_run, where: str) -> None:
    text = {
        "program": ADD.replace("add.pto", "a\\u0000.pto"),
        "argument": ADD.replace("ones:f32:4x8", "a\\u0000.npy", 1),
        "output": ADD + '[outputs]\nz = "a\\u0000.npy"\n',
    }[where]
    assert "a path has no NUL character" in refused(pto_run, text)


# --- numbers ----------------------------------------------------------------------------------------------

MANY = "9" * 5000

NUMBERS = {
    "infinite blocks": ("blocks = 1e400\n" + ADD, 1, "blocks: expected a positive number, found inf"),
    "no number of blocks": ("blocks = nan\n" + ADD, 1, "blocks: expected a positive number, found nan"),
    "blocks that no chip counts": ("blocks = 65536\n" + ADD, 1, "blocks: expected at most 65535, found 65536"),
    "blocks of thousands of digits": (f"blocks = {MANY}\n" + ADD, 1, "a number has too many digits"),
    "a nested array": ("blocks = " + "[" * 20000 + "\n" + ADD, None, "nested too deeply"),
    "tolerance nan": ("rtol = nan\n" + ADD + "[expect]\nz = 2\n", 1, "rtol: expected a finite number from 0"),
    "tolerance inf": ("rtol = inf\n" + ADD + "[expect]\nz = 2\n", 1, "rtol: expected a finite number from 0"),
    "tolerance for nothing": ("rtol = 1\n" + ADD, 1, "rtol: nothing is compared here"),
    "exact with a tolerance": (
        ADD + "[expect]\nz = { value = 2, exact = true, rtol = 1 }\n", 7, "an exact comparison has no tolerances",
    ),
    "extent of thousands of digits": (ADD.replace("4x8", f"4x{MANY}", 1), 3, "has 5000 digits"),
    "seed of thousands of digits": (ADD.replace("ones:f32:4x8", f"random:f32:4x8:seed={MANY}", 1), 3, "digits"),
    "an argument twice": (ADD + '"%z" = "zeros:f32:4x8"\n', 6, "z is given twice, with % and without"),
    "an expectation twice": (ADD + '[expect]\nz = 2\n"%z" = 2\n', 8, "z is given twice"),
    "a key twice": (ADD + 'z = "zeros:f32:4x8"\n', 6, "this is no TOML: cannot overwrite a value"),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_values_that_nobody_can_mean(pto_run, name: str) -> None:
    text, line, said = NUMBERS[name]
    told = refused(pto_run, text)
    assert said in told
    assert line is None or told.startswith(f"t.launch.toml:{line}:")
    assert len(told) < 60_000


@pytest.mark.parametrize("value", ["1" * 400, "-0x" + "f" * 200, "1e400", "nan", MANY])
def test_numbers_that_fit_nowhere(pto_run, value: str) -> None:
    outcome = pto_run("scalars", "--arg", f"0={value}")
    assert outcome.code == 2 and "rror" in outcome.err


# --- memory -----------------------------------------------------------------------------------------------


def test_sizes_are_refused_before_anything_is_taken(pto_run) -> None:
    text = ADD.replace("ones:f32:4x8", "zeros:f32:999999999x999999999", 1)
    started = time.perf_counter()
    told = refused(pto_run, text)
    assert time.perf_counter() - started < 30
    assert told.startswith("t.launch.toml:3:1: error: argument x")
    assert "would take 6.94 EiB of memory" in told and "80 % of what is free" in told


def test_max_memory_names_the_argument_and_the_figures(pto_run) -> None:
    # 128 bytes, held ten times: once more for the summary, and eight times for who read and wrote them.
    outcome = pto_run("add", *ADD_ARGS, "--max-memory", "1000", "--sanitize")
    assert outcome.code == 2
    assert outcome.err.startswith(
        "error: argument x (!pto.ptr<f32, gm>): 'ones:f32:4x8' would take 1.38 KiB of memory, more than the"
        " 1000 bytes that --max-memory allows"
    )
    beside = pto_run("add", *ADD_ARGS, "--max-memory", "600").err
    assert "argument y" in beside and "384 bytes of memory, beside 256 bytes of other arguments" in beside
    assert pto_run("add", *ADD_ARGS, "--max-memory", "1000").code == 0
    assert pto_run("add", *ADD_ARGS, "--max-memory", "600", "--quiet").code == 0


def test_files_are_measured_before_they_are_read(pto_run) -> None:
    """Also an archive, which unpacks to more than it takes on the disk."""
    np.savez_compressed("big.npz", x=np.zeros((1000, 1000), np.float32))
    np.save("big.npy", np.zeros((1000, 1000), np.float32))
    np.zeros(1_000_000, np.float32).tofile("big.bin")
    for value in ("big.npz:x", "big.npz", "big.npy", "big.bin:f32", "big.bin:f32:1000x1000"):
        outcome = pto_run("add", "--arg", f"x={value}", *ADD_ARGS[2:], "--max-memory", "1M")
        assert outcome.code == 2 and f"'{value}' would take 11.4 MiB" in outcome.err, (value, outcome.err)


def test_a_head_that_lies_about_its_size(pto_run) -> None:
    with open("lie.npy", "wb") as stream:
        np.lib.format.write_array_header_1_0(
            stream, {"descr": "<f4", "fortran_order": False, "shape": (999_999_999, 999_999_999)}
        )
    outcome = pto_run("add", "--arg", "x=lie.npy", *ADD_ARGS[2:])
    assert outcome.code == 2 and "'lie.npy' would take" in outcome.err


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("4096", 4096), ("1.5K", 1536), ("2G", 2 << 30), ("3 MiB".replace(" ", ""), 3 << 20)]
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1", "1e9", "2X", "nan", "9" * 30, "1.2.3"])
def test_no_sizes(text: str) -> None:
    with pytest.raises(SizeError):
        parse_size(text)


def test_size_texts() -> None:
    assert [format_size(n) for n in (0, 1, 1023, 1536, 5 << 30)] == [
        "0 bytes",
        "1 byte",
        "1023 bytes",
        "1.5 KiB",
        "5 GiB",
    ]


def test_a_budget_is_shared() -> None:
    budget = MemoryBudget(1000, copies=2)
    budget.take(300, 400, "a")
    with pytest.raises(BindingError, match=r"b would take 500 bytes of memory, beside 600 bytes of other arguments"):
        budget.take(250, 0, "b")
    budget.take(200, 0, "c")


def test_free_memory_is_a_number_of_this_machine() -> None:
    free = free_memory()
    assert free is None or 1 << 20 < free < 1 << 50


# --- time -------------------------------------------------------------------------------------------------

ENDLESS = 'program = "endless.pto"\narguments = { p = "zeros:i32:1" }\n'


@pytest.mark.parametrize("options", [(), ("--sanitize",), ("--profile",)])
def test_a_timeout_names_the_line(pto_run, options: tuple[str, ...]) -> None:
    Path("p.npy").write_bytes(b"\x93NUMPY old")
    started = time.perf_counter()
    outcome = pto_run("endless", "--arg", "p=zeros:i32:1", "--timeout", "4", "--out", "p=p.npy", *options)
    assert time.perf_counter() - started < 30
    assert outcome.code == 1
    place, _, said = outcome.err.splitlines()[0].partition(": error: ")
    assert place.split(":")[-2] in ("3", "4", "6") and "the time limit of --timeout is over" in said
    assert "[run-timeout]" in said and Path("p.npy").read_bytes() == b"\x93NUMPY old"


def test_a_run_that_is_fast_enough(pto_run) -> None:
    assert pto_run("add", *ADD_ARGS, "--timeout", "60").code == 0
    assert not deadline._end


BLOCKS_ENDLESS = """func.func @k(%p: !pto.ptr<i32>) attributes {pto.kernel} {
  %true = arith.constant true
  %c1 = arith.constant 1 : i64
  %i = pto.get_block_idx
  %late = arith.cmpi eq, %i, %c1 : i64
  scf.while : () -> () {
    scf.condition(%late)
  } do {
    scf.yield
  }
  return
}
"""


def test_a_timeout_of_another_process_names_its_line(pto_run) -> None:
    """One of two processes runs the block that never ends; whichever it is."""
    outcome = pto_run(BLOCKS_ENDLESS, "--arg", "p=zeros:i32:1", "--blocks", "2", "-j", "2", "--timeout", "4")
    assert outcome.code == 1, outcome
    assert outcome.err.split(":")[1] in ("6", "7", "9") and "[run-timeout]" in outcome.err


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_each_launch_file_has_its_time(pto_run, jobs: str) -> None:
    Path("a.launch.toml").write_text(ADD)
    Path("b.launch.toml").write_text(ENDLESS)
    Path("c.launch.toml").write_text(ADD)
    outcome = pto_run.raw(".", "--timeout", "6", "-j", jobs, "--junit", "r.xml")
    assert outcome.code == 1
    assert outcome.out.splitlines()[-1] == "3 launch files: 2 passed, 1 timeout"
    (suite,) = ElementTree.parse("r.xml").getroot()
    assert (suite.get("failures"), suite.get("errors")) == ("0", "1")
    error = suite.find("testcase/error")
    assert error is not None and "time limit" in (error.get("message") or "")
    assert "endless.pto:" in (error.text or "")


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "x"])
def test_no_time(pto_run, seconds: str) -> None:
    assert pto_run("add", *ADD_ARGS, "--timeout", seconds).code == 2


# --- files ------------------------------------------------------------------------------------------------


def test_reports_never_overwrite_what_is_read(pto_run) -> None:
    np.save("x.npy", np.ones((4, 8), np.float32))
    args = ("--arg", "x=x.npy", *ADD_ARGS[2:], "--sanitize")
    Path("same.npy").symlink_to("x.npy")
    before = Path("x.npy").read_bytes(), Path("add.pto").read_bytes()
    for options, said in (
        (("--report", "add.pto"), "--report would overwrite 'add.pto', which is read"),
        (("--trace", "./add.pto"), "--trace would overwrite 'add.pto', which is read"),
        (("--report", "same.npy"), "--report would overwrite 'x.npy', which is read"),
        (("--report", "r", "--trace", "r"), "--report and --trace would both be written to 'r'"),
        (("--report", "z.npy", "--out", "z=z.npy"), "--report and --out would both be written to 'z.npy'"),
        (("--trace", "s.txt", "--suppressions", "s.txt"), "--trace would overwrite 's.txt', which is read"),
    ):
        Path("s.txt").write_text("")
        outcome = pto_run.raw("add.pto", *args, *options)
        assert outcome.code == 2 and said in outcome.err, (options, outcome)
    assert before == (Path("x.npy").read_bytes(), Path("add.pto").read_bytes())


@pytest.mark.parametrize("name", ["t.launch.toml", "add.pto", "x.npy"])
def test_junit_never_overwrites_what_is_read(pto_run, name: str) -> None:
    np.save("x.npy", np.ones((4, 8), np.float32))
    outcome = launch(pto_run, ADD.replace("ones:f32:4x8", "x.npy", 1), "--junit", name)
    assert outcome.code == 2 and f"--junit would overwrite '{name}', which is read" in outcome.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--rtol", "1"), "--rtol has no meaning without --expect"),
        (("--rtol", "nan", "--expect", "z=2"), "--rtol"),
        (("--sync", "strict"), "--sync has no meaning without --sanitize"),
        (("--report", "r.json"), "--report has no meaning without --sanitize"),
        (("--report", "r.json", "--trace", "t.json"), "--report has no meaning without --sanitize"),
        (("--suppressions", "s"), "--suppressions has no meaning without --sanitize"),
        (("--sanitize-max", "1"), "--sanitize-max has no meaning without --sanitize"),
        (("--trace-costs", "--sanitize"), "--trace-costs has no meaning without --trace"),
        (("--emit-python", "--out", "z=z.npy"), "--emit-python runs nothing, so there is nothing for --out"),
        (("--emit-python", "--profile"), "--emit-python runs nothing, so there is nothing for --profile"),
        (("--allow-outside",), "--allow-outside goes with launch files only"),
        (("--max-memory", "lots"), "'lots' is no size"),
        (("--blocks", "65536"), "--blocks"),
    ],
)
def test_options_that_would_change_nothing(pto_run, options: tuple[str, ...], said: str) -> None:
    outcome = pto_run("add", *ADD_ARGS, *options)
    assert outcome.code == 2 and said in outcome.err, outcome


ADDING = """
import sys
import numpy as np
from pto_dialect.driver.run.files import Writing, write_files
from pto_dialect.driver.run.value_text import NPZ, OutputFile
for number in range(40):
    name = f"{sys.argv[1]}{number}"
    write_files([Writing(name, OutputFile("all.npz", NPZ, name), np.full(3, number))])
"""


def test_processes_that_add_to_one_archive_lose_nothing(pto_run) -> None:
    code = f"import sys; sys.path.insert(0, {os.fspath(CHECKOUT)!r})\n" + ADDING
    running = [subprocess.Popen([sys.executable, "-c", code, name]) for name in ("a", "b", "c")]
    assert [process.wait(120) for process in running] == [0, 0, 0]
    with np.load("all.npz") as archive:
        assert sorted(archive.files) == sorted(f"{name}{number}" for name in "abc" for number in range(40))
    assert not [name for name in os.listdir() if name.startswith(".")]


INSTALLED = """
import sys
sys.path.insert(0, {checkout!r})
import pto_dialect
pto_dialect.__path__.append({checkout!r})
from pto_dialect.tools.start import pto_run
print("ready", file=sys.stderr, flush=True)
pto_run()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGTERM")
def test_a_process_that_is_stopped_leaves_nothing(pto_run) -> None:
    command = [sys.executable, "-c", INSTALLED.format(checkout=os.fspath(CHECKOUT)), "endless.pto"]
    command += ["--arg", "p=zeros:i32:1", "--out", "p=p.npy"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None and process.stderr.readline() == "ready\n"
    time.sleep(1)
    process.terminate()
    _, told = process.communicate(timeout=120)
    assert (process.returncode, told) == (128 + signal.SIGTERM, "")
    assert not [name for name in os.listdir() if name.endswith((".tmp", ".new", ".npy"))]
