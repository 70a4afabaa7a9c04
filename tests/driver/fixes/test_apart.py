"""Mistakes of several functions: fixed function by function, as if the whole text was looked at for each of them."""

from collections.abc import Sequence

import pytest

from pto_dialect.api import check
from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.driver.fixes import apart
from pto_dialect.driver.fixes.trying import Fixed, fixed, score

BODIES = (
    "  %x = arith.add %a, %a : i32",
    "  %x = arith.muli %a %a : i32",
    "  %x = arith.addi %a, %b : i32",
    "  %x = arith.addi %a, %a : i32",
    "  %c = arith.constant 1 : i8\n  %x = arith.sub %a, %a : i32",
    "  %x = func.call @g1(%a) : (i32) -> i32",
    "  %x = func.call @g9(%a) : (i32) -> i32",
    "  %x = arith.addi %a, %a : i32\n  %y = arith.maxi %x, %x : i32",
)


def program(*bodies: str) -> str:
    functions = [
        f"func.func @g{number}(%a: i32) -> i32 {{\n{body}\n  return %x : i32\n}}\n"
        for number, body in enumerate(bodies)
    ]
    return "// what stays\n" + "\n".join(functions)


def found_in(text: str) -> Sequence[Diagnostic]:
    return check(text).diagnostics


class Counted:
    """Checks, and how many characters they read."""

    def __init__(self) -> None:
        self.characters = 0

    def __call__(self, text: str) -> Sequence[Diagnostic]:
        self.characters += len(text)
        return found_in(text)


def at_once(text: str, monkeypatch: pytest.MonkeyPatch, unsafe: bool) -> Fixed:
    """The text with all its fixes, found in the whole text."""
    with monkeypatch.context() as patch:
        patch.setattr(apart, "functions", lambda text, found: None)
        return fixed(text, found_in, unsafe=unsafe)


@pytest.mark.parametrize("unsafe", [False, True])
@pytest.mark.parametrize("turn", range(len(BODIES)))
def test_functions_apart_are_fixed_as_in_the_whole_text(
    turn: int, unsafe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = program(*BODIES[turn:], *BODIES[:turn])
    own, whole = fixed(text, found_in, unsafe=unsafe), at_once(text, monkeypatch, unsafe)
    assert own.text == whole.text
    assert sorted(own.applied) == sorted(whole.applied) and own.applied
    assert score(own.found) == score(whole.found)


def test_an_open_function_is_fixed_as_in_the_whole_text(monkeypatch: pytest.MonkeyPatch) -> None:
    text = program(*BODIES[:3]).replace("}\n\nfunc.func @g1", "\nfunc.func @g1")
    assert fixed(text, found_in).text == at_once(text, monkeypatch, False).text


def test_a_partial_fix_is_not_kept() -> None:
    text = program(*BODIES[:2])

    def says_otherwise(asked: str) -> Sequence[Diagnostic]:
        """The whole text has always the same mistakes."""
        return found_in(text) if "@g0" in asked and "@g1" in asked else found_in(asked)

    assert fixed(text, says_otherwise)[:2] == (text, ())


def test_no_more_fixes_are_made_than_requested() -> None:
    text = program(*[BODIES[0]] * 6)
    assert [len(fixed(text, found_in, most=most).applied) for most in (0, 4, 6)] == [0, 4, 6]


def test_checks_read_a_multiple_of_the_text_however_many_mistakes_it_has() -> None:
    read: list[float] = []
    for number in (4, 16):
        text, check = program(*BODIES[:4] * number), Counted()
        assert len(fixed(text, check).applied) >= 2 * number
        read.append(check.characters / len(text))
    assert read[1] < 1.5 * read[0]
