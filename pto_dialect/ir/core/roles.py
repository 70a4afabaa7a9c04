"""Roles of operations, queried without comparing names.

PTO operations declare their roles (``roles=Role.VIEW``); those of the core dialects are in the table below. An
operation may have several roles, most have none: its specification states reads and writes, pipe and form.
"""

from __future__ import annotations

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Operation

from .facts.role import RUNS as RUNS
from .facts.role import Role
from .spec import is_declared, op_spec
from .walk import ancestors

_LOOPS = ("scf.while", "scf.forall", "affine.while")
_COUNTED = ("scf.for", "scf.parallel", "affine.for", "affine.parallel")
_CHOICES = ("scf.if", "scf.index_switch", "affine.if")
_MEMREF_VIEWS = ("subview", "reinterpret_cast", "cast", "memory_space_cast", "view", "collapse_shape", "expand_shape")

CORE_ROLES: dict[str, Role] = {
    "func.func": Role.FUNCTION,
    "func.call": Role.CALL,
    "func.return": Role.RETURN,
    "scf.condition": Role.CONDITION,
    **dict.fromkeys(("scf.yield", "scf.reduce.return", "affine.yield"), Role.YIELD),
    **dict.fromkeys(_LOOPS, Role.LOOP),
    **dict.fromkeys(_COUNTED, Role.LOOP | Role.COUNTED),
    **dict.fromkeys(_CHOICES, Role.CHOICE),
    **dict.fromkeys(("cf.br", "cf.cond_br", "cf.switch"), Role.BRANCH),
    **dict.fromkeys(("arith.constant", "index.constant", "index.bool.constant"), Role.CONSTANT | Role.SCALAR),
    "func.constant": Role.CONSTANT,
    "arith.select": Role.SELECT | Role.SCALAR,
    **dict.fromkeys(("arith.cmpi", "index.cmp"), Role.COMPARISON | Role.SCALAR),
    **dict.fromkeys(("memref.alloc", "memref.alloca"), Role.ALLOCATION),
    **{f"memref.{name}": Role.VIEW for name in _MEMREF_VIEWS},
    "memref.dim": Role.EXTENT,
    "llvm.inttoptr": Role.ADDRESS,
    **dict.fromkeys(("memref.load", "llvm.load"), Role.ELEMENT_LOAD),
    **dict.fromkeys(("memref.store", "llvm.store"), Role.ELEMENT_STORE),
    "memref.copy": Role.COPY,
    **dict.fromkeys(("memref.atomic_rmw", "memref.generic_atomic_rmw"), Role.ATOMIC),
    "builtin.unrealized_conversion_cast": Role.VIEW,
}
"""Roles of operations of the core dialects; all of ``arith``, ``math`` and ``index`` are scalar in addition."""

_SCALAR_DIALECTS = frozenset(("arith", "math", "index"))
_found: dict[object, Role] = {}
_bits: dict[object, int] = {}
"""The same as plain numbers: operators of enumerations cost ten times as much."""


def roles_of(op: Operation) -> Role:
    """Returns all roles of ``op``."""
    cls = type(op)
    found = _found.get(cls)
    if found is None:
        if isinstance(op, UnregisteredOp):
            # Every one has a class of its own.
            return CORE_ROLES.get(op.op_name.data, Role.NONE)
        found = _found[cls] = _of_class(cls)
    return found


def has_role(op: Operation, role: Role) -> bool:
    """Returns whether ``op`` has ``role``, or one of several joined with ``|``."""
    cls = type(op)
    bits = _bits.get(cls)
    if bits is None:
        bits = roles_of(op).value
        if cls in _found:
            _bits[cls] = bits
    return bits & role._value_ != 0


def enclosing(op: Operation, role: Role) -> Operation | None:
    """Returns the nearest operation around ``op`` that has ``role``, or one of several joined with ``|``."""
    return next((parent for parent in ancestors(op) if has_role(parent, role)), None)


def _of_class(cls: type[Operation]) -> Role:
    if is_declared(cls):
        return op_spec(cls).roles
    found = CORE_ROLES.get(cls.name, Role.NONE)
    return found | Role.SCALAR if cls.name.partition(".")[0] in _SCALAR_DIALECTS else found
