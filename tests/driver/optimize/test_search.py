"""The search for a pipeline: what is tried, and what the command says. Source: docs/optimize.md, "What is tried"."""

from __future__ import annotations

import json
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from plain_families import Kind
from plain_products import Plain

from pto_dialect import parse
from pto_dialect.driver.optimize.bound import least_cycles
from pto_dialect.driver.optimize.space import LOCKS, MEMORY, NESTED, ORDER, PRODUCTS, SLOTS, pipeline_of, stages_for
from pto_dialect.driver.options import CycleRequest
from pto_dialect.driver.tune.measure import Measured, Tuner
from pto_dialect.driver.tune.space import Candidate

OPTIMIZE = import_module("pto_dialect.tools.pto_optimize").main
RUN = import_module("pto_dialect.tools.pto_run").main
OPT = import_module("pto_dialect.tools.pto_opt").main

TILE = "!pto.tile_buf<vec, 512x64xf32>"
PART = "!pto.partition_tensor_view<512x64xf32>"
PROGRAM = f"""
module attributes {{pto.target_arch = "a5"}} {{
func.func @f(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) attributes {{pto.entry}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %av = pto.make_tensor_view %a, shape = [%c512, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
  %bv = pto.make_tensor_view %b, shape = [%c512, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
  %p = pto.partition_view %av, offsets = [%c0, %c0], sizes = [%c512, %c64] : !pto.tensor_view<?x?xf32> -> {PART}
  %q = pto.partition_view %bv, offsets = [%c0, %c0], sizes = [%c512, %c64] : !pto.tensor_view<?x?xf32> -> {PART}
  %x = pto.alloc_tile : {TILE}
  pto.tload ins(%p : {PART}) outs(%x : {TILE})
  pto.texp ins(%x : {TILE}) outs(%x : {TILE})
  pto.tstore ins(%x : {TILE}) outs(%q : {PART})
  return
}}
}}
"""
ARGUMENTS = ("--arg", "a=random:f32:512x64", "--arg", "b=zeros:f32:512x64")
LIMITED = (*ARGUMENTS, "--limit", "12")


def optimized(folder: Path, text: str, *options: str) -> Result:
    """The command on a program."""
    path = folder / "program.pto"
    path.write_text(text, encoding="utf-8")
    return CliRunner().invoke(OPTIMIZE, [str(path), *options])


def test_the_fastest_pipeline_is_a_command(tmp_path: Path) -> None:
    """The document and the printed command name the same program, which is faster than the plain one."""
    found = optimized(tmp_path, PROGRAM, *LIMITED, "--output-format", "json", "-o", str(tmp_path / "fast.pto"))
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    tried = told["candidates"]
    assert len({json.dumps(one) for one in tried}) == len(tried) > 10
    assert tried[0]["passes"] == ["assign-memory", "insert-sync"]
    best = min((one for one in tried if one["right"]), key=lambda one: one["cycles"])
    assert told["best"]["cycles"] == pytest.approx(best["cycles"], rel=0.005)
    assert told["best"]["cycles"] < 0.9 * tried[0]["cycles"]
    assert told["bound"]["cycles"] <= best["cycles"]
    assert [one["step"] for one in told["steps"]][:2] == ["plain", "tile-loops{rows=128}"]
    assert [one["cycles"] for one in told["steps"]][-1] == told["best"]["cycles"]
    text = optimized(tmp_path, PROGRAM, *LIMITED)
    command = text.stdout.splitlines()[-1]
    assert command.startswith("pto-opt -p '")
    passes = command.split("'")[1]
    assert "double-buffer" in passes
    again = CliRunner().invoke(OPT, ["-p", passes, str(tmp_path / "program.pto")])
    assert again.stdout.strip() == (tmp_path / "fast.pto").read_text(encoding="utf-8").strip()


def test_programs_are_skipped_that_cannot_be_the_fastest(tmp_path: Path) -> None:
    """Those that did not run are slower than the best one, as a run of each shows."""
    found = optimized(tmp_path, PROGRAM, *LIMITED, "--output-format", "json", "--no-cache")
    told = json.loads(found.stdout)
    skipped = [one for one in told["candidates"] if one["skipped"] and "at least" in one.get("reason", "")]
    assert skipped
    for one in skipped[:3]:
        passes = ",".join(one["passes"])
        fast = tmp_path / "slow.pto"
        CliRunner().invoke(OPT, ["-p", passes, str(tmp_path / "program.pto"), "-o", str(fast)])
        ran = CliRunner().invoke(RUN, [str(fast), *ARGUMENTS, "--cycles=json", "--quiet"])
        assert json.loads(ran.stdout)["programs"][0]["whole"]["cycles"] >= told["best"]["cycles"]


