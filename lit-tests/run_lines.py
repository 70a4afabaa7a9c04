"""Runs the RUN lines of a test file inside this Python process.

A test file is a `.pto` or `.mlir` file whose comments state what to run:

    // RUN: pto-opt %s --verify-only --split-input-file --verify-diagnostics
    // RUN: not pto-opt %s --target a5 2>&1 | filecheck %s --check-prefix=A5

`pto-opt` and `pto-run` are called as click commands and `filecheck` as a library, so that a file costs
milliseconds. `// RUN-SUBPROCESS:` lines read the same but start the installed `pto-opt` and `pto-run` as
processes.

What a line may hold:

- the commands `pto-opt`, `pto-run`, `filecheck`, `diff FILE FILE` and `cat FILE...` (`-` is standard input),
  each after an optional `not`, joined by `|` and `&&`; a `\\` at the end of a line continues it on the next
  RUN line;
- the redirections `< FILE`, `> FILE`, `2> FILE` and `2>&1`;
- `%s` (the test file), `%S` and `%p` (its directory), `%t` (a temporary file name of this test) and `%%`.

A line passes when every command of every pipe exits with 0 (with something else after `not`). A traceback
fails the test in any case: `not` expects an error message, never a crash.
"""

import difflib
import io
import re
import shlex
import subprocess
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from unittest import mock

SUFFIXES = (".pto", ".mlir")
EXCLUDED_DIRECTORIES = ("Inputs",)
"""Directories of files that tests refer to and that are no tests themselves."""

CLICK_COMMANDS = {"pto-opt": "pto_dialect.tools.pto_opt", "pto-run": "pto_dialect.tools.pto_run"}
"""Command name to the module whose `main` is the click command."""

SUBPROCESS_TIMEOUT_SECONDS = 120

_RUN_LINE = re.compile(r"^\s*//\s*(RUN|RUN-SUBPROCESS):\s*(.*?)\s*$")
_SUBSTITUTION = re.compile(r"%(?:%|[sSpt](?![A-Za-z0-9_]))")
_REDIRECTION = re.compile(r"(2?>|<)(?!&)(.*)", re.DOTALL)


class ScriptError(Exception):
    """A test file without RUN lines, or with one that says something this runner does not know."""


@dataclass(frozen=True, slots=True)
class RunLine:
    """One RUN line with its continuations: the text after the colon and the (1-based) line it starts on."""

    text: str
    line: int
    in_process: bool


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of a command: exit code, the two streams, and both in one.

    `interleaved` is in the order of writing for commands in this process; of a real process it is standard
    output followed by standard error.
    """

    exit_code: int
    stdout: bytes = b""
    stderr: bytes = b""
    interleaved: bytes = b""

    @property
    def crashed(self) -> bool:
        return self.exit_code < 0 or b"Traceback (most recent call last)" in self.stderr


@dataclass(slots=True)
class Stage:
    """One command of a pipe."""

    words: list[str] = field(default_factory=list)
    negated: bool = False
    stdin: Path | None = None
    stdout: Path | None = None
    stderr: Path | None = None
    merge_stderr: bool = False


def find_tests(root: Path) -> list[Path]:
    """The test files under `root`, sorted by path."""
    return sorted(
        path
        for path in root.rglob("*")
        if path.suffix in SUFFIXES and not set(path.relative_to(root).parts[:-1]) & set(EXCLUDED_DIRECTORIES)
    )


def run_test(path: Path, directory: Path) -> str | None:
    """Runs the RUN lines of `path`, with temporary files in `directory`.

    Returns None if all pass, else a report on the first one that does not.
    Raises ScriptError if the file has no RUN line or one that cannot be read.
    """
    substitutions = {
        "%s": str(path),
        "%S": str(path.parent),
        "%p": str(path.parent),
        "%t": str(directory / f"{path.name}.tmp"),
        "%%": "%",
    }
    for run_line in parse_run_lines(path.read_text(encoding="utf-8", errors="surrogateescape"), path):
        where = f"{path}:{run_line.line}"
        for pipeline in parse_script(run_line.text, substitutions, where):
            if report := _run_pipeline(pipeline, in_process=run_line.in_process, where=where):
                return report
    return None


def parse_run_lines(text: str, path: Path) -> list[RunLine]:
    """The RUN lines of a file, continuations joined."""
    lines: list[RunLine] = []
    open_line: RunLine | None = None
    for number, source in enumerate(text.splitlines(), start=1):
        if (match := _RUN_LINE.match(source)) is None:
            continue
        keyword, rest = match.groups()
        in_process = keyword == "RUN"
        if open_line is None:
            current = RunLine(rest, number, in_process)
        elif open_line.in_process == in_process:
            current = RunLine(f"{open_line.text} {rest}", open_line.line, in_process)
        else:
            raise ScriptError(f"{path}:{number}: a {keyword} line cannot continue the line above")
        if current.text.endswith("\\"):
            open_line = RunLine(current.text[:-1].rstrip(), current.line, in_process)
        else:
            open_line = None
            lines.append(current)
    if open_line is not None:
        raise ScriptError(f"{path}:{open_line.line}: the RUN line ends with '\\' and nothing continues it")
    if not lines:
        raise ScriptError(f"{path}: no RUN line")
    return lines


def parse_script(text: str, substitutions: dict[str, str], where: str) -> list[list[Stage]]:
    """The pipes of a RUN line (joined by `&&`), each a list of stages."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ScriptError(f"{where}: {error}") from error
    pipelines = [[Stage()]]
    remaining = iter(words)
    for word in remaining:
        stage = pipelines[-1][-1]
        if word == "|":
            pipelines[-1].append(Stage())
        elif word == "&&":
            pipelines.append([Stage()])
        elif word == "2>&1":
            stage.merge_stderr = True
        elif match := _REDIRECTION.fullmatch(word):
            operator, target = match.groups()
            file = Path(_substitute(target or next(remaining, ""), substitutions))
            match operator:
                case "<":
                    stage.stdin = file
                case ">":
                    stage.stdout = file
                case _:
                    stage.stderr = file
        elif word[0:1] in ("|", "&", ";", ">", "<"):
            raise ScriptError(f"{where}: {word!r} is not understood; operators need spaces around them")
        elif word == "not" and not stage.words:
            stage.negated = not stage.negated
        else:
            stage.words.append(_substitute(word, substitutions))
    if not all(stage.words for pipeline in pipelines for stage in pipeline):
        raise ScriptError(f"{where}: a command is missing")
    return pipelines


