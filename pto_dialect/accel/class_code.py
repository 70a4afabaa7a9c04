"""A cache for the compiled code of classes.

``dataclasses`` writes ``__init__``, ``__eq__`` and other methods as text and executes it, ``collections`` does so for
``__new__`` of named tuples, and ``typing`` compiles each of their annotations. xDSL and this package have more than a
thousand such texts; compiling them is a quarter of a start. :func:`cached_class_code` replaces ``exec``, ``eval`` and
``compile`` in these modules by functions that take the code from a file in the user's cache folder and compile only
what is not there. The code is that of the same text, so the classes are the same.

On a Python whose modules are not known to work this way nothing is done, and whatever is wrong with the file only
costs the time to compile.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, ModuleType
from typing import Any

from pto_dialect.accel.cache_table import CacheTable, table_for

KNOWN = ((3, 11), (3, 14))
"""The first and the last version of Python whose modules were looked at: ``dataclasses`` calls ``exec(text, globals,
locals)``, ``collections`` ``eval(text, globals)`` and ``typing`` ``compile(text, "<string>", "eval")``, all with texts
that depend on nothing else."""

MOST_BYTES = 4_000_000
"""Size of the file; a start needs a quarter of it."""

_FILE = "<string>"
_PLACES = (("dataclasses", "exec"), ("collections", "eval"), ("typing", "compile"))
"""The modules, and what each of them is given."""


class CachedCode:
    """Replaces ``exec``, ``eval`` and ``compile``."""

    def __init__(self, table: CacheTable) -> None:
        self.table = table

    def exec(self, text: str, globals: dict[str, Any], locals: dict[str, Any]) -> None:
        """Executes the definition of a function."""
        builtins.exec(self._code(text, "exec"), globals, locals)

    def eval(self, text: str, globals: dict[str, Any]) -> Any:
        """Returns the value of an expression."""
        return builtins.eval(self._code(text, "eval"), globals)

    def compile(self, text: str, file: str, mode: str) -> CodeType:
        """Returns the code of a text; raises ``SyntaxError`` for what is none."""
        if file != _FILE:
            return builtins.compile(text, file, mode, dont_inherit=True)
        return self._code(text, mode)

    def _code(self, text: str, mode: str) -> CodeType:
        key = (mode, text)
        code = self.table.get(key)
        if code is None:
            code = compile(text, _FILE, mode, dont_inherit=True)
            self.table.add(key, code)
        return code


@contextmanager
def cached_class_code() -> Iterator[None]:
    """Classes that are made in this block take the code of their functions from the file.

    For processes of our own: others that make classes in the meantime would be helped as well.
    """
    table = table_for("class", KNOWN, MOST_BYTES)
    if table is None:
        yield
        return
    import collections  # deferred: start-up
    import dataclasses  # deferred: start-up
    import inspect  # deferred: start-up
    import typing  # deferred: start-up

    modules = {module.__name__: module for module in (collections, dataclasses, typing)}
    if any(name in vars(modules[module]) for module, name in _PLACES):
        # Somebody has had the same thought.
        yield
        return
    codes = CachedCode(table)
    given = [(modules[module], name, getattr(codes, name)) for module, name in _PLACES]
    if vars(dataclasses).get("inspect") is inspect:
        given.append((dataclasses, "inspect", _inspection(inspect)))
    before = [vars(module).get(name) for module, name, _ in given]
    for module, name, ours in given:
        setattr(module, name, ours)
    try:
        yield
    finally:
        for (module, name, ours), theirs in zip(given, before, strict=True):
            if vars(module).get(name) is not ours:
                continue
            if theirs is None:
                delattr(module, name)
            else:
                setattr(module, name, theirs)
        codes.table.save()


def _inspection(inspect: ModuleType) -> ModuleType:
    """Returns the module ``inspect`` for ``dataclasses``, which describes classes with signatures.

    The signature of a class without functions of its own is that of ``object``, which ``inspect`` reads from a text
    with ``tokenize``. The expressions of ``tokenize`` differ from process to process, so their code cannot be cached.
    """

    def signature(cls: type, **how: Any) -> Any:
        return inspect.Signature() if _takes_nothing(cls) else inspect.signature(cls, **how)

    module = ModuleType(inspect.__name__)
    vars(module).update(vars(inspect), signature=signature)
    return module


def _takes_nothing(cls: type) -> bool:
    """Returns whether the signature of ``cls`` is that of ``object``, as ``inspect`` finds it."""
    return (
        cls.__init__ is object.__init__
        and cls.__new__ is object.__new__
        and type(cls).__call__ is type.__call__
        and not any(hasattr(cls, name) for name in ("__signature__", "__wrapped__"))
        and not any(base.__text_signature__ for base in cls.__mro__[:-1])
    )
