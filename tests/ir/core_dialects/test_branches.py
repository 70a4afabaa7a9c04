"""Where branches continue, with which values."""

from __future__ import annotations

from pto_dialect import parse
from pto_dialect.ir.core_dialects.branches import branch_edges, flag_of

PROGRAM = """\
func.func @f(%n: i32, %t: i1, %a: i32, %b: i32, %c: i32) {
  cf.br ^one(%a : i32)
^one(%x: i32):
  cf.cond_br %t, ^two(%b, %x : i32, i32), ^one(%c : i32)
^two(%y: i32, %z: i32):
  cf.switch %n : i32, [
    default: ^three,
    4: ^one(%a : i32),
    7: ^two(%b, %c : i32, i32)
  ]
^three:
  return
}
"""


def test_paths_of_branches() -> None:
    function = next(op for op in parse(PROGRAM).walk() if op.name == "func.func")
    blocks = list(function.regions[0].blocks)
    found = []
    for block in blocks:
        last = block.last_op
        assert last is not None
        flag = flag_of(last)
        if not last.successors:
            assert flag is None
            continue
        hint = None if flag is None else flag.name_hint
        found.append(
            (
                hint,
                [
                    (edge.case, blocks.index(edge.block), [v.name_hint for v in edge.values])
                    for edge in branch_edges(last)
                ],
            )
        )
    assert found == [
        (None, [(None, 1, ["a"])]),
        ("t", [(True, 2, ["b", "x"]), (None, 1, ["c"])]),
        ("n", [(4, 1, ["a"]), (7, 2, ["b", "c"]), (None, 3, [])]),
    ]
