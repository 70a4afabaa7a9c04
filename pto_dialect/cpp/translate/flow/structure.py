"""Control flow to a tree: every reducible flow, with a selector variable where paths leave a structure early.

The blocks that a block dominates follow it. Successors with one predecessor are in its branches; blocks that several
paths reach follow, in reverse postorder, each guarded by the selector if some path does not go there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pto_dialect.nesting import EXECUTED, LOOPS

from ...errors import TranslationError
from ...llvm.model import Constant, Function, Instruction, Operand, Value
from ..preparation.prepare import RETURN
from ..reasons import describe
from .cfg import ControlFlow, NaturalLoop
from .tree import Bind, Counted, Do, For, If, Is, Loop, Return, Set, Statement, Tree, Variable

_MAX_NESTING = 60
"""Levels of the tree; choices of numbers among them become no regions."""
_MAX_CHAIN = 8
"""Cases of a switch that are compared one after the other; more are halved, so that they do not nest."""
TOO_DEEP = (
    f"loops and branches are nested deeper than {EXECUTED} levels",
    "join branches that do the same, or replace them by a loop over a table",
)
_TOO_MANY_LOOPS = f"more than {LOOPS} loops are nested", "join loops into one, and compute their counters in it"
_NO_RETURN = "the kernel never ends", "a loop has no end, or a null pointer is accessed here"
_ENDLESS = "the loop never ends", "change its condition in the loop; memory that others write has to be volatile"


class Structurer:
    """Builds the tree of one function."""

    def __init__(
        self, function: Function, flow: ControlFlow, counted: dict[str, Counted], needed: set[Instruction]
    ) -> None:
        self.function = function
        self.flow = flow
        self.counted = counted
        self.needed = needed
        self.variables: dict[Value, Variable] = {}
        self.selector = Variable("target", "i32")
        self.again: dict[str, Variable] = {}
        self.escapes: dict[Value, Variable] = {}
        self.leaving: dict[str, list[Value]] = {}
        self.blocks_of: dict[Value, str] = {}
        self.exits = {header: self._sole_exit(loop) for header, loop in flow.loops.items()}
        """The only edge that leaves a loop; what it assigns follows the loop."""
        self._find_escapes()

    def build(self) -> Tree:
        """Returns the tree. Raises ``TranslationError``."""
        statements: list[Statement] = []
        self._subtree(self.flow.order[0], statements, None, 0)
        if RETURN not in self.flow.number:
            raise LocatedError(self._last_location(), *_NO_RETURN)
        for instruction in self.function.blocks[RETURN].instructions[:-1]:
            statements.append(Bind(instruction, self._variable(instruction)))
        statements.append(Return(self.function.blocks[RETURN].terminator))
        return Tree(statements, self.variables)

    def _last_location(self) -> str:
        """Returns the debug location of the last instruction that has one."""
        blocks = (self.function.blocks[name] for name in reversed(self.flow.order))
        return next((i.debug for block in blocks for i in reversed(block.instructions) if i.debug), "")

    # ------------------------------------------------------------ values that leave loops

    def _find_escapes(self) -> None:
        flow = self.flow
        for name in flow.order:
            for instruction in self.function.blocks[name].instructions:
                self.blocks_of[instruction] = name
        sole = set(self.exits.values())
        for name in flow.order:
            for instruction in self.function.blocks[name].instructions:
                if instruction.opcode == "phi":
                    places = [name if (label, name) in sole else label for label in instruction.labels]
                    uses: Iterable[tuple[object, str]] = zip(instruction.operands, places, strict=True)
                else:
                    uses = ((operand, name) for operand in instruction.operands)
                if instruction in self.needed:
                    for operand, place in uses:
                        self._note_use(operand, place)

    def _sole_exit(self, loop: NaturalLoop) -> tuple[str, str] | None:
        edges = [
            (name, target) for name in loop.blocks for target in self.flow.successors[name] if target not in loop.blocks
        ]
        return edges[0] if len(edges) == 1 else None

    def _note_use(self, operand: object, place: str) -> None:
        if not isinstance(operand, Instruction) or place not in self.flow.number:
            return
        loop = self.flow.innermost.get(self.blocks_of.get(operand, place))
        while loop is not None and place not in loop.blocks:
            if operand not in self.escapes:
                self.escapes[operand] = Variable(operand.name, operand.type, operand)
            leaving = self.leaving.setdefault(loop.header, [])
            if operand not in leaving:
                leaving.append(operand)
            loop = loop.parent

    # ------------------------------------------------------------ blocks

    def _subtree(self, name: str, out: list[Statement], within: NaturalLoop | None, depth: int) -> set[str]:
        """Appends the blocks that ``name`` dominates; returns the blocks where they lead."""
        if depth > _MAX_NESTING:
            place = self.function.blocks[name].terminator
            raise LocatedError(place.debug, *TOO_DEEP)
        pending: set[str] = set()
        while name:
            loop = self.flow.loops.get(name)
            if loop is not None and loop is not within:
                reached = self._loop(loop, out, within, depth)
                merges = self._hoisted(loop, within)
            else:
                reached, merges = self._block(name, out, within, depth)
            pending |= reached
            name = self._merges(merges, pending, out, within, depth)
        return pending

    def _merges(
        self,
        merges: list[str],
        pending: set[str],
        out: list[Statement],
        within: NaturalLoop | None,
        depth: int,
    ) -> str:
        """Appends the blocks ``merges`` in order; returns the last one instead, if nothing but it follows."""
        for merge in merges:
            if merge not in pending:
                continue
            is_sole = pending == {merge}
            pending.discard(merge)
            if is_sole and merge == merges[-1]:
                return merge
            target = out if is_sole else []
            pending |= self._subtree(merge, target, within, depth + (not is_sole))
            if not is_sole:
                out.append(If(Is(self.selector, (self.flow.number[merge],)), target, []))
        return ""

    def _hoisted(self, loop: NaturalLoop, within: NaturalLoop | None) -> list[str]:
        """Returns the blocks after a loop that its blocks dominate, inside the loop around it, in order."""
        found = [
            child
            for name in loop.blocks
            for child in self._children(name)
            if child not in loop.blocks and (within is None or child in within.blocks)
        ]
        return sorted(found, key=self.flow.number.__getitem__)

    def _block(
        self, name: str, out: list[Statement], within: NaturalLoop | None, depth: int
    ) -> tuple[set[str], list[str]]:
        """Appends one block and what its branches contain; returns where it leads and the blocks that follow."""
        block = self.function.blocks[name]
        for instruction in block.instructions[:-1]:
            if instruction in self.needed:
                out.append(
                    Bind(instruction, self._variable(instruction)) if instruction.opcode == "phi" else Do(instruction)
                )
                if instruction in self.escapes:
                    out.append(Set([(self.escapes[instruction], instruction)]))
        inside = [child for child in self._children(name) if within is None or child in within.blocks]
        following = self.flow.successors[name] if len(self.flow.successors[name]) > 1 else ()
        inline = {child for child in inside if len(self._entries(child)) == 1 and child in following}
        merges = sorted((child for child in inside if child not in inline), key=self.flow.number.__getitem__)
        return self._terminator(name, block.terminator, inline, out, within, depth), merges

    def _children(self, name: str) -> list[str]:
        """Returns the blocks that a block immediately dominates, without the return, which is at the end."""
        return [child for child in self.flow.children[name] if child != RETURN]

    def _entries(self, name: str) -> list[str]:
        """Returns the predecessors of a block, without the back edges of its loop."""
        loop = self.flow.loops.get(name)
        return [p for p in self.flow.predecessors[name] if loop is None or p not in loop.blocks]

    def _terminator(
        self,
        name: str,
        terminator: Instruction,
        inline: set[str],
        out: list[Statement],
        within: NaturalLoop | None,
        depth: int,
    ) -> set[str]:
        if terminator.opcode == "unreachable":
            return set()
        if terminator.opcode not in ("br", "switch"):
            raise LocatedError(terminator.debug, *describe(terminator))
        targets = self.flow.successors[name]
        counted = self.counted.get(within.header) if within is not None else None
        if counted is not None and terminator is counted.latch and within is not None:
            return self._edge(name, within.header, set(), out, within, depth)
        if len(targets) == 1:
            return self._edge(name, targets[0], inline, out, within, depth)
        return self._branch(name, terminator, targets, inline, out, within, depth)

    def _branch(
        self,
        name: str,
        terminator: Instruction,
        targets: list[str],
        inline: set[str],
        out: list[Statement],
        within: NaturalLoop | None,
        depth: int,
    ) -> set[str]:
        reached: set[str] = set()
        subject = terminator.operands[0]
        if terminator.opcode == "br":
            then: list[Statement] = []
            otherwise: list[Statement] = []
            reached |= self._edge(name, targets[0], inline, then, within, depth + 1)
            reached |= self._edge(name, targets[1], inline, otherwise, within, depth + 1)
            out.append(If(subject, then, otherwise, terminator.debug))
            return reached
        numbers: dict[str, list[int]] = {}
        for number, label in zip(terminator.cases, terminator.labels[1:], strict=True):
            numbers.setdefault(label, []).append(number)
        default = terminator.labels[0]
        cases = [(target, tuple(numbers[target])) for target in targets if target != default]
        is_chain = len(cases) <= _MAX_CHAIN

        def choose(cases: list[tuple[str, tuple[int, ...]]], has_default: bool, level: int) -> list[Statement]:
            """Returns what executes one of the cases; the default where it is none."""
            nonlocal reached
            if not cases or (len(cases) == 1 and not has_default):
                chosen: list[Statement] = []
                reached |= self._edge(name, cases[0][0] if cases else default, inline, chosen, within, level)
                return chosen
            middle = 1 if is_chain else (len(cases) + 1) // 2
            otherwise = choose(cases[middle:], has_default, level + 1)
            then = choose(cases[:middle], False, level + 1)
            own = tuple(number for _, each in cases[:middle] for number in each)
            return [If(Is(subject, own), then, otherwise, terminator.debug)]

        out.extend(choose(cases, True, depth))
        return reached

    def _edge(
        self,
        source: str,
        target: str,
        inline: set[str],
        out: list[Statement],
        within: NaturalLoop | None,
        depth: int,
    ) -> set[str]:
        """Appends what the edge does, and the block that it leads to if that belongs here."""
        if within is not None and self.exits[within.header] == (source, target):
            out.append(Set(self._again(within, 0)))
            return {target}
        pairs = self._phi_pairs(source, target)
        if target in inline:
            out.append(Set(pairs))
            return self._subtree(target, out, within, depth)
        pairs.append((self.selector, Constant("i32", self.flow.number[target])))
        if within is not None:
            pairs += self._again(within, int(target == within.header))
        out.append(Set(pairs))
        return {target}

    def _again(self, loop: NaturalLoop, number: int) -> list[tuple[Variable, Operand]]:
        """Returns the assignment that states whether a loop continues; a counted one needs none."""
        if loop.header in self.counted:
            return []
        return [(self._again_of(loop.header), Constant("i1", number))]

    def _again_of(self, header: str) -> Variable:
        return self.again.setdefault(header, Variable("again", "i1"))

    def _phi_pairs(self, source: str, target: str) -> list[tuple[Variable, Operand]]:
        pairs: list[tuple[Variable, Operand]] = []
        for instruction in self.function.blocks[target].instructions:
            if instruction.opcode != "phi":
                break
            if instruction in self.needed and not self._is_counter(instruction):
                operand = instruction.operands[instruction.labels.index(source)]
                pairs.append((self._variable(instruction), operand))
        return pairs

    def _is_counter(self, phi: Instruction) -> bool:
        counted = self.counted.get(self.blocks_of[phi])
        return counted is not None and counted.counter is phi

    def _variable(self, phi: Instruction) -> Variable:
        variable = self.variables.get(phi)
        if variable is None:
            variable = self.variables[phi] = Variable(phi.name, phi.type, phi)
        return variable

    # ------------------------------------------------------------ loops

    def _loop(self, loop: NaturalLoop, out: list[Statement], within: NaturalLoop | None, depth: int) -> set[str]:
        header = loop.header
        body: list[Statement] = []
        if len(list(_around(loop))) > LOOPS:
            raise LocatedError(self._loop_debug(loop), *_TOO_MANY_LOOPS)
        reached = self._subtree(header, body, loop, depth + 1)
        debug = self._loop_debug(loop)
        counted = self.counted.get(header)
        if counted is not None:
            self._drop_counter(body, counted)
            out.append(For(counted, body, debug))
        else:
            out.append(Loop(body, self._again_of(header), debug))
        sole = self.exits[header]
        reached.discard(header)
        if not reached and sole is None:
            raise LocatedError(debug, *_ENDLESS)
        out.extend(Bind(value, self.escapes[value]) for value in self.leaving.get(header, ()))
        if sole is not None:
            return self._edge(sole[0], sole[1], set(), out, within, depth)
        leaving = [target for target in reached if within is not None and target not in within.blocks]
        back = within is not None and within.header in reached
        if within is not None and (leaving or back):
            self._leave(within, reached, out)
        return reached

    def _leave(self, within: NaturalLoop, reached: set[str], out: list[Statement]) -> None:
        """Sets whether the enclosing loop continues, after a loop inside it that may have left both."""
        if reached == {within.header}:
            out.append(Set(self._again(within, 1)))
        elif within.header not in reached:
            out.append(Set(self._again(within, 0)))
        else:
            stays = Is(self.selector, (self.flow.number[within.header],))
            out.append(If(stays, [Set(self._again(within, 1))], [Set(self._again(within, 0))]))

    def _drop_counter(self, body: list[Statement], counted: Counted) -> None:
        body[:] = [s for s in body if not (isinstance(s, Bind) and s.value is counted.counter)]

    def _loop_debug(self, loop: NaturalLoop) -> str:
        for name in (*loop.latches, loop.header):
            terminator = self.function.blocks[name].terminator
            if terminator.debug:
                return terminator.debug
        return ""


def _around(loop: NaturalLoop | None) -> Iterator[NaturalLoop]:
    """Yields a loop and those around it."""
    while loop is not None:
        yield loop
        loop = loop.parent


class LocatedError(TranslationError):
    """An error whose location is still the reference of a debug location."""

    def __init__(self, debug: str, message: str, help: str) -> None:
        super().__init__(message, help=help)
        self.debug = debug
