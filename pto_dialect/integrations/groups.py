"""Kernels that start together on the cores of a group: a cube function, a vector function on one or two cores, or both.

See docs/pypto.md.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from xdsl.ir import Attribute, Operation

from pto_dialect.runtime.compile.compiler import CompiledModule
from pto_dialect.runtime.compile.program import Program as RunProgram
from pto_dialect.runtime.compile.program import Root, find_program
from pto_dialect.runtime.run.launch import Kernel

from .base import Program

if TYPE_CHECKING:
    from pto_dialect.sanitize.options import SanitizeOptions


class Group(NamedTuple):
    """The functions that the cores of a group start (``None``: none), and how many vector cores do."""

    cube: str | None
    vector: str | None
    vector_cores: int


def group_kernel(program: Program, group: Group, watch: SanitizeOptions | None = None) -> Kernel:
    """The functions of ``group`` as one kernel, whose arguments are those of the cube function, then those of the vector
    function. Raises ``ProgramError`` where they cannot be executed."""
    return program.made((group, watch), partial(_make, program, group, watch))


def _make(program: Program, group: Group, watch: SanitizeOptions | None) -> Kernel:
    entry = group.cube or group.vector
    given: tuple[Any, ...] = (program.module, entry, program.target, program.options)
    if watch is None:
        return _shaped_class(Kernel, group)(*given)
    from pto_dialect.sanitize.launch import WatchedKernel

    poisoned = replace(program.options, fill="poison")
    return _shaped_class(WatchedKernel, group)(*given[:3], poisoned, watch)


def _shaped_class(base: type[Kernel], group: Group) -> type[Kernel]:
    """``base`` for the cores of ``group``."""

    class GroupKernel(base):
        """A kernel whose cores start the functions of one group."""

        def _compile(self, queued: bool) -> CompiledModule:
            if not hasattr(self, "compiled"):
                self.program = _shaped(self.module, self.program, group, self.profile.arch)
                self.arguments = self.program.arguments
                self.kinds = tuple(self.program.roots)
            return super()._compile(queued)

    return GroupKernel


def _shaped(module: Operation, found: RunProgram, group: Group, arch: str) -> RunProgram:
    symbols = found.symbols
    if group.cube is None or group.vector is None:
        alone = found if len(found.roots) == 1 else _only(found)
        if group.vector is None or group.vector_cores == 1:
            return replace(alone, vector_cores=1)
        root = next(iter(alone.roots.values()))
        return replace(alone, roots={"aiv": root}, vector_cores=group.vector_cores)
    other = find_program(module, group.vector, arch, symbols)
    cube, vector = symbols.first[group.cube], symbols.first[group.vector]
    mine, theirs = _own_arguments(cube), _own_arguments(vector)
    taken = {name for name, _ in mine}
    arguments = mine + [(f"{group.vector}.{name}" if name in taken else name, type_) for name, type_ in theirs]
    operations = dict.fromkeys([*found.operations, *other.operations])
    return replace(
        found,
        roots={
            "aic": Root(cube, tuple(range(len(mine)))),
            "aiv": Root(vector, tuple(range(len(mine), len(arguments)))),
        },
        arguments=arguments,
        functions=tuple(dict.fromkeys([*found.functions, *other.functions])),
        operations=list(operations),
        vector_cores=group.vector_cores,
        cooperative=found.cooperative or other.cooperative,
        explicit=found.explicit or other.explicit,
    )


def _only(found: RunProgram) -> RunProgram:
    """The program of the entry alone, without a peer that it could be started with."""
    kind = next(kind for kind, root in found.roots.items() if root.function is found.entry)
    count = len(_own_arguments(found.entry))
    root = Root(found.entry, tuple(range(count)))
    return replace(found, roots={kind: root}, arguments=found.arguments[:count])


def _own_arguments(function: Operation) -> list[tuple[str, Attribute]]:
    block = function.regions[0].blocks[0]
    return [(argument.name_hint or str(index), argument.type) for index, argument in enumerate(block.args)]


