"""Where the installed commands begin. Nothing is imported before Ctrl-C is taken care of."""

import atexit
import os
import signal
import sys
from functools import partial
from importlib import import_module

from pto_dialect.accel import ACCELERATIONS, OPTION, UNKNOWN, VARIABLE, enabled, switch

from .constants import INTERRUPTED, NO_CACHE, SERVER_OPTION, SERVER_VARIABLE

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from .subcommands import Subcommand

ENDINGS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""The signals by which the system, or the end of a terminal, ends a process."""

NOT_INSTALLED = 2
"""Exit code: a part of the package that is not there."""

SCRIPTS = ("pto", "pto-opt", "pto-run", "pto-fmt", "pto-sweep", "pto-lsp", "pto-debug-adapter")
"""Names under which commands are installed."""


def pto() -> None:
    """The command ``pto``: as if the command of its first argument had been called."""
    _take_responses()
    found, name, words = routed(sys.argv[1:], "_PTO_COMPLETE" in os.environ)
    sys.argv[1:] = words
    if found is None:
        _command("pto", "pto")
        return
    if not os.path.exists(os.path.join(os.path.dirname(__file__), f"{found.module}.py")):
        from .pto import missing  # deferred: start-up

        missing(name)
        sys.exit(NOT_INSTALLED)
    sys.argv[0] = f"pto {name}"
    if found.module == "pto_opt":
        pto_opt(sys.argv[0])
    else:
        _command(found.module, sys.argv[0])


def routed(words: "list[str]", completing: bool = False) -> "tuple[Subcommand | None, str, list[str]]":
    """The sub-command that the arguments of ``pto`` name, its name, and its arguments; without one those of ``pto``
    itself."""
    from .subcommands import ALSO, SUBCOMMANDS  # deferred: start-up

    if words[:1] == ["help"]:
        # ``pto help NAME``: the help of a command.
        words = [*words[1:2], "--help"]
    first = ALSO.get(words[0], words[0]) if words else ""
    found = None if completing else SUBCOMMANDS.get(first)
    if found is None:
        return None, "", [first, *words[1:]] if words else []
    rest = words[1:]
    # A request for help is no value of the options before it.
    if rest[:1] in (["-h"], ["-help"], ["--help"]) or (first == "explain" and not rest):
        return found, first, rest or ["--help"]
    if first == "explain":
        # A question needs no quotes.
        end = next((at for at, word in enumerate(rest) if word.startswith("-")), len(rest))
        rest = [*([" ".join(rest[:end])] if end else []), *rest[end:]]
    return found, first, [*found.before, *rest]


def pto_opt(name: str | None = None) -> None:
    """The command ``pto-opt``, shown as ``name``. If the user requests it, a server answers instead."""
    _take_responses()
    if _may_want_server():
        from .server.client import call_server  # deferred: start-up

        if call_server():
            # This process has become a copy of the server that carries out the call of another one.
            from .server.copy import finish, listen  # deferred: start-up

            try:
                _start("pto_opt", name, listen)
            except SystemExit as end:
                finish(end)
                raise
            return
    _command("pto_opt", name, _known)


def _known() -> "int | None":
    """The exit code of a command that came before, where nothing has changed since."""
    # A run names what it looks at; others, such as ``--version``, are not kept.
    if NO_CACHE in sys.argv or not any(map(os.path.exists, sys.argv[1:])):
        return None
    from .known_runs import answer  # deferred: start-up

    return answer()


def pto_run() -> None:
    """The command ``pto-run``."""
    _command("pto_run")


def pto_fmt() -> None:
    """The command ``pto-fmt``."""
    _command("pto_fmt")


def pto_sweep() -> None:
    """The command ``pto-sweep``, which is now a sub-command of ``pto``."""
    _command("pto_sweep", first=partial(_note_old_name, "pto-sweep", "pto sweep"))


def pto_lsp() -> None:
    """The command ``pto-lsp``."""
    _command("pto_lsp")


def pto_debug_adapter() -> None:
    """The command ``pto-debug-adapter``, which is now a sub-command of ``pto``."""
    _command("pto_debug_adapter", first=partial(_note_old_name, "pto-debug-adapter", "pto debug-adapter"))


def _note_old_name(old: str, new: str) -> None:
    """Writes to standard error that a command has another name now; its old name works for one more release."""
    if "--help" not in sys.argv and sys.stderr is not None:
        sys.stderr.write(f"note: {old} is '{new}' now; the old name works in this release only\n")


def _take_responses() -> None:
    """Puts the content of files of arguments in place of ``@FILE``. Ends the process where one cannot be used."""
    if not any(word.startswith("@") for word in sys.argv[1:]):
        return
    from .shell_words import ResponseError, with_responses  # deferred: start-up

    try:
        sys.argv[1:] = with_responses(sys.argv[1:])
    except ResponseError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)


def _obey_switch() -> None:
    """``--plain`` takes effect before anything is loaded. Ends the process where ``PTO_PLAIN`` is wrong."""
    if UNKNOWN:
        known = ", ".join(ACCELERATIONS)
        sys.stderr.write(f"error: {VARIABLE} has no {UNKNOWN[0]!r}: it is 1, or some of {known}\n")
        sys.exit(2)
    if OPTION in (sys.argv[: sys.argv.index("--")] if "--" in sys.argv else sys.argv):
        switch(False)


def _may_want_server() -> bool:
    """False without a look at anything else where nobody speaks of a server."""
    _obey_switch()
    if not enabled("server"):
        return False
    if SERVER_VARIABLE not in os.environ and SERVER_OPTION not in sys.argv:
        return False
    from .server.endpoint import is_requested  # deferred: start-up

    return is_requested(sys.argv[1:])


def _command(module: str, name: str | None = None, first: "Callable[[], int | None] | None" = None) -> None:
    """Carries a command out and ends the process."""
    _take_responses()
    _obey_switch()
    try:
        _start(module, name, first=first)
    except SystemExit as end:
        if enabled("exit") and _is_alone():
            _leave(end)
        raise


def _is_alone() -> bool:
    """Whether the script of a command, which does nothing else, has called this module, and nobody has called the
    script: profilers, debuggers and programs of other people continue when a command has ended."""
    frame = sys._getframe()
    while frame is not None and frame.f_globals is globals():
        frame = frame.f_back
    if frame is None or frame.f_back is not None or frame.f_globals.get("__name__") != "__main__":
        return False
    return os.path.basename(frame.f_code.co_filename) in SCRIPTS


def _leave(end: SystemExit) -> None:
    """Ends the process and leaves its memory to the system; releasing what a command has made takes Python longer than
    a small command does. Returns where this is left to Python, which reports streams that cannot be written."""
    code = 0 if end.code is None else end.code
    if not isinstance(code, int):
        return
    try:
        # What Python does first as well.
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except Exception:
        return
    os._exit(code & 0xFF)


def _start(
    module: str,
    name: str | None = None,
    listen: "Callable[[], None] | None" = None,
    first: "Callable[[], int | None] | None" = None,
) -> None:
    """Carries a command out. ``listen`` lets signals through that were held back so far. ``first`` may have a shorter
    way, with the exit code at its end."""
    # While modules load, an interrupt ends the process as it does in programs that do not handle it; an exception would
    # leave in the middle of some import, with a traceback. An ignored signal stays ignored.
    handled = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if handled:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if listen is not None:
        listen()
    if first is not None:
        code = first()
        if code is not None:
            sys.exit(code)
    from pto_dialect.accel.collector import collect_rarely  # deferred: start-up
    from pto_dialect.accel.module_code import cached_module_code  # deferred: start-up
    from pto_dialect.accel.regex_code import cached_regex_code  # deferred: start-up

    from .streams import escaping  # deferred: start-up

    collect_rarely()
    # What the command imports compiles expressions as well.
    with cached_regex_code(), cached_module_code(module):
        command = import_module(f".{module}", __package__).main
        try:
            if handled:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            for number in ENDINGS:
                if signal.getsignal(number) is signal.SIG_DFL:
                    signal.signal(number, _end)
            with escaping():
                command(prog_name=name)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)
        except OSError as error:
            from .command_line import tell_failure  # deferred: start-up

            sys.exit(tell_failure(error))


def _end(number: int, _: object) -> None:
    """Ends the process in order: what it has half written goes away."""
    sys.exit(128 + number)
