"""Several programs in one file, separated by lines that start with ``// -----``."""

import re

_SEPARATOR = re.compile(r"^[ \t]*// -----[^\n]*(?:\n|\Z)", re.MULTILINE)


def split_input(text: str) -> list[tuple[int, str]]:
    """Chunks between separator lines, each with the number of its first line in ``text`` (from 1).

    Separator lines belong to no chunk; ``n`` of them make ``n + 1`` chunks, some possibly empty.
    ``SourceFile(name, chunk, first_line=…)`` then reports the lines of the whole file.
    """
    chunks: list[tuple[int, str]] = []
    begin, line = 0, 1
    for separator in _SEPARATOR.finditer(text):
        chunks.append((line, text[begin : separator.start()]))
        line += text.count("\n", begin, separator.end())
        begin = separator.end()
    chunks.append((line, text[begin:]))
    return chunks
