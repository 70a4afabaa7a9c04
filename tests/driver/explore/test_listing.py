"""What is listed of functions: directions, shapes, cores, blocks, partners."""

from __future__ import annotations

import json

from group_programs import cube, module, vector
from parse_helpers import parsed
from queue_programs import CubeToVector

from pto_dialect.driver.explore.listing import ListedFunction, as_json, as_text, list_functions

DIRECTIONS = """
func.func @help(%p: !pto.ptr<f32>, %v: f32) {
  %c0 = arith.constant 0 : index
  pto.store_scalar %v, %p[%c0] : !pto.ptr<f32>, f32
  return
}
func.func @all(%read: !pto.ptr<f32>, %written: !pto.ptr<f32>, %both: !pto.ptr<f32>, %unused: !pto.ptr<f32>,
               %view: memref<4x8xf32>, %n: i32) -> f32 attributes {pto.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = pto.addptr %read, %c1 : !pto.ptr<f32> -> !pto.ptr<f32>
  %v = pto.load_scalar %q[%c0] : !pto.ptr<f32> -> f32
  func.call @help(%written, %v) : (!pto.ptr<f32>, f32) -> ()
  func.call @help(%both, %v) : (!pto.ptr<f32>, f32) -> ()
  %w = pto.load_scalar %both[%c0] : !pto.ptr<f32> -> f32
  memref.store %w, %view[%c0, %c1] : memref<4x8xf32>
  return %w : f32
}
"""


def listed(text: str) -> dict[str, ListedFunction]:
    found, _ = parsed(text)
    return {one.name: one for one in list_functions(found, None)}


def test_directions() -> None:
    function = listed(DIRECTIONS)["all"]
    assert {one.name: one.direction for one in function.arguments} == {
        "read": "in",
        "written": "out",
        "both": "inout",
        "unused": "unused",
        "view": "out",
        "n": "in",
    }
    assert [one.shape for one in function.arguments] == [None, None, None, None, (4, 8), ()]
    assert [one.element for one in function.arguments] == ["f32"] * 5 + ["i32"]
    assert function.results == ("f32",)
    assert (function.entry, function.cores, function.blocks) == (True, ("one",), "one")


def test_values_that_are_no_memory_are_read() -> None:
    types = ("!pto.vreg<64xf32>", "!pto.vmi.vreg<128xf16>", "!pto.vmi.mask<64xpred>", "i32")
    arguments = ", ".join(f"%a{number}: {type_}" for number, type_ in enumerate(types))
    function = listed(f"func.func @f({arguments}) {{\n  return\n}}")["f"]
    assert [one.direction for one in function.arguments] == ["in"] * len(types)


PAIR = """
func.func @k_aic(%a: !pto.ptr<f32>, %slots: !pto.ptr<f32>, %out: !pto.ptr<f32>)
    attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %c0 = arith.constant 0 : index
  %v = pto.load_scalar %a[%c0] : !pto.ptr<f32> -> f32
  %buffer = pto.import_reserved_buffer {name = "fifo", peer_func = @k_aiv} -> i32
  pto.aic_initialize_pipe {id = 0, dir_mask = 1, slot_size = 1024}
    (gm_slot_buffer = %slots : !pto.ptr<f32>, c2v_consumer_buf = %buffer : i32)
  return
}
func.func @k_aiv(%a: !pto.ptr<f32>, %slots: !pto.ptr<f32>, %out: !pto.ptr<f32>)
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %v = arith.constant 1.0 : f32
  %buffer = pto.reserve_buffer {name = "fifo", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.store_scalar %v, %out[%c0] : !pto.ptr<f32>, f32
  return
}
"""


def test_functions_that_start_together_share_their_arguments() -> None:
    found = listed(PAIR)
    wanted = {"a": "in", "slots": "inout", "out": "out"}
    for name, other in (("k_aic", "k_aiv"), ("k_aiv", "k_aic")):
        assert found[name].starts_with == other
        assert {one.name: one.direction for one in found[name].arguments} == wanted


def test_stores_of_tiles_read_what_they_add_to() -> None:
    text = """
func.func @f(%x: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %v = pto.make_tensor_view %x, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !pto.partition_tensor_view<8x8xf32>
  %t = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
  pto.tstore ins(%t : !pto.tile_buf<vec, 8x8xf32>) outs(%p : !pto.partition_tensor_view<8x8xf32>){atomic}
  return
}}
"""  # noqa: E501
    (plain,) = listed(text.format(atomic="")).values()
    (adds,) = listed(text.format(atomic=" {atomicType = #pto.atomic_type<atomic_add>}")).values()
    assert (plain.arguments[0].direction, adds.arguments[0].direction) == ("out", "inout")


def test_helpers_are_called_by_others() -> None:
    function = listed(DIRECTIONS)["help"]
    assert not function.entry
    assert "called by others" in as_text([function])


def test_pairs_and_what_launchers_fill_in() -> None:
    functions = listed(CubeToVector().text())
    assert {name: (one.cores, one.starts_with) for name, one in functions.items()} == {
        "cube": (("cube", "vector"), "vector"),
        "vector": (("cube", "vector"), "cube"),
    }
    (consume,) = listed(module(vector())).values()
    assert [one.launcher for one in consume.arguments] == [None, None, "block", "subblock"]
    assert (consume.blocks, consume.target) == ("many", "a2a3")
    assert "__pypto_spmd_block_idx" in as_text([consume])
    assert "in, per-core:block" in as_text([consume])
    (produce,) = listed(module(cube())).values()
    assert produce.line == 2


def test_blocks_that_wait_for_each_other() -> None:
    barrier = "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>"
    (function,) = listed(f"func.func @f() attributes {{pto.kernel}} {{\n  {barrier}\n  return\n}}\n").values()
    assert function.blocks == "together"


def test_json_says_the_same() -> None:
    functions = list(listed(DIRECTIONS).values())
    document = json.loads(as_json("a.pto", functions))
    assert document["program"] == "a.pto"
    assert [one["name"] for one in document["functions"]] == ["help", "all"]
    assert document["functions"][1]["arguments"][4] == {
        "name": "view",
        "type": "memref<4x8xf32>",
        "direction": "out",
        "element": "f32",
        "shape": [4, 8],
        "launcher": None,
    }
