"""Has `ctypes.CDLL` load the libraries of `link`."""

from __future__ import annotations

import os
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..kernels import Launched
    from .link import Called, Library

START = b'{"kind": "pto-dialect-library"'
"""How the files begin."""

MOST = 1 << 26
"""Bytes of the largest file that is looked at."""


class Function:
    """A function of a library; ``argtypes`` and ``restype`` are accepted as those of `ctypes`."""

    def __init__(self, name: str, called: Called, launched: Launched) -> None:
        self.__name__ = name
        self.called = called
        self._launched = launched
        self.argtypes: Any = None
        self.restype: Any = None

    def __call__(self, *args: Any) -> None:
        """Launches the kernel. Raises ``TypeError`` for a wrong number of arguments."""
        names = self.called.parameters
        if len(args) != len(names):
            raise TypeError(f"{self.__name__}() takes {len(names)} arguments, found {len(args)}")
        values = dict(zip(names, args, strict=True)) | {"0": 0}
        self._launched(self._blocks(values), [values[name] for name in self.called.arguments])

    def _blocks(self, values: dict[str, Any]) -> int:
        product = 1
        for factor in self.called.blocks.split("*"):
            value = values.get(factor.strip(), factor.strip())
            try:
                product *= int(getattr(value, "value", value))
            except (TypeError, ValueError):
                raise ValueError(
                    f"{self.__name__}() launches {self.called.blocks!r} blocks, which is unknown"
                ) from None
        return product


class LoadedLibrary:
    """A library whose functions launch kernels on numpy."""

    def __init__(self, name: str, library: Library) -> None:
        self._name = name
        self._library = library

    def __getattr__(self, name: str) -> Function:
        called = self._library.functions.get(name)
        if called is None:
            raise AttributeError(f"{self._name}: undefined symbol: {name}")
        program = next((one for one in self._library.programs if f"@{called.kernel}" in one.text), None)
        program = program or self._library.programs[0]
        from ..kernels import Launched  # deferred: start-up

        launched = Launched(program.text, called.kernel, program.file, program.target, program.ordered)
        function = Function(name, called, launched)
        setattr(self, name, function)
        return function


def load(name: Any) -> LoadedLibrary | None:
    """Returns the library in a file of `link`; ``None`` for all other files."""
    try:
        path = os.fspath(name)
        with open(path, "rb") as file:
            if file.read(len(START)) != START:
                return None
            from .link import read_library  # deferred: start-up

            file.seek(0)
            library = read_library(file.read(MOST).decode("utf-8"))
    except (OSError, TypeError, UnicodeDecodeError):
        return None
    return None if library is None else LoadedLibrary(str(path), library)


def change(ctypes: ModuleType) -> None:
    """Replaces the class `CDLL` by one that loads these libraries as well."""
    loader: Any = ctypes
    plain = loader.CDLL

    class CDLL(plain):
        """Loads a shared library, or one of this package."""

        def __new__(cls, name: Any = None, *args: Any, **named: Any) -> Any:
            return load(name) or super().__new__(cls)

    CDLL.__qualname__ = "CDLL"
    loader.CDLL = CDLL
    loader.cdll._dlltype = CDLL
