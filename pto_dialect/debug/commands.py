"""The debugger in the terminal: commands over a session. Source: docs/debugger.md, "Commands"."""

from __future__ import annotations

import cmd
from collections.abc import Callable, Iterable
from typing import Any, TextIO

import numpy as np

from pto_dialect.recording import Handle, RecordingError

from . import show
from .expressions import Expression, ExpressionError
from .memory import change_of, memory_of, target_of, values_at
from .notable import remarks, written
from .points import FindingPoint, NanPoint, Point, StatementPoint, WritePoint, statements_named
from .session import DebugError, Session

PROMPT = "(pto) "
_AROUND = 5
"""Lines that ``list`` shows before and after the current one."""


class Debugger(cmd.Cmd):
    """Reads commands and carries them out on a session."""

    prompt = PROMPT
    doc_header = "Commands (help COMMAND explains one):"

    def __init__(self, session: Session, stdin: TextIO, stdout: TextIO, echo: bool) -> None:
        super().__init__(stdin=stdin, stdout=stdout)
        self.session = session
        self.echo = echo
        self.use_rawinput = not echo
        self.displays: list[Expression] = []

    # ------------------------------------------------------------ loop

    def precmd(self, line: str) -> str:
        """Prints the command where the terminal does not show it."""
        if self.echo:
            self.say(line if line != "EOF" else "")
        word, blank, rest = line.strip().partition(" ")
        return f"{ALIASES.get(word, word.replace('-', '_'))}{blank}{rest}"

    def onecmd(self, line: str) -> bool:
        """Executes one command; prints its errors."""
        try:
            return bool(super().onecmd(line))
        except (DebugError, ExpressionError, RecordingError) as error:
            self.say(f"error: {error}")
        except (KeyError, IndexError) as error:
            self.say(f"error: {error.args[0] if error.args else error}")
        return False

    def default(self, line: str) -> None:
        """There is no such command."""
        raise DebugError(f"there is no command {line.split()[0]}; help lists them")

    def say(self, text: str) -> None:
        """Writes lines."""
        self.stdout.write(text + "\n")

    def start(self) -> None:
        """Prints the recording and the current position."""
        recording = self.session.recording
        program = recording.program
        self.say(f"{program.file}: @{program.entry} on {program.target}, {len(recording)} steps")
        if recording.dropped:
            self.say(f"{recording.dropped} steps before the first one were not kept (--record-limit)")
        if recording.findings:
            count = len(recording.findings)
            self.say(f"{count} finding{'s' if count > 1 else ''}; info findings shows more")
        if recording.outcome.kind == "failed":
            self._failure()
        self.here()

    def _failure(self) -> None:
        outcome = self.session.recording.outcome
        self.say(f"the run failed at line {outcome.line}: {outcome.message} [{outcome.rule}]")
        for note in outcome.notes:
            self.say(f"  {note}")
        self.session.move(max(self.session.end - 1, 0))

    def here(self) -> None:
        """Shows where the session stands, and the expressions to display."""
        session = self.session
        step = session.here
        if step is None:
            self.say("the run is over" if session.end else "nothing was executed")
        else:
            self.say(show.step_lines(session.sources, step))
        for expression in self.displays:
            self._display(expression)

    def _display(self, expression: Expression) -> None:
        try:
            self.say(f"{expression.text} = {show.value_text(self.session.value(expression))}")
        except ExpressionError as error:
            self.say(f"{expression.text}: {error}")

    # ------------------------------------------------------------ moving

    def do_step(self, text: str) -> None:
        """step [N]: carries out the next operation, or N of them, on whatever core it is."""
        self._moved(self.session.position + _count(text))

    def do_run(self, text: str) -> None:
        """run: starts again from the begin; what set has changed is forgotten, breakpoints stay."""
        self.session.restart()
        self.here()

    def do_back(self, text: str) -> None:
        """back [N]: goes back one operation, or N of them."""
        self._moved(self.session.position - _count(text))

    def do_next(self, text: str) -> None:
        """next [N]: continues to the next line of this core, N times."""
        for _ in range(_count(text)):
            self.session.move(self.session.next_line(True))
        self.here()

    def do_rnext(self, text: str) -> None:
        """rnext [N]: goes back to the line before on this core, N times."""
        for _ in range(_count(text)):
            self.session.move(self.session.next_line(False))
        self.here()

    def do_over(self, text: str) -> None:
        """over: continues past the next loop, branch or call, or the innermost enclosing loop or function."""
        self._moved(self.session.over())

    def do_into(self, text: str) -> None:
        """into: continues to the first operation of the next called function."""
        self._moved(self.session.into())

    def do_out(self, text: str) -> None:
        """out: continues until the function returns."""
        self._moved(self.session.out())

    def do_idle(self, text: str) -> None:
        """idle PIPE: continues until this pipe of the core has finished all its operations."""
        self._moved(self.session.idle(_needed(text, "a pipe, such as MTE2").upper()))

    def do_continue(self, text: str) -> None:
        """continue: continues to the next breakpoint."""
        self._go(True)

    def do_rcontinue(self, text: str) -> None:
        """rcontinue: goes back to the breakpoint before."""
        self._go(False)

    def do_goto(self, text: str) -> None:
        """goto N|begin|end: goes to the position before step N, before the first step, or after the last one."""
        words = {"begin": 0, "end": self.session.end}
        word = _needed(text, "a step")
        self._moved(words[word] if word in words else _number(word))

    def do_until(self, text: str) -> None:
        """until EXPRESSION: continues, operation by operation, until the expression is true."""
        condition = Expression(_needed(text, "an expression"))
        session = self.session
        for position in range(session.position + 1, session.end + 1):
            try:
                if np.all(session.value(condition, position)):
                    self._moved(position)
                    return
            except ExpressionError:
                continue
        self._moved(session.end)

    def _moved(self, position: int) -> None:
        self.session.move(position)
        self.here()

    def _go(self, forwards: bool) -> None:
        stop = self.session.go(forwards)
        if stop is not None:
            self.say(stop.text)
        elif not forwards:
            self.say("this is the begin")
        self.here()

    # ------------------------------------------------------------ breakpoints

    def do_break(self, text: str) -> None:
        """break [FILE:]LINE|OPERATION [if EXPRESSION]: stops before statements of a line, or of an operation such as
        pto.tload, tload or t*, TLOAD in C++; where the expression is true."""
        place, _, condition = text.partition(" if ")
        place = _needed(place, "a line or an operation")
        sources = self.session.sources
        file, _, line = place.rpartition(":")
        if line.isdigit():
            found = sources.lines(file or self._file()).get(int(line), [])
        else:
            found = statements_named(self.session.recording, place) or sources.named(place)
        if not found:
            where = "on line" if line.isdigit() else "called"
            raise DebugError(f"no statement that can be stopped at is {where} {place}")
        self._added(StatementPoint(text.strip(), found, Expression(condition) if condition else None))

    def do_watch(self, text: str) -> None:
        """watch %NAME | MEMORY FIRST COUNT: stops after operations that write bytes of a tile, a view, or a memory
        (block0.aiv0.ub, ub, an argument)."""
        memory, first, stop = target_of(self.session, _needed(text, "a name, or a memory with bytes"))
        self._added(WritePoint(f"write of {text.strip()}", memory, first, stop))

    def do_nan(self, text: str) -> None:
        """nan [%NAME]: stops after operations that write a NaN, through any operand or this one."""
        name = text.strip()
        known = self.session.sources.value_name(name) if name else None
        self._added(NanPoint(f"NaN in {name}" if name else "NaN", known))

    def do_finding(self, text: str) -> None:
        """finding: stops before operations at which a sanitizer has found something."""
        self._added(FindingPoint("finding"))

    def do_delete(self, text: str) -> None:
        """delete [N]: removes a breakpoint, or all."""
        if text.strip():
            self.session.points.remove(self.session.point(_number(text)))
        else:
            self.session.points.clear()

    def do_disable(self, text: str) -> None:
        """disable N: passes over a breakpoint."""
        self.session.point(_number(text)).enabled = False

    def do_enable(self, text: str) -> None:
        """enable N: stops at a breakpoint again."""
        self.session.point(_number(text)).enabled = True

    def _added(self, point: Point) -> None:
        self.session.add(point)
        self.say(f"breakpoint {point.number}, {point.text}")

    # ------------------------------------------------------------ values

    def do_print(self, text: str) -> None:
        """print EXPRESSION: shows a value, e.g. %c[0:4, :8] or max(abs(%c - ref))."""
        expression = Expression(_needed(text, "an expression"))
        bare = self.session.variables().get(self.session.sources.value_name(expression.text))
        value = self.session.value(expression)
        if isinstance(bare, Handle):
            self.say(show.handle_text(self.session.recording, bare))
        self.say(show.value_text(value))
        if isinstance(bare, Handle) and (told := remarks(value, bare.form.element)):
            self.say(told)

    def do_display(self, text: str) -> None:
        """display [EXPRESSION]: shows a value now and at every stop; without one those that are displayed."""
        if text.strip():
            self.displays.append(Expression(text))
            self._display(self.displays[-1])
        else:
            for number, expression in enumerate(self.displays, 1):
                self.say(f"{number}: {expression.text}")

    def do_undisplay(self, text: str) -> None:
        """undisplay N: does not show this value any more."""
        number = _number(text)
        if not 1 <= number <= len(self.displays):
            raise DebugError(f"there is no display {number}")
        del self.displays[number - 1]

    def do_locals(self, text: str) -> None:
        """locals: numbers, tiles, views and pointers of the function that is carried out."""
        sources = self.session.sources
        known = {name: value for name, value in self.session.variables().items() if sources.is_written(name)}
        for name, value in sorted((sources.shown_name(name), value) for name, value in known.items()):
            if isinstance(value, Handle):
                self.say(f"{name}: {show.handle_text(self.session.recording, value)}")
            else:
                self.say(f"{name} = {show.value_text(value)}")

    def do_memory(self, text: str) -> None:
        """memory MEMORY FIRST COUNT [FORMAT]: shows bytes, or elements of a format such as f16; memory lists the
        memories."""
        words = text.split()
        if not words:
            for memory in self.session.recording.memories:
                self.say(f"{memory.name}: {memory.size} bytes")
            return
        if len(words) not in (3, 4):
            raise DebugError("memory takes a memory, the first byte, the number of bytes, and a format")
        found = memory_of(self.session, words[0])
        first, count = _number(words[1]), _number(words[2])
        position = self.session.position
        content = self.session.recording.memory_at(position - 1, found.number, first=first, stop=first + count)
        if len(words) == 4:
            self.say(show.value_text(values_at(content, words[3])))
        else:
            self.say(show.bytes_text(content, first))

    def do_load(self, text: str) -> None:
        """load NAME FILE.npy: reads an array, which expressions call NAME."""
        name, _, path = _needed(text, "a name and a file").partition(" ")
        if not name.isidentifier() or not path:
            raise DebugError("load takes a name and a file, such as: load ref expected.npy")
        try:
            self.session.arrays[name] = np.load(path.strip(), allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise DebugError(f"cannot read '{path.strip()}': {error}") from None

    def do_compare(self, text: str) -> None:
        """compare EXPRESSION , EXPRESSION: prints where two arrays differ."""
        one, comma, other = text.rpartition(" , ")
        if not comma:
            raise DebugError("compare takes two expressions, such as: compare %c , ref")
        values = [np.asarray(self.session.value(Expression(each))) for each in (one, other)]
        self.say(show.difference(*values))

    def do_set(self, text: str) -> None:
        """set %NAME[I, J] = EXPRESSION | set MEMORY FIRST FORMAT = EXPRESSION: changes numbers and runs the program on
        from here with them."""
        left, equals, right = text.partition("=")
        if not equals:
            raise DebugError("set takes a memory range and a value, such as: set %c[0, 0] = 1.5")
        value = self.session.value(Expression(right))
        self.session.change(*change_of(self.session, left.strip(), value))
        self.here()

    def do_writer(self, text: str) -> None:
        """writer %NAME | writer MEMORY FIRST COUNT: prints the operations that wrote these bytes last."""
        memory, first, stop = target_of(self.session, _needed(text, "a name, or a memory with bytes"))
        recording = self.session.recording
        found = recording.history(memory).writers(self.session.position - 1, first, stop)
        steps = list(dict.fromkeys(int(recording.accesses.step[number]) for number in found[::-1]))[:8]
        for number in steps:
            step = recording.step(number)
            self.say(show.step_lines(self.session.sources, step))
        if not steps:
            self.say("nobody has written them")

    # ------------------------------------------------------------ places

    def do_where(self, text: str) -> None:
        """where: the functions that the core is in, innermost first."""
        for number, (frame, step) in enumerate(self.session.frames(self.session.around())):
            sources = self.session.sources
            line = sources.place(step.statement).line
            self.say(f"#{number} @{frame.function} line {line}{show.loops_text(sources, step)}")

    def do_pipes(self, text: str) -> None:
        """pipes: what each pipe of each core has done last, and does next."""
        recording, position = self.session.recording, self.session.position
        for thread in recording.threads:
            numbers = np.flatnonzero(recording.steps.thread == thread.number)
            if not numbers.size:
                continue
            done = int(np.searchsorted(numbers, position))
            texts: list[str] = []
            for word, place in (("last", done - 1), ("next", done)):
                if 0 <= place < numbers.size:
                    step = recording.step(int(numbers[place]))
                    texts.append(f"{word} #{step.number} {step.statement.name} line {step.statement.line}")
            self.say(f"{show.place(thread)}: {'; '.join(texts)}")
        for one in recording.waiting if position == self.session.end else ():
            statement = recording.statements[one.statement]
            signals = ", ".join(one.signals)
            self.say(f"{show.place(recording.threads[one.thread])}: waits at line {statement.line} for {signals}")
        if recording.waiting and position == self.session.end:
            self._left()

    def _left(self) -> None:
        """Prints the signals that were sent but not received, which may be ones that others wait for under another
        name."""
        recording = self.session.recording
        for one in recording.signals:
            if not one.waits and one.peer < 0:
                line = recording.step(one.step).statement.line
                self.say(f"{one.text} was set at line {line} (#{one.step}), and nobody has taken it")

    def do_list(self, text: str) -> None:
        """list [[FILE:]LINE]: the program around a line, by default the current one; > is here, * has a breakpoint."""
        sources = self.session.sources
        here = self._file()
        named, _, line = text.strip().rpartition(":")
        file = named or here
        lines = sources.text(file)
        if lines is None:
            raise DebugError(f"'{file}' is no file of the program that can be read")
        current = sources.place(self.session.around().statement).line if self.session.end and file == here else 0
        middle = _number(line) if line else current or 1
        stopped = {n for one in self.session.points if isinstance(one, StatementPoint) for n in one.statements}
        stops = {number for number, found in sources.lines(file).items() if stopped.intersection(found)}
        for number in range(max(middle - _AROUND, 1), min(middle + _AROUND, len(lines)) + 1):
            mark = ("*" if number in stops else " ") + (">" if number == current else " ")
            self.say(f"{mark}{number:>5}  {lines[number - 1]}")

    def _file(self) -> str:
        """Returns the file with the current line."""
        session = self.session
        return session.sources.place(session.around().statement).file if session.end else session.sources.program.name

    def do_info(self, text: str) -> None:
        """info breakpoints|findings|step|signals|arguments: prints these."""
        topics: dict[str, Callable[[], Iterable[str]]] = {
            "breakpoints": self._breakpoints,
            "findings": self._findings,
            "step": self._accesses,
            "signals": self._signals,
            "arguments": self._arguments,
        }
        word = text.strip()
        if word not in topics:
            raise DebugError(f"info takes {', '.join(topics)}")
        lines = list(topics[word]())
        self.say("\n".join(lines) if lines else "none")

    def _breakpoints(self) -> Iterable[str]:
        for point in self.session.points:
            state = "" if point.enabled else ", disabled"
            yield f"{point.number}: {point.text}, {point.hits} hits{state}"

    def _findings(self) -> Iterable[str]:
        for one in self.session.recording.findings:
            steps = ", ".join(f"#{step}" for step in one.steps)
            yield f"{steps or 'no step'} line {one.line}: {one.message} [{one.rule}]"
            for text, line in one.notes:
                yield f"  line {line}: {text}" if line else f"  {text}"
            if one.help:
                yield f"  help: {one.help}"

    def _accesses(self) -> Iterable[str]:
        recording, step = self.session.recording, self.session.around()
        for access in recording.accesses_of(step.number):
            word = "writes" if access.writes else "reads"
            size = int(recording.accesses.size[access.number])
            name = recording.memories[access.memory].name
            yield f"{word} {size} bytes of {name} in [{access.first}, {access.stop})"
        yield from written(recording, step)

    def _signals(self) -> Iterable[str]:
        for one in self.session.recording.signals_of(self.session.around().number):
            peer = f", {'set by' if one.waits else 'taken by'} #{one.peer}" if one.peer >= 0 else ""
            yield f"{'waits for' if one.waits else 'sets'} {one.text}{peer}"

    def _arguments(self) -> Iterable[str]:
        for one in self.session.recording.arguments:
            value: Any = one.value if one.value is not None else f"{'x'.join(map(str, one.shape))} {one.dtype}"
            yield f"%{one.name}: {one.type} = {value}"

    def do_quit(self, text: str) -> bool:
        """quit: ends the debugger."""
        return True

    def do_EOF(self, text: str) -> bool:
        """Ends the debugger at the end of the input."""
        return True


ALIASES = {
    **{"s": "step", "stepi": "step", "rstep": "back", "b": "break", "n": "next", "c": "continue", "rc": "rcontinue"},
    **{"p": "print", "x": "memory", "bt": "where", "backtrace": "where", "l": "list", "q": "quit", "d": "delete"},
    **{"finish": "out", "reverse-step": "back", "reverse-next": "rnext", "reverse-continue": "rcontinue"},
    **{"h": "help", "i": "info", "exit": "quit", "r": "run", "restart": "run"},
}
"""Other names of commands."""


def _number(text: str) -> int:
    try:
        return int(text.strip(), 0)
    except ValueError:
        raise DebugError(f"'{text.strip()}' is no number") from None


def _count(text: str) -> int:
    return _number(text) if text.strip() else 1


def _needed(text: str, what: str) -> str:
    if not text.strip():
        raise DebugError(f"the command takes {what}")
    return text.strip()
