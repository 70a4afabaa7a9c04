"""Names of a program and the identifiers of generated code."""

from __future__ import annotations

import builtins
import keyword
import unicodedata
from time import process_time

import numpy as np
import pytest

import pto_dialect
from pto_dialect.ir.core.attribute_text import symbol_name
from pto_dialect.runtime.compile.names import LONGEST, Identifiers, Kind
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.profiling import ProfileLog

NAMES = (
    *(
        "x",
        "x",
        "x_1",
        "x_2",
        "x",
        "x_",
        "x__",
        "_x",
        "",
        "",
        "_",
        "__",
        "1",
        "1",
        "v_1",
        "k",
        "ｋ",
        "𝐤",
        "K",
        "_ｋ",
        "ﬁ",
        "fi",
    ),
    *(
        "class",
        "print",
        "__import__",
        "core",
        "items",
        "mask",
        "np",
        "started",
        "range",
        "min",
        "a b",
        "a\nb",
        "a.b",
        "a-b",
    ),
    *('"""', "'", "\\", "\0", "\ud800", "é", "e\u0301", "ſ", "s", "K", "µ", "μ", "ª", "a", "x" * 5000, "x" * 5001),
)


@pytest.mark.parametrize("kind", list(Kind))
def test_identifiers_are_plain_and_distinct(kind: Kind) -> None:
    identifiers = Identifiers()
    found = [identifiers.fresh(kind, name) for name in NAMES]
    normal = {unicodedata.normalize("NFKC", one).casefold() for one in found}
    assert len({unicodedata.normalize("NFKC", one) for one in found}) == len(NAMES) and len(normal) > len(NAMES) - 3
    for one in found:
        assert one.isascii() and one.isidentifier() and one.startswith(kind.value)
        assert one not in keyword.kwlist and not hasattr(builtins, one)
        assert len(one) <= LONGEST + 10
        assert identifiers.kinds[one] == kind


def test_kinds_do_not_meet() -> None:
    identifiers = Identifiers()
    found = {identifiers.fresh(kind, name) for kind in Kind for name in NAMES}
    assert len(found) == len(Kind) * len(NAMES)


@pytest.mark.parametrize(
    ("name", "identifiers"),
    [
        ("acc", ["v_acc", "v_acc_1", "v_acc_2"]),
        ("c_0", ["v_c_0", "v_c_0_1", "v_c_0_2"]),
        ("a.b-c", ["v_a_b_c", "v_a_b_c_1", "v_a_b_c_2"]),
        ("größe", ["v_gr_e", "v_gr_e_1", "v_gr_e_2"]),
        ("", ["v_1", "v_2", "v_3"]),
        ("ｋ", ["v_1", "v_2", "v_3"]),
        ("k" * 39 + "l", [f"v_{'k' * 39}l", f"v_{'k' * 39}l_1", f"v_{'k' * 39}l_2"]),
        ("k" * 39 + "lm", [f"v_{'k' * 39}l", f"v_{'k' * 39}l_1", f"v_{'k' * 39}l_2"]),
    ],
)
def test_identifiers_can_be_read(name: str, identifiers: list[str]) -> None:
    made = Identifiers()
    assert [made.fresh(Kind.VALUE, name) for _ in range(3)] == identifiers


def test_time_is_linear() -> None:
    """Also for names that a number after another one would take."""

    def seconds(count: int) -> float:
        started = process_time()
        identifiers = Identifiers()
        for number in range(count):
            identifiers.fresh(Kind.VALUE, f"x_{number}")
        for _ in range(count):
            identifiers.fresh(Kind.VALUE, "x")
        return process_time() - started

    assert min(seconds(20_000) for _ in range(3)) < 40 * min(seconds(2_000) for _ in range(3))


TEXT = """func.func @{entry}(%{a}: i32, %{b}: i32) -> i32 {{
  %{c} = arith.minsi %{a}, %{b} : i32
  %{d} = arith.shli %{c}, %{b} : i32
  return %{d} : i32
}}
"""


@pytest.mark.parametrize(
    "names",
    [
        ("range", "min", "max", "core"),
        ("started", "process_time", "k_process_time", "t_started"),
        ("core", "core_1", "np", "_"),
        ("_k", "_ｋ", "_𝐤", "_ₖ"),
        ("f_x", "v_1", "v", "v_"),
        ("class", "None", "True", "lambda"),
        ("a.b", "a-b", "a$b", "a_b"),
    ],
)
def test_names_of_values_have_no_meaning(names: tuple[str, str, str, str]) -> None:
    a, b, c, d = names
    module = pto_dialect.parse(TEXT.format(entry="x", a=a, b=b, c=c, d=d))
    log = ProfileLog()
    for kernel in (Kernel(module, None, None, RunOptions()), Kernel(module, None, None, RunOptions(), log)):
        assert kernel.run([7, 3]) == [3 << 3]
    assert pto_dialect.run(module, {a: 7, b: 3})["0"] == 24


def test_times_do_not_meet_values_of_that_name() -> None:
    """The reading of a clock is kept in a local of its own."""
    tile = "!pto.tile<2x8xf32>"
    text = f"""func.func @f(%started: {tile}) -> {tile} {{
  %a = pto.tadd %started, %started : ({tile}, {tile}) -> {tile}
  %b = pto.tadd %a, %started : ({tile}, {tile}) -> {tile}
  return %b : {tile}
}}
"""
    log = ProfileLog()
    kernel = Kernel(pto_dialect.parse(text), None, "a5", RunOptions(), log)
    (result,) = kernel.run([np.full((2, 8), 2, np.float32)])
    assert (result == 6).all() and log.calls == [1, 1]


@pytest.mark.parametrize("quote", ['"""', "'''", "'", '"', "\n", "\\", "\r", "\0", "\u2028"])
def test_the_name_of_an_entry_is_no_code(quote: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "name_ran", 0, raising=False)
    entry = f"x{quote}\n__import__('builtins').__dict__.update(name_ran=1)\n{quote}"
    module = pto_dialect.parse(TEXT.format(entry=symbol_name(entry)[1:], a="a", b="b", c="c", d="d"))
    kernel = pto_dialect.compile(module, entry)
    assert kernel(7, 3) == 24
    assert "def f_x_import_builtins" in kernel.source and kernel.source.count("\n") == 5
    exec(compile(kernel.source, "<shown>", "exec"), {})
    assert builtins.name_ran == 0  # type: ignore[attr-defined]


def test_arguments_have_different_names() -> None:
    """Also where a program that made the module gave them one name, and where a pair of kernels has it twice."""
    module = pto_dialect.parse(TEXT.format(entry="x", a="a", b="b", c="c", d="d"))
    function = next(op for op in module.walk() if op.name == "func.func")
    for argument in function.regions[0].blocks[0].args:
        argument.name_hint = "same"
    assert pto_dialect.run(module, {"same": 7, "same_1": 3})["0"] == 24
    text = """module {{
  func.func @cube(%x: i32, %{0}: i32) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %f = pto.import_reserved_buffer {{name = "q", peer_func = @vector}} -> i32
    return
  }}
  func.func @vector(%x: i64) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %q = pto.reserve_buffer {{name = "q", size = 8192, location = #pto.address_space<vec>, auto = true}} -> i32
    return
  }}
}}
"""
    for other, wanted in (("y", ["x", "y", "vector.x"]), ("vector.x", ["x", "vector.x", "vector.x_1"])):
        kernel = pto_dialect.compile(pto_dialect.parse(text.format(other)), "cube", verify=False)
        assert kernel.arguments == wanted
