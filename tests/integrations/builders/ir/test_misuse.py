"""Misuse of the module `ir`: each ends with an exception of the expected class, whose sentence is about the program."""

import copy
import pickle
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from pto_dialect.integrations.builders import ir, pto
from pto_dialect.integrations.builders.dialects import arith, func, scf
from pto_dialect.integrations.builders.ir import (
    Context,
    IndexType,
    InsertionPoint,
    Location,
    MLIRError,
    Module,
    StringAttr,
)

ANY: Any = ir
yields: Any = scf


@pytest.fixture
def module() -> Iterator[Module]:
    """A module with an empty function."""
    with Context(), Location.unknown():
        made = Module.create()
        with InsertionPoint(made.body):
            func.FuncOp("f", ([IndexType.get()], [])).add_entry_block()
        yield made


def function_of(module: Module) -> Any:
    return module.body.operations[0]


def nest(module: Module, depth: int) -> None:
    """Fills the function with loops inside each other."""
    block = function_of(module).entry_block
    bound = block.arguments[0]
    points = [InsertionPoint(block)]
    points[0].__enter__()
    for _ in range(depth):
        points.append(InsertionPoint(scf.ForOp(bound, bound, bound).body))
        points[-1].__enter__()
    while len(points) > 1:
        yields.YieldOp([])
        points.pop().__exit__(None, None, None)
    func.ReturnOp([])
    points.pop().__exit__(None, None, None)


@pytest.mark.parametrize("act", [copy.copy, copy.deepcopy, pickle.dumps])
def test_parts_of_a_program_are_not_copied(module: Module, act: Any) -> None:
    function = function_of(module)
    block = function.entry_block
    for part in (module, function, function.operation, block, block.arguments[0], InsertionPoint(block)):
        with pytest.raises(TypeError, match=f"cannot pickle or copy '{type(part).__name__}'.*clone"):
            act(part)


def test_enumerators_are_pickled() -> None:
    assert pickle.loads(pickle.dumps(pto.AddressSpace.VEC)) is pto.AddressSpace.VEC


def test_deep_nesting_is_walked_and_cloned(module: Module) -> None:
    nest(module, 900)
    module.operation.verify()
    seen: list[Any] = []
    module.operation.walk(seen.append)
    assert len(seen) == 2 + 2 * 900 + 1
    assert str(module.operation.clone()) == str(module)


def test_loops_nest_as_deep_as_in_a_text(module: Module) -> None:
    nest(module, 1000)
    with pytest.raises(MLIRError, match=r"test_misuse.py:\d+.*regions nest at most 1,000 deep \[nesting-limit\]"):
        module.operation.verify()


def test_deepest_module_is_read_again(module: Module) -> None:
    nest(module, 998)
    module.operation.verify()
    assert str(Module.parse(str(module))) == str(module)


def test_attribute_that_is_nested_too_deeply_is_not_printed(module: Module, request: pytest.FixtureRequest) -> None:
    attribute: Any = StringAttr.get("a")
    for _ in range(3000):
        attribute = ir.ArrayAttr.get([attribute])
    function_of(module).attributes["deep"] = attribute
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1500)
    request.addfinalizer(lambda: sys.setrecursionlimit(limit))
    with pytest.raises(MLIRError, match="nested too deeply"):
        str(module)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: ANY.ArrayAttr.get(3), "ArrayAttr.get takes a list, found int"),
        (lambda: ANY.Location.fused(3), "locations are a list, found int"),
        (lambda: ANY.Operation.create("pto.tadd", operands=3), "the operands of pto.tadd are a list, found int"),
        (lambda: ANY.Operation.create("arith.addi", attributes=3), "the attributes of arith.addi are a dictionary"),
        (lambda: ANY.Operation.create("func.func", regions="a"), "the regions of func.func are a number, found str"),
    ],
)
def test_wrong_kinds_are_named(module: Module, call: Any, sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        call()


def test_wrong_kinds_of_members_are_named(module: Module) -> None:
    function: Any = function_of(module)
    with pytest.raises(TypeError, match="the name of an attribute is a string, found int"):
        function.attributes[3] = StringAttr.get("a")
    with pytest.raises(TypeError, match="the callback of a walk is a function, found int"):
        function.operation.walk(3)


def test_exception_inside_an_insertion_point_leaves_it(module: Module) -> None:
    with pytest.raises(KeyError), InsertionPoint(function_of(module).entry_block):
        raise KeyError("mine")
    with pytest.raises(ValueError, match="No current InsertionPoint"):
        assert InsertionPoint.current
    with InsertionPoint(function_of(module).entry_block):
        assert arith.ConstantOp(IndexType.get(), 1).result.owner.parent.name == "func.func"
