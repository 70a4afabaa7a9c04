"""Runs of the stages, in this process and without accelerations in another one, and what they leave."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from pto_dialect.accel import ACCELERATIONS, VARIABLE
from pto_dialect.children import child_environment, python_command, run_limited
from pto_dialect.deadline import TimedOut, deadline
from pto_dialect.recording.kernel import LIMIT, RecordingKernel
from pto_dialect.recording.save import save
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.sanitize.options import SanitizeOptions

from ..run.binding import Bound
from ..run.outputs import Output, Place, Places
from ..run.value_text import Given
from .sides import Side, side_of
from .stages import Built, StageError

RUN = "pto_dialect.tools.start:pto_run"
EVERY = "1"
"""Disables all accelerations."""


@dataclass(eq=False)
class Launched:
    """How each stage is run: on ``bound`` arguments, which ``given`` states as texts; ``seconds`` limits one run."""

    bound: Sequence[Bound]
    given: Sequence[tuple[str, Given]]
    places: Places
    target: str
    blocks: int
    seconds: float

    @property
    def wanted(self) -> list[Place]:
        """What is compared: buffers, then results."""
        return [*self.places.arguments.values(), *self.places.results]

    def results(self, built: Built) -> list[Side]:
        """Returns what a run leaves. Raises ``StageError``."""
        kernel = self._limited(lambda: Kernel(built.module, built.entry, self.target, built.run))
        bound = self._fresh()
        returned = self._limited(lambda: kernel.run([one.launched for one in bound], self.blocks))
        values = [one.value for one in bound]
        return [side_of(self.places.output(place, values, returned)) for place in self.wanted]

    def record(self, built: Built, path: str) -> None:
        """Records a run, also of one that fails. Raises ``StageError`` and ``RecordingError``."""
        sanitize = SanitizeOptions(frozenset())
        arguments = (built.module, built.entry, self.target, built.run, sanitize, None)
        kernel = self._limited(lambda: RecordingKernel(*arguments, limit=LIMIT))
        values = [one.launched for one in self._fresh()]
        try:
            self._limited(lambda: kernel.run(values, self.blocks))
        finally:
            save(path, kernel, self.blocks)

    def plain(self, text: str, entry: str, run: Mapping[str, str | None], disabled: str = EVERY) -> list[Side]:
        """Returns what a run of the program ``text`` leaves without the accelerations ``disabled``, in a process of its
        own; ``run`` are further options. Raises ``StageError``."""
        with TemporaryDirectory(prefix="pto-which-") as folder:
            program = os.path.join(folder, "program.pto")
            with open(program, "w", encoding="utf-8", errors="surrogatepass", newline="") as stream:
                stream.write(text)
            files = {place.name: os.path.join(folder, f"{n}.npy") for n, place in enumerate(self.wanted)}
            options = {"--entry": entry, "--target": self.target, "--blocks": str(self.blocks), **run}
            words = [program, "--quiet", "--no-cache", "--no-config"]
            words += [f"{option}={value}" for option, value in options.items() if value is not None]
            words += [f"--arg={name}={given.content.text}" for name, given in self.given]
            words += [f"--out={name}={file}" for name, file in files.items()]
            variables = child_environment() | {VARIABLE: disabled}
            code, output = run_limited(python_command(RUN, *words), None, seconds=self.seconds, variables=variables)
            if code != 0:
                line = next(filter(None, output.splitlines()), f"it ends with {code}")
                raise StageError(line)
            return [side_of(self._stored(place, files[place.name])) for place in self.wanted]

    @staticmethod
    def _stored(place: Place, file: str) -> Output:
        array = np.load(file, allow_pickle=False)
        return Output(place.name, place.fmt, np.ascontiguousarray(array).view(place.fmt.storage).reshape(place.shape))

    def _fresh(self) -> list[Bound]:
        return [one._replace(value=one.value.copy()) if one.is_array else one for one in self.bound]

    def _limited(self, work: Any) -> Any:
        """Returns the result of some work, whose output is dropped. Raises ``StageError``: nothing that a stage does
        ends the comparison."""
        try:
            with redirect_stdout(io.StringIO()), np.errstate(all="ignore"), deadline(self.seconds):
                return work()
        except TimedOut:
            raise StageError(f"it takes more than {self.seconds:g} s; --timeout sets the limit") from None
        except ProgramError as error:
            raise StageError(f"{error.message} [{error.rule}]") from None
        except (BindingError, MemoryError, RecursionError) as error:
            raise StageError(str(error) or "it does not fit into memory") from None


def halves(names: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Returns the names in two parts."""
    middle = len(names) // 2
    return names[:middle], names[middle:]


def every_acceleration() -> list[str]:
    """Returns the names of all accelerations."""
    return list(ACCELERATIONS)
