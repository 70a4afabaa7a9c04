"""Compiles the functions of a module to Python and finds the operation of an error.

Source: docs/reference/execution.md, "Launches".
"""

from __future__ import annotations

import linecache
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from types import TracebackType
from typing import Any

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnregisteredOp
from xdsl.ir import Operation

from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core.base import is_pto, symbol_of
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import OpaqueType
from pto_dialect.nesting import EXECUTED, LOOPS, RULE
from pto_dialect.targets.profile import Profile

from ..errors import ProgramError
from ..kernels.core.control import function_body
from ..kernels.registry import generate
from ..run.machine import RunOptions
from ..run.profiling import ProfileLog
from ..simt.code import find_code
from .emit import Emitter
from .generator import Generator
from .names import Kind
from .program import Program, find_entry, find_program, functions_by_unit, functions_of
from .source_check import BUILTINS, check_source
from .unit import Unit
from .variants import PLAIN, Variant

# ------------------------------------------------------------ listing


_WIDEST = 160
"""Maximum number of characters of a line of the program in a comment."""


def listing(lines: Sequence[str], origin: Iterable[Operation | None]) -> str:
    """Returns ``lines`` of Python, with a comment where another line of the program starts; ``origin`` has the
    operation of each. Code of operations without a source location has no comment of its own."""
    shown: list[str] = []
    # The first line is no comment, so no later line can name the encoding of a file that the text is written to.
    previous: tuple[SourceFile, int] | None = None
    for number, (line, op) in enumerate(zip(lines, origin, strict=True)):
        span = span_of(op) if number else None
        if span is not None:
            position = (span.source, span.line)
            if position != previous:
                previous = position
                indent = line[: len(line) - len(line.lstrip(" "))]
                shown.append(f"{indent}# {span.line}: {comment(span.source.line_text(span.line))}")
        shown.append(line)
    return "\n".join(shown) + "\n"


def comment(text: str) -> str:
    """Returns a line of a program as it can follow ``#``: nothing in it ends a line or changes how others are read.

    Characters that are not printed are escaped, among them all that end lines somewhere, marks of direction and halves
    of surrogate pairs.
    """
    text = text.strip()
    if len(text) > _WIDEST:
        text = text[: _WIDEST - 1] + "…"
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


# ------------------------------------------------------------ depth of nesting


def refuse_deep(function: Operation) -> None:
    """Raises ``ProgramError`` for the first operation of ``function`` that is nested too deep to be executed."""
    stack: list[tuple[Operation | None, int, int]] = [
        (block.first_op, 0, 0) for region in function.regions for block in region.blocks
    ]
    while stack:
        op, loops, regions = stack.pop()
        while op is not None:
            if op.regions:
                inner = loops + (has_role(op, Role.LOOP))
                if inner > LOOPS or regions + 1 > EXECUTED:
                    what, limit = ("loops", LOOPS) if inner > LOOPS else ("regions", EXECUTED)
                    message = f"{what} that are executed nest at most {limit} deep; call a function for the inner ones"
                    raise ProgramError(RULE, message, span_of(op))
                stack += [(block.first_op, inner, regions + 1) for region in op.regions for block in region.blocks]
            op = op.next_op


__all__ = ["CompiledModule", "compile_module", "find_entry", "functions_of"]

_numbers = count(1)


@dataclass
class CompiledModule:
    """Functions of one module as Python: source text, callables, and the operation of each line.

    ``functions`` maps a symbol to its callable, ``callables`` a function of the module; callables take the core and the
    arguments.
    """

    source: str
    filename: str
    origin: list[Operation | None]
    functions: dict[str, Callable[..., Any]]
    callables: dict[Operation, Callable[..., Any]]
    queued: bool
    holds: bool = False
    """Whether some operands of products are arrays of the code."""

    def listing(self) -> str:
        """Returns the source text with the lines of the program as comments."""
        return listing(self.source.split("\n")[:-1], self.origin)

    def locate(self, trace: TracebackType | None) -> Operation | None:
        """Returns the operation whose code raised an exception."""
        innermost: Operation | None = None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.filename:
                innermost = self.at_line(trace.tb_lineno)
            trace = trace.tb_next
        return innermost

    def location_of(self, program: Any) -> Operation | None:
        """Returns the operation at which a program of a core has stopped."""
        stack = self.stack_of(program)
        return stack[-1] if stack else None

    def stack_of(self, program: Any) -> list[Operation]:
        """Returns the same after the calls that lead to it, outermost first."""
        stack: list[Operation] = []
        while program is not None:
            frame = getattr(program, "gi_frame", None)
            if frame is not None and frame.f_code.co_filename == self.filename:
                op = self.at_line(frame.f_lineno)
                stack += [op] if op is not None else []
            program = getattr(program, "gi_yieldfrom", None)
        return stack

    def at_line(self, line: int) -> Operation | None:
        """Returns the operation that wrote a line of the source."""
        return self.origin[line - 1] if 0 < line <= len(self.origin) else None


