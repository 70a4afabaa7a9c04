"""Wrong launches and wrong programs: one clear message, the right exit code, and no file touched."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pto_dialect.api import compile, parse
from pto_dialect.driver.run.arrays import load
from pto_dialect.driver.run.value_text import Stored
from pto_dialect.runtime.errors import BindingError, ProgramError

Args = Callable[..., list[str]]

GOOD = {"x": "ones:f32:4x8", "y": "ones:f32:4x8", "z": "zeros:f32:4x8"}
"""Arguments of the program ``add``."""


@pytest.fixture
def untouched(pto_run) -> Iterator[None]:
    """The folder, with an output file in it, must be as before when the test ends."""
    Path("out.npy").write_bytes(b"\x93NUMPY precious")
    np.savez("out.npz", precious=np.arange(3))
    np.save("z.npy", np.zeros(32, np.float32))
    yield
    assert Path("out.npy").read_bytes() == b"\x93NUMPY precious"
    assert (np.load("z.npy") == 0).all()
    with np.load("out.npz") as archive:
        assert archive.files == ["precious"]
    assert not [name for name in os.listdir() if name.startswith(".pto")]


def launch(pto_run, args: Args, code: int, *options: str, **values: str) -> str:
    """Standard error of ``add`` with some arguments changed; every output would go somewhere."""
    out = ["--out", "z=out.npy", "--out", "x=out.npz"]
    return pto_run.bad(code, "add", *args(**(GOOD | values)), *out, *options)


# ---------------------------------------------------------------- names


def test_missing_arguments_are_listed_together(pto_run, args: Args, untouched: None) -> None:
    assert pto_run.bad(2, "add", *args(y="ones:f32:32"), "--out", "z=out.npy") == (
        "error: no value for arguments x and z\n"
        "@add takes\n"
        "  x : !pto.ptr<f32, gm>\n"
        "  y : !pto.ptr<f32, gm>\n"
        "  z : !pto.ptr<f32, gm>\n"
        "help: '--arg x=random:f32:SHAPE' or '--arg x=x.npy' gives x a value; '--auto' makes up all that have none\n"
    )
    assert "no value for argument z\n" in pto_run.bad(2, "add", *args(x="ones:f32:32", y="ones:f32:32"))


def test_missing_tiles_and_numbers_are_advised_by_their_types(pto_run, args: Args) -> None:
    said = pto_run.bad(2, ".arg %a : !pto.tile<4x8xf16>\n%b = tadd %a, %a : !pto.tile<4x8xf16>\n")
    assert "help: '--arg a=random:f16:4x8' or '--arg a=a.npy' gives a a value;" in said
    said = pto_run.bad(2, "func.func @f(%n: i32) {\n  return\n}\n")
    assert said.endswith("help: '--arg n=1' gives n a value; '--auto' makes up all that have none\n")


def test_unknown_argument(pto_run, args: Args, untouched: None) -> None:
    said = pto_run.bad(2, "scalars", *args(flagg="true"))
    assert said.startswith("error: @scalars has no argument flagg; did you mean flag?\n@scalars takes\n")
    assert "@add has no argument 3\n" in launch(pto_run, args, 2, "--arg", "3=1")


def test_argument_given_twice(pto_run, args: Args, untouched: None) -> None:
    assert "argument x is given twice" in launch(pto_run, args, 2, "--arg", "x=ones:f32:4x8")
    assert "argument x is given twice" in launch(pto_run, args, 2, "--arg", "0=ones:f32:4x8")


def test_function_without_arguments(pto_run, args: Args) -> None:
    said = pto_run.bad(2, "func.func @nothing() {\n  return\n}\n", *args(x="1"))
    assert said == "error: @nothing has no argument x\n@nothing takes no arguments\n"


def test_unknown_entry(pto_run, args: Args, untouched: None) -> None:
    said = pto_run.bad(2, "two", "--entry", "secnd", *args(p="z.npy:inout"))
    assert said.startswith("error: '")
    assert said.endswith("two.pto' has no function @secnd; did you mean @second? [entry-single]\n")
    assert said.count("\n") == 1
    assert "there is @first, @second" in pto_run.bad(2, "two", "--entry", "zzz")


def test_unclear_entry(pto_run, args: Args) -> None:
    said = pto_run.bad(2, "two", *args(p="zeros:f32:1"))
    assert "several functions, choose one with --entry: @first, @second [entry-single]\n" in said


def test_no_function(pto_run) -> None:
    assert "has no function to run [entry-single]\n" in pto_run.bad(2, "module {\n}\n")


LARGE = """module attributes {pto.target_arch = "a5"} {
func.func @large(%p: !pto.ptr<f32>, %n: index) attributes {pto.kernel} {
  %first = arith.constant 0 : index
  %scratch = memref.alloc(%n, %n) : memref<?x?xf32>
  %x = memref.load %scratch[%first, %first] : memref<?x?xf32>
  return
}
}
"""


@pytest.mark.parametrize("options", [(), ("--sanitize",), ("--blocks", "4", "-j", "2"), ("--schedule", "newest")])
@pytest.mark.parametrize(("extent", "size"), [(1 << 30, "4 EiB"), (1 << 40, "4.19e+06 EiB")])
def test_more_memory_than_there_is(pto_run, args: Args, options: tuple[str, ...], extent: int, size: str) -> None:
    said = pto_run.bad(1, LARGE, *args(p="zeros:f32:1", n=str(extent)), *options)
    assert f":4:3: error: memref.alloc takes more memory than there is: {size} [run-memory]\n" in said
    assert "%scratch = memref.alloc" in said


def test_memory_that_runs_out_in_the_library() -> None:
    kernel = compile(parse(LARGE))
    with pytest.raises(ProgramError, match=r"memref\.alloc takes more memory than there is: 4 EiB") as caught:
        kernel(np.zeros(1, np.float32), 1 << 30)
    assert caught.value.rule == "run-memory"


@pytest.mark.parametrize("option", ["--out=w=w.npy", "--expect=w=1"])
def test_unknown_buffer(pto_run, args: Args, untouched: None, option: str) -> None:
    assert "@add has no buffer or result w; there are: x, y, z\n" in launch(pto_run, args, 2, option)


def test_results_by_wrong_name(pto_run, args: Args) -> None:
    given_ = args(a="ones:f16:16x32", b="ones:f16:32x16")
    assert "no buffer or result 1; " in pto_run.bad(2, "level1", *given_, "--out", "1=y.npy")
    assert "did you mean acc?" in pto_run.bad(2, "level1", *given_, "--out", "accu=y.npy")
    scalars = args(p="zeros:f32:1", n="1", k="1", u="1", f="1", flag="1")
    assert "k is a number that @scalars only reads" in pto_run.bad(2, "scalars", *scalars, "--out", "k=k.npy")
    assert os.listdir() == []


# ---------------------------------------------------------------- contents of arguments


@pytest.fixture
def wrong_files(pto_run) -> None:
    np.save("f64.npy", np.ones((4, 8)))
    np.save("i32.npy", np.ones((4, 8), np.int32))
    np.save("u32.npy", np.ones((4, 8), np.uint32))
    np.save("text.npy", np.array(["a", "b"]))
    np.save("complex.npy", np.ones(4, np.complex64))
    np.save("struct.npy", np.zeros(32, [("a", "<i4")]))
    np.save("objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.savez("two.npz", alpha=np.ones(32, np.float32), beta=np.ones(32, np.float32))
    np.save("single.npz.npy", np.ones(32, np.float32))
    os.rename("single.npz.npy", "single.npz")
    np.savez("archive.npz", a=np.ones(32, np.float32))
    os.rename("archive.npz", "archive.npy")
    Path("odd.bin").write_bytes(b"123")
    Path("long.bin").write_bytes(bytes(200))
    Path("empty.npy").touch()
    Path("empty.bin").touch()
    Path("junk.npz").write_bytes(b"PK\x03\x04 and then nothing")
    Path("words.npy").write_text("hello")
    whole = Path("f64.npy").read_bytes()
    Path("short.npy").write_bytes(whole[:-5])
    os.mkdir("folder.npy")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("missing.npy", "cannot read 'missing.npy': No such file or directory"),
        ("missing.bin:f32", "cannot read 'missing.bin': No such file or directory"),
        ("folder.npy", "cannot read 'folder.npy': Is a directory"),
        ("f64.npy", "'f64.npy' holds float64 elements, not f32"),
        ("i32.npy", "'i32.npy' holds int32 elements, not f32"),
        (
            "u32.npy",
            "'u32.npy' holds uint32 elements, not f32; if they are the bits of f32, write u32.npy:f32",
        ),
        ("f64.npy:f32", "'f64.npy:f32' holds float64 elements, not f32"),
        ("u32.npy:f16", "'u32.npy:f16' holds f16 elements, not f32"),
        ("text.npy", "'text.npy' holds <U1 elements, not f32"),
        ("complex.npy", "'complex.npy' holds complex64 elements, not f32"),
        ("struct.npy:f32", "elements, not f32"),
        ("objects.npy", "it holds Python objects, or is not in numpy's format"),
        ("words.npy", "it holds Python objects, or is not in numpy's format"),
        ("empty.npy", "'empty.npy' is no usable .npy file"),
        ("short.npy", "'short.npy' is no usable .npy file"),
        ("junk.npz:a", "'junk.npz' is no usable .npz file"),
        ("two.npz", "'two.npz' needs a key, write two.npz:KEY with one of: alpha, beta"),
        ("two.npz:alpa", "'two.npz' has no array 'alpa'; did you mean alpha?"),
        ("two.npz:zzz", "'two.npz' has no array 'zzz'; it has: alpha, beta"),
        ("single.npz", "holds one array and no archive"),
        ("archive.npy", "is an archive of arrays"),
        ("odd.bin:f32", "'odd.bin' has 3 bytes, which is no number of f32 elements of 4 bytes"),
        ("empty.bin:f32", "'empty.bin' has 0 bytes"),
        ("odd.bin:f32:4x8", "'odd.bin' should have 128 bytes (4x8 elements of f32), but has 3 bytes"),
        (
            "long.bin:f32:4x8",
            "'long.bin' should have 128 bytes (4x8 elements of f32), but has more: 200 bytes",
        ),
        ("odd.bin:fp32", "unknown element type 'fp32'; did you mean f32?"),
        ("odd.bin:quux", "unknown element type 'quux'; expected one such as f16"),
        ("odd.bin:tf32", "tf32 is a way to compute"),
        ("zeros:f16:4x8", "'zeros:f16:4x8' makes f16 elements, not f32"),
        ("zeros:i32:4x8", "'zeros:i32:4x8' makes i32 elements, not f32"),
        ("random:f32:999999x999999x999999", "of memory, more than the "),
        ("zeros:f32:99999999999999999999999", "--max-memory SIZE sets the limit"),
        ("1.5", "it needs an array, not the number 1.5"),
    ],
)
def test_wrong_contents(pto_run, args: Args, untouched: None, wrong_files: None, value: str, said: str) -> None:
    error = launch(pto_run, args, 2, x=value)
    first, *rest = error.splitlines()
    assert first.startswith("error: argument x (!pto.ptr<f32, gm>): ")
    assert said in first
    assert rest[0] == "@add takes"
    assert len(rest) == 4


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("n", "5.5", "argument n (index): it needs an integer, not 5.5"),
        ("n", "true", "argument n (index): it needs a number, not true"),
        ("n", "9223372036854775808", "argument n (index): 9223372036854775808 does not fit"),
        (
            "k",
            "4294967296",
            "argument k (i32): 4294967296 does not fit, values are -2147483648 to 4294967295",
        ),
        ("k", "-2147483649", "argument k (i32): -2147483649 does not fit"),
        ("u", "-1", "argument u (ui8): -1 does not fit, values are 0 to 255"),
        ("u", "256", "argument u (ui8): 256 does not fit"),
        ("f", "65520", "argument f (f16): 65520 does not fit, the largest value is 65504"),
        ("flag", "2", "argument flag (i1): it needs true or false, not 2"),
        ("n", "half.npy", "argument n (index): it needs an integer, not half.npy"),
        ("k", "z.npy:inout", "argument k (i32): it is a number, nothing is written back to it"),
    ],
)
def test_wrong_scalars(pto_run, args: Args, untouched: None, name: str, value: str, said: str) -> None:
    np.save("half.npy", np.array([0.5]))
    values = {"p": "z.npy:inout", "n": "1", "k": "1", "u": "1", "f": "1", "flag": "1"} | {name: value}
    assert pto_run.bad(2, "scalars", *args(**values)).startswith(f"error: {said}")


@pytest.mark.parametrize(
    ("type_", "value", "said"),
    [
        ("!pto.tensor_view<4x8xf32>", "ones:f32:8x4", "'ones:f32:8x4' has shape 8x4, not 4x8"),
        ("!pto.tensor_view<4x8xf32>", "bin.bin:f32", "'bin.bin:f32' has shape 31, not 4x8"),
        ("!pto.tensor_view<?x8xf32>", "ones:f32:8x4", "argument x needs an array of shape ?x8, found 8x4"),
        ("!pto.tensor_view<?x8xf32>", "ones:f32:8", "argument x needs an array of shape ?x8, found 8"),
        ("memref<4x8xf32>", "ones:f32:4x7", "'ones:f32:4x7' has shape 4x7, not 4x8"),
        ("!pto.tile_buf<vec, 4x8xf32>", "ones:f32:8x4", "'ones:f32:8x4' has shape 8x4, not 4x8"),
        ("!pto.tile<4x8xf32>", "ones:f32:32", "'ones:f32:32' has shape 32, not 4x8"),
        ("!pto.pipe", "1", "values of this type cannot be given"),
        ("!pto.pipe", "ones:f32:8", "values of this type cannot be given"),
    ],
)
def test_shapes_and_types_that_do_not_fit(pto_run, args: Args, type_: str, value: str, said: str) -> None:
    np.ones(31, np.float32).tofile("bin.bin")
    error = pto_run.bad(2, f"func.func @f(%x: {type_}) {{\n  return\n}}\n", *args(x=value))
    assert said in error.splitlines()[0]
    assert "@f takes\n" in error


def test_views_take_what_fits(pto_run, args: Args) -> None:
    np.ones(32, np.float32).tofile("bin.bin")
    for type_ in ("!pto.tensor_view<4x8xf32>", "!pto.tensor_view<?x8xf32>", "memref<4x8xf32>"):
        pto_run.good(f"func.func @f(%x: {type_}) {{\n  return\n}}\n", *args(x="ones:f32:4x8"), "--expect", "x=1")
    pto_run.good("func.func @f(%x: memref<4x8xf32>) {\n  return\n}\n", *args(x="bin.bin:f32"))


# ---------------------------------------------------------------- outputs and expectations


def test_output_paths_are_checked_before_the_run(pto_run, args: Args, untouched: None) -> None:
    os.mkdir("folder.npy")
    Path("junk.npz").write_bytes(b"PK\x03\x04" + bytes(22) + b"\x05\x00\x00\x00a.npy")
    for path, said in (
        ("nowhere/y.npy", "cannot write 'nowhere/y.npy': there is no folder 'nowhere'"),
        ("folder.npy", "cannot write 'folder.npy': it is a folder"),
        ("junk.npz", "cannot add to 'junk.npz': File is not a zip file"),
    ):
        assert launch(pto_run, args, 2, "--out", f"y={path}") == f"error: {said}\n"
    said = "error: x and y would both be written to 'out.npz'\n"
    assert launch(pto_run, args, 2, "--out", "y=out.npz:x") == said
    said = "error: y and z would both be written to 'same.npy'\n"
    assert pto_run.bad(2, "add", *args(**GOOD), "--out", "y=same.npy", "--out", "z=same.npy") == said
    assert "y and z would both be written" in pto_run.bad(
        2, "add", *args(**(GOOD | {"z": "z.npy:inout"})), "--out", "y=./z.npy"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_protected_output(pto_run, args: Args, untouched: None) -> None:
    Path("out.npy").chmod(0o444)
    assert "permission denied" in launch(pto_run, args, 2)


def test_output_forms(pto_run, args: Args, untouched: None) -> None:
    for text in ("z=y.txt", "z=y.npy:f16", "z=", "z", "=y.npy"):
        assert "Invalid value for '--out'" in launch(pto_run, args, 2, "--out", text)


def test_expectation_of_other_shape(pto_run, args: Args, untouched: None) -> None:
    np.save("want.npy", np.ones((8, 4), np.float32))
    said = launch(pto_run, args, 2, "--expect", "z=want.npy")
    assert said.splitlines()[0] == "error: expectation of z: 'want.npy' has shape 8x4, not 4x8"
    assert "cannot read 'none.npy'" in launch(pto_run, args, 2, "--expect", "z=none.npy")
    assert "unknown element type 'f3'" in launch(pto_run, args, 2, "--expect", "z=want.bin:f3")


def test_failed_expectation_writes_nothing(pto_run, args: Args, untouched: None) -> None:
    said = launch(pto_run, args, 1, "--expect", "z=3", z="z.npy:inout")
    assert said.startswith("z differs from 3: 32 of 32 elements")


def test_failing_disk_leaves_all_files(pto_run, args: Args, untouched: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of three files cannot be brought to the disk; the first one must not be replaced either."""
    from pto_dialect.driver.run import files

    calls: list[str] = []
    write = files.atomic_write

    def fail_second(path: str, data: bytes) -> None:
        calls.append(path)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        write(path, data)

    monkeypatch.setattr(files, "atomic_write", fail_second)
    said = launch(pto_run, args, 2, "--out", "y=new.bin")
    assert said.startswith("error: cannot write '")
    assert said.endswith("': No space left on device\n")
    assert len(calls) == 2
    assert not Path("new.bin").exists()


