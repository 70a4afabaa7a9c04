"""The module `mlir.dialects._ods_common`."""

from __future__ import annotations

from typing import Any

from ..ir.context import Context, need_location
from ..ir.structure import Values, value_of, values_of, wrap_value


def get_default_loc_context(location: Any = None) -> Context:
    """Returns the context of a location, or of the current one."""
    return need_location(location).context


def get_op_result_or_value(arg: Any) -> Any:
    """Returns the value, or the only result of an operation."""
    return wrap_value(value_of(arg))


def get_op_results_or_values(arg: Any) -> Any:
    """Returns the values of a sequence, or the results of an operation."""
    return [wrap_value(one) for one in values_of(arg)]


def get_op_result_or_op_results(op: Any) -> Any:
    """Returns the only result of an operation, the list of several, or the operation without results."""
    results: Values = op.results
    if len(results) == 1:
        return results[0]
    return list(results) if len(results) else op.operation


def segmented_accessor(elements: Any, raw_segments: Any, idx: int) -> Any:
    """Returns the elements of one of several groups, whose sizes an attribute states."""
    sizes = list(raw_segments)
    start = sum(sizes[:idx])
    return list(elements)[start : start + sizes[idx]]


ResultValueT = Any
VariadicResultValueT = Any
