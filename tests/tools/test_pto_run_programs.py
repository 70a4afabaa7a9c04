"""Programs of every surface through `pto-run`, against numbers computed with numpy alone."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pto_dialect
from pto_dialect.interrupts import can_fork
from pto_dialect.runtime.run.balance import Balance
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.parallel import run_blocks
from pto_dialect.runtime.run.sharing import Sharing

Args = Callable[..., list[str]]
PROGRAMS = Path(__file__).parent / "programs"


def normal(shape: tuple[int, ...], seed: int, dtype: type = np.float16) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def sequential_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Sum over k in order, rounded to f32 after every step; f64 holds each exact sum of these inputs."""
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        exact = total.astype(np.float64) + np.outer(a[:, k].astype(np.float64), b[k].astype(np.float64))
        total = exact.astype(np.float32)
    return total


def test_gemm_with_files(pto_run, args: Args) -> None:
    a, b = normal((32, 64), 1), normal((64, 32), 2)
    np.save("a.npy", a)
    np.savez("in.npz", other=np.ones(3), b=b)
    out = pto_run.good("gemm", *args(a="a.npy", b="in.npz:b", c="zeros:f32:32x32"), "--out", "c=c.npy")
    c = np.load("c.npy")
    want = a.astype(np.float32) @ b.astype(np.float32)
    assert c.dtype == np.float32
    np.testing.assert_allclose(c, want, rtol=1e-5, atol=1e-5)
    assert out.startswith(f"c: f32 32x32, min {c.min():.6g}, max {c.max():.6g}, mean ")
    assert out.endswith(" -> c.npy\n")
    assert out.count("\n") == 1


def test_exact_accumulation_is_bit_identical(pto_run, args: Args) -> None:
    a, b = normal((32, 64), 3), normal((64, 32), 4)
    given = args(a="random:f16:32x64:seed=3", b="random:f16:64x32:seed=4", c="zeros:f32:32x32")
    pto_run.good("gemm", *given, "--accumulate", "exact", "--out", "c=c.bin", "--quiet")
    c = np.fromfile("c.bin", "<f4").reshape(32, 32)
    assert (c == sequential_product(a, b)).all()


def test_micro_level_mad(pto_run, args: Args) -> None:
    a, b = normal((16, 16), 5), normal((16, 16), 6)
    pto_run.good(
        "mad",
        *args(a="random:f16:16x16:seed=5", b="random:f16:16x16:seed=6", c="zeros:f32:256"),
        "--out", "c=c.npz:product",
    )  # fmt: skip
    c = np.load("c.npz")["product"].reshape(16, 16)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("program", ["level1", "assembly"])
@pytest.mark.parametrize("name", ["acc", "%acc", "0"])
def test_returned_tile_by_name_and_position(pto_run, args: Args, program: str, name: str) -> None:
    a, b = normal((16, 32), 7), normal((32, 16), 8)
    np.save("a.npy", a)
    np.save("b.npy", b)
    out = pto_run.good(program, *args(**{"%a": "a.npy", "1": "b.npy"}), "--out", f"{name}=acc.npy")
    acc = np.load("acc.npy")
    assert acc.shape == (16, 16)
    np.testing.assert_allclose(acc, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-5, atol=1e-5)
    assert out.startswith("acc: f32 16x16, min ")


def test_assembly_with_memory_arguments(pto_run, args: Args) -> None:
    x = normal((16, 16), 9, np.float32)
    np.save("x.npy", x)
    pto_run.good("assembly_memory", *args(x="x.npy", y="zeros:f32:16x16"), "--out", "y=y.npy")
    assert (np.load("y.npy") == x + x).all()


def test_scalars_in_and_out(pto_run, args: Args) -> None:
    """Integers wrap at their width, floats are rounded to their type when they enter."""
    out = pto_run.good(
        "scalars", *args(p="zeros:f32:1", n="-7", k="0xffffffff", u="255", f="0.1", flag="true"),
        "--out", "k2=k2.npy", "--out", "v=v.npy", "--out", "2=flag.npy", "--out", "3=n.bin",
        "--expect", "k2=-2", "--expect", "2=true", "--expect", "3=-7",
        "--expect", f"v={float(np.float16(0.1))!r}",
    )  # fmt: skip
    assert np.load("k2.npy") == -2
    assert np.load("k2.npy").dtype == np.int32
    assert np.load("k2.npy").shape == ()
    assert np.load("v.npy") == np.float32(np.float16(0.1))
    assert np.load("flag.npy").dtype == np.bool_
    assert np.fromfile("n.bin", np.int64).tolist() == [-7]
    assert out.splitlines() == [
        "p: f32 1 = [0.099975586]",
        "k2: i32 = -2 -> k2.npy",
        "v: f32 = 0.099975586 -> v.npy",
        "2: i1 = True -> flag.npy",
        "3: index = -7 -> n.bin",
    ]


