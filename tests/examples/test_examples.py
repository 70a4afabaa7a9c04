"""Every example in both accumulation modes, its text round trip, and the checks that make a failure
visible."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sampling import sampled

import pto_dialect
from examples import run_all
from examples.case import Case, Data
from examples.check import FOLDER, Outcome, copied, entry_of, exhaustion, module_of, outcome, outputs
from examples.expectation import Accumulate, Wanted, sums
from examples.fma_model import sequential_fma
from examples.mlp_fused.expected import F16_MAX
from pto_dialect.runtime.api import compile as compile_kernel
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

Capture = pytest.CaptureFixture[str]
MAIN = importlib.import_module("pto_dialect.tools.pto_run").main
LAUNCHES = sorted(FOLDER.glob("*/*.launch.toml"))
PROGRAMS = sorted(path for path in FOLDER.glob("*/*.pto") if path.parent.name not in ("faulty", "ranks"))
CASES = [(example, case) for example in run_all.EXAMPLES for case in run_all.load(example)[0]]


@pytest.mark.parametrize("ranks", [2, 8])
@pytest.mark.parametrize("name", ["all_gather", "all_reduce", "reduce_scatter", "tp_gemm"])
def test_ranks(name: str, ranks: int) -> None:
    path = str(FOLDER / "ranks" / f"{name}.launch.toml")
    result = CliRunner().invoke(MAIN, [path, "--ranks", str(ranks), "-j", "2", "--target", "a2a3"])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("path", LAUNCHES, ids=[path.name.partition(".")[0] for path in LAUNCHES])
def test_launch_files(path: Path, target: str) -> None:
    result = CliRunner().invoke(MAIN, [str(path), "--target", target])
    assert result.exit_code == 0, result.output


def names() -> list[str]:
    """Labels, each with a number among the same ones, so that another example changes no name."""
    labels = [run_all.label(example, case) for example, case in CASES]
    return [f"{label}-{labels[:position].count(label)}" for position, label in enumerate(labels)]


@pytest.mark.parametrize("accumulate", ["fast", "exact"])
@pytest.mark.parametrize(("example", "case"), CASES, ids=names())
def test_result(example: str, case: Case, accumulate: Accumulate) -> None:
    """Integers exactly, floats within the tolerance, products bit by bit in the defined order; a5 results are
    cpu-sim's too."""
    wanted = run_all.load(example)[1](case.entry, case.data, accumulate)
    for target in (*case.targets, *run_all.targets_of(case, "cpu-sim")):
        result = outcome(example, case, wanted, target, accumulate)
        assert result.passed, f"{target}: {result}"


@pytest.mark.parametrize(("example", "case"), CASES, ids=names())
def test_nothing_but_written_bytes_is_used(example: str, case: Case) -> None:
    """On-chip memory that starts with other bytes changes no bit of the result."""
    module = module_of(FOLDER / example / case.program, case.targets[-1])
    results = []
    for fill in ("zero", "poison"):
        kernel = Kernel(module, entry_of(case), case.targets[-1], RunOptions(fill=fill))
        arguments = copied(case.data)
        returned = kernel.run(list(arguments.values()), case.blocks)
        results.append(outputs(case, arguments, returned))
    for name, clean in results[0].items():
        assert clean.tobytes() == results[1][name].tobytes()


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_text_round_trip(path: Path) -> None:
    """Print and parse give the same module and the same text, in custom and in generic form."""
    module = pto_dialect.parse(path.read_text(encoding="utf-8"))
    for generic in (False, True):
        text = pto_dialect.print_module(module, generic=generic)
        again = pto_dialect.parse(text)
        assert module.is_structurally_equivalent(again)
        assert pto_dialect.print_module(again, generic=generic) == text


def test_every_program_is_run() -> None:
    programs = [*PROGRAMS, *FOLDER.glob("*/*.cpp")]
    assert {FOLDER / example / case.program for example, case in CASES} == set(programs)
    folders = {path.parent.name for path in programs}
    assert folders == set(run_all.EXAMPLES)


