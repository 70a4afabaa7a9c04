"""Programs whose accesses overlap in part, in any order, with flags that are there, missing or at another position.

The same seed gives the same program. None of them is meant to be right: what matters is that watching finds the same in
them however it keeps its records.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

_ELEMENTS = 4096
"""Elements of both buffers of the host."""
_PIPES = ("PIPE_MTE2", "PIPE_V", "PIPE_MTE3", "PIPE_S")


@dataclass(frozen=True)
class Overlapping:
    """A program and how it is launched."""

    text: str
    blocks: int
    sync: str

    def values(self) -> list[Any]:
        """Fresh arguments."""
        return [np.arange(_ELEMENTS, dtype=np.float32) % 61 + 1, np.zeros(_ELEMENTS, np.float32)]


class _Writer:
    """The lines of one program, with its constants."""

    def __init__(self, rng: Random, arch: str) -> None:
        self.rng = rng
        self.arch = arch
        self.constants: dict[tuple[int | float, str], str] = {}
        self.fresh = 0
        self.body: list[tuple[str, list[str]]] = []
        """Statements: the pipe that carries them out, and their lines."""

    def constant(self, value: float, type_: str) -> str:
        """A constant of the program."""
        if (value, type_) not in self.constants:
            self.constants[value, type_] = f"%k{len(self.constants)}"
        return self.constants[value, type_]

    def i64(self, value: int) -> str:
        return self.constant(value, "i64")

    def index(self, value: int) -> str:
        return self.constant(value, "index")

    def name(self) -> str:
        """A new name."""
        self.fresh += 1
        return f"%n{self.fresh}"

    def add(self, pipe: str, *lines: str) -> None:
        """A statement."""
        self.body.append((pipe, list(lines)))

    def ordered(self) -> list[str]:
        """The statements with flags between the pipes, most of which are right."""
        rng, lines, last = self.rng, [], ""
        for pipe, statement in self.body:
            if last and pipe != last and last in _PIPES and pipe in _PIPES and rng.random() < 0.9:
                number = rng.randrange(3)
                pair = [f'pto.{word}_flag["{last}", "{pipe}", "EVENT_ID{number}"]' for word in ("set", "wait")]
                if rng.random() < 0.15:
                    pair.pop(rng.randrange(2))
                if rng.random() < 0.1 and lines:
                    place = rng.randrange(len(lines))
                    while place and lines[place].startswith((" ", "}")):
                        place -= 1
                    lines.insert(place, pair.pop(0)) if pair else None
                lines += pair
            elif pipe == last == "PIPE_V" and rng.random() < 0.3:
                lines.append("pto.barrier #pto.pipe<PIPE_V>")
            elif rng.random() < 0.06:
                lines.append("pto.barrier #pto.pipe<PIPE_ALL>")
            lines += statement
            last = pipe
        return lines

    def text(self, lines: list[str]) -> str:
        """The whole program."""
        head = [f'module attributes {{pto.target_arch = "{self.arch}"}} {{']
        head.append("func.func @k(%a: !pto.ptr<f32, gm>, %b: !pto.ptr<f32, gm>) attributes {pto.kernel} {")
        constants = [f"{name} = arith.constant {value} : {type_}" for (value, type_), name in self.constants.items()]
        return "\n".join([*head, *constants, *lines, "return", "}", "}", ""])


def overlapping(seed: int) -> Overlapping:
    """The program of a seed."""
    rng = Random(f"overlapping {seed}")
    writer = _Writer(rng, rng.choice(("a3", "a5")))
    lines = _pointers(writer) if rng.random() < 0.6 else _tiles(writer)
    return Overlapping(writer.text(lines), rng.choice((1, 1, 1, 2)), rng.choice(("auto", "strict")))


def _looped(writer: _Writer, head: list[str], body: list[str]) -> list[str]:
    """The statements, as often as not in a loop whose index is ``%i``."""
    rounds = writer.rng.choice((1, 2, 3, 5))
    start, step = writer.index(0), writer.index(1)
    return [*head, f"scf.for %i = {start} to {writer.index(rounds)} step {step} {{", *body, "}"]


# ------------------------------------------------------------ pointers


def _pointers(writer: _Writer) -> list[str]:
    rng = writer.rng
    head: list[str] = []
    addresses = [32 * rng.randrange(24) for _ in range(rng.randint(2, 5))]
    for number, address in enumerate(addresses):
        head.append(f"%p{number} = pto.castptr {writer.i64(address)} : i64 -> !pto.ptr<f32, ub>")
    names = [f"%p{number}" for number in range(len(addresses))]
    if rng.random() < 0.6:
        types = "!pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"
        burst = f"{writer.i64(4096)} nburst({writer.i64(1)}, {writer.i64(4096)}, {writer.i64(4096)})"
        head.append(f"%all = pto.castptr {writer.i64(0)} : i64 -> !pto.ptr<f32, ub>")
        head.append(f"pto.mte_gm_ub %a, %all, {writer.i64(0)}, {burst} : {types}")
        head.append("pto.barrier #pto.pipe<PIPE_ALL>")
    makers = [_load, _load, _store, _copy, _copy, _scalar]
    if writer.arch == "a5":
        makers += [_scope, _scope]
    for _ in range(rng.randint(3, 12)):
        rng.choice(makers)(writer, names)
    return _looped(writer, head, writer.ordered())


def _moved(writer: _Writer, name: str, lines: list[str]) -> str:
    """The pointer, or one after it that depends on the loop."""
    rng = writer.rng
    if rng.random() < 0.6:
        return name
    step, moved = writer.name(), writer.name()
    space = "gm" if name in ("%a", "%b") else "ub"
    lines.append(f"{step} = arith.muli %i, {writer.index(8 * rng.randrange(5))} : index")
    lines.append(f"{moved} = pto.addptr {name}, {step} : !pto.ptr<f32, {space}> -> !pto.ptr<f32, {space}>")
    return moved


def _burst(writer: _Writer) -> str:
    """Length, number of rows and their distances, in bytes."""
    rng = writer.rng
    length = 32 * rng.choice((1, 2, 2, 3, 8))
    rows = rng.choice((1, 1, 2, 4))
    there, here = (length + 32 * rng.choice((0, 0, 1, 4)) for _ in range(2))
    return f"{writer.i64(length)} nburst({', '.join(writer.i64(n) for n in (rows, there, here))})"


def _load(writer: _Writer, names: list[str]) -> None:
    lines: list[str] = []
    source = _moved(writer, writer.rng.choice(("%a", "%a", "%b")), lines)
    target = _moved(writer, writer.rng.choice(names), lines)
    types = "!pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"
    lines.append(f"pto.mte_gm_ub {source}, {target}, {writer.i64(0)}, {_burst(writer)} : {types}")
    writer.add("PIPE_MTE2", *lines)


def _store(writer: _Writer, names: list[str]) -> None:
    lines: list[str] = []
    source, target = _moved(writer, writer.rng.choice(names), lines), _moved(writer, "%b", lines)
    types = "!pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64"
    lines.append(f"pto.mte_ub_gm {source}, {target}, {_burst(writer)} : {types}")
    writer.add("PIPE_MTE3", *lines)


def _copy(writer: _Writer, names: list[str]) -> None:
    rng, lines = writer.rng, []
    source, target = (_moved(writer, rng.choice(names), lines) for _ in range(2))
    numbers = [writer.i64(n) for n in (rng.choice((1, 2, 3, 6)), rng.choice((1, 2, 3)), *rng.choices((0, 1, 4), k=2))]
    types = "!pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64, i64, i64"
    lines.append(f"pto.mte_ub_ub {source}, {target}, {numbers[0]} nburst({', '.join(numbers[1:])}) : {types}")
    writer.add("PIPE_V", *lines)


def _scalar(writer: _Writer, names: list[str]) -> None:
    rng = writer.rng
    name, place = rng.choice((*names, "%b")), writer.index(rng.randrange(64))
    type_ = f"!pto.ptr<f32, {'gm' if name == '%b' else 'ub'}>"
    value = writer.name()
    lines = [f"{value} = pto.load_scalar {name}[{place}] : {type_} -> f32"]
    if rng.random() < 0.6:
        target, there = rng.choice(names), writer.index(rng.randrange(64))
        lines.append(f"pto.store_scalar {value}, {target}[{there}] : !pto.ptr<f32, ub>, f32")
    writer.add("PIPE_S", *lines)


def _scope(writer: _Writer, names: list[str]) -> None:
    """A vector scope of loads and stores."""
    rng, lines = writer.rng, ["pto.vecscope {"]
    mask, rest = writer.name(), writer.name()
    lanes = writer.constant(rng.choice((64, 64, 24)), "i32")
    lines.append(f"  {mask}, {rest} = pto.plt_b32 {lanes} : i32 -> !pto.mask<b32>, i32")
    values: list[str] = []
    vector = "!pto.vreg<64xf32>"
    for _ in range(rng.randint(2, 5)):
        pointer, place = rng.choice(names), writer.index(8 * rng.randrange(12))
        choice = rng.random()
        if not values or choice < 0.45:
            values.append(writer.name())
            lines.append(f"  {values[-1]} = pto.vlds {pointer}[{place}] : !pto.ptr<f32, ub> -> {vector}")
        elif choice < 0.6:
            a, b = rng.choice(values), rng.choice(values)
            values.append(writer.name())
            types = f"{vector}, {vector}, !pto.mask<b32> -> {vector}"
            lines.append(f"  {values[-1]} = pto.vadd {a}, {b}, {mask} : {types}")
        else:
            types = f"{vector}, !pto.ptr<f32, ub>, !pto.mask<b32>"
            lines.append(f"  pto.vsts {rng.choice(values)}, {pointer}[{place}], {mask} : {types}")
        if rng.random() < 0.2:
            lines.append(f'  pto.mem_bar "{rng.choice(("VST_VLD", "VLD_VST", "VST_VST", "VV_ALL"))}"')
    writer.add("PIPE_V", *lines, "}")


# ------------------------------------------------------------ tiles


def _tiles(writer: _Writer) -> list[str]:
    rng = writer.rng
    rows, cols = rng.choice((4, 8)), rng.choice((8, 16))
    tile, part = f"!pto.tile_buf<vec, {rows}x{cols}xf32>", f"!pto.partition_tensor_view<{rows}x{cols}xf32>"
    half, piece = f"!pto.tile_buf<vec, 2x{cols}xf32>", f"!pto.partition_tensor_view<2x{cols}xf32>"
    view = "!pto.tensor_view<64x64xf32>"
    head: list[str] = []
    step = rows * cols * 4
    names: list[str] = []
    for number in range(rng.randint(3, 5)):
        address = rng.choice((step * number, step * number, step * number // 2, 32 * rng.randrange(16)))
        head.append(f"%t{number} = pto.alloc_tile addr = {writer.i64(address)} : {tile}")
        names.append(f"%t{number}")
    for name in ("a", "b"):
        shape = f"shape = [{writer.index(64)}, {writer.index(64)}], strides = [{writer.index(64)}, {writer.index(1)}]"
        head.append(f"%{name}v = pto.make_tensor_view %{name}, {shape} : {view}")

    def window(lines: list[str], name: str) -> str:
        found = writer.name()
        row = writer.index(rng.randrange(rows - 1))
        lines.append(f"{found} = pto.subview {name}[{row}, {writer.index(0)}] sizes [2, {cols}] : {tile} -> {half}")
        return found

    def place(lines: list[str], name: str, height: int, type_: str) -> str:
        found = writer.name()
        row = "%i" if rng.random() < 0.5 else writer.index(rng.randrange(8))
        sizes = f"sizes = [{writer.index(height)}, {writer.index(cols)}]"
        lines.append(
            f"{found} = pto.partition_view %{name}v, offsets = [{row}, {writer.index(8 * rng.randrange(4))}], "
            f"{sizes} : {view} -> {type_}"
        )
        return found

    if rng.random() < 0.6:
        for name in names:
            source = place(head, "a", rows, part) if rng.random() < 0.9 else ""
            if "%i" in head[-1]:
                head.pop()
            elif source:
                head.append(f"pto.tload ins({source} : {part}) outs({name} : {tile})")
        head.append("pto.barrier #pto.pipe<PIPE_ALL>")
    for _ in range(rng.randint(4, 12)):
        lines: list[str] = []
        small = rng.random() < 0.35
        type_, outside, height = (half, piece, 2) if small else (tile, part, rows)
        used = [window(lines, rng.choice(names)) if small else rng.choice(names) for _ in range(3)]
        kind = rng.random()
        if kind < 0.3:
            source = place(lines, rng.choice(("a", "a", "b")), height, outside)
            writer.add("PIPE_MTE2", *lines, f"pto.tload ins({source} : {outside}) outs({used[0]} : {type_})")
        elif kind < 0.75:
            word = rng.choice(("tadd", "tmul", "tsub", "tmax"))
            operands = f"ins({used[0]}, {used[1]} : {type_}, {type_}) outs({used[2]} : {type_})"
            writer.add("PIPE_V", *lines, f"pto.{word} {operands}")
        elif kind < 0.85:
            value = writer.constant(2.0, "f32")
            writer.add("PIPE_V", *lines, f"pto.texpands ins({value} : f32) outs({used[0]} : {type_})")
        else:
            target = place(lines, "b", height, outside)
            writer.add("PIPE_MTE3", *lines, f"pto.tstore ins({used[0]} : {type_}) outs({target} : {outside})")
    return _looped(writer, head, writer.ordered())
