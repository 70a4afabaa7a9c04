"""What a function is given for a run, and what is wanted of its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pto_dialect.runtime.errors import BindingError, NoValueError
from pto_dialect.runtime.run.launch import Kernel

from .binding import Bound, advice, bind, signature
from .compare import Expected, Judgement, expectation
from .elements import to_saved
from .files import Writing, check_files
from .memory_budget import memory_budget
from .outputs import Output, Place, Places
from .request import Request
from .value_text import Generated, Given, OutputFile


class Prepared(NamedTuple):
    """A run before it starts: its arguments, named outputs, files to write, and expectations."""

    bound: list[Bound]
    places: Places
    outputs: list[tuple[Place, OutputFile]]
    expected: list[Expected]

    def writings(self, value: Callable[[Place], Output]) -> list[Writing]:
        """Returns what is stored after the run: the requested outputs, then the arguments that are written back;
        ``value`` returns the contents of an output."""
        found: list[Writing] = []
        for place, file in self.outputs:
            output = value(place)
            found.append(Writing(place.name, file, to_saved(output.array, output.fmt)))
        for one, file in self.write_backs():
            found.append(Writing(one.name, file, to_saved(one.value, one.fmt)))
        return found

    def write_backs(self) -> list[tuple[Bound, OutputFile]]:
        """Returns the arguments whose content is stored after the run, each with the file that takes it."""
        return [
            (one, OutputFile(one.write_back.path, one.write_back.kind, one.write_back.key))
            for one in self.bound
            if one.write_back is not None
        ]


def prepared(kernel: Kernel, request: Request, arguments: Sequence[tuple[str, Given]]) -> Prepared:
    """Returns ``arguments`` bound to what ``kernel`` takes, and what ``request`` wants.

    Raises ``BindingError`` where they do not go together, and ``FileError`` where two results are for one file.
    """
    try:
        shown = request.dump or not request.quiet
        budget = memory_budget(request.max_memory, shown, request.sanitizing is not None)
        bound = bind(kernel, arguments, budget, request.blocks)
        places = Places(kernel, bound)
        outputs = [(places.find(name), file) for name, file in request.outputs]
        judgement = Judgement(request.tolerance)
        expected = [
            expectation(places.find(name), content, judgement, budget) for name, content in request.expectations
        ]
    except BindingError as error:
        raise with_signature(error, kernel) from None
    found = Prepared(bound, places, outputs, expected)
    check_files([(place.name, file) for place, file in outputs] + [(one.name, f) for one, f in found.write_backs()])
    return found


def simplified(kernel: Kernel, arguments: Sequence[tuple[str, Given]]) -> list[tuple[str, Given]]:
    """Returns the arguments with zeros for random numbers on which nothing depends that ``kernel`` computes."""
    return [
        (name, given._replace(content=given.content._replace(kind="zeros")))
        if isinstance(given.content, Generated) and kernel.ignores(name)
        else (name, given)
        for name, given in arguments
    ]


def with_signature(error: BindingError, kernel: Kernel) -> BindingError:
    """Returns the error, followed by the arguments that the kernel takes, and how to pass missing ones."""
    help = f"\n{advice(kernel, error.names)}" if isinstance(error, NoValueError) else ""
    return BindingError(f"{error}\n{signature(kernel)}{help}")
