"""Arrays from what a value says: files read, zeros, ones and random numbers made."""

from __future__ import annotations

import math
import os
import tokenize
import warnings
import zlib
from typing import Any, BinaryIO

import numpy as np

from pto_dialect.diagnostics.suggest import inline_hint, nearest_or
from pto_dialect.diagnostics.wording import count
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.encode import encode
from pto_dialect.runtime.numerics.formats import Format

from .elements import ElementMismatch, element_format, to_storage
from .memory_budget import MemoryBudget
from .value_text import NPZ, RAW, Elements, Generated, Shape, Split, Stored, ValueTextError, shape_text

_DAMAGED = (
    ValueError, TypeError, EOFError, KeyError, SyntaxError, NotImplementedError, RuntimeError,
    zlib.error, tokenize.TokenError,
)  # fmt: skip


def _damaged() -> tuple[type[Exception], ...]:
    """Returns what numpy and zipfile raise for files that are not what their names say."""
    from zipfile import BadZipFile  # deferred: start-up

    return (*_DAMAGED, BadZipFile)


def stated_format(content: Elements) -> Format | None:
    """Returns the element type that the value names; raises ``BindingError`` for one that does not exist."""
    if content.element is None:
        return None
    try:
        return element_format(content.element)
    except ValueTextError as error:
        raise BindingError(f"'{content.text}': {error}") from None


def load(content: Elements, needed: Format | None, budget: MemoryBudget | None = None) -> tuple[Array, Format]:
    """Returns the storage units that a value stands for, and their element type.

    ``needed`` is the element type wanted; ``None`` takes what the value states, or the numpy type of the
    file. Raises ``BindingError`` for unreadable files, wrong sizes, other element types, and, before any memory is
    taken, for more than ``budget`` has (80 % of
    what is free, if there is none).
    """
    stated = stated_format(content)
    budget = budget or MemoryBudget()
    if isinstance(content, Split):
        return _split(content, needed, budget)
    if isinstance(content, Generated):
        assert stated is not None
        budget.take(*_generated_bytes(content, stated), f"'{content.text}'")
        try:
            return generate(content, stated), stated
        except (MemoryError, ValueError, OverflowError):
            raise BindingError(f"'{content.text}' does not fit into memory") from None
    array = _read(content, stated, budget)
    fmt = needed or stated or _format_of_array(array, content)
    try:
        return to_storage(array, stated, fmt), fmt
    except ElementMismatch as error:
        hint = ""
        if stated is None and array.dtype.kind in "uV" and array.dtype.itemsize == fmt.bytes:
            hint = f"; if they are the bits of {fmt.name}, write {content.text}:{fmt.name}"
        elif array.dtype == np.uint8 and fmt.bytes > 1 and not array.nbytes % fmt.bytes:
            hint = f"; if they are bytes, array.view('{fmt.storage}') has the elements"
        raise BindingError(f"'{content.text}' holds {error}, not {fmt.name}{hint}") from None


def _split(content: Split, needed: Format | None, budget: MemoryBudget) -> tuple[Array, Format]:
    whole, fmt = load(content.whole, needed, budget)
    rows = whole.shape[0] if whole.ndim else 0
    if rows % content.of:
        raise BindingError(f"'{content.whole.text}' has {rows} rows, which {content.of} ranks cannot share evenly")
    share = rows // content.of
    return np.array(whole[content.part * share : (content.part + 1) * share]), fmt


def _generated_bytes(content: Generated, fmt: Format) -> tuple[int, int]:
    """Returns the bytes of the array, and of what it is made from."""
    units = math.prod(content.shape)
    numbers = {"zeros": 0, "ones": 4, "random": 24 if fmt.is_float else 0}[content.kind]
    return units * fmt.bytes, units * fmt.elements * numbers


def generate(content: Generated, fmt: Format) -> Array:
    """Zeros (bytes), ones, or random elements.

    Random floats are ``numpy.random.default_rng(seed).standard_normal`` rounded to the type (f8E8M0 takes
    their magnitudes), random integers any value of the type. The last extent of a packed type counts storage
    units.
    """
    shape = content.shape
    if content.kind == "zeros":
        return np.zeros(shape, fmt.storage)
    logical = (*shape[:-1], shape[-1] * fmt.elements)
    if content.kind == "ones":
        return _encoded(np.ones(logical, np.float32), fmt)
    random = np.random.default_rng(content.seed)
    if fmt.is_float:
        normal = random.standard_normal(logical)
        return _encoded(np.abs(normal) if fmt.name == "f8E8M0" else normal, fmt)
    if fmt.is_packed:
        return random.integers(0, 256, shape, np.uint8)
    if fmt.bits == 1:
        return random.integers(0, 2, shape, np.uint8).astype(np.bool_)
    return random.integers(fmt.min_value, fmt.max_value, shape, fmt.storage, endpoint=True)


def _encoded(values: Array, fmt: Format) -> Array:
    # encode may hand out its argument; a buffer needs memory of its own either way, and has it here.
    return np.require(encode(values, fmt, saturate=True), requirements=("C", "W"))


def _format_of_array(array: Array, content: Stored) -> Format:
    dtype = array.dtype.newbyteorder("=")
    sign = {"f": "f", "i": "i", "u": "ui", "b": "i"}.get(dtype.kind)
    bits = 1 if dtype.kind == "b" else dtype.itemsize * 8
    try:
        return element_format(f"{sign}{bits}")
    except ValueTextError:
        raise BindingError(f"'{content.text}' holds {array.dtype} elements, which are no numbers") from None


