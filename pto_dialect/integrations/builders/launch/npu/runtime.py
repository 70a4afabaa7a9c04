"""What `torch.npu` has: one device, whose kernels have ended when a launch returns."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from types import ModuleType, SimpleNamespace
from typing import Any

CUBE_CORES = 20
"""Cube cores of the device; it has twice as many vector cores."""
MEMORY = 64 << 30
"""Bytes of global memory that the device states."""


class Config(SimpleNamespace):
    """Settings, of which none has an effect."""


class Stream:
    """A stream: launches of all streams run at once, in the order of the program."""

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        self.device = device
        self.npu_stream = 0

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.npu_stream)

    def synchronize(self) -> None:
        """Waits; everything has ended already."""

    def query(self) -> bool:
        """Returns whether everything has ended."""
        return True

    def wait_event(self, event: Any) -> None:
        """Waits for an event; it has occurred already."""

    def wait_stream(self, stream: Any) -> None:
        """Waits for another stream."""

    def record_event(self, event: Event | None = None) -> Event:
        """Returns the event, recorded."""
        made = event if event is not None else Event()
        made.record(self)
        return made


class Event:
    """A moment of this process, by the clock of the host."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self._at: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        """It is now."""
        self._at = perf_counter()

    def wait(self, stream: Stream | None = None) -> None:
        """Waits; it has occurred already."""

    def synchronize(self) -> None:
        """Waits; it has occurred already."""

    def query(self) -> bool:
        """Returns whether it has occurred."""
        return True

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from here to ``end_event``. Raises ``RuntimeError`` for events that were not recorded."""
        if self._at is None or end_event._at is None:
            raise RuntimeError("both events must be recorded before their distance is known")
        return (end_event._at - self._at) * 1000


_stream = Stream()


def _nothing(*_: Any, **__: Any) -> None:
    return None


def properties(device: Any = None) -> SimpleNamespace:
    """Returns what the device has."""
    return SimpleNamespace(
        name="pto-dialect", cube_core_num=CUBE_CORES, vector_core_num=2 * CUBE_CORES, total_memory=MEMORY
    )


def _context(*_: Any, **__: Any) -> AbstractContextManager[None]:
    return nullcontext()


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Event": Event,
    "Stream": Stream,
    "_is_in_bad_fork": lambda: False,
    "current_device": lambda: 0,
    "current_stream": lambda device=None: _stream,
    "default_stream": lambda device=None: _stream,
    "device": _context,
    "device_count": lambda: 1,
    "get_device_name": lambda device=None: properties().name,
    "get_device_properties": properties,
    "is_available": lambda: True,
    "is_initialized": lambda: True,
    "max_memory_allocated": lambda device=None: 0,
    "mem_get_info": lambda device=None: (MEMORY, MEMORY),
    "memory_allocated": lambda device=None: 0,
    "stream": _context,
    **dict.fromkeys(
        ("empty_cache", "init", "manual_seed_all", "reset_peak_memory_stats", "set_compile_mode", "set_device",
         "set_option", "set_stream", "synchronize"), _nothing),
}  # fmt: skip
"""The functions and classes, by name."""


class NpuModule(ModuleType):
    """A module of the stand-in, which names what it lacks."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        raise AttributeError(
            f"{self.__name__}.{name} needs a device: pto-dialect provides {self.__name__} without one, for launches"
        )


def make() -> ModuleType:
    """Returns the module `torch.npu`."""
    made = NpuModule("torch.npu", "Ascend devices, in the memory of the host.")
    made.__dict__.update(FUNCTIONS, config=Config())
    return made
