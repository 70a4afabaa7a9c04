"""Programs with known verdicts: the program above, the verdict below. Source: docs/reference/order-proof.md,
"Verdicts"."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pto_dialect.api import parse
from pto_dialect.prove.decide import Verdict
from pto_dialect.prove.functions import verdicts
from pto_dialect.prove.report import counters, shared_bytes

PROGRAMS = Path(__file__).parent / "programs"
BLOCKS = [
    pytest.param(block, id=block.partition("\n")[0])
    for place in sorted(PROGRAMS.glob("*.txt"))
    for block in re.split(r"^## ", place.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
]
HEAD = """\
module attributes {pto.target_arch = "%s"} {
func.func @k(%%p: !P, %%q: !P, %%g: !G, %%h: !G, %%w: !pto.ptr<i64, gm>, %%n: index, %%m: index, %%b: i1) {
%s
%s
return
}
}
"""
TYPES = {
    "!P": "!pto.partition_tensor_view<16x16xf32>",
    "!T": "!pto.tile_buf<vec, 16x16xf32>",
    "!G": "!pto.ptr<f32, gm>",
    "!U": "!pto.ptr<f32, ub>",
}


def program(text: str) -> str:
    """The module of a block: names ``%cN`` are constants of type index, ``%lN`` of type i64."""
    arch = "a2a3" if text.startswith("// a2a3") else "a5"
    constants = [f"%c{one} = arith.constant {one} : index" for one in sorted(set(re.findall(r"%c(\d+)\b", text)))]
    constants += [f"%l{one} = arith.constant {one} : i64" for one in sorted(set(re.findall(r"%l(\d+)\b", text)))]
    module = HEAD % (arch, "\n".join(constants), text)
    for short, whole in TYPES.items():
        module = re.sub(rf"{short}\b", whole, module)
    return module


def shown(verdict: Verdict) -> str:
    """A verdict as the blocks have it."""
    witness = verdict.witness
    if witness is None:
        return verdict.answer.value + (f": {verdict.reason}" if verdict.reason else "")
    used = ", ".join(f"{name} = {value}" for name, value in witness.arguments.items())
    fault = witness.fault
    parts = [f"{one.statement.op.name} {counters(one)}" for one in (fault.first, fault.second) if one is not None]
    where = shared_bytes(fault)
    return f"{fault.kind}({used}): {' then '.join(parts)}" + (f" at {where[0]} {where[1]}..{where[2]}" if where else "")


@pytest.mark.parametrize("block", BLOCKS)
def test_program_has_its_verdict(block: str) -> None:
    _, text, expected = re.split(r"\n--+\n", "\n--\n" + block.partition("\n")[2], maxsplit=2)
    options = re.findall(r"^// assume (.*)$", text, re.MULTILINE)
    (verdict,) = verdicts(parse(program(text)), assumptions=options)
    assert shown(verdict) == expected.strip()


@pytest.mark.parametrize(
    ("stride", "assumed"), [("%n", ("rows of %v do not overlap",)), ("%c64", ())], ids=("argument", "constant")
)
def test_verdict_states_that_rows_are_taken_to_be_apart(stride: str, assumed: tuple[str, ...]) -> None:
    text = f"""\
%v = pto.make_tensor_view %g, shape = [%c16, %c64], strides = [{stride}, %c1] : !pto.tensor_view<?x?xf32>
%x = pto.alloc_tile addr = %l0 : !T
%a = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !P
pto.tload ins(%a : !P) outs(%x : !T)"""
    (verdict,) = verdicts(parse(program(text)))
    assert verdict.assumptions == assumed