# ---------------------------------------------------------------- programs


def test_syntax_and_verifier_errors_look_like_those_of_pto_opt(pto_run, args: Args, untouched: None) -> None:
    body = "  %a = arith.constant 1 : i32\n  %b = arith.addi %a, %q : i32\n"
    program = f"func.func @f(%p: !pto.ptr<f32>) {{\n{body}}}\n"
    said = pto_run.bad(1, program, *args(p="z.npy:inout"))
    assert "inline.pto:3:" in said
    assert "[name-undefined]" in said
    assert said.splitlines()[-1].endswith("error") or said.splitlines()[-1].endswith("errors")


def test_rules_can_be_allowed_and_denied(pto_run, args: Args) -> None:
    program = """
      module attributes {pto.target_arch = "a7"} {
        func.func @f(%n: index) {
          return
        }
      }
    """
    assert "warning: " in pto_run(program, *args(n="1")).err
    assert pto_run.good(program, *args(n="1"), "--allow", "target-unknown") == ""
    for option in (["--deny", "target-unknown"], ["--werror"]):
        assert "[target-unknown]" in pto_run.bad(1, program, *args(n="1"), *option)
    assert "unknown rule 'target-unknwn'; did you mean target-unknown" in pto_run.bad(
        2, program, "--allow", "target-unknwn"
    )


