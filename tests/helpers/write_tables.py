"""Writes the kept tables again, of all rooms or of the named one: what the modules have now is what tests expect.

Usage: python tests/helpers/write_tables.py [ROOM]
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent)]

if __name__ == "__main__":
    import kept_tables

    if not sys.argv[1:]:
        # Each in a process of its own: some tables grow with what other rooms load.
        for room in kept_tables.ROOMS:
            subprocess.run([sys.executable, __file__, room], check=True)
        sys.exit(0)
    (room,) = sys.argv[1:]
    (kept_tables.FOLDER / room / "tables.txt").write_text(kept_tables.text(room), encoding="utf-8")
    if room == "ir":
        lines = "".join(f"{line}\n" for line in kept_tables.operations())
        (kept_tables.FOLDER / "ir" / "operations.txt").write_text(lines, encoding="utf-8")
