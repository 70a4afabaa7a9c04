"""The verification passes as xDSL passes, each for the rules of its own name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.verify.engine.rule import LOCATIONS, SHAPES, STRUCTURE, TRIPLES
from pto_dialect.verify.verifier import verify_module

from .base import PtoPass


@dataclass(frozen=True)
class VerifyPass(PtoPass):
    """Checks the rules of the pass that ``name`` says; changes nothing."""

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Applies the rules of this pass to ``module``."""
        verify_module(module, engine, target=self.target, passes=(self.name,))


@dataclass(frozen=True)
class VerifyStructurePass(VerifyPass):
    """Operand, result and attribute kinds, clauses, terminators, dominance, symbols."""

    name: ClassVar[str] = STRUCTURE


@dataclass(frozen=True)
class VerifyLocationsPass(VerifyPass):
    """Address spaces, tile locations and layouts of operands."""

    name: ClassVar[str] = LOCATIONS


@dataclass(frozen=True)
class VerifyTypeTriplesPass(VerifyPass):
    """Element types that go together on the target."""

    name: ClassVar[str] = TRIPLES


@dataclass(frozen=True)
class VerifyShapesPass(VerifyPass):
    """Shapes, valid regions, ranges of constants, alignment."""

    name: ClassVar[str] = SHAPES
