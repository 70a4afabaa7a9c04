"""The stages of ``--lower`` and the passes that they stand for."""

import pytest

from pto_dialect.passes.registry import PASS_TABLE, parse_pipeline
from pto_dialect.passes.stages import STAGES, UnknownStageError, lowering


def test_every_stage_is_a_pipeline_of_passes_that_change_something():
    for stage in STAGES.values():
        for call in parse_pipeline(",".join(stage.passes)):
            assert PASS_TABLE[call.partition("{")[0]].changes


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("usual", ("assign-memory", "insert-sync")),
        ("sync, memory", ("assign-memory", "insert-sync")),
        ("sync", ("insert-sync",)),
        ("cube,usual", ("assign-memory", "insert-sync", "lower-cube")),
        ("vector,cube", ("lower-cube", "lower-vector")),
        ("transfers,vector", ("lower-vector", "lower-transfers")),
        (
            "all",
            (
                "sums-in-place",
                "repeat-sums",
                "assign-memory",
                "insert-sync",
                "lower-cube",
                "lower-vector",
                "lower-transfers",
            ),
        ),
    ],
)
def test_stages_run_in_the_order_of_their_table(text: str, passes: tuple[str, ...]):
    assert lowering(text) == passes


def test_an_unknown_stage_is_named():
    with pytest.raises(UnknownStageError, match="there is no stage 'cubes'; stages are sums, memory"):
        lowering("memory,cubes")
