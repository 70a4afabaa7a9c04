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
    """Changes of an invariant. Its keys are pipes, flags (two pipes and an id), and ids with releases or holders."""

    def invariant(one: Data) -> Data:
        return one["loops"][number]

    for key, present in loop.items():
        for statement in range(count):
            if statement in present:
                yield "fact dropped", True, lambda one, k=key, s=statement: invariant(one)[k].remove(s)
                yield "fact twice", False, lambda one, k=key, s=statement: invariant(one)[k].append(s)
            else:
                yield (
                    "fact added",
                    False,
                    lambda one, k=key, s=statement: invariant(one).update({k: sorted([*invariant(one)[k], s])}),
                )
        for statement in (-1, count, True, "0", None):
            yield "fact about no statement", False, lambda one, k=key, s=statement: invariant(one)[k].append(s)
        yield "key dropped", key.isdecimal(), lambda one, k=key: invariant(one).pop(k)
        words = key.split()
        for at, word in enumerate(words):
            for other in PIPES if not word.isdecimal() else map(str, range(33)):
                renamed = " ".join((*words[:at], other, *words[at + 1 :]))
                if renamed != key:
                    yield (
                        "another key",
                        False,
                        lambda one, k=key, r=renamed: invariant(one).update({r: invariant(one).pop(k)}),
                    )
    for key in ("V MTE2 7", "V 31", "V V V", "V 0 0", "", "ALL", "V MTE2 8", "33", "V -1"):
        yield "one key more", False, lambda one, k=key: invariant(one).setdefault(k, [])
