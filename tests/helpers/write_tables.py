"""Writes the kept tables again, of all rooms or of the named ones: what the modules have now is what tests expect.

Usage: python tests/helpers/write_tables.py [ROOM ...]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent)]

if __name__ == "__main__":
    import kept_tables

    for room in sys.argv[1:] or kept_tables.ROOMS:
        (kept_tables.FOLDER / room / "tables.txt").write_text(kept_tables.text(room), encoding="utf-8")
    if not sys.argv[1:] or "ir" in sys.argv[1:]:
        lines = "".join(f"{line}\n" for line in kept_tables.operations())
        (kept_tables.FOLDER / "ir" / "operations.txt").write_text(lines, encoding="utf-8")
