"""Writes the generated pages of docs/reference."""

from __future__ import annotations

from pto_dialect.diagnostics.files import atomic_write

from . import FOLDER, PAGES


def main() -> None:
    """Renders every page into the checkout."""
    for name, page in PAGES.items():
        atomic_write(FOLDER / name, page())


if __name__ == "__main__":
    main()
