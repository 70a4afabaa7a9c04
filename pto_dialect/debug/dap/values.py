"""What an editor shows of a session: threads, frames and trees of values. Source: docs/debugger.md, "Editors"."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pto_dialect.recording import Handle, Step

from .. import show
from ..expressions import ExpressionError
from ..session import Session

Variable = dict[str, Any]
Children = Callable[[], Iterable[Variable]]


class Values:
    """Trees of values at one position, by number."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._children: dict[int, Children] = {}
        self.frames: dict[int, Step] = {}

    def clear(self) -> None:
        """The position has changed: numbers mean nothing any more."""
        self._children.clear()
        self.frames.clear()

    def reference(self, children: Children) -> int:
        """Returns a number for these children."""
        number = len(self._children) + 1
        self._children[number] = children
        return number

    def children(self, number: int) -> list[Variable]:
        """Returns the children with a number; none for one that there is none of."""
        found = self._children.get(number)
        return [] if found is None else list(found())

    # ------------------------------------------------------------ threads

    def cores(self) -> list[tuple[int, str]]:
        """Cores as threads: block and name."""
        found = ((one.block, one.core) for one in self.session.recording.threads)
        return list(dict.fromkeys(found))

    def thread_of(self, step: Step) -> int:
        """Returns the number of the thread of a step."""
        return self.cores().index((step.thread.block, step.thread.core)) + 1

    def step_of(self, thread: int) -> Step | None:
        """Returns where a core stands: the next step of it, or its last one."""
        cores = self.cores()
        if not 1 <= thread <= len(cores):
            return None
        steps = self.session.core_order(*cores[thread - 1]).steps
        if not len(steps):
            return None
        later = steps[steps >= self.session.position]
        return self.session.recording.step(int(later.min()) if later.size else int(steps.max()))

    def frames_of(self, thread: int) -> list[Variable]:
        """Returns the stack of a core."""
        step = self.step_of(thread)
        found: list[Variable] = []
        if step is None:
            return found
        for frame, at in self.session.frames(step):
            number = len(self.frames) + 1
            self.frames[number] = at
            statement = at.statement
            sources = self.session.sources
            name = f"@{frame.function}{show.loops_text(sources, at)} {at.thread.pipe}"
            seen = sources.place(statement)
            if seen.file == sources.program.name:
                place: Variable = {"line": statement.line, "column": statement.col}
                place |= {"endLine": statement.end_line, "endColumn": statement.end_col}
            else:
                place = {"line": seen.line, "column": 1, "file": seen.file}
            found.append({"id": number, "name": name, **place})
        return found

    # ------------------------------------------------------------ trees

    def scopes(self) -> list[Variable]:
        """Returns what there is to see in a frame."""
        trees = {
            "Locals": self._locals,
            "Arguments": self._arguments,
            "Pipes": self._pipes,
            "Operation": self._operation,
        }
        return [
            {"name": name, "variablesReference": self.reference(children), "expensive": False}
            for name, children in trees.items()
        ]

    def _locals(self) -> Iterable[Variable]:
        sources = self.session.sources
        for name, value in sorted(self.session.variables().items()):
            if sources.is_written(name):
                yield self.variable(sources.shown_name(name), value)

    def _arguments(self) -> Iterable[Variable]:
        recording = self.session.recording
        for one in recording.arguments:
            name = self.session.sources.shown_name(f"%{one.name}")
            position = self.session.position - 1
            yield self.variable(name, recording.argument_at(position, one.name) if one.memory >= 0 else one.value)

    def _pipes(self) -> Iterable[Variable]:
        recording, position = self.session.recording, self.session.position
        for thread in recording.threads:
            numbers = np.flatnonzero(recording.steps.thread == thread.number)
            later = numbers[numbers >= position]
            if numbers.size:
                text = "idle" if not later.size else show.step_line(self.session.sources, recording.step(int(later[0])))
                yield {"name": show.place(thread), "value": text, "variablesReference": 0}

    def _operation(self) -> Iterable[Variable]:
        recording, step = self.session.recording, self.session.around()
        for access in recording.accesses_of(step.number):
            name = recording.memories[access.memory].name
            word = "writes" if access.writes else "reads"
            yield {
                "name": f"{word} {name}",
                "value": f"[{access.first}, {access.stop})",
                "variablesReference": 0,
                "memoryReference": f"{access.memory}:{access.first}",
            }

    def variable(self, name: str, value: Any) -> Variable:
        """Returns a value as an editor shows it."""
        if not isinstance(value, Handle):
            return self._plain(name, value)
        found: Variable = {"name": name, "type": value.type, "evaluateName": name}
        found["value"] = show.handle_text(self.session.recording, value)
        found["variablesReference"] = 0
        if value.memory >= 0:
            found["memoryReference"] = f"{value.memory}:{value.address}"
            found["variablesReference"] = self.reference(lambda: self._content(value))
        return found

    def _content(self, handle: Handle) -> Iterable[Variable]:
        try:
            yield from self._parts(np.asarray(self.session.content(handle)))
        except ExpressionError as error:
            yield {"name": "error", "value": str(error), "variablesReference": 0}

    def _plain(self, name: str, value: Any) -> Variable:
        array = np.asarray(value)
        text = show.value_text(value)
        if array.ndim == 0:
            return {"name": name, "value": text, "evaluateName": name, "variablesReference": 0}
        reference = self.reference(lambda: self._parts(array))
        head = text.split("\n")[0]
        return {"name": name, "value": head, "evaluateName": name, "variablesReference": reference}

    def _parts(self, array: Any) -> Iterable[Variable]:
        for index in range(min(len(array), MOST_PARTS)):
            yield self._plain(f"[{index}]", array[index])


MOST_PARTS = 4096
"""Elements of an array that are listed."""
