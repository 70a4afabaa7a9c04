"""Writes again verdicts, relations between tiles, what passes make of programs, and how runs end.

Usage: python tests/helpers/write_kept.py
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

WRITERS = (
    "kept_relations",
    "kept_verdicts",
    "kept_outputs",
    "kept_runs",
    "kept_texts",
    "kept_elements",
)

if __name__ == "__main__":
    for writer in WRITERS:
        subprocess.run([sys.executable, str(Path(__file__).with_name(f"{writer}.py"))], check=True)
