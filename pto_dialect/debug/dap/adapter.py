"""The debug adapter: requests of an editor, carried out on a session. Source: docs/debugger.md, "Editors"."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from typing import Any

from pto_dialect.recording import Recording, RecordingError

from .. import show
from ..expressions import Expression, ExpressionError
from ..memory import target_of
from ..points import FindingPoint, NanPoint, Point, StatementPoint, WritePoint, statements_named
from ..session import DebugError, Session
from .protocol import Connection, ProtocolError
from .values import Values

Launch = Callable[[dict[str, Any]], tuple[Recording, str]]
"""Records the run of a launch request; returns the recording and the path of the program. Raises ``DebugError``."""

CAPABILITIES = {
    "supportsConfigurationDoneRequest": True,
    "supportsConditionalBreakpoints": True,
    "supportsFunctionBreakpoints": True,
    "supportsDataBreakpoints": True,
    "supportsEvaluateForHovers": True,
    "supportsReadMemoryRequest": True,
    "supportsStepBack": True,
    "supportsTerminateRequest": True,
    "exceptionBreakpointFilters": [
        {"filter": "finding", "label": "Findings of the sanitizers", "default": True},
        {"filter": "nan", "label": "NaNs", "default": False},
    ],
}


class Adapter:
    """Answers the requests that come over a connection, until it ends."""

    def __init__(self, connection: Connection, launch: Launch) -> None:
        self.connection = connection
        self.launch = launch
        self.session: Session | None = None
        self.program = ""
        self.values: Values | None = None
        self.groups: dict[str, list[Point]] = {}
        self.stop_on_entry = False
        self.done = False

    def run(self) -> None:
        """Answers until the editor disconnects or vanishes."""
        try:
            while not self.done and not self.connection.closed:
                message = self.connection.receive()
                if message is None:
                    return
                if message.get("type") == "request":
                    self._answer(message)
        except ProtocolError as error:
            self.connection.event("output", category="stderr", output=f"error: {error}\n")
        finally:
            if self.session is not None:
                self.session.recording.close()

    def _answer(self, message: dict[str, Any]) -> None:
        command = str(message.get("command", ""))
        given = message.get("arguments")
        arguments = given if isinstance(given, dict) else {}
        answer = {"request_seq": message.get("seq", 0), "command": command}
        handler = getattr(self, f"on_{command}", None)
        try:
            if handler is None:
                raise DebugError(f"there is no request {command}")
            body = handler(arguments)
        except (DebugError, ExpressionError, RecordingError) as error:
            self._fail(answer, str(error))
            return
        except (KeyError, IndexError, TypeError, ValueError) as error:
            self._fail(answer, f"{command}: {error}")
            return
        # Requests that ask for nothing have an answer without a body; clients read what is there.
        told = {"body": body} if body else {}
        self.connection.send("response", success=True, **told, **answer)
        after = getattr(self, f"after_{command}", None)
        if after is not None:
            after()

    def _fail(self, answer: dict[str, Any], text: str) -> None:
        error = {"id": 1, "format": "{text}", "variables": {"text": text}, "showUser": True}
        self.connection.send("response", success=False, message=text, body={"error": error}, **answer)

    @property
    def ready(self) -> Session:
        """The session. Raises ``DebugError`` before there is one."""
        if self.session is None:
            raise DebugError("nothing was launched")
        return self.session

    @property
    def trees(self) -> Values:
        """The values at the current position."""
        assert self.ready and self.values is not None
        return self.values

    # ------------------------------------------------------------ begin and end

    def on_initialize(self, _: dict[str, Any]) -> dict[str, Any]:
        """Says what the adapter can do."""
        return CAPABILITIES

    def on_launch(self, given: dict[str, Any]) -> None:
        """Runs the program, or opens a recording."""
        recording, self.program = self.launch(given)
        self.session = Session(recording)
        self.values = Values(self.session)
        self.stop_on_entry = bool(given.get("stopOnEntry"))
        self.connection.event("initialized")

    on_attach = on_launch

    def on_configurationDone(self, _: dict[str, Any]) -> None:
        """Everything is set."""
        self._arrange()

    def after_configurationDone(self) -> None:
        """Goes to where the editor wants to begin."""
        session = self.ready
        failed = session.recording.outcome.kind == "failed"
        if failed and session.recording.outcome.message:
            outcome = session.recording.outcome
            text = f"line {outcome.line}: {outcome.message} [{outcome.rule}]\n"
            self.connection.event("output", category="stderr", output=text)
        if self.stop_on_entry or not session.end:
            self._stopped("entry")
        elif any(point.positions(session.recording)[:1].tolist() == [0] for point in session.points):
            self._stopped("breakpoint")
        else:
            self._go(True)

    def on_disconnect(self, _: dict[str, Any]) -> None:
        """The editor goes."""
        self.done = True

    def on_terminate(self, _: dict[str, Any]) -> None:
        """The session is to end."""

    def after_terminate(self) -> None:
        """Sends the event after termination."""
        self.connection.event("terminated")

    # ------------------------------------------------------------ breakpoints

    def on_setBreakpoints(self, given: dict[str, Any]) -> dict[str, Any]:
        """Returns the breakpoints on lines; a line without a statement has that of the next one."""
        points: list[Point] = []
        answers: list[dict[str, Any]] = []
        path = str((given.get("source") or {}).get("path", ""))
        lines = self.ready.sources.lines(os.path.basename(path))
        for one in given.get("breakpoints") or ():
            line = next((known for known in sorted(lines) if known >= int(one["line"])), 0)
            answer: dict[str, Any] = {"verified": bool(line), "line": line or int(one["line"])}
            try:
                condition = Expression(one["condition"]) if one.get("condition") else None
                if line:
                    points.append(StatementPoint(f"line {line}", lines[line], condition))
            except ExpressionError as error:
                answer |= {"verified": False, "message": str(error)}
            answers.append(answer)
        if lines:
            self.groups[f"lines of {path}"] = points
            self._arrange()
        return {"breakpoints": answers}

    def on_setFunctionBreakpoints(self, given: dict[str, Any]) -> dict[str, Any]:
        """Returns the breakpoints on operations."""
        points: list[Point] = []
        answers: list[dict[str, Any]] = []
        for one in given.get("breakpoints") or ():
            name = str(one["name"])
            found = statements_named(self.ready.recording, name) or self.ready.sources.named(name)
            condition = Expression(one["condition"]) if one.get("condition") else None
            if found:
                points.append(StatementPoint(str(one["name"]), found, condition))
            answers.append({"verified": bool(found)})
        self.groups["operations"] = points
        self._arrange()
        return {"breakpoints": answers}

    def on_setExceptionBreakpoints(self, given: dict[str, Any]) -> dict[str, Any]:
        """NaNs and findings."""
        filters = given.get("filters") or ()
        points: list[Point] = [NanPoint("NaN", None)] if "nan" in filters else []
        self.groups["exceptions"] = [*points, *([FindingPoint("finding")] if "finding" in filters else [])]
        self._arrange()
        return {}

    def on_dataBreakpointInfo(self, given: dict[str, Any]) -> dict[str, Any]:
        """Returns whether a data breakpoint on a value is possible."""
        name = str(given.get("name", ""))
        try:
            memory, first, stop = target_of(self.ready, name)
        except DebugError as error:
            return {"dataId": None, "description": str(error)}
        return {"dataId": f"{memory}:{first}:{stop}", "description": name, "accessTypes": ["write"]}

    def on_setDataBreakpoints(self, given: dict[str, Any]) -> dict[str, Any]:
        """Watched bytes."""
        points: list[Point] = []
        for one in given.get("breakpoints") or ():
            memory, first, stop = (int(part) for part in str(one["dataId"]).split(":"))
            points.append(WritePoint(f"write of {one['dataId']}", memory, first, stop))
        self.groups["data"] = points
        self._arrange()
        return {"breakpoints": [{"verified": True}] * len(points)}

    def _arrange(self) -> None:
        session = self.ready
        session.points.clear()
        for group in self.groups.values():
            for point in group:
                session.add(point)

    # ------------------------------------------------------------ moving

    def on_continue(self, _: dict[str, Any]) -> dict[str, Any]:
        """Continues."""
        return {"allThreadsContinued": True}

    def after_continue(self) -> None:
        """Continues to the next breakpoint; the end of the recording ends the session."""
        if self.ready.position >= self.ready.end:
            self.connection.event("terminated")
        else:
            self._go(True)

    def on_reverseContinue(self, _: dict[str, Any]) -> None:
        """Goes back."""

    def after_reverseContinue(self) -> None:
        """To the breakpoint before."""
        self._go(False)

    def on_next(self, _: dict[str, Any]) -> None:
        """The next line."""
        self._move(self.ready.next_line(True))

    def on_stepIn(self, _: dict[str, Any]) -> None:
        """The next operation."""
        self._move(self.ready.position + 1)

    def on_stepOut(self, _: dict[str, Any]) -> None:
        """Continues past the loop or function."""
        self._move(self.ready.over())

    def on_stepBack(self, _: dict[str, Any]) -> None:
        """The operation before."""
        self._move(self.ready.position - 1)

    def on_pause(self, _: dict[str, Any]) -> None:
        """A recording stands still already."""

    def _moved(self) -> None:
        self._stopped("step")

    after_next = after_stepIn = after_stepOut = after_stepBack = after_pause = _moved

    def _move(self, position: int) -> None:
        self.ready.move(position)

    def _go(self, forwards: bool) -> None:
        stop = self.ready.go(forwards)
        if stop is None:
            self._stopped("step", "the run is over" if forwards else "this is the begin")
        elif isinstance(stop.point, (NanPoint, FindingPoint)):
            self._stopped("exception", stop.text)
        else:
            self._stopped("data breakpoint" if isinstance(stop.point, WritePoint) else "breakpoint", stop.text)

    def _stopped(self, reason: str, text: str = "") -> None:
        session = self.ready
        self.trees.clear()
        thread = self.trees.thread_of(session.around()) if session.end else 1
        said = {"description": text, "text": text} if text else {}
        self.connection.event("stopped", reason=reason, threadId=thread, allThreadsStopped=True, **said)

    # ------------------------------------------------------------ values

    def on_threads(self, _: dict[str, Any]) -> dict[str, Any]:
        """Cores."""
        names = [f"block {block} {core}" for block, core in self.trees.cores()] or ["nothing was executed"]
        return {"threads": [{"id": number, "name": name} for number, name in enumerate(names, 1)]}

    def on_stackTrace(self, given: dict[str, Any]) -> dict[str, Any]:
        """Returns the functions that a core is in."""
        frames = self.trees.frames_of(int(given["threadId"]))
        first = int(given.get("startFrame") or 0)
        count = int(given.get("levels") or 0) or len(frames)
        shown = [self._with_source(frame) for frame in frames[first : first + count]]
        return {"stackFrames": shown, "totalFrames": len(frames)}

    def _with_source(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Returns a frame with its file, which is beside the program where a location names it."""
        path = self.program
        if "file" in frame:
            path = os.path.join(os.path.dirname(path), frame["file"])
        known = {key: value for key, value in frame.items() if key != "file"}
        return {**known, "source": {"name": os.path.basename(path), "path": os.path.abspath(path)}}

    def on_scopes(self, _: dict[str, Any]) -> dict[str, Any]:
        """Returns what there is to see."""
        return {"scopes": self.trees.scopes()}

    def on_variables(self, given: dict[str, Any]) -> dict[str, Any]:
        """Returns a part of it."""
        found = self.trees.children(int(given["variablesReference"]))
        first = int(given.get("start") or 0)
        return {"variables": found[first : first + (int(given.get("count") or 0) or len(found))]}

    def on_evaluate(self, given: dict[str, Any]) -> dict[str, Any]:
        """Returns the value of an expression."""
        value = self.ready.value(Expression(str(given["expression"])))
        shown = self.trees.variable("", value)
        text = shown["value"] if given.get("context") == "hover" else show.value_text(value)
        return {"result": text, "variablesReference": shown["variablesReference"]}

    def on_readMemory(self, given: dict[str, Any]) -> dict[str, Any]:
        """Returns the bytes of a memory."""
        memory, address = (int(part) for part in str(given["memoryReference"]).split(":"))
        session = self.ready
        size = session.recording.memory(memory).size
        first = min(max(address + int(given.get("offset") or 0), 0), size)
        stop = min(first + max(int(given["count"]), 0), size)
        content = session.recording.memory_at(session.position - 1, memory, first=first, stop=stop)
        unreadable = int(given["count"]) - len(content)
        return {"address": f"{first:#x}", "data": base64.b64encode(content).decode(), "unreadableBytes": unreadable}
