"""What each request of an agent does. Every public method of :class:`Requests` is one; its docstring is its
description for the agent."""

from __future__ import annotations

import re
from typing import Literal

from .answers import Answer, diagnostics, document_in, renamed, replacements
from .calls import MOST_TEXT, Calls, Ended, clipped, expect_result, reason
from .folder import Folder, Program, RefusedError

Show = Literal["check", "run", "sanitize"]
"""What a smaller program has to show: an error of the verifier, of a run, or of a sanitized run."""

_REDUCED = {"check": ("check",), "run": ("run", "--auto"), "sanitize": ("run", "--auto", "--sanitize")}
_JSON = ("--output-format", "json")
_VALUE = re.compile(r"[\w.+:=,-]+", re.ASCII)
_NAME = re.compile(r"[\w.$-]+", re.ASCII)
_NOT_STARTED = 2
"""Exit code of a launch that is wrong."""

_OWN_SHARE = 0.5
"""Part of the seconds of a call that a search may plan with; the rest is for its start and its last run."""

_CHANGE = "  line "
"""Begin of a line about a change, in what ``--fix`` says."""

MOST_WORDS = 200
MOST_PAGE = 12_000
MOST_FUNCTIONS = 20


class Requests:
    """The requests on programs of one folder."""

    def __init__(self, folder: Folder, calls: Calls) -> None:
        self._folder = folder
        self._calls = calls

    def check(self, file: str = "", text: str = "", target: str = "") -> Answer:
        """Check a PTO program: the .pto file named relative to the folder, or the text. Answers each diagnostic with
        rule, file, line, column, message, help and fixes. A fix has edits: replace what is from line and column, which
        count from 1, up to end_line and end_column by text. Apply the edits of one fix, then check again."""
        source = self._source(file, text)
        ended = self._calls.command(source, "check", (*_JSON, *_option("--target", target)), settings=True)
        return _reported(ended, source)

    def fix(
        self, file: str = "", text: str = "", target: str = "", unsafe: bool = False, write: bool = False
    ) -> Answer:
        """Correct all mistakes of a program that have a safe fix; with unsafe also likely guesses. Answers edits of
        the program (places are those of the program as it is), what they do, and the diagnostics that remain. Only with
        write is the file changed."""
        source = self._source(file, text)
        options = (*_JSON, *_option("--target", target), *(("--unsafe",) if unsafe else ()))
        ended = self._calls.command(source, "fix", options, settings=True)
        return self._with_edits(_reported(ended, source), source, ended, write)

    def run(
        self, file: str = "", text: str = "", arguments: dict[str, str] | None = None, values: bool = False
    ) -> Answer:
        """Run a program. Arguments without a value are generated; a value is a number, or random:TYPE:SHAPE,
        ones:TYPE:SHAPE, zeros:TYPE:SHAPE, arange:TYPE:SHAPE, for example {"x": "random:f32:16x64"}. Answers the result
        of each argument as text, with values its elements."""
        source = self._source(file, text)
        options = (*_JSON, "--auto", *_arguments(arguments), *(("--dump",) if values else ()))
        return _ran(self._calls.command(source, "run", options, settings=True), source)

    def sanitize(
        self, file: str = "", text: str = "", arguments: dict[str, str] | None = None, strict: bool = False
    ) -> Answer:
        """Run a program under the sanitizers: races between pipes, deadlocks, uninitialised and out-of-bounds memory.
        With strict also where the program leaves the order of pipes to the compiler. Answers findings as diagnostics,
        and edits that order the pipes, if there are."""
        source = self._source(file, text)
        fixing = (f"--fix={self._calls.RESULT}",)
        order = ("--sync", "strict") if strict else ()
        options = (*_JSON, "--auto", "--sanitize", *order, *fixing, *_arguments(arguments))
        ended = self._calls.command(source, "run", options, settings=True)
        return self._with_edits(_ran(ended, source), source, ended, False)

    def explain(self, name: str, part: str = "") -> Answer:
        """Explain an operation, a rule, a type, an attribute, a pass or a term: syntax, operands, constraints, example.
        With part only these parts of the page, such as "syntax, operands, example". A page of the documentation is
        named as docs/sanitizers.md."""
        word = f"{_word(name)}#{part}" if part.strip() else _word(name)
        ended = self._calls.function("pto_dialect.tools.start:pto", "explain", word, "--color", "never")
        expect_result(ended)
        return {"text": clipped(ended.out, MOST_PAGE)}

    def search_operations(self, question: str, most: int = 8) -> Answer:
        """Find operations, rules, terms and pages by what they do, or by a name of CUDA, Triton or Ascend C.
        Answers names for explain."""
        ended = self._calls.function(
            "pto_dialect.integrations.agents.searching:main", _word(question), str(min(max(most, 1), 20))
        )
        expect_result(ended)
        return {"found": document_in('{"found": ' + ended.out + "}")[0].get("found", [])}

    def reduce(self, file: str = "", text: str = "", show: Show = "check", rule: str = "", message: str = "") -> Answer:
        """Find the smallest program that still shows something: an error of check, run or sanitize, which have made-up
        arguments; with rule one of this rule, with message one of this text. Answers the program."""
        source = self._source(file, text)
        seconds = str(self._calls.limits.seconds * _OWN_SHARE)
        condition = (*_option("--rule", rule), *((f"--stderr={_word(message)}",) if message else ()))
        none = ("--no-config",) if source.settings is None else ()
        ended = self._calls.command(
            source, "reduce", ("--seconds", seconds, *condition, "-o", self._calls.RESULT), settings=False,
            last=("--", *_REDUCED[show], *none),
        )  # fmt: skip
        if ended.code:
            raise RefusedError(reason(ended))
        return {"program": clipped(ended.result or "", MOST_PAGE), "remarks": ended.err.strip()}

    def prove(self, file: str = "", text: str = "", assume: str = "") -> Answer:
        """Prove the order of the pipes of each function for all arguments and numbers of iterations. Answers for each
        function proven, refuted with the smallest call in which something is wrong, or undecided with the reason.
        assume is a condition of arguments, for example n % 16 == 0."""
        source = self._source(file, text)
        condition = (f"--assume={_word(assume)}",) if assume else ()
        ended = self._calls.command(source, "prove", (*_JSON, *condition), settings=False)
        document, _ = document_in(ended.out)
        if not document:
            raise RefusedError(reason(ended))
        kept = ("name", "core", "location", "verdict", "reason", "operation", "witness")
        functions = [{key: one[key] for key in kept if one.get(key) is not None} for one in document["functions"]]
        return {"summary": document["summary"], "functions": renamed(functions[:MOST_FUNCTIONS], source.name)}

    def optimize(
        self, file: str = "", text: str = "", arguments: dict[str, str] | None = None, limit: int = 20
    ) -> Answer:
        """Search the passes with which a kernel takes the least time by the cycle model; results stay bit by bit what
        they are. Arguments are written as for run, and each needs a value. Answers the passes for pto-opt -p, times in
        microseconds, also of the first pipeline, and the program after the passes."""
        source = self._source(file, text)
        options = (*_JSON, "--limit", str(min(max(limit, 1), 200)), "-o", self._calls.RESULT, *_arguments(arguments))
        ended = self._calls.command(source, "optimize", options, settings=False)
        document, _ = document_in(ended.out)
        if not document:
            raise RefusedError(reason(ended))
        right = [one for one in document["candidates"] if one["right"]]
        if not right:
            why = sorted({one["reason"] for one in document["candidates"]})
            raise RefusedError(clipped(f"no pipeline is right: {'; '.join(why)}", MOST_TEXT))
        best = document["best"]
        first = document["candidates"][0]
        answer: Answer = {"passes": best["passes"], "microseconds": best["microseconds"], "tried": len(right)}
        if first["right"]:
            answer["first"] = {"passes": first["passes"], "microseconds": first["microseconds"]}
        return answer | {"program": clipped(ended.result or "", MOST_PAGE)}

    def _source(self, file: str, text: str) -> Program:
        if bool(file) == bool(text):
            raise RefusedError("give file or text, one of the two")
        return self._folder.read(file) if file else self._folder.given(text)

    def _with_edits(self, answer: Answer, source: Program, ended: Ended, write: bool) -> Answer:
        result = ended.result
        changed = result is not None and result != source.text
        if changed and write:
            self._folder.write(source, result or "")
        edits = replacements(source.text, result or "") if changed else []
        return answer | {"edits": edits, "written": changed and write}


