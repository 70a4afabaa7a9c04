"""Every operation by mnemonic: family, class, shape. Looking an operation up here imports no operation class.

``operations.csv`` is generated: ``python -m pto_dialect.ir.core.make_index``.
"""

from __future__ import annotations

import os


def _read_rows() -> dict[str, tuple[str, str, str]]:
    with open(os.path.join(os.path.dirname(__file__), "operations.csv"), encoding="utf-8") as file:
        rows = [line.split(",") for line in file.read().splitlines()]
    return {mnemonic: (family, cls, shape) for mnemonic, family, cls, shape in rows}


OPS: dict[str, tuple[str, str, str]] = _read_rows()
