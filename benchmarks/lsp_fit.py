"""Computes the weights of the network that ranks operations at the beginning of a statement.

    python benchmarks/lsp_fit.py FOLDER...

`benchmarks/lsp_typing.py --count FOLDER...` has to count the same folders first. The programs that it counts are in
parts by their subjects. The statements of a part are ranked with the counts of the other parts, so the weights are
right for programs that the counts have not seen. The share of operations among the first ten is then printed for the
programs that neither counts nor weights have seen.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import islice
from math import log
from pathlib import Path
from typing import Any

# Batches are small: threads wait for each other longer than they compute.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import numpy.typing as npt
from lsp_typing import FIRST, aliases, as_written, chosen, programs, share, subject, weighed

from pto_dialect.lsp.statements.contexts import Counts, count
from pto_dialect.lsp.statements.features import FEATURES, Here, features
from pto_dialect.lsp.statements.fresh import title_of
from pto_dialect.lsp.statements.history import History, statements_of
from pto_dialect.lsp.statements.names import INDEX, NAMES
from pto_dialect.lsp.statements.network import Network, usual_network, write_network
from pto_dialect.lsp.statements.shares import Shares, shares_of, usual_shares
from pto_dialect.lsp.statements.usual import excluded

Array = npt.NDArray[Any]
_PARTS = 4
_MOST = 80
"""Statements of a program that are ranked."""
_EACH, _STATEMENTS, _SHARE = 4, 24, 0.6
"""Programs of a subject, statements of a program at most, and the share of its statements."""
_AS_WRITTEN = 0.6
"""The share of programs that have their comments and the names of their files."""
_LIKELY, _OTHERS = 50, 29
"""Operations that a statement is compared with: the most likely ones by the mean of the contexts, and some others."""
_NETWORKS, _UNITS, _EPOCHS, _BATCH, _RATE, _DECAY = 2, 48, 12, 128, 0.01, 1e-5
_MEAN, _NAMED = FEATURES.index("mean"), FEATURES.index("named")
Program = tuple[Path, str]


def statements(
    text: str, shares: Shares, title: str = "", wanted: Callable[[], bool] = lambda: True
) -> Iterator[tuple[str, Array, History]]:
    """The name of each ``wanted`` statement of a program, and the features of all operations before it."""
    history, here, number = History(aliases(text)), Here(), 0
    for statement in statements_of(text):
        if not statement.is_frame and statement.name in INDEX:
            number += 1
            if number > _MOST:
                return
            if wanted():
                yield statement.name, features(history, here, shares, title), history
        here.follow(history, statement)
        history.follow(statement)


def by_subject(found: list[Program]) -> dict[str, list[Program]]:
    """Programs with five operations or more, by what they are about."""
    subjects: defaultdict[str, list[Program]] = defaultdict(list)
    for path, text in found:
        subjects[subject(path)].append((path, text))
    return subjects


def examples(found: list[Program], shares: Shares, order: random.Random) -> Iterator[Array]:
    """Features of what statements are, in the first column, and of operations that they could be."""
    subjects = by_subject(found)
    for name in sorted(subjects):
        for path, text in order.sample(subjects[name], min(_EACH, len(subjects[name]))):
            title = ""
            if order.random() < _AS_WRITTEN:
                text, title = as_written(path), title_of(path.as_posix())
            some = statements(text, shares, title, lambda: order.random() < _SHARE)
            for wanted, matrix, _ in islice(some, _STATEMENTS):
                yield matrix[:, _compared(INDEX[wanted], matrix, order)].astype(np.float32)


def _compared(wanted: int, matrix: Array, order: random.Random) -> list[int]:
    likely = [int(one) for one in np.argsort(-matrix[_MEAN] - matrix[_NAMED])[: _LIKELY + 1] if one != wanted][:_LIKELY]
    others = sorted(set(range(len(NAMES))) - {wanted, *likely})
    return [wanted, *likely, *order.sample(others, _OTHERS)]


def fitted(found: Array, seed: int) -> Network:
    """The weights that make the first column likely: the mean of networks that begin with different weights."""
    nets = [_fitted(found, seed + number) for number in range(_NETWORKS)]
    weights = np.concatenate([net.weights for net in nets]) / _NETWORKS
    return Network(np.concatenate([net.units for net in nets]), np.concatenate([net.biases for net in nets]), weights)


def _fitted(found: Array, seed: int) -> Network:
    """Weights by Adam on the cross entropy."""
    order = np.random.default_rng(seed)
    mean, spread = found.mean((0, 2)), found.std((0, 2)) + 1e-3
    scaled = (found - mean[:, None]) / spread[:, None]
    # The other operations stand for all that are not compared.
    weight = np.zeros(found.shape[2], np.float32)
    weight[-_OTHERS:] = log((len(NAMES) - _LIKELY - 1) / _OTHERS)
    limit = 1 / np.sqrt(len(FEATURES))
    values = [
        order.uniform(-limit, limit, (_UNITS, len(FEATURES))),
        np.zeros(_UNITS),
        order.uniform(-0.14, 0.14, _UNITS),
    ]
    values = [one.astype(np.float32) for one in values]
    first, second = [np.zeros_like(one) for one in values], [np.zeros_like(one) for one in values]
    step, steps = 0, _EPOCHS * (len(scaled) // _BATCH)
    for _ in range(_EPOCHS):
        for batch in np.array_split(order.permutation(len(scaled)), len(scaled) // _BATCH):
            step += 1
            rate = _RATE * 0.5 * (1 + np.cos(np.pi * step / (steps + _EPOCHS)))
            for at, slope in enumerate(_slopes(scaled[batch], weight, values)):
                slope = slope + _DECAY * values[at]
                first[at] = 0.9 * first[at] + 0.1 * slope
                second[at] = 0.999 * second[at] + 0.001 * slope**2
                values[at] -= rate * first[at] / (1 - 0.9**step) / (np.sqrt(second[at] / (1 - 0.999**step)) + 1e-8)
    units = values[0] / spread
    return Network(units, values[1] - units @ mean, values[2])


def _slopes(batch: Array, weight: Array, values: list[Array]) -> list[Array]:
    """The gradient of the loss of a batch."""
    units, biases, weights = values
    hidden = np.matmul(units, batch) + biases[:, None]
    active = np.maximum(hidden, 0.0)
    scores = np.einsum("u,nuc->nc", weights, active) + weight
    likely = np.exp(scores - scores.max(1, keepdims=True))
    error = likely / likely.sum(1, keepdims=True)
    error[:, 0] -= 1
    error /= len(batch)
    back = error[:, None, :] * weights[:, None] * (hidden > 0)
    return [
        np.einsum("nuc,nfc->uf", back, batch, optimize=True),
        back.sum((0, 2)),
        np.einsum("nc,nuc->u", error, active),
    ]


def ranks(found: list[Program], shares: Shares, network: Network, hints: bool) -> list[tuple[str, int]]:
    """The rank of each statement of programs, from 0; with ``hints`` they have their comments and names of files."""
    result: list[tuple[str, int]] = []
    for path, text in found:
        text, title = (as_written(path), title_of(path.as_posix())) if hints else (text, "")
        for wanted, matrix, history in statements(text, shares, title):
            scores = network.scores(matrix)
            for other in excluded(history) & INDEX.keys():
                scores[INDEX[other]] = -np.inf
            result.append((wanted, int((scores > scores[INDEX[wanted]]).sum())))
    return result


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=100, help="programs that are measured")
    parser.add_argument("--measure", action="store_true", help="only measures the weights that there are")
    parser.add_argument("--as-written", action="store_true", help="with comments and names of files")
    parser.add_argument("--missed", action="store_true", help="lists what was not among the first")
    given = parser.parse_args()
    order = random.Random(given.seed)
    if not given.measure:
        parts: defaultdict[int, list[Program]] = defaultdict(list)
        for path, text in programs(given.folders, True):
            parts[zlib.crc32(f"part {subject(path)}".encode()) % _PARTS].append((path, text))
        collected: list[Array] = []
        for number, part in parts.items():
            others = (weighed(path) for other, each in parts.items() if other != number for path, _ in each)
            counts: Counts = count(others)
            collected += examples(part, shares_of(counts), order)
        print(f"{len(collected)} statements", flush=True)
        write_network(fitted(np.array(collected), given.seed))
        usual_network.cache_clear()
    unseen = chosen(given.folders, given.number, given.seed)
    result = ranks(unseen, usual_shares(), usual_network(), given.as_written)
    print(f"programs that were not seen: {share(result)} among the first {FIRST}")
    if given.missed:
        print(Counter(name for name, rank in result if rank >= FIRST).most_common())
    return 0


if __name__ == "__main__":
    sys.exit(main())
