"""What a client of the toolchain needs: programs from text, launches on arrays, and events of launches.

A client compiles the text of a program once (`Device.compile`) and launches its functions on arrays (`Device.launch`).
Sanitizers are not the client's concern: `events.watched` enables them for all clients. See docs/integrations.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, NamedTuple

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.refused import ParseError, VerifyError
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core.base import symbol_of
from pto_dialect.runtime.compile.group import Group, Member, join
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.targets.profile import MOST_BLOCKS

from .events import Compiled, Launched, tell, watching
from .instrumented import collect, instrumented_kernel
from .memory import as_array

_EVERYTHING = DiagnosticOptions(max_errors=0)


@dataclass(eq=False)
class Program:
    """A verified module, with the functions launched so far.

    ``filename`` is its name in diagnostics, ``target`` the chip (``None``: that of the module); ``ordered`` states that
    a compiler orders the pipes of its cores, even if it has synchronization of its own.
    """

    module: ModuleOp
    filename: str
    target: str | None
    options: RunOptions
    ordered: bool = False
    _kernels: dict[Hashable, Kernel] = field(default_factory=lambda: {}, init=False)

    @property
    def kernels(self) -> list[Kernel]:
        """What has been launched so far."""
        return list(self._kernels.values())

    def kernel(self, entry: str | None, sanitize: SanitizeOptions | None = None) -> Kernel:
        """Function ``entry``, by default the only or marked kernel, compiled once for plain and once for instrumented
        runs.

        Raises ``ProgramError`` where it cannot be executed.
        """
        return self._kept((entry, sanitize), (self.module, entry, self.target), sanitize, None)

    def together(
        self, functions: Mapping[str, Function], sanitize: SanitizeOptions | None, beside: Kernel | None
    ) -> Kernel:
        """Returns what :func:`group_kernel` returns; the kernel is kept here."""
        together = sorted(functions.items())
        key = tuple((core, id(one.program), one.name) for core, one in together), sanitize, beside
        if key not in self._kernels:
            joined = join([Member(one.program.module, one.name, core) for core, one in together])
            self._kept(key, (None, None, self.target), sanitize, joined, beside)
        return self._kernels[key]

    def _kept(
        self,
        key: Hashable,
        what: tuple[ModuleOp | None, str | None, str | None],
        sanitize: SanitizeOptions | None,
        group: Group | None,
        beside: Kernel | None = None,
    ) -> Kernel:
        if key not in self._kernels:
            if sanitize is None:
                made = Kernel(*what, self.options, group=group)
            else:
                mode = replace(sanitize, sync="compiler") if self.ordered else sanitize
                made = instrumented_kernel(*what, self.options, mode, group, beside)
            self._kernels[key] = made
        return self._kernels[key]


class Function(NamedTuple):
    """A function of a program, by its symbol."""

    program: Program
    name: str


def group_kernel(
    functions: Mapping[str, Function], sanitize: SanitizeOptions | None = None, beside: Kernel | None = None
) -> Kernel:
    """Returns the functions that start together on the cores of a block, as one kernel with the arguments of all of
    them.

    ``functions`` maps cores (``cube``, ``vector``, ``vector0``, ``vector1``) to functions, of one program or more;
    ``beside`` is an instrumented kernel that runs concurrently on another rank. Raises ``BindingError`` for functions
    that cannot start together, ``ProgramError`` where they cannot be executed.
    """
    return functions[min(functions)].program.together(functions, sanitize, beside)


class Device:
    """The chip of a client. ``name`` is the client's, ``target`` a2, a3, a2a3 or a5 for programs that name none.

    ``options`` say how launches compute (``RunOptions``); programs are kept as long as the device.
    """

    def __init__(self, name: str, target: str | None = None, options: RunOptions | None = None) -> None:
        self.name = name
        self.target = target
        self.options = options if options is not None else RunOptions()
        self._programs: dict[tuple[str, str, str | None, bool], Program] = {}

    @property
    def programs(self) -> list[Program]:
        """What has been compiled so far."""
        return list(self._programs.values())

    def compile(
        self, text: str, filename: str = "<string>", target: str | None = None, ordered: bool = False
    ) -> Program:
        """Compiles the program ``text`` for ``target``, by default the chip of the device.

        ``ordered`` states that a compiler orders the pipes of its cores. Raises ``ParseError`` or ``VerifyError`` with
        all errors.
        """
        key = text, filename, target if target is not None else self.target, ordered
        if key not in self._programs:
            self._programs[key] = self._compile(*key)
        return self._programs[key]

    def _compile(self, text: str, filename: str, target: str | None, ordered: bool) -> Program:
        from pto_dialect.syntax.read.parser import parse_program  # deferred: start-up
        from pto_dialect.verify.verifier import verify_module  # deferred: start-up

        started = perf_counter()
        engine = DiagnosticEngine(_EVERYTHING)
        module = parse_program(SourceFile(filename, text), engine)
        if module is None or engine.has_errors:
            raise ParseError(engine.diagnostics)
        verify_module(module, engine, target=target)
        if engine.has_errors:
            raise VerifyError(engine.diagnostics)
        warnings = tuple(found for found in engine.diagnostics if found.severity is Severity.WARNING)
        tell(Compiled(self.name, filename, target, perf_counter() - started, warnings))
        return Program(module, filename, target, self.options, ordered)

    def launch(
        self,
        program: Program,
        values: Sequence[Any] | Mapping[str, Any],
        entry: str | None = None,
        blocks: int = 1,
    ) -> list[Any]:
        """Runs ``entry`` of ``program`` on ``blocks`` blocks; returns what the function returns.

        ``values`` are arrays, tensors (written in place) and numbers, in the order of the arguments or by name.
        Raises ``BindingError`` for values that do not fit, ``ProgramError`` for a fault that no sanitizer covers.
        """
        kernel = program.kernel(entry, watching())
        if isinstance(values, Mapping):
            values = ordered(kernel, values)
        return self.run(program, kernel, [as_array(value) for value in values], blocks)

    def run(self, program: Program, kernel: Kernel, values: Sequence[Any], blocks: int = 1) -> list[Any]:
        """Runs a kernel of ``program`` on numpy arrays and numbers, and reports it to the observers."""
        return told(self.name, program.filename, kernel, values, blocks)


def told(client: str, filename: str, kernel: Kernel, values: Sequence[Any], blocks: int, jobs: int = 1) -> list[Any]:
    """Runs a kernel of a client, and reports the launch and its findings to the observers.

    Raises ``BindingError`` for more blocks than a chip launches.
    """
    if blocks > MOST_BLOCKS:
        raise BindingError(f"a launch has at most {MOST_BLOCKS} blocks, found {blocks}")
    started = perf_counter()
    finished = False
    try:
        results = kernel.run(values, blocks, jobs)
        finished = True
    finally:
        findings, stopped = collect(kernel)
        functions = tuple(dict.fromkeys(symbol_of(root.function) for root in kernel.program.roots.values()))
        seconds = perf_counter() - started
        tell(Launched(client, filename, functions, blocks, seconds, findings, stopped or not finished))
    return results


def ordered(kernel: Kernel, values: Mapping[str, Any]) -> list[Any]:
    """Returns the values of all arguments in order. Raises ``BindingError`` for missing and unknown names."""
    names = [name for name, _ in kernel.arguments]
    missing = [name for name in names if name not in values]
    unknown = sorted(set(values) - set(names))
    if missing or unknown:
        told = [
            *(f"argument {name} is missing" for name in missing),
            *(f"there is no argument {name}" for name in unknown),
        ]
        raise BindingError(f"@{kernel.entry}: {', '.join(told)}")
    return [values[name] for name in names]