def test_fault_of_the_program_has_its_location(pto_run, args: Args, untouched: None) -> None:
    np.array([9], np.int32).tofile("p.bin")
    said = pto_run.bad(1, "divide", *args(p="p.bin:i32:inout", n="7", d="0"))
    lines = said.splitlines()
    assert lines[0].endswith("divide.pto:5:3: error: integer division by zero [division-by-zero]")
    assert lines[1].strip() == "%q = arith.divsi %n, %d : i32"
    assert lines[-1] == "1 error"
    assert Path("p.bin").read_bytes() == np.array([9], np.int32).tobytes()
    pto_run.good("divide", *args(p="p.bin:i32:inout", n="7", d="-2"), "--expect", "p=-3")


def test_access_beyond_a_buffer(pto_run, args: Args, untouched: None) -> None:
    said = launch(pto_run, args, 1, z="zeros:f32:31")
    assert "[mem-oob]" in said
    assert "outside gm 'z', which has 124 bytes" in said
    assert "pto.tstore" in said


def test_deadlock_is_reported_with_its_notes(pto_run, args: Args) -> None:
    program = """
      module attributes {pto.target_arch = "a5"} {
        func.func @f(%n: index) {
          pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
          return
        }
      }
    """
    said = pto_run.bad(1, program, *args(n="1"))
    assert "[sync-deadlock]" in said
    assert "note: core: PIPE_MTE3 waits for a flag from PIPE_MTE2, EVENT_ID0" in said


