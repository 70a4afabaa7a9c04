"""The worker of PyPTO's run time: memory of the device, and calls of orchestrations, in this process."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from pto_dialect.runtime.memory.spaces import Array

from ..base import Program
from ..memory import AddressSpace
from .assembler import device, embedded_in, program_of
from .chips import Chip
from .domains import Domain, Journal, Window
from .host import Job, Orchestrator, run_jobs
from .host_code import library
from .interface import CallConfig, ChipCallable, DataType, TaskArgs, Tensor, make_chip_tensor_arg
from .tasks import Tasks, decode

CORES = {"a2a3": (24, 48), "a5": (28, 56)}
"""Cube and vector cores of a chip, which orchestrations may ask for."""

_Words = ctypes.POINTER(ctypes.c_uint64)
_ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64)
_TASK = ctypes.CFUNCTYPE(ctypes.c_int, _Words, ctypes.c_uint64)
_REFUSE = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


class _Host(ctypes.Structure):
    """What an orchestration calls, as its headers declare it."""

    _fields_ = (
        ("allocate", _ALLOCATE),
        ("task", _TASK),
        ("refuse", _REFUSE),
        ("cube_cores", ctypes.c_int32),
        ("vector_cores", ctypes.c_int32),
        ("failed", ctypes.c_int32),
    )


class OrchestrationError(RuntimeError):
    """An orchestration that does something its run time does not allow."""


class Buffer:
    """Memory of the device."""

    def __init__(self, memory: AddressSpace, size: int) -> None:
        self.base = memory.allocate(size)
        self.size = self.nbytes = size
        self.keep = memory.buffer_at(self.base).keep

    def tensor(self, shapes: Sequence[int], dtype: DataType) -> Tensor:
        """Returns the buffer as an argument."""
        return Tensor(self.base, tuple(int(extent) for extent in shapes), DataType(dtype), self)


class RunHandle:
    """A run of an orchestration of the host, which has ended."""

    def __init__(self, error: BaseException | None) -> None:
        self._error = error
        self.done = True

    def result(self, timeout: float | None = None) -> None:
        """Raises what the run has raised."""
        if self._error is not None:
            raise self._error


class Worker:
    """A device with its memory, or at level 3 a host with several; whatever else is configured concerns boards."""

    def __init__(self, level: int = 2, device_id: int = 0, platform: str = "a2a3", **_: Any) -> None:
        self.level = level
        self.device_id = device_id
        self.platform = platform
        self.aicpu_dlopen_count = 0
        self.host_dlopen_count = 0
        self._memory = AddressSpace()
        self._registered: list[ChipCallable] = []
        self._committed: dict[int, dict[int, int]] = {}
        # PyPTO takes domains that it keeps out of the journal of the run, and counts them, by these names.
        self._next_alloc_id = 1
        self._live_domains: dict[str, Domain] = {}
        self._building_run_resources = Journal()

    def init(self, **_: Any) -> None:
        """Makes the device ready, which it is."""

    def close(self) -> None:
        """Gives the device back."""
        self._memory = AddressSpace()
        self._live_domains.clear()

    def register(self, callable_: Any, **_: Any) -> Any:
        """Returns the number of an orchestration for ``run``; at level 3 what orchestrations of the host name it by."""
        if self.level > 2:
            return callable_
        if callable_ not in self._registered:
            self._registered.append(callable_)
            self.aicpu_dlopen_count += 1
        return self._registered.index(callable_)

    def unregister(self, number: int) -> None:
        """Ends the use of a number."""

    def run(self, number: Any, args: Any = None, config: CallConfig | None = None) -> None:
        """Runs an orchestration; its tensors are written in place. Raises what its kernels raise, ``HostCodeError``
        and ``OrchestrationError``."""
        if self.level > 2:
            return self.submit(number, args, config).result()
        run_orchestration(self._registered[number], args, self.platform)

    def submit(self, orchestration: Any, args: Any = None, config: CallConfig | None = None) -> RunHandle:
        """Runs an orchestration of the host, a function of an ``Orchestrator``, and the tasks that it submits."""
        orchestrator = Orchestrator(self)
        self._building_run_resources = Journal()

        def body(job: Job, chip: Chip) -> None:
            run_orchestration(job.target, job.args, self.platform, chip)

        try:
            orchestration(orchestrator, args, config)
            run_jobs(orchestrator.jobs, body)
        except BaseException as error:
            if not isinstance(error, Exception):
                raise
            return RunHandle(error)
        return RunHandle(None)

    @property
    def domains(self) -> list[Domain]:
        """The domains that are not released."""
        return [one for one in self._live_domains.values() if not one.freed]

    def keep_domain(self, domain: Domain) -> None:
        """Keeps a domain for later runs, which may use it as long as it is not released."""
        self._live_domains = {one.name: one for one in [*self.domains, domain]}
        self._building_run_resources.live_domains[domain.name] = domain
        self._next_alloc_id += 1

    def alloc_child_tensor(self, worker_id: int, shapes: Sequence[int], dtype: DataType) -> Buffer:
        """New memory of a chip for a tensor."""
        made = self.malloc(max(Tensor(0, tuple(shapes), DataType(dtype)).nbytes, 1))
        self._committed.setdefault(worker_id, {})[made.base] = made.size
        return made

    def committed_device_memory(self, worker_id: int = 0) -> int:
        """Returns the bytes of a chip that tensors have."""
        return sum(self._committed.get(worker_id, {}).values())

    def create_buffer(self, size: int) -> Buffer:
        """New memory of the host."""
        return self.malloc(size)

    def release_buffer(self, buffer: Buffer) -> None:
        """Gives memory of the host back."""
        self.free(buffer)

    def malloc(self, size: int) -> Buffer:
        """New memory of ``size`` bytes, which hold zeros."""
        return Buffer(self._memory, size)

    def free(self, buffer: Buffer) -> None:
        """Gives memory back."""
        self._memory.release(buffer.base)
        for tensors in self._committed.values():
            tensors.pop(buffer.base, None)

    def copy_to(self, buffer: Any, source: Any) -> None:
        """Copies bytes of the host, or a buffer, to memory."""
        given = _bytes_of(source)
        _bytes_of(buffer)[: given.size] = given

    def copy_from(self, target: Any, buffer: Any) -> None:
        """Copies memory to bytes of the host, or to a buffer."""
        wanted = _bytes_of(target)
        wanted[:] = _bytes_of(buffer)[: wanted.size]

    def make_tensor_arg(self, tensor: Any, **_: Any) -> Tensor:
        """Returns a tensor of the host as an argument."""
        return make_chip_tensor_arg(tensor)


def _bytes_of(memory: Any) -> Array:
    """Returns the bytes of a buffer or of an object that has bytes."""
    if not isinstance(memory, Buffer | Window):
        return np.frombuffer(memory, np.uint8)
    return np.ctypeslib.as_array((ctypes.c_uint8 * memory.nbytes).from_address(memory.base))


def run_orchestration(callable_: ChipCallable, args: TaskArgs, platform: str, chip: Chip | None = None) -> None:
    """Runs an orchestration on its tensors; ``chip`` is where it runs among several."""
    memory = AddressSpace()
    for one in args.tensors:
        memory.register(one.address, one.nbytes, one.keep)
    if chip is not None:
        for domain in chip.domains:
            domain.show(chip.worker, memory)
    kernels = {number: kernel.text for number, kernel in callable_.children.items()}
    code = library(callable_.text, kernels)
    tasks = Tasks(device(), memory, _programs(kernels.values()), chip)
    raised: list[BaseException] = []

    def guarded(action: Any) -> Any:
        try:
            return action()
        except BaseException as error:
            raised.append(error)
            return None

    def carry_out(words: Any, count: int) -> int:
        guarded(lambda: tasks.run(decode(words[:count])))
        return len(raised)

    def refuse(message: bytes) -> None:
        raised.append(OrchestrationError(message.decode(errors="replace")))

    cube, vector = CORES[platform.removesuffix("sim")]
    host = _Host(
        _ALLOCATE(lambda size: guarded(lambda: memory.allocate(max(size, 1))) or 0),
        _TASK(carry_out),
        _REFUSE(refuse),
        cube,
        vector,
        0,
    )
    extents = list(chain.from_iterable(one.shapes or (1,) for one in args.tensors))
    rows: list[int] = []
    start = 0
    for one in args.tensors:
        dims = len(one.shapes or (1,))
        rows += [one.address, one.nbytes, one.dtype.value, dims, start]
        start += dims
    code.pto_run(
        ctypes.byref(host),
        ctypes.c_uint64(len(args.tensors)),
        (ctypes.c_uint64 * len(rows))(*rows),
        (ctypes.c_uint32 * len(extents))(*extents),
        ctypes.c_uint64(len(args.scalars)),
        (ctypes.c_uint64 * len(args.scalars))(*args.scalars),
    )
    if not raised:
        tasks.finish()
    if raised:
        raise raised[0]


def _programs(texts: Any) -> dict[int, Program]:
    return {one.number: program_of(one) for text in texts for one in embedded_in(text)}