SHARED = [(example, case) for example, case in CASES if case.blocks > 1]


@pytest.mark.parametrize("blocks", [1, 3, 7])
@pytest.mark.parametrize(
    ("example", "case"), sampled(SHARED, 2), ids=[run_all.label(*one) for one in sampled(SHARED, 2)]
)
def test_any_number_of_blocks(example: str, case: Case, blocks: int) -> None:
    """Blocks share the work whatever their number, and one without work does nothing."""
    wanted = run_all.load(example)[1](case.entry, case.data, "fast")
    module = module_of(FOLDER / example / case.program, "a5")
    arguments = copied(case.data)
    returned = compile_kernel(module, entry_of(case), "a5")(*arguments.values(), blocks=blocks)
    for name, result in outputs(case, arguments, returned).items():
        assert wanted[name].error(result) <= wanted[name].tolerance


def test_mlp_on_any_input_in_exact_order() -> None:
    """Off the grid the hidden activations depend on the order of the sums; in the defined order they are
    bit-identical."""
    case = run_all.load("mlp_fused")[0][0]
    rng = np.random.default_rng(11)
    data = {**copied(case.data), "x": rng.standard_normal((256, 128)).astype(np.float16)}
    data["w1"] = rng.standard_normal((128, 256)).astype(np.float16)
    module = pto_dialect.parse((FOLDER / "mlp_fused" / case.program).read_text(encoding="utf-8"))
    compile_kernel(module, case.entry, accumulate="exact")(*data.values())
    active = np.maximum(sequential_fma(data["x"], data["w1"]) * np.float32(data["scale"]), 0)
    hidden = np.minimum(active, F16_MAX).astype(np.float16)
    want = sequential_fma(hidden, data["w2"])
    assert (data["y"].view(np.uint32) == want.view(np.uint32)).all()


# ---------------------------------------------------------------- inputs and expectations


@pytest.mark.parametrize("example", run_all.EXAMPLES)
def test_inputs_are_reproducible(example: str) -> None:
    inputs = importlib.import_module(f"examples.{example}.inputs")
    first, again, other = inputs.cases(), inputs.cases(), inputs.cases(seed=99)
    for one, two in zip(first, again, strict=True):
        assert _bytes(one.data) == _bytes(two.data)
    assert [_bytes(case.data) for case in first] != [_bytes(case.data) for case in other]


def _bytes(data: Data) -> list[bytes]:
    return [np.asarray(value).tobytes() for value in data.values()]


JUDGED = ("pto_dialect", "examples.check", "examples.run_all")


def test_expectations_do_not_use_the_product() -> None:
    """Inputs and expected values are computed without the code they are to judge."""
    modules = [path for path in FOLDER.rglob("*.py") if path.name not in ("run_all.py", "check.py")]
    assert len(modules) == 2 * len(run_all.EXAMPLES) + 4
    for path in modules:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            imported = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            imported += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.startswith(JUDGED) for name in imported)


# ---------------------------------------------------------------- what a failure looks like


def test_errors_are_measured_against_the_summands() -> None:
    ones, signs = np.ones((1, 2)), np.array([[1.0, -2.0, 2.0], [1.0, -2.0, -2.0]])
    wanted = sums(lambda product: {"c": product(ones, signs, None)}, "fast")["c"]
    assert wanted.tolerance == 1e-5
    for third, error in ((0.0, 0), (0.002, 0.0005), (np.nan, np.inf)):
        result = np.array([[2.0, -4.0, third]], np.float32)
        assert wanted.error(result) == pytest.approx(error, rel=1e-3)
    assert wanted.error(np.zeros((1, 2), np.float32)) == np.inf
    assert wanted.error(np.array([[2, -4, 0]])) == np.inf


