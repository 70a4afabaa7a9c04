"""Programs that Python packages build, and their launches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pto_dialect.integrations.base import Device, Program
from pto_dialect.integrations.events import watching
from pto_dialect.runtime.run.arguments import argument_format

from .origins import attach_sources
from .pointers import Memory, addresses, value_of
from .repeated import Repeats, reports
from .saved import save_launch

device = Device("builders")
"""The chip of these kernels; each program names its own."""


class Launched:
    """A program that is launched: function ``entry`` of ``text``, which is called ``filename`` in diagnostics.

    ``target`` is the chip of programs that name none, ``ordered`` says that a compiler orders the pipes. Raises
    ``ParseError`` or ``VerifyError`` with all errors.
    """

    def __init__(self, text: str, entry: str, filename: str, target: str | None, ordered: bool) -> None:
        attach_sources(text)
        self.text = text
        self.program: Program = device.compile(text, filename, target, ordered)
        self.entry = entry
        self._repeats = None if reports(self.program.module) else Repeats()

    @property
    def pointers(self) -> list[Memory | None]:
        """The arguments that are memory, ``None`` for numbers, in order. Raises ``ProgramError``."""
        arguments = self.program.kernel(self.entry, watching()).arguments
        formats = [(name, argument_format(type_)) for name, type_ in arguments]
        return [None if elements is None else Memory(name, elements) for name, elements in formats]

    def __call__(self, blocks: int, args: Sequence[Any]) -> None:
        """Launches the kernel on numbers, addresses (of ``ctypes`` or plain), arrays and tensors.

        A repeated launch that changes nothing is executed under sanitizers only.

        Raises ``TypeError`` for a wrong number of arguments, ``BindingError`` for values that do not fit,
        ``ProgramError`` for a fault of the program.
        """
        kernel = self.program.kernel(self.entry, watching())
        if len(args) != len(kernel.arguments):
            raise TypeError(f"@{self.entry} has {len(kernel.arguments)} arguments, the launch has {len(args)}")
        with addresses(args, self.pointers) as plain:
            values = [value_of(name, type_, one) for (name, type_), one in zip(kernel.arguments, plain, strict=True)]
            save_launch(kernel, self.text, values, blocks)
            if self._repeats is None or watching() is not None:
                device.run(self.program, kernel, values, blocks)
            elif (begun := self._repeats.begin(values, blocks)) is not None:
                device.run(self.program, kernel, values, blocks)
                self._repeats.end(begun, values, blocks)
