"""Functions that start together on the cores of one block: a cube function, and one for the vector cores or for each.

They may be in one module or in several, and communicate through signals between cores and queues alone. Each has
arguments of its own. Source: docs/reference/execution.md, "Launches".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from pto_dialect.analysis.target import profile_of
from pto_dialect.analysis.type_facts import kernel_kind
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.targets.profile import Profile

from ..errors import BindingError
from .program import (
    CORE_OF,
    Program,
    Root,
    Symbols,
    arguments_of,
    find_entry,
    kinds_of,
    operations_in,
    orders_pipes,
    reachable,
    refuse_recursion,
    symbol_of,
    transfers,
    unique_name,
    vector_cores_of,
)

CORES = ("cube", "vector", "vector0", "vector1")
"""Cores of a function of a group: the cube core, both vector cores, the first one, the second one."""

_ROOTS = {"cube": ("aic",), "vector": ("aiv0", "aiv1"), "vector0": ("aiv0",), "vector1": ("aiv1",)}


class Member(NamedTuple):
    """One function of a group.

    ``entry`` is its symbol (``None``: the only one of ``module``), ``core`` the core that runs it, one of ``CORES``
    (``None``: determined by its kind or its sections; a function with sections of both kinds runs on all cores).
    """

    module: ModuleOp
    entry: str | None = None
    core: str | None = None


@dataclass(frozen=True)
class Start:
    """A function of a group: its core, and its arguments as the launch calls them."""

    function: Operation
    label: str
    cores: tuple[str, ...]
    arguments: tuple[tuple[str, Attribute], ...]


@dataclass(frozen=True)
class Group:
    """Functions that start together; ``module`` holds the modules of all of them."""

    module: ModuleOp
    symbols: Symbols
    starts: tuple[Start, ...]

    @property
    def name(self) -> str:
        """Returns the functions, for messages."""
        return "+".join(start.label for start in self.starts)


def join(members: Sequence[Member]) -> Group:
    """Returns the group of ``members``.

    Raises ``ProgramError`` (``entry-single``) where a module has no such function, ``BindingError`` where functions
    cannot start together; its ``subject`` is the index of the member, from 0.
    """
    if not members:
        raise BindingError("a group has at least one function")
    modules = list({id(member.module): member.module for member in members}.values())
    copies = modules if len(modules) == 1 else [module.clone() for module in modules]
    module = copies[0] if len(copies) == 1 else ModuleOp(list(copies))
    copy_of = {id(original): copy for original, copy in zip(modules, copies, strict=True)}
    symbols = Symbols(module)
    starts: list[Start] = []
    taken: set[str] = set()
    owners: dict[str, str] = {}
    for number, member in enumerate(members):
        own = Symbols(copy_of[id(member.module)])
        function = own.first[find_entry(copy_of[id(member.module)], member.entry, own)]
        label = unique_name(symbol_of(function), taken)
        taken.add(label)
        cores = _cores(function, member.core, symbols, str(number))
        for core in cores:
            if core in owners:
                message = f"@{owners[core]} and @{label} of one group both run on {_CORE_NAMES[core]}"
                raise BindingError(message, str(number))
            owners[core] = label
        starts.append(Start(function, label, cores, tuple(arguments_of(function))))
    if "aiv1" in owners and "aiv0" not in owners:
        raise BindingError(f"@{owners['aiv1']} runs on the second vector core, and nothing runs on the first one")
    return Group(module, symbols, tuple(starts))


_CORE_NAMES = {"aic": "the cube core", "aiv0": "the first vector core", "aiv1": "the second vector core"}


def _cores(function: Operation, core: str | None, symbols: Symbols, subject: str) -> tuple[str, ...]:
    if core is not None:
        if core not in CORES:
            raise BindingError(f"functions run on {', '.join(CORES)}, not on '{core}'", subject)
        stated = kernel_kind(function)
        if stated in CORE_OF and not core.startswith(stated):
            raise BindingError(f"@{symbol_of(function)} is a {stated} kernel, which does not run on '{core}'", subject)
        return _ROOTS[core]
    reach = reachable([function], symbols)
    kinds = kinds_of(reach, operations_in(reach))
    if not kinds:
        message = f'@{symbol_of(function)} does not say where it runs; give core = "cube" or "vector"'
        raise BindingError(message, subject)
    return tuple(root for kind in CORE_OF if kind in kinds for root in _ROOTS[kind])


def common_profile(group: Group, target: str | None) -> Profile:
    """Returns the chip that all functions of a group are for. Raises ``BindingError`` where they differ."""
    first, *others = [(start.label, profile_of(start.function, target)) for start in group.starts]
    for number, (label, profile) in enumerate(others, 1):
        if profile.name != first[1].name:
            message = f"@{label} is for {profile.name}, but @{first[0]}, which starts with it, for {first[1].name}"
            raise BindingError(message, str(number))
    return first[1]


def group_program(group: Group, arch: str) -> Program:
    """Returns the program that the launch of ``group`` runs. Raises ``ProgramError`` for recursion."""
    arguments: list[tuple[str, Attribute]] = []
    roots: dict[str, Root] = {}
    for start in group.starts:
        first = len(arguments)
        arguments += [(f"{start.label}.{name}", type_) for name, type_ in start.arguments]
        root = Root(start.function, tuple(range(first, len(arguments))))
        roots |= dict.fromkeys(start.cores, root)
    reach = reachable([start.function for start in group.starts], group.symbols)
    for function in reach:
        refuse_recursion(function, group.symbols)
    operations = operations_in(reach)
    both = any({"aiv0", "aiv1"} <= {*start.cores} for start in group.starts)
    vector_cores = vector_cores_of(operations, arch) if both else 2 if "aiv1" in roots else 1
    return Program(
        group.symbols,
        group.starts[0].function,
        {core: roots[core] for core in _CORE_NAMES if core in roots},
        arguments,
        tuple(reach),
        operations,
        vector_cores,
        any(has_role(op, Role.CORES) or transfers(op) for op in operations),
        any(orders_pipes(op) for op in operations),
    )
