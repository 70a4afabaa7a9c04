"""Classes of operations from their signatures: which arguments a constructor takes, in which order and for what."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter as PythonParameter
from inspect import Signature as PythonSignature
from typing import Any, ClassVar, NamedTuple

from xdsl.ir import Attribute as XAttribute
from xdsl.ir import Operation, SSAValue
from xdsl.ir import Region as XRegion

from pto_dialect.ir.core.base import (
    Slot,
    is_pto,
    operand_groups,
    segment_sizes,
    signature,
    sizes_by_order,
    sizes_of,
)
from pto_dialect.ir.core.kinds import ANY

from .ir.attributes import Attribute, unwrap, wrap
from .ir.build import assemble, class_named, insert, locate
from .ir.context import need_location
from .ir.operations import OpView
from .ir.structure import Value, value_of, values_of, wrap_result, wrap_value

Convert = Callable[[Any], XAttribute | None]
"""Makes an attribute of a Python value; ``None`` for one that means no attribute. Raises ``TypeError`` or
``ValueError`` for values of other kinds."""

Infer = Callable[[Mapping[str, Any]], list[XAttribute]]
"""Returns the types of results that are not stated, from the arguments."""

RESULT, OPERAND, ATTRIBUTE = "result", "operand", "attribute"


class Parameter(NamedTuple):
    """An argument of a constructor: its name, what it is for, ``1``, ``?`` or ``*`` values, and for an attribute the
    conversion. ``group`` is the declared name, of which several parameters may be elements."""

    name: str
    role: str
    arity: str = "1"
    convert: Convert | None = None
    group: str = ""


class Form(NamedTuple):
    """The arguments of a constructor. ``positional`` are those by position, all required; ``named`` those by keyword
    only. ``older`` has other lists of positional arguments, by their number. ``operands``, ``results`` and
    ``attributes`` are all parameters by role, in the order of the declaration."""

    cls: str
    mnemonic: str
    positional: tuple[Parameter, ...]
    named: tuple[Parameter, ...]
    older: Mapping[int, tuple[Parameter, ...]]
    results: tuple[Parameter, ...]
    operands: tuple[Parameter, ...]
    attributes: tuple[Parameter, ...]
    names: tuple[str, ...]
    segments: bool
    regions: int = 0
    infer: Infer | None = None


def make_form(
    cls: str,
    mnemonic: str,
    positional: Sequence[Parameter],
    named: Sequence[Parameter],
    declared: Sequence[str] = (),
    older: Mapping[int, tuple[Parameter, ...]] | None = None,
    segments: bool = False,
    regions: int = 0,
    infer: Infer | None = None,
) -> Form:
    """Returns the form with these arguments; ``declared`` is the order of operands and results in the operation, by
    default that of the arguments."""
    known = {one.name: one for one in (*positional, *named)}
    for others in (older or {}).values():
        for one in others:
            known.setdefault(one.name, one._replace(arity="?") if one.arity == "1" else one)
    if declared:
        place = {name: number for number, name in enumerate(declared)}
        parameters = sorted(known.values(), key=lambda one: place[one.group or one.name])
    else:
        parameters = list(known.values())
    results, operands, attributes = (
        tuple(one for one in parameters if one.role == role) for role in (RESULT, OPERAND, ATTRIBUTE)
    )
    return Form(
        cls,
        mnemonic,
        tuple(positional),
        tuple(named),
        older or {},
        results,
        operands,
        attributes,
        tuple(one.name for one in positional),
        segments,
        regions,
        infer,
    )


def _bind(form: Form, arguments: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments by name. Raises ``TypeError`` where they do not fit."""
    positional = form.positional
    if len(arguments) != len(positional):
        positional = _positional(form, arguments, named)
    bound = {one.name: value for one, value in zip(positional, arguments, strict=False)}
    known = {one.name for one in (*form.positional, *form.named)} | {"results"}
    for name, value in named.items():
        if name not in known and name not in {one.name for one in positional}:
            raise TypeError(f"{form.cls}() has no argument {name!r}: it takes {_listed(form)}")
        if name in bound:
            raise TypeError(f"{form.cls}() has two values for argument {name!r}")
        bound[name] = value
    stated = "results" in bound
    missing = [
        one.name
        for one in positional
        if one.name not in bound and not (stated and (one.role == RESULT or one.arity == "?"))
    ]
    if missing:
        raise TypeError(f"{form.cls}() needs {' and '.join(missing)}: it takes {_listed(form)}")
    return bound


