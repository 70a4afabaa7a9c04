"""What the compiled bindings do less conveniently, for packages that rely on it."""

from __future__ import annotations

mlir_names = False
"""Whether values in texts have the names that MLIR's printer gives them."""

plain_types = False
"""Whether the types of values come back as ``Type`` where the dialect declares them."""


def follow_bindings() -> None:
    """Has this process do as the compiled bindings do, from now on."""
    global mlir_names, plain_types
    mlir_names = plain_types = True
