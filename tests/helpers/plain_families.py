"""Plain matrix products of other kinds: of one row, with scales, with a table of scales of columns, of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from cube_programs import tile_type

_TYPES: dict[str, Any] = {
    "f16": np.float16, "f32": np.float32, "i8": np.int8, "i32": np.int32, "i64": np.int64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "!pto.f8E8M0": np.uint8,
}  # fmt: skip
GROUP = 32


@dataclass(frozen=True)
class Kind:
    """C = A x B in tiles of ``m`` x ``n`` sums and ``k`` elements along k, ``tiles`` of them in each direction (rows,
    columns, k), for each of ``batch`` matrices: ``view`` has them as a third dimension of one view, ``pointer`` as a
    view of their own, ``blocks`` as ``view``, each of the blocks of the launch taking every other one of them."""

    product: str = "tmatmul"
    m: int = 16
    n: int = 32
    k: int = 32
    tiles: tuple[int, int, int] = (2, 3, 2)
    element: str = "f16"
    out: str = "f32"
    bias: bool = False
    table: bool = False
    batch: int = 0
    by: str = "view"
    target: str = "a5"

    @property
    def scaled(self) -> bool:
        """Whether the operands have scales."""
        return self.product.endswith(".mx")

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Rows, columns, and length along k of everything."""
        return self.m * self.tiles[0], self.n * self.tiles[1], self.k * self.tiles[2]

    @property
    def shapes(self) -> dict[str, tuple[str, int, int]]:
        """The arrays of one matrix of the batch: type of elements, rows, columns."""
        rows, cols, depth = self.sizes
        acc = "i32" if self.element == "i8" else "f32"
        found = {"a": (self.element, rows, depth), "b": (self.element, depth, cols)}
        if self.scaled:
            found |= {"as": ("!pto.f8E8M0", rows, depth // GROUP), "bs": ("!pto.f8E8M0", depth // GROUP, cols)}
        found |= {"bias": (acc, 1, cols)} if self.bias else {}
        found |= {"table": ("i64", 1, cols)} if self.table else {}
        return found | {"c": (self.out, rows, cols)}

    def arrays(self) -> dict[str, Any]:
        """Arguments."""
        rng = np.random.default_rng(sum(self.sizes))
        made: dict[str, Any] = {}
        for name, (element, rows, cols) in self.shapes.items():
            shape = (max(self.batch, 1) * rows, cols)
            values = rng.integers(-4, 4, shape)
            if name in ("as", "bs"):
                values = rng.integers(125, 130, shape)
            elif name == "table":
                values = (rng.integers(1, 4, shape) / 2).astype(np.float32).view(np.uint32).astype(np.int64)
            made[name] = values.astype(_TYPES[element])
        return made

    def __str__(self) -> str:
        rows, cols, depth = self.sizes
        scales = ", slayout=row_major, fractal=32", ", blayout=col_major, slayout=col_major, fractal=32"
        acc = self.shapes["bias"][0] if self.bias else ("i32" if self.element == "i8" else "f32")
        types = {
            "am": tile_type("mat", self.m, self.k, self.element),
            "bm": tile_type("mat", self.k, self.n, self.element),
            "l": tile_type("left", self.m, self.k, self.element, layout="zz" if self.target == "a2a3" else ""),
            "r": tile_type("right", self.k, self.n, self.element),
            "s": tile_type("acc", self.m, self.n, acc),
            "asm": f"!pto.tile_buf<mat, {self.m}x{self.k // GROUP}x!pto.f8E8M0{scales[0]}>",
            "bsm": f"!pto.tile_buf<mat, {self.k // GROUP}x{self.n}x!pto.f8E8M0{scales[1]}>",
            "ls": f"!pto.tile_buf<scaling, {self.m}x{self.k // GROUP}x!pto.f8E8M0{scales[0]}>",
            "rs": f"!pto.tile_buf<scaling, {self.k // GROUP}x{self.n}x!pto.f8E8M0{scales[1]}>",
            "biasm": tile_type("mat", 1, self.n, acc, layout="nd"),
            "biast": tile_type("bias", 1, self.n, acc),
            "tablem": tile_type("mat", 1, self.n, "i64", layout="nd"),
            "tablet": tile_type("scaling", 1, self.n, "i64"),
        }
        numbers = sorted({0, 1, 2, self.m, self.n, self.k, rows, cols, depth, depth // GROUP, self.k // GROUP, GROUP,
                          max(self.batch, 1), *(r * c for _, r, c in self.shapes.values())})  # fmt: skip
        text = [f"%n{number} = arith.constant {number} : index" for number in numbers]
        used: dict[str, None] = {}

        def view(name: str) -> list[str]:
            element, height, width = self.shapes[name]
            lead = self.batch and self.by != "pointer"
            shape = [*([f"%n{self.batch}"] if lead else []), f"%n{height}", f"%n{width}"]
            strides = [*([f"%n{height * width}"] if lead else []), f"%n{width}", "%n1"]
            pointer, lines = f"%{name}", []
            if self.batch and not lead:
                kind = f"!pto.ptr<{element}>"
                lines = [f"%{name}at = arith.muli %g, %n{height * width} : index",
                         f"%{name}ptr = pto.addptr {pointer}, %{name}at : {kind} -> {kind}"]  # fmt: skip
                pointer = f"%{name}ptr"
            return [*lines, f"%{name}_all = pto.make_tensor_view {pointer}, shape = [{', '.join(shape)}],"
                    f" strides = [{', '.join(strides)}] : !pto.tensor_view<{'?x' * len(shape)}{element}>"]  # fmt: skip

        def part(name: str, row: str, col: str, height: int, width: int) -> str:
            lead = self.batch and self.by != "pointer"
            element = self.shapes[name][0]
            type_ = f"!pto.partition_tensor_view<{'1x' if lead else ''}{height}x{width}x{element}>"
            text.append(
                f"%{name}p = pto.partition_view %{name}_all, offsets = [{'%g, ' if lead else ''}{row}, {col}],"
                f" sizes = [{'%n1, ' if lead else ''}%n{height}, %n{width}]"
                f" : !pto.tensor_view<{'?x' * (3 if lead else 2)}{element}> -> {type_}"
            )
            return f"%{name}p : {type_}"

        def fetch(name: str, level1: str, level0: str, row: str, col: str, height: int, width: int) -> None:
            used.update({level1: None, level0: None})
            text.append(f"pto.tload ins({part(name, row, col, height, width)}) outs(%{level1} : {types[level1]})")
            text.append(f"pto.tmov ins(%{level1} : {types[level1]}) outs(%{level0} : {types[level0]})")

        views = [line for name in self.shapes for line in view(name)]
        inside = self.batch and self.by == "pointer"
        text += [] if inside else views
        place = len(text)
        first, step = "%n0", "%n1"
        if self.by == "blocks":
            text += ["%block64 = pto.get_block_idx", "%count64 = pto.get_block_num"]
            first, step = "%block", "%count"
            text += [f"%{name} = arith.index_cast %{name}64 : i64 to index" for name in ("block", "count")]
        text += [f"scf.for %g = {first} to %n{self.batch} step {step} {{"] if self.batch else []
        text += views if inside else []
        text += [f"scf.for %j = %n0 to %n{cols} step %n{self.n} {{", f"scf.for %i = %n0 to %n{rows} step %n{self.m} {{"]
        if self.bias:
            fetch("bias", "biasm", "biast", "%n0", "%j", 1, self.n)
        text += [f"scf.for %p = %n0 to %n{depth} step %n{self.k} {{"]
        fetch("a", "am", "l", "%i", "%p", self.m, self.k)
        fetch("b", "bm", "r", "%p", "%j", self.k, self.n)
        if self.scaled:
            text.append(f"%q = arith.divui %p, %n{GROUP} : index")
            fetch("as", "asm", "ls", "%i", "%q", self.m, self.k // GROUP)
            fetch("bs", "bsm", "rs", "%q", "%j", self.k // GROUP, self.n)
        names = ["l", "ls", "r", "rs"] if self.scaled else ["l", "r"]

        def multiply(form: str, *tiles: str) -> str:
            operands = ", ".join(f"%{name}" for name in tiles)
            kinds = ", ".join(types[name] for name in tiles)
            return f"pto.{self.product}{form} ins({operands} : {kinds}) outs(%s : {types['s']})"

        begin = multiply(".bias", *names, "biast") if self.bias else multiply("", *names)
        text += ["%first = arith.cmpi eq, %p, %n0 : index",
                 f"scf.if %first {{\n{begin}\n}} else {{\n{multiply('.acc', 's', *names)}\n}}", "}"]  # fmt: skip
        table = ""
        if self.table:
            fetch("table", "tablem", "tablet", "%n0", "%j", 1, self.n)
            table = f" fp %tablet : {types['tablet']}"
        out = part("c", "%i", "%j", self.m, self.n)
        text += [f"pto.tstore ins(%s : {types['s']}{table}) outs({out})", "}", "}", *(["}"] if self.batch else [])]
        text[place:place] = [f"%{name} = pto.alloc_tile : {types[name]}" for name in (*used, "s")]
        arguments = ", ".join(f"%{name}: !pto.ptr<{kind}>" for name, (kind, *_) in self.shapes.items())
        body = "\n".join([*text, "return"])
        head = f'module attributes {{pto.target_arch = "{self.target}"}} {{'
        return f"{head}\nfunc.func @f({arguments}) attributes {{pto.entry}} {{\n{body}\n}}\n}}\n"
