"""C = A B + bias."""

from __future__ import annotations

from examples.case import Array, Data, Product


def expected(entry: str, data: Data, product: Product) -> dict[str, Array]:
    """``c`` [M, N] for ``a`` [M, K], ``b`` [K, N] and, if ``with_bias``, ``bias`` [1, N]."""
    return {"c": product(data["a"], data["b"], data["bias"] if data["with_bias"] else None)}
