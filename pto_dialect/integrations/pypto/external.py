"""Kernels that are C++ of their own (`external_source`, `pl.jit.extern`, collectives of the host): the C++ front end
makes programs of them.

What stands for the compiled kernel is a stub in C++, which notes the values of the parameters that the front end has
made of the kernel's array of arguments. See docs/pypto.md and docs/cpp.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from xdsl.ir import Attribute

from pto_dialect.cpp.kernel import compile_kernel
from pto_dialect.cpp.options import CppOptions
from pto_dialect.runtime.compile.program import arguments_of, functions_of
from pto_dialect.runtime.run.arguments import argument_format

from .assembler import Embedded, comment_of, number_of, program_of

CORES = {"aic": "cube", "aiv": "vector"}
"""The core of a kernel, as PyPTO calls it and as we do."""

_PARAMETER = re.compile(r"\w*?_(?P<number>\d+)(?:_(?P<field>[a-z]+(?:_\d+)?))?")
"""A parameter that stands for an element of the array of arguments, or for a field of what the element describes."""

_FIELDS = {
    "size": "buffer.size", "owner": "owner_task_id.raw", "dimensions": "ndims", "dtype": "dtype",
    "manual": "manual_dep", "contiguous": "is_contiguous", "extent": "extent_elem()",
    **{f"{name}_{n}": f"{name}s[{n}]" for name in ("shape", "stride") for n in range(5)},
}  # fmt: skip
"""Fields of the descriptor of a tensor, by what the front end calls them."""

_OTHERS = {"version": "0", "space": "0"}
"""Fields that have no meaning for a kernel here."""


def external_text(path: str, core: str, platform: str, includes: Sequence[str] = ()) -> str:
    """Returns the C++ that stands for the kernel in the file ``path``; ``core`` is `aic` or `aiv`, ``includes`` are
    folders.

    Raises ``CppError``, ``ParseError`` or ``VerifyError`` with the diagnostics, ``OSError`` and ``ValueError`` for
    parameters that a run time has no value for.
    """
    source = Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    target = platform.removesuffix("sim")
    options = CppOptions(target=target, includes=(*includes, *_beside(path)), core=CORES.get(core, core))
    text = compile_kernel(source, path, options).text
    embedded = Embedded(number_of(path, text), path, target, text, source=source)
    function = functions_of(program_of(embedded).module)["kernel_entry"]
    values = "".join(f", {_value(name, type_, path)}" for name, type_ in arguments_of(function))
    return "\n".join(
        [
            '#include "intrinsic.h"',
            comment_of(embedded),
            'extern "C" void kernel_entry(int64_t *args) {',
            f"    pto_note({embedded.number}ull, 0{values});",
            "}",
            "",
        ]
    )


def _beside(path: str) -> list[str]:
    """Returns the folder in which kernels keep headers of theirs next to the folder of the kernel."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(path)))
    return [folder] if os.path.dirname(folder) != folder else []


def _value(name: str, type_: Attribute, path: str) -> str:
    """Returns the value of a parameter in C++."""
    found = _PARAMETER.fullmatch(name)
    if found is None:
        raise ValueError(f"{path}: the kernel writes to its array of arguments, or indexes it by no constant")
    number, field = int(found["number"]), found["field"]
    if field is None:
        return f"pto_elements(args, {number})" if argument_format(type_) is not None else f"args[{number}]"
    if field in _OTHERS:
        return _OTHERS[field]
    return f"pto_tensor(args, {number}).{_FIELDS[field]}"
