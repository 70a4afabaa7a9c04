"""Writing several files, all or none."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pto_dialect.diagnostics.file_kinds import OtherKind, check_kind, is_forced
from pto_dialect.diagnostics.files import atomic_write, folders_locked
from pto_dialect.runtime.faults import format_size
from pto_dialect.runtime.memory.free import SHARE, free_memory
from pto_dialect.runtime.memory.spaces import Array

from .value_text import NPY, NPZ, OutputFile

if TYPE_CHECKING:
    import zipfile

_EPOCH = (1980, 1, 1, 0, 0, 0)


class FileError(Exception):
    """A file that cannot be written; the message is for the user."""


_KINDS = {NPY: "npy", NPZ: "npz"}


class Writing(NamedTuple):
    """The array of a buffer or result on its way to a file; ``name`` is also its key where the file states
    none."""

    name: str
    file: OutputFile
    array: Array


def check_files(files: Sequence[tuple[str, OutputFile]]) -> None:
    """Raises :class:`FileError` for files that cannot be written, or that two buffers would share.

    ``files`` are pairs of the name of a buffer and its path.
    """
    taken: dict[tuple[str, str | None], str] = {}
    for name, file in files:
        _check_folder(file.path)
        try:
            check_kind(file.path, _KINDS.get(file.kind, "raw"))
        except OtherKind as error:
            raise FileError(f"cannot write '{file.path}': {error.strerror}") from None
        place = os.path.realpath(file.path)
        key = (file.key or name) if file.kind == NPZ else None
        other = taken.setdefault((place, key), name)
        if other != name:
            raise FileError(f"{other} and {name} would both be written to '{file.path}'")
        if file.kind == NPZ:
            _other_members(file.path, ())


def _check_folder(path: str) -> None:
    target = os.path.realpath(path)
    if os.path.isdir(target):
        raise FileError(f"cannot write '{path}': it is a folder")
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileError(f"cannot write '{path}': there is no folder '{os.path.dirname(path) or folder}'")
    if not os.access(target if os.path.exists(target) else folder, os.W_OK):
        raise FileError(f"cannot write '{path}': permission denied")


def write_files(writings: Sequence[Writing]) -> None:
    """Writes all arrays; arrays of an existing archive that are not named stay in it.

    Everything is brought to the disk under temporary names first, so that a failure leaves the old files. Processes
    that add to one archive wait for each other.
    Raises :class:`FileError`.
    """
    archives: dict[str, tuple[str, dict[str, Array]]] = {}
    contents: dict[str, bytes] = {}
    for name, file, array in writings:
        if file.kind == NPZ:
            _, arrays = archives.setdefault(os.path.realpath(file.path), (file.path, {}))
            arrays[file.key or name] = array
        else:
            contents[file.path] = _npy_bytes(array) if file.kind == NPY else array.tobytes()
    with folders_locked(path for path, _ in archives.values()):
        for path, arrays in archives.values():
            contents[path] = _npz_bytes(path, arrays)
        _replace_all(contents)


def _replace_all(contents: Mapping[str, bytes]) -> None:
    staged: dict[str, str] = {}
    path = ""
    try:
        for path, data in contents.items():
            target = os.path.realpath(path)
            if _is_plain(target):
                name = f".pto-{os.getpid()}-{os.urandom(6).hex()}.new"
                temporary = staged[path] = os.path.join(os.path.dirname(target), name)
                atomic_write(temporary, data)
                if os.path.exists(target):
                    os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        for path, data in contents.items():
            if path in staged:
                os.replace(staged[path], os.path.realpath(path))
                del staged[path]
            else:
                atomic_write(path, data)
    except OSError as error:
        raise FileError(f"cannot write '{path}': {error.strerror or error}") from error
    finally:
        for temporary in staged.values():
            with suppress(FileNotFoundError):
                os.unlink(temporary)


def _is_plain(path: str) -> bool:
    """Returns a regular file, or none yet; anything else (a pipe, a device) cannot be replaced, only written to."""
    return os.path.isfile(path) or not os.path.exists(path)


def _npy_bytes(array: Array) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def _npz_bytes(path: str, arrays: Mapping[str, Array]) -> bytes:
    import zipfile  # deferred: start-up

    members = {f"{key}.npy": _npy_bytes(array) for key, array in arrays.items()}
    kept = _other_members(path, members)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        # A fixed date: equal arrays make equal files.
        for name, data in {**kept, **members}.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), data)
    return stream.getvalue()


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """No more than what the archive states, whatever unpacks to."""
    with archive.open(info) as stream:
        return stream.read(info.file_size)


def _other_members(path: str, replaced: Container[str]) -> dict[str, bytes]:
    """Returns what an archive that exists already holds under other names."""
    import zipfile  # deferred: start-up

    if not os.path.isfile(path) or not os.path.getsize(path) or (is_forced() and not zipfile.is_zipfile(path)):
        return {}
    try:
        with zipfile.ZipFile(path) as archive:
            kept = [info for info in archive.infolist() if info.filename not in replaced]
            size, free = sum(info.file_size for info in kept), free_memory()
            if free is not None and size > free * SHARE:
                raise FileError(f"cannot add to '{path}': its other arrays would take {format_size(size)} of memory")
            return {info.filename: _member(archive, info) for info in kept}
    except (OSError, zipfile.BadZipFile) as error:
        raise FileError(f"cannot add to '{path}': {error}") from None
