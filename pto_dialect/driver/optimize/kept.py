"""What measuring programs gave, kept between searches in the user's cache folder.

The name of an entry is a digest of everything that the result depends on: the launch, the chip, the cycle table, the
files of arguments, the program to compare with, the program after the passes, and the version of this package.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from pto_dialect.analysis.cycles.static import Total

from ..tune.measure import LAUNCH_SUFFIX, Measured, Tuner
from ..tune.space import Candidate
from ..verdicts import Verdicts, open_verdicts

_KIND = "optimize 2"


def digest_of(text: str) -> str:
    """Returns the digest of a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


@dataclass
class Kept:
    """The results of one launch."""

    verdicts: Verdicts
    launch: str

    def fill(self, program: str, found: Measured, compared: bool = False) -> bool:
        """Adds what is kept of a program, of one whose results have been ``compared``; whether something is."""
        note: Any = self.verdicts.note(self._name(program, compared))
        if not isinstance(note, tuple) or len(note) != 4:
            return False
        found.reason, found.clock_mhz, whole, pipes = note
        found.whole, found.compared = Total(*whole), compared
        found.pipes = dict(pipes)
        return True

    def keep(self, program: str, found: Measured) -> None:
        """Keeps what became of a program."""
        whole = (found.whole.cycles, found.whole.low, found.whole.high)
        note = (found.reason, found.clock_mhz, whole, tuple(sorted(found.pipes.items())))
        self.verdicts.keep_note(self._name(program, found.compared or bool(found.reason)), note)

    def _name(self, program: str, compared: bool) -> str:
        return f"{_KIND} {self.launch} {program} {compared}"


def kept_of(tuner: Tuner, first: Candidate) -> Kept | None:
    """Returns the results for the launch of ``first``; ``None`` where nothing is kept."""
    verdicts = open_verdicts()
    if verdicts is None:
        return None
    item = tuner.input_of(first)
    parts = [repr(sorted(first.document.content.items(), key=repr)), repr(tuner.target), repr(tuner.accumulate)]
    parts.append(repr(tuner.cycles))
    # Files of a command line count from the current folder.
    folder = os.path.dirname(tuner.path) if tuner.path.endswith(LAUNCH_SUFFIX) else ""
    for path in (item.path, tuner.cycles.table, *_files(first.document.content, folder)):
        if path is not None:
            with open(path, "rb") as stream:
                parts.append(f"{path} {blake2b(stream.read(), digest_size=20).hexdigest()}")
    return Kept(verdicts, digest_of("\n".join(parts)))


def _files(content: Any, folder: str) -> list[str]:
    """Returns the files that a launch may mean."""
    if isinstance(content, dict):
        content = list(content.values())
    if isinstance(content, list):
        return [path for one in content for path in _files(one, folder)]
    if not isinstance(content, str):
        return []
    path = os.path.join(folder, content.split(":")[0])
    return [path] if os.path.isfile(path) else []
