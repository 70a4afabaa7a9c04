"""Unrolls a function for given arguments into its events: a plain interpreter of scalars and control flow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from order_events import Event, effect_of, facts_of
from order_graph import GROUPS
from order_scalars import WIDTHS, binary, compare, signed
from order_values import Inadmissible, Pointer, Slots, Tile, Unmodelled, View, element_width, number_list, tile_shape
from xdsl.ir import Block, Operation, Region, SSAValue

MOST_EVENTS = 20000
_SPACES = {"ub": "vec", "l1": "mat", "l0a": "left", "l0b": "right", "l0c": "acc"}
_SAME = ("index_cast", "index_castui", "extsi", "trunci", "extui")


class Unroller:
    """One execution of a function on one core.

    ``load`` returns what an unknown scalar load yields; ``core`` is core, cube, vector0 or vector1.
    """

    def __init__(
        self,
        functions: dict[str, Operation],
        load: Callable[[], int],
        core: str = "core",
        blocks: tuple[int, int] = (0, 1),
    ):
        self.functions, self.load, self.core, self.blocks = functions, load, core, blocks
        self.events: list[Event] = []
        self.values: dict[SSAValue, Any] = {}
        self.counters: list[int] = []
        self.ordinals: list[int] = []
        self.steps = self.tiles = 0

    def run(self, name: str, arguments: dict[str, int]) -> list[Event]:
        """The events of a call with these integers; pointers and views are memories of their own."""
        function = self.functions[name]
        values = [argument_value(value, arguments) for value in function.body.blocks.first.args]  # type: ignore[attr-defined]
        self.region(function.body, values)  # type: ignore[attr-defined]
        return self.events

    def region(self, region: Region, values: list[Any]) -> list[Any]:
        """Executes a region; the operands of its last terminator."""
        block: Block | None = region.blocks.first
        while block is not None:
            self.values.update(zip(block.args, values, strict=True))
            operation: Operation | None = None
            for operation in block.ops:
                self.steps += 1
                if self.steps > 20 * MOST_EVENTS or len(self.events) > MOST_EVENTS:
                    raise Unmodelled("too many operations")
                self.execute(operation)
            block, values = self.successor(operation)
        return values

    def successor(self, terminator: Operation | None) -> tuple[Block | None, list[Any]]:
        if terminator is None or not terminator.successors:
            return None, [] if terminator is None else self.operands(terminator)
        if terminator.name == "cf.br":
            return terminator.successors[0], self.operands(terminator)
        taken, first, second = terminator.cond, terminator.then_arguments, terminator.else_arguments  # type: ignore[attr-defined]
        chosen = 0 if self.values[taken] else 1
        return terminator.successors[chosen], [self.values[value] for value in (first, second)[chosen]]

    def operands(self, op: Operation) -> list[Any]:
        return [self.values[operand] for operand in op.operands]

    def execute(self, op: Operation) -> None:
        method, name = method_of(op.name)
        results = method(self, op, name, self.operands(op))
        for result, value in zip(op.results, results or (), strict=False):
            self.values[result] = value

    # ------------------------------------------------------------ scalars and control flow

    def do_arith(self, op: Operation, name: str, operands: list[Any]) -> list[Any]:
        if name == "constant":
            attribute = op.properties["value"]
            return [attribute.value.data]  # type: ignore[attr-defined]
        if name == "select":
            return [operands[1] if operands[0] else operands[2]]
        kind = str(op.operands[0].type)
        width = WIDTHS.get(kind)
        if width is None:
            return [0.0]
        if name == "cmpi":
            return [compare(op.properties["predicate"].value.data, operands[0], operands[1], width)]  # type: ignore[attr-defined]
        if name in _SAME:
            return [signed(operands[0], WIDTHS[str(op.results[0].type)])]
        result = binary(name, operands[0], operands[1], width)
        if result is None:
            raise Unmodelled(op.name)
        return [result]

    def do_func_return(self, op: Operation, name: str, operands: list[Any]) -> None:
        pass

    do_scf_yield = do_scf_condition = do_cf_br = do_cf_cond_br = do_func_return

    def do_func_call(self, op: Operation, name: str, operands: list[Any]) -> list[Any]:
        callee = op.properties["callee"].root_reference.data  # type: ignore[attr-defined]
        return self.region(self.functions[callee].body, operands)  # type: ignore[attr-defined]

    def do_scf_for(self, op: Operation, name: str, operands: list[Any]) -> list[Any]:
        lower, upper, step, *carried = operands
        if step <= 0:
            raise Inadmissible("a step that is not positive")
        with self.loop():
            for ordinal, counter in enumerate(range(lower, upper, step)):
                self.counters[-1], self.ordinals[-1] = counter, ordinal
                carried = self.region(op.regions[0], [counter, *carried])
        return carried

    def do_scf_while(self, op: Operation, name: str, operands: list[Any]) -> list[Any]:
        with self.loop():
            while True:
                going, *operands = self.region(op.regions[0], operands)
                if not going:
                    return operands
                operands = self.region(op.regions[1], operands)
                self.counters[-1] += 1
                self.ordinals[-1] += 1

    def do_scf_if(self, op: Operation, name: str, operands: list[Any]) -> list[Any]:
        region = op.regions[0] if operands[0] else op.regions[1]
        return self.region(region, []) if region.blocks else []

    @contextmanager
    def loop(self) -> Iterator[None]:
        self.counters.append(0)
        self.ordinals.append(0)
        yield
        self.counters.pop()
        self.ordinals.pop()

    # ------------------------------------------------------------ handles

    def do_pto_alloc_tile(self, op: Operation, name: str, operands: list[Any]) -> list[Any]:
        return [self.tile(str(op.results[0].type), operands[0] if operands else None)]

    def do_pto_alloc_multi_tile(self, op: Operation, name: str, operands: list[Any]) -> list[Any]:
        text = str(op.results[0].type)
        return [Slots(self.tile(text, operands[0] if operands else None), int(text.rpartition("=")[2].rstrip(">")))]

    def tile(self, text: str, address: int | None) -> Tile:
        memory, rows, cols, width = tile_shape(text)
        if address is None:
            self.tiles += 1
            memory, address = f"{memory} of tile {self.tiles}", 0
        return Tile(memory, address, rows, cols, width, cols * width)

    def do_pto_multi_tile_get(self, op: Operation, name: str, operands: list[Any]) -> list[Any]:
        return [operands[0].slot(operands[1])]

    def do_pto_subview(self, op: Operation, name: str, operands: list[Any]) -> list[Any]:
        tile, row, col = operands[:3]
        rows, cols = number_list(str(op.attributes["sizes"]))
        return [tile.part(row, col, rows, cols)]

    def do_pto_castptr(self, op: Operation, name: str, operands: list[Any]) -> list[Any]:
        text = str(op.results[0].type)
        if isinstance(operands[0], Pointer):
            return [Pointer(operands[0].memory, operands[0].at, element_width(text))]
        space = text.rstrip(">").rpartition(", ")[2]
        return [Pointer(_SPACES.get(space, space), operands[0], element_width(text))]

    def do_pto_addptr(self, op: Operation, name: str, operands: list[Any]) -> list[Any]:
        pointer, offset = operands
        return [pointer.ahead(offset)]

    def do_pto_make_tensor_view(self, op: Operation, name: str, operands: list[Any]) -> list[Any]:
        pointer, *numbers = operands
        half = len(numbers) // 2
        return [View(pointer, tuple(numbers[:half]), tuple(numbers[half:]))]

    def do_pto_partition_view(self, op: Operation, name: str, operands: list[Any]) -> list[Any]:
        view, *numbers = operands
        half = len(numbers) // 2
        offsets, sizes = tuple(numbers[:half]), tuple(numbers[half:])
        inside = (min(a, b) >= 0 and a + b <= c for a, b, c in zip(offsets, sizes, view.sizes, strict=True))
        if not all(inside):
            raise Inadmissible("a part outside of its view")
        return [view.part(offsets, sizes)]

    # ------------------------------------------------------------ operations on pipes

    def do_pto_section_cube(self, op: Operation, name: str, operands: list[Any]) -> None:
        if self.core in ("core", "cube"):
            self.region(op.regions[0], [])

    def do_pto_section_vector(self, op: Operation, name: str, operands: list[Any]) -> None:
        if self.core != "cube":
            self.region(op.regions[0], [])

    def do_pto_vecscope(self, op: Operation, name: str, operands: list[Any]) -> None:
        self.region(op.regions[0], [])

    def do_pto_syncall(self, op: Operation, name: str, operands: list[Any]) -> None:
        group = facts_of(op)["core_type"].rpartition("<")[2].rstrip(">")
        steps = [("barrier", "ALL")]
        if self.core in GROUPS[group]:
            steps += [("post", (group, 0)), ("take", (group, 0))]
        for kind, key in steps:
            turns = tuple(self.counters), tuple(self.ordinals)
            self.events.append(Event(kind, "ALL" if kind == "barrier" else "S", op, *turns, (), (), key, self.core))

    def do_pto_get_block_idx(self, op: Operation, name: str, operands: list[Any]) -> list[Any]:
        return [self.blocks[0]]

    def do_pto_get_block_num(self, op: Operation, name: str, operands: list[Any]) -> list[Any]:
        return [self.blocks[1]]

    def do_pto_get_subblock_idx(self, op: Operation, name: str, operands: list[Any]) -> list[Any]:
        return [int(self.core == "vector1")]

    def do_pto(self, op: Operation, name: str, operands: list[Any]) -> list[Any]:
        if name.startswith(("pset", "plt", "v")) and name not in ("vlds", "vsts"):
            return [0.0 for _ in op.results]
        effect = effect_of(op, operands)
        self.events.append(
            Event(
                effect.kind, effect.pipe, op, tuple(self.counters), tuple(self.ordinals),
                effect.reads, effect.writes, effect.key, self.core,
            )
        )  # fmt: skip
        return [self.load() if name in ("load_scalar", "tgetval") else 0.0 for _ in op.results]


@cache
def method_of(name: str) -> tuple[Callable[..., Any], str]:
    """The method of ``Unroller`` that executes an operation, and the name of the operation in its dialect."""
    dialect, _, rest = name.partition(".")
    full = f"do_{name}".replace(".", "_")
    method = getattr(Unroller, full, None) or getattr(Unroller, f"do_{dialect}", None)
    if method is None:
        raise Unmodelled(name)
    return method, rest


def argument_value(value: SSAValue, arguments: dict[str, int]) -> Any:
    """What a parameter is: an integer, or global memory of its own."""
    text, name = str(value.type), str(value.name_hint)
    if text in WIDTHS:
        return arguments[name]
    if "partition_tensor_view" in text:
        sizes = tuple(int(size) for size in text.partition("<")[2].split("x")[:-1])
        strides = tuple(product_of(sizes[k + 1 :]) for k in range(len(sizes)))
        return View(Pointer(f"gm {name}", 0, element_width(text)), sizes, strides)
    if "ptr<" in text:
        return Pointer(f"gm {name}", 0, element_width(text))
    if "tile_buf" in text:
        memory, rows, cols, width = tile_shape(text)
        return Tile(f"{memory} {name}", 0, rows, cols, width, cols * width)
    return 0.0


def product_of(numbers: tuple[int, ...]) -> int:
    result = 1
    for number in numbers:
        result *= number
    return result
