"""``.pto`` files in the command-line tools of xDSL."""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, NoReturn

from xdsl.tools.command_line_tool import CommandLineTool

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from pto_dialect.diagnostics.diagnostic import Diagnostic

EXTENSION = "pto"
"""File name extension, and the name to be given to ``--frontend`` for other files."""


def add_frontend() -> None:
    """Makes every command-line tool of xDSL that is started in this process read ``.pto`` files."""
    register = CommandLineTool.register_all_frontends

    def register_all_frontends(self: CommandLineTool) -> None:
        register(self)
        self.available_frontends.setdefault(EXTENSION, PtoFrontend(self))

    CommandLineTool.register_all_frontends = register_all_frontends


class PtoFrontend:
    """Reads the programs of one run of ``tool``: any form of the language, checked by all rules.

    ``--disable-verify`` and ``--allow-unregistered-dialect`` mean what they mean for other files. A wrong program
    ends the tool with the diagnostics of ``pto-opt`` and exit code 1; with ``--parsing-diagnostics`` or
    ``--verify-diagnostics`` it raises xDSL's exception instead, which the tool prints.
    """

    def __init__(self, tool: CommandLineTool) -> None:
        self.tool = tool
        self.first_line = 1

    def __call__(self, stream: IO[bytes]) -> ModuleOp:
        """Returns the program that ``stream`` holds; raises what the tool of xDSL shows as its errors."""
        from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions  # deferred: start-up
        from pto_dialect.diagnostics.source import SourceFile  # deferred: start-up
        from pto_dialect.driver.inputs import decode  # deferred: start-up
        from pto_dialect.driver.options import Options  # deferred: start-up
        from pto_dialect.driver.pipeline import build_module  # deferred: start-up
        from pto_dialect.passes.registry import VERIFY_PASSES  # deferred: start-up

        name = self.tool.get_input_name()
        unregistered = frozenset(["dialect-unregistered"] if self.tool.args.allow_unregistered_dialect else ())
        policy = DiagnosticOptions(allow=unregistered)
        passes = () if self.tool.args.disable_verify else VERIFY_PASSES
        engine = DiagnosticEngine(policy)
        text, remark = decode(stream.read(), name)
        if remark is not None:
            engine.report(remark)
        source = SourceFile(name, text, self.first_line)
        # With --split-input-file the tool hands over one program after the other.
        self.first_line += text.count("\n")
        module = None
        if not engine.has_errors:
            module = build_module(source, engine, Options(passes=passes, policy=policy))
        if engine.has_errors or module is None:
            self._fail(engine.diagnostics)
        self._show(engine.diagnostics)
        return module

    def _fail(self, diagnostics: tuple[Diagnostic, ...]) -> NoReturn:
        from xdsl.utils.exceptions import ParseError, VerifyException  # deferred: start-up
        from xdsl.utils.lexer import Input, Span  # deferred: start-up

        from pto_dialect.diagnostics.render import render_text  # deferred: start-up

        args = self.tool.args
        first = next((diag for diag in diagnostics if diag.span is not None), None)
        if getattr(args, "parsing_diagnostics", False) and first is not None and first.span is not None:
            span = first.span
            # The tool adds the number of the chunk's first line itself.
            place = Span(span.start, span.end, Input(span.source.text, span.source.name))
            raise ParseError(place, "; ".join(f"{diag.message} [{diag.rule}]" for diag in diagnostics))
        if getattr(args, "verify_diagnostics", False):
            raise VerifyException(render_text(diagnostics).rstrip("\n"))
        self._show(diagnostics)
        raise SystemExit(1)

    def _show(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        if diagnostics:
            from pto_dialect.diagnostics.render import render_text  # deferred: start-up

            sys.stderr.write(render_text(diagnostics))