def compile_module(
    module: ModuleOp,
    entry: str,
    profile: Profile,
    options: RunOptions,
    *,
    queued: bool = False,
    profile_log: ProfileLog | None = None,
    program: Program | None = None,
    variant: Variant = PLAIN,
    generator_class: Callable[..., Generator] = Generator,
) -> CompiledModule:
    """Compiles ``entry``, its peer kernel if it has one, and the functions they call.

    ``queued`` selects code that hands instructions to pipe queues instead of running them in program order (the only
    code for cores that wait for each other), ``profile_log`` code that times every instruction; ``program`` is the
    result of ``find_program`` for the entry, ``variant`` the code generation variant, and ``generator_class`` its
    generator. Raises ``ProgramError`` for an operation that cannot be executed.
    """
    program = program or find_program(module, entry, profile.arch)
    queued = queued or variant.queued or program.cooperative
    emitter = Emitter()
    code = find_code(program, variant.each_access)
    outer, inner = functions_by_unit(program) if queued else (program.functions, ())

    def named(functions: Iterable[Operation], kind: Kind) -> dict[Operation, str]:
        return {function: emitter.fresh(symbol_of(function), kind) for function in functions}

    names = named((function for function in outer if function in code.scalar), Kind.FUNCTION)
    inner_names = named((function for function in inner if function in code.scalar), Kind.SCOPE_FUNCTION)
    bodies = named(code.bodies, Kind.ITEMS_FUNCTION)
    emitter.line(repr(f"{', '.join(names.values())} for {profile.name}"))
    unit = Unit(program, profile, names, inner_names, code, bodies)
    _refuse_unknown(program.operations)
    for function in program.functions:
        refuse_deep(function)
    make_generator = partial(generator_class, emitter, profile, options, unit, generate)
    for function in names:
        _function(function, names, make_generator(queued, variant, profile_log))
    for function in inner_names:
        _function(function, inner_names, make_generator(False, variant, profile_log))
    for function in code.bodies:
        _body(function, make_generator(False, variant, profile_log))
    source = emitter.source()
    check_source(source, emitter.identifiers.kinds)
    filename = f"<pto {next(_numbers)}>"
    namespace: dict[str, Any] = {"__builtins__": {}, **BUILTINS, **emitter.constants}
    exec(compile(source, filename, "exec"), namespace)
    compiled = {function: namespace[name] for function, name in names.items()}
    symbols = {symbol_of(function): run for function, run in reversed(compiled.items())}
    module_code = CompiledModule(source, filename, emitter.origin, symbols, compiled, queued, unit.holds)
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    weakref.finalize(module_code, linecache.cache.pop, filename, None)
    return module_code


def _refuse_unknown(operations: Iterable[Operation]) -> None:
    for inner in operations:
        if is_pto(inner):
            for value in (*inner._operands, *inner.results):
                if type(value.type) is OpaqueType:
                    message = f"type {value.type} is unknown; {inner.name} cannot be executed with it"
                    raise ProgramError("type-unknown", message, span_of(inner))
        elif isinstance(inner, UnregisteredOp):
            name = inner.attributes.get("op_name__")
            text = name.data if isinstance(name, StringAttr) else inner.name
            message = f"{text} belongs to an unknown dialect and cannot be executed"
            raise ProgramError("dialect-unregistered", message, span_of(inner))


def _function(op: Operation, names: dict[Operation, str], generator: Generator) -> None:
    emitter = generator.emitter
    entry = op.regions[0].blocks[0]
    emitter.current = op
    arguments = [generator.bind(argument) for argument in entry.args]
    with emitter.block(f"def {names[op]}({', '.join(['core', *arguments])}):"):
        for argument in entry.args:
            generator.prepare_view(argument)
        function_body(list(op.regions[0].blocks), generator)
        if generator.queued:
            emitter.line("yield")


def _body(op: Operation, generator: Generator) -> None:
    """Returns a function that work-items run, as one call for all of them."""
    from ..kernels.simt.lane_control import split_body  # deferred: start-up
    from ..simt.scope import LaneScope  # deferred: start-up

    emitter, unit = generator.emitter, generator.unit
    emitter.current = op
    generator.lanes = LaneScope(unit.code, unit.body_names)
    arguments = [generator.bind(argument) for argument in op.regions[0].blocks[0].args]
    with emitter.block(f"def {unit.body_names[op]}({', '.join(['core', 'items', 'mask', *arguments])}):"):
        if unit.code.variance.diverges(op):
            split_body(op, generator)
        else:
            function_body(list(op.regions[0].blocks), generator)
