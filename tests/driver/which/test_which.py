"""Planted faults, and the stage that ``pto which`` names. Source: docs/which.md, "Stages"."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from xdsl.dialects.builtin import ModuleOp

from pto_dialect.driver.which import comparison, stages
from pto_dialect.driver.which.runs import Launched
from pto_dialect.driver.which.sides import Side
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.tile.elementwise import TAddOp
from pto_dialect.passes.insert_sync.insert import InsertSyncPass

WHICH = import_module("pto_dialect.tools.pto_which").main
VIEW, PART = "!pto.tensor_view<16x16xf32>", "!pto.partition_tensor_view<16x16xf32>"
TILE = "!pto.tile_buf<vec, 16x16xf32>"
PROGRAM = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @squares(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %xv = pto.make_tensor_view %x, shape = [%c16, %c16], strides = [%c16, %c1] : {VIEW}
    %yv = pto.make_tensor_view %y, shape = [%c16, %c16], strides = [%c16, %c1] : {VIEW}
    %p = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c16] : {VIEW} -> {PART}
    %q = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c16, %c16] : {VIEW} -> {PART}
    %a = pto.alloc_tile : {TILE}
    %b = pto.alloc_tile : {TILE}
    pto.tload ins(%p : {PART}) outs(%a : {TILE})
    pto.tmul ins(%a, %a : {TILE}, {TILE}) outs(%b : {TILE})
    pto.tadd ins(%b, %a : {TILE}, {TILE}) outs(%a : {TILE})
    pto.tstore ins(%a : {TILE}) outs(%q : {PART})
    return
  }}
}}
"""
PASSES = ("-p", "assign-memory,insert-sync")
SHOWN = "[0, 0]"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other process and no compiler, but for tests about them."""

    def same(self: Launched, *_: Any) -> list[Side]:
        return self.results(COURSE[0].source())

    def noted(self: stages.Course) -> Any:
        COURSE[:] = [self]
        return _stages(self)

    def without(_: stages.Course) -> Any:
        raise stages.NotRun("no compiler")

    _stages = stages.Course.stages
    monkeypatch.setattr(stages.Course, "stages", noted)
    monkeypatch.setattr(stages.Course, "_cpp", without)
    monkeypatch.setattr(Launched, "plain", same)


COURSE: list[stages.Course] = []
CPP = stages.Course._cpp
"""The stage that the fixture replaces."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "squares.pto").write_text(PROGRAM, encoding="utf-8")
    x = np.arange(256, dtype=np.float32).reshape(16, 16) / 7
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", x * x + x)
    return tmp_path


def which(folder: Path, *options: str, program: str = "squares.pto") -> Result:
    arguments = ("--arg", f"x={folder / 'x.npy'}", "--arg", "y=zeros:f32:16x16")
    result = CliRunner().invoke(WHICH, [str(folder / program), *arguments, *options])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def found(folder: Path, *options: str, program: str = "squares.pto") -> dict[str, Any]:
    result = which(folder, *options, "--output-format", "json", program=program)
    assert result.exit_code == 1, result.output
    return json.loads(result.stdout)


def outcomes(data: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["outcome"] for one in data["stages"]}


def spoiled(run: Callable[..., None], change: Callable[[ModuleOp], None]) -> Callable[..., None]:
    def then(self: object, module: ModuleOp, *rest: Any) -> None:
        run(self, module, *rest)
        change(module)

    return then


def products_to_sums(module: ModuleOp) -> None:
    """The fault that is planted: ``tadd`` where ``tmul`` was."""
    for op in [op for op in walk(module) if op.name == "pto.tmul"]:
        new = TAddOp.create(operands=[*op.operands], properties=dict(op.properties), attributes=dict(op.attributes))
        new.location = op.location
        assert op.parent is not None
        op.parent.insert_op_before(new, op)
        op.detach()
        op.erase()


def test_nothing_differs(folder: Path) -> None:
    result = which(folder, *PASSES, "--device", f"y={folder / 'y.npy'}")
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith("\nno stage differs\n")
    rows = [line.split() for line in result.stdout.splitlines()[1:-2]]
    assert [row[0] for row in rows] == [
        *("source", "grammar", "assign-memory", "insert-sync", "text", "generic", "cpp", "plain"),
        *("schedule", "schedule"),
    ]