def test_operations_of_unknown_dialects_are_refused(pto_run, args: Args) -> None:
    program = 'func.func @f(%n: index) {\n  "foo.bar"() : () -> ()\n  return\n}\n'
    said = pto_run.bad(1, program, *args(n="1"))
    assert "foo.bar belongs to an unknown dialect and cannot be executed" in said


def test_unforeseen_exceptions_name_the_operation(pto_run, args: Args, monkeypatch: pytest.MonkeyPatch) -> None:
    from pto_dialect.runtime.kernels.buffers import pointers

    def broken(*operands: object) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr(pointers, "store_element", broken)
    said = pto_run.bad(1, "divide", *args(p="zeros:i32:1", n="7", d="2"))
    assert "divide.pto:4:3: error: pto.store_scalar cannot be executed: IndexError: list index out of range" in said


def test_program_files(pto_run) -> None:
    outcome = pto_run.raw("none.pto")
    assert outcome.code == 2
    assert "no such file or folder: 'none.pto'" in outcome.err
    Path("some.pto").write_text("func.func @f() {\n  return\n}\n")
    outcome = pto_run.raw(".")
    assert outcome.code == 2
    assert "folder '.' has no .launch.toml files" in outcome.err
    Path("bytes.pto").write_bytes(b"\xff\xfe\x00")
    assert "[input-encoding]" in pto_run.raw("bytes.pto").err
    assert pto_run.raw().code == 2


# ---------------------------------------------------------------- damaged files


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), archive=st.booleans())
def test_damaged_files_are_binding_errors(tmp_path: Path, data: st.DataObject, archive: bool) -> None:
    """Bytes of a good file replaced, cut off or added: it loads or is refused."""
    path = tmp_path / ("f.npz" if archive else "f.npy")
    if archive:
        np.savez(path, a=np.arange(6, dtype=np.float32))
    else:
        np.save(path, np.arange(6, dtype=np.float32))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content)
    stored = Stored(str(path), "npz" if archive else "npy", "a" if archive else None, None, None, "f")
    try:
        array, fmt = load(stored, None)
    except BindingError:
        return
    assert array.dtype == fmt.storage