def _positional(form: Form, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """Returns what so many positional arguments are."""
    number = len(arguments)
    older = form.older.get(number + sum(one in form.names for one in named))
    if older is not None and number <= len(older):
        return older
    if number <= len(form.positional):
        # Releases that did not have the optional results.
        without = tuple(one for one in form.positional if one.role != RESULT or one.arity != "?")
        return without if number == len(without) and not named else form.positional
    surplus = number - len(form.positional)
    extra = [one for one in form.operands if one in form.named][:surplus]
    extra += [one for one in form.named if one.role == ATTRIBUTE][: surplus - len(extra)]
    if len(extra) < surplus:
        raise TypeError(f"{form.cls}() takes {_listed(form)}, found {number} arguments")
    # Older releases had these where they are declared.
    results = [one for one in form.positional if one.role == RESULT]
    operands = [one for one in form.operands if one in form.positional or one in extra]
    attributes = [one for one in (*form.positional, *extra) if one.role == ATTRIBUTE]
    return (*results, *operands, *attributes)


def _listed(form: Form) -> str:
    parts = [one.name for one in form.positional] + [f"{one.name}=" for one in form.named]
    return f"({', '.join([*parts, 'loc=', 'ip='])})"


def _operands(form: Form, given: Mapping[str, Any]) -> tuple[list[SSAValue], dict[str, int]]:
    operands: list[SSAValue] = []
    sizes: dict[str, int] = {}
    for parameter in form.operands:
        name, _, arity, _, group = parameter
        value = given.get(name)
        before = len(operands)
        if value is None:
            if arity == "1":
                raise TypeError(f"argument {name} of {form.cls} is a Value, found None")
        elif arity != "*":
            operands.append(value._x if isinstance(value, Value) else value_of(value, f"argument {name} of {form.cls}"))
        else:
            operands.extend(values_of(value, f"argument {name} of {form.cls}"))
        key = group or name
        sizes[key] = sizes.get(key, 0) + len(operands) - before
    return operands, sizes


def _results(form: Form, given: Mapping[str, Any]) -> list[XAttribute]:
    stated = given.get("results")
    if stated is not None and all(one.name != "results" for one in form.results):
        return [unwrap(one, f"a result type of {form.cls}") for one in stated]
    types: list[XAttribute] = []
    for name, _, arity, _, _ in form.results:
        value = given.get(name)
        if arity == "*":
            types += [unwrap(one, f"an element of argument {name} of {form.cls}") for one in value or ()]
        elif value is not None:
            types.append(unwrap(value, f"argument {name} of {form.cls}"))
        elif arity == "1":
            raise TypeError(f"argument {name} of {form.cls} is a Type, found None")
    if not types and form.infer is not None:
        return form.infer(given)
    return types


def _attributes(form: Form, given: Mapping[str, Any]) -> dict[str, XAttribute]:
    attributes: dict[str, XAttribute] = {}
    for name, _, arity, convert, group in form.attributes:
        value = given.get(name)
        if value is None:
            if arity == "1":
                raise TypeError(f"argument {name} of {form.cls} is an attribute, found None")
            continue
        if isinstance(value, Attribute):
            attributes[group or name] = value._x
            continue
        try:
            found = unwrap(value, "it") if convert is None else convert(value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"argument {name} of {form.cls}: {error}") from None
        if found is not None:
            attributes[group or name] = found
    return attributes


def build(view: OpView, form: Form, arguments: Sequence[Any], named: dict[str, Any]) -> None:
    """Makes the operation of a view from the arguments of its constructor, and inserts it."""
    location, point = named.pop("loc", None), named.pop("ip", None)
    need_location(location)
    if named or len(arguments) != len(form.names):
        given = _bind(form, arguments, named)
    else:
        given = dict(zip(form.names, arguments, strict=True))
    operands, sizes = _operands(form, given)
    attributes = _attributes(form, given) if form.attributes else {}
    results = _results(form, given) if form.results or form.infer or named else []
    if form.segments:
        attributes["operandSegmentSizes"] = segment_sizes(tuple(sizes.values()))
    cls = class_named(form.mnemonic)
    assert cls is not None
    place(view, assemble(cls, operands, results, attributes, [XRegion() for _ in range(form.regions)]), location, point)


def place(view: OpView, op: Operation, location: Any, point: Any) -> None:
    """Locates and inserts the operation of a view."""
    locate(op, location)
    insert(op, point)
    view._x = op
    op._builders_view = view  # pyright: ignore[reportAttributeAccessIssue]


class GeneratedOp(OpView):
    """Base of the classes that are made from signatures."""

    FORM: ClassVar[Form]

    def __init__(self, *arguments: Any, **named: Any) -> None:
        build(self, self.FORM, arguments, named)

    def __getattr__(self, name: str) -> Any:
        form = type(self).FORM
        for parameter in (*form.operands, *form.results, *form.attributes):
            if parameter.name == name or parameter.group == name:
                return _part(self, form, parameter)
        if name == "res" or (is_pto(self._x) and any(one.name == name for one in signature(type(self._x)).results)):
            return self.result if len(self._x.results) == 1 else wrap_value(getattr(self._x, name))
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")


def _part(view: OpView, form: Form, parameter: Parameter) -> Any:
    """Returns the operand, result or attribute that an argument has become."""
    key = parameter.group or parameter.name
    if parameter.role == ATTRIBUTE:
        found = view._x.attributes.get(key) or view._x.properties.get(key)
        return None if found is None else wrap(found)
    is_result = parameter.role == RESULT
    values = _groups(view._x, form.results if is_result else form.operands, is_result)[key]
    if parameter.arity == "*" or parameter.group:
        return [wrap_value(one) for one in values]
    return wrap_value(values[0]) if values else None


def _groups(op: Operation, parameters: Sequence[Parameter], is_result: bool) -> dict[str, Sequence[SSAValue]]:
    """Returns operands or results by the name of the argument."""
    if is_pto(op) and not is_result:
        return dict(operand_groups(op))
    values = list(op.results if is_result else op.operands)
    stated = sizes_of(op.properties.get("resultSegmentSizes" if is_result else "operandSegmentSizes"))
    sizes = sizes_by_order([Slot(one.name, one.arity, ANY) for one in parameters], len(values))
    groups: dict[str, Sequence[SSAValue]] = {}
    for one, size in zip(parameters, stated or sizes, strict=True):
        groups[one.group or one.name], values = values[:size], values[size:]
    return groups


def make_class(form: Form, base: type[OpView] = GeneratedOp, module: str = __name__) -> type[Any]:
    """Returns the class of a form."""
    parameters = [PythonParameter("self", PythonParameter.POSITIONAL_ONLY)]
    parameters += [PythonParameter(one.name, PythonParameter.POSITIONAL_OR_KEYWORD) for one in form.positional]
    parameters += [
        PythonParameter(name, PythonParameter.KEYWORD_ONLY, default=None)
        for name in (*(one.name for one in form.named), "loc", "ip")
    ]

    def __init__(self: OpView, *arguments: Any, **named: Any) -> None:
        build(self, form, arguments, named)

    __init__.__signature__ = PythonSignature(parameters)
    fields = {
        "FORM": form,
        "OPERATION_NAME": form.mnemonic,
        "__doc__": f"The operation `{form.mnemonic}`: {form.cls}{_listed(form)}.",
        "__init__": __init__,
        "__module__": module,
    }
    one = next((result for result in form.results if result.name == "result"), None)
    if one is not None and len(form.results) > 1:
        # A result of this name is meant also where there are several.
        fields["result"] = property(lambda self: _part(self, form, one), doc="The result of this name.")
    return type(form.cls, (base,), fields)


def results_of(view: OpView) -> Any:
    """Returns what the function of an operation returns: the only result, the list of several, or the operation."""
    results = view._x.results
    if len(results) == 1:
        return wrap_result(results[0])
    return [wrap_result(one) for one in results] if results else view.operation


def make_function(cls: type[Any], renamed: Mapping[str, str] | None = None) -> Callable[..., Any]:
    """Returns the function that makes an operation and returns its results; ``renamed`` are other names of its
    arguments."""
    others = renamed or {}

    def function(*arguments: Any, **named: Any) -> Any:
        return results_of(cls(*arguments, **{others.get(name, name): value for name, value in named.items()}))

    function.__doc__ = f"Makes `{cls.OPERATION_NAME}` and returns its results."
    return function