def test_programs_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The passes of a pipeline run once; those of the fastest one again for its results, and the reference."""
    made: list[tuple[str, ...]] = []
    build = Tuner.build

    def counted(tuner: Tuner, candidate: Candidate) -> Measured:
        made.append(candidate.passes)
        return build(tuner, candidate)

    monkeypatch.setattr(Tuner, "build", counted)
    found = optimized(tmp_path, PROGRAM, *LIMITED, "--no-cache", "--output-format", "json")
    told = json.loads(found.stdout)
    best = tuple(told["best"]["passes"])
    again = [passes for passes, count in Counter(made).items() if count > 1]
    assert again in ([], [best])


def test_no_more_than_the_limit_runs(tmp_path: Path) -> None:
    found = optimized(tmp_path, PROGRAM, *ARGUMENTS, "--limit", "1", "--output-format", "json", "--no-cache")
    tried = json.loads(found.stdout)["candidates"]
    assert sum(one["right"] and one["like"] is None for one in tried) == 1


def test_processes_and_earlier_results_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path / "cache"))
    options = ((*ARGUMENTS, "-j", "2", "--no-cache"), ARGUMENTS, ARGUMENTS)
    two, one, again = (optimized(tmp_path, PROGRAM, *some, "--limit", "7").stdout for some in options)
    assert one == two
    assert one.replace("the program without passes", "the same as in an earlier search") == again


def test_results_that_take_long_are_compared_on_request(tmp_path: Path) -> None:
    """Times need no contents, so large programs are searched; the text says that results are not compared."""
    options = ("--limit", "2", "--seconds", "6", "--no-cache", "--output-format", "json")
    arguments = ("--arg", "a=zeros:f16:1024x1024", "--arg", "b=zeros:f16:1024x1024", "--arg", "c=zeros:f32:1024x1024")
    large = str(Plain(1024, 1024, 1024, loops="ijp", tile=128))
    found = json.loads(optimized(tmp_path, large, *options, *arguments).stdout)
    assert found["best"]["right"]
    assert not found["compared"]


def test_arguments_are_generated(tmp_path: Path) -> None:
    found = optimized(tmp_path, PROGRAM, "--limit", "2", "--arg", "b=zeros:f32:512x64")
    assert found.exit_code == 0, found.output
    assert "the fastest one is right, compared with the program without passes" in found.stdout


def test_files_are_those_of_the_folder_where_the_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    np.save("a.npy", np.ones((512, 64), np.float32))
    found = optimized(tmp_path, PROGRAM, "--arg", "a=a.npy", "--limit", "1")
    assert found.exit_code == 0, found.output


def test_a_launch_file(tmp_path: Path) -> None:
    (tmp_path / "program.pto").write_text(PROGRAM, encoding="utf-8")
    launch = tmp_path / "f.launch.toml"
    launch.write_text('program = "program.pto"\n[arguments]\na = "random:f32:512x64"\nb = "zeros:f32:512x64"\n')
    found = CliRunner().invoke(OPTIMIZE, [str(launch), "--limit", "2"])
    assert found.exit_code == 0, found.output
    assert found.stdout.splitlines()[-1].endswith("program.pto")


def test_a_bound_counts_what_always_runs() -> None:
    """Of a loop with an unknown number of iterations nothing, of a choice nothing that only one branch does."""
    whole = least_cycles(parse(PROGRAM, "p.pto"), None, None, CycleRequest())[0]
    assert whole > 1000
    around = PROGRAM.replace("  pto.tload", "  scf.for %i = %c0 to %n step %c1 {\n  pto.tload")
    around = around.replace("  return", "  }\n  return").replace("%b: !pto.ptr<f32>", "%b: !pto.ptr<f32>, %n: index")
    assert least_cycles(parse(around, "p.pto"), None, None, CycleRequest())[0] == 0
    four = around.replace("%n step", "%four step").replace("  %c1 =", "  %four = arith.constant 4 : index\n  %c1 =")
    assert least_cycles(parse(four, "p.pto"), None, None, CycleRequest())[0] == pytest.approx(4 * whole)
    scope = four.replace("  pto.tload", "  pto.vecscope {\n  }\n  pto.tload")
    assert least_cycles(parse(scope, "p.pto"), None, None, CycleRequest())[0] == pytest.approx(4 * whole)
    branch = around.replace("scf.for %i = %c0 to %n step %c1", "scf.if %with").replace("%n: index", "%with: i1")
    assert least_cycles(parse(branch, "p.pto"), None, None, CycleRequest())[0] == 0


def test_products_get_other_tiles(tmp_path: Path) -> None:
    plain = Plain(64, 128, 64, loops="ijp")
    arguments = [f"--arg={name}=random:{kind}:{size}" for name, kind, size in
                 (("a", "f16", "64x64"), ("b", "f16", "64x128"), ("c", "f32", "64x128"))]  # fmt: skip
    found = optimized(tmp_path, str(plain), *arguments, "--limit", "3")
    assert found.exit_code == 0, found.output
    assert "tile-cube" in found.stdout.splitlines()[-1]


def test_a_proof(tmp_path: Path) -> None:
    found = optimized(tmp_path, PROGRAM, *ARGUMENTS, "--limit", "4", "--prove")
    assert found.exit_code == 0, found.output
    assert "keep every bit that @f computes" in found.stderr


def test_a_program_that_is_wrong_with_every_pipeline(tmp_path: Path) -> None:
    found = optimized(tmp_path, PROGRAM, "--arg", "a=random:f32:512x64", "--arg", "b=zeros:f32:32x64", "--limit", "2")
    assert found.exit_code == 1
    assert "none is right" in found.stdout


def test_a_run_without_an_end_is_ended(tmp_path: Path) -> None:
    body = "scf.for %i = %zero to %most step %one {\n}\nreturn"
    numbers = (("zero", 0), ("one", 1), ("most", 10**12))
    constants = "\n".join(f"%{name} = arith.constant {number} : index" for name, number in numbers)
    text = f"func.func @f(%n: index) attributes {{pto.entry}} {{\n{constants}\n{body}\n}}\n"
    found = optimized(tmp_path, text, "--arg", "n=1", "--seconds", "1", "--limit", "1", "--no-cache")
    assert found.exit_code == 1, found.output
    assert "the time of the search ends before its run does" in found.stdout


def test_arguments_are_not_generated_without_an_end(tmp_path: Path) -> None:
    loop = "scf.while : () -> () {\nscf.condition(%on)\n} do {\nscf.yield\n}"
    text = (
        f"func.func @f(%a: !pto.ptr<f32>) attributes {{pto.entry}} {{\n%on = arith.constant true\n{loop}\nreturn\n}}\n"
    )
    found = optimized(tmp_path, text, "--seconds", "1", "--no-cache")
    assert found.exit_code == 2, found.output
    assert "--arg gives them" in found.stderr


@pytest.mark.parametrize("options", [(), ("--arg", "a"), ("--seconds", "nan")])
def test_wrong_command_lines(tmp_path: Path, options: tuple[str, ...]) -> None:
    found = optimized(tmp_path, PROGRAM, *options) if options else CliRunner().invoke(OPTIMIZE, ["missing.pto"])
    assert found.exit_code == 2
    assert "Traceback" not in found.output


def test_stages_are_those_of_the_program() -> None:
    vector, product = (parse(text, "p.pto") for text in (PROGRAM, str(Plain(32, 32, 32))))
    assert [one.ways for one in stages_for(vector)][1:4] == [SLOTS, MEMORY, (*ORDER, LOCKS)]
    assert stages_for(vector)[0].ways[:2] == ("", "tile-loops{rows=128}")
    nest = parse(str(Plain(64, 64, 64, loops="ijp", tile=32)), "p.pto")
    assert stages_for(nest)[-1].ways == (*ORDER, NESTED)
    assert [one.ways for one in stages_for(product)] == [PRODUCTS, SLOTS, MEMORY, ORDER]


def test_blocks_of_a_launch_may_divide_a_product() -> None:
    product, batch = (parse(str(one), "p.pto") for one in (Plain(32, 32, 32), Kind(batch=2, by="blocks")))
    shared = stages_for(product, None, 26)[0]
    assert shared.usual == "tile-cube{blocks=25}"
    assert "tile-cube{rows=128 columns=256 blocks=25}" in shared.ways
    assert stages_for(batch, None, 26)[0].ways == PRODUCTS


def test_every_alternative_is_a_pipeline() -> None:
    for stage in (*stages_for(None), stages_for(None, None, 8)[0]):
        for way in stage.ways:
            assert ",".join(pipeline_of([way])) == way
        assert stage.usual in stage.ways
