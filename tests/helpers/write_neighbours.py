"""Writes ``tests/neighbours`` and ``tests/outcomes`` again, all files or those of the named families: what is said and
computed now is what tests expect.

Usage: python tests/helpers/write_neighbours.py [FAMILY ...]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2] / folder) for folder in ("lit-tests", "tests/helpers")]

if __name__ == "__main__":
    import neighbours
    import outcomes

    for family in sys.argv[1:] or neighbours.families():
        for kind in (neighbours, outcomes):
            kind.FOLDER.mkdir(exist_ok=True)
            text = "".join(f"{line}\n" for line in kind.rows(family))
            (kind.FOLDER / f"{family}.txt").write_text(text, encoding="utf-8")
