"""Names of SSA values as MLIR's own printer gives them, for programs that look for these in a text.

All values of a region are named before those of the regions inside. Arguments of entry blocks are ``%arg0``, ``%arg1``
and so on; constants have their value as a name, as in ``%c1``, ``%c1_i32``, ``%true`` and ``%cst``; where an operation
declares several results, these have their declared names, as in ``%mask, %scalar_out = pto.plt_b32``; other results are
numbered. Those of an operation with several share a number: ``%3:2`` where they are defined, ``%3#1`` where one is
read. A value retains the name that it was written with, and a taken name gets the next suffix of the text.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Block, Operation, Region, SSAValue

from pto_dialect.ir.core.base import PtoOp, Slot, signature, sizes_by_order

from .value_names import ValueNames, legal_name

_CONSTANT = "cst"
_NAMED = {
    "arith.constant": _CONSTANT,
    "memref.alloc": "alloc",
    "memref.alloca": "alloca",
    "memref.cast": "cast",
    "memref.dim": "dim",
    "memref.reinterpret_cast": "reinterpret_cast",
    "memref.subview": "subview",
}
"""Operations whose results have a fixed name."""


class MlirNames(ValueNames):
    """Names of all values of a text, region by region."""

    def __init__(self) -> None:
        super().__init__()
        self._names: set[str] = set()
        self._arguments = 0
        self._conflicts = 0
        self._open: list[tuple[int, int, int, list[str]]] = []

    def enter(self, region: Region, isolated: bool = False) -> None:
        """Opens ``region`` and names its values."""
        self._open.append((self._number, self._arguments, self._conflicts, []))
        entry = region.first_block
        for block in region.blocks:
            self._define_block(block, entry=block is entry)

    def leave(self) -> None:
        """Closes the innermost region."""
        self._number, self._arguments, self._conflicts, names = self._open.pop()
        self._names.difference_update(names)

    def announce(self, values: Sequence[SSAValue]) -> list[str]:
        """Names results outside of all regions; those inside have their names."""
        self.define(values)
        return []

    def define(self, values: Sequence[SSAValue]) -> None:
        """Names the results of one operation, if they have no names."""
        if values and id(values[0]) not in self.texts:
            self._define_results(values)

    def late(self, value: SSAValue) -> str:
        """Names a value whose region is not part of the text."""
        self._give(value, "")
        return self.texts[id(value)]

    def results(self, values: Sequence[SSAValue]) -> str:
        """Returns the list of results before a statement."""
        names = [self.texts[id(value)].partition("#")[0] for value in values]
        return ", ".join(
            [name if names.count(name) == 1 else f"{name}:{names.count(name)}" for name in dict.fromkeys(names)]
        )

    # ------------------------------------------------------------ one region

    def _define_block(self, block: Block, *, entry: bool) -> None:
        for argument in block.args:
            if entry:
                self._give(argument, f"arg{self._arguments}")
                self._arguments += 1
            else:
                self._give(argument, "")
        for op in block.ops:
            self.define(op.results)

    def _define_results(self, values: Sequence[SSAValue]) -> None:
        owner = values[0].owner
        assert isinstance(owner, Operation)
        declared = _declared_results(owner)
        if declared is not None:
            sizes = sizes_by_order(declared, len(values))
            for slot, size in zip(declared, sizes, strict=True):
                group, values = values[:size], values[size:]
                if group:
                    self._define_group(group, slot.name)
        else:
            self._define_group(values, _result_name(owner) if len(values) == 1 else "")

    def _define_group(self, values: Sequence[SSAValue], name: str) -> None:
        self._give(values[0], name)
        if len(values) > 1:
            name = self.texts[id(values[0])]
            self.texts.update({id(value): f"{name}#{index}" for index, value in enumerate(values)})

    def _give(self, value: SSAValue, name: str) -> None:
        hint = value._name
        if hint and not hint.isdigit():
            name = legal_name(hint)
        if not name:
            name = str(self._number)
            self._number += 1
        else:
            name = self._free(name)
            self._names.add(name)
            if self._open:
                self._open[-1][3].append(name)
        self.texts[id(value)] = f"%{name}"

    def _free(self, name: str) -> str:
        found = name
        while found in self._names:
            found = f"{name}_{self._conflicts}"
            self._conflicts += 1
        return found


def _declared_results(op: Operation) -> Sequence[Slot] | None:
    """Returns the results that an operation declares, if there may be several."""
    if not isinstance(op, PtoOp):
        return None
    declared = signature(type(op)).results
    return declared if len(declared) > 1 else None


def _result_name(op: Operation) -> str:
    """Returns the name of the result of an operation; empty if it is numbered."""
    name, value = _NAMED.get(op.name, ""), op.properties.get("value")
    if name != _CONSTANT or not isinstance(value, IntegerAttr):
        return name
    kind = value.type
    if not isinstance(kind, IntegerType):
        return f"c{value.value.data}"
    if kind.width.data == 1:
        return "true" if value.value.data else "false"
    return f"c{value.value.data}_{kind}"
