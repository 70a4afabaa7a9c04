"""Launches of a test: their kernels as tile programs, run on the device memory that the host program has written."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from isa_kernels import Kernels
from isa_session import NO_RESULT, NOT_MAPPED, RAISES, REJECTED, Failure

from pto_dialect.api import ParseError, VerifyError, parse
from pto_dialect.cpp.compiler import INCLUDE
from pto_dialect.cpp.errors import TranslationError
from pto_dialect.cpp.kernel import origins_of_kernel
from pto_dialect.cpp.translate import translate_module
from pto_dialect.runtime.api import CompiledKernel
from pto_dialect.runtime.api import compile as compile_kernel
from pto_dialect.runtime.errors import BindingError, ProgramError

SLACK = bytes(1 << 16)
"""Device memory is given out in pages: some kernels read after what their tests have requested."""

_PARAMETERS = re.compile(r"func\.func (?:public )?@[\w.$]+\((.*?)\)", re.S)
_TYPE = re.compile(r"%\w+: (!pto\.ptr<[^>]*>|[\w!.]+)")
_DTYPES = {
    "f32": np.float32, "f16": np.float16, "i8": np.int8, "ui8": np.uint8, "i16": np.int16, "ui16": np.uint16,
    "i32": np.int32, "ui32": np.uint32, "i64": np.int64, "ui64": np.uint64, "bf16": np.uint16, "f64": np.float64,
}  # fmt: skip


class Launches:
    """Runs the launches of one test folder; each kernel is translated once."""

    def __init__(self, kernels: dict[str, Kernels], target: str) -> None:
        self._kernels = kernels
        self._target = target
        self._texts: dict[tuple[str, str], str] = {}

    def run(self, folder: Path, keep: Path | None) -> str:
        """Runs what a host program has launched; returns what the rules say against it.

        ``keep`` is a file for the last program.
        """
        lines = (folder / "record.txt").read_text().splitlines()
        numbers = [int(line.split("|")[1]) for line in lines if line.startswith("memory|")]
        files = {number: folder / f"memory{number}.bin" for number in numbers}
        contents = {number: bytearray(file.read_bytes() + SLACK) for number, file in files.items()}
        buffers = {number: np.frombuffer(content, np.uint8) for number, content in contents.items()}
        rejection = ""
        for line in lines:
            if line.startswith("launch|"):
                _, file, kernel, blocks, *given = line.split("|")
                text = self._text(file, kernel)
                if keep is not None:
                    keep.write_text(text)
                rejection = _execute(text, given, buffers, int(blocks)) or rejection
        for number, file in files.items():
            buffers[number][: -len(SLACK)].tofile(file)
        return rejection

    def _text(self, file: str, kernel: str) -> str:
        text = self._texts.get((file, kernel))
        if text is None:
            try:
                found = self._kernels[file]
                text = translate_module(
                    found.texts, entry=kernel, target=self._target, headers=[str(INCLUDE)], sources=found.sources
                )
            except TranslationError as error:
                raise Failure(NOT_MAPPED, str(error)) from None
            self._texts[file, kernel] = text
        return text


def _execute(text: str, given: list[str], buffers: dict[int, np.ndarray], blocks: int) -> str:
    signature = _PARAMETERS.search(text)
    types = _TYPE.findall(signature[1]) if signature else []
    if len(types) != len(given):
        raise Failure(NO_RESULT, f"the kernel takes {len(types)} arguments, the host program passes {len(given)}")
    arguments = [_argument(type_, value, buffers) for type_, value in zip(types, given, strict=True)]
    rejection = ""
    try:
        rejection, kernel = _compiled(text)
        kernel(*arguments, **({"blocks": blocks} if blocks > 1 else {}))
    except ParseError as error:
        raise Failure(REJECTED, f"{error.diagnostics[0].message} [{error.diagnostics[0].rule}]") from None
    except (ProgramError, BindingError) as error:
        said = f"{str(error).splitlines()[0][:200]}{f' [{error.rule}]' if isinstance(error, ProgramError) else ''}"
        outcome = NOT_MAPPED if "[unmodelled]" in said else RAISES
        raise Failure(REJECTED if rejection else outcome, f"{rejection}; {said}" if rejection else said) from None
    return rejection


def _compiled(text: str) -> tuple[str, CompiledKernel]:
    """What the rules say against a program, and the program, which runs all the same."""
    origins_of_kernel("", "test.cpp").register(text)
    try:
        return "", compile_kernel(parse(text, filename="test.pto"), backend="emitc")
    except VerifyError as error:
        first = error.diagnostics[0]
        rejection = f"{first.message} [{first.rule}]"
    try:
        return rejection, compile_kernel(parse(text, filename="test.pto"), backend="emitc", verify=False)
    except (ProgramError, BindingError):
        raise Failure(REJECTED, rejection) from None


def _argument(type_: str, told: str, buffers: dict[int, np.ndarray]) -> object:
    kind, *values = told.split(",")
    if kind == "p":
        memory, offset = map(int, values)
        element = re.sub(r"!pto\.ptr<|[,>].*", "", type_)
        dtype = np.dtype(_DTYPES.get(element, np.uint8))
        array = buffers[memory][offset:] if memory >= 0 else np.zeros(1 << 12, np.uint8)
        return array[: len(array) // dtype.itemsize * dtype.itemsize].view(dtype)
    return float(values[0]) if type_.startswith(("f", "bf")) else int(values[0])
