"""The race check against an independent answer: a graph of the run, on random programs with flags."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sanitize_programs import barrier, copy, load, program, set_flag, store, ub, wait_flag

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.syntax.read.parser import parse_program


def graph_module() -> ModuleType:
    """``benchmarks/happens_before.py``, which is no package."""
    name = "happens_before"
    if name not in sys.modules:
        path = Path(__file__).parents[3] / "benchmarks" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


GRAPH = graph_module()
PIPES = ("MTE2", "V", "MTE3", "S")
BUFFERS = ("%x", "%y", "%z")
PLACES = [ub(name[1:], address) for name, address in zip(BUFFERS, (0, 32, 256), strict=True)]
"""The first two overlap."""


def put(name: str) -> str:
    """The scalar unit stores an element."""
    return f"pto.store_scalar %one, {name}[%i1] : !pto.ptr<f32, ub>, f32"


def get(name: str) -> str:
    """The scalar unit reads an element."""
    return f"%_ = pto.load_scalar {name}[%i1] : !pto.ptr<f32, ub> -> f32"


buffers = st.sampled_from(BUFFERS)
pairs = st.tuples(st.sampled_from(PIPES), st.sampled_from(PIPES)).filter(lambda pair: pair[0] != pair[1])
statements = st.one_of(
    st.builds(lambda x: [load(x)], buffers),
    st.builds(lambda x: [store(x)], buffers),
    st.builds(lambda x, y: [copy(x, y)], buffers, buffers),
    st.builds(
        lambda pair, event: [set_flag(pair[0], pair[1], event), wait_flag(pair[0], pair[1], event)],
        pairs,
        st.integers(0, 1),
    ),
    st.builds(lambda x: [put(x)], buffers),
    st.builds(lambda x: [get(x)], buffers),
    st.sampled_from([[barrier("ALL")], [barrier("V")], [barrier("S")]]),
)


def found_and_expected(lines: list[str]) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Pairs of lines that the sanitizer reports, and those that the graph leaves without order."""
    unique = [line.replace("%_", f"%v{number}") for number, line in enumerate(lines)]
    text = program("%c2 = arith.constant 2 : i64", "%one = arith.constant 1.0 : f32", *PLACES, *unique)
    module = parse_program(SourceFile("k.pto", text), DiagnosticEngine())
    options = SanitizeOptions(frozenset({"race", "deadlock"}), "strict")
    kernel = GRAPH.RecordedKernel(module, None, None, RunOptions(), options)
    kernel.run([np.zeros(64, np.float32), np.zeros(64, np.float32)])
    sites = kernel.observer.sites
    reported = {
        tuple(sorted(site.span.line for site in finding.sites))
        for finding in kernel.observer.findings.all
        if finding.rule.startswith("race")
    }
    races = {tuple(sorted(sites[node.site].span.line for node in pair)) for pair in GRAPH.races(kernel.observer)}
    return reported, races


@settings(max_examples=150, deadline=None)
@given(st.lists(statements, min_size=2, max_size=14))
def test_races_are_those_of_the_graph(groups: list[list[str]]):
    """Nothing is reported without a cause, and every program with a race is reported."""
    reported, races = found_and_expected([line for group in groups for line in group])
    assert reported <= races
    assert bool(reported) == bool(races)


def test_the_graph_sees_a_race():
    """The comparison above would not notice a graph that is always empty."""
    assert found_and_expected([load("%x"), store("%x")])[1]
    assert not found_and_expected([load("%x"), barrier("ALL"), store("%x")])[1]


def test_the_graph_keeps_scalar_stores_aside():
    flag = [set_flag("S", "MTE3"), wait_flag("S", "MTE3")]
    for between in (flag, [barrier("ALL")], [barrier("S")]):
        assert found_and_expected([put("%x"), *between, store("%x")]) == (set(), set())
    for between in ([], [barrier("V")], [set_flag("S", "V"), wait_flag("S", "V")], [get("%x")]):
        reported, races = found_and_expected([put("%x"), *between, store("%x")])
        assert reported == races != set()
    assert found_and_expected([*flag, put("%x"), store("%x")])[1]
    assert found_and_expected([get("%x"), load("%x")]) == (set(), set())
