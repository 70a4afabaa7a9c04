"""Matrix products as a plain author writes them: one tile operation for everything, or loops over small tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from cube_programs import tile_type

_TYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "i8": np.int8, "i32": np.int32,
}  # fmt: skip


@dataclass(frozen=True)
class Plain:
    """C = A x B, m x k times k x n, in tiles of ``tile`` elements in each direction that ``loops`` goes over; the
    others have one tile for all. ``bias``: none, ``all`` columns, or only where the argument %with is true (``maybe``).
    The sums along k begin in the first iteration (``if``), or before the loop (``peeled``)."""

    m: int
    n: int
    k: int
    loops: str = ""
    tile: int = 16
    element: str = "f16"
    out: str = "f32"
    target: str = "a2a3"
    bias: str = ""
    begin: str = "if"
    store: str = ""
    open: str = ""
    """Loops that end at an argument."""

    quant: str = ""
    """An operand of the store, with its type."""

    @property
    def acc(self) -> str:
        """The type of sums."""
        return "i32" if self.element == "i8" else "f32"

    def arrays(self) -> dict[str, Any]:
        """Arguments; small integers, so that f16 holds all results exactly where it is the type of C."""
        rng = np.random.default_rng(self.m + 3 * self.n + 7 * self.k)
        whole = self.element == "i8" or self.out == "f16"

        def some(*shape: int, kind: str) -> Any:
            values = rng.integers(-4, 4, shape) if whole else rng.normal(size=shape)
            return values.astype(_TYPES[kind])

        made = {"a": some(self.m, self.k, kind=self.element), "b": some(self.k, self.n, kind=self.element)}
        if self.bias:
            made["bias"] = some(1, self.n, kind=self.acc)
        made["c"] = np.full((self.m, self.n), 3, _TYPES[self.out])
        made |= {"with": self.m % 32 == 0} if self.bias == "maybe" else {}
        return made | {
            f"{axis}end": dict(zip("ijp", (self.m, self.n, self.k), strict=True))[axis] for axis in self.open
        }

    def __str__(self) -> str:
        sizes = dict(zip("ijp", (self.m, self.n, self.k), strict=True))
        tile = {axis: self.tile if axis in self.loops else size for axis, size in sizes.items()}
        assert all(sizes[axis] % tile[axis] == 0 for axis in self.loops), "loops go over whole tiles"
        m, n, k = (tile[axis] for axis in "ijp")

        def kind(loc: str, rows: int, cols: int, element: str) -> str:
            unit = 32 if self.element == "i8" else 16
            if loc in ("mat", "bias") and rows == 1:
                size = (1, -(-cols // 16) * 16)
            else:
                size = (-(-rows // unit) * unit, -(-cols // unit) * unit)
            return tile_type(loc, *size, element, valid="" if size == (rows, cols) else f"{rows}x{cols}")

        tiles = {
            "am": kind("mat", m, k, self.element),
            "bm": kind("mat", k, n, self.element),
            "l": kind("left", m, k, self.element),
            "r": kind("right", k, n, self.element),
            "s": kind("acc", m, n, self.acc),
        }
        if self.bias:
            tiles |= {"biasm": kind("mat", 1, n, self.acc), "biast": kind("bias", 1, n, self.acc)}
        lines = [f"%{name} = pto.alloc_tile : {type_}" for name, type_ in tiles.items()]

        def part(name: str, array: str, offsets: tuple[str, str], sizes: tuple[int, int], element: str) -> str:
            type_ = f"!pto.partition_tensor_view<{sizes[0]}x{sizes[1]}x{element}>"
            shown = ", ".join(f"%n{size}" for size in sizes)
            lines.append(
                f"%{name} = pto.partition_view %{array}_all, offsets = [{', '.join(offsets)}], sizes = [{shown}]"
                f" : !pto.tensor_view<?x?x{element}> -> {type_}"
            )
            return f"%{name} : {type_}"

        def load(name: str, suffix: str, array: str, offsets: tuple[str, str], sizes: tuple[int, int]) -> None:
            element = self.acc if array == "bias" else self.element
            source = part(f"{name}p{suffix}", array, offsets, sizes, element)
            lines.append(f"pto.tload ins({source}) outs(%{name} : {tiles[name]})")

        def operands(suffix: str, at: str) -> None:
            load("am", suffix, "a", (i, at), (m, k))
            load("bm", suffix, "b", (at, j), (k, n))
            lines.append(f"pto.tmov ins(%am : {tiles['am']}) outs(%l : {tiles['l']})")
            lines.append(f"pto.tmov ins(%bm : {tiles['bm']}) outs(%r : {tiles['r']})")

        both = f"{tiles['l']}, {tiles['r']}"
        first = f"pto.tmatmul ins(%l, %r : {both}) outs(%s : {tiles['s']})"
        add = f"pto.tmatmul.acc ins(%s, %l, %r : {tiles['s']}, {both}) outs(%s : {tiles['s']})"
        if self.bias:
            biased = f"pto.tmatmul.bias ins(%l, %r, %biast : {both}, {tiles['biast']}) outs(%s : {tiles['s']})"
            first = f"scf.if %with {{\n{biased}\n}} else {{\n{first}\n}}" if self.bias == "maybe" else biased

        i, j = ("%i" if "i" in self.loops else "%n0"), ("%j" if "j" in self.loops else "%n0")
        ends = {"i": self.m, "j": self.n}
        outer = [axis for axis in self.loops if axis in ends]
        end = {axis: f"%{axis}end" if axis in self.open else f"%n{size}" for axis, size in sizes.items()}
        lines += [f"scf.for %{axis} = %n0 to {end[axis]} step %n{self.tile} {{" for axis in outer]
        if self.bias:
            load("biasm", "", "bias", ("%n0", j), (1, n))
            lines.append(f"pto.tmov ins(%biasm : {tiles['biasm']}) outs(%biast : {tiles['biast']})")
        if "p" not in self.loops:
            operands("", "%n0")
            lines.append(first)
        else:
            if self.begin == "peeled":
                operands("0", "%n0")
                lines.append(first)
            start = 0 if self.begin == "if" else self.tile
            lines.append(f"scf.for %p = %n{start} to {end['p']} step %n{self.tile} {{")
            operands("", "%p")
            if self.begin == "if":
                lines += [
                    "%first = arith.cmpi eq, %p, %n0 : index",
                    f"scf.if %first {{\n{first}\n}} else {{\n{add}\n}}",
                ]
            else:
                lines.append(add)
            lines.append("}")
        out = part("cp", "c", (i, j), (m, n), self.out)
        extra, extra_type = (f", {one}" for one in self.quant.split(" : ")) if self.quant else ("", "")
        lines.append(f"pto.tstore ins(%s{extra} : {tiles['s']}{extra_type}) outs({out}){self.store}")
        lines += ["}"] * len(outer)
        arrays = {"a": (self.m, self.k), "b": (self.k, self.n), "bias": (1, self.n), "c": (self.m, self.n)}
        kinds = {"a": self.element, "b": self.element, "bias": self.acc, "c": self.out}
        used = [name for name in arrays if name != "bias" or self.bias]
        parameters = [f"%{name}: !pto.ptr<{kinds[name]}>" for name in used]
        parameters += ["%with: i1"] if self.bias == "maybe" else []
        parameters += [f"%{axis}end: index" for axis in self.open]
        numbers = sorted({0, 1, self.tile, self.m, self.n, self.k, *(size for name in used for size in arrays[name])})
        views = [
            f"%{name}_all = pto.make_tensor_view %{name}, shape = [%n{arrays[name][0]}, %n{arrays[name][1]}],"
            f" strides = [%n{arrays[name][1]}, %n1] : !pto.tensor_view<?x?x{kinds[name]}>"
            for name in used
        ]
        constants = [f"%n{number} = arith.constant {number} : index" for number in numbers]
        constants += ["%scale = arith.constant 1065353216 : i64"] if self.quant else []
        body = "\n".join([*constants, *views, *lines, "return"])
        head = f'module attributes {{pto.target_arch = "{self.target}"}} {{'
        return f"{head}\nfunc.func @f({', '.join(parameters)}) attributes {{pto.entry}} {{\n{body}\n}}\n}}\n"