def test_scalars_from_files_take_the_first_element(pto_run, args: Args) -> None:
    np.array([3, 9], np.int32).tofile("k.bin")
    np.save("n.npy", np.array([[5]], np.int16))
    np.save("f.npy", np.array([0.5, 7], np.float64))
    np.save("flag.npy", np.array([True]))
    pto_run.good(
        "scalars",
        *args(p="zeros:f32:1", n="n.npy", k="k.bin:i32", u="ones:ui8:1", f="f.npy", flag="flag.npy"),
        "--expect", "k2=6", "--expect", "v=0.5", "--expect", "2=1", "--expect", "3=5",
    )  # fmt: skip


def test_bf16_scalar_from_bits(pto_run, args: Args) -> None:
    program = """
      func.func @f(%s: bf16) -> f32 {
        %v = arith.extf %s : bf16 to f32
        return %v : f32
      }
    """
    np.save("s.npy", np.array([0x3FC0], np.uint16))
    for value in ("s.npy", "s.npy:bf16", "1.5"):
        pto_run.good(program, *args(s=value), "--expect", "v=1.5")


def test_blocks(pto_run, args: Args) -> None:
    out = pto_run.good("blocks", *args(p="zeros:i64:4"), "--blocks", "4", "-j", "2")
    assert out == "p: i64 4 = [40 41 42 43]\n"


