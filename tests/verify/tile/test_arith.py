"""Relations of tile arithmetic against a matrix written out again, and against plain formulas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from groups import each, in_groups
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, f16, f32, i8, i16, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.ir.core.base import op_spec, segment_sizes, signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.kinds import TILE_OR_VIEW
from pto_dialect.ir.core.registry import op_class
from pto_dialect.ir.core.types import DYNAMIC, TileBufType
from pto_dialect.verify.tile.relation_table import OPERATIONS, RELATIONS
from pto_dialect.verify.verifier import verify_module

FAMILIES = ("tile_elementwise", "tile_scalar", "tile_expand", "tile_reduce", "tile_partial", "tile_irregular")

# docs/reference/constraints.md, "Tile arithmetic": ops | same dtype | valid rows | valid cols | loc vec | row_major |
# tmp dtype E error, W warning, "E/W" error on a2a3 and warning on a5, "-" nothing; rows that need prose have lit tests.
MATRIX = """
tabs texp tlog tsqrt trsqrt trecip trelu tnot tshrs taxpy | E | E | E | E | E | -
tneg | E | E/W | E | E | W | -
tadd tsub tmul tdiv tmax tmin tand tor tshl tshr tfmod tfmods tands tors trowexpandadd | E | E | E | W | E | -
tadds tsubs tmuls tmins tmaxs tdivs tlrelu | E | E | E | E | W | -
tshls | E | W | W | W | W | -
txor | E | E | E | W | E | E/W
txors | E | E | E | W | E | E/W
trem | E | E | E | W | E | E/W
trems | E | E | E | W | E | E
tsel | E | W | W | W | E | -
tsels | E | E | E | W | E | -
tcolexpand | E | - | E | E | E | -
trowexpand | E | E | - | E | E | -
tcolexpandadd tcolexpandsub tcolexpandmul tcolexpanddiv | W | E | E | W | E | -
tcolexpandmax tcolexpandmin tcolexpandexpdif | W | E | E | W | E | -
trowexpandsub trowexpandmul trowexpanddiv | E | W | W | W | E | -
trowsum trowmax trowmin trowprod | E | E | E | E | E | -
tconcat | E | E | - | E | W/E | -
"""
PROPERTIES = ("tile-same-dtype", "tile-valid-rows", "tile-valid-cols", "tile-loc-vec", "tile-row-major")
SEVERITIES = {"E": Severity.ERROR, "W": Severity.WARNING, "-": None}

INTEGER_OPS = {"tnot", "tshrs", "tand", "tor", "tshl", "tshr", "txor", "tands", "tors", "txors", "tshls"}
TILE = TileBufType("vec", 16, 32, f32)


class Case(NamedTuple):
    """One cell of the matrix."""

    op: str
    rule: str
    target: str
    severity: Severity | None


def cases() -> Iterator[Case]:
    for line in MATRIX.strip().splitlines():
        ops, *cells = (part.strip() for part in line.split("|"))
        for op in ops.split():
            for rule, cell in zip((*PROPERTIES, "tile-tmp-dtype"), cells, strict=True):
                a2a3, _, a5 = cell.partition("/")
                yield Case(op, rule, "a2a3", SEVERITIES[a2a3])
                yield Case(op, rule, "a5", SEVERITIES[a5 or a2a3])


def good_types(op: str) -> dict[str, Attribute]:
    """Operand types that satisfy the operation on both targets."""
    element = i16 if op in INTEGER_OPS else f32
    tile = TILE.replace(element=element)
    types: dict[str, Attribute] = {}
    for slot in signature(op_class("pto." + op)).operands:
        if slot.name in ("scalar", "slope"):
            types[slot.name] = element
        elif slot.name == "mask":
            types[slot.name] = TileBufType("vec", 16, 32, i8)
        elif slot.name != "tmp" or op in ("txor", "txors", "trem", "trems"):
            types[slot.name] = tile
    if op.startswith("trowexpand") and "src1" in types:
        types["src1"] = TileBufType("vec", 16, 1, element, blayout="col_major")
    elif op.startswith("tcolexpand"):
        types["src1" if "src1" in types else "src"] = TileBufType("vec", 1, 32, element)
    elif op.startswith("trow") and op != "trowexpand":
        types["dst"] = TileBufType("vec", 16, 8, element, valid=(16, 1))
    elif op == "tconcat":
        types["dst"] = TileBufType("vec", 16, 64, element)
    return types


def broken_types(op: str, rule: str) -> dict[str, Attribute]:
    """The same with one property of the destination (or the scratch tile) changed."""
    types = good_types(op)
    name = "tmp" if rule == "tile-tmp-dtype" else "dst"
    tile = types.get(name)
    if not isinstance(tile, TileBufType):
        return types
    other = i32 if op in INTEGER_OPS else f16
    half_rows, half_cols = (
        (tile.valid_rows // 2, tile.valid_cols),
        (tile.valid_rows, max(2, tile.valid_cols // 2)),
    )
    types[name] = {
        "tile-same-dtype": tile.replace(element=other),
        "tile-tmp-dtype": tile.replace(element=other),
        "tile-valid-rows": tile.replace(valid=half_rows),
        "tile-valid-cols": tile.replace(valid=half_cols),
        "tile-loc-vec": tile.replace(loc="mat"),
        "tile-row-major": tile.replace(blayout="col_major"),
    }[rule]
    return types


def findings(op: str, types: dict[str, Attribute], target: str | None) -> dict[str, Severity]:
    """Rule ids that verifying one operation reports, each with its highest severity."""
    cls = op_class("pto." + op)
    slots = signature(cls).operands
    block = Block(arg_types=[types[s.name] for s in slots if s.name in types])
    attributes: dict[str, Attribute] = {}
    if signature(cls).segmented:
        attributes["operandSegmentSizes"] = segment_sizes(tuple(int(s.name in types) for s in slots))
    block.add_op(cls.create(operands=list(block.args), attributes=attributes))
    block.add_op(ReturnOp())
    function = FuncOp("f", FunctionType.from_lists([a.type for a in block.args], []), Region(block))
    module = ModuleOp([function])
    if target is not None:
        module.attributes["pto.target_arch"] = StringAttr(target)
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    verify_module(module, engine)
    found: dict[str, Severity] = {}
    for diagnostic in engine.diagnostics:
        found[diagnostic.rule] = max(diagnostic.severity, found.get(diagnostic.rule, Severity.INFO))
    return found


@each("case", cases(), lambda case: case.op)
def test_matrix(case: Case) -> None:
    assert findings(case.op, broken_types(case.op, case.rule), case.target).get(case.rule) is case.severity


@pytest.mark.parametrize("op", sorted({case.op for case in cases()}))
@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_unbroken_operations_of_the_matrix_are_accepted(op: str, target: str) -> None:
    assert findings(op, good_types(op), target) == {}


@pytest.mark.parametrize("op", ["tneg", "txor", "tconcat", "tadd"])
@in_groups("rule", PROPERTIES)
def test_without_a_named_target_an_error_needs_both(op: str, rule: str) -> None:
    both = {case.target: case.severity for case in cases() if (case.op, case.rule) == (op, rule)}
    expected = both["a2a3"]
    if expected is Severity.ERROR and both["a5"] is not Severity.ERROR:
        expected = Severity.WARNING
    assert findings(op, broken_types(op, rule), None).get(rule) is expected


def test_rows_name_declared_operands() -> None:
    wrong: list[str] = []
    for key, relations in RELATIONS.items():
        cls = op_class("pto." + key.partition("[")[0])
        declared = {slot.name for slot in signature(cls).operands}
        for clause in (clause for field in relations for clause in field):
            names = {part for name in clause.names for part in name.partition("=")[0].split(":")}
            names -= {"src", "src0", "src1", "src2", "base", "exp", "dst", "i8", "i32"}
            wrong += [f"{key}: {name}" for name in names - declared]
    assert wrong == []


# Operations whose operands are related by rules of their own.
OTHERS = ("tmrgsort", "thistogram")
WITHOUT_ROW = frozenset("pto." + op for op in OTHERS)


def test_every_operation_has_a_row_or_rules_of_its_own() -> None:
    missing = {
        name
        for name, (family, _, _) in OPS.items()
        if family in FAMILIES and name not in OPERATIONS and name not in WITHOUT_ROW
    }
    assert missing == set()
    assert WITHOUT_ROW.isdisjoint(OPERATIONS)


def test_every_tile_input_of_a_matrix_row_is_related_to_something() -> None:
    """A data operand that no clause names is free."""
    free: list[str] = []
    for key, relations in RELATIONS.items():
        name = key.partition("[")[0]
        cls = op_class("pto." + name)
        named = {n.partition("=")[0].partition(":")[0] for field in relations for c in field for n in c.names}
        for slot in signature(cls).operands:
            data = slot.kind is TILE_OR_VIEW and slot.name not in op_spec(cls).outs
            if data and slot.name in ("src", "src0", "src1") and slot.name not in named:
                free.append(f"{key}: {slot.name}")
    assert free == []


def tiles(element: Attribute = f32) -> st.SearchStrategy[TileBufType]:
    """Row-major vec tiles with any static or dynamic valid region."""
    size = st.sampled_from((8, 16, 32))

    def with_valid(shape: tuple[int, int]) -> st.SearchStrategy[TileBufType]:
        valid = st.tuples(*(st.sampled_from((DYNAMIC, 1, limit // 2, limit)) for limit in shape))
        return valid.map(lambda v: TileBufType("vec", shape[0], shape[1], element, valid=v))

    return st.tuples(size, size).flatmap(with_valid)


def agree(*counts: int) -> bool:
    return len({count for count in counts if count != DYNAMIC}) <= 1


@given(tiles(), tiles(), tiles())
def test_addition_needs_equal_static_regions(a: TileBufType, b: TileBufType, d: TileBufType) -> None:
    expected = set()
    if not agree(a.valid_rows, b.valid_rows, d.valid_rows):
        expected.add("tile-valid-rows")
    if not agree(a.valid_cols, b.valid_cols, d.valid_cols):
        expected.add("tile-valid-cols")
    assert set(findings("tadd", {"src0": a, "src1": b, "dst": d}, "a5")) == expected


@given(tiles(), tiles(), tiles())
def test_partial_addition_needs_sources_inside_and_one_that_fills(
    a: TileBufType, b: TileBufType, d: TileBufType
) -> None:
    def inside(x: TileBufType) -> bool:
        pairs = ((x.valid_rows, d.valid_rows), (x.valid_cols, d.valid_cols))
        return all(DYNAMIC in pair or pair[0] <= pair[1] for pair in pairs)

    def fills(x: TileBufType) -> bool:
        return agree(x.valid_rows, d.valid_rows) and agree(x.valid_cols, d.valid_cols)

    expected = inside(a) and inside(b) and (fills(a) or fills(b))
    found = findings("tpartadd", {"src0": a, "src1": b, "dst": d}, "a2a3")
    assert (found == {}) is expected
    assert set(found) <= {"part-valid"}


@given(tiles(), tiles(), st.sampled_from(("row_major", "col_major")))
def test_broadcast_vector_has_one_value_for_each_row(full: TileBufType, vector: TileBufType, order: str) -> None:
    vector = vector.replace(blayout=order)
    columns = 1 if order == "col_major" else 8  # 32 bytes of f32
    good = agree(vector.valid_rows, full.valid_rows) and agree(vector.valid_cols, columns)
    found = findings("trowexpandadd", {"src0": full, "src1": vector, "dst": full}, "a5")
    assert ("rowexpand-vector" not in found) is good


def test_repeated_statements_share_their_findings_across_programs() -> None:
    types = broken_types("tadd", "tile-valid-rows")
    assert findings("tadd", types, "a5") == findings("tadd", types, "a5") == {"tile-valid-rows": Severity.ERROR}
