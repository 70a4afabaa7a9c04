"""All stages of a program against the first, and what the user has brought against all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..run.compare import Expected, Tolerance
from .blame import Blame, Operation, blame, last_writer
from .runs import Launched, every_acceleration, halves
from .sides import Difference, Side, first_difference, side_given
from .stages import Built, Course, NotRun, Stage, StageError

SAME, DIFFERS, FAILS, NOT_RUN = "same", "differs", "fails", "not run"

SOURCE, FIRST = "source", "all others are compared with it"
DEVICE = "device"


class Row(NamedTuple):
    """A stage: its name, what has become of it, and why; ``difference`` is to the first stage, ``device`` that of the
    arrays of the device (``None`` without them, or where they are the same)."""

    name: str
    kind: str
    outcome: str
    why: str = ""
    difference: Difference | None = None
    device: Difference | None = None

    def as_data(self) -> dict[str, object]:
        """Returns the same for JSON."""
        differences = {
            "difference": None if self.difference is None else self.difference.as_data(),
            "device": None if self.device is None else self.device.as_data(),
        }
        return {"name": self.name, "kind": self.kind, "outcome": self.outcome, "why": self.why, **differences}


@dataclass(eq=False)
class Comparison:
    """Runs the stages of ``course`` and compares what they leave; within ``tolerance``, without one bit by bit."""

    course: Course
    launched: Launched
    tolerance: Tolerance | None
    device: Sequence[Expected]
    plain_options: dict[str, str | None]
    rows: list[Row] = field(default_factory=list)
    guilty: str = ""
    found: Difference | None = None
    why: str = ""
    blame: Blame | None = None
    writer: Operation | None = None
    agrees: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Runs everything. Raises ``StageError`` where the program itself does not run."""
        reference = self.launched.results(self.course.source())
        given = [side_given(one) for one in self.device]
        self.rows.append(Row(SOURCE, SOURCE, SAME, FIRST, device=self._device(reference, given)))
        before: Stage | None = None
        first: tuple[Stage | None, Stage] | None = None
        broken = ""
        for stage in self.course.stages():
            row = self._row(stage, reference, given) if not broken else Row(stage.name, stage.kind, NOT_RUN, broken)
            if row.outcome == FAILS and stage.kind == "pass":
                broken = f"{stage.name} fails before it"
            self.rows.append(row)
            if row.outcome in (DIFFERS, FAILS) and first is None:
                first = before, stage
                self.found, self.why = row.difference, row.why
            if row.outcome == SAME:
                before = stage
        if given:
            ran = [row for row in self.rows if row.outcome in (SAME, DIFFERS)]
            self.agrees = [row.name for row in ran if row.device is None]
        if first is not None:
            self._judge(*first, reference)
        elif given and self.rows[0].device is not None:
            self._judge_device(self.rows[0].device)

    def _row(self, stage: Stage, reference: list[Side], given: list[Side]) -> Row:
        try:
            results = self._results(stage)
        except NotRun as reason:
            return Row(stage.name, stage.kind, NOT_RUN, str(reason))
        except StageError as error:
            return Row(stage.name, stage.kind, FAILS, str(error))
        except Exception as error:
            # What an incorrect pass or printer raises says which of them it is.
            return Row(stage.name, stage.kind, FAILS, f"internal error: {type(error).__name__}: {error}")
        difference = first_difference(reference, results, self.tolerance)
        outcome = SAME if difference is None else DIFFERS
        return Row(stage.name, stage.kind, outcome, "", difference, self._device(results, given))

    def _results(self, stage: Stage) -> list[Side]:
        if stage.make is not None:
            return self.launched.results(stage.make())
        return self.launched.plain(self.course.last_text(), self.course.entry, self.plain_options)

    def _device(self, results: list[Side], given: list[Side]) -> Difference | None:
        return first_difference(results, given, self.tolerance)

    # ------------------------------------------------------------ who it is

    def _judge(self, before: Stage | None, stage: Stage, reference: list[Side]) -> None:
        self.guilty = stage.blamed
        if self.found is None:
            return
        if stage.make is None:
            name = self._acceleration(reference)
            self.guilty += f", '{name}'" if name else ""
            return
        earlier = self.course.source if before is None or before.make is None else before.make
        self.blame = blame((self._recorder(earlier), self._recorder(stage.make)), self.found)

    def _judge_device(self, found: Difference) -> None:
        self.guilty = "the device, or what runs there: all stages leave the same numbers, the device others"
        self.found = found
        self.writer = last_writer(self._recorder(self.course.source), found)

    def _recorder(self, make: Callable[[], Built]) -> Callable[[str], None]:
        def record(path: str) -> None:
            try:
                self.launched.record(make(), path)
            except (StageError, NotRun) as error:
                raise OSError(str(error)) from None

        return record

    def _acceleration(self, reference: list[Side]) -> str | None:
        """Returns the acceleration whose absence alone changes the numbers, by halves; ``None`` where it takes several,
        or where another process with all of them does not leave the same."""
        if self._changes((), reference):
            return None
        names: Sequence[str] = every_acceleration()
        while len(names) > 1:
            one, other = halves(names)
            if self._changes(one, reference):
                names = one
            elif self._changes(other, reference):
                names = other
            else:
                return None
        return names[0]

    def _changes(self, disabled: Sequence[str], reference: list[Side]) -> bool:
        try:
            text, entry = self.course.last_text(), self.course.entry
            results = self.launched.plain(text, entry, self.plain_options, ",".join(disabled))
        except StageError:
            return True
        return first_difference(reference, results, self.tolerance) is not None
