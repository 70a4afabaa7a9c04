"""Changes of a certificate, each with what it does to the statement: weakens it, or spoils it.

A change weakens a certificate if its invariants state less than before and the rest is the same: then what it states is
still true, and a checker may accept it. All others state something that is false or about another program, because the
invariants of a written certificate are the strongest that hold.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

Data = dict[str, Any]
PIPES = ("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX")


def changed(line: str) -> Iterator[tuple[str, bool, str]]:
    """Name of a change, whether it weakens, and the certificate."""
    data = json.loads(line)
    count = len(data["statements"])
    for name, weakens, change in _changes(data, count):
        other = copy.deepcopy(data)
        change(other)
        if other != data:
            yield name, weakens, json.dumps(other)


def _changes(data: Data, count: int) -> Iterator[tuple[str, bool, Callable[[Data], Any]]]:
    for key in data:
        yield f"without {key}", False, lambda one, key=key: one.pop(key)
    yield "another version", False, lambda one: one.update(certificate=2)
    yield "another program", False, lambda one: one.update(program=one["program"][::-1])
    yield "another function", False, lambda one: one.update(function=one["function"] + "_")
    yield "another target", False, lambda one: one.update(target="a2a3" if one["target"] == "a5" else "a5")
    yield "one key more", False, lambda one: one.update(more=1)
    for key in ("statements", "pairs", "loops"):
        for index in range(len(data[key])):
            yield f"{key} without one", False, lambda one, key=key, index=index: one[key].pop(index)
            yield f"{key} with one twice", False, lambda one, key=key, index=index: one[key].append(one[key][index])
    for index in range(len(data["statements"])):
        for pipe in PIPES:
            yield (
                "statement on another pipe",
                False,
                lambda one, i=index, p=pipe: one["statements"][i].__setitem__(1, p),
            )
    for index in range(len(data["pairs"])):
        for at in (0, 1):
            for number in (*range(count), -1, count, True, "0"):
                yield (
                    "another pair",
                    False,
                    lambda one, i=index, at=at, n=number: one["pairs"][i].__setitem__(at, n),
                )
    for number in range(len(data["loops"])):
        yield from _of_loop(data["loops"][number], number, count)


def _of_loop(loop: Data, number: int, count: int) -> Iterator[tuple[str, bool, Callable[[Data], Any]]]:
    def numbers(path: tuple[Any, ...]) -> Iterator[tuple[str, bool, Callable[[Data], Any]]]:
        def at(one: Data) -> Any:
            found = one["loops"][number]
            for key in path:
                found = found[key]
            return found

        present = loop
        for key in path:
            present = present[key]
        for statement in range(count):
            if statement in present:
                yield "fact dropped", True, lambda one, s=statement: at(one).remove(s)
            else:
                yield "fact added", False, lambda one, s=statement: at(one).append(s)
        yield "fact about no statement", False, lambda one: at(one).append(count)

    for pipe in loop["known"]:
        yield from numbers(("known", pipe))
        yield "pipe dropped", True, lambda one, p=pipe: one["loops"][number]["known"].pop(p)
    for key in loop:
        yield f"loop without {key}", False, lambda one, key=key: one["loops"][number].pop(key)
    for index, flag in enumerate(loop["flags"]):
        yield from numbers(("flags", index, 3))
        yield "flag dropped", False, lambda one, i=index: one["loops"][number]["flags"].pop(i)
        for at, values in ((0, PIPES), (1, PIPES), (2, range(9))):
            for value in values:
                if value != flag[at]:
                    yield (
                        "another flag",
                        False,
                        lambda one, i=index, at=at, v=value: one["loops"][number]["flags"][i].__setitem__(at, v),
                    )
    yield "one flag more", False, lambda one: one["loops"][number]["flags"].append(["V", "MTE2", 7, []])
    for index, _ in enumerate(loop["released"]):
        yield from numbers(("released", index, 1))
        yield "release dropped", True, lambda one, i=index: one["loops"][number]["released"].pop(i)
    yield "one id more", False, lambda one: one["loops"][number]["held"].append(["V", 31])
    for index in range(len(loop["held"])):
        yield "id dropped", False, lambda one, i=index: one["loops"][number]["held"].pop(i)
