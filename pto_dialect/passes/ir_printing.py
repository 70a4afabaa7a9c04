"""The module between passes, with MLIR's banners: ``// -----// IR Dump After CsePass (cse) //----- //``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .registry import PASS_TABLE

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


class IrPrinting(NamedTuple):
    """What is printed between passes.

    ``before``, ``after``: names of passes; ``before_all``, ``after_all`` stand for every pass. ``on_change``: after a
    pass only if it has changed the module. ``on_failure``: after a pass only if it has reported an error.
    ``module_scope``: banners name the operation, as MLIR's do at module scope. ``write`` takes each finished text.
    """

    write: Callable[[str], None]
    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    before_all: bool = False
    after_all: bool = False
    on_change: bool = False
    on_failure: bool = False
    module_scope: bool = False


class IrPrinter:
    """Prints one module, as ``text_of`` has it, while its passes run."""

    def __init__(self, printing: IrPrinting, text_of: Callable[[ModuleOp], str]) -> None:
        self._printing = printing
        self._text = text_of
        self._text_before = ""

    def before(self, calls: Sequence[str], module: ModuleOp) -> None:
        """Prints the module for the passes that are named; of several that run at once the first stands for all."""
        printing = self._printing
        text = self._text(module) if printing.on_change else ""
        for call in self._chosen(calls, printing.before, printing.before_all, calls[0]):
            self._write("Before", call, "", text or self._text(module))
        self._text_before = text

    def after(self, calls: Sequence[str], module: ModuleOp, failed: bool) -> None:
        """The same afterwards; of several passes that ran at once the last stands for all."""
        printing = self._printing
        if printing.on_failure and not failed:
            return
        every = printing.after_all or printing.on_failure or (printing.on_change and not printing.after)
        for call in self._chosen(calls, printing.after, every, calls[-1]):
            text = self._text(module)
            if not printing.on_change or failed or text != self._text_before:
                self._write("After", call, " Failed" if failed else "", text)

    @staticmethod
    def _chosen(calls: Sequence[str], names: frozenset[str], every: bool, representative: str) -> list[str]:
        return [call for call in calls if _name(call) in names or (every and call is representative)]

    def _write(self, when: str, call: str, failed: str, text: str) -> None:
        name = _name(call)
        scope = " ('builtin.module' operation)" if self._printing.module_scope else ""
        banner = f"// -----// IR Dump {when} {PASS_TABLE[name].cls}{failed} ({name}){scope} //----- //"
        self._printing.write(f"{banner}\n{text}\n\n")


def _name(call: str) -> str:
    return call.partition("{")[0]
