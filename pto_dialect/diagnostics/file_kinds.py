"""What a file holds, by its content, so that an output replaces nothing but another of its own kind.

SECURITY.md promises so; ``--force`` of the commands replaces whatever there is.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from pto_dialect.patterns import portable

KINDS = {
    "program": "a program",
    "page": "a page",
    "trace": "a timeline",
    "sarif": "a SARIF report",
    "json": "a report",
    "junit": "a report of tests",
    "recording": "a recording",
    "npy": "an array",
    "npz": "an archive of arrays",
    "launch": "a launch file",
    "certificate": "certificates of proofs",
    "table": "a table of parameters",
    "picture": "a picture",
    "cpp": "C++ of an assembler",
    "emitted": "C++ of pto-opt",
    "log": "a log of the language server",
    "raw": "the bytes of an array",
}
"""Kinds that commands write, and how they are called."""

PAGE_MARK = '<meta name="generator" content="pto-dialect">'
"""What pages of runs have in their heads."""

EMITTED = "// Made by pto-opt --emit cpp"
"""How C++ text begins that is made of a program."""

_HEAD = 1 << 16
"""Bytes that determine what a file holds."""
_PICTURES = (b"\x89PNG", b"%PDF", b"<svg")
_PROGRAM = re.compile(
    rb"(?:module\s*(?:@|\{|attributes\b)|builtin\.module\b|func\.func\b|llvm\.|memref\.global\b|pto\.|\.arg\b|[!#]\w+\s*=|%[\w$.]+.*=|\"[\w.]+\"|\^bb)"
)
_LAUNCH = re.compile(rb"^[ \t]*(?:program\s*=|\[\[?(?:launch|arguments|sweep|kernels?)\b)", re.MULTILINE)
_LOG = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ ")
_COMMENTS = re.compile(portable(r"(?:\s|//[^\n]*(?:\n|\Z))*+").encode())

_forced = False


class OtherKind(FileExistsError):
    """An output that would replace a file of another kind."""


@contextmanager
def forcing(wanted: bool) -> Iterator[None]:
    """Lets outputs replace every file in the block, if that is ``wanted``."""
    global _forced
    before, _forced = _forced, _forced or wanted
    try:
        yield
    finally:
        _forced = before


def is_forced() -> bool:
    """Returns whether outputs replace every file."""
    return _forced


def check_kind(path: str | os.PathLike[str], kind: str) -> None:
    """Raises :class:`OtherKind` where ``path`` is a file that is not empty and holds something else than ``kind``."""
    if _forced:
        return
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return
        with open(path, "rb") as stream:
            head = stream.read(_HEAD)
    except (OSError, ValueError):
        # Any other problem is reported when the file is written.
        return
    found = kind_of(head)
    if not head or found == kind or (kind == "raw" and found == "") or (kind == "picture" and _is_svg(head)):
        return
    what = KINDS.get(found, "something else")
    raise OtherKind(errno.EEXIST, f"it holds {what}, and would be replaced by {KINDS[kind]}; --force does so")


def report_kind(path: str) -> str:
    """Returns the kind of a report of findings, by its file name."""
    return "sarif" if path.endswith(".sarif") else "json"


def kind_of(head: bytes) -> str:
    """Returns the kind of a file that begins with ``head``; empty for what is none that commands write."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"\x93NUMPY"):
        return "npy"
    if head.startswith(b"PK\x03\x04"):
        name = head[30 : 30 + int.from_bytes(head[26:28], "little")]
        return "recording" if name == b"recording.json" else "npz" if name.endswith(b".npy") else "other"
    if head.startswith(_PICTURES) or _is_svg(head):
        return "picture"
    if text[:14].lower().startswith((b"<!doctype html", b"<html")):
        return "page" if PAGE_MARK.encode() in head else "other"
    if text.startswith(b"<?xml"):
        return "junit" if b"<testsuites" in head[:1000] else "other"
    if text.startswith((b"{", b"[")) and not _LAUNCH.match(text):
        marks = {
            b'"traceEvents"': "trace",
            b"sarif": "sarif",
            b'"diagnostics"': "json",
            b'{"certificate": ': "certificate",
        }
        return next((kind for mark, kind in marks.items() if mark in head), "other")
    return _kind_of_text(head)


def _kind_of_text(head: bytes) -> str:
    if b"\0" in head or head.startswith(b"\x7fELF"):
        return "other" if head.startswith(b"\x7fELF") else ""
    found = _COMMENTS.match(head)
    begin = found.end() if found is not None else 0
    if head.startswith(EMITTED.encode()):
        return "emitted"
    if begin == len(head) or _PROGRAM.match(head, begin):
        return "program"
    if _LAUNCH.search(head):
        return "launch"
    if head.startswith((b"law,name,", b"# calibration of ")):
        return "table"
    if head.startswith(b'#include "pto/'):
        return "cpp"
    if _LOG.match(head):
        return "log"
    try:
        head[: _HEAD - 4].decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return "other"


def _is_svg(head: bytes) -> bool:
    return b"<svg" in head[:1000] and head.lstrip()[:1] == b"<" and b"<html" not in head[:1000].lower()