def test_nothing_may_differ_where_nothing_was_added() -> None:
    wanted = Wanted(np.zeros((1, 2)), np.array([[1.0, 0.0]]), 1e-3)
    assert wanted.error(np.zeros((1, 2), np.float16)) == 0
    assert wanted.error(np.array([[1e-3, 0.0]])) == pytest.approx(1e-3)
    assert wanted.error(np.array([[0.0, 1e-30]])) == np.inf


def test_exact_results_are_compared_by_bits() -> None:
    values = np.array([[1.0, 0.0, 3.0]], np.float32)
    wanted = sums(lambda product: {"c": product(np.ones((1, 1)), values, None)}, "exact")["c"]
    assert wanted.tolerance == 0
    assert wanted.error(values.copy()) == 0
    assert wanted.error(np.array([[1.0, -0.0, 3.0]], np.float32)) == 1
    assert wanted.error(np.nextafter(values, np.float32(9))) == 3


def test_integers_are_compared_exactly() -> None:
    wanted = Wanted(np.array([[-128, 5]]))
    assert wanted.tolerance == 0
    assert wanted.error(np.array([[-128, 5]], np.int8)) == 0
    assert wanted.error(np.array([[127, 5]], np.int8)) == 255


def test_the_output_nearest_to_its_tolerance_is_shown() -> None:
    """A small error with a small tolerance may be worse than a large one."""
    results = [Outcome(2e-4, 1e-3, 0), Outcome(5e-6, 1e-5, 0), Outcome(0, 0, 0)]
    assert max(results, key=exhaustion) == results[1]
    assert max((*results, Outcome(1, 0, 0)), key=exhaustion) == Outcome(1, 0, 0)


@pytest.mark.parametrize(
    ("result", "passed"),
    [
        (Outcome(1e-6, 1e-5, 0), True),
        (Outcome(2e-5, 1e-5, 0), False),
        (Outcome(0, 1e-5, 0, "refused"), False),
    ],
)
def test_outcome(result: Outcome, passed: bool) -> None:
    assert result.passed is passed
    assert run_all.row("k", "s", "a5", result).endswith("PASS" if passed else "FAIL")


def test_a_wrong_result_fails_the_command(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    cases, expected = run_all.load("gemv_decode")

    def wrong(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
        wanted = expected(entry, data, accumulate)
        wanted["y"].value[0, 7] *= 1.001 if entry == "project" else 1
        return wanted

    monkeypatch.setattr(run_all, "load", lambda example: (cases, wrong))
    assert run_all.main(["gemv_decode"]) == 1
    table = capsys.readouterr().out
    assert [line.split()[-1] for line in table.splitlines()[2:6]] == ["FAIL", "FAIL", "PASS", "PASS"]
    assert "2 of 4 as expected" in table


def test_a_program_with_diagnostics_fails(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """An a5 program run for a2a3 is warned about, and the warning is shown."""
    cases, expected = run_all.load("int8_gemm")
    legal = [Case(c.entry, c.program, c.shapes, c.data, c.outputs, ("a2a3",)) for c in cases[:1]]
    monkeypatch.setattr(run_all, "load", lambda example: (legal, expected))
    assert run_all.main(["int8_gemm"]) == 1
    assert "mad-target" in capsys.readouterr().out


def test_command_line(capsys: Capture) -> None:
    assert run_all.main(["int8_gemm", "--target", "a2a3"]) == 1
    assert "nothing here is legal for a2a3" in capsys.readouterr().out
    assert run_all.main(["--target", "a2a3", "--accumulate", "exact", "gemv_decode"]) == 0
    assert "2 of 2 as expected" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stopped:
        run_all.main(["gemv"])
    assert stopped.value.code == 2
    assert "no example gemv" in capsys.readouterr().err


def test_as_a_script_from_anywhere(tmp_path: Path) -> None:
    command = [sys.executable, str(FOLDER / "run_all.py"), "gemv_decode", "int8_gemm"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "6 of 6 as expected" in done.stdout
