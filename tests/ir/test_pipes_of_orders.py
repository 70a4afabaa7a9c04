"""The pipe on which an operation that orders others runs is the one that it names."""

from __future__ import annotations

import pytest
from parse_helpers import parsed

from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.ir.core.facts.operation_form import pipe_of

ROWS = [
    ('pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]', Pipe.MTE2),
    ('pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]', Pipe.V),
    ("pto.set_flag_dyn[<PIPE_MTE3>, <PIPE_MTE2>, %i]", Pipe.MTE3),
    ("pto.wait_flag_dyn[<PIPE_MTE3>, <PIPE_MTE2>, %i]", Pipe.MTE2),
    ("pto.barrier #pto.pipe<PIPE_M>", Pipe.M),
    ("pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, <EVENT_ID3>]", Pipe.MTE2),
    ("pto.wait_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, <EVENT_ID3>]", Pipe.V),
    ("pto.barrier_sync[<TMATMUL>]", Pipe.M),
    ('pto.get_buf "PIPE_MTE2", 0, 0', Pipe.MTE2),
    ('pto.rls_buf "PIPE_V", 0, 0', Pipe.V),
    ('pto.get_buf_dyn "PIPE_MTE3", %i, 0', Pipe.MTE3),
]


@pytest.mark.parametrize(("statement", "pipe"), ROWS, ids=[row[0].split("[")[0].split()[0] for row in ROWS])
def test_the_pipe_that_is_named(statement: str, pipe: Pipe) -> None:
    module, found = parsed(f"func.func @f(%i: index) {{\n  {statement}\n  return\n}}")
    assert module is not None and not found
    (op,) = (op for op in module.walk() if isinstance(op, PtoOp))
    assert pipe_of(op, "a5") == pipe_of(op, "a2a3") == pipe
