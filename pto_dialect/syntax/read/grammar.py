"""Loads a grammar file into a parser, through a cache on disk.

Building the tables of the program grammar takes about a second, loading them some milliseconds. A wheel brings
tables. Where these do not fit, or are not there, tables are kept in the user's cache folder. The names of both
files hold a digest of what the tables depend on, so they are never stale. Without a cache folder the tables are built
in memory. Lark is loaded for building only.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable

from pto_dialect.accel import enabled
from pto_dialect.accel.cache import cache_folder, read_private, sealed, unsealed, write_private
from pto_dialect.accel.parsing import table_cache
from pto_dialect.version import __version__

from .lalr import Lexer, Parser, Tables

GRAMMARS = ("pto.lark", "types.lark")

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_FOLDER = "grammar"


def grammar_text(name: str) -> str:
    """Returns the text of a grammar file, from the installed package or from the source tree."""
    for folder in (_PACKAGE, os.path.dirname(_PACKAGE)):
        path = os.path.join(folder, _FOLDER, name)
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as stream:
                return stream.read()
    raise FileNotFoundError(f"grammar file {name} is missing from the installation")


def _file(name: str, *parts: object) -> str:
    """Returns a file name for the tables of a grammar that identifies its version; collisions are not deliberate."""
    data = "|".join(map(str, parts)).encode()
    return f"{name.partition('.')[0]}-{len(data):x}-{zlib.crc32(data):08x}.tables"


def _packaged_file(name: str, text: str) -> str:
    """Returns where the tables of a grammar are in an installation that brought them."""
    return os.path.join(_PACKAGE, _FOLDER, _file(name, text, table_cache.FORMAT))


def _cache_file(name: str, text: str) -> str | None:
    """Returns where the tables of a grammar are kept; ``None`` without a cache folder."""
    folder = cache_folder()
    version = ".".join(map(str, sys.version_info[:3]))
    return folder and os.path.join(folder, _file(name, text, __version__, version, table_cache.FORMAT))


def load_grammar(name: str, lexer: Callable[[dict[str, str]], Lexer], builder: object) -> Parser:
    """Returns a parser for grammar file ``name`` that calls the methods of ``builder`` as rules complete (no
    tree)."""
    return Parser(_tables(name), lexer, builder)


def _tables(name: str) -> Tables:
    text = grammar_text(name)
    if not enabled("parse-tables"):
        from .lark_tables import build  # deferred: start-up

        return build(text)
    stored = _packaged(_packaged_file(name, text))
    path = None
    if stored is None and (path := _cache_file(name, text)) is not None:
        stored = read_private(path)
    tables = None if stored is None else table_cache.decode(stored)
    if tables is None:
        from .lark_tables import build  # deferred: start-up

        tables = build(text)
        if path is not None:
            write_private(path, table_cache.encode(tables))
    return tables


def _packaged(path: str) -> bytes | None:
    """Returns what an installation brought, whoever has installed it."""
    try:
        with open(path, "rb") as stream:
            return unsealed(stream.read())
    except OSError:
        return None


def package_tables(folder: str | os.PathLike[str]) -> None:
    """Writes the tables of all grammars into ``folder``, for a wheel; needs no other dependency than Lark."""
    from .lark_tables import build  # deferred: start-up

    for name in GRAMMARS:
        text = grammar_text(name)
        with open(os.path.join(folder, os.path.basename(_packaged_file(name, text))), "wb") as stream:
            stream.write(sealed(table_cache.encode(build(text))))
