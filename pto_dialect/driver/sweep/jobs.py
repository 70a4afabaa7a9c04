"""One launch with all that it reads, which any process can run. Source: docs/cluster.md, "Clusters"."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pto_dialect.version import __version__

from ..inputs import CPP_SUFFIXES, Input, read_text
from ..launch.document import Document
from ..launch.paths import Folder
from ..launch.plan import Plan, Target, default_program, plans_of
from ..launch.session import Settings
from .points import Point, at_point, filled_program, point_text, points_of

SMALL = 1 << 16
"""Bytes of a file that goes with its job; larger ones travel on their own."""

Contents = dict[str, bytes]
"""Files by the digest of their content."""


@dataclass(frozen=True)
class Job:
    """One launch file at one point: its name, text and settings, the digests of the files that it reads by the path
    that it calls them, and the small ones of these. Equal jobs have equal ``key``."""

    file: str
    text: str
    point: Point
    settings: Settings
    inputs: dict[str, str]
    small: Contents = field(repr=False)
    key: str = ""

    @property
    def label(self) -> str:
        """File and point, for people."""
        return f"{self.file} [{point_text(self.point)}]" if self.point else self.file

    def document(self) -> Document:
        """Returns what the launch file says at this point."""
        return at_point(Document(self.file, self.text), self.point)

    def large(self) -> list[str]:
        """Digests of the files that do not go with the job."""
        return [digest for digest in dict.fromkeys(self.inputs.values()) if digest not in self.small]


class Named(Folder):
    """The folder of a launch file; remembers as ``named`` which file each path is."""

    def __init__(self, path: str, allow_outside: bool) -> None:
        super().__init__(path, allow_outside)
        self.named: dict[str, str] = {}

    def resolve(self, path: str) -> str:
        """As in ``Folder``."""
        found = super().resolve(path)
        self.named[found] = path
        return found


def jobs_of(path: str, settings: Settings, contents: Contents) -> list[Job]:
    """Returns the jobs of a launch file in the order of its points; the large files among their inputs are added to
    ``contents``.

    Raises ``LaunchError`` for an invalid launch file, ``OSError`` for one that cannot be read. Files that cannot be
    read are left out: the job reports them.
    """
    with open(path, "rb") as stream:
        text = stream.read().decode("utf-8-sig", "replace")
    document = Document(path, text)
    known: dict[str, bytes] = {}
    plain = replace(settings, verdicts=None, jobs=1)
    writers: dict[str, Point] = {}
    return [_job(path, text, document, point, plain, known, contents, writers) for point in points_of(document)]


def _job(
    path: str,
    text: str,
    document: Document,
    point: Point,
    settings: Settings,
    known: dict[str, bytes],
    contents: Contents,
    writers: dict[str, Point],
) -> Job:
    folder = Named(os.path.dirname(path), settings.allow_outside)
    here = at_point(document, point)
    plans = plans_of(here, folder, default_program(path), settings.ranks)
    for target in (target for plan in plans for target in targets_of(plan)):
        file = os.path.normpath(target.file.path) + f":{target.file.key}"
        other = writers.setdefault(file, point)
        if other is not point:
            message = f"'{target.file.path}' is written at {point_text(other)} and at {point_text(point)}"
            help = "a swept name in braces, as {seed}, gives every point a file of its own"
            raise document.error(target.key, message, help)
    _check_kernels(document, plans)
    programs = {program for plan in plans for program in programs_of(plan)}
    inputs: dict[str, str] = {}
    small: Contents = {}
    for place in dict.fromkeys(name for plan in plans for name in plan.inputs()):
        content = _content(place, known)
        if content is None:
            continue
        if place in programs and point:
            program = content.decode("utf-8", "surrogateescape")
            content = filled_program(program, point).encode("utf-8", "surrogateescape")
        digest = hashlib.sha256(content).hexdigest()
        inputs[folder.named.get(place, place)] = digest
        (small if len(content) <= SMALL else contents)[digest] = content
    said = [__version__, here.content, dict(point), canonical(settings), sorted(inputs.items()), path]
    key = hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()[:24]
    return Job(path, text, point, settings, inputs, small, key)


def _check_kernels(document: Document, plans: Sequence[Plan]) -> None:
    """Refuses C++ kernels that include files of their own: a job has the files that its launch file names."""
    for step in (step for plan in plans for step in plan.steps):
        for program in step.programs:
            if program.endswith(CPP_SUFFIXES) and (step.cpp.includes or _includes_own(program)):
                message = f"'{program}' includes files of its own, which a job of a sweep does not have"
                raise document.error((*step.key, "program"), message, "pto tune varies definitions of such kernels")


def _includes_own(program: str) -> bool:
    from pto_dialect.cpp.includes import included_files  # deferred: start-up

    text, _ = read_text(Input(program, program, program))
    return bool(included_files(text, program, ()).files)


def has_blocks(job: Job) -> bool:
    """Returns True for a launch file without points whose launches have several blocks."""
    if job.point:
        return False
    folder = Folder(os.path.dirname(job.file), job.settings.allow_outside)
    plans = plans_of(job.document(), folder, default_program(job.file), job.settings.ranks)
    return len(plans) == 1 and any(step.blocks > 1 for step in plans[0].steps)


def programs_of(plan: Plan) -> list[str]:
    """Returns the programs of all launches."""
    return [program for step in plan.steps for program in step.programs]


def targets_of(plan: Plan) -> list[Target]:
    """Returns the files that a plan writes."""
    return [*plan.outputs.values(), *(target for step in plan.steps for target in step.outputs.values())]


def _content(path: str, known: dict[str, bytes]) -> bytes | None:
    if path not in known:
        try:
            with open(path, "rb") as stream:
                known[path] = stream.read()
        except OSError:
            return None
    return known[path]


def canonical(value: Any) -> Any:
    """Returns what JSON can say of settings, the same in every process."""
    if dataclasses.is_dataclass(value):
        return {one.name: canonical(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, frozenset | set):
        return sorted(map(str, value))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [canonical(one) for one in value]
    return value if isinstance(value, int | float | str | None) else repr(value)
