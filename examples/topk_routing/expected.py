"""The k largest logits of each token, and the softmax over them."""

from __future__ import annotations

import numpy as np

from examples.case import Data
from examples.expectation import TOLERANCE, Accumulate, Wanted


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """``experts`` [tokens, k] and ``weights`` [tokens, k] for ``logits`` [tokens, experts].

    Of equal logits the expert with the smaller number comes first (docs/reference/tiles.md, "Irregular operations": the
    sort is stable).
    """
    k = data["experts"].shape[1]
    experts = np.argsort(-data["logits"], axis=1, kind="stable")[:, :k]
    chosen = np.take_along_axis(data["logits"].astype(np.float64), experts, axis=1)
    weights = np.exp(chosen - chosen.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return {"experts": Wanted(experts), "weights": Wanted(weights, weights, TOLERANCE)}
