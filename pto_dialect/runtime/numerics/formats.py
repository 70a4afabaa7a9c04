"""Number formats in one place: the table, ``decode`` (storage to values) and ``encode`` (the way back)."""

from .decode import decode
from .encode import encode
from .format_table import FORMATS, Format, FormatKind, format_of

__all__ = ["FORMATS", "Format", "FormatKind", "decode", "encode", "format_of"]