def run_command(name: str, arguments: Sequence[str], stdin: bytes = b"", *, in_process: bool = True) -> CommandResult:
    """Runs one command, e.g. `run_command("pto-opt", ["--version"])`, and returns its result.

    Raises ScriptError for a command that RUN lines do not have.
    """
    if name in CLICK_COMMANDS:
        return (_run_click if in_process else _run_process)(name, arguments, stdin)
    if name in _BUILTINS:
        return _run_captured(_BUILTINS[name], arguments, stdin)
    raise ScriptError(f"unknown command {name!r}; known are {', '.join(sorted({*CLICK_COMMANDS, *_BUILTINS}))}")


def _run_pipeline(pipeline: list[Stage], *, in_process: bool, where: str) -> str | None:
    piped = b""
    for stage in pipeline:
        name, *arguments = stage.words
        try:
            stdin = stage.stdin.read_bytes() if stage.stdin else piped
            result = run_command(name, arguments, stdin, in_process=in_process)
        except ScriptError as error:
            raise ScriptError(f"{where}: {error}") from error
        piped = result.interleaved if stage.merge_stderr else result.stdout
        if stage.stderr is not None:
            stage.stderr.write_bytes(result.stderr)
        if result.crashed or (result.exit_code == 0) == stage.negated:
            return _report(stage, stdin, result, where)
        if stage.stdout is not None:
            stage.stdout.write_bytes(piped)
            piped = b""
    return None


def _report(stage: Stage, stdin: bytes, result: CommandResult, where: str) -> str:
    command = shlex.join([*(["not"] if stage.negated else []), *stage.words])
    outcome = "crashed" if result.crashed else f"exited with {result.exit_code}"
    parts = [f"{where}: {outcome}: {command}"]
    streams = {"standard input": stdin, "standard output": result.stdout, "standard error": result.stderr}
    for title, stream in streams.items():
        if stream:
            parts.append(f"--- {title}\n{stream.decode('utf-8', 'replace').rstrip()}")
    return "\n".join(parts)


def _substitute(word: str, substitutions: dict[str, str]) -> str:
    return _SUBSTITUTION.sub(lambda match: substitutions[match.group()], word)


def _run_click(name: str, arguments: Sequence[str], stdin: bytes) -> CommandResult:
    from click.testing import CliRunner

    command = import_module(CLICK_COMMANDS[name]).main
    outcome = CliRunner().invoke(command, list(arguments), input=stdin, prog_name=name)
    stderr, interleaved = outcome.stderr_bytes, outcome.output_bytes
    if outcome.exc_info is not None and not isinstance(outcome.exception, SystemExit | None):
        trace = "".join(traceback.format_exception(*outcome.exc_info)).encode()
        stderr, interleaved = stderr + trace, interleaved + trace
    return CommandResult(outcome.exit_code, outcome.stdout_bytes, stderr, interleaved)


def _run_process(name: str, arguments: Sequence[str], stdin: bytes) -> CommandResult:
    program = Path(sysconfig.get_path("scripts"), name)
    if not program.exists():
        raise ScriptError(f"{program} does not exist; RUN-SUBPROCESS lines need the package installed")
    done = subprocess.run(
        [program, *arguments],
        input=stdin,
        capture_output=True,
        timeout=SUBPROCESS_TIMEOUT_SECONDS,
        check=False,
    )
    return CommandResult(done.returncode, done.stdout, done.stderr, done.stdout + done.stderr)


def _run_captured(function: Callable[[list[str]], int], arguments: Sequence[str], stdin: bytes) -> CommandResult:
    out, err = io.StringIO(), io.StringIO()
    source = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8", newline="")
    with mock.patch.object(sys, "stdin", source), redirect_stdout(out), redirect_stderr(err):
        code = function(list(arguments))
    stdout, stderr = out.getvalue().encode(), err.getvalue().encode()
    return CommandResult(code, stdout, stderr, stdout + stderr)


def _filecheck(arguments: list[str]) -> int:
    from filecheck.matcher import Matcher
    from filecheck.options import parse_argv_options

    try:
        matcher = Matcher.from_opts(parse_argv_options(["filecheck", *arguments]))
    except (OSError, RuntimeError) as error:
        print(f"filecheck: {error}", file=sys.stderr)
        return 2
    return matcher.run()


def _cat(arguments: list[str]) -> int:
    for line in _lines(arguments or ["-"]):
        print(line, end="")
    return 0


def _diff(arguments: list[str]) -> int:
    if len(arguments) != 2:
        raise ScriptError("diff takes two files")
    old, new = (list(_lines([name])) for name in arguments)
    difference = list(difflib.unified_diff(old, new, fromfile=arguments[0], tofile=arguments[1]))
    print("".join(difference), end="")
    return int(bool(difference))


def _lines(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
        yield from text.splitlines(keepends=True)


_BUILTINS: dict[str, Callable[[list[str]], int]] = {"cat": _cat, "diff": _diff, "filecheck": _filecheck}
