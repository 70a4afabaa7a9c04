"""What the runtime knows of those who instrument a run, and that the sanitizers are such."""

import inspect

import pytest

from pto_dialect.runtime.compile.source_check import ATTRIBUTES
from pto_dialect.runtime.instrumentation import CALLS, Instrumentation, Observer, Streams
from pto_dialect.sanitize.checks import streams
from pto_dialect.sanitize.checks.item_races import ItemRaces
from pto_dialect.sanitize.instrument.core import InstrumentedCore

METHODS = (
    "at",
    "inside",
    "in_body",
    "allocated",
    "aligned",
    "aligned_blocks",
    "through",
    "accesses",
    "fence",
    "hand_over",
    "hand_over_tile",
    "maintain",
)
STREAMS = ("reach", "goes_on")


def watching(core: InstrumentedCore) -> Instrumentation:
    """For the type checker: an instrumented core is one."""
    return core


def test_code_of_instrumented_runs_may_call_the_members_of_the_protocol() -> None:
    recorded = ("note", "alone", "structure", "reached", "placed", "reached_part")
    assert {*METHODS, *STREAMS, *recorded, "parts", "check", "signals", "streams", "lock"} == CALLS
    assert CALLS <= ATTRIBUTES


@pytest.mark.parametrize("name", METHODS)
def test_an_instrumented_core_has_the_members_of_the_protocol(name: str) -> None:
    said, found = (inspect.signature(getattr(cls, name)) for cls in (Instrumentation, InstrumentedCore))
    assert [parameter.name for parameter in said.parameters.values()] == [
        parameter.name for parameter in found.parameters.values()
    ]


@pytest.mark.parametrize("name", STREAMS)
def test_unaligned_streams_are_followed(name: str) -> None:
    said, found = (inspect.signature(getattr(cls, name)) for cls in (Streams, streams.Streams))
    assert list(said.parameters) == list(found.parameters)


@pytest.mark.parametrize("name", ["access", "synchronise"])
def test_races_of_work_items_are_observed(name: str) -> None:
    said, found = (inspect.signature(getattr(cls, name)) for cls in (Observer, ItemRaces))
    assert list(said.parameters) == list(found.parameters)
