"""Classes whose functions come from cached code are those that Python makes itself."""

from __future__ import annotations

import builtins
import collections
import dataclasses
import inspect
import os
import pickle
import subprocess
import sys
import typing
from abc import ABC, ABCMeta
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import KW_ONLY, FrozenInstanceError, InitVar, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import pytest

from pto_dialect.accel import class_code
from pto_dialect.accel.cache_table import CacheTable, table_file
from pto_dialect.accel.class_code import MOST_BYTES, CachedCode, cached_class_code

T = TypeVar("T")
WORDS = {"exec": dataclasses, "eval": collections, "compile": typing}
CHECKOUT = Path(__file__).parents[2]


def zoo() -> dict[str, type]:
    """Dataclasses of all kinds, made again."""

    @dataclass
    class Plain:
        a: int
        b: str = "x"
        c: list[int] = field(default_factory=list, repr=False)

    @dataclass(frozen=True, order=True)
    class Frozen:
        a: int
        b: tuple[int, ...] = (1, 2)

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Slots:
        a: int
        b: str | None = None

    @dataclass(unsafe_hash=True, eq=True)
    class Hashed:
        a: int
        b: int = field(hash=False, compare=False, default=3)

    @dataclass
    class Derived(Plain, Generic[T]):
        """With a docstring."""

        d: T | None = None
        count: ClassVar[int] = 0
        seed: InitVar[int] = 0
        _: KW_ONLY
        e: float = 1.5

        def __post_init__(self, seed: int) -> None:
            self.a += seed

    @dataclass(init=False, repr=False, eq=False)
    class Bare:
        a: int

        def __init__(self) -> None:
            self.a = 7

    @dataclass(match_args=False)
    class Empty: ...

    classes = (Plain, Frozen, Slots, Hashed, Derived, Bare, Empty)
    return {cls.__name__: cls for cls in classes}


ARGUMENTS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "Plain": ((1,), {"c": [2]}),
    "Frozen": ((1,), {}),
    "Slots": ((), {"a": 1}),
    "Hashed": ((1,), {}),
    "Derived": ((1, "y"), {"seed": 5, "e": 2.5}),
    "Bare": ((), {}),
    "Empty": ((), {}),
}


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path))
    file = table_file("class")
    assert file is not None
    yield file
    assert_python_is_as_before()


def assert_python_is_as_before() -> None:
    assert not [name for name, module in WORDS.items() if name in vars(module)]
    assert vars(dataclasses)["inspect"] is inspect


def table(path: str) -> CacheTable:
    return CacheTable(path, MOST_BYTES)


def through_the_file(path: str) -> dict[str, type]:
    """The classes from code that another process could have written; nothing is compiled for them."""
    with cached_class_code():
        zoo()
    assert os.path.exists(path)
    codes = CachedCode(table(path))
    for name, module in WORDS.items():
        setattr(module, name, getattr(codes, name))
    try:
        classes = zoo()
    finally:
        for name, module in WORDS.items():
            delattr(module, name)
    assert not codes.table.added and codes.table.read()
    return classes


def functions(cls: type) -> dict[str, Any]:
    return {name: value for name, value in vars(cls).items() if inspect.isfunction(value)}


def facts(function: Any) -> tuple[object, ...]:
    """Everything about a function but its identity."""
    code = function.__code__
    inner = getattr(function, "__wrapped__", None)
    return (
        *(code.co_code, code.co_consts, code.co_names, code.co_varnames, code.co_freevars, code.co_flags),
        *(code.co_filename, code.co_firstlineno, code.co_name, code.co_qualname, list(code.co_lines())),
        *(function.__name__, function.__qualname__, function.__module__, function.__doc__, function.__kwdefaults__),
        *(repr(function.__annotations__), len(function.__defaults__ or ()), function.__globals__ is globals()),
        None if inner is None else facts(inner),
    )


