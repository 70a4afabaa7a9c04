"""Symbols of modules: definitions, and the call graph."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation

from pto_dialect.diagnostics.suggest import MOST_NAMED, equally_near
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import ancestors, walk
from pto_dialect.ir.core_dialects.func import FuncOp


class Symbols:
    """The symbols of a program; each module is read on the first query.

    Valid as long as the program does not change.
    """

    def __init__(self) -> None:
        self._tables: dict[Operation, dict[str, Operation]] = {}
        self._callees: dict[Operation, list[FuncOp]] = {}

    def find(self, op: Operation, name: str) -> Operation | None:
        """Returns the operation that defines ``name`` in the nearest enclosing module of ``op`` that has it."""
        parent = op.parent_op()
        while parent is not None:
            if isinstance(parent, ModuleOp):
                symbol = self._table(parent).get(name)
                if symbol is not None:
                    return symbol
            parent = parent.parent_op()
        return None

    def suggest(self, op: Operation, name: str) -> list[str]:
        """Returns the names that the unknown symbol ``name`` probably means, in the nearest enclosing module of
        ``op``."""
        module = next((parent for parent in ancestors(op) if isinstance(parent, ModuleOp)), None)
        known = self._table(module) if module is not None else {}
        return equally_near(f"@{name}", [f"@{other}" for other in known])[:MOST_NAMED]

    def _table(self, module: ModuleOp) -> dict[str, Operation]:
        table = self._tables.get(module)
        if table is None:
            table = self._tables[module] = {}
            for op in (op for block in module.body.blocks for op in block.ops):
                name = op.properties.get("sym_name")
                if isinstance(name, StringAttr):
                    table.setdefault(name.data, op)
        return table

    def callee(self, call: Operation) -> FuncOp | None:
        """Returns the function that a ``func.call`` names."""
        symbol = call.properties.get("callee")
        function = self.find(call, symbol.root_reference.data) if isinstance(symbol, SymbolRefAttr) else None
        return function if isinstance(function, FuncOp) else None

    def callees(self, function: FuncOp) -> list[FuncOp]:
        """Returns the functions that ``function`` calls directly, each once, in the order of the text."""
        known = self._callees.get(function)
        if known is None:
            calls = (self.callee(op) for op in walk(function) if has_role(op, Role.CALL))
            known = self._callees[function] = list(dict.fromkeys(callee for callee in calls if callee is not None))
        return known

    def reachable_from(self, call: Operation) -> list[FuncOp]:
        """Returns the functions reachable from a call, each once, in the order of discovery."""
        first = self.callee(call)
        reachable: dict[FuncOp, None] = {}
        pending = [first] if first is not None else []
        while pending:
            function = pending.pop()
            if function not in reachable:
                reachable[function] = None
                pending += self.callees(function)
        return list(reachable)
