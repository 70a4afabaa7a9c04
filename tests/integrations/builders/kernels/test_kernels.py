# pyright: reportInvalidTypeForm=false
"""Kernels that are Python functions: what cannot be translated is reported at its line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pto_dialect.integrations.builders import pto
from pto_dialect.integrations.builders.ir import MLIRError

FILE = Path(__file__)
Pointer = pto.ptr(pto.f32, "ub")


def pair(a: Pointer) -> Any:
    pto.vlds(a, 0)
    while True:  # loop
        pass


def unknown_operation(a: Pointer) -> Any:
    pto.vloads(a, 0)  # operation


def unknown_name(a: Pointer) -> Any:
    pto.vlds(missing, 0)  # name  # noqa: F821  # pyright: ignore


def wrong_rule(a: Pointer) -> Any:
    pto.set_flag("PIPE_V", "PIPE_MTE3", 9)  # event


def wrong_program(a: Pointer) -> Any:
    loaded = pto.vlds(a, 0)
    pto.vabs(loaded, loaded)  # program


def line_of(mark: str) -> int:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return 1 + next(number for number, line in enumerate(lines) if f"  # {mark}" in line)


@pytest.mark.parametrize(
    ("kernel", "mark", "message"),
    [
        (pair, "loop", "a kernel has no statement While"),
        (unknown_operation, "operation", "pto has no operation 'vloads'"),
        (unknown_name, "name", "name 'missing' is not defined"),
        (wrong_rule, "event", "an event id is 0 to 7, found 9"),
        (wrong_program, "program", "mask of pto.vabs must be !pto.mask"),
    ],
    ids=["loop", "operation", "name", "event", "program"],
)
def test_mistake_in_a_kernel_is_reported_at_its_line(kernel: Callable[..., Any], mark: str, message: str) -> None:
    with pytest.raises((ValueError, MLIRError)) as caught:
        pto.vkernel(kernel).mlir_text()
    assert f"{FILE.name}:{line_of(mark)}:" in str(caught.value) and message in str(caught.value)


def test_structure_must_be_stated() -> None:
    @pto.vkernel(name="copy")
    def copy(tile: pto.Tile) -> Any:
        pto.vlds(tile.ub_ptr, 0)

    with pytest.raises(ValueError, match=r"argument 'tile' of copy is a Tile: state it with \.jit\(tile=\.\.\)"):
        copy.mlir_text()
    with pytest.raises(TypeError, match="Tile has the fields ub_ptr, shape"):
        pto.Tile(ub_ptr=Pointer)


def test_program_is_written_into_a_file(tmp_path: Path) -> None:
    @pto.vkernel
    def nothing(a: Pointer) -> Any:
        pass

    nothing.emit(str(tmp_path / "nothing.pto"))
    assert (tmp_path / "nothing.pto").read_text(encoding="utf-8") == str(nothing) and nothing.verify()
