"""One input through parse, passes and print."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.engine import Counts, DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.diagnostics.split import split_input
from pto_dialect.passes.registry import VERIFY_PASSES
from pto_dialect.passes.run import run_passes

from .inputs import Input, read, read_program
from .options import CycleRequest, Options
from .result import SEPARATOR, Result

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from pto_dialect.analysis.cycles.static import ModuleCycles

    from .memory_map import ProgramMap
    from .statistics import ModuleStatistics
    from .verdicts import Verdicts

MARK = "pto: allow"
"""What texts with comments that allow findings contain."""

CONSEQUENCES = frozenset(
    (
        *("block-terminator", "callee", "core-op", "dominance", "operand-count", "return-types"),
        *("branch-arguments", "op-parent", "region-form", "region-yield"),
        *("pipe-epilogue", "pipe-free", "pipe-id", "reserve-form", "simt-callee", "fusion-yield", "sync-unpaired"),
    )
)
"""Rules about what surrounds a statement; they say nothing new when statements are missing after a syntax
error."""


def process(text: str, name: str, options: Options) -> Result:
    """Checks and prints the program (or the programs, one per chunk) in ``text``, reported under the name
    ``name``."""
    chunks = split_input(text) if options.split_input else [(1, text)]
    results = [_process_chunk(SourceFile(name, chunk, first_line), options) for first_line, chunk in chunks]
    if len(results) == 1:
        return results[0]
    counts = Counts()
    for result in results:
        counts = counts.merge(result.counts)
    return Result(
        all(result.ok for result in results),
        tuple(diag for result in results for diag in result.diagnostics),
        counts,
        SEPARATOR.join(result.text or "" for result in results) if options.printing else None,
        tuple(found for result in results for found in result.statistics),
        tuple(found for result in results for found in result.cycles),
    )


def cached_result(item: Input, options: Options, verdicts: Verdicts) -> Result | None:
    """Returns what processing an input gave before; ``None`` where that is not kept, and for what can be read only
    once."""
    text = _text_of(item)
    try:
        return None if text is None else verdicts.find(text, item.name, options)
    except MemoryError:
        return None


def is_kept(item: Input, options: Options, verdicts: Verdicts) -> bool:
    """Returns whether there is what :func:`cached_result` gives, or for a C++ kernel what processing its program
    gave."""
    if item.is_cpp:
        try:
            text, remarks = read_program(item, options.target, every=True)
        except MemoryError:
            return False
        return not remarks and verdicts.has(text, item.name, options)
    text = _text_of(item)
    return text is not None and verdicts.has(text, item.name, options)


def _text_of(item: Input) -> str | None:
    """Returns the text of an input of which a result may be kept."""
    if item.is_cpp:
        return None
    try:
        if item.data is None and not stat.S_ISREG(os.stat(item.path).st_mode):
            return None
        text, remark = read(item)
    except (OSError, MemoryError):
        return None
    return text if remark is None else None


def _process_or_find(text: str, name: str, options: Options, verdicts: Verdicts | None) -> Result:
    if verdicts is None:
        return process(text, name, options)
    result = verdicts.find(text, name, options)
    if result is None:
        result = process(text, name, options)
        verdicts.keep(text, name, options, result)
    return result


def process_input(item: Input, options: Options, verdicts: Verdicts | None = None) -> Result:
    """Reads an input and processes its text, or finds its result among ``verdicts``."""
    text = ""
    remarks: tuple[Diagnostic, ...]
    try:
        text, remarks = read_program(item, options.target, every=True)
        if not remarks:
            return _process_or_find(text, item.name, options, verdicts)
        if remarks[0].severity is Severity.ERROR and not (item.is_cpp and text):
            result = Result(False, (), Counts(), None)
        else:
            result = process(text, item.name, options)
    except MemoryError:
        result = Result(False, (), Counts(), None)
        remarks = (Diagnostic("input-memory", Severity.ERROR, f"'{item.name}' does not fit into memory"),)
    except Exception as error:
        from .internal_error import internal_error  # deferred: start-up

        silent = options._replace(ir_printing=None)
        result = Result(False, (), Counts(), None)
        remarks = (
            internal_error(
                error, text, lambda smaller: process(smaller, item.name, silent), f"'{item.name}': internal error"
            ),
        )
    engine = DiagnosticEngine(options.policy)
    for remark in remarks:
        engine.report(remark)
    return Result(
        result.ok and not engine.has_errors,
        engine.diagnostics + result.diagnostics,
        engine.counts().merge(result.counts),
        None if engine.has_errors else result.text,
        () if engine.has_errors else result.statistics,
        () if engine.has_errors else result.cycles,
    )


def _process_chunk(source: SourceFile, options: Options) -> Result:
    policy = options.policy
    if options.verify_diagnostics:
        policy = policy._replace(pedantic=True, max_errors=0)
    engine = DiagnosticEngine(policy)
    module = build_module(source, engine, options)
    printed = None
    if options.printing and module is not None and not engine.has_errors:
        printed = _print(module, options) if options.language == "pto" else _emit(module, source, engine, options)
    statistics: tuple[ModuleStatistics | ProgramMap, ...] = ()
    if options.statistics and module is not None and not engine.has_errors:
        if options.memory is not None:
            from .memory_map import collect as mapped  # deferred: start-up

            statistics = (mapped(module, source.name, options.target, options.memory),)
        else:
            from .statistics import collect  # deferred: start-up

            statistics = (collect(module, source.name, options.target),)
    cycles: tuple[ModuleCycles, ...] = ()
    if options.cycles is not None and module is not None and not engine.has_errors:
        cycles = _cycles(module, source, engine, options.target, options.cycles)
    if not options.verify_diagnostics:
        return Result(not engine.has_errors, engine.diagnostics, engine.counts(), printed, statistics, cycles)

    from pto_dialect.diagnostics.expected import verify_diagnostics  # deferred: start-up
    from pto_dialect.diagnostics.origins import in_written_text  # deferred: start-up

    mismatches = verify_diagnostics(*in_written_text(source, engine.diagnostics))
    return Result(not mismatches, tuple(mismatches), Counts(errors=len(mismatches)), printed, statistics, cycles)


def _cycles(
    module: ModuleOp, source: SourceFile, engine: DiagnosticEngine, target: str | None, request: CycleRequest
) -> tuple[ModuleCycles, ...]:
    """Returns the cycles of a program; a table that cannot be used, as one for another chip, is an error."""
    from pto_dialect.analysis.cycles.static import static_cycles  # deferred: start-up
    from pto_dialect.analysis.cycles.table import CycleTableError  # deferred: start-up

    try:
        return (static_cycles(module, source.name, target, request.table, dict(request.options)),)
    except CycleTableError as error:
        engine.report(Diagnostic("config-invalid", Severity.ERROR, str(error)))
        return ()


def build_module(source: SourceFile, engine: DiagnosticEngine, options: Options) -> ModuleOp | None:
    """Parses ``source`` and runs the passes; the module is usable only if ``engine`` has no errors.

    After syntax errors what could be read is still verified, so that independent errors appear in one run.
    """
    if MARK not in source.text:
        return _built(source, engine, options)
    from .project.suppression import Suppressions  # deferred: start-up

    accepted = engine.accepted = Suppressions(source)
    module = _built(source, engine, options)
    for remark in accepted.report(options.passes):
        engine.report(remark)
    return module


def _built(source: SourceFile, engine: DiagnosticEngine, options: Options) -> ModuleOp | None:
    from pto_dialect.syntax.read.parser import parse_program  # deferred: start-up

    module = parse_program(source, engine, schematic=options.schematic, plans=options.plans)
    if module is None:
        return None
    if options.release is not None:
        from pto_dialect.analysis.release import set_release  # deferred: start-up

        set_release(module, options.release)
    observer = None
    if options.ir_printing is not None:
        from pto_dialect.passes.ir_printing import IrPrinter  # deferred: start-up

        observer = IrPrinter(options.ir_printing, lambda module: _print(module, options))
    verifies = [name for name in options.passes if name in VERIFY_PASSES]
    if not engine.has_errors and options.proving is not None:
        from .prove.pipeline import prove_passes  # deferred: start-up

        prove_passes(module, options.passes, engine, options.target, options.proving, options.allow_open, observer)
    elif not engine.has_errors:
        run_passes(module, options.passes, engine, options.target, observer=observer)
    elif verifies:
        _verify_rest(module, verifies, engine, options.target)
    return module


def build_checked(
    source: SourceFile, engine: DiagnosticEngine, options: Options, verdicts: Verdicts | None
) -> ModuleOp | None:
    """As :func:`build_module`, without the passes for a text in which an earlier run with these options found
    nothing."""
    if verdicts is None:
        return build_module(source, engine, options)
    nothing = Result(True, (), Counts(), None)
    known = verdicts.find(source.text, source.name, options) == nothing
    module = build_module(source, engine, options._replace(passes=()) if known else options)
    if not known and module is not None and engine.counts() == nothing.counts:
        verdicts.keep(source.text, source.name, options, nothing)
    return module


def _verify_rest(module: ModuleOp, passes: list[str], engine: DiagnosticEngine, target: str | None) -> None:
    """Verifies an incomplete module, leaving out what its gaps cause: some rules, and lines with syntax
    errors."""
    from pto_dialect.verify.verifier import verify_module  # deferred: start-up

    rest = DiagnosticEngine(DiagnosticOptions(allow=CONSEQUENCES, pedantic=True, max_errors=0))
    rest.causes = engine.causes
    verify_module(module, rest, target=target, passes=passes)
    broken = {diag.span.line for diag in engine.diagnostics if diag.span is not None}
    broken |= {span.line for span in engine.untold}
    for diag in rest.diagnostics:
        if diag.span is None or diag.span.line not in broken:
            engine.report(diag)


def _emit(module: ModuleOp, source: SourceFile, engine: DiagnosticEngine, options: Options) -> str | None:
    """Returns the C++ text of a module; ``None`` with an error at the operation that has none."""
    from pto_dialect.cpp.emit import EmitError, emit_module  # deferred: start-up

    try:
        return emit_module(module, source.name, options.target)
    except EmitError as error:
        engine.report(error.diagnostic())
        return None


def _print(module: ModuleOp, options: Options) -> str:
    from pto_dialect.syntax.print.printer import print_module  # deferred: start-up

    return print_module(module, generic=options.generic, debuginfo=options.debuginfo, portable=options.portable)
