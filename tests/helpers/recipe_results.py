"""What the package says and computes where the recipes of docs/contributing.md were followed, as JSON.

Run in a folder with a changed copy of the package, which is imported from there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path.cwd()))

import numpy as np
from lsprotocol import types

from pto_dialect import targets
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.driver.explain.examples import example_of
from pto_dialect.driver.explain.operand_words import meaning
from pto_dialect.driver.explain.running import run
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import process
from pto_dialect.ir.core.base import PtoOp, signature
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.registry import op_class
from pto_dialect.ir.cube.mad import MadOp
from pto_dialect.lsp.features import FEATURES
from pto_dialect.lsp.program.document import Document
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import CHECKS, SanitizeOptions
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.targets.a2a3 import A2A3
from pto_dialect.verify.engine.example_programs import example_program
from pto_dialect.verify.engine.rule import read_rules

TILES = "pto.tsubrelu ins(%a, %b : {0}, {0}) outs(%d : {0})"
MAD = "pto.mad %x, %y, %z, %c16, {n}, %c16{words} : !A16, !B16, !C32, i64, i64, i64"


def said(statement: str) -> tuple[list[str], list[str]]:
    """The printed lines with a name of the recipes in them, and what is reported about the statement."""
    result = process(example_program(statement, "a5"), "x.pto", Options(policy=DiagnosticOptions(pedantic=True)))
    lines = [line.strip() for line in (result.text or "").split("\n") if "tsubrelu" in line or "k_dir" in line]
    return lines, [f"{found.rule}: {found.message}" for found in result.diagnostics]


def tile_operation() -> PtoOp:
    """The operation of the recipe, without operands."""
    return op_class("pto.tsubrelu").create(operands=[])


def reported(text: str) -> list[str]:
    """The rules of the findings of a sanitized run of two buffers."""
    module = parse_program(SourceFile("x.pto", text), DiagnosticEngine())
    kernel = InstrumentedKernel(module, None, None, RunOptions(), SanitizeOptions(frozenset(CHECKS)))
    kernel.run([np.ones(4096, np.float32), np.zeros(4096, np.float32)])
    return sorted({finding.rule for finding in kernel.observer.findings.all})


def linked(text: str) -> list[list[object]]:
    """The links of a document, and where they begin and end."""
    answer = dict((method, handler) for method, handler, _ in FEATURES)[types.TEXT_DOCUMENT_DOCUMENT_LINK]
    server: Any = None
    found = answer(server, Document("file:///x.pto", text, 1), None)
    return [[one.target, one.range.start.character, one.range.end.character] for one in found]


def results() -> dict[str, object]:
    """The results by what they are about."""
    ran = run(example_of("pto.tsubrelu"))
    factor = read_rules("run")["zero-factor"]
    return {
        "package": str(Path(targets.__file__).parents[1]),
        "operation": said(TILES.format("!pto.tile_buf<vec, 8x64xf32>")),
        "refused type": said(TILES.format("!pto.tile_buf<vec, 8x64xi32>")),
        "run": [[row.way, row.name, row.elements] for row in ran.rows],
        "findings": [found.message for found in ran.findings],
        "clause": said(MAD.format(n="%c16", words=" n_dir k_dir")),
        "clause out of order": said(MAD.format(n="%c16", words=" k_dir n_dir")),
        "clause means": meaning(MadOp, signature(MadOp).attributes["k_dir"], True),
        "rule": said(MAD.format(n="%c17", words="")),
        "rule kept": said(MAD.format(n="%c16", words="")),
        "limit": dict(A2A3.planner_limit),
        "cycles": [form_of(tile_operation(), target).cycle_key for target in ("a5", "a2a3")],
        "check": [reported(text) for text in (factor.bad, factor.good) if text],
        "feature": linked("// see https://a.org/b for more\n"),
        "message": said('pto.set_flag["PIPE_LOAD", "PIPE_V", "EVENT_ID0"]')[1],
    }


if __name__ == "__main__":
    print(json.dumps(results()))
