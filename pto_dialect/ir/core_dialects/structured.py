"""Structured control flow of ``scf``, identified without importing the dialect: a program without loops never needs its
classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

if TYPE_CHECKING:
    from xdsl.dialects import scf
    from xdsl.ir import Operation


def is_for(op: Operation) -> TypeGuard[scf.ForOp]:
    """Returns whether an operation is ``scf.for``."""
    return op.name == "scf.for"


def is_unsigned(op: Operation) -> bool:
    """Returns whether a loop of ``scf.for`` compares its bounds as unsigned numbers."""
    return "unsignedCmp" in op.attributes


def is_while(op: Operation) -> TypeGuard[scf.WhileOp]:
    """Returns whether an operation is ``scf.while``."""
    return op.name == "scf.while"


def is_if(op: Operation) -> TypeGuard[scf.IfOp]:
    """Returns whether an operation is ``scf.if``."""
    return op.name == "scf.if"


def is_switch(op: Operation) -> TypeGuard[scf.IndexSwitchOp]:
    """Returns whether an operation is ``scf.index_switch``."""
    return op.name == "scf.index_switch"
