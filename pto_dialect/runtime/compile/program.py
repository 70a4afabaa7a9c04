"""The functions that a launch runs, and their cores. Source: docs/reference/execution.md, "Which core runs what",
"Launches".

The cube kernel and the vector kernel of one logical program run as one block group when the entry names either of them,
or a function that calls both:

- two kernels belong together when one imports a buffer that the other reserves (``peer_func``), when they have one name
in sibling modules, or when they are the only cube and vector kernel of their module that use the same queue; - the AIC
starts the cube kernel, every AIV the vector kernel; a function that calls both runs on all cores, which skip the calls
of kernels of the other kind; - the arguments of a pair are those of the entry, followed by those of its peer that the
entry does not have: arguments of one name and type are one; kernels of the same types without a common name share them
by position; - on a5 whole entries concern the first vector core alone, so a program that splits none of its entries
runs with one vector core, unless it makes the transfers depend on the id of the vector core.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.analysis import queues
from pto_dialect.analysis.type_facts import ENTRY_ATTRIBUTES, KERNEL_KIND, integer_attribute, is_simt_entry, kernel_kind
from pto_dialect.diagnostics.suggest import nearest_or
from pto_dialect.ir.core.base import is_pto, op_spec, section_of, symbol_of
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.operands import listed
from pto_dialect.ir.core.roles import RUNS, Role, has_role
from pto_dialect.ir.core.walk import ancestors, walk

from ..errors import ProgramError
from ..queues.identity import identity

CORE_OF = {"cube": "aic", "vector": "aiv"}
"""Kind of core that runs functions of a kind."""

_CONTROL = frozenset(("ctrl", "atomic"))
"""State in the control register."""


def enclosing_kind(op: Operation) -> str | None:
    """Returns the kind of core that ``op`` is written for: that of the section around it, otherwise that of its
    function."""
    for one in (op, *ancestors(op)):
        if section_of(one) in CORE_OF:
            return section_of(one)
        if has_role(one, Role.FUNCTION):
            return kernel_kind(one)
    return None


def writes_control(op: Operation) -> bool:
    """Returns whether an operation writes the control register."""
    return is_pto(op) and not _CONTROL.isdisjoint(op_spec(type(op)).state_writes)


def transfers(op: Operation) -> bool:
    """Returns whether an operation puts an entry into a queue between cores, takes one, or returns one."""
    action = queues.action_of(op)
    return action is not None and action.transfers


def orders_pipes(op: Operation) -> bool:
    """Returns whether an operation is a flag, or a lock that is acquired: with them a program itself orders the pipes
    of a core."""
    flag = has_role(op, Role.PIPES) and not has_role(op, Role.BARRIER)
    return flag or (has_role(op, Role.LOCK) and has_role(op, Role.SETS))


class Symbols:
    """The functions with a body below one module, by the module that holds them."""

    def __init__(self, module: Operation) -> None:
        self.first: dict[str, Operation] = {}
        self._callees: dict[Operation, list[Operation]] = {}
        self.all: dict[str, list[Operation]] = {}
        for op in walk(module):
            if has_role(op, Role.FUNCTION) and op.regions[0].blocks:
                name = symbol_of(op)
                self.first.setdefault(name, op)
                self.all.setdefault(name, []).append(op)

    def find(self, name: str, near: Operation) -> Operation | None:
        """Returns the function called ``name`` in the innermost module around ``near`` that has one, otherwise any."""
        candidates = self.all.get(name, [])
        if len(candidates) > 1:
            by_parent = {function.parent_op(): function for function in reversed(candidates)}
            return next((by_parent[parent] for parent in ancestors(near) if parent in by_parent), candidates[0])
        return candidates[0] if candidates else None

    def callee(self, call: Operation) -> Operation | None:
        """Returns the function that a call or launch runs."""
        return self.find(callee_name(call), call)

    def callees(self, function: Operation) -> list[Operation]:
        """Returns the functions that ``function`` calls."""
        if function not in self._callees:
            called = (self.callee(op) for op in walk(function) if has_role(op, RUNS))
            self._callees[function] = [callee for callee in called if callee is not None]
        return self._callees[function]


def call_arguments(call: Operation) -> Sequence[SSAValue]:
    """Returns the values that a call or launch passes to the function that it runs."""
    return listed(call, "args" if has_role(call, Role.LAUNCH) else "arguments")


def callee_name(call: Operation) -> str:
    """Returns the symbol that a call or launch names."""
    callee = call.properties.get("callee") or call.attributes.get("callee")
    assert isinstance(callee, SymbolRefAttr)
    return callee.root_reference.data


def functions_of(module: Operation) -> dict[str, Operation]:
    """Returns the functions with a body, by symbol, nested modules included (the first of a name wins)."""
    return Symbols(module).first


def find_entry(module: Operation, entry: str | None, symbols: Symbols | None = None) -> str:
    """Returns the symbol of the function to run: the named one, the marked one, or the only one; a pair of kernels
    counts as one.

    ``symbols`` are those of the module where they are known already. Raises ``ProgramError`` (``entry-single``) when
    there is no such function or more than one choice.
    """
    symbols = symbols or Symbols(module)
    functions = symbols.first
    if entry is not None:
        if entry not in functions:
            hint = nearest_or(entry, functions, f"there are {', '.join(functions) or 'none'}")
            raise ProgramError("entry-single", f"no function @{entry}; {hint}")
        return entry
    choices = candidates(module, symbols)
    if len(choices) == 2 and functions[choices[1]] in peers(functions[choices[0]], symbols):
        return choices[0]
    if not choices:
        raise ProgramError("entry-single", "the program has no function with a body")
    if len(choices) != 1:
        listed = ", ".join(f"@{name}" for name in choices)
        raise ProgramError("entry-single", f"give the entry function; candidates: {listed}")
    return choices[0]


def candidates(module: Operation, symbols: Symbols) -> list[str]:
    """Returns the symbols of the functions that may be meant where none is named: the marked ones, otherwise those that
    no other calls."""
    functions = symbols.first
    marked = [name for name, op in functions.items() if any(mark in op.attributes for mark in ENTRY_ATTRIBUTES)]
    return marked or _uncalled(module, functions)


def _uncalled(module: Operation, functions: dict[str, Operation]) -> list[str]:
    """Returns the kernels that no other function calls, otherwise all kernels, otherwise all functions."""
    called = {callee_name(op) for op in walk(module) if has_role(op, RUNS)}
    kernels = [name for name, op in functions.items() if not is_simt_entry(op)]
    return [name for name in kernels if name not in called] or kernels or list(functions)


@dataclass(frozen=True)
class Root:
    """The function that a core starts; ``positions`` selects its arguments among those of the launch."""

    function: Operation
    positions: tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """The program of one launch.

    ``roots`` maps kinds of cores (``all``, ``aic``, ``aiv``), or single vector cores (``aiv0``, ``aiv1``), to the
    functions that they start, in the order in which program order runs them; ``functions`` are the roots and their
    callees, in order of discovery, ``operations`` those in them in text order; ``cooperative`` states that cores wait
    for each other, so that they run concurrently.
    """

    symbols: Symbols
    entry: Operation
    roots: dict[str, Root]
    arguments: list[tuple[str, Attribute]]
    functions: tuple[Operation, ...]
    operations: Sequence[Operation]
    vector_cores: int
    cooperative: bool
    explicit: bool

    def callees(self, function: Operation) -> list[Operation]:
        """Returns the functions that ``function`` calls."""
        return self.symbols.callees(function)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Returns the kinds of cores that take part."""
        return tuple(dict.fromkeys(core.rstrip("01") for core in self.roots))

    @property
    def cores(self) -> int:
        """Returns the number of cores of a block that take part."""
        return sum(self.vector_cores if kind == "aiv" else 1 for kind in self.kinds)

    def root(self, kind: str, index: int) -> Root:
        """Returns the function that core ``index`` of its kind starts."""
        return self.roots.get(kind) or self.roots.get(f"{kind}{index}") or self.roots[f"{kind}0"]

    def guard(self, call: Operation, callee: Operation) -> str | None:
        """Returns the kind of cores that run a call, ``None`` when all cores that reach it do."""
        kind = kernel_kind(callee)
        if kind is None or len(self.kinds) == 1 or kind == enclosing_kind(call):
            return None
        return kind


