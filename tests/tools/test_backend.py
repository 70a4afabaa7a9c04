"""Which library a run follows: the option, then the launch file, then the module, then emitc."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pto_dialect
from pto_dialect.diagnostics.diagnostic import Diagnostic

PROGRAM = (Path(__file__).parent / "programs" / "half.pto").read_text()
ATTRIBUTE = 'pto.target_arch = "a5"'
X = np.full((1, 8), 1.75, np.float32)
TRUNCATED, NEAREST = 1, 2


def stating(backend: str, target: str = "a5") -> str:
    return PROGRAM.replace(ATTRIBUTE, f'pto.target_arch = "{target}", pto.backend = "{backend}"')


@pytest.mark.parametrize(
    ("text", "option", "wanted"),
    [
        (PROGRAM, None, TRUNCATED),
        (PROGRAM, "emitc", TRUNCATED),
        (PROGRAM, "vpto", NEAREST),
        (stating("vpto"), None, NEAREST),
        (stating("vpto"), "emitc", TRUNCATED),
        (stating("emitc"), "vpto", NEAREST),
        (stating("vpto", "a3"), None, TRUNCATED),
        (stating("emitc", "a3"), "vpto", TRUNCATED),
        (f'module attributes {{pto.backend = "vpto"}} {{\n{PROGRAM}\n}}', None, NEAREST),
        (f'module attributes {{pto.backend = "vpto"}} {{\n{stating("emitc")}\n}}', None, TRUNCATED),
    ],
)
def test_precedence(text: str, option: pto_dialect.api.Backend | None, wanted: int) -> None:
    module = pto_dialect.parse(text)
    assert (pto_dialect.run(module, {"x": X.copy()}, "half", backend=option)["0"] == wanted).all()
    assert (pto_dialect.compile(module, "half", backend=option)(X.copy()) == wanted).all()


def test_another_name_is_no_backend() -> None:
    with pytest.raises(ValueError, match="backend is 'emitc' or 'vpto', found 'llvm'"):
        pto_dialect.compile(pto_dialect.parse(PROGRAM), backend="llvm")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("value", "found"), [('"llvm"', "found 'llvm'"), ('"VPTO"', "found 'VPTO'"), ("1 : i32", "found another kind")]
)
def test_unknown_backends_of_modules_are_warned_of(value: str, found: str) -> None:
    text = stating("X").replace('"X"', value)
    result = pto_dialect.check(text)
    (warning,) = (d for d in result.diagnostics if d.rule == "backend-unknown")
    assert isinstance(warning, Diagnostic)
    assert result.ok
    assert found in warning.message
    assert (pto_dialect.run(pto_dialect.parse(text), {"x": X.copy()}, "half")["0"] == TRUNCATED).all()


@pytest.mark.parametrize("backend", ["emitc", "vpto"])
def test_known_backends_are_not(backend: str) -> None:
    assert not pto_dialect.check(stating(backend)).diagnostics


@pytest.mark.parametrize(
    ("module", "file", "option", "wanted"),
    [
        (None, None, None, TRUNCATED),
        (None, "vpto", None, NEAREST),
        (None, "vpto", "emitc", TRUNCATED),
        ("vpto", None, None, NEAREST),
        ("vpto", "emitc", None, TRUNCATED),
        ("vpto", "emitc", "vpto", NEAREST),
    ],
)
def test_commands(pto_run, module: str | None, file: str | None, option: str | None, wanted: int) -> None:
    Path("half.pto").write_text(PROGRAM if module is None else stating(module))
    stated = "" if file is None else f'backend = "{file}"\n'
    Path("half.launch.toml").write_text(f'{stated}[arguments]\nx = "x.npy"\n[expect]\n0 = {wanted}\n')
    np.save("x.npy", X)
    options = [] if option is None else ["--backend", option]
    outcome = pto_run.raw("half.launch.toml", *options)
    assert outcome.code == 0, outcome
    if file is None:
        outcome = pto_run.raw("half.pto", "--arg", "x=x.npy", "--expect", f"0={wanted}", *options)
        assert outcome.code == 0, outcome


def test_a_launch_file_names_a_known_backend(pto_run) -> None:
    Path("half.pto").write_text(PROGRAM)
    Path("half.launch.toml").write_text('backend = "llvm"\n[arguments]\nx = "x.npy"\n')
    outcome = pto_run.raw("half.launch.toml")
    assert outcome.code == 2
    assert "half.launch.toml:1:" in outcome.err
    assert "emitc" in outcome.err
