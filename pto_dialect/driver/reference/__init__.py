"""Pages of docs/reference that follow from the declarations and tables of the package.

``python -m pto_dialect.driver.reference`` writes them.
"""

from __future__ import annotations

from pathlib import Path

from . import clauses, core, enumerators, operations, tables

FOLDER = Path(__file__).parents[3] / "docs" / "reference"

PAGES = {
    "operations.md": operations.page,
    "target-tables.md": tables.page,
    "enumerators.md": enumerators.page,
    "clauses.md": clauses.page,
    "core-operations.md": core.page,
}
"""Name of each page, and what renders it."""