def functions_by_unit(program: Program) -> tuple[list[Operation], list[Operation]]:
    """Returns the functions that run instruction by instruction, and those that vector scopes call, where a scope is
    one instruction; a function may be both."""
    outer: dict[Operation, None] = {root.function: None for root in program.roots.values()}
    inner: dict[Operation, None] = {}
    pending = [(function, False) for function in outer]
    while pending:
        function, inside = pending.pop()
        for op in walk(function):
            callee = program.symbols.callee(op) if has_role(op, Role.CALL) else None
            if callee is None:
                continue
            within = inside or any(has_role(parent, Role.SCOPE) for parent in ancestors(op))
            callees = inner if within else outer
            if callee not in callees:
                callees[callee] = None
                pending.append((callee, within))
    order = {function: number for number, function in enumerate(program.functions)}
    first, second = (sorted(callees, key=lambda function: order[function]) for callees in (outer, inner))
    return first, second


def find_program(module: Operation, entry: str, arch: str, symbols: Symbols | None = None) -> Program:
    """Returns the program that starts with the function called ``entry``.

    ``symbols`` are those of the module where they are known already. Raises ``ProgramError``: ``entry-single`` when
    several kernels could be its peer, ``entry-void`` for recursion.
    """
    symbols = symbols or Symbols(module)
    function = symbols.first[entry]
    reach = reachable([function], symbols)
    operations = operations_in(reach)
    kinds = kinds_of(reach, operations)
    mine = kernel_kind(function)
    partner = _partner(function, symbols) if mine in CORE_OF and len(kinds) < 2 else None
    arguments = arguments_of(function)
    everything = tuple(range(len(arguments)))
    roots: dict[str, Root]
    if partner is not None:
        assert mine is not None
        here, there = Root(function, everything), _bound_to(partner, arguments)
        pair = {CORE_OF[mine]: here, CORE_OF["cube" if mine == "vector" else "vector"]: there}
        roots = {kind: pair[kind] for kind in ("aic", "aiv")}
        reach = reachable([function, partner], symbols)
        operations = operations_in(reach)
    elif len(kinds) == 2:
        roots = {kind: Root(function, everything) for kind in ("aic", "aiv")}
    elif _names_vector_cores(function, operations):
        roots = {"aiv": Root(function, everything)}
    else:
        roots = {"all": Root(function, everything)}
    for one in reach:
        refuse_recursion(one, symbols)
    return Program(
        symbols,
        function,
        roots,
        arguments,
        tuple(reach),
        operations,
        vector_cores_of(operations, arch),
        any(has_role(op, Role.CORES | Role.SIGNAL) or transfers(op) for op in operations),
        any(orders_pipes(op) for op in operations),
    )


