"""What operations say of queues, sections and the control register on their classes."""

from __future__ import annotations

from pto_dialect.analysis.queues import CORE_INITS, HANDLE_INITS, HANDLE_OPERATIONS, ID_OPERATIONS, QUANT_SETTERS
from pto_dialect.ir.core.base import op_spec
from pto_dialect.ir.core.facts.queues import C2V, V2C
from pto_dialect.ir.core.registry import all_op_classes

QUEUES = {cls.name: op_spec(cls).queue for cls in all_op_classes() if op_spec(cls).queue is not None}


def test_names_with_rules_are_those_with_an_action() -> None:
    names = (*CORE_INITS, *HANDLE_INITS, *ID_OPERATIONS, *HANDLE_OPERATIONS, *QUANT_SETTERS)
    assert sorted(names) == sorted(QUEUES)


def test_numbered_transfers_state_their_core_and_direction() -> None:
    for name in ID_OPERATIONS:
        action = QUEUES[name]
        assert action is not None and action.transfers
        other = "cube" if name.endswith("aic") else "vector"
        assert action.core != other
        to_vector = name in ("pto.tpush_to_aiv", "pto.talloc_to_aiv", "pto.tpop_from_aic", "pto.tfree_from_aic")
        assert action.direction == (C2V if to_vector else V2C)
        assert action.role in name


def test_transfers_on_a_handle_leave_core_and_direction_open() -> None:
    for name in HANDLE_OPERATIONS:
        action = QUEUES[name]
        assert action is not None and action.transfers
        assert (action.core, action.direction) == (None, 0)
        assert name == f"pto.t{action.role}"


def test_sections_say_their_kind() -> None:
    kinds = {cls.name: op_spec(cls).section for cls in all_op_classes() if op_spec(cls).section}
    assert kinds == {f"pto.section.{kind}": kind for kind in ("cube", "vector", "simt")}
