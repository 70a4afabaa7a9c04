"""Every operation of the dialect has a class and a function in Python, with the arguments of the bindings."""

from collections.abc import Callable, Iterator
from functools import cache
from inspect import Signature, signature
from pathlib import Path
from typing import Any

from groups import in_groups
from xdsl.ir import Operation

from pto_dialect import api
from pto_dialect.integrations.builders import pto
from pto_dialect.integrations.builders.declare import ATTRIBUTE, RESULT, Form, Parameter
from pto_dialect.integrations.builders.ir.attributes import wrap
from pto_dialect.integrations.builders.ir.context import Context, Location
from pto_dialect.integrations.builders.ir.structure import wrap_value
from pto_dialect.integrations.builders.pto.signatures import class_names, form_of, function_names
from pto_dialect.ir.core.attribute_text import attribute_text
from pto_dialect.ir.core.base import is_pto, operand_groups
from pto_dialect.ir.core.base import signature as declared
from pto_dialect.ir.core.index import OPS
from pto_dialect.syntax.generic_form import explicit_attributes

ROUNDTRIP = Path(__file__).parents[4] / "lit-tests" / "roundtrip"
SIGNATURES = Path(__file__).with_name("signatures.txt")


def shown(cls: type[Any], name: str) -> str:
    """Returns how a class and its function are called."""
    form: Form = cls.FORM
    positional, named = form.positional, form.named
    arguments = [one.name for one in positional] + [f"{one.name}=" for one in named]
    return f"{cls.__name__}({', '.join(arguments)})  {name}"


def test_classes_and_functions_have_their_arguments(compare: Callable[[Path, str], None]) -> None:
    names = {mnemonic: name for name, mnemonic in function_names().items()}
    lines = [f"{mnemonic}: {shown(getattr(pto, form_of(mnemonic).cls), names[mnemonic])}" for mnemonic in OPS]
    assert len(lines) == 693
    compare(SIGNATURES, "".join(f"{line}\n" for line in lines))


def test_all_names_of_the_module_exist() -> None:
    missing = [name for name in pto.__all__ if getattr(pto, name, None) is None]
    assert missing == [] and [name for name in function_names() if not callable(getattr(pto, name))] == []
    assert len(class_names()) == len(function_names()) == 693


def test_classes_have_their_name_without_op_as_well() -> None:
    names = [name.removesuffix("Op") for name in class_names()]
    taken = {*pto.ENUM_CLASSES, *function_names()}
    assert [name for name in names if name not in taken and getattr(pto, name) is not getattr(pto, f"{name}Op")] == []


def test_signature_of_a_class_names_its_arguments() -> None:
    found: Signature = signature(pto.TCvtOp)
    assert str(found) == "(src, dst, *, rmode=None, sat_mode=None, tmp=None, loc=None, ip=None)"


def programs() -> list[Path]:
    """The programs that have all operations."""
    return sorted(ROUNDTRIP.rglob("*.pto"))


@cache
def operations() -> dict[str, list[Operation]]:
    """Operations of these programs by name."""
    found: dict[str, list[Operation]] = {name: [] for name in OPS}
    for path in programs():
        for op in api.parse(path.read_text(encoding="utf-8")).walk():
            if is_pto(op):
                found[op.name].append(op)
    return found


def part(op: Any, parameter: Parameter, used: dict[str, int]) -> Any:
    """Returns the argument that has become a part of an operation."""
    key = parameter.group or parameter.name
    if parameter.role == ATTRIBUTE:
        found = op.attributes.get(key)
        return None if found is None else wrap(found)
    values = [wrap_value(one) for one in operand_groups(op)[key]]
    if parameter.arity == "*":
        return values
    place = used.get(key, 0)
    used[key] = place + 1
    return values[place] if place < len(values) else None


def results_of(op: Any, form: Form) -> dict[str, Any]:
    """Returns the types of the results by argument."""
    types = [wrap(one.type) for one in op.results]
    found: dict[str, Any] = {}
    required = sum(one.arity == "1" for one in form.results)
    for one in form.results:
        if one.arity == "*":
            found[one.name], types = types, []
        elif one.arity == "1" or len(types) > required:
            found[one.name] = types.pop(0)
        else:
            found[one.name] = None
        required -= one.arity == "1"
    return found


def rebuild(op: Any) -> Any:
    """Makes an operation again, with the class and its arguments in their order."""
    cls = getattr(pto, form_of(op.name).cls)
    form: Form = cls.FORM
    used: dict[str, int] = {}
    types = results_of(op, form)

    def given(one: Parameter) -> Any:
        return types[one.name] if one.role == RESULT else part(op, one, used)

    arguments = [given(one) for one in form.positional]
    named = {one.name: value for one in form.named if (value := given(one)) is not None}
    if op.results and not form.results and form.infer is None:
        # The value form of an operation with a destination.
        named["results"] = [wrap(one.type) for one in op.results]
    return cls(*arguments, **named, ip=False)


def described(op: Any) -> tuple[Any, ...]:
    """What an operation is, apart from its regions and from attributes of the user."""
    known = {*declared(type(op)).attributes, "operandSegmentSizes"}
    own = {name: one for name, one in op.attributes.items() if name in known}
    attributes = {name: attribute_text(one) for name, one in explicit_attributes(op, own).items()}
    return op.name, tuple(map(id, op.operands)), [str(one.type) for one in op.results], attributes


def samples(name: str) -> Iterator[Operation]:
    """Some operations of a name."""
    yield from operations()[name][:12]


@in_groups("name", OPS)
def test_operation_is_built_from_its_arguments(name: str) -> None:
    found = list(samples(name))
    assert found, f"no program in {ROUNDTRIP} has {name}"
    with Context(), Location.unknown():
        assert [described(rebuild(op)._x) for op in found] == [described(op) for op in found]
