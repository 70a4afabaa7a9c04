"""Launches of translated C++ kernels on memory by address, under the sanitizers and without."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pto_dialect.api import VerifyError, parse
from pto_dialect.cpp.kernel import CppError, compile_kernel
from pto_dialect.cpp.options import CppOptions
from pto_dialect.deadline import TimedOut, deadline
from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.origins import location_of, shown
from pto_dialect.diagnostics.refused import RefusedProgram
from pto_dialect.runtime.api import CompiledKernel
from pto_dialect.runtime.api import compile as compile_program
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

DTYPES = {
    "f32": np.float32, "f16": np.float16, "i8": np.int8, "ui8": np.uint8, "i16": np.int16, "ui16": np.uint16,
    "i32": np.int32, "ui32": np.uint32, "i64": np.int64, "ui64": np.uint64, "bf16": np.uint16, "f64": np.float64,
}  # fmt: skip
_NUMBERS = {"i1": np.uint8, "f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": np.uint16}
_POINTER = re.compile(r"!pto\.ptr<([\w!.]+)")
SECONDS = 120.0
"""For one launch."""
PLAIN = bool(os.environ.get("PTO_BENCH_PLAIN"))
"""Whether launches run without the sanitizers, for tests of many launches."""
_WATCHED_SECONDS = 40.0
"""For one launch under the sanitizers; what they have found by then counts."""
_WATCHED = 200_000_000
"""Bytes of arguments up to which the sanitizers run a launch, because they get copies."""


class NoRun(Exception):
    """Why a kernel did not run: ``kind`` is a column of the table."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


class Memory(NamedTuple):
    """Bytes of this process."""

    address: int
    size: int

    def array(self, element: str) -> np.ndarray:
        """The bytes as numbers; what is left of an element is left out."""
        dtype = np.dtype(DTYPES.get(element, np.uint8))
        size = self.size // dtype.itemsize * dtype.itemsize
        if not size or not self.address:
            return np.zeros(0, dtype)
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(self.address)).view(dtype)


Value = Memory | int | float


@dataclass
class Program:
    """A translated kernel, with what the rules and the sanitizers reported."""

    text: str
    kernel: CompiledKernel
    rejection: str
    watched: set[int] = field(default_factory=set)
    findings: dict[str, str] = field(default_factory=dict)

    def run(self, values: Mapping[str, Value], blocks: int, watch: bool) -> None:
        """Runs on values by the names of parameters; raises ``NoRun``."""
        try:
            arguments = [_argument(values, name, str(type_)) for name, type_ in self.kernel.types]
            if watch and not PLAIN and sum(one.nbytes for one in arguments if isinstance(one, np.ndarray)) < _WATCHED:
                self._watch(arguments, blocks)
            with deadline(SECONDS):
                self.kernel(*arguments, **({"blocks": blocks} if blocks > 1 else {}))
        except TimedOut:
            raise NoRun("too slow", f"one launch takes more than {SECONDS} s") from None
        except ProgramError as error:
            raise NoRun("raises", _shown(str(error))) from None
        except BindingError as error:
            raise NoRun("not bound", _shown(str(error))) from None

    def _watch(self, arguments: Sequence[object], blocks: int) -> None:
        copies = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
        watched = InstrumentedKernel(
            self.kernel.kernel.module, self.kernel.kernel.entry, None, RunOptions(fill="poison"), SanitizeOptions()
        )
        try:
            with deadline(_WATCHED_SECONDS):
                watched.run(copies, blocks)
        except TimedOut:
            pass
        except ProgramError as error:
            self.findings.setdefault(_shown(str(error)), "stopped")
        for finding in watched.observer.findings.all:
            found = finding.diagnostic()
            if found.severity is Severity.ERROR:
                self.findings.setdefault(_located(found), found.rule)


