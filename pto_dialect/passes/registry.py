"""All passes by name. Looking a name up imports no pass, so that a run pays only for the passes it uses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .base import PtoPass


class PassEntry(NamedTuple):
    """Where a pass is defined (module of this folder, class in it) and one line on what it does; ``changes`` states
    that it changes the program, ``orders`` that flags and barriers order the pipes afterwards, ``shrinks`` that the
    program may need less memory then, ``splits`` that tiles and products may be too large for the chip before it,
    ``options`` has the values of each of its options, the default one first; none stands for any text without blanks,
    by default an empty one. ``shared`` states that xDSL has a pass of
    this name, which this one runs; it may stand inside ``func.func(..)``."""

    module: str
    cls: str
    summary: str
    changes: bool = False
    orders: bool = False
    shrinks: bool = False
    splits: bool = False
    options: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    shared: bool = False


_VERIFY = "verify"

_BLOCKS = ("1", "2", "4", "8", "12", "16", "20", "24", "25", "32", "36", "48", "64")
"""Numbers of blocks that share a kernel."""

PASS_TABLE: dict[str, PassEntry] = {
    "verify-structure": PassEntry(
        _VERIFY,
        "VerifyStructurePass",
        "operand, result and attribute kinds, clauses, terminators, dominance, symbols",
    ),
    "verify-locations": PassEntry(
        _VERIFY, "VerifyLocationsPass", "address spaces, tile locations and layouts of operands"
    ),
    "verify-type-triples": PassEntry(
        _VERIFY, "VerifyTypeTriplesPass", "combinations of element types that the target supports"
    ),
    "verify-shapes": PassEntry(_VERIFY, "VerifyShapesPass", "shapes, valid regions, ranges of constants, alignment"),
    "check-sync": PassEntry(
        "check_sync",
        "CheckSyncPass",
        "flags and accesses along every path: unmatched, reused, unordered",
        options=MappingProxyType({"judge": ("false", "true")}),
    ),
    "prove-order": PassEntry(
        "prove_order",
        "ProveOrderPass",
        "the order of the pipes for all arguments and numbers of iterations: proven, refuted or undecided",
        options=MappingProxyType({"assume": ()}),
    ),
    "check-memory": PassEntry("check_memory", "CheckMemoryPass", "tiles in use that share bytes"),
    "tile-loops": PassEntry(
        "loops.tile",
        "TileLoopsPass",
        "loops over parts of tall tiles",
        changes=True,
        shrinks=True,
        splits=True,
        options=MappingProxyType({"rows": ("16", "1", "2", "4", "8", "32", "64", "128"), "blocks": _BLOCKS}),
    ),
    "fuse-loops": PassEntry(
        "fuse_loops.fuse",
        "FuseLoopsPass",
        "one loop for those that follow each other over the same rows",
        changes=True,
    ),
    "tile-cube": PassEntry(
        "tile_cube.tile",
        "TileCubePass",
        "base tiles, panels and alternating accumulators for matrix products",
        changes=True,
        shrinks=True,
        splits=True,
        options=MappingProxyType(
            {
                "rows": ("auto", "16", "32", "64", "128", "256"),
                "columns": ("auto", "16", "32", "64", "128", "256", "512"),
                "panel": ("auto", "32", "64", "128", "256", "512", "1024"),
                "blocks": _BLOCKS,
            }
        ),
    ),
    "resize-panels": PassEntry(
        "panels.resize",
        "ResizePanelsPass",
        "larger or smaller panels for loops over rows or columns of arrays",
        changes=True,
        shrinks=True,
        options=MappingProxyType(
            {
                "columns": ("keep", "16", "32", "64", "128", "256", "512"),
                "rows": ("keep", "1", "2", "4", "8", "16", "32", "64", "128"),
            }
        ),
    ),
    "join-transfers": PassEntry(
        "loops.join",
        "JoinTransfersPass",
        "one transfer for two of neighbouring columns",
        changes=True,
    ),
    "unroll": PassEntry(
        "loops.unroll",
        "UnrollPass",
        "several iterations of innermost loops in one",
        changes=True,
        options=MappingProxyType({"factor": ("2", "3", "4", "8", "16", "full")}),
    ),
    "double-buffer": PassEntry(
        "loops.buffers",
        "DoubleBufferPass",
        "several slots for tiles that each iteration fills again",
        changes=True,
        options=MappingProxyType({"count": ("2", "3", "4")}),
    ),
    "delay-pops": PassEntry(
        "loops.delay_pops",
        "DelayPopsPass",
        "iterations push for the other kind of core before they pop its results of the iteration before",
        changes=True,
    ),
    "sums-in-place": PassEntry(
        "loops.sums",
        "SumsInPlacePass",
        "products write the accumulator that they add to",
        changes=True,
        shrinks=True,
    ),
    "repeat-sums": PassEntry(
        "loops.repeat_sums",
        "RepeatSumsPass",
        "computes sums twice that are needed after other products have added to them",
        changes=True,
        shrinks=True,
    ),
    "assign-memory": PassEntry(
        "assign_memory.assign",
        "AssignMemoryPass",
        "addresses for tiles and queue buffers without them",
        changes=True,
        options=MappingProxyType({"reuse": ("auto", "max", "safe", "none")}),
    ),
    "insert-sync": PassEntry(
        "insert_sync.insert",
        "InsertSyncPass",
        "the flags and barriers that a program without them needs",
        changes=True,
        orders=True,
        options=MappingProxyType({"style": ("flags", "events", "buf")}),
    ),
    "remove-redundant-sync": PassEntry(
        "sync_order.remove",
        "RemoveRedundantSyncPass",
        "removes flags and barriers that others imply",
        changes=True,
    ),
    "hoist-sync": PassEntry(
        "sync_order.hoist",
        "HoistSyncPass",
        "moves flags that begin and end the pipeline of a loop out of the loops around it",
        changes=True,
    ),
    "lower-cube": PassEntry(
        "lower_cube.lower", "LowerCubePass", "instructions for the tile operations of the cube core", changes=True
    ),
    "lower-vector": PassEntry(
        "lower_vector.lower",
        "LowerVectorPass",
        "vector functions for tile operations of vector cores",
        changes=True,
        options=MappingProxyType({"fuse": ("true", "false")}),
    ),
    "lower-transfers": PassEntry(
        "lower_transfers.lower",
        "LowerTransfersPass",
        "transfers for loads and stores of vector cores, and for single elements",
        changes=True,
    ),
    "to-level1": PassEntry("forms.level1", "ToLevel1Pass", "tile values for buffers", changes=True),
    "to-level2": PassEntry("forms.level2", "ToLevel2Pass", "buffers for tile values", changes=True),
    "to-assembly": PassEntry(
        "forms.assembly",
        "ToAssemblyPass",
        "the assembly form of a function of tiles",
        changes=True,
        options=MappingProxyType({"attributes": ("keep", "drop")}),
    ),
    "canonicalize": PassEntry(
        "cleanup",
        "CanonicalizePass",
        "xDSL's: removes unused operations, folds constants, simplifies loops",
        changes=True,
        shared=True,
    ),
    "cse": PassEntry("cleanup", "CsePass", "xDSL's: computes equal values once", changes=True, shared=True),
}
"""Every pass; the verify passes stand in the order in which they run."""

VERIFY_PASSES = tuple(name for name, entry in PASS_TABLE.items() if entry.module == _VERIFY)
"""Passes that only look; those that follow one another run as one walk over the module, in this order."""


class UnknownPassError(ValueError):
    """A pipeline names a pass that does not exist; ``suggestions`` are the names it may have meant."""

    def __init__(self, name: str, suggestions: list[str]) -> None:
        hint = f", did you mean {suggestions[0]}?" if suggestions else f"; passes are {', '.join(PASS_TABLE)}"
        super().__init__(f"unknown pass '{name}'{hint}")
        self.name = name
        self.suggestions = suggestions


class PassOptionError(ValueError):
    """A pipeline gives a pass an option that it does not have, or one in a way that it does not understand."""


_NESTED = re.compile(r"\s*(?:builtin\.module|any)\((.*)\)\s*")
_IN_FUNCTIONS = re.compile(r"(?P<anchor>func\.func|any)\((?P<list>[^()]*)\)")
_CALL = r"(?P<name>[^{},]*)(?:\{(?P<options>[^{}]*)\})?\s*(?:,|$)"


def parse_pipeline(text: str) -> tuple[str, ...]:
    """Returns the passes of a list such as ``assign-memory{reuse=none},insert-sync``, each with its options; empty text
    names none. ``builtin.module(..)`` around the list, as MLIR has it, is left out, and so is ``func.func(..)`` around
    passes that work on each function by itself.

    Raises :class:`UnknownPassError` and :class:`PassOptionError`.
    """
    nested = _NESTED.fullmatch(text)
    text = _IN_FUNCTIONS.sub(_in_functions, text if nested is None else nested[1])
    pattern = re.compile(_CALL)
    calls: list[str] = []
    position = 0
    while text.strip() and position <= len(text):
        match = pattern.match(text, position)
        if match is None:
            raise PassOptionError(f"options of a pass stand as name{{option=value}}, not as '{text[position:]}'")
        name, options = match["name"].strip(), match["options"]
        if name not in PASS_TABLE:
            from pto_dialect.diagnostics.suggest import did_you_mean  # deferred: start-up

            raise UnknownPassError(name, did_you_mean(name, PASS_TABLE))
        calls.append(name if options is None else f"{name}{{{_checked(name, options)}}}")
        if not match[0].endswith(","):
            break
        position = match.end()
    return tuple(calls)


def _in_functions(match: re.Match[str]) -> str:
    """Returns the list inside ``func.func(..)``; raises :class:`PassOptionError` for passes that need the whole
    module."""
    for part in match["list"].split(","):
        name = part.partition("{")[0].strip()
        if name in PASS_TABLE and not PASS_TABLE[name].shared:
            raise PassOptionError(f"{name} is a pass of modules: write builtin.module({name})")
    return match["list"]


def _checked(name: str, options: str) -> str:
    """Returns the options of a pass in one form, ``option=value`` with blanks between."""
    known = PASS_TABLE[name].options
    messages: list[str] = []
    for part in options.split():
        option, equal, value = part.partition("=")
        if option not in known:
            which = f"it has {', '.join(known)}" if known else "it has none"
            raise PassOptionError(f"{name} has no option '{option}'; {which}")
        if not equal and not known[option]:
            raise PassOptionError(f"{option} of {name} needs a value")
        if known[option] and (not equal or value not in known[option]):
            raise PassOptionError(f"{option} of {name} is {' or '.join(known[option])}, not '{value}'")
        messages.append(part)
    return " ".join(messages)


def make_pass(call: str, target: str | None) -> PtoPass:
    """Returns the pass that a part of a pipeline names, with its options."""
    name, _, options = call.rstrip("}").partition("{")
    parsed = dict(part.split("=", 1) for part in options.split())
    return pass_class(name)(target, **parsed)


def pass_class(name: str) -> type[PtoPass]:
    """Returns the class of pass ``name``; raises KeyError for an unknown one."""
    entry = PASS_TABLE[name]
    return getattr(import_module(f".{entry.module}", __package__), entry.cls)
