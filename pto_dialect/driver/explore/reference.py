"""Results against a Python function of the user's, with a report that says how far apart they are.

The function is named on the command line as ``FILE.py:FUNCTION`` or ``MODULE:FUNCTION``.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.formats import Format

from ..run.binding import Bound
from ..run.compare import Expected, Judgement, mismatch_report
from ..run.elements import to_values
from ..run.outputs import Output, Place, Places
from ..run.value_text import shape_text

_BINS = (0, 1, 2, 4, 16, 256, 65536)
"""Bounds of the histogram of errors in units of the last place."""


class Reference(NamedTuple):
    """A function that computes what is expected; ``text`` is how it was named."""

    function: Callable[..., Any]
    text: str


def find_reference(text: str) -> Reference:
    """Returns the function that ``text`` names. Raises ``BindingError`` where there is none."""
    place, _, name = text.rpartition(":")
    if not place or not name.isidentifier():
        raise BindingError(f"--reference '{text}' is not written as FILE.py:FUNCTION or MODULE:FUNCTION")
    try:
        module = _from_file(place) if place.endswith(".py") else importlib.import_module(place)
    except Exception as error:
        raise BindingError(f"--reference: '{place}' cannot be imported: {type(error).__name__}: {error}") from None
    function = getattr(module, name, None)
    if not callable(function):
        raise BindingError(f"--reference: '{place}' has no function {name}")
    return Reference(function, text)


def _from_file(path: str) -> Any:
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("it is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wanted_values(reference: Reference, bound: Sequence[Bound], places: Sequence[Place]) -> dict[str, Array]:
    """Returns the expected values of the results, by name.

    The function gets the arguments of the launch by name, those that it has parameters for; arrays are copies with the
    values of the elements. It returns a mapping from names to arrays, one array or a sequence of them for ``places``
    (the outputs of the program) in order, or nothing where it writes to its arguments. Raises ``BindingError`` where
    the function fails or its results do not match.
    """
    given = {one.name: np.array(to_values(one.value, one.fmt)) if one.is_array else one.value for one in bound}
    before = {name: value.copy() for name, value in given.items() if isinstance(value, np.ndarray)}
    try:
        returned = reference.function(**_chosen(reference.function, given))
    except Exception as error:
        raise BindingError(f"{reference.text} fails: {type(error).__name__}: {error}") from None
    if returned is None:
        changed = {name for name, old in before.items() if old.tobytes() != given[name].tobytes()}
        return {name: given[name] for name in before if name in changed or name in {place.name for place in places}}
    if isinstance(returned, Mapping):
        return {str(name): np.asarray(value) for name, value in returned.items()}
    results = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    if len(results) != len(places):
        names = ", ".join(place.name for place in places) or "nothing"
        raise BindingError(f"{reference.text} returns {len(results)} arrays, the program has written {names}")
    return {place.name: np.asarray(value) for place, value in zip(places, results, strict=True)}


def _chosen(function: Callable[..., Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
    parameters = inspect.signature(function).parameters
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return given
    return {name: given[name] for name in parameters if name in given}


class Referee:
    """Compares what a launch leaves with what the function called ``text`` computes from the same arguments.

    The function is imported, and the arguments are copied, before the launch. Raises ``BindingError`` where there is
    no such function.
    """

    def __init__(self, text: str, bound: Sequence[Bound], judgement: Judgement) -> None:
        self.reference = find_reference(text)
        self.judgement = judgement
        self.bound = [one._replace(value=one.value.copy()) if one.is_array else one for one in bound]
        self.before = [one.value if one.is_array else None for one in self.bound]

    def judge(
        self,
        written: Sequence[Place],
        places: Places,
        value: Callable[[Place], Output],
        tell: Callable[[str], None],
    ) -> list[str]:
        """Reports of differences; matching outputs are reported at once. ``written`` are the outputs of the program.
        Raises ``BindingError`` where the function fails or its results do not match."""
        wanted = wanted_values(self.reference, self.bound, written)
        failed: list[str] = []
        for name, array in wanted.items():
            place = places.find(name)
            found = compare(self.reference, place, array, value(place), self.judgement)
            if found.passed:
                tell(found.report)
            else:
                failed.append(found.report)
        if not wanted:
            raise BindingError(f"{self.reference.text} gives nothing to compare")
        return failed


class Comparison(NamedTuple):
    """``report`` is what to say, ``passed`` whether all elements are near enough."""

    report: str
    passed: bool


def compare(reference: Reference, place: Place, wanted: Array, output: Output, judgement: Judgement) -> Comparison:
    """Compares one result with what the function expects in it."""
    got = np.atleast_1d(to_values(output.array, output.fmt))
    if wanted.size == got.size:
        wanted = wanted.reshape(got.shape)
    if wanted.size not in (1, got.size):
        shapes = shape_text(got.shape), shape_text(wanted.shape)
        return Comparison(f"{place.name} has shape {shapes[0]}, {reference.text} gives {shapes[1]}\n", False)
    report = mismatch_report(Expected(place, wanted, reference.text, judgement), output)
    distances = _distances(got, np.broadcast_to(wanted, got.shape), output.fmt)
    lines = [] if report is None else report.splitlines()
    if report is None:
        lines.append(f"{place.name} agrees with {reference.text}: {got.size} elements")
    return Comparison("\n".join([*lines, *_spread(distances)]) + "\n", report is None)


def _distances(got: Array, wanted: Array, fmt: Format) -> Array:
    """Errors in units of the last place of the expected number; integers differ by whole numbers."""
    with np.errstate(all="ignore"):
        a, b = got.astype(np.float64), wanted.astype(np.float64)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        if not fmt.is_float:
            unit = np.float64(1)
        else:
            digits = fmt.mantissa_bits
            lowest = (
                np.float64(np.finfo(np.float64).tiny) if fmt.bits == 64 else np.exp2(np.float64(1 - fmt.bias - digits))
            )
            unit = np.maximum(np.exp2(np.floor(np.log2(np.abs(b))) - digits), lowest)
        return np.where(same, 0.0, np.abs(a - b) / unit)


def _spread(distances: Array) -> list[str]:
    """Returns the worst place, and how many elements are how far off."""
    finite = np.where(np.isfinite(distances), distances, np.inf)
    worst = np.unravel_index(int(finite.argmax()), finite.shape)
    place = "[" + ", ".join(str(int(index)) for index in worst) + "]"
    if finite[worst] == 0:
        return ["  every element is equal"]
    counts: list[str] = []
    low = -1.0
    for high in (*_BINS, np.inf):
        number = int(np.count_nonzero((finite > low) & (finite <= high)))
        if number:
            bound = "0" if high == 0 else f"<={high:g}" if high != np.inf else f">{low:g}"
            counts.append(f"{bound}: {number}")
        low = high
    return [f"  worst element {place}, {finite[worst]:.4g} ulp", f"  ulp of errors  {', '.join(counts)}"]
