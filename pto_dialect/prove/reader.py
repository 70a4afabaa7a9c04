"""A function as a model: statements in their loops and branches, calls replaced by what they run.

Source: docs/reference/order-proof.md, "Model".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from xdsl.dialects.builtin import SymbolRefAttr, UnregisteredOp
from xdsl.ir import Block, Operation, Region, SSAValue

from pto_dialect.analysis.hand_overs import HandOvers
from pto_dialect.analysis.scalar_cache import stores_asynchronously
from pto_dialect.analysis.symbols import Symbols
from pto_dialect.analysis.target import profile_of
from pto_dialect.analysis.type_facts import is_simt_entry
from pto_dialect.ir.core.base import Effect, PtoOp, op_spec, section_of, symbol_of
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.facts.pipe import Pipe
from pto_dialect.ir.core.facts.unit_flags import unit_check
from pto_dialect.ir.core.roles import Role, enclosing, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.core_dialects.func import FuncOp
from pto_dialect.ir.core_dialects.structured import is_for, is_if, is_while
from pto_dialect.targets.profile import Profile

from .accesses import accesses_of
from .blocks import Entries, blocks_in_order, numbers_of_successors
from .carried import Bounds, LoopNumbers, Repetition, bind_carried
from .carried_handles import LoopPlaces, any_of, bind_handles, bind_repeated
from .cores.between import CORES, channelled
from .cores.outside import assumed_for, involves_others, steps_of
from .expressions import FALSE, TRUE, Condition, Ordinal, both, negated
from .model import Access, Graph, Interval, Loop, Model, Node, Signal, Statement, UndecidedError
from .order_rules import CUBE
from .places import GLOBAL, MEMORY, Places
from .scopes import summary
from .signals import signal_of
from .values import Launch, Numbers, bind_arguments, launch_facts

_MOST = 20_000
"""Statements and loops of one function that are read."""
_DEEPEST = 24
"""The most loops that surround a statement: sets have two dimensions for each."""


def read_function(function: Operation, core: str | None, target: str | None) -> Model:
    """Returns the model of a function as the cores of kind ``core`` run it. Raises :class:`UndecidedError`."""
    profile = profile_of(function, target)
    launch = Launch()
    reader = _Reader(core, profile, function)
    reader.whole(function, launch)
    facts = [("", fact) for fact in launch_facts(launch.symbols)]
    assumed = tuple(reader.assumed)
    return Model(
        symbol_of(function),
        function,
        core,
        profile.arch,
        reader.body,
        reader.course,
        reader.statements,
        launch.symbols,
        facts,
        assumed,
    )


def read_block(function: Operation, target: str | None) -> Model:
    """Returns the model of a function as the cores of a block run it together. Raises :class:`UndecidedError`."""
    profile = profile_of(function, target)
    launch = Launch()
    body: list[Statement | Loop] = []
    course: list[Statement | Graph] = []
    statements: list[Statement] = []
    assumed: dict[str, None] = {}
    last = 0
    for number in CORES:
        launch.core = number
        reader = _Reader("cube" if number == CUBE else "vector", profile, function, number, is_block=True)
        reader.count = last
        reader.whole(function, launch)
        last = reader.count
        body += reader.body
        course += reader.course
        statements += reader.statements
        assumed |= reader.assumed
    facts = [("", fact) for fact in launch_facts(launch.symbols)]
    return Model(
        symbol_of(function),
        function,
        "block",
        profile.arch,
        body,
        course,
        statements,
        launch.symbols,
        facts,
        tuple(assumed),
        len(CORES),
    )


class _Reader:
    """Collects the statements of one function, for the core ``number`` of a block if ``is_block``."""

    def __init__(
        self, core: str | None, profile: Profile, function: Operation, number: int = 0, is_block: bool = False
    ) -> None:
        self.core = core
        self.number = number
        self.is_block = is_block
        self.profile = profile
        self.symbols = Symbols()
        self.body: list[Statement | Loop] = []
        self.course: list[Statement | Graph] = []
        self.statements: list[Statement] = []
        self.count = 0
        # If there are sections for one kind of core, it also runs the code outside of them.
        self.alone = {section_of(inner) for inner in walk(function)} <= {core, "simt", ""}
        self.calls: list[Operation] = []
        self.assumed: dict[str, None] = {}
        """What the verdict rests on."""
        self.hand_overs: dict[Operation, HandOvers] = {}
        """By function."""

    def whole(self, function: Operation, launch: Launch) -> None:
        """Reads the whole body of a function."""
        numbers = LoopNumbers(launch)
        places = LoopPlaces(self.profile, numbers)
        places.assumed = self.assumed
        args = function.regions[0].blocks[0].args
        bind_arguments(numbers, args)
        for value in args:
            if isinstance(value.type, MEMORY):
                places.bind(value, (places.argument(value),))
        where = _Where(self.body, self.course, (), (), TRUE, True, self.core is None or self.alone)
        self.blocks(function.regions[0], where, numbers, places)

    def blocks(self, region: Region, where: _Where, numbers: Numbers, places: Places) -> None:
        """Reads the blocks of a region."""
        if len(region.blocks) == 1:
            self.block(region.block, where, numbers, places)
            return
        order, goes_back = blocks_in_order(region)
        if goes_back:
            self.cycle(order, where, numbers, places)
            return
        entries = Entries(numbers, places)
        nodes: list[Node] = []
        for block in order:
            entries.bind(block)
            here = where.when(entries.condition(block)).part()
            self.block(block, here, numbers, places)
            entries.leave(block)
            nodes.append(Node(here.course, numbers_of_successors(block, order)))
        where.course.append(Graph(nodes))

    def cycle(self, order: list[Block], where: _Where, numbers: Numbers, places: Places) -> None:
        """Reads blocks with branches that go back, as a loop of which each iteration is one of the blocks."""
        op = order[0].parent_op()
        assert op is not None
        loop = Loop(op, self._next(), Ordinal("step", 0), None, None, None)
        numbers.loops += 1
        nodes: list[Node] = []
        for block in order:
            for argument in block.args if block is not order[0] else ():
                if isinstance(argument.type, MEMORY):
                    places.bind(argument, any_of(places, argument))
                else:
                    numbers.bind(argument, None)
            here = where.inside(loop, False)
            self.block(block, here, numbers, places)
            nodes.append(Node(here.course, numbers_of_successors(block, order), loop))
        numbers.loops -= 1
        where.course.append(Graph(nodes))
        if loop.body:
            where.body.append(loop)

    def block(self, block: Block, where: _Where, numbers: Numbers, places: Places) -> None:
        """Reads the operations of a block."""
        for op in block.ops:
            section = section_of(op)
            if section and self.core is not None and section != "simt":
                if section == self.core:
                    self.block(op.regions[0].block, where.mine(), numbers, places)
            elif section and section != "simt":
                self.block(op.regions[0].block, where, numbers, places)
            else:
                self.operation(op, where, numbers, places)

    def operation(self, op: Operation, where: _Where, numbers: Numbers, places: Places) -> None:
        """Reads one operation."""
        if is_for(op):
            self.loop(op, where, numbers, places)
        elif is_while(op) and all(len(region.blocks) == 1 for region in op.regions):
            self.repeats(op, where, numbers, places)
        elif is_if(op):
            self.branches(op, where, numbers, places)
        elif has_role(op, Role.CALL):
            self.call(op, where, numbers, places)
        elif has_role(op, Role.SCOPE) and not self._has_signals(op):
            self.add(op, where, Pipe.V, summary(op, numbers, places), None)
        elif has_role(op, Role.SCOPE):
            if op.operands:
                raise UndecidedError(op, "signals in it are not followed")
            self.block(op.regions[0].block, where, numbers, places)
        elif has_role(op, Role.LAUNCH) or section_of(op) == "simt":
            self.add(op, where, Pipe.V, self.launched(op, places), None)
        elif op.regions and not has_role(op, Role.SCALAR):
            self.opaque(op)
        elif where.is_mine:
            self.leaf(op, where, numbers, places)

    def _has_signals(self, op: Operation) -> bool:
        return any(has_role(inner, Role.PIPES | Role.LOCK) for inner in walk(op))

    def opaque(self, op: Operation) -> None:
        """An operation with regions whose course is not followed."""
        if any(inner is not op and self._works(inner) for inner in walk(op)):
            raise UndecidedError(op, f"{op.name} is not followed")

    # ------------------------------------------------------------ control flow

    def loop(self, op: Operation, where: _Where, numbers: Numbers, places: Places) -> None:
        """A counted loop."""
        bounds = Bounds(numbers, op)
        bind_carried(numbers, op, bounds)
        bind_handles(places, op, bounds)
        loop = Loop(op, self._next(), bounds.ordinal, bounds.goes_on, bounds.counter, bounds.trips)
        inside = where.inside(loop, bounds.goes_on is not None)
        self.block(op.regions[0].block, inside, numbers, places)
        trips = None if bounds.trips is None else bounds.trips.value
        first = (Node([], (1, 2)),) if not trips else ()
        start = len(first)
        where.course.append(Graph([*first, Node(inside.course, (start, start + 1), loop), Node([], ())]))
        if loop.body:
            where.body.append(loop)

    def repeats(self, op: Operation, where: _Where, numbers: Numbers, places: Places) -> None:
        """Reads a loop with a condition."""
        before, body = op.regions
        found = Repetition(numbers, op)
        bind_repeated(places, op, found.ordinal)
        # What decides runs once more than what it decides about.
        trips = None if found.trips is None else found.trips.plus(1)
        loop = Loop(op, self._next(), found.ordinal, found.decides, None, trips)
        inside = where.inside(loop, found.goes_on is not None)
        self.block(before.block, inside, numbers, places)
        then = inside.when(found.goes_on).part()
        self.block(body.block, then, numbers, places)
        where.course.append(Graph([Node(inside.course, (1, 2), loop), Node(then.course, (0,)), Node([], ())]))
        if loop.body:
            where.body.append(loop)

    def _works(self, op: Operation) -> bool:
        """Returns whether an operation does more than to compute, or may."""
        if isinstance(op, PtoOp) and form_of(op, self.profile.arch).pipe is not None:
            return True
        return has_role(op, Role.CALL | Role.ELEMENT_STORE | Role.ELEMENT_LOAD)

    def branches(self, op: Operation, where: _Where, numbers: Numbers, places: Places) -> None:
        """Regions of which one runs."""
        condition = numbers.condition(op.operands[0])
        ways: list[Node] = []
        for region, chosen in zip(op.regions, (True, False), strict=False):
            when = condition if condition is None or chosen else negated(condition)
            if when == FALSE:
                continue
            here = where.when(when).part()
            if region.blocks:
                self.block(region.block, here, numbers, places)
            ways.append(Node(here.course, ()))
        end = len(ways) + 1
        for way in ways:
            way.next = (end,)
        where.course.append(Graph([Node([], tuple(range(1, end))), *ways, Node([], ())]))

    def call(self, op: Operation, where: _Where, numbers: Numbers, places: Places) -> None:
        """A function that runs where it is called."""
        callee = self.symbols.callee(op)
        if callee is not None and is_simt_entry(callee):
            self.add(op, where, Pipe.V, self.launched(op, places), None)
            return
        if callee is None or not callee.body.blocks or any(each is callee for each in self.calls):
            raise UndecidedError(op, "the function that it calls is not known, or calls itself")
        inner = LoopNumbers(numbers.launch, len(where.loops), (*numbers.calls, op))
        inner_places = LoopPlaces(self.profile, inner)
        inner_places.assumed = self.assumed
        for argument, given in zip(callee.body.blocks[0].args, op.operands, strict=True):
            if isinstance(argument.type, MEMORY):
                inner_places.bind(argument, places.of(given))
            else:
                inner.bind(argument, numbers.number(given))
        self.calls.append(callee)
        self.blocks(callee.body, where, inner, inner_places)
        self.calls.pop()
        last = callee.body.block.last_op if len(callee.body.blocks) == 1 else None
        for result, value in zip(op.results, last.operands if last is not None else (), strict=False):
            if isinstance(result.type, MEMORY):
                places.bind(result, inner_places.of(value))
            else:
                numbers.bind(result, inner.number(value))

    def launched(self, op: Operation, places: Places) -> tuple[Access, ...]:
        """Work-items read and write the memory from all their pointers on, and any memory that they address."""
        found: list[Access] = []
        values = [value for value in (*op.operands, *_used_from_outside(op)) if isinstance(value.type, MEMORY)]
        for place in dict.fromkeys(place for value in values for place in places.of(value)):
            part = None if place.offset is None else Interval(place.offset, None)
            for writes in (False, True):
                found.append(Access(op, writes, place.space, place.root, part, place.condition, False))
        if self._addresses_memory(op):
            for space in ("ub", GLOBAL):
                found += [Access(op, writes, space, None, None, TRUE, False) for writes in (False, True)]
        return tuple(found)

    def _addresses_memory(self, op: Operation) -> bool:
        """Returns whether work-items may access memory that they were not given."""
        bodies: list[Operation] = [op]
        if not op.regions:
            name = op.properties.get("callee") or op.attributes.get("callee")
            callee = self.symbols.find(op, name.root_reference.data) if isinstance(name, SymbolRefAttr) else None
            if callee is None or any(has_role(inner, Role.CALL) for inner in walk(callee)):
                return True
            bodies.append(callee)
        own = Role.ADDRESS | Role.ALLOCATION
        return any(has_role(inner, own) for body in bodies for inner in walk(body))

    # ------------------------------------------------------------ operations

    def leaf(self, op: Operation, where: _Where, numbers: Numbers, places: Places) -> None:
        """An operation without regions."""
        arch = self.profile.arch
        if not isinstance(op, PtoOp):
            if isinstance(op, UnregisteredOp):
                raise UndecidedError(op, "nobody knows what it does")
            found = accesses_of(op, places)
            if found:
                self.add(op, where, Pipe.S, found, None, stores_asynchronously(op, arch))
            return
        spec = op_spec(type(op))
        if involves_others(op):
            self.assumed.update(dict.fromkeys(assumed_for(op)))
            steps = steps_of(op, places)
            if self.is_block:
                steps = channelled(op, steps, self.number, numbers, arch)
            for step in steps:
                self.add(op, where, step.pipe, step.accesses, step.signal)
            return
        signal = signal_of(op, numbers, arch)
        form = form_of(op, arch)
        if spec.pipes and signal is None:
            raise UndecidedError(op, f"{op.name} works on several pipes")
        found = accesses_of(op, places) if spec.effect is not Effect.HANDLE else ()
        pipe = form.pipe
        if signal is not None:
            pipe = signal.target if signal.kind == "wait" else signal.source
        if pipe is None or (not found and signal is None):
            return
        if pipe is Pipe.ALL:
            raise UndecidedError(op, f"{op.name} works on several pipes")
        self.add(op, where, pipe, found, signal, stores_asynchronously(op, arch))

    def add(
        self,
        op: Operation,
        where: _Where,
        pipe: Pipe,
        accesses: tuple[Access, ...],
        signal: Signal | None,
        asynchronous: bool = False,
    ) -> None:
        """A statement at a position in the text."""
        if not where.is_mine:
            return
        number = self._next()
        position = (*where.position, number)
        statement = Statement(
            op,
            number,
            pipe,
            where.loops,
            position,
            where.condition,
            where.certain,
            accesses,
            signal,
            asynchronous,
            self.number,
            self._handed(op),
        )
        where.body.append(statement)
        where.course.append(statement)
        self.statements.append(statement)

    def _handed(self, op: Operation) -> SSAValue | None:
        """Returns the accumulator that an operation hands over alternately with others of its function."""
        if not unit_check(op):
            return None
        function = enclosing(op, Role.FUNCTION) or op
        if function not in self.hand_overs:
            self.hand_overs[function] = HandOvers(function)
        return self.hand_overs[function].of(op)

    def _next(self) -> int:
        self.count += 1
        if self.count > _MOST:
            raise UndecidedError(None, f"it has more than {_MOST} operations")
        return self.count


class _Where(NamedTuple):
    """A position in the text: what surrounds it, and where the statements there are collected."""

    body: list[Statement | Loop]
    course: list[Statement | Graph]
    loops: tuple[Loop, ...]
    position: tuple[int, ...]
    condition: Condition
    certain: bool
    is_mine: bool

    def mine(self) -> _Where:
        """Returns the same position in a section of the core."""
        return self._replace(is_mine=True)

    def part(self) -> _Where:
        """Returns the same position in a part of the course of its own."""
        return self._replace(course=[])

    def when(self, condition: Condition | None) -> _Where:
        """Returns the same position where a condition holds; ``None`` is one that nobody knows."""
        known = self.condition if condition is None else both(self.condition, condition)
        return self._replace(condition=known, certain=self.certain and condition is not None)

    def inside(self, loop: Loop, certain: bool) -> _Where:
        """Returns the position at the beginning of the body of a loop."""
        position = (*self.position, loop.number)
        loops = (*self.loops, loop)
        if len(loops) > _DEEPEST:
            raise UndecidedError(loop.op, f"it is inside {_DEEPEST} other loops")
        certain = self.certain and certain
        return self._replace(body=loop.body, course=[], loops=loops, position=position, certain=certain)


def _used_from_outside(op: Operation) -> Iterator[SSAValue]:
    """Yields the values from outside of its regions that an operation uses there."""
    inside = {id(result) for inner in walk(op) if inner is not op for result in inner.results}
    inside |= {
        id(arg) for inner in walk(op) for region in inner.regions for block in region.blocks for arg in block.args
    }
    for inner in walk(op):
        if inner is not op:
            yield from (value for value in inner.operands if id(value) not in inside)


def entry_functions(module: Operation) -> Iterator[Operation]:
    """Yields the functions with a body that no other function calls or launches; of functions that only call each other
    the first."""
    functions = [op for op in walk(module) if isinstance(op, FuncOp) and op.regions[0].blocks and not is_simt_entry(op)]
    called = {one.sym_name.data: set(_called(one)) for one in functions}
    everywhere = set().union(*called.values())
    found = {name for name in called if name not in everywhere}
    reached = _reached(found, called)
    for one in functions:
        name = one.sym_name.data
        if name in found or name not in reached:
            reached |= _reached({name}, called)
            yield one


def _called(function: Operation) -> Iterator[str]:
    for op in walk(function):
        if has_role(op, Role.CALL | Role.LAUNCH):
            callee = op.properties.get("callee") or op.attributes.get("callee")
            yield str(callee).removeprefix("@").strip('"')


def _reached(names: set[str], called: Mapping[str, set[str]]) -> set[str]:
    """Returns the functions that some functions call, directly or through others, and these themselves."""
    reached, pending = set(names), list(names)
    while pending:
        for name in called.get(pending.pop(), set()) - reached:
            reached.add(name)
            pending.append(name)
    return reached


def cores_of(function: Operation) -> list[str | None]:
    """Returns the kinds of cores with sections in a function; ``None`` stands for the one that runs a function
    without."""
    sections = {section_of(op) for op in walk(function)}
    found = [name for name in ("cube", "vector") if name in sections]
    return [*found] if found else [None]