def _reported(ended: Ended, source: Program) -> Answer:
    document, notes = document_in(ended.err)
    if not document:
        expect_result(ended)
    answer = diagnostics(document, source.name)
    return answer | _changes(notes)


def _changes(notes: list[str]) -> Answer:
    """Returns what a fix has changed, line by line."""
    told = [line.strip() for line in notes if line.startswith(_CHANGE)]
    return {"changes": told[:50]} if told else {}


def _ran(ended: Ended, source: Program) -> Answer:
    document, notes = document_in(ended.err)
    if not document or ended.code == _NOT_STARTED:
        expect_result(ended)
    answer: Answer = {"exit_code": ended.code, **diagnostics(document, source.name)}
    said = "\n".join(line for line in notes if line.strip() and not line.startswith((_CHANGE, "fix: ")))
    answer |= {"output": clipped(ended.out, MOST_TEXT), **_changes(notes)}
    return answer | ({"remarks": clipped(said, MOST_TEXT)} if said else {})


def _option(name: str, value: str) -> tuple[str, ...]:
    if not value:
        return ()
    if not _NAME.fullmatch(value) or value.startswith("-"):
        raise RefusedError(f"'{clipped(value, 80)}' is no value for {name.removeprefix('--')}")
    return (name, value)


def _arguments(given: dict[str, str] | None) -> list[str]:
    """Returns the options for arguments whose values are numbers or generated."""
    words: list[str] = []
    for name, value in (given or {}).items():
        if not _NAME.fullmatch(name) or name.startswith("-"):
            raise RefusedError(f"'{clipped(name, 80)}' is no name of an argument")
        if not _VALUE.fullmatch(value) or ".." in value or ":inout" in value:
            raise RefusedError(
                f"{name}: '{clipped(value, 80)}' is neither a number nor like random:f32:16x64; files are not read"
            )
        words += ["--arg", f"{name}={value}"]
    return words


def _word(text: str) -> str:
    word = text.strip()
    if not word or len(word) > MOST_WORDS or not word.isprintable() or word.startswith("-"):
        raise RefusedError(f"this has 1 to {MOST_WORDS} printable characters, of which the first is no '-'")
    return word
