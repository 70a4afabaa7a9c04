"""A tree of statements to text: variables become results of branches and arguments of loops."""

from __future__ import annotations

from collections.abc import Callable

from pto_dialect.nesting import EXECUTED

from ..llvm.model import Instruction
from .accesses import translate_address, translate_load, translate_store
from .blocks import is_block, translate_block
from .bounds import emit_bounds
from .calls import is_interface
from .context import Context
from .emitter import FunctionEmitter
from .flow.liveness import Liveness
from .flow.structure import TOO_DEEP
from .flow.tree import Bind, Do, For, If, Is, Loop, Return, Set, Statement, Variable
from .interface import Call, Emitter, Operand
from .reasons import describe
from .scalars import choose, is_equal, is_one_of, translate_scalar
from .writer import Line

_IGNORED = (
    "llvm.lifetime.",
    "llvm.dbg.",
    "llvm.assume",
    "llvm.invariant.",
    "llvm.experimental.noalias",
    "llvm.donothing",
)
Translate = Callable[[Call, Emitter], str | None]


class TreeEmitter:
    """Emits the statements of one function."""

    def __init__(self, ctx: Context, emitter: FunctionEmitter, liveness: Liveness, translate: Translate) -> None:
        self.ctx = ctx
        self.emitter = emitter
        self.liveness = liveness
        self.translate = translate
        self.writer = ctx.writer
        ctx.choose_tile = self._choose_tile

    def statements(self, statements: list[Statement], live: frozenset[Variable]) -> None:
        """Emits statements; ``live`` are the variables that are read after them."""
        for statement, after in zip(statements, self.liveness.live_after(statements, live), strict=True):
            match statement:
                case Do():
                    self._do(statement.instruction)
                case Bind():
                    operand = self.ctx.variables.get(statement.variable, Operand(statement.variable.type, 0))
                    self.ctx.bind(statement.value, operand)
                case Set():
                    self._set(statement, after)
                case If():
                    self._if(statement, after)
                case Loop():
                    self._loop(statement, after)
                case For():
                    self._for(statement, after)
                case Return():
                    self._return(statement.instruction)

    # ------------------------------------------------------------ instructions

    def _do(self, instruction: Instruction) -> None:
        ctx = self.ctx
        ctx.at(instruction.debug)
        opcode = instruction.opcode
        if opcode == "store":
            translate_store(instruction, ctx)
            return
        if opcode == "call":
            self._call(instruction)
            return
        if opcode == "alloca" or (ctx.memory.address(instruction) is not None and opcode != "select"):
            return
        if opcode == "load":
            result = translate_load(instruction, ctx)
        elif opcode == "getelementptr":
            result = translate_address(instruction, ctx)
        else:
            result = translate_scalar(instruction, ctx)
        if result is None:
            ctx.fail(*describe(instruction, ctx.module.function_names))
        ctx.bind(instruction, result)

    def _choose_tile(self, condition: Operand, then: Operand, otherwise: Operand) -> Operand:
        """Returns the address of one of two tiles that have no address yet."""
        call = self.emitter.begin_choice(condition, then, otherwise)
        self.translate(call, self.emitter)
        return Operand("i64", assigned=call)

    def _call(self, instruction: Instruction) -> None:
        ctx = self.ctx
        if is_interface(instruction):
            call = self.emitter.begin(instruction)
            result = self.emitter.finish(instruction, call, self.translate(call, self.emitter))
            if result is not None:
                ctx.bind(instruction, result)
            return
        if is_block(instruction):
            translate_block(instruction, ctx)
            return
        if instruction.word.startswith(_IGNORED):
            return
        result = translate_scalar(instruction, ctx)
        if result is None:
            ctx.fail(*describe(instruction, ctx.module.function_names))
        ctx.bind(instruction, result)

    def _set(self, statement: Set, after: frozenset[Variable]) -> None:
        wanted = [(variable, source) for variable, source in statement.pairs if variable in after]
        contents = [(variable, self.ctx.operand(source)) for variable, source in wanted]
        self.ctx.variables.update(contents)

    def _return(self, instruction: Instruction) -> None:
        self.ctx.at(instruction.debug)
        names = [self.ctx.name(self.ctx.operand(operand)) for operand in instruction.operands]
        types = [self.ctx.type(operand.type) for operand in instruction.operands]
        self.writer.emit(f"return {', '.join(names)} : {', '.join(types)}" if names else "return")

    # ------------------------------------------------------------ branches

    def _condition(self, statement: If) -> Operand:
        if not isinstance(statement.condition, Is):
            return self.ctx.operand(statement.condition)
        subject = statement.condition.subject
        if isinstance(subject, Variable):
            content = self.ctx.variables.get(subject, Operand(subject.type, 0))
        else:
            content = self.ctx.operand(subject)
        return is_one_of(self.ctx, content, statement.condition.numbers)

    def _if(self, statement: If, after: frozenset[Variable]) -> None:
        ctx = self.ctx
        ctx.at(statement.debug)
        condition = self._condition(statement)
        if condition.value is not None:
            self.statements(statement.then if condition.value else statement.otherwise, after)
            return
        live = sorted(after, key=lambda variable: variable.number)
        before = {variable: ctx.variables.get(variable) for variable in self.liveness.of(statement).assigned}
        location = self.writer.location
        start = len(self.writer.lines)
        opening = self.writer.bare("")
        first = self._branch(statement.then, after, live)
        turn = len(self.writer.lines)
        middle = self.writer.bare("} else {")
        self._restore(before)
        second = self._branch(statement.otherwise, after, live)
        self._restore(before)
        frame = _Frame(opening, middle, start, turn, location)
        if self._is_simple(frame):
            self._dissolve(frame)
            self._choose(condition, live, first, second)
        elif frame.opening.depth >= EXECUTED:
            ctx.fail(*TOO_DEEP, debug=statement.debug)
        else:
            self._join(frame, condition, live, first, second)

    def _restore(self, contents: dict[Variable, Operand | None]) -> None:
        for variable, content in contents.items():
            if content is None:
                self.ctx.variables.pop(variable, None)
            else:
                self.ctx.variables[variable] = content

    def _branch(
        self, statements: list[Statement], after: frozenset[Variable], live: list[Variable]
    ) -> list[Operand | None]:
        """Emits a branch; returns what the variables contain at its end."""
        with self.writer.region():
            self.statements(statements, after)
            return [self.ctx.settled(self.ctx.variables.get(variable), variable) for variable in live]

    def _is_simple(self, frame: _Frame) -> bool:
        """Returns whether the branches only compute a few numbers, which may be computed in any case."""
        inner = [line for line in self.writer.lines[frame.start + 1 :] if line is not frame.middle]
        return len(inner) <= _MAX_COMPUTED and all(
            line.is_pure and " = arith.div" not in line.text and " = arith.rem" not in line.text for line in inner
        )

    def _dissolve(self, frame: _Frame) -> None:
        """Takes the lines of the branches out of them."""
        inner = [line for line in self.writer.lines[frame.start + 1 :] if line is not frame.middle]
        for line in inner:
            line.depth -= 1
        self.writer.lines[frame.start :] = inner

    def _choose(
        self,
        condition: Operand,
        live: list[Variable],
        first: list[Operand | None],
        second: list[Operand | None],
    ) -> None:
        """Selects between the values of two simple branches."""
        ctx = self.ctx
        for variable, then, otherwise in zip(live, first, second, strict=True):
            if then is None or otherwise is None:
                content = otherwise if then is None else then
                if content is not None:
                    ctx.variables[variable] = content
            elif variable.type == "ptr" and not is_equal(then, otherwise):
                names = [ctx.name(condition), ctx.passed(then, variable), ctx.passed(otherwise, variable)]
                body = f"arith.select {', '.join(names)} : {ctx.variable_type(variable)}"
                ctx.variables[variable] = ctx.received(ctx.writer.define(body, variable.hint, True), variable)
            else:
                ctx.variables[variable] = choose(ctx, condition, then, otherwise, variable.hint)

    def _join(
        self,
        frame: _Frame,
        condition: Operand,
        live: list[Variable],
        first: list[Operand | None],
        second: list[Operand | None],
    ) -> None:
        """Writes the begin and end of a branch, and its results."""
        ctx, writer = self.ctx, self.writer
        names: list[str] = []
        types: list[str] = []
        yields: list[tuple[str, str]] = []
        for variable, then, otherwise in zip(live, first, second, strict=True):
            if then is not None and otherwise is not None and is_equal(then, otherwise):
                ctx.variables[variable] = then
            elif then is not None or otherwise is not None:
                names.append(writer.fresh(variable.hint))
                types.append(ctx.variable_type(variable))
                yields.append((ctx.passed(then, variable), ctx.passed(otherwise, variable)))
                ctx.variables[variable] = ctx.received(names[-1], variable)
        name = ctx.name(condition)
        is_empty = frame.turn == frame.start + 1
        if not names and is_empty:
            line = Line("", frame.opening.depth, (writer.fresh("not"),), True)
            line.text = f"{line.results[0]} = arith.xori {name}, {ctx.constant(1, 'i1')} : i1{frame.location}"
            name = line.results[0]
            writer.lines.pop(frame.turn)
            writer.lines.insert(frame.start, line)
        elif not names and writer.lines[-1] is frame.middle:
            writer.lines.pop()
        result = f"{', '.join(names)} = " if names else ""
        frame.opening.results = tuple(names)
        frame.opening.text = f"{result}scf.if {name}{f' -> ({chr(44).join(types)})' if names else ''} {{"
        if names:
            depth = frame.opening.depth + 1
            text = ", ".join(types)
            writer.lines.insert(frame.turn, Line(f"scf.yield {', '.join(y for y, _ in yields)} : {text}", depth))
            writer.lines.append(Line(f"scf.yield {', '.join(y for _, y in yields)} : {text}", depth))
        writer.lines.append(Line("}" + frame.location, frame.opening.depth))

    # ------------------------------------------------------------ loops

    def _enter(self, variables: list[Variable]) -> tuple[list[str], list[str]]:
        """Gives loop arguments names; returns these and what they contain first."""
        initial = [self.ctx.passed(self.ctx.variables.get(variable), variable) for variable in variables]
        return [self.writer.fresh(variable.hint) for variable in variables], initial

    def _receive(self, names: list[str], variables: list[Variable]) -> None:
        for name, variable in zip(names, variables, strict=True):
            self.ctx.variables[variable] = self.ctx.received(name, variable)

    def _contents(self, variables: list[Variable]) -> list[str]:
        return [self.ctx.passed(self.ctx.variables.get(variable), variable) for variable in variables]

    def _types(self, variables: list[Variable]) -> str:
        return ", ".join(self.ctx.variable_type(variable) for variable in variables)

    def _refuse_deep(self) -> None:
        if len(self.writer.scopes) > EXECUTED:
            self.ctx.fail(*TOO_DEEP)

    def _loop(self, statement: Loop, after: frozenset[Variable]) -> None:
        ctx, writer = self.ctx, self.writer
        body = self.liveness.of_list(statement.body)
        again = frozenset((statement.again,))
        needed = body.assigned & (body.reads | (after - body.surely))
        carried = sorted(needed - again, key=lambda variable: variable.number)
        results = [*carried, *sorted((after - needed) - again, key=lambda variable: variable.number)]
        ctx.at(statement.debug)
        self._refuse_deep()
        location = writer.location
        arguments, initial = self._enter(carried)
        names = [writer.fresh(variable.hint) for variable in results]
        bindings = ", ".join(f"{a} = {i}" for a, i in zip(arguments, initial, strict=True))
        head = f"({bindings}) : ({self._types(carried)})" if carried else ": ()"
        result = f"{', '.join(names)} = " if names else ""
        opening = writer.bare(f"{result}scf.while {head} -> ({self._types(results)}) {{")
        opening.results = tuple(names)
        with writer.region():
            self._receive(arguments, carried)
            self.statements(statement.body, after | needed | again)
            condition = ctx.name(ctx.variables.get(statement.again, Operand("i1", 0)))
            contents = self._contents(results)
            tail = f" {', '.join(contents)} : {self._types(results)}" if results else ""
            writer.bare(f"scf.condition({condition}){tail}")
        writer.bare("} do {")
        with writer.region():
            if results:
                passed = [writer.fresh(variable.hint) for variable in results]
                header = ", ".join(f"{n}: {ctx.variable_type(v)}" for n, v in zip(passed, results, strict=True))
                writer.bare(f"^bb0({header}):").depth -= 1
                kept = passed[: len(carried)]
                writer.bare(f"scf.yield {', '.join(kept)} : {self._types(carried)}" if carried else "scf.yield")
            else:
                writer.bare("scf.yield")
        writer.bare("}" + location)
        self._receive(names, results)

    def _for(self, statement: For, after: frozenset[Variable]) -> None:
        ctx, writer = self.ctx, self.writer
        body = self.liveness.of_list(statement.body)
        carried = sorted((body.assigned & (body.reads | after)), key=lambda variable: variable.number)
        ctx.at(statement.debug)
        self._refuse_deep()
        location = writer.location
        bounds = emit_bounds(statement.counted, ctx)
        arguments, initial = self._enter(carried)
        names = [writer.fresh(variable.hint) for variable in carried]
        result = f"{', '.join(names)} = " if names else ""
        bindings = ", ".join(f"{a} = {i}" for a, i in zip(arguments, initial, strict=True))
        tail = f" iter_args({bindings}) -> ({self._types(carried)})" if carried else ""
        counter = writer.fresh(bounds.hint)
        head = f"scf.for {counter} = {bounds.lower} to {bounds.upper} step {bounds.step}"
        opening = writer.bare(f"{result}{head}{tail} {{")
        opening.results = tuple(names)
        with writer.region():
            bounds.bind(counter, ctx)
            self._receive(arguments, carried)
            self.statements(statement.body, after | frozenset(carried))
            if carried:
                contents = self._contents(carried)
                writer.bare(f"scf.yield {', '.join(contents)} : {self._types(carried)}")
        writer.bare("}" + location)
        self._receive(names, carried)


_MAX_COMPUTED = 6


class _Frame:
    """The begin and the middle of a branch that is being written."""

    def __init__(self, opening: Line, middle: Line, start: int, turn: int, location: str) -> None:
        self.opening = opening
        self.middle = middle
        self.start = start
        self.turn = turn
        self.location = location
