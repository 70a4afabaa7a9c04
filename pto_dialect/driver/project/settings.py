"""Settings in `pto.toml`, or in the table `[tool.pto]` of `pyproject.toml`."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, NamedTuple

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.engine import DiagnosticOptions
from pto_dialect.diagnostics.source import Span
from pto_dialect.diagnostics.suggest import word_hint
from pto_dialect.targets.release import release_named, unknown_release

from ..launch.document import Document, LaunchError
from ..options import Options
from .settings_path import SHARED, folder_of, settings_file

RULE = "config-invalid"
TARGETS = ("a2", "a3", "a2a3", "a5", "cpu-sim")
BACKENDS = ("emitc", "vpto")
RULES = ("allow", "deny", "warn")
CHOICES = {"target": TARGETS, "backend": BACKENDS}
RELEASE = "reference-release"
CALIBRATION = "calibration"
SWITCHES = ("werror", "pedantic")
MOST_COLUMNS = 1000


class SettingsError(ValueError):
    """A file of settings that cannot be used; ``diagnostic`` says where and why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Settings(NamedTuple):
    """The settings of a project. ``columns`` is the width of formatted programs, ``calibration`` the path of what the
    cycle model was fitted to; ``None`` means that it is not set."""

    target: str | None = None
    backend: str | None = None
    release: str | None = None
    allow: frozenset[str] = frozenset()
    deny: frozenset[str] = frozenset()
    warn: frozenset[str] = frozenset()
    werror: bool | None = None
    pedantic: bool | None = None
    max_errors: int | None = None
    columns: int | None = None
    calibration: str | None = None


class Folder(NamedTuple):
    """The settings of the files in a folder, or of those whose path matches a pattern."""

    pattern: str
    settings: Settings

    def covers(self, path: str) -> bool:
        """``path`` is relative to the file of settings, with ``/``."""
        pattern = self.pattern.rstrip("/")
        return path == pattern or path.startswith(f"{pattern}/") or fnmatchcase(path, self.pattern)


class Project(NamedTuple):
    """A file of settings: what it says in general and about folders, later ones before earlier ones."""

    file: str
    settings: Settings
    folders: tuple[Folder, ...] = ()

    def settings_of(self, path: str) -> Settings:
        """Returns what counts for the input ``path``."""
        root = os.path.dirname(self.file)
        relative = os.path.relpath(os.path.abspath(path), root).replace(os.sep, "/")
        found = self.settings
        for folder in self.folders:
            if path != "-" and folder.covers(relative):
                found = _over(found, folder.settings)
        return found


def _over(base: Settings, more: Settings) -> Settings:
    """Returns ``base`` with what ``more`` says; a rule counts as it is named last."""
    named = more.allow | more.deny | more.warn
    lists = {name: (getattr(base, name) - named) | getattr(more, name) for name in RULES}
    others = {name: value for name, value in more._asdict().items() if name not in RULES and value is not None}
    return base._replace(**lists, **others)


# ---------------------------------------------------------------- reading


@lru_cache(maxsize=64)
def read_project(file: str) -> Project:
    """Returns the settings in ``file``. Raises :class:`SettingsError`, which does not reveal the content of a link's
    target."""
    try:
        return _read_project(file)
    except SettingsError:
        if not os.path.islink(file):
            raise
        message = f"'{os.path.relpath(file)}' is a link to a file that holds no settings"
        raise SettingsError(Diagnostic(RULE, Severity.ERROR, message)) from None


def _read_project(file: str) -> Project:
    try:
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise SettingsError(Diagnostic(RULE, Severity.ERROR, f"cannot read '{file}': {reason}")) from None
    return _Reader(file, text).project()


