"""A program and a launch become a comparison of stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.run.launch import Kernel

from ..explore.automatic import completed
from ..inputs import Input, read_program
from ..run.compare import Judgement, Tolerance, expectation
from ..run.memory_budget import memory_budget
from ..run.prepared import prepared
from ..run.program import Launch
from ..run.request import Request
from ..run.status import Streams
from ..run.value_text import Content
from .comparison import Comparison
from .runs import Launched
from .stages import Course


class Wanted(NamedTuple):
    """What the command line states: ``device`` are arrays by name, ``tolerance`` ``None`` compares bit by bit,
    ``seconds`` limits each run."""

    passes: tuple[str, ...]
    device: Sequence[tuple[str, Content]]
    tolerance: Tolerance | None
    seconds: float


def compared(item: Input, request: Request, wanted: Wanted, streams: Streams) -> Comparison:
    """Runs all stages of a program. Raises ``Failure`` for one that was reported, ``StageError`` for one that does not
    run, ``BindingError`` and ``FileError`` where program and launch do not go together."""
    launch = Launch(item, request, streams)
    module = launch.module()
    text, _ = read_program(item, request.target)
    entry = launch.entry(module)
    kernel = launch.kernel(module, entry)
    known = {name for name, _ in request.arguments}
    given = completed(launch, module, entry)
    made = [name for name, _ in given if name not in known]
    if wanted.device and made:
        raise BindingError(f"--device needs the arguments that the device had: {', '.join(made)} has no --arg")
    ready = prepared(kernel, request, given)
    budget = memory_budget(request.max_memory, shown=False, instrumented=False)
    judgement = Judgement(wanted.tolerance or Tolerance(), exact=wanted.tolerance is None)
    device = [expectation(ready.places.find(name), content, judgement, budget) for name, content in wanted.device]
    target = kernel.profile.name
    launched = Launched(ready.bound, given, ready.places, target, request.blocks, wanted.seconds)
    course = Course(text, item.name, entry, target, request.release, wanted.passes, request.run)
    found = Comparison(course, launched, wanted.tolerance, device, _plain(kernel, request))
    found.run()
    return found


def _plain(kernel: Kernel, request: Request) -> dict[str, str | None]:
    """Returns the options of ``pto-run`` that are those of the stages."""
    run = kernel.options
    return {
        "--accumulate": run.accumulate, "--fill": run.fill, "--backend": run.backend,
        "--reference-release": request.release,
    }  # fmt: skip
