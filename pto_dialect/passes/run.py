"""Passes one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from pto_dialect.diagnostics.engine import DiagnosticEngine

from .registry import PASS_TABLE, VERIFY_PASSES, make_pass

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

_FIT_TOGETHER = "capacity-live"
"""The rule that tiles fit into their memory together."""

_FIT_ALONE = frozenset(("capacity-static", "matmul-range", "tstore-acc-cols"))
"""The rules that a tile fits into its memory, and that the chip counts as far as its rows and columns."""


class PassObserver(Protocol):
    """Sees the module around each pass; several verify passes that run as one walk are one call."""

    def before(self, calls: Sequence[str], module: ModuleOp) -> None:
        """The passes of ``calls`` run next."""
        ...

    def after(self, calls: Sequence[str], module: ModuleOp, failed: bool) -> None:
        """The passes of ``calls`` have run; ``failed``: with an error."""
        ...


def run_passes(
    module: ModuleOp,
    names: Iterable[str],
    engine: DiagnosticEngine,
    target: str | None,
    later: Sequence[str] = (),
    observer: PassObserver | None = None,
) -> bool:
    """Runs passes until one reports an error; True when none did. Neighbouring verify passes are one walk.

    ``later`` are passes that the caller runs afterwards. ``observer`` sees the module before and after each pass.
    """
    stretches = list(_stretches(names))
    for number, stretch in enumerate(stretches, 1):
        if observer is not None:
            observer.before(stretch, module)
        if stretch[0] in VERIFY_PASSES:
            _verify(module, stretch, engine, target, [*chain(*stretches[number:]), *later])
        else:
            make_pass(stretch[0], target).run(module, engine)
        if observer is not None:
            observer.after(stretch, module, engine.has_errors)
        if engine.has_errors:
            return False
    return True


def _verify(
    module: ModuleOp, passes: list[str], engine: DiagnosticEngine, target: str | None, later: list[str]
) -> None:
    """Verifies a module that passes ``later`` change: whether tiles fit is not checked before they become smaller."""
    from pto_dialect.verify.verifier import verify_module  # deferred: start-up

    policy = engine.options
    entries = [PASS_TABLE[call.partition("{")[0]] for call in later]
    open_yet = frozenset((_FIT_TOGETHER,)) if any(entry.shrinks for entry in entries) else frozenset[str]()
    if any(entry.splits for entry in entries):
        open_yet |= _FIT_ALONE
    if open_yet:
        engine.options = policy._replace(allow=policy.allow | open_yet)
    try:
        verify_module(module, engine, target=target, passes=passes)
    finally:
        engine.options = policy


def _stretches(names: Iterable[str]) -> Iterator[list[str]]:
    """Names one by one, verify passes that follow one another together."""
    stretch: list[str] = []
    for name in names:
        if stretch and not (name in VERIFY_PASSES and stretch[-1] in VERIFY_PASSES):
            yield stretch
            stretch = []
        stretch.append(name)
    if stretch:
        yield stretch