@pytest.mark.skipif(not can_fork(), reason="processes cannot be copied here")
def test_jobs_reach_the_launch(pto_run, args: Args, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def spy(kernel: Kernel, bound: list, first: int, blocks: int, jobs: int) -> list:
        asked.append(jobs)
        return run_blocks(kernel, bound, first, blocks, jobs)

    monkeypatch.setattr("pto_dialect.runtime.run.sharing.run_blocks", spy)
    # The program is too small for processes to pay.
    monkeypatch.setattr(Balance, "pays", lambda *_: True)
    monkeypatch.setattr(Sharing, "each", 0.0)
    monkeypatch.setattr(Sharing, "timed", 2)
    given = args(p="zeros:i64:4")
    assert pto_run.good("blocks", *given, "--blocks", "4") == "p: i64 4 = [40 41 42 43]\n"
    assert asked == []
    assert pto_run.good("blocks", *given, "--blocks", "4", "-j", "3") == "p: i64 4 = [40 41 42 43]\n"
    assert asked == [3]
    pto_dialect.run(pto_dialect.parse((PROGRAMS / "blocks.pto").read_text()), {"p": np.zeros(2, int)}, blocks=2, jobs=2)
    assert asked == [3, 2]


def test_wait_before_its_set_runs_with_queues(pto_run, args: Args) -> None:
    given = args(x="random:f32:64:seed=3", z="zeros:f32:64")
    out = pto_run.good("late_set", *given, "--expect", "z=random:f32:64:seed=3", "--profile", "--quiet")
    rows = {line.split()[0]: line.split()[1] for line in out.splitlines()[1:]}
    assert rows["pto.mte_gm_ub"] == "1"
    assert rows["pto.mte_ub_gm"] == "1"


@pytest.mark.parametrize(("fill", "wanted"), [("zero", "0"), ("poison", "-1"), (None, "0")])
def test_fill_of_chip_memory(pto_run, args: Args, fill: str | None, wanted: str) -> None:
    program = """
      module attributes {pto.target_arch = "a5"} {
        func.func @f(%p: !pto.ptr<i32>) {
          %c0 = arith.constant 0 : i64
          %i = arith.constant 0 : index
          %u = pto.castptr %c0 : i64 -> !pto.ptr<i32, ub>
          %v = pto.load_scalar %u[%i] : !pto.ptr<i32, ub> -> i32
          pto.store_scalar %v, %p[%i] : !pto.ptr<i32>, i32
          return
        }
      }
    """
    options = ["--allow", "scalar-mem-space", *([] if fill is None else ["--fill", fill])]
    assert pto_run.good(program, *args(p="ones:i32:1"), *options) == f"p: i32 1 = [{wanted}]\n"


def test_target_option_selects_the_chip(pto_run, args: Args) -> None:
    given = args(a="ones:f16:16x32", b="ones:f16:32x16")
    pto_run.good("level1", *given, "--target", "a5", "--expect", "acc=32")
    outcome = pto_run("mad", *args(a="ones:f16:256", b="ones:f16:256", c="zeros:f32:256"), "--target", "a3")
    assert "target-override" in outcome.err


def test_entry_of_several_functions(pto_run, args: Args) -> None:
    for name in ("second", "@second"):
        assert pto_run.good("two", *args(p="ones:f32:2"), "--entry", name) == ""


def test_emitted_python_is_what_would_run(pto_run) -> None:
    """No argument is needed; the text compiles."""
    source = pto_run.good("gemm", "--emit-python")
    compile(source, "<emitted>", "exec")
    assert "def f_gemm(core, v_a, v_b, v_c):" in source
    assert "for v_k in range(" in source
    assert "    # " in source and "scf.for %k = " in source


def test_profile_counts_every_instruction(pto_run, args: Args) -> None:
    out = pto_run.good(
        "gemm", *args(a="ones:f16:32x64", b="ones:f16:64x32", c="zeros:f32:32x32"), "--profile", "--quiet"
    )
    lines = out.splitlines()
    assert lines[0].split() == ["operation", "calls", "ms", "share"]
    calls = {line.split()[0]: int(line.split()[1]) for line in lines[1:] if line.startswith("pto.")}
    assert calls == {"pto.tload": 4, "pto.tmov": 4, "pto.tmatmul": 1, "pto.tmatmul.acc": 1, "pto.tstore": 1}
    shares = [float(line.split()[-2]) for line in lines[1:] if line.endswith("%")]
    assert sum(shares) == pytest.approx(100, abs=0.5)
    assert [line.split()[0] for line in lines[-3:]] == ["scalar", "run", "compile"]


def test_dump_prints_every_number_exactly(pto_run, args: Args) -> None:
    x = (normal((4, 8), 1, np.float32) * np.float32(1e-3)).astype(np.float32)
    np.save("x.npy", x)
    out = pto_run.good("add", *args(x="x.npy", y="zeros:f32:4x8", z="zeros:f32:4x8"), "--dump")
    head, _, numbers = out.partition("\n")
    assert head == "z: f32 4x8"
    read = np.array(json.loads(" ".join(numbers.split()).replace("[ ", "[").replace(" ", ",").replace(".,", ".0,")))
    assert (read.astype(np.float32) == x).all()


def test_summary_names_only_what_changed(pto_run, args: Args) -> None:
    given = args(x="zeros:f32:32", y="zeros:f32:32", z="zeros:f32:32")
    assert pto_run.good("add", *given) == ""
    assert pto_run.good("add", *given[:4], *args(z="ones:f32:32")) == "z: f32 32, min 0, max 0, mean 0\n"
    assert pto_run.good("add", *given[:4], *args(z="ones:f32:32"), "--quiet") == ""


def test_summary_counts_what_is_not_finite(pto_run, args: Args) -> None:
    x = np.full((4, 8), 2, np.float32)
    x[0, :3] = np.nan, np.inf, -np.inf
    np.save("x.npy", x)
    out = pto_run.good("add", *args(x="x.npy", y="zeros:f32:4x8", z="zeros:f32:4x8"))
    assert out == "z: f32 4x8, min 2, max 2, mean 2, 1 nan, 2 inf\n"


def test_summary_of_huge_numbers_is_quiet(pto_run, args: Args) -> None:
    np.save("x.npy", np.full(16, 1.5e308))
    program = "func.func @keep(%x: !pto.ptr<f64>) {\n  return\n}\n"
    out = pto_run.good(program, *args(x="x.npy:inout"))
    assert out == "x: f64 16, min 1.5e+308, max 1.5e+308, mean inf -> x.npy\n"


def test_program_on_standard_input(pto_run, args: Args) -> None:
    outcome = pto_run.raw("-", *args(p="zeros:i64:1"), stdin=(PROGRAMS / "blocks.pto").read_bytes())
    assert outcome == (0, "p: i64 1 = [10]\n", "")


def test_version(pto_run) -> None:
    import pto_dialect

    outcome = pto_run.raw("--version")
    assert outcome.code == 0
    assert outcome.out.startswith(f"pto-run {pto_dialect.__version__} (xDSL ")
