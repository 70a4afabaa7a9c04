"""Programs of products that continue with sums, and what they compute in plain numpy.

``=s`` starts sum s with the product of the operands l and r, ``+st`` continues with s in t, ``>s`` stores s, ``<l``
loads an operand again with the matrix of the other side; loops and branches are written out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from cube_programs import SCHEDULES, Array, Program, passed, run
from xdsl.dialects.builtin import ModuleOp

SIZE = 32
TURNS = 3
LOOP = "scf.for %i = %c0 to %n step %c1 {"
NEVER = "scf.for %i = %c1 to %c1 step %c1 {"
BRANCH = "scf.if %yes {"
ELSE = "} else {"


def program(*statements: str) -> str:
    """The text of a program."""
    found = Program(a="f16", b="f16", c="f32", n="=index")
    found.lines.append("%yes = arith.cmpi eq, %n, %n : index")
    for name, place in (("a", "l"), ("b", "r")):
        found.view(f"v{name}", name, (SIZE, SIZE), (SIZE, 1))
        found.tile(f"m{name}", "mat", SIZE, SIZE, "f16")
        found.tile(place, "left" if place == "l" else "right", SIZE, SIZE, "f16")
        found.op("tload", f"v{name}", to=f"m{name}")
        found.op("tmov", f"m{name}", to=place)
    for name in "stu":
        found.tile(name, "acc", SIZE, SIZE, "f32")
    stores = 0
    for statement in statements:
        if statement.startswith(("scf", "}")):
            found.lines.append(statement)
            continue
        kind, one, *other = statement
        if kind == "=":
            found.op("tmatmul", "l", "r", to=one)
        elif kind == "+":
            found.op("tmatmul.acc", one, "l", "r", to=other[0])
        elif kind == "<":
            found.op("tmov", "mb" if one == "l" else "ma", to=one)
        else:
            found.view(f"v{stores}", "c", (SIZE, SIZE), (SIZE, 1), offsets=(SIZE * stores, 0))
            found.op("tstore", one, to=f"v{stores}")
            stores += 1
    return str(found)


def expected(a: Array, b: Array, statements: Sequence[str]) -> Array:
    """What the program stores, for matrices whose products are exact."""
    values: dict[str, Array] = {"l": a.astype(np.float64), "r": b.astype(np.float64)}
    numbers = {number: index for index, number in enumerate(i for i, one in enumerate(statements) if one[0] == ">")}
    stored = [np.zeros((SIZE, SIZE))] * len(numbers)

    def end(first: int) -> int:
        """After the last statement of the region that begins at ``first``."""
        depth = 0
        for index in range(first, len(statements)):
            if statements[index].startswith("}") and depth == 0:
                return index
            depth += statements[index].startswith("scf") - (statements[index] == "}")
        return len(statements)

    def go(first: int, last: int) -> None:
        index = first
        while index < last:
            statement = statements[index]
            if statement.startswith("scf"):
                inside = end(index + 1)
                for _ in range({LOOP: TURNS, NEVER: 0, BRANCH: 1}[statement]):
                    go(index + 1, inside)
                index = inside if statements[inside] == "}" else end(inside + 1)
            else:
                kind, one, *other = statement
                if kind == "=":
                    values[one] = values["l"] @ values["r"]
                elif kind == "+":
                    values[other[0]] = values[one] + values["l"] @ values["r"]
                elif kind == "<":
                    values[one] = (b if one == "l" else a).astype(np.float64)
                else:
                    stored[numbers[index]] = values[one]
            index += 1

    go(0, len(statements))
    return np.concatenate(stored)


def check_sums(statements: Sequence[str], *passes: str) -> ModuleOp:
    """What passes make of a program, after it was run under all schedules."""
    module, said = passed(program(*statements), *passes)
    assert not said
    rng = np.random.default_rng(4)
    a, b = (rng.integers(-2, 3, (SIZE, SIZE)).astype(np.float16) for _ in range(2))
    result = expected(a, b, statements)
    for schedule in SCHEDULES:
        found = run(module, {"a": a, "b": b, "c": np.zeros(result.shape, np.float32), "n": TURNS}, schedule)["c"]
        assert np.array_equal(found, result)
    return module
