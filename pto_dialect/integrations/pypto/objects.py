"""What stands for compiled kernels and orchestrations: their C++ text, as the text section of an ELF file.

PyPTO keeps object files, and takes the text section out of those that are meant for boards.
"""

from __future__ import annotations

import struct

_HEADER, _SECTION = 64, 64
_NAMES = b"\0.text\0.shstrtab\0"


def packed(text: str) -> bytes:
    """Returns an ELF file whose text section is ``text``."""
    content = text.encode()
    names_at = _HEADER + len(content)
    sections_at = names_at + len(_NAMES)
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, sections_at, 0, _HEADER, 0, 0, _SECTION, 3, 2)
    sections = [bytes(_SECTION), _section(1, _HEADER, len(content)), _section(7, names_at, len(_NAMES))]
    return b"".join([identity, header, content, _NAMES, *sections])


def _section(name: int, offset: int, size: int) -> bytes:
    return struct.pack("<IIQQQQIIQQ", name, 1, 0, 0, offset, size, 0, 0, 1, 0)


def unpacked(data: bytes) -> str:
    """Returns the text in a file made by :func:`packed`, or in its text section alone."""
    if data[:4] == b"\x7fELF":
        sections_at = struct.unpack_from("<Q", data, 40)[0]
        offset, size = struct.unpack_from("<QQ", data, sections_at + _SECTION + 24)
        data = data[offset : offset + size]
    return data.decode()
