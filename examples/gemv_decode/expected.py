"""y = x W (+ bias)."""

from __future__ import annotations

from examples.case import Array, Data, Product


def expected(entry: str, data: Data, product: Product) -> dict[str, Array]:
    """``y`` [1, N] for ``x`` [1, K], ``w`` [K, N] and, where the kernel takes one, ``bias`` [1, N]."""
    return {"y": product(data["x"], data["w"], data.get("bias"))}