def _names_vector_cores(function: Operation, operations: Sequence[Operation]) -> bool:
    """Returns whether code for both vector cores, by the kind of ``function`` or in a section, depends on the number of
    its core. Other code for both cores computes the same on each, and runs on one."""
    stated = KERNEL_KIND in function.attributes and kernel_kind(function) == "vector"
    if not stated and not any(section_of(op) == "vector" for op in operations):
        return False
    return any(has_role(op, Role.VECTOR_CORES) for op in operations)


def operations_in(functions: Sequence[Operation]) -> list[Operation]:
    """Returns the operations of ``functions`` in text order."""
    return [op for function in functions for op in walk(function)]


def reachable(starts: Sequence[Operation], symbols: Symbols) -> list[Operation]:
    """Returns the functions of ``starts`` and their callees."""
    order: dict[Operation, None] = {}
    pending = list(reversed(starts))
    while pending:
        function = pending.pop()
        if function not in order:
            order[function] = None
            pending.extend(symbols.callees(function))
    return list(order)


def refuse_recursion(function: Operation, symbols: Symbols) -> None:
    """Raises ``ProgramError`` (``entry-void``) for a function that calls itself."""
    if function in reachable(symbols.callees(function), symbols):
        message = f"@{symbol_of(function)} calls itself; recursion cannot be executed"
        raise ProgramError("entry-void", message, span_of(function))


def kinds_of(functions: Sequence[Operation], operations: Sequence[Operation]) -> set[str]:
    """Returns the kinds of code among ``functions`` with their operations: the kinds of kernels and sections."""
    kinds = {kind for function in functions if (kind := kernel_kind(function)) in CORE_OF}
    sections = {section_of(op) for op in operations if op.regions}
    return {kind for kind in CORE_OF if kind in kinds or kind in sections}


def vector_cores_of(operations: Sequence[Operation], arch: str) -> int:
    """Returns the number of vector cores of a block: one where a second would have no part in any queue."""
    if arch == "a2a3":
        return 2
    moving = [op for op in operations if transfers(op)]
    alone = moving and not any(integer_attribute(op, "split") or _chosen_by_core(op) for op in moving)
    return 1 if alone else 2


def _chosen_by_core(op: Operation) -> bool:
    """Returns whether the id of the vector core decides whether ``op`` runs."""
    deciding = (parent for parent in ancestors(op) if has_role(parent, Role.CHOICE | Role.COUNTED))
    return any(_depends_on_core(value) for parent in deciding for value in parent.operands)


