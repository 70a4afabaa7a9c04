"""Runs the statements of one function, whose arguments may be memory of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from parse_helpers import parsed

from pto_dialect.api import check
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import Block, RunOptions


def kernel(
    body: str,
    arguments: Mapping[str, str],
    results: Mapping[str, str] | None = None,
    target: str = "a5",
    kind: str = "",
    kernel_class: type[Kernel] = Kernel,
    **options: Any,
) -> Kernel:
    """The function of ``arguments`` (types by name) that runs ``body`` and returns values of it (types by name).

    The body finds ``%cN`` (index) and ``%nN`` (i64) for the numbers it mentions; ``kind`` is the kind of its core.
    """
    results = results or {}
    head = ", ".join(f"%{name}: {type_}" for name, type_ in arguments.items())
    types = ", ".join(results.values())
    back = f" -> ({types})" if results else ""
    tail = ", ".join(f"%{name}" for name in results) + (f" : {types}" if results else "")
    module_kind = f", pto.kernel_kind = #pto.kernel_kind<{kind}>" if kind else ""
    text = f"""module attributes {{pto.target_arch = "{target}"{module_kind}}} {{
    func.func @k({head}){back} {{
    {_constants(body)}
    {body}
    return {tail}
    }}
    }}"""
    module, found = parsed(text)
    assert module is not None and {entry[0] for entry in found} <= {"op-deprecated"}, (text, found)
    return kernel_class(module, "k", None, RunOptions(**options))


def _constants(body: str) -> str:
    """Definitions of the numbers that a body mentions."""
    words = body.replace(",", " ").replace("(", " ").replace(")", " ").replace("[", " ").replace("]", " ").split()
    kinds = {"c": "index", "n": "i64"}
    named = dict.fromkeys(word for word in words if word[0] == "%" and word[1:2] in kinds and word[2:].isdigit())
    return "\n".join(f"{name} = arith.constant {name[2:]} : {kinds[name[1]]}" for name in named)


def run(
    body: str,
    arguments: Mapping[str, tuple[str, Any]],
    results: Mapping[str, str] | None = None,
    target: str = "a5",
    kind: str = "",
    **options: Any,
) -> list[Any]:
    """What the function returns for ``arguments`` (type and value by name); arrays are changed in place."""
    types = {name: type_ for name, (type_, _) in arguments.items()}
    made = kernel(body, types, results, target, kind, **options)
    return made.run([value for _, value in arguments.values()])


class _Seen(Kernel):
    """A kernel whose unified buffers can be looked at after a run."""

    unified: list[Any]

    def _block(self, index: int, count: int, core_class: Any) -> Block:
        block = super()._block(index, count, core_class)
        self.unified = [arena.bytes for arena in block.unified_buffers]
        return block


def run_on_cube(body: str, arguments: Mapping[str, tuple[str, Any]]) -> list[Any]:
    """Bytes of the unified buffers of both vector cores after a function of the cube between them."""
    made = kernel(body, {name: type_ for name, (type_, _) in arguments.items()}, kernel_class=_Seen)
    assert isinstance(made, _Seen)
    made.run([value for _, value in arguments.values()])
    return made.unified


def run_on_each(text: str, values: Sequence[Any], entry: str | None = "k") -> list[Any]:
    """What a kernel of a module for a5 returns.

    Where the text is free of errors for a2a3 too, it runs there on copies of ``values``, with the same results.
    """

    def returned(source: str, arguments: list[Any]) -> list[Any]:
        module, found = parsed(source)
        assert module is not None and {rule for rule, *_ in found} <= {"op-deprecated"}, (source, found)
        return Kernel(module, entry, None, RunOptions()).run(arguments)

    copies = deepcopy(list(values))
    result = returned(text, list(values))
    other = text.replace('pto.target_arch = "a5"', 'pto.target_arch = "a2a3"')
    assert other != text
    if check(other).ok:
        again = returned(other, copies)
        for one, two in zip([*result, *values], [*again, *copies], strict=True):
            np.testing.assert_array_equal(np.asarray(one), np.asarray(two), "on a2a3")
    return result
