"""With ``PTO_PLAIN=1`` or ``--plain`` everything that is here for speed alone is off, and outputs are the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from warm_caches import warm

from pto_dialect.accel import ACCELERATIONS, OPTION, VARIABLE, enabled, switch

ROOT = Path(__file__).parents[2]

COMMAND = """
import sys
sys.path.insert(0, {root!r})
import pto_dialect
pto_dialect.__path__.append({root!r})
from pto_dialect.tools import start
sys.argv[0] = "{command}"
start.{function}()
"""


def run(command: str, *arguments: str, plain: bool | str, cache: Path) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command in a process of its own."""
    script = COMMAND.format(root=str(ROOT), command=command, function=command.replace("-", "_"))
    variables = {
        **os.environ,
        VARIABLE: plain if isinstance(plain, str) else str(int(plain)),
        "PTO_CACHE_DIR": str(cache),
    }
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True, text=True, check=False, timeout=200, env=variables, cwd=ROOT,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


GEMM = [
    "examples/gemm/gemm.pto",
    *(f"--arg={name}" for name in ("a=random:f16:256x512", "b=random:f16:512x256", "bias=ones:f32:1x256")),
    *("--arg=c=zeros:f32:256x256", "--arg=with_bias=1", "--dump"),
]


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("pto-opt", ["lit-tests/roundtrip", "--diagnostics-format=json", "--pedantic"]),
        ("pto-opt", ["examples/flash_attention/flash_attention.pto", "--print-op-generic"]),
        ("pto-opt", ["examples/gemm/gemm.pto", "--lower", "--print-debuginfo"]),
        ("pto-run", GEMM),
        ("pto-run", [*GEMM, "--sanitize"]),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value)[:60],
)
def test_output_is_the_same_without_accelerations(command: str, arguments: list[str], tmp_path: Path) -> None:
    fast = run(command, *arguments, plain=False, cache=tmp_path / "fast")
    plain = run(command, *arguments, plain=True, cache=tmp_path / "plain")
    assert plain == fast
    assert any(fast[1:]) and "Traceback" not in fast[2]
    assert fast[0] == 0
    assert any((tmp_path / "fast").rglob("*"))
    assert not (tmp_path / "plain").exists()


def test_output_is_the_same_without_one_acceleration(tmp_path: Path) -> None:
    arguments = ["lit-tests/roundtrip/sync", "examples/rms_norm", "--diagnostics-format=json", "--pedantic"]
    fast = run("pto-opt", *arguments, plain=False, cache=warm(tmp_path / "fast"))
    for name in ("templates", "locations", "definitions", "construction", "verdicts"):
        assert run("pto-opt", *arguments, plain=name, cache=warm(tmp_path / name)) == fast, name


def test_unknown_acceleration_is_refused(tmp_path: Path) -> None:
    code, out, err = run("pto-opt", "examples/gemm/gemm.pto", plain="replay,fast", cache=tmp_path)
    assert (code, out) == (2, "") and err.startswith("error: PTO_PLAIN has no 'fast': it is 1, or some of class-code, ")


def test_every_acceleration_has_a_switch_and_documentation() -> None:
    sources = [path for folder in ("pto_dialect", "tools") for path in (ROOT / folder).rglob("*.py")]
    asked = set(re.findall(r'enabled\("([\w-]+)"\)', "".join(path.read_text(encoding="utf-8") for path in sources)))
    # The table of a cache calls those whose code it has.
    assert asked | {"class-code", "regex-code"} == set(ACCELERATIONS)
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    assert [name for name in ACCELERATIONS if f"| `{name}` |" not in page] == []


def test_option_is_the_same_as_the_variable(tmp_path: Path) -> None:
    arguments = ["examples/gemm/gemm.pto", "--verify-only"]
    assert run("pto-opt", *arguments, OPTION, plain=False, cache=tmp_path / "cache") == (0, "", "")
    assert not (tmp_path / "cache").exists()


# What stays of the libraries when this package has been used.
UNTOUCHED = """
import collections, dataclasses, gc, re, sys, typing
frozen = gc.get_freeze_count()  # Python 3.12 begins with some.
from xdsl.ir import Operation
from xdsl.irdl.declarative_assembly_format import FormatProgram

def patches():
    yield from (module.__name__ for module in (dataclasses, collections, typing)
                if {"exec", "eval", "compile"} & vars(module).keys())
    if re._compiler.compile.__module__ != "re._compiler":
        yield "re"
    if FormatProgram.from_str.__module__ != FormatProgram.__module__:
        yield "FormatProgram.from_str"
    if "location" in vars(Operation):
        yield "Operation.location"
    if gc.get_freeze_count() != frozen or not gc.isenabled():
        yield "gc"

sys.path.insert(0, ROOT)
import pto_dialect
from pto_dialect.accel.parsing.templates import TEMPLATES
from pto_dialect.accel.operations import deferred_definitions

seen = set()
sys.setprofile(lambda frame, event, argument: event == "c_call" and argument is gc.disable and seen.add("gc"))
module = pto_dialect.parse(open(FILE).read())
assert pto_dialect.check(FILE).ok
sys.setprofile(None)
seen.update(patches())
if TEMPLATES.known:
    seen.add("parse templates")
if deferred_definitions._deferred:
    seen.add("deferred definitions")
print(*sorted(seen))
"""


def in_process(plain: bool) -> str:
    script = f"ROOT = {str(ROOT)!r}\nFILE = {str(ROOT / 'examples/faulty/bounds.pto')!r}\n{UNTOUCHED}"
    variables = {**os.environ, VARIABLE: "1" if plain else ""}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=200, env=variables
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_libraries_are_left_as_they_are() -> None:
    assert in_process(plain=True) == ""
    assert in_process(plain=False) == "Operation.location deferred definitions gc parse templates"


def test_switch_gives_the_earlier_answer() -> None:
    variable = os.environ.get(VARIABLE)
    before = switch(True)
    try:
        assert switch(False) is True
        assert not enabled("replay") and os.environ[VARIABLE] == "1"
        assert switch(True) is False
        assert enabled("replay") and os.environ[VARIABLE] == "0"
    finally:
        switch(before)
        os.environ.pop(VARIABLE)
        if variable is not None:
            os.environ[VARIABLE] = variable
