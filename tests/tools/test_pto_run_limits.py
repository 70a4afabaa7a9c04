"""``pto-run --cycles`` says what limits a run. Source: docs/cycles.md, "What limits the run"."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

MAIN = import_module("pto_dialect.tools.pto_run").main
EXAMPLES = Path(__file__).parents[2] / "examples"
GHZ = 1.65


def blocks(rows: int, work: int, tiles: int = 1) -> str:
    """Each block doubles ``rows`` rows of 64 numbers in each iteration, ``work`` times."""
    part = f"!pto.partition_tensor_view<{rows}x64xf32>"
    tile = f"!pto.tile_buf<vec, {rows}x64xf32>"
    muls = f"\n      pto.tmuls ins(%x, %two : {tile}, f32) outs(%x : {tile})" * work
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @scale(%a: !pto.ptr<f32>, %count: index) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %rows = arith.constant {rows} : index
    %all = arith.constant 4096 : index
    %two = arith.constant 2.0 : f32
    %block = pto.get_block_idx
    %index = arith.index_cast %block : i64 to index
    %first = arith.muli %index, %count : index
    %v = pto.make_tensor_view %a, shape = [%all, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %x = pto.alloc_tile : {tile}
    scf.for %i = %c0 to %count step %c1 {{
      %n = arith.addi %first, %i : index
      %r = arith.muli %n, %rows : index
      %p = pto.partition_view %v, offsets = [%r, %c0], sizes = [%rows, %c64] : !pto.tensor_view<?x?xf32> -> {part}
      pto.tload ins(%p : {part}) outs(%x : {tile}){muls}
      pto.tstore ins(%x : {tile}) outs(%p : {part})
    }}
    return
  }}
}}
"""


def run(path: Path, *options: str) -> dict[str, Any]:
    result = CliRunner().invoke(MAIN, ["--cycles=json", "--no-advice", "--quiet", *options, str(path)])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["programs"][0]


def scaled(folder: Path, text: str, count: int, *options: str) -> dict[str, Any]:
    path = folder / "scale.pto"
    path.write_text(text, encoding="utf-8")
    return run(path, "--arg", "a=ones:f32:4096x64", "--arg", f"count={count}", *options)


def test_two_of_the_cores(tmp_path: Path) -> None:
    found = scaled(tmp_path, blocks(16, 1), 4, "--blocks", "2")
    limits = found["limits"]
    assert limits["kind"] == "cores"
    assert limits["text"].startswith("2 of 64 vector cores work; there the pipes alternate")
    assert limits["cores"] == {"used": 2, "of": 64, "kind": "vector core", "blocks": 2}
    # Both blocks take the same time.
    assert (limits["balance"], limits["tail"]) == (1.0, 0.0)
    # One buffer: load, product and store of every iteration, one after the other.
    critical = limits["critical"]
    assert set(critical) == {"gm:ub", "vector", "ub:gm"}
    assert sum(critical.values()) == pytest.approx(found["whole"]["cycles"], abs=1)
    busy = limits["busy"]["vector"]
    assert busy["core"] == pytest.approx(critical["vector"] / found["whole"]["cycles"], abs=1e-3)
    assert busy["chip"] == pytest.approx(busy["core"] * 2 / 64, abs=1e-3)


def test_bytes_in_a_second_and_their_limit(tmp_path: Path) -> None:
    found = scaled(tmp_path, blocks(16, 1), 4, "--blocks", "2")
    (load,) = (one for one in found["limits"]["paths"] if one["path"] == "gm:ub")
    assert load["bytes"] == 2 * 4 * 16 * 64 * 4
    assert load["gbps"] == pytest.approx(load["bytes"] / (found["whole"]["cycles"] / GHZ), rel=1e-3)
    # Two cores of 128 bytes in a cycle.
    assert load["limit_gbps"] == pytest.approx(2 * 128 * GHZ)
    assert load["share"] == pytest.approx(load["gbps"] / load["limit_gbps"], abs=1e-3)


def test_work_of_the_vector_unit(tmp_path: Path) -> None:
    limits = scaled(tmp_path, blocks(32, 24), 2, "--blocks", "64")["limits"]
    assert limits["kind"] == "vector"
    assert limits["text"].startswith("The vector unit is busy ")
    assert next(iter(limits["critical"])) == "vector"


def test_short_transfers_are_latency(tmp_path: Path) -> None:
    limits = scaled(tmp_path, blocks(1, 0), 8)["limits"]
    assert limits["kind"] == "cores"
    assert limits["critical"].keys() == {"gm:ub", "ub:gm"}
    assert limits["waiting"][0]["cost"] > 0


def test_uneven_cores(tmp_path: Path) -> None:
    """65 blocks on 64 vector cores: one core does twice as much as the others."""
    limits = scaled(tmp_path, blocks(4, 1), 1, "--blocks", "65")["limits"]
    assert limits["kind"] == "balance"
    assert limits["cores"] == {"used": 64, "of": 64, "kind": "vector core", "blocks": 65}
    assert limits["balance"] == pytest.approx((63 * 0.5 + 1) / 64, abs=0.03)
    assert limits["tail"] == pytest.approx(0.5, abs=0.05)


def test_products_use_loaded_bytes_again() -> None:
    found = run(EXAMPLES / "gemm" / "gemm.pto", "--auto")
    assert "GM→L1 is busy " in found["limits"]["text"]
    # 64x64 tiles of two bytes: 2 * 64 * 64 operations for (64 + 64) * 2 bytes.
    assert "because 64x64 tiles use each loaded byte for 32 operations" in found["limits"]["text"]


@pytest.mark.parametrize("name", ["gemm/gemm", "rotary/rotary", "mlp_fused/mlp_fused", "topk_routing/topk_routing"])
def test_the_path_is_as_long_as_the_run(name: str) -> None:
    found = run(EXAMPLES / f"{name}.pto", "--auto")
    limits, whole = found["limits"], found["whole"]["cycles"]
    assert sum(limits["critical"].values()) == pytest.approx(whole, rel=1e-3)
    assert all(0 <= one["share"] <= 1 for one in limits["paths"] if one["share"] is not None)
    assert all(0 <= one[of] <= 1 for one in limits["busy"].values() for of in ("core", "chip"))
    costs = [one["cost"] for one in found["waits"]]
    assert costs == sorted(costs, reverse=True) and all(0 <= one <= whole for one in costs)
    assert [one["cost"] for one in limits["waiting"]] == sorted(
        (one["cost"] for one in limits["waiting"]), reverse=True
    )
