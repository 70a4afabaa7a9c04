"""Writes again all that is kept of the package in words: tables, verdicts, relations between tiles,
what passes make of programs, how runs end.

Usage: python tests/helpers/write_kept.py
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

WRITERS = (
    "write_tables",
    "kept_relations",
    "kept_verdicts",
    "kept_outputs",
    "kept_runs",
    "kept_texts",
    "kept_forms",
    "kept_elements",
)

if __name__ == "__main__":
    for writer in WRITERS:
        subprocess.run([sys.executable, str(Path(__file__).with_name(f"{writer}.py"))], check=True)
