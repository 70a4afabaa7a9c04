"""What shells, and the tools of LLVM, make of a command line: files of arguments, and patterns.

Nothing is imported here that takes long: every command begins with it.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import click

_MARK = "@"
_PATTERN = frozenset("*?[")


class ResponseError(ValueError):
    """A file of arguments cannot be read."""


def with_responses(words: Sequence[str]) -> list[str]:
    """``words`` with the content of FILE in place of ``@FILE``, where there is such a file: words apart by white space,
    with quotes as in a shell, which may name more files. What follows ``--`` stays.

    Raises :class:`ResponseError`.
    """
    end = words.index("--") if "--" in words else len(words)
    return [*_expanded(words[:end], ()), *words[end:]]


def _expanded(words: Sequence[str], open_files: tuple[str, ...]) -> Iterator[str]:
    for word in words:
        path = word[1:]
        if not (word.startswith(_MARK) and os.path.isfile(path)):
            yield word
            continue
        if path in open_files:
            raise ResponseError(f"the file of arguments '{path}' names itself")
        yield from _expanded(_words_of(path), (*open_files, path))


def _words_of(path: str) -> list[str]:
    from shlex import split  # deferred: start-up

    try:
        with open(path, encoding="utf-8") as stream:
            return split(stream.read())
    except OSError as error:
        raise ResponseError(f"cannot read '{path}': {error.strerror or error}") from None
    except ValueError as error:
        raise ResponseError(f"'{path}' is no file of arguments: {error}") from None


def matching(ctx: click.Context, param: click.Parameter, paths: tuple[str, ...]) -> tuple[str, ...]:
    """``paths`` with patterns replaced by the files and folders that they name, sorted: shells leave a pattern alone in
    quotes, and many do not know ``**``, which is any number of folders. What exists is no pattern.

    Raises ``click.UsageError`` for a pattern that names nothing.
    """
    found: list[str] = []
    for path in paths:
        if _PATTERN.isdisjoint(path) or os.path.lexists(path):
            found.append(path)
            continue
        from glob import glob  # deferred: start-up

        named = sorted(glob(path, recursive=True))
        if not named:
            import click  # deferred: start-up

            raise click.UsageError(f"no file or folder matches '{path}'", ctx)
        found += named
    return tuple(found)
