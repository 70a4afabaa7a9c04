"""Functions that call themselves, by arguments that are constant.

Functions of a kernel are put into their callers, which no function that calls itself can be. Where each call has
constant arguments, as a number of levels, the compiler can make a copy of the function for each of them; none of the
copies calls itself, and they are put into their callers like others.
"""

from __future__ import annotations

import re

_LEVELS = 64
_SPECIALIZATION = {
    "inline-threshold": 100000,
    "inline-cold-callsite-threshold": 100000,
    "funcspec-max-iters": _LEVELS,
    "funcspec-max-clones": 1000,
    "funcspec-min-function-size": 1,
    "funcspec-min-codesize-savings": 0,
    "funcspec-min-latency-savings": 0,
    "funcspec-max-codesize-growth": 100000,
    "funcspec-for-literal-constant": "true",
}
FLAGS = tuple(word for name, value in _SPECIALIZATION.items() for word in ("-mllvm", f"-{name}={value}"))
"""Options for copies of functions; compilers that do not know them refuse the kernel."""

_BEGINNING = re.compile(r"^define ", re.MULTILINE)
_FUNCTION = re.compile(r'^define [^\n@]*@("[^"\n]+"|[\w.$]+)\((?:[^\n]*)\{\n(.*?)^\}', re.MULTILINE | re.DOTALL)
_CALLED = re.compile(r'\bcall [^\n@]*@("[^"\n]+"|[\w.$]+)\(')


def calls_left(ir: str) -> int:
    """Returns how many calls of functions that call themselves, perhaps through others, are in other functions."""
    if len(_BEGINNING.findall(ir)) < 2:
        return 0
    bodies = dict(_FUNCTION.findall(ir))
    calls = {name: [one for one in _CALLED.findall(body) if one in bodies] for name, body in bodies.items()}
    recursive = {name for name, called in calls.items() if called and name in _reached(called, calls)}
    return sum(one in recursive for name, found in calls.items() if name not in recursive for one in found)


def _reached(names: list[str], calls: dict[str, list[str]]) -> set[str]:
    """Returns ``names``, and what these functions call."""
    reached: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += calls[name]
    return reached