def test_a_spoiled_pass(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InsertSyncPass, "run", spoiled(InsertSyncPass.run, products_to_sums))
    data = found(folder, *PASSES)
    assert data["guilty"] == "the pass insert-sync"
    assert outcomes(data)["assign-memory"] == "same"
    assert outcomes(data)["insert-sync"] == outcomes(data)["text"] == "differs"
    # x*x + x became 2x + x: equal for 0 alone, x is 1/7 in the next element.
    difference = data["difference"]
    x = np.float32(1) / np.float32(7)
    right, wrong = np.float32(x * x + x), np.float32(x + x + x)
    assert (difference["name"], difference["index"], difference["differing"]) == ("y", [0, 1], 254)
    assert difference["values"] == [float(right), float(wrong)]
    bits = [int(one.view(np.uint32)) for one in (right, wrong)]
    assert [int(one, 16) for one in difference["bits"]] == bits
    assert difference["ulp"] == abs(bits[0] - bits[1])
    one, other = data["blame"]["operations"]
    assert data["blame"]["parts"]
    assert (one["name"], other["name"], data["blame"]["value"]) == ("pto.tmul", "pto.tadd", "%b[0, 1]")
    assert PROGRAM.splitlines()[one["line"] - 1].strip().startswith("pto.tmul")
    text = which(folder, *PASSES).stdout
    assert "guilty: the pass insert-sync\nfirst element: %y[0, 1], 254 of 256 elements differ, " in text


def test_a_pass_that_raises(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(_: ModuleOp) -> None:
        raise KeyError("planted")

    monkeypatch.setattr(InsertSyncPass, "run", spoiled(InsertSyncPass.run, wrong))
    data = found(folder, *PASSES)
    assert data["guilty"] == "the pass insert-sync"
    assert "KeyError: 'planted'" in data["why"]
    assert set([*outcomes(data).values()][4:]) == {"not run"}
    assert "\nfails: the pass insert-sync\n  internal error: KeyError" in which(folder, *PASSES).stdout


@pytest.mark.parametrize(("generic", "stage"), [(False, "text"), (True, "generic")])
def test_a_spoiled_printer(folder: Path, monkeypatch: pytest.MonkeyPatch, generic: bool, stage: str) -> None:
    printed = stages.print_module

    def wrong(module: ModuleOp, **how: Any) -> str:
        text = printed(module, **how)
        return text.replace("pto.tmul", "pto.tsub") if how.get("generic", False) is generic else text

    monkeypatch.setattr(stages, "print_module", wrong)
    data = found(folder)
    assert [name for name, outcome in outcomes(data).items() if outcome == "differs"] == [stage]
    assert data["guilty"] == f"the printer or the reader of the {stage} form"


def test_parse_templates(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = stages.parse_program

    def wrong(*arguments: Any, plans: bool = True) -> ModuleOp | None:
        module = parsed(*arguments, plans=plans)
        if module is not None and not plans:
            products_to_sums(module)
        return module

    monkeypatch.setattr(stages, "parse_program", wrong)
    assert found(folder)["guilty"].startswith("the reader: parse templates")


def test_an_acceleration(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def plain(self: Launched, text: str, entry: str, run: object, disabled: str = "1") -> list[Side]:
        calls.append(disabled)
        sides = self.results(COURSE[0].source())
        if disabled == "1" or "held" in disabled.split(","):
            sides = [side._replace(bits=side.bits ^ 1) for side in sides if side.bits is not None]
        return sides

    monkeypatch.setattr(Launched, "plain", plain)
    data = found(folder)
    assert data["guilty"] == "an acceleration of the interpreter, 'held'"
    assert data["difference"]["ulp"] == 1
    assert len(calls) < 14


def test_a_race(folder: Path) -> None:
    order = PROGRAM.replace("    pto.tstore", '    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]\n'
                            '    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]\n    pto.tstore')  # fmt: skip
    (folder / "race.pto").write_text(order, encoding="utf-8")
    data = found(folder, program="race.pto")
    assert data["guilty"].startswith("the order of the pipes")
    assert {"schedule oldest", "schedule newest"} & {n for n, outcome in outcomes(data).items() if outcome == "differs"}
    assert outcomes(data)["plain"] == "same"


def changed(folder: Path, index: tuple[int, int]) -> tuple[str, np.float32, np.float32]:
    """An array of the device with the next number in one element."""
    y = np.load(folder / "y.npy")
    before = y[index]
    y[index] = np.nextafter(before, np.float32(np.inf))
    np.save(folder / "device.npy", y)
    return f"y={folder / 'device.npy'}", before, y[index]


def test_one_element_of_the_device(folder: Path) -> None:
    device, before, after = changed(folder, (3, 5))
    data = found(folder, *PASSES, "--device", device)
    assert data["guilty"].startswith("the device")
    assert data["device_agrees"] == []
    difference = data["difference"]
    assert (difference["index"], difference["differing"], difference["ulp"]) == ([3, 5], 1, 1)
    assert difference["values"] == [float(before), float(after)]
    assert data["writer"]["name"] == "pto.tstore"
    assert PROGRAM.splitlines()[data["writer"]["line"] - 1].strip() == data["writer"]["text"]
    assert which(folder, "--device", device, "--rtol", "1e-6").exit_code == 0


def test_the_device_agrees_with_what_a_pass_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InsertSyncPass, "run", spoiled(InsertSyncPass.run, products_to_sums))
    x = np.load(folder / "x.npy")
    np.save(folder / "device.npy", x + x + x)
    data = found(folder, *PASSES, "--device", f"y={folder / 'device.npy'}")
    assert data["guilty"] == "the pass insert-sync"
    assert data["device_agrees"][0] == "insert-sync"
    assert "the device agrees with: insert-sync, text" in which(
        folder, *PASSES, "--device", f"y={folder / 'device.npy'}"
    ).stdout  # fmt: skip


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        (("--device", "z=y.npy"), 2, "has no buffer or result z"),
        (("--device", "y=missing.npy"), 2, "missing.npy"),
        (("-p", "insert-snc"), 2, "insert-sync"),
        (("--rtol", "nan"), 2, "nan"),
        (("--entry", "nobody"), 2, "no function @nobody"),
    ],
)
def test_wrong_command_lines(folder: Path, options: Sequence[str], code: int, text: str) -> None:
    result = which(folder, *options)
    assert (result.exit_code, text in result.output) == (code, True), result.output


