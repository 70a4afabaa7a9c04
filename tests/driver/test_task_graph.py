"""Task graphs from Python."""

from __future__ import annotations

import numpy as np
import pytest
from group_programs import cube, module, vector
from task_programs import ADD, FILL

import pto_dialect
from pto_dialect import PerCore, TaskGraph
from pto_dialect.runtime.errors import BindingError

fill, add = pto_dialect.parse(FILL), pto_dialect.parse(ADD)


def diamond(graph: TaskGraph, **options) -> np.ndarray:
    x, y, z = (np.zeros(1, np.float32) for _ in range(3))
    graph.submit(fill, [x, 1.0, 0], name="one")
    graph.submit(add, {"a": x, "b": x, "out": y}, name="double")
    graph.submit(add, {"a": x, "b": y, "out": z}, name="triple", **options)
    return z


@pytest.mark.parametrize("order", ["submitted", "random:0", "random:1"])
def test_tasks_wait_for_what_they_read(order: str) -> None:
    graph = TaskGraph()
    z = diamond(graph)
    result = graph.run(order)
    assert result.order == ("one", "double", "triple")
    assert result.findings == ()
    assert z.tolist() == [3]


def test_free_tasks_run_in_any_order() -> None:
    graph = TaskGraph()
    arrays = [np.zeros(2, np.float32) for _ in range(6)]
    for number, array in enumerate(arrays):
        graph.submit(fill, [array, float(number), 1])
    orders = {graph.run(f"random:{seed}").order for seed in range(4)}
    assert len(orders) > 1
    assert [array[1] for array in arrays] == [0, 1, 2, 3, 4, 5]


def test_a_wait_that_is_missing_is_found() -> None:
    graph = TaskGraph(sanitize=True)
    diamond(graph, directions={"b": "none"})
    (found,) = graph.run().findings
    assert found.rule == "race-task"
    assert found.message == (
        "task triple reads bytes [0, 4) of gm 'out' that task double writes, and nothing orders the two"
    )
    assert [note.message for note in found.notes] == [
        "task double writes them in pto.store_scalar",
        "task triple reads them in pto.load_scalar",
    ]
    assert found.notes[0].span is not None
    assert found.notes[0].span.line == 6


def test_tasks_may_touch_different_parts_of_one_array() -> None:
    graph = TaskGraph(sanitize=True)
    both = np.zeros(2, np.float32)
    graph.submit(fill, [both, 1.0, 0], directions={"out": "none"})
    graph.submit(fill, [both, 2.0, 1], directions={"out": "none"})
    assert graph.run().findings == ()
    assert both.tolist() == [1, 2]
    graph.submit(fill, [both[1:], 2.0, 0], directions={"out": "none"})
    (found,) = graph.run().findings
    assert found.message.startswith("task task3 writes bytes [4, 8) of gm 'out' that task task2 writes")


def test_a_reader_is_waited_for_where_it_is_named() -> None:
    def findings(named: bool) -> list[str]:
        graph = TaskGraph(sanitize=True)
        x, y = np.zeros(1, np.float32), np.zeros(1, np.float32)
        reader = graph.submit(add, [x, x, y])
        graph.submit(fill, [x, 5.0, 0], after=[reader] if named else [])
        return [found.rule for found in graph.run().findings]

    assert findings(named=False) == ["race-task"]
    assert findings(named=True) == []


def test_groups_are_tasks() -> None:
    graph = TaskGraph()
    one, other = pto_dialect.parse(module(cube())), pto_dialect.parse(module(vector()))
    between, out, total = np.zeros(1, np.int32), np.zeros(2, np.int32), np.zeros(1, np.float32)
    graph.submit_group([(one, "produce"), (other, "consume")], [[between, PerCore("block"), 7], [between, out]])
    graph.submit(add, [out.view(np.float32), np.zeros(1, np.float32), total], name="last")
    assert graph.run("random:5").order == ("task1", "last")
    assert out.tolist() == [70, 70]
    assert total.view(np.int32).tolist() == [70]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"directions": {"x": "in"}}, "@add has no argument x"),
        ({"directions": {"a": "read"}}, "a task does in, out, inout, none with a, not 'read'"),
        (
            {"arguments": [1]},
            "@add takes 3 arguments, found 1: a : !pto.ptr<f32, gm>, b : !pto.ptr<f32, gm>, out : !pto.ptr<f32, gm>",
        ),
        ({"after": "other"}, "a task waits for tasks of its own graph"),
    ],
)
def test_what_does_not_fit(change, message: str) -> None:
    x = np.zeros(1, np.float32)
    other = TaskGraph().submit(fill, [x, 1.0, 0])
    given = {"arguments": [x, x, x]} | change
    if "after" in given:
        given["after"] = [other]
    with pytest.raises(BindingError) as caught:
        TaskGraph().submit(add, **given)
    assert str(caught.value) == message
