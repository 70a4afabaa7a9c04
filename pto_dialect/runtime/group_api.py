"""Launching functions together from Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from pto_dialect.targets.backend import Backend

from .api import checked_options, launch, verify_checked
from .compile.group import Member, join
from .errors import BindingError, NoValueError, ProgramError, located, takes_text, wrong_argument_count
from .run.launch import Kernel
from .run.per_core import launcher_value

__all__ = ["CompiledGroup", "Member", "compile_group"]


class CompiledGroup:
    """Functions that start together on the cores of every block.

    A call takes the arguments of each function, in the order of the functions: a sequence of values by position, or a
    mapping by name. Values are those of ``CompiledKernel``; functions share memory where they receive the same array.
    """

    def __init__(self, kernel: Kernel) -> None:
        assert kernel.group is not None
        self._kernel = kernel
        self._starts = kernel.group.starts

    @property
    def functions(self) -> list[str]:
        """Names of the functions in order."""
        return [start.label for start in self._starts]

    @property
    def arguments(self) -> list[list[str]]:
        """Names of the arguments of each function."""
        return [[name for name, _ in start.arguments] for start in self._starts]

    @property
    def source(self) -> str:
        """The Python source the functions were compiled to."""
        return self._kernel.source

    def __call__(self, *arguments: Sequence[Any] | Mapping[str, Any], blocks: int = 1, jobs: int = 1) -> None:
        """Runs the group on ``blocks`` blocks; independent blocks run in up to ``jobs`` processes.

        Raises ``BindingError`` for arguments that do not fit, ``ProgramError`` for an error in the program.
        """
        if len(arguments) != len(self._starts):
            message = f"the group has {len(self._starts)} functions, found arguments for {len(arguments)}"
            raise BindingError(message)
        values: list[Any] = []
        for start, own in zip(self._starts, arguments, strict=True):
            values += arguments_in_order(start.label, start.arguments, own)
        try:
            launch(self._kernel, values, blocks, jobs)
        except ProgramError as error:
            raise located(error, self._kernel.module) from None


def arguments_in_order(
    function: str, arguments: Sequence[tuple[str, Attribute]], stated: Sequence[Any] | Mapping[str, Any]
) -> list[Any]:
    """Returns the values of ``arguments`` (names and types) in order; those that only launchers know may be missing.

    Raises ``BindingError`` for values that are missing or belong to no argument.
    """
    own = [launcher_value(name, type_) for name, type_ in arguments]
    if not isinstance(stated, Mapping):
        if len(stated) == len(arguments):
            return list(stated)
        if len(stated) + sum(one is not None for one in own) != len(arguments):
            raise wrong_argument_count(function, arguments, len(stated))
        rest = iter(stated)
        return [next(rest) if one is None else one for one in own]
    names = {name for name, _ in arguments}
    unknown = [name for name in stated if name not in names and not _is_position(name, len(arguments))]
    if unknown:
        raise BindingError(f"@{function} has no arguments called {', '.join(sorted(unknown))}")
    values: list[Any] = []
    for position, (name, _) in enumerate(arguments):
        key = name if name in stated else str(position)
        values.append(stated[key] if key in stated else own[position])
    missing = [name for (name, _), value in zip(arguments, values, strict=True) if value is None]
    if missing:
        raise NoValueError(missing, takes_text(function, arguments))
    return values


def _is_position(name: str, count: int) -> bool:
    return name.isdecimal() and int(name) < count


def compile_group(
    members: Iterable[Member | tuple[ModuleOp, str] | tuple[ModuleOp, str, str]],
    target: str | None = None,
    *,
    accumulate: str = "fast",
    backend: Backend | None = None,
    verify: bool = True,
) -> CompiledGroup:
    """Compiles functions that start together: one on the cube core, one on the vector cores or one on each.

    Each of ``members`` is a module, the symbol of a function in it and the core that runs it: ``"cube"``, ``"vector"``,
    ``"vector0"``, ``"vector1"``, by default the core of its kind or its sections. Modules may be the same or different
    ones. The other arguments are those of ``compile``.

    Raises ``VerifyError`` for a module with errors, ``BindingError`` for functions that cannot start together,
    ``ProgramError`` for operations that cannot be executed.
    """
    options = checked_options(accumulate, backend)
    chosen = [Member(member[0], member[1], member[2] if len(member) > 2 else None) for member in members]
    group = join(chosen)
    if verify:
        # Bind the functions together, because functions of one module name buffers of another one.
        verify_checked(group.module, target)
    return CompiledGroup(Kernel(None, None, target, options, group=group))