class _Reader:
    """Settings of one file; every error has a source location."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        try:
            self.document = Document(os.path.relpath(file) if not file.startswith("..") else file, text)
        except LaunchError as error:
            raise SettingsError(error.diagnostic._replace(rule=RULE)) from None
        self.prefix: tuple[str, ...] = ("tool", "pto") if os.path.basename(file) == SHARED else ()

    def project(self) -> Project:
        data: Any = self.document.content
        for key in self.prefix:
            data = self._table(data, self.prefix).get(key, {})
        table = self._table(data, ("pto",))
        folders = self._table(table.pop("folder", {}), ("folder",))
        general = self._settings(table, ())
        return Project(
            self.file,
            general,
            tuple(Folder(name, self._settings(self._table(own, ("folder", name)), ("folder", name)))
                  for name, own in folders.items()),
        )  # fmt: skip

    def _table(self, value: Any, path: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._wrong(path, f"{path[-1]} is a table")
        return dict(value)

    def _settings(self, table: Mapping[str, Any], path: tuple[str, ...]) -> Settings:
        found: dict[str, Any] = {}
        known = [
            *CHOICES,
            RELEASE,
            CALIBRATION,
            *RULES,
            *SWITCHES,
            "max-errors",
            *(("format", "folder") if not path else ()),
        ]
        for key, value in table.items():
            place = (*path, key)
            if key in CHOICES:
                found[key] = self._word(value, CHOICES[key], place)
            elif key == RELEASE:
                found["release"] = self._release(value, place)
            elif key == CALIBRATION:
                found[key] = self._path(value, place)
            elif key in RULES:
                found[key] = self._rules(value, place)
            elif key in SWITCHES:
                if not isinstance(value, bool):
                    raise self._wrong(place, f"{key} is true or false")
                found[key] = value
            elif key == "max-errors":
                found["max_errors"] = self._number(value, place, 0, 1_000_000)
            elif key == "format" and not path:
                found["columns"] = self._format(self._table(value, place), place)
            else:
                raise self._wrong(place, f"unknown key '{key}'", word_hint(key, known) or f"one of {', '.join(known)}")
        return Settings(**found)

    def _format(self, table: Mapping[str, Any], path: tuple[str, ...]) -> int | None:
        for key in table:
            if key != "columns":
                raise self._wrong((*path, key), f"unknown key '{key}'", "columns is the only one")
        return self._number(table["columns"], (*path, "columns"), 20, MOST_COLUMNS) if table else None

    def _word(self, value: Any, words: Collection[str], path: tuple[str, ...]) -> str:
        if value in words and isinstance(value, str):
            return value
        found = word_hint(value, tuple(words)) if isinstance(value, str) else None
        raise self._wrong(path, f"{path[-1]} is one of {', '.join(words)}", found)

    def _release(self, value: Any, path: tuple[str, ...]) -> str:
        if isinstance(value, str) and release_named(value) is not None:
            return value
        raise self._wrong(path, unknown_release(str(value)), 'a release is a string, for example "0.63"')

    def _path(self, value: Any, path: tuple[str, ...]) -> str:
        """Returns a file below the folder of the settings."""
        inside = isinstance(value, str) and value and not os.path.isabs(value) and ".." not in value.split("/")
        if not inside:
            raise self._wrong(path, f"{path[-1]} is a path below the folder of this file")
        return os.path.join(os.path.dirname(self.file), value)

    def _number(self, value: Any, path: tuple[str, ...], least: int, most: int) -> int:
        if type(value) is int and least <= value <= most:
            return value
        raise self._wrong(path, f"{path[-1]} is a number from {least} to {most:,}")

    def _rules(self, value: Any, path: tuple[str, ...]) -> frozenset[str]:
        from pto_dialect.verify.engine.rule import ERROR, PARSE  # deferred: start-up

        from ..explain.rules import UnknownRuleError, find_rule  # deferred: start-up

        if not isinstance(value, list) or not all(isinstance(id, str) for id in value):
            raise self._wrong(path, f'{path[-1]} is a list of rules, for example ["dead-tile"]')
        for id in value:
            try:
                declared = find_rule(id)
            except UnknownRuleError as error:
                raise self._wrong(path, str(error), word=id) from None
            if path[-1] == "warn" and declared.stage == PARSE and declared.severity is ERROR:
                raise self._wrong(path, f"what breaks {id} cannot be read, so it is an error", word=id)
        return frozenset(value)

    # ------------------------------------------------------------ mistakes

    def _wrong(self, path: tuple[str, ...], message: str, help: str | None = None, word: str = "") -> SettingsError:
        span = self.document.span((*self.prefix, *path))
        start = span.source.text.find(f'"{word}"', span.start) if word else -1
        if start >= 0:
            span = Span(span.source, start, start + len(word) + 2)
        return SettingsError(Diagnostic(RULE, Severity.ERROR, message, span, help=help))


# ---------------------------------------------------------------- using


def settings_of(path: str) -> Settings | None:
    """Returns what counts for the input ``path``; ``None`` where nobody says anything. Raises
    :class:`SettingsError`."""
    file = settings_file(folder_of(path))
    return None if file is None else read_project(file).settings_of(path)


def policy_with(policy: DiagnosticOptions, settings: Settings, stated: Collection[str]) -> DiagnosticOptions:
    """Returns ``policy``, of which the command line has ``stated`` the options named, with settings: the command line
    wins."""
    named = policy.allow | policy.deny
    return policy._replace(
        allow=(settings.allow - named) | policy.allow,
        deny=(settings.deny - named) | policy.deny,
        warn=settings.warn - named,
        werror=policy.werror or bool(settings.werror),
        pedantic=policy.pedantic or bool(settings.pedantic),
        max_errors=policy.max_errors if settings.max_errors is None or "max_errors" in stated else settings.max_errors,
    )


def configured(options: Options, path: str, stated: Collection[str]) -> Options:
    """Returns ``options`` for the input ``path``, with the settings of its project. Raises :class:`SettingsError`."""
    settings = settings_of(path)
    if settings is None:
        return options
    target = options.target if "target" in stated or settings.target is None else settings.target
    release = options.release if "reference_release" in stated or settings.release is None else settings.release
    cycles = options.cycles
    if cycles is not None and cycles.table is None:
        cycles = cycles._replace(table=settings.calibration)
    policy = policy_with(options.policy, settings, stated)
    return options._replace(target=target, release=release, policy=policy, cycles=cycles)
