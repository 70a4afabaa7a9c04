"""Searches the pipeline with which a kernel takes the least time by the cycle model.

A beam search: the best pipelines so far are changed in one stage each, until none of these changes is better. Nothing
is random. Source: docs/optimize.md, "What is tried".
"""

from __future__ import annotations

from collections.abc import Sequence

from ..tune.measure import Measured
from .bench import Bench
from .space import Stage, Ways, changes, pipeline_of

WIDTH = 3
"""Pipelines whose changes are tried."""


def search(bench: Bench, stages: Sequence[Stage], compare: bool = False) -> Ways | None:
    """Returns the fastest pipeline, as one alternative for each stage; ``None`` where none is right. Its results are
    compared, with ``compare`` however long that takes. Raises ``LaunchError`` and ``WorkerError``."""
    plain, usual = tuple(one.ways[0] for one in stages), tuple(one.usual for one in stages)
    ways = {pipeline_of(one): one for one in (usual, plain)}
    bench.measure([pipeline_of(plain), pipeline_of(usual)])
    changed: set[Ways] = set()
    new = [plain, usual]
    while new and not bench.over:
        changed.update(new)
        for one in new:
            for other in changes(one, stages):
                ways.setdefault(pipeline_of(other), other)
        bench.measure([pipeline_of(other) for one in new for other in changes(one, stages)])
        beam = [ways[one.candidate.passes] for one in bench.good()[:WIDTH]]
        new = [one for one in beam if one not in changed]
    bench.confirm(compare)
    best = bench.good()
    return _shortest(bench, stages, ways[best[0].candidate.passes]) if best else None


def _shortest(bench: Bench, stages: Sequence[Stage], best: Ways) -> Ways:
    """Returns the same program without the stages that change nothing of it."""
    program = bench.tried[pipeline_of(best)].program
    for number, stage in enumerate(stages):
        other = (*best[:number], stage.ways[0], *best[number + 1 :])
        if bench.program(pipeline_of(other)) == program:
            best = other
    bench.prefer(pipeline_of(best), program)
    return best


def steps(bench: Bench, stages: Sequence[Stage], best: Ways) -> list[tuple[str, Measured]]:
    """Returns the way from the plain pipeline to the best one, a stage at a time: what each stage changes, and the
    result. Raises ``LaunchError`` and ``WorkerError``."""
    plain = tuple(one.ways[0] for one in stages)
    reached = [(*best[:number], *plain[number:]) for number in range(len(stages) + 1)]
    bench.limit += len(reached)
    skipped = {passes: bench.tried[passes] for passes in map(pipeline_of, reached) if passes in bench.tried}
    for passes, known in skipped.items():
        if known.skipped:
            del bench.tried[passes]
    bench.measure(map(pipeline_of, reached), slow=True)
    # The time may be over before they run.
    bench.tried = {**skipped, **bench.tried}
    found = [("plain", bench.tried[pipeline_of(plain)].measured)]
    for number, ways in enumerate(reached[1:]):
        if best[number] != plain[number]:
            one = bench.tried.get(pipeline_of(ways))
            if one is not None:
                found.append((best[number] or f"without {plain[number]}", one.measured))
    return found
