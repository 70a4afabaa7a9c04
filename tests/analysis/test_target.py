"""Which module says for which chip an operation is meant. Source: docs/reference/targets.md, "Choice of the target"."""

from __future__ import annotations

import pytest

from pto_dialect import parse
from pto_dialect.analysis.target import target_choice

A5, A2A3, DEVICE5, DEVICE2, NOTHING = (
    'pto.target_arch = "a5"', 'pto.target_arch = "a3"', '"pto.device-spec" = "Ascend950PR_9599"',
    '"pto.device-spec" = "Ascend910B1"', "",
)  # fmt: skip
TRAP = "pto.trap"


def chosen(outer: str, inner: str, option: str | None = None, body: str = TRAP, beside: str = "") -> tuple[str, bool]:
    text = (
        f"module attributes {{{outer}}} {{\n{beside}module attributes {{{inner}}} {{\n"
        f"func.func @f(%x: f32, %i: i64) {{\n{body}\nreturn\n}}\n}}\n}}\n"
    )
    function = next(op for op in parse(text).walk() if op.name == "func.func" and op.properties["sym_name"].data == "f")  # pyright: ignore[reportAttributeAccessIssue]
    found = target_choice(function, option)
    return found.profile.arch, found.explicit


@pytest.mark.parametrize(
    ("outer", "inner", "arch"),
    [
        (A5, NOTHING, "a5"), (A2A3, NOTHING, "a2a3"), (DEVICE5, NOTHING, "a5"), (DEVICE2, NOTHING, "a2a3"),
        (A5, A2A3, "a2a3"), (A2A3, A5, "a5"), (A5, DEVICE2, "a2a3"), (DEVICE5, A2A3, "a2a3"), (A2A3, DEVICE5, "a5"),
        (DEVICE2, A5, "a5"), (NOTHING, DEVICE5, "a5"), (NOTHING, A5, "a5"),
    ],
)  # fmt: skip
def test_the_nearest_module_that_names_one_decides(outer: str, inner: str, arch: str) -> None:
    assert chosen(outer, inner) == (arch, True)
    assert chosen(outer, inner, "a2a3") == ("a2a3", True)
    assert chosen(outer, inner, "a5") == ("a5", True)


def test_operations_of_the_nearest_module_decide_where_nobody_names_one() -> None:
    scope = 'pto.vecscope {\n%m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>\n}'
    assert chosen(NOTHING, NOTHING) == ("a2a3", False)
    assert chosen(NOTHING, NOTHING, body=scope) == ("a5", False)
    assert chosen(NOTHING, NOTHING, beside=f"func.func @g() {{\n{scope}\nreturn\n}}\n") == ("a2a3", False)
    assert chosen(A2A3, NOTHING, body=scope) == ("a2a3", True)


def test_an_operation_without_a_module_has_the_default() -> None:
    module = parse("func.func @f() {\nreturn\n}\n")
    function = next(op for op in module.walk() if op.name == "func.func")
    function.detach()
    found = target_choice(function, None)
    assert (found.profile.arch, found.explicit) == ("a2a3", False)
