"""Literals that state their bytes, and names of affine maps. Source: docs/reference/language.md, "Attributes"."""

from __future__ import annotations

import struct

import pytest
from parse_helpers import parsed

from pto_dialect import print_module


def constant(body: str, type_: str) -> tuple[str | None, list[str]]:
    """The printed value of a constant, and the messages about it."""
    value = f'"arith.constant"() <{{value = dense<{body}> : {type_}}}> : () -> {type_}'
    module, found = parsed(f"func.func @f() {{\n%a = {value}\nreturn\n}}")
    messages = [entry[3] for entry in found]
    if messages:
        return None, messages
    text = print_module(module)
    return text[text.index("dense<") : text.index(f" : {type_}")], []


def printed(body: str, type_: str) -> str:
    text, messages = constant(body, type_)
    assert text is not None, messages
    return text


def quoted(data: bytes) -> str:
    return f'"0x{data.hex().upper()}"'


@pytest.mark.parametrize(
    ("type_", "format_", "numbers"),
    [
        ("vector<3xi32>", "<3i", (1, -2, 2**31 - 1)),
        ("tensor<2x2xi16>", "<4h", (-32768, 0, 5, 32767)),
        ("tensor<2xui8>", "<2B", (255, 1)),
        ("tensor<2xsi8>", "<2b", (-1, 127)),
        ("tensor<2xindex>", "<2q", (-1, 2**62)),
        ("vector<2xf32>", "<2f", (1.5, -0.25)),
        ("vector<2xf64>", "<2d", (1.5, -3.0)),
    ],
)
def test_bytes_are_those_of_the_numbers(type_: str, format_: str, numbers: tuple[float, ...]) -> None:
    texts = [f"{number:e}" if "f" in type_ else str(number) for number in numbers]
    plain = f"[{', '.join(texts)}]" if "2x2" not in type_ else f"[[{', '.join(texts[:2])}], [{', '.join(texts[2:])}]]"
    assert printed(quoted(struct.pack(format_, *numbers)), type_) == printed(plain, type_)
    # The bytes of one number are those of all.
    one = struct.pack(format_[0] + format_[-1], numbers[0])
    assert printed(quoted(one), type_) == printed(texts[0], type_)


def test_single_bits_are_packed() -> None:
    bits = [index % 3 == 0 for index in range(11)]
    data = sum(bit << index for index, bit in enumerate(bits)).to_bytes(2, "little")
    plain = f"[{', '.join(str(bit).lower() for bit in bits)}]"
    assert printed(quoted(data), "vector<11xi1>") == printed(plain, "vector<11xi1>")
    assert printed('"0xFF"', "vector<30xi1>") == printed("true", "vector<30xi1>")
    assert printed('"0x00"', "vector<30xi1>") == printed("false", "vector<30xi1>")


@pytest.mark.parametrize(
    ("body", "type_", "message"),
    [
        ('"0x0100000002"', "tensor<2xi32>", "5 bytes for 2 elements, which have 8 bytes"),
        ('"0x01000000020000000300000004"', "tensor<3xi32>", "13 bytes for 3 elements, which have 12 bytes"),
        ('"0x0001"', "tensor<30xi1>", "2 bytes for 30 elements, which have 4 bytes"),
        ('"0x"', "tensor<2xi8>", "0 bytes for 2 elements, which have 2 bytes"),
        ('"0x123"', "tensor<2xi8>", 'pairs of hexadecimal digits after 0x, found "0x123"'),
        ('"1234"', "tensor<2xi8>", 'pairs of hexadecimal digits after 0x, found "1234"'),
        ('"0xGG"', "tensor<2xi8>", 'pairs of hexadecimal digits after 0x, found "0xGG"'),
    ],
)
def test_other_numbers_of_bytes_are_errors(body: str, type_: str, message: str) -> None:
    _, (found,) = constant(body, type_)
    assert message in found


def test_the_largest_index_is_the_one_with_all_bits() -> None:
    assert printed("18446744073709551615", "tensor<2xindex>") == printed("-1", "tensor<2xindex>")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("affine_map<(d0, d0) -> (d0)>", "d0"),
        ("affine_map<(i, j)[i] -> (j)>", "i"),
        ("affine_set<(d0)[s0, s0] : (d0 >= 0)>", "s0"),
        ("affine_map<(d0, d1)[s0] -> (d0 + s0)>", None),
        ("affine_map<() -> (0)>", None),
    ],
)
def test_a_map_defines_each_name_once(text: str, name: str | None) -> None:
    _, found = parsed(f"func.func @f() attributes {{a = [{text}]}} {{\nreturn\n}}")
    word = text.partition("<")[0]
    assert [entry[3] for entry in found] == ([] if name is None else [f"{word} defines {name} twice"])
