"""How likely each operation is, from its features: a network with one layer of hidden units.

Each unit is a weighted sum of the features and a bias, or 0 where that is negative; a score is the weighted sum of the
units. `benchmarks/lsp_fit.py` computes the weights from programs.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .features import FEATURES

TABLE = Path(__file__).with_name("network.csv")
_HEADER = (*FEATURES, "bias", "weight")
Matrix = npt.NDArray[np.float64]


class Network(NamedTuple):
    """The weights."""

    units: Matrix
    """A row for each unit, a column for each feature."""
    biases: Matrix
    weights: Matrix

    def scores(self, features: Matrix) -> Matrix:
        """Returns the scores of the columns of a matrix of features."""
        # The matrix product would start threads, which take longer than the sums on a machine with other work.
        hidden = np.einsum("uf,fn->un", self.units, features) + self.biases[:, None]
        return np.einsum("u,un->n", self.weights, np.maximum(hidden, 0.0))


@cache
def usual_network() -> Network:
    """Returns the weights of this package."""
    with open(TABLE, encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    if tuple(header) != _HEADER:
        raise ValueError(f"{TABLE.name} has other features: compute it again")
    numbers = np.array([[float(number) for number in row] for row in rows])
    return Network(numbers[:, :-2], numbers[:, -2], numbers[:, -1])


def write_network(network: Network, path: Path = TABLE) -> None:
    """Writes weights as a table with a row for each unit."""
    numbers = np.column_stack([*network])
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(_HEADER)
        writer.writerows([f"{number:.4g}" for number in row] for row in numbers)
