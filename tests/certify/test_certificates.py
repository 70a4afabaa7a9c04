"""Certificates: which proofs have one, and that no other certificate is accepted.

Source: docs/reference/order-proof.md, "Certificates".
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner, Result
from order_judge import Judge, Range
from order_programs import FOLDER, read_programs
from order_values import Unmodelled
from sampling import sampled
from spoiled_certificates import changed

from pto_dialect.api import parse
from pto_dialect.certify import write
from pto_dialect.certify.certificate import verify
from pto_dialect.certify.check import RefusedError
from pto_dialect.certify.course import NotCoveredError
from pto_dialect.certify.write import certificate_of
from pto_dialect.prove.reader import entry_functions

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from prove_generator import Generator, damaged, module_text

MAIN = import_module("pto_dialect.tools.pto_prove").main
FILES = sorted(FOLDER.glob("*.pto"))


@cache
def certificates(text: str, name: str) -> dict[str, str]:
    """The certificates of the functions of a program that have one."""
    module = parse(text, name)
    found: dict[str, str] = {}
    for function in entry_functions(module):
        try:
            found[function.properties["sym_name"].data] = certificate_of(text, module, function, None)  # type: ignore[attr-defined]
        except (RefusedError, NotCoveredError):
            continue
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_only_functions_that_are_in_order_have_a_certificate(path: Path) -> None:
    kinds = {one.name: one.kind for one in read_programs(path)}
    found = certificates(path.read_text(encoding="utf-8"), str(path))
    assert [name for name in found if kinds[name] != "proven"] == []


def test_half_of_the_known_proofs_have_a_certificate() -> None:
    found = sum(len(certificates(path.read_text(encoding="utf-8"), str(path))) for path in FILES)
    assert found >= 155


@pytest.mark.parametrize("path", sampled(FILES, 2), ids=lambda path: path.stem)
def test_spoiled_certificate_is_refused(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    module = parse(text, str(path))
    accepted: Counter[str] = Counter()
    for line in certificates(text, str(path)).values():
        changes = list(changed(line))
        for name, weakens, other in changes[:: max(1, len(changes) // 40)]:
            try:
                verify(other, text, module)
            except (RefusedError, NotCoveredError):
                continue
            accepted[name] += not weakens
    assert +accepted == Counter()


@pytest.mark.parametrize("path", FILES[::4], ids=lambda path: path.stem)
def test_certificate_of_another_text_or_of_a_refuted_function_is_refused(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = certificates(text, str(path))
    module = parse(text, str(path))
    for line in found.values():
        with pytest.raises(RefusedError, match="'program'"):
            verify(line, text + "\n", module)
    wrong = [one.name for one in read_programs(path) if one.kind == "refuted"]
    for line in found.values():
        for function in wrong:
            with pytest.raises((RefusedError, NotCoveredError)):
                verify(json.dumps(json.loads(line) | {"function": function}), text, module)


@pytest.mark.parametrize("start", range(0, 200, 40))
def test_certified_random_function_has_no_fault(start: int) -> None:
    functions = {}
    for seed in range(start, start + 40):
        generator = Generator(seed)
        body = generator.function()
        if seed % 3 == 0:
            damaged(body, generator.random)
        functions[f"f{seed}"] = body
    text = module_text(functions)
    module = parse(text, "random.pto")
    for name in certificates(text, "random.pto"):
        try:
            verdict = Judge(module, name).verdict(Range(-1, 5))
        except Unmodelled:
            continue
        assert verdict.kind == "proven", name


@pytest.mark.parametrize("start", range(0, 40, 20))
def test_certified_function_has_no_fault_whatever_memory_says(start: int) -> None:
    bodies = {f"f{seed}": Generator(seed, memory=True).function() for seed in range(start, start + 20)}
    for number, body in enumerate(bodies.values()):
        if number % 3 == 0:
            damaged(body, Random(start + number))
    answered = parse(module_text(bodies, answered=True), "answered.pto")
    for name in certificates(module_text(bodies), "random.pto"):
        judge = Judge(answered, name)
        calls = [{"n": n, "s": s} for n in range(4) for s in range(6)]
        assert not any(judge.faults(call) for call in calls), name


def test_checker_has_at_most_520_lines() -> None:
    count = 0
    for name in ("places", "course", "check", "certificate"):
        source = (Path(write.__file__).parent / f"{name}.py").read_text(encoding="utf-8")
        texts = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr) and is_text(node.value)]
        without = {line for node in texts for line in range(node.lineno, (node.end_lineno or 0) + 1)}
        lines = enumerate(source.splitlines(), 1)
        count += sum(bool(text.strip()) and text.lstrip()[0] != "#" and line not in without for line, text in lines)
    assert count <= 520


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


LOCKED = """\
func.func @f(%p: !pto.partition_tensor_view<16x16xf32>, %w: !pto.ptr<f32, gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %x = pto.alloc_tile addr = %l0 : !pto.tile_buf<vec, 16x16xf32>
  %e = scf.while (%i = %c0) : (index) -> index {
    WHILE
    %is = pto.load_scalar %w[%i] : !pto.ptr<f32, gm> -> f32
    %more = arith.cmpf ogt, %is, %zero : f32
    scf.condition(%more) %i : index
  } do {
  ^bb0(%j: index):
    BODY
    %next = arith.addi %j, %c1 : index
    scf.yield %next : index
  }
  return
}
"""
_LOAD = "pto.tload ins(%p : !pto.partition_tensor_view<16x16xf32>) outs(%x : !pto.tile_buf<vec, 16x16xf32>)"
_STORE = "pto.tstore ins(%x : !pto.tile_buf<vec, 16x16xf32>) outs(%p : !pto.partition_tensor_view<16x16xf32>)"
_ALL = "pto.barrier #pto.pipe<PIPE_ALL>"


@pytest.mark.parametrize(
    ("decides", "body", "certified"),
    [
        (f"{_LOAD}\n{_ALL}", f"{_STORE}\n{_ALL}", True),
        (f"{_LOAD}\n{_ALL}", _STORE, False),
        (_LOAD, f"{_STORE}\n{_ALL}", False),
        (_LOAD, _ALL, True),
        (_LOAD, "", False),
    ],
    ids=("both", "no-barrier-in-body", "no-barrier-before-body", "load-alone", "load-twice"),
)
def test_loop_with_a_condition_is_followed(decides: str, body: str, certified: bool) -> None:
    text = LOCKED.replace("WHILE", decides).replace("BODY", body)
    assert (list(certificates(text, "k.pto")) == ["f"]) is certified


@pytest.mark.parametrize(
    "line",
    ["", "{", "[]", "null", "{}", "[" * 100_000, '{"certificate": 1}', '{"certificate": 1e999}', "\ud800", "{" * 10],
)
def test_text_that_is_no_certificate_is_refused(line: str) -> None:
    text = "func.func @f() {\n  return\n}\n"
    with pytest.raises(RefusedError):
        verify(line, text, parse(text))


def command(*arguments: object) -> Result:
    return CliRunner().invoke(MAIN, [str(one) for one in arguments])


def test_command_writes_certificates_and_checks_them(tmp_path: Path) -> None:
    path, out = tmp_path / "locks.pto", tmp_path / "locks.cert"
    path.write_text((FOLDER / "locks.pto").read_text(encoding="utf-8"), encoding="utf-8")
    written = command(path, "--no-replay", "--certificate", out)
    assert written.exit_code == 3
    assert written.stdout.count("note: a certificate is written") == len(out.read_text().splitlines()) > 3
    assert "note: no certificate: nothing orders pto.tload after pto.tadd" in written.stdout
    result = command("--check", out, path)
    lines = len(out.read_text().splitlines())
    uncovered = result.stdout.count(": no certificate for @")
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (
        4,
        f"{lines} certificates: 0 refused, {uncovered} functions without one",
    )
    assert lines + uncovered == path.read_text(encoding="utf-8").count("func.func @")
    assert command("--check", out, path, "--allow-undecided").exit_code == 0
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    result = command("--check", out, path)
    assert result.exit_code == 1
    assert "line 1: refused: its entry 'program' is another one" in result.stdout


def test_check_needs_no_library_for_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, out = tmp_path / "locks.pto", tmp_path / "locks.cert"
    path.write_text((FOLDER / "locks.pto").read_text(encoding="utf-8"), encoding="utf-8")
    command(path, "--no-replay", "--certificate", out)
    monkeypatch.setitem(sys.modules, "islpy", None)
    assert command("--check", out, path, "--allow-undecided").exit_code == 0


def test_file_of_another_kind_stays(tmp_path: Path) -> None:
    path, out = tmp_path / "locks.pto", tmp_path / "notes.txt"
    path.write_text("func.func @f() {\n  return\n}\n", encoding="utf-8")
    out.write_text("notes\n", encoding="utf-8")
    result = command(path, "--certificate", out)
    assert (result.exit_code, out.read_text()) == (2, "notes\n")
    assert command(path, "--certificate", out, "--force").exit_code == 0
    assert command(path, "--certificate", out).exit_code == 0


@pytest.mark.parametrize(
    "arguments", [("--check", "missing.cert", "p.pto"), ("--check", "p.pto"), ("--check", "p.pto", "p.pto", "q.pto")]
)
def test_wrong_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]) -> None:
    monkeypatch.chdir(tmp_path)
    for name in "pq":
        Path(f"{name}.pto").write_text("func.func @f() {\n  return\n}\n", encoding="utf-8")
    assert command(*arguments).exit_code == 2


PARTS = """\
!V = !pto.tensor_view<?x?xf32>
!F = !pto.tensor_view<64x64xf32>
!R = !pto.partition_tensor_view<1x64xf32>
!T = !pto.tile_buf<vec, 1x64xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @k(%%p: !pto.ptr<f32, gm>, %%g: !V, %%f: !F, %%small: i8, %%n: index) {
    %%c0 = arith.constant 0 : index
    %%c1 = arith.constant 1 : index
    %%c2 = arith.constant 2 : index
    %%c8 = arith.constant 8 : index
    %%c32 = arith.constant 32 : index
    %%c64 = arith.constant 64 : index
    %%c128 = arith.constant 128 : index
    %%low = arith.constant 0 : i64
    %%high = arith.constant 256 : i64
    %%two = arith.constant 2 : i8
    %%x = pto.alloc_tile addr = %%low : !T
    %%y = pto.alloc_tile addr = %%high : !T
%s
  }
}
"""
PAIR = """
    %%a = pto.partition_view %s, offsets = [%s], sizes = [%%c1, %%c64] : !V -> !R
    %%b = pto.partition_view %s, offsets = [%s], sizes = [%%c1, %%c64] : !V -> !R
    pto.tload ins(%%a : !R) outs(%%x : !T)
    pto.tstore ins(%%y : !T) outs(%%b : !R)
    return"""
LOOP = """
    scf.for %%i = %%c0 to %%n step %%c1 {
      %%j = arith.index_cast %%i : index to %s
      %%o = arith.index_cast %%j : %s to index
      %%row = arith.addi %%o, %%c128 : index
      %%a = pto.partition_view %%g, offsets = [%%row, %%c0], sizes = [%%c1, %%c64] : !V -> !R
      pto.barrier <PIPE_MTE2>
      pto.tload ins(%%a : !R) outs(%%x : !T)
      pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
      pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
      pto.tstore ins(%%y : !T) outs(%%a : !R)
    }
    return"""
FRAME = """
    %%v = pto.make_tensor_view %%p, shape = [%s], strides = [%s] : !V"""


MOVING = """
    scf.for %i = %c0 to %n step %c1 {
      %o = arith.muli %i, %c64 : index
      %q = pto.addptr %p, %o : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
      %v = pto.make_tensor_view %q, shape = [%c64, %c64], strides = [%c64, %c1] : !V
      %a = pto.partition_view %v, offsets = [%c1, %c0], sizes = [%c1, %c64] : !V -> !R
      %b = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c1, %c64] : !V -> !R
      pto.tstore ins(%y : !T) outs(%a : !R)
      pto.barrier <PIPE_MTE3>
      pto.tload ins(%b : !R) outs(%x : !T)
      pto.barrier <PIPE_MTE2>
    }
    return"""
"""The part that an iteration stores is the one that the next one loads."""


def pair(first: str, second: str, view: str = "%g") -> str:
    """A part that is loaded, and one that is stored without an order between them."""
    body = PAIR % (view, first, view, second)
    return body.replace("!V", "!F") if view == "%f" else body


def is_certified(body: str) -> bool:
    return "k" in certificates(PARTS % body, "parts.pto")


WRAPS = """
    %twice = arith.muli %small, %two : i8
    %one = arith.index_cast %twice : i8 to index
    %wide = arith.index_cast %small : i8 to index
    %other = arith.muli %wide, %c2 : index
    %first = arith.addi %one, %c128 : index
    %second = arith.subi %other, %c128 : index"""
INNER = """
    %%inner = pto.partition_view %%g, offsets = [%%n, %%c0], sizes = [%%n, %%c64] : !V -> !R
    %%a = pto.partition_view %%inner, offsets = [%%c0, %%c0], sizes = [%%c1, %%c64] : !R -> !R
    %%b = pto.partition_view %%g, offsets = [%%c1, %%c0], sizes = [%%c1, %%c64] : !V -> !R
    pto.tload ins(%%a : !R) outs(%%x : !T)
    pto.tstore ins(%%y : !T) outs(%%b : !R)
    return"""
OUTSIDE = [
    pytest.param(INNER.replace("%%", "%"), id="part_of_a_part"),
    pytest.param(LOOP % ("i8", "i8"), id="counter_of_8_bits"),
    pytest.param(LOOP % ("i16", "i16"), id="counter_of_16_bits"),
    pytest.param(WRAPS + pair("%first, %c0", "%second, %c0"), id="product_of_8_bits"),
    pytest.param(FRAME % ("%c64, %n", "%c8, %c1") + pair("%c0, %c0", "%c1, %c0", "%v"), id="rows_of_8_elements"),
    pytest.param(FRAME % ("%c64, %n", "%c1, %c8") + pair("%c0, %c0", "%c8, %c0", "%v"), id="columns_8_apart"),
    pytest.param(FRAME % ("%c64, %c64", "%c64, %c1") + pair("%c1, %c0", "%c0, %c32", "%v"), id="beyond_its_row"),
    pytest.param(FRAME % ("%c64, %c64", "%n, %c1") + pair("%c0, %c0", "%c1, %c0", "%v"), id="rows_of_any_length"),
    pytest.param(FRAME % ("%c64, %c64", "%c32, %c1") + pair("%c0, %c0", "%c1, %c0", "%v"), id="rows_that_overlap"),
    pytest.param(pair("%c1, %c0", "%c0, %c32", "%f"), id="beyond_its_row_of_an_argument"),
]
INSIDE = [
    pytest.param(LOOP % ("i32", "i32"), id="counter_of_32_bits"),
    pytest.param(FRAME % ("%n, %c64", "%c64, %c1") + pair("%c0, %c0", "%c1, %c0", "%v"), id="rows_of_a_view"),
    pytest.param(FRAME % ("%n, %c64", "%c128, %c1") + pair("%c0, %c0", "%c1, %c0", "%v"), id="rows_with_gaps"),
    pytest.param(pair("%c0, %c0", "%c1, %c0"), id="rows_of_an_argument"),
    pytest.param(pair("%c1, %c0", "%c0, %c0", "%f"), id="rows_of_an_argument_of_fixed_shape"),
]


@pytest.mark.parametrize("body", OUTSIDE)
def test_parts_that_may_share_bytes_have_no_certificate(body: str) -> None:
    assert not is_certified(body)


BEYOND = """
    %%u = pto.castptr %%%s : !T -> !pto.ptr<f32, ub>
    %%q = pto.addptr %%u, %%%s : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>
    %%one = arith.constant 1 : i64
    %%bytes = arith.constant 256 : i64
    pto.tload ins(%%f : !F) outs(%%%s : !T)
    pto.mte_ub_gm %%q, %%p, %%bytes nburst(%%one, %%bytes, %%bytes)
      : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
    return"""


@pytest.mark.parametrize(
    ("tile", "offset", "loaded", "certified"),
    [("y", "c0", "x", True), ("x", "c0", "x", False), ("x", "c64", "y", False), ("x", "c0", "y", True)],
)
def test_pointer_reaches_beyond_its_tile(tile: str, offset: str, loaded: str, certified: bool) -> None:
    assert is_certified(BEYOND % (tile, offset, loaded)) is certified


def test_parts_of_a_view_that_moves_have_no_certificate() -> None:
    (view,) = [line for line in MOVING.splitlines(keepends=True) if "make_tensor_view" in line]
    assert is_certified(view.replace("%q", "%p") + MOVING.replace(view, ""))
    assert not is_certified(MOVING)


@pytest.mark.parametrize("body", INSIDE)
def test_parts_that_are_apart_have_a_certificate(body: str) -> None:
    assert is_certified(body)


@pytest.mark.parametrize("body", OUTSIDE)
def test_certificate_of_parts_that_are_apart_is_refused_for_parts_that_may_share_bytes(body: str) -> None:
    text = PARTS % body
    source = PARTS % (LOOP % ("i32", "i32") if "scf.for" in body else pair("%c0, %c0", "%c1, %c0"))
    forged = json.loads(certificates(source, "parts.pto")["k"])
    program = hashlib.sha256(text.encode()).hexdigest()
    with pytest.raises((RefusedError, NotCoveredError), match="'pairs'"):
        verify(json.dumps(forged | {"program": program}), text, parse(text))
