"""``--list``, ``--auto``, ``--init-launch`` and ``--reference``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pto_dialect.recording import open as open_recording

PROGRAMS = Path(__file__).parent / "programs"

REFERENCE = """
import ml_dtypes
import numpy as np

def add(x, y):
    return x + y

def in_place(x, y, z):
    z[...] = x + y

def by_name(**arguments):
    return {"z": arguments["x"] + arguments["y"]}

def near(x, y):
    total = x + y
    total.flat[5] = np.nextafter(total.flat[5], np.float32(np.inf))
    return total

def wrong(x, y):
    total = x + y
    total.flat[5] += 1
    return total

def shape(x, y):
    return x[:3]

def two(x, y):
    return x, y

def nothing(x):
    return {}

def fails(x):
    raise ValueError("no")

constant = 3
"""


@pytest.fixture
def reference(pto_run) -> None:
    Path("ref.py").write_text(REFERENCE)


def test_list(pto_run) -> None:
    assert pto_run.good("add", "--list").splitlines() == [
        "@add  (line 1: a2a3, one core, one block)",
        "  x : !pto.ptr<f32, gm>  in",
        "  y : !pto.ptr<f32, gm>  in",
        "  z : !pto.ptr<f32, gm>  out",
    ]
    document = json.loads(pto_run.good("two", "--list=json"))
    assert [one["name"] for one in document["functions"]] == ["first", "second"]
    assert [one["entry"] for one in document["functions"]] == [True, True]


def test_auto_says_what_it_ran_on(pto_run) -> None:
    out = pto_run.good("add", "--auto")
    line, result = out.splitlines()
    assert line == "--arg x=random:f32:32:seed=0 --arg y=random:f32:32:seed=1 --arg z=random:f32:32:seed=2"
    assert pto_run.good("add", *line.split()) == f"{result}\n"
    assert "seed=7" in pto_run.good("add", "--auto", "--seed", "7")
    assert pto_run.good("add", "--auto", "--quiet") == ""


def test_auto_leaves_what_is_given(pto_run) -> None:
    out = pto_run.good("add", "--auto", "--arg", "y=ones:f32:64", "--dump", "--out", "z=z.npy", "--out", "x=x.npy")
    assert out.startswith("--arg x=random:f32:32:seed=0 --arg y=ones:f32:64 --arg z=")
    np.testing.assert_array_equal(np.load("z.npy"), np.load("x.npy") + 1)


def test_auto_runs_every_function_that_may_be_meant(pto_run) -> None:
    out = pto_run.good("two", "--auto")
    assert out.startswith("@first\n--arg p=")
    assert "\n@second\n--arg p=" in out
    assert pto_run.good("two", "--auto", "--entry", "second").startswith("--arg p=")


def test_auto_under_sanitizers(pto_run) -> None:
    outcome = pto_run("add", "--auto", "--sanitize")
    assert outcome.code == 0


def test_auto_under_sanitizers_leaves_files_of_each_function(pto_run) -> None:
    files = ("--record", "run.pto-rec", "--html", "run.html", "--trace", "run.json", "--report", "found.json")
    pto_run.good("two", "--auto", "--quiet", "--sanitize", *files)
    assert sorted(path.name for path in Path().glob("run*")) == [
        "run-1.html", "run-1.json", "run-1.pto-rec", "run-2.html", "run-2.json", "run-2.pto-rec",
    ]  # fmt: skip
    assert sorted(path.name for path in Path().glob("found*")) == ["found-1.json", "found-2.json"]
    entries: list[str] = []
    for number in (1, 2):
        with open_recording(f"run-{number}.pto-rec") as recording:
            entries.append(recording.program.entry)
    assert entries == ["first", "second"]
    pto_run.good("two", "--auto", "--quiet", "--entry", "second", "--record", "only.pto-rec")
    assert [path.name for path in Path().glob("only*")] == ["only.pto-rec"]


def test_auto_that_cannot_run_writes_what_happens(pto_run) -> None:
    waiting = """
    func.func @k(%a: !pto.ptr<f32, gm>) attributes {pto.kernel} {
      pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
      return
    }
    """
    code, out, err = pto_run(waiting, "--target", "a5", "--auto")
    assert (code, out) == (1, "")
    assert "no generated arguments let it run; --arg gives" in err
    files = {"--html": "a.html", "--record": "a.pto-rec"}
    for option, file in files.items():
        code, _, err = pto_run(waiting, "--target", "a5", "--auto", option, file)
        assert code == 1
        assert "assumed: no generated arguments let it run" in err and "[sync-deadlock]" in err
        assert Path(file).exists()
    assert "the program cannot continue" in Path("a.html").read_text(encoding="utf-8")
    with open_recording("a.pto-rec") as recording:
        assert recording.outcome.rule == "sync-deadlock"


def test_auto_that_cannot_run(pto_run) -> None:
    err = pto_run.bad(1, "func.func @f(%n: i32) {\n  pto.trap\n  return\n}\n", "--auto")
    assert "inline.pto:2:3: error: " in err
    assert "no generated arguments let it run" in err


def test_init_launch(pto_run) -> None:
    Path("add.pto").write_text((PROGRAMS / "add.pto").read_text())
    outcome = pto_run.raw("add.pto", "--init-launch")
    assert (outcome.code, outcome.out) == (0, "add.launch.toml: @add\n")
    text = Path("add.launch.toml").read_text()
    assert 'x = "random:f32:32:seed=0"  # !pto.ptr<f32, gm>, in\n' in text
    assert pto_run.raw("add.launch.toml").out == pto_run.good("add", "--auto").splitlines()[1] + "\n"
    again = pto_run.raw("add.pto", "--init-launch")
    assert (again.code, again.err) == (2, "error: 'add.launch.toml' exists, and a launch file is never overwritten\n")
    assert Path("add.launch.toml").read_text() == text


def test_init_launch_of_several_functions_elsewhere(pto_run) -> None:
    Path("two.pto").write_text((PROGRAMS / "two.pto").read_text())
    Path("sub").mkdir()
    outcome = pto_run.raw("two.pto", "--init-launch=sub/k.launch.toml", "--blocks", "2", "--target", "a5")
    assert outcome.code == 0, outcome
    outcome = pto_run.raw("sub/k.launch.toml", "--allow-outside")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("@first\n")
    assert pto_run.raw("two.pto", "--init-launch=none/k.launch.toml").code == 2


@pytest.mark.usefixtures("reference")
@pytest.mark.parametrize("name", ["add", "in_place", "by_name"])
def test_reference_that_agrees(pto_run, name: str) -> None:
    out = pto_run.good("add", "--auto", "--reference", f"ref.py:{name}")
    assert f"z agrees with ref.py:{name}: 32 elements\n  every element is equal\n" in out


@pytest.mark.usefixtures("reference")
def test_reference_that_is_near(pto_run) -> None:
    out = pto_run.good("add", "--auto", "--reference", "ref.py:near")
    assert "  worst element [5], 1 ulp\n  ulp of errors  0: 31, <=1: 1\n" in out


@pytest.mark.usefixtures("reference")
def test_reference_that_differs(pto_run) -> None:
    outcome = pto_run("add", "--auto", "--reference", "ref.py:wrong", "--out", "z=z.npy")
    assert outcome.code == 1
    assert outcome.err.startswith("z differs from ref.py:wrong: 1 of 32 elements by more than")
    assert "worst element [5]" in outcome.err
    assert "ulp of errors  0: 31, >65536: 1" in outcome.err
    assert not Path("z.npy").exists()
    assert pto_run("add", "--auto", "--reference", "ref.py:wrong", "--atol", "2").code == 0


@pytest.mark.usefixtures("reference")
@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("ref.py", 2, "--reference 'ref.py' is not written as FILE.py:FUNCTION or MODULE:FUNCTION"),
        ("none.py:f", 2, "--reference: 'none.py' cannot be imported: FileNotFoundError"),
        ("no_such_module:f", 2, "--reference: 'no_such_module' cannot be imported: ModuleNotFoundError"),
        ("ref.py:none", 2, "--reference: 'ref.py' has no function none"),
        ("ref.py:constant", 2, "--reference: 'ref.py' has no function constant"),
        ("ref.py:fails", 2, "ref.py:fails fails: ValueError: no"),
        ("ref.py:two", 2, "ref.py:two returns 2 arrays, the program has written z"),
        ("ref.py:nothing", 2, "ref.py:nothing gives nothing to compare"),
        ("ref.py:shape", 1, "z has shape 32, ref.py:shape gives 3"),
    ],
)
def test_reference_that_does_not_fit(pto_run, text: str, code: int, message: str) -> None:
    assert message in pto_run.bad(code, "add", "--auto", "--reference", text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--seed", "1"), "--seed has no meaning without --auto or --init-launch"),
        (("--list", "--auto"), "--list runs nothing, so there is nothing for --auto"),
        (("--list=yaml",), "'yaml' is not one of 'text', 'json'"),
        (("--rtol", "1"), "--rtol has no meaning without --expect or --reference"),
    ],
)
def test_options_that_do_not_go_together(pto_run, options: tuple[str, ...], message: str) -> None:
    assert message in pto_run.bad(2, "add", *options)


def test_launch_files_have_arguments_already(pto_run) -> None:
    Path("t.launch.toml").write_text("")
    assert "--auto does not go with launch files" in pto_run.raw("t.launch.toml", "--auto").err


def test_pointers_to_vectors_take_single_numbers(pto_run) -> None:
    text = "func.func @pairs(%p: !pto.ptr<vector<2xf16>>) {\n  return\n}\n"
    assert pto_run.good(text, "--auto") == "--arg p=random:f16:2:seed=0\n"
    assert pto_run.good(text, "--arg", "p=ones:f16:6") == ""
    assert "'ones:f16:3' makes no whole elements of vector<2xf16>" in pto_run.bad(2, text, "--arg", "p=ones:f16:3")