def _argument(values: Mapping[str, Value], name: str, type_: str) -> object:
    name = name.rpartition(".")[2]
    pointer = _POINTER.match(type_)
    value = values.get(name, 0)
    if pointer is not None:
        return value.array(pointer[1]) if isinstance(value, Memory) else Memory(0, 0).array(pointer[1])
    if isinstance(value, Memory):
        return value.address
    dtype = _NUMBERS.get(type_)
    if dtype is not None and isinstance(value, int) and type_ != "i1":
        return float(np.array([value], np.uint64).view(np.uint8)[: np.dtype(dtype).itemsize].view(dtype)[0])
    return value


def _located(found: Diagnostic) -> str:
    frames = location_of(found.span).frames
    where = f"{os.path.basename(frames[0].file)}:{frames[0].line}: " if frames else ""
    return f"{where}{shown(found).message} [{found.rule}]"


def _shown(text: str) -> str:
    lines = [line for line in text.splitlines() if "error" in line] or text.splitlines() or [""]
    return lines[0][:300]


class Programs:
    """Kernels by file, target and entry; each is compiled and translated once."""

    def __init__(self, target: str, includes: Sequence[str], defines: Sequence[str] = ()) -> None:
        self.target, self.includes, self.defines = target, tuple(includes), tuple(defines)
        self._texts: dict[tuple[Path, str | None], str] = {}
        self._programs: dict[tuple[object, ...], Program] = {}

    def text(self, path: Path, entry: str | None = None) -> str:
        """The program of a kernel; raises ``NoRun``."""
        if (path, entry) not in self._texts:
            options = CppOptions(entry, self.target, self.defines, self.includes)
            try:
                source = path.read_text(encoding="utf-8", errors="surrogateescape")
                self._texts[path, entry] = compile_kernel(source, str(path), options).text
            except CppError as error:
                raise NoRun("not translated", _shown(str(error))) from None
        return self._texts[path, entry]

    def program(self, parts: Sequence[tuple[Path, str | None]], join: bool = False) -> Program:
        """The kernel of a file, or those that start together as one."""
        key = (tuple(parts), join)
        if key not in self._programs:
            texts = [self.text(path, entry) for path, entry in dict.fromkeys(parts)]
            text = joined(texts) if join and len(texts) > 1 else texts[0]
            self._programs[key] = made(text, str(parts[0][0]), self.target)
        return self._programs[key]


def joined(texts: Sequence[str]) -> str:
    """Kernels of one core each as one kernel of both, with the parameters of all."""
    parameters: dict[str, str] = {}
    for text in texts:
        found = _FUNCTION.search(text)
        for one in _PARAMETER.finditer(found[1] if found else ""):
            parameters.setdefault(one[1], one[2])
    order = sorted(parameters, key=lambda name: ([int(part) for part in name.split("_") if part.isdigit()], name))
    listed = ", ".join(f"{name}: {parameters[name]}" for name in order)
    head, bodies = "", []
    for text in texts:
        head, _, rest = text.partition("\n")
        kind = re.search(r"kernel_kind<(\w+)>", rest)
        suffix = kind[1] if kind else "vector"
        body = rest.rstrip().removesuffix("}")
        bodies.append(
            _FUNCTION.sub(lambda _, name=suffix: f"func.func @task_{name}({listed}) attributes", body, count=1)
        )
    return "\n".join([head, *bodies, "}", ""])


_FUNCTION = re.compile(r"func\.func @[\w.$]+\((.*?)\) attributes")
_PARAMETER = re.compile(r"(%[\w.$]+): ([^,<]*(?:<[^>]*>)?)")


def made(text: str, name: str, target: str) -> Program:
    """A program ready to run; one that the rules refuse runs all the same."""
    rejection = ""
    try:
        module = parse(text, filename=name)
        kernel = compile_program(module)
    except VerifyError as error:
        rejection = _located(error.diagnostics[0])
        kernel = compile_program(parse(text, filename=name), verify=False)
    except RefusedProgram as error:
        raise NoRun("rejected by rule", _located(error.diagnostics[0])) from None
    except ProgramError as error:
        raise NoRun("not executed", _shown(str(error))) from None
    return Program(text, kernel, rejection)


__all__ = ["DTYPES", "Memory", "NoRun", "Program", "Programs"]
