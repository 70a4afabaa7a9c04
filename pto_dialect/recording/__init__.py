"""Recordings of runs: every operation that was executed, and the memory at each of them.

>>> from pto_dialect.recording import open
>>> recording = open("run.pto-rec")                     # doctest: +SKIP
>>> recording.memory_at(recording.last, "ub")           # doctest: +SKIP
"""

from .model import (
    Access,
    Argument,
    Finding,
    Form,
    Handle,
    Memory,
    Outcome,
    Program,
    RecordingError,
    Signal,
    Statement,
    Step,
    Thread,
    Waiting,
)
from .read import Recording, open

__all__ = [
    "Access",
    "Argument",
    "Finding",
    "Form",
    "Handle",
    "Memory",
    "Outcome",
    "Program",
    "Recording",
    "RecordingError",
    "Signal",
    "Statement",
    "Step",
    "Thread",
    "Waiting",
    "open",
]
