"""What happens to the kernels of all clients of this process, and whether the sanitizers watch them.

See docs/integrations.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from pto_dialect.diagnostics.diagnostic import Diagnostic
    from pto_dialect.sanitize.options import SanitizeOptions


@dataclass(frozen=True)
class Compiled:
    """A program was parsed and verified: its ``filename`` and ``target``, the ``seconds`` that took, and its
    warnings."""

    client: str
    filename: str
    target: str | None
    seconds: float
    warnings: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class Launched:
    """A kernel ran: the functions that its cores started, its ``blocks`` and the ``seconds`` of the run.

    ``findings`` are those of the sanitizers, if enabled; ``stopped`` states that one of them ended the run.
    """

    client: str
    filename: str
    functions: tuple[str, ...]
    blocks: int
    seconds: float
    findings: tuple[Diagnostic, ...] = ()
    stopped: bool = False


T = TypeVar("T")

Event = Compiled | Launched
Observer = Callable[[Event], None]

_observers: list[Observer] = []
_watching: list[SanitizeOptions] = []


@contextmanager
def _listed(one: T, among: list[T]) -> Iterator[None]:
    among.append(one)
    try:
        yield
    finally:
        among.remove(one)


def observed(observer: Observer) -> AbstractContextManager[None]:
    """Calls ``observer`` with each event, inside the ``with`` block."""
    return _listed(observer, _observers)


def instrumented(options: SanitizeOptions) -> AbstractContextManager[None]:
    """Enables the sanitizers for each launch inside the ``with`` block. The innermost block counts."""
    return _listed(options, _watching)


def watching() -> SanitizeOptions | None:
    """Returns the current options of the sanitizers; ``None`` where they are disabled."""
    return _watching[-1] if _watching else None


def tell(event: Event) -> None:
    """Calls the observers."""
    for observer in tuple(_observers):
        observer(event)
