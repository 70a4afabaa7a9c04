"""The pipes of a core."""

from __future__ import annotations

from enum import StrEnum


class Pipe(StrEnum):
    """Hardware queue an operation executes on. Source: docs/reference/execution.md, "Pipes of operations"."""

    S = "PIPE_S"
    V = "PIPE_V"
    M = "PIPE_M"
    MTE1 = "PIPE_MTE1"
    MTE2 = "PIPE_MTE2"
    MTE3 = "PIPE_MTE3"
    FIX = "PIPE_FIX"
    ALL = "PIPE_ALL"
