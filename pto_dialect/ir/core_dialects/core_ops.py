"""Operations of the dialects around ``pto``: their syntax and the xDSL class of each.

Source: docs/reference/core-dialects.md, "Operations".
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from xdsl.irdl import IRDLOperation

from pto_dialect.accel.operations.deferred_formats import deferred_formats

from .core_plain import PLAIN_NAMES, plain_class

_ARITH_SAME = (
    "addi subi muli divsi divui ceildivsi ceildivui remsi remui floordivsi minsi maxsi minui maxui andi ori xori shli "
    "shrsi shrui addf subf mulf divf remf minimumf maximumf minnumf maxnumf negf select"
)
_ARITH_CAST = "index_cast index_castui extui extsi trunci extf truncf sitofp uitofp fptosi fptoui bitcast"
_MATH_SAME = (
    "absf absi acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh ctlz ctpop cttz erf exp exp2 expm1 "
    "floor fma ipowi log log10 log1p log2 powf round roundeven rsqrt sin sinh sqrt tan tanh trunc"
)

_SHAPES: dict[str, str] = {
    "OP_MODULE": "module builtin.module",
    "OP_FUNC": "func.func",
    "OP_CONSTANT": "arith.constant",
    "OP_FUNC_CONSTANT": "func.constant",
    "OP_SAME": " ".join([*(f"arith.{n}" for n in _ARITH_SAME.split()), *(f"math.{n}" for n in _MATH_SAME.split())]),
    "OP_MIXED": "arith.addui_extended arith.mulsi_extended arith.mului_extended math.fpowi",
    "OP_COMPARE": "arith.cmpi arith.cmpf",
    "OP_CAST": " ".join(
        [
            *(f"arith.{n}" for n in _ARITH_CAST.split()),
            "builtin.unrealized_conversion_cast memref.cast memref.memory_space_cast",
            "llvm.bitcast llvm.inttoptr llvm.ptrtoint llvm.addrspacecast",
        ]
    ),
    "OP_RETURN": "return func.return scf.yield scf.reduce.return",
    "OP_CONDITION": "scf.condition",
    "OP_FOR": "scf.for",
    "OP_PARALLEL": "scf.parallel",
    "OP_REDUCE": "scf.reduce",
    "OP_IF": "scf.if",
    "OP_WHILE": "scf.while",
    "OP_EXECUTE": "scf.execute_region",
    "OP_INDEX_SWITCH": "scf.index_switch",
    "OP_CALL": "call func.call call_indirect func.call_indirect",
    "OP_BRANCH": "cf.br",
    "OP_COND_BRANCH": "cf.cond_br",
    "OP_SWITCH": "cf.switch",
    "OP_ASSERT": "cf.assert",
    "OP_MEM_ALLOC": "memref.alloc memref.alloca",
    "OP_MEM_FREE": "memref.dealloc",
    "OP_MEM_ACCESS": "memref.load memref.store",
    "OP_MEM_SUBVIEW": "memref.subview",
    "OP_MEM_REINTERPRET": "memref.reinterpret_cast",
    "OP_MEM_DIM": "memref.dim memref.rank",
    "OP_MEM_COPY": "memref.copy",
    "OP_LLVM_ALLOCA": "llvm.alloca",
    "OP_LLVM_LOAD": "llvm.load",
    "OP_LLVM_STORE": "llvm.store",
    "OP_LLVM_GEP": "llvm.getelementptr",
    "OP_LLVM_EXTRACT_ELEMENT": "llvm.extractelement",
    "OP_LLVM_INSERT_ELEMENT": "llvm.insertelement",
    "OP_LLVM_UNDEF": "llvm.mlir.undef llvm.mlir.zero",
    "OP_LLVM_EXTRACT_VALUE": "llvm.extractvalue",
}

CORE_SHAPES: dict[str, str] = {name: shape for shape, names in _SHAPES.items() for name in names.split()}
"""Grammar terminal of every core operation name."""

ALIASES = {
    "module": "builtin.module",
    "return": "func.return",
    "call": "func.call",
    "call_indirect": "func.call_indirect",
    "constant": "func.constant",
}
"""Short spellings of core operations."""

KNOWN_DIALECTS = frozenset(
    ("builtin", "func", "arith", "scf", "cf", "memref", "math", "affine", "index", "llvm", "pto")
)
"""Dialects whose unknown operations are errors; operations of other dialects are stored in generic form."""

CLOSED_DIALECTS = frozenset(("func", "arith", "scf", "cf", "memref", "math", "affine", "index"))
"""Dialects all of whose operations are known by name."""

UNMODELLED = frozenset(("affine.dma_start", "affine.dma_wait"))
"""Their operations that are stored as written, in generic form, and not checked."""


@cache
def _dialect_classes(dialect: str) -> dict[str, type[IRDLOperation]]:
    with deferred_formats():
        module = import_module(f"xdsl.dialects.{dialect}")
    classes: dict[str, type[IRDLOperation]] = {}
    for cls in vars(module).values():
        # Abstract base classes make issubclass slow: it iterates over all their subclasses.
        if isinstance(cls, type) and IRDLOperation in cls.__mro__ and isinstance(getattr(cls, "name", None), str):
            classes[cls.name] = cls
    return classes


@cache
def core_class(name: str) -> type[IRDLOperation] | None:
    """Returns xDSL's class for a core operation, or ``None`` when xDSL has none."""
    dialect = name.partition(".")[0]
    if dialect not in KNOWN_DIALECTS or dialect == "pto":
        return None
    if name in PLAIN_NAMES:
        return plain_class(name)
    if dialect in ("affine", "index"):
        return None
    found = _dialect_classes(dialect).get(name)
    if found is None:
        from . import core_extra  # deferred: start-up

        found = next((c for c in vars(core_extra).values() if getattr(c, "name", None) == name), None)
    return found