@pytest.mark.parametrize("name", ARGUMENTS)
def test_classes_are_the_same(path: str, name: str) -> None:
    mine, theirs = through_the_file(path)[name], zoo()[name]
    assert set(vars(mine)) == set(vars(theirs))
    assert mine.__doc__ == theirs.__doc__
    assert str(inspect.signature(mine)) == str(inspect.signature(theirs))
    assert set(functions(mine)) == set(functions(theirs))
    for key, function in functions(theirs).items():
        assert facts(functions(mine)[key]) == facts(function), key
    assert getattr(mine, "__match_args__", None) == getattr(theirs, "__match_args__", None)
    assert [(f.name, f.type, f.repr, f.compare) for f in dataclasses.fields(mine)] == [
        (f.name, f.type, f.repr, f.compare) for f in dataclasses.fields(theirs)
    ]


@pytest.mark.parametrize("name", ARGUMENTS)
def test_objects_behave_the_same(path: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    for classes in (through_the_file(path), zoo()):
        cls = classes[name]
        positional, named = ARGUMENTS[name]
        one, two = cls(*positional, **named), cls(*positional, **named)
        # Pickling looks a class up by its name.
        cls.__qualname__ = name
        monkeypatch.setattr(sys.modules[__name__], name, cls, raising=False)
        again = pickle.loads(pickle.dumps(one))
        hashed = hash(one) == hash(two) if cls.__hash__ and cls.__eq__ is not object.__eq__ else None
        shown = repr(one) if "__repr__" in vars(cls) else None
        ordered = one <= two if "__le__" in vars(cls) else None
        try:
            one.a = 2
            changed = True
        except (FrozenInstanceError, TypeError):
            changed = False
        except AttributeError:
            changed = None
        seen.append((one == two, type(again) is cls, shown, hashed, ordered, changed, getattr(two, "a", None)))
        with pytest.raises(TypeError):
            cls(1, 2, 3, 4, 5, 6, 7, unknown=1)
    assert seen[0] == seen[1]


def test_the_patch_goes_away(path: str) -> None:
    with pytest.raises(RuntimeError), cached_class_code():
        assert all(name in vars(module) for name, module in WORDS.items())
        assert vars(dataclasses)["inspect"] is not inspect
        raise RuntimeError
    assert_python_is_as_before()


@pytest.mark.parametrize("name", WORDS)
def test_a_patch_of_somebody_else_stays(path: str, name: str) -> None:
    original = getattr(builtins, name)
    other: Callable[..., object] = lambda *arguments: original(*arguments)  # noqa: E731
    setattr(WORDS[name], name, other)
    try:
        with cached_class_code():
            zoo()
            assert vars(WORDS[name])[name] is other
            assert [found for found, module in WORDS.items() if found in vars(module)] == [name]
        assert vars(WORDS[name])[name] is other
    finally:
        delattr(WORDS[name], name)
    assert not os.path.exists(path)


class Plain:
    pass


class Abstract(ABC):  # noqa: B024
    """Without functions of its own."""


class OfMeta(type):
    def __call__(cls, a: int, *, b: int = 2) -> object:
        return super().__call__()


class Called(metaclass=OfMeta):
    pass


class Made:
    def __new__(cls, a: int) -> Made:
        return super().__new__(cls)


class Started:
    def __init__(self, *words: str) -> None: ...


class Signed:
    __signature__ = inspect.Signature([inspect.Parameter("x", inspect.Parameter.KEYWORD_ONLY)])


class Stated:
    """Stated(a, /, b=1)
    --

    The first line is a signature."""


class FromBuiltin(dict[str, int]):
    pass


class OfException(ValueError):
    pass


@pytest.mark.parametrize(
    "cls", [object, Plain, Abstract, Called, Made, Started, Signed, Stated, FromBuiltin, OfException, ABCMeta, int]
)
def test_signatures_are_those_of_inspect(path: str, cls: type) -> None:
    found: list[str] = []
    for module in (inspect, class_code._inspection(inspect)):
        try:
            found.append(str(module.signature(cls)))
        except ValueError as error:
            found.append(str(error))
    assert found[0] == found[1]


def test_wrong_expressions_are_reported_as_before(path: str) -> None:
    messages: list[str] = []
    for block in (nullcontext, cached_class_code):
        with block(), pytest.raises(SyntaxError) as caught:
            typing.ForwardRef("a b")
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def pairs() -> list[Any]:
    """Named tuples, made again."""

    class Point(NamedTuple):
        """A point."""

        x: int
        y: tuple[int, ...] | None = None

        def sum(self) -> int:
            return self.x + (self.y or (0,))[0]

    class One(NamedTuple):
        a: Unknown  # noqa: F821  # pyright: ignore[reportUndefinedVariable]

    return [Point, One, collections.namedtuple("Old", "a b", defaults=[7]), collections.namedtuple("None_", [])]


def test_named_tuples_are_the_same(path: str) -> None:
    with cached_class_code():
        pairs()
    codes = CachedCode(table(path))
    with pytest.MonkeyPatch.context() as patch:
        for name, module in WORDS.items():
            patch.setattr(module, name, getattr(codes, name), raising=False)
        mine = pairs()
    assert not codes.table.added
    for own, theirs in zip(mine, pairs(), strict=True):
        assert facts(own.__new__) == facts(theirs.__new__)
        assert own.__annotations__ == theirs.__annotations__ and own.__doc__ == theirs.__doc__
        assert (own._fields, own._field_defaults) == (theirs._fields, theirs._field_defaults)
        assert str(inspect.signature(own)) == str(inspect.signature(theirs))
    point, one, old, empty = mine
    assert (point(2, (3,)).sum(), point(1), one("x")._replace(a=2)) == (5, (1, None), (2,))
    assert (repr(old(1)), empty(), old._make([1, 2])._asdict()) == ("Old(a=1, b=7)", (), {"a": 1, "b": 2})
    assert point.__annotations__["y"].__forward_code__.co_names == ("tuple", "int")


@pytest.mark.parametrize("version", [(3, 10), (3, 15)])
def test_an_unknown_python_is_left_alone(path: str, monkeypatch: pytest.MonkeyPatch, version: tuple[int, int]) -> None:
    monkeypatch.setattr(sys, "version_info", (*version, 0, "final", 0))
    with cached_class_code():
        assert_python_is_as_before()
        assert zoo()["Plain"](1) is not None
    assert not os.path.exists(path)


def test_without_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path))
    assert table_file("class") is None
    with cached_class_code():
        assert zoo()["Plain"](1) is not None
    assert os.listdir(tmp_path) == []


def test_a_command_compiles_nothing_the_second_time(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    program = tmp_path / "f.pto"
    program.write_text("func.func @f() {\n  return\n}\n")
    code = f"""
import sys, builtins
sys.path.insert(0, {str(CHECKOUT)!r})
import pto_dialect
pto_dialect.__path__.append({str(CHECKOUT)!r})
import dataclasses
texts = []
from pto_dialect.accel import class_code, regex_code
parts = regex_code.CachedExpressions._parts
regex_code.CachedExpressions._parts = lambda *a: texts.append(a[1]) or parts(*a)
class_code.compile = lambda *a, **k: texts.append(a[0]) or builtins.compile(*a, **k)
from pto_dialect.tools.pto_opt import main
sys.argv = ["pto-opt", "--no-cache", {str(program)!r}]
try:
    main()
except SystemExit:
    print("// compiled", len(texts), "exec" in vars(dataclasses))
"""
    environment = {**os.environ, "PTO_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", code]
    first, second = (
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout for _ in range(2)
    )
    assert first.splitlines()[:-1] == second.splitlines()[:-1]
    number = int(first.splitlines()[-1].split()[2])
    assert number > 300
    assert second.splitlines()[-1] == "// compiled 0 False"
