"""Strings that no text of a program can state, and names of files that no file has."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pto_dialect.integrations.builders import ir, pto
from pto_dialect.integrations.builders.dialects import arith, func
from pto_dialect.integrations.builders.ir import Attribute, InsertionPoint, Location, Module, StringAttr, Type

HALF = "a\ud800"


@pytest.fixture(autouse=True)
def context() -> Iterator[None]:
    with ir.Context(), Location.unknown():
        yield


def module_with(name: str) -> Module:
    """A module with a function of this name."""
    module = Module.create()
    with InsertionPoint(module.body):
        function = func.FuncOp(name, ([], []))
    with InsertionPoint(function.add_entry_block()):
        func.ReturnOp([])
    return module


def attribute_named(name: str) -> None:
    module_with("f").operation.attributes[name] = ir.UnitAttr.get()


def printed(message: str) -> None:
    with InsertionPoint(Module.create().body):
        pto.PrintOp(message, arith.ConstantOp(ir.IntegerType.get_signless(32), 1))


@pytest.mark.parametrize(
    "act",
    [
        module_with,
        StringAttr.get,
        ir.FlatSymbolRefAttr.get,
        lambda name: ir.SymbolRefAttr.get(["f", name]),
        attribute_named,
        printed,
        lambda name: Location.file(name, 1, 1),
        Location.name,
        lambda name: Attribute.parse(f'"{name}"'),
        Type.parse,
        lambda name: Module.parse(f'func.func @"{name}"() {{ return }}'),
    ],
)
def test_half_of_a_surrogate_pair_is_refused(act: Callable[[str], Any]) -> None:
    with pytest.raises(ValueError, match=r"U\+D800 at \d+, half of a surrogate pair"):
        act(HALF)


def test_a_program_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(ValueError, match="is not UTF-8: byte 1 is 0x80"):
        Module.parse(b"a\x80")


def test_a_string_of_other_bytes_has_no_text() -> None:
    made = StringAttr.get(b"a\x80")
    assert made.value_bytes == b"a\x80"
    assert str(made) == '"a\\80"'
    assert Attribute.parse(str(made)) == made
    with pytest.raises(UnicodeDecodeError):
        _ = made.value


@pytest.mark.parametrize("name", ["ä", "\U0001f600", '"', "\n", "\0"])
def test_other_names_are_read_again(name: str) -> None:
    module = module_with(name)
    assert module.operation.verify()
    assert Module.parse(str(module)).body.operations[0].name.value == name
    assert StringAttr.get(name.encode()).value_bytes == name.encode()


def test_file_name_with_a_zero_byte_is_a_name_only() -> None:
    with Location.file("a\0b.py", 3, 1):
        module = module_with("f")
    assert module.operation.verify()
    assert 'loc("a\\00b.py":3:1)' in module.operation.get_asm(enable_debug_info=True)