def _depends_on_core(value: SSAValue) -> bool:
    # The class is only used here, so that programs without queues do not load its family.
    from pto_dialect.ir.scalar.query import GetSubblockIdxOp  # deferred: start-up

    pending, seen = [value], {value}
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Operation):
            if isinstance(owner, GetSubblockIdxOp):
                return True
            pending += [operand for operand in owner.operands if operand not in seen]
            seen.update(owner.operands)
    return False


# ------------------------------------------------------------ pairs


def arguments_of(function: Operation) -> list[tuple[str, Attribute]]:
    """Returns names and types of the arguments of ``function``; those without a name are called by position."""
    arguments: list[tuple[str, Attribute]] = []
    taken: set[str] = set()
    for index, argument in enumerate(function.regions[0].blocks[0].args):
        arguments.append((unique_name(argument.name_hint or str(index), taken), argument.type))
        taken.add(arguments[-1][0])
    return arguments


def unique_name(name: str, taken: Set[str]) -> str:
    """Returns ``name``, followed by a number where it is taken: generated modules may have a name twice."""
    free, number = name, 0
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def _bound_to(partner: Operation, arguments: list[tuple[str, Attribute]]) -> Root:
    """Returns ``partner`` on the arguments of the entry; those it does not find there are appended."""
    own = list(arguments)
    theirs = arguments_of(partner)
    types = ([type_ for _, type_ in both] for both in (own, theirs))
    if next(types) == next(types) and not {name for name, _ in own} & {name for name, _ in theirs}:
        return Root(partner, tuple(range(len(own))))
    positions: list[int] = []
    for name, type_ in theirs:
        known = own.index((name, type_)) if (name, type_) in own else None
        if known is None:
            taken = {other for other, _ in arguments}
            arguments.append((unique_name(f"{symbol_of(partner)}.{name}" if name in taken else name, taken), type_))
            known = len(arguments) - 1
        positions.append(known)
    return Root(partner, tuple(positions))


def _partner(function: Operation, symbols: Symbols) -> Operation | None:
    partners = peers(function, symbols)
    if len(partners) > 1:
        listed = ", ".join(f"@{symbol_of(peer)}" for peer in partners)
        message = f"@{symbol_of(function)} has several peers ({listed}); start a function that calls the ones to run"
        raise ProgramError("entry-single", message, span_of(function))
    return partners[0] if partners else None


def peers(function: Operation, symbols: Symbols) -> list[Operation]:
    """Returns the kernels of the other kind that belong to ``function``."""
    mine = kernel_kind(function)
    if mine not in CORE_OF:
        return []
    others = [
        other
        for same_name in symbols.all.values()
        for other in same_name
        if kernel_kind(other) in CORE_OF and kernel_kind(other) != mine
    ]
    related = [other for other in others if _imports(function, other, symbols) or _imports(other, function, symbols)]
    related = related or [other for other in others if _kernel_name(other) == _kernel_name(function)]
    return related or _only_users(function, others, symbols)


def _kernel_name(function: Operation) -> str:
    """Returns the symbol, for an entry without the kind of its core: ``k_cube`` and ``k_vector`` are one kernel."""
    name = symbol_of(function)
    if any(mark in function.attributes for mark in ENTRY_ATTRIBUTES):
        return name.removesuffix(f"_{kernel_kind(function)}")
    return name


def _imports(function: Operation, other: Operation, symbols: Symbols) -> bool:
    """Returns whether ``function`` imports a buffer of ``other``."""
    for op in walk(function):
        symbol = op.attributes.get("peer_func")
        if isinstance(symbol, SymbolRefAttr) and symbols.find(symbol.root_reference.data, op) is other:
            return True
    return False


def _only_users(function: Operation, others: list[Operation], symbols: Symbols) -> list[Operation]:
    """Returns the kernel that is the only other user of a queue of ``function`` in their module."""
    mine = _queues(function)
    rivals = [
        one
        for same_name in symbols.all.values()
        for one in same_name
        if one is not function and kernel_kind(one) == kernel_kind(function) and mine & _queues(one)
    ]
    return [] if rivals else [other for other in others if mine & _queues(other)]


def _queues(function: Operation) -> set[object]:
    """Returns the identities of the queues that a function initializes, each with its direction."""
    inits = [(op, action) for op in walk(function) if (action := queues.action_of(op)) and action.role == "init"]
    handles = [op for op, action in inits if action.core is None]
    ids: set[object] = {(identity(op, order)[0], integer_attribute(op, "dir_mask")) for order, op in enumerate(handles)}
    return ids | {
        (identity(op, 0)[0], integer_attribute(op, "dir_mask")) for op, action in inits if action.core is not None
    }