def test_arguments_that_cannot_be_written_back(folder: Path) -> None:
    result = CliRunner().invoke(WHICH, [str(folder / "squares.pto"), "--arg", f"x={folder / 'x.npy'}:inout"])
    assert result.exit_code == 2
    assert "runs many times" in result.output


def test_generated_arguments_are_not_those_of_a_device(folder: Path) -> None:
    result = CliRunner().invoke(WHICH, [str(folder / "squares.pto"), "--device", f"y={folder / 'y.npy'}"])
    assert result.exit_code == 2
    assert "--device needs the arguments that the device had: x, y have" in result.output.replace("has", "have")


def test_wrong_programs(folder: Path) -> None:
    (folder / "broken.pto").write_text(PROGRAM.replace("outs(%b", "outs(%z"), encoding="utf-8")
    result = which(folder, program="broken.pto")
    assert result.exit_code == 1
    assert "error: " in result.output
    assert comparison.SAME not in result.stdout


def test_another_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = stages.Course.stages
    monkeypatch.undo()
    monkeypatch.setattr(stages.Course, "stages", lambda self: [one for one in own(self) if one.name == "plain"])
    result = which(folder, "--device", f"y={folder / 'y.npy'}")
    assert result.exit_code == 0, result.output
    lines = {line.split()[0]: line.split()[1] for line in result.stdout.splitlines() if line}
    assert lines["plain"] == "same"


def test_a_function_of_tiles_is_no_kernel_in_cpp(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages.Course, "_cpp", CPP)
    text = f"func.func @abs(%a: {TILE}) {{\n  pto.tabs ins(%a : {TILE}) outs(%a : {TILE})\n  return\n}}\n"
    (folder / "abs.pto").write_text(text, encoding="utf-8")
    result = CliRunner().invoke(WHICH, [str(folder / "abs.pto"), "--arg", f"a={folder / 'x.npy'}"])
    assert result.exit_code == 0, result.output
    assert "cpp              not run  @abs takes tiles, and a kernel in C++ takes pointers and numbers" in result.stdout