_GENERATORS = ("zeros", "ones", "random")


def _read(content: Stored, stated: Format | None, budget: MemoryBudget) -> Array:
    try:
        if content.kind == RAW:
            assert stated is not None
            return _read_raw(content, stated, budget)
        return _read_numpy(content, budget)
    except OSError as error:
        hint = inline_hint(content.path, _GENERATORS) if content.kind == RAW else ""
        raise BindingError(f"cannot read '{content.path}': {error.strerror or error}{hint}") from None
    except MemoryError:
        raise BindingError(f"'{content.path}' does not fit into memory") from None


def _read_raw(content: Stored, fmt: Format, budget: MemoryBudget) -> Array:
    shape = content.shape
    with open(content.path, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        needed = size if shape is None else math.prod(shape) * fmt.bytes
        budget.take(needed, needed, f"'{content.text}'")
        if shape is None:
            data = stream.read(size)
            if not data or len(data) % fmt.bytes:
                raise BindingError(
                    f"'{content.path}' has {len(data)} bytes, which is no number of {fmt.name} elements"
                    f" of {count(fmt.bytes, 'byte')}"
                )
            shape = (len(data) // fmt.bytes,)
        else:
            data = stream.read(needed + 1)
            if len(data) != needed:
                found = count(len(data), "byte")
                if len(data) > needed:
                    found = f"more: {count(max(os.fstat(stream.fileno()).st_size, len(data)), 'byte')}"
                raise BindingError(
                    f"'{content.path}' should have {count(needed, 'byte')}"
                    f" ({shape_text(shape)} elements of {fmt.name}), but has {found}"
                )
    return np.frombuffer(bytearray(data), fmt.storage).reshape(shape)


def _read_numpy(content: Stored, budget: MemoryBudget) -> Array:
    path = content.path
    try:
        with open(path, "rb") as stream, warnings.catch_warnings():
            # About headers of old Python versions; the content is what counts.
            warnings.simplefilter("ignore")
            size = _stated_bytes(content, stream)
            budget.take(size, size, f"'{content.text}'")
            loaded: Any = np.load(stream, allow_pickle=False)
            if isinstance(loaded, np.lib.npyio.NpzFile):
                with loaded:
                    if content.kind != NPZ:
                        raise BindingError(f"'{path}' is an archive of arrays; archives are named x.npz")
                    key = _key(content, loaded.files)
                    array = loaded[key]
                    if not isinstance(array, np.ndarray):
                        raise BindingError(f"'{key}' in '{path}' is no array")
                    return array
    except _damaged() as error:
        raise BindingError(f"'{path}' is no usable .{content.kind} file: {_reason(error)}") from None
    if content.kind == NPZ:
        raise BindingError(f"'{path}' holds one array and no archive; such files are named x.npy")
    return loaded


def _stated_bytes(content: Stored, stream: BinaryIO) -> int:
    """Returns the size in bytes of an array file, from its header; 0 where that is unknown."""
    import zipfile  # deferred: start-up

    if not zipfile.is_zipfile(stream):
        stream.seek(0)
        size = _array_bytes(stream)
        stream.seek(0)
        return size
    with zipfile.ZipFile(stream) as archive:
        names = [f"{content.key}.npy"] if content.key is not None else archive.namelist()[:1]
        size = 0
        for name in set(names) & set(archive.namelist()):
            if archive.getinfo(name).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                # Others unpack to any size at once.
                raise zipfile.BadZipFile(f"{name} is packed in another way than numpy does")
            with archive.open(name) as member:
                size = _array_bytes(member)
    stream.seek(0)
    return size


def _array_bytes(stream: Any) -> int:
    """Returns the bytes of the array whose ``.npy`` form begins here."""
    if stream.read(len(np.lib.format.MAGIC_PREFIX)) != np.lib.format.MAGIC_PREFIX:
        return 0
    major = stream.read(2)[:1]
    read_header = np.lib.format.read_array_header_1_0 if major == b"\1" else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(stream)
    return math.prod(shape) * dtype.itemsize


def _reason(error: Exception) -> str:
    text = str(error).partition("\n")[0]
    if "allow_pickle" in text:
        return "it holds Python objects, or is not in numpy's format"
    if "descr is not a valid dtype" in text:
        return f"{text}; save such an array as integers, array.view('u1')"
    return text


def with_key(content: Stored) -> Stored:
    """Returns ``content`` with the name of the array where the only one of an archive is meant."""
    if content.kind != NPZ or content.key is not None:
        return content
    with np.load(content.path) as archive:
        return content._replace(key=_key(content, archive.files))


def _key(content: Stored, names: list[str]) -> str:
    listed = ", ".join(names) or "none"
    if content.key is None:
        if len(names) == 1:
            return names[0]
        raise BindingError(f"'{content.path}' needs a key, write {content.path}:KEY with one of: {listed}")
    if content.key not in names:
        hint = nearest_or(content.key, names, f"it has: {listed}")
        raise BindingError(f"'{content.path}' has no array '{content.key}'; {hint}")
    return content.key


def fitted(array: Array, content: Elements, shape: Shape) -> Array:
    """Returns ``array`` in the wanted shape: its own, or that of a raw file for which none was stated.

    Raises ``BindingError`` for another shape.
    """
    if array.shape == shape:
        return array
    shapeless = isinstance(content, Stored) and content.kind == RAW and content.shape is None
    if shapeless and array.size == math.prod(shape):
        return array.reshape(shape)
    raise BindingError(f"'{content.text}' has shape {shape_text(array.shape)}, not {shape_text(shape)}")
