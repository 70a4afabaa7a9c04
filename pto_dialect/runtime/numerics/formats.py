"""Number formats in one module: the table, ``decode`` (storage to values) and ``encode`` (values to storage)."""

from .decode import decode
from .encode import encode
from .format_table import FORMATS, Format, FormatKind, format_of

__all__ = ["FORMATS", "Format", "FormatKind", "decode", "encode", "format_of"]
