"""Loads a grammar file into a parser, through a cache on disk.

Building the tables of the program grammar takes about a second, loading them some milliseconds. A wheel brings
tables. Where these do not fit, or are not there, tables are kept in the user's cache directory. The names of both
files hold a digest of what the tables depend on, so they are never stale. Without a writable cache directory the
tables are built in memory. Lark is loaded for building only.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pto_dialect import __version__

from . import table_cache
from .lalr import Lexer, Parser, Tables

GRAMMARS = ("pto.lark", "types.lark")


def grammar_text(name: str) -> str:
    """Text of a grammar file, from the installed package or from the source tree."""
    package = Path(__file__).resolve().parents[2]
    for folder in (package / "grammar", package.parent / "grammar"):
        path = folder / name
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise FileNotFoundError(f"grammar file {name} is missing from the installation")


def _packaged_file(name: str, text: str) -> str:
    """Where the tables of a grammar are in an installation that brought them."""
    digest = _digest(text, table_cache.FORMAT)
    return str(Path(__file__).resolve().parents[2] / "grammar" / f"{Path(name).stem}-{digest}.tables")


def _digest(*parts: object) -> str:
    # Tells versions of a grammar apart, which nobody makes alike on purpose.
    data = "|".join(map(str, parts)).encode()
    return f"{len(data):x}-{zlib.crc32(data):08x}"


def _cache_file(name: str, text: str) -> str | None:
    """Where the tables of a grammar are kept; ``None`` without a directory that only this user can write."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(base) / "pto-dialect"
    version = ".".join(map(str, sys.version_info[:3]))
    digest = _digest(text, __version__, version, table_cache.FORMAT)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # A home directory on Windows has no owner of this kind, and is its user's alone.
        if sys.platform != "win32" and os.stat(folder).st_uid != os.getuid():
            return None
        if not os.access(folder, os.W_OK):
            return None
    except OSError:
        return None
    return str(folder / f"{Path(name).stem}-{digest}.tables")


def load_grammar(name: str, lexer: Callable[[dict[str, str]], Lexer], builder: object) -> Parser:
    """A parser for grammar file ``name`` that calls the methods of ``builder`` as rules complete (no
    tree)."""
    return Parser(_tables(name), lexer, builder)


def _tables(name: str) -> Tables:
    text = grammar_text(name)
    stored = table_cache.load(_packaged_file(name, text))
    if stored is not None:
        return stored
    path = _cache_file(name, text)
    stored = None if path is None else table_cache.load(path)
    if stored is not None:
        return stored
    from .lark_tables import build

    tables = build(text)
    if path is not None:
        # A full disk costs time at the next start, nothing else.
        with suppress(OSError):
            table_cache.store(tables, path)
    return tables


def package_tables(folder: Path) -> None:
    """Writes the tables of all grammars into ``folder``, for a wheel; needs no other dependency than Lark."""
    from .lark_tables import build

    for name in GRAMMARS:
        text = grammar_text(name)
        file = Path(_packaged_file(name, text)).name
        table_cache.store(build(text), str(folder / file))
