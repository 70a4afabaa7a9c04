"""Further spellings of queues: vector to cube, handles, entries in gm, odd halves, and which kernels run together."""

from __future__ import annotations

import re

import numpy as np
import pytest
from parse_helpers import parsed
from queue_programs import ACC, CubeToVector, VectorToCube, entry_views, product, product_setup, with_handles

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions


def kernel(text: str, entry: str | None = None) -> Kernel:
    module, found = parsed(text)
    assert found == []
    return Kernel(module, entry, None, RunOptions())


def launch(text: str, entry: str | None, **given: np.ndarray) -> Kernel:
    """Runs ``entry`` on arguments by name; the slots of queues in gm are there if they are requested."""
    k = kernel(text, entry)
    given.setdefault("gm_slots", np.zeros(1 << 14, np.float32))
    k.run([given[name] for name, _ in k.arguments])
    return k


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(-9, 10, shape).astype(np.float32)


def products(a: np.ndarray, b: np.ndarray, count: int) -> np.ndarray:
    return np.stack([a @ b[16 * i : 16 * i + 16] for i in range(count)])


NZ = ", blayout=col_major, slayout=row_major"


@pytest.mark.parametrize("arch", ["a5", "a2a3"])
@pytest.mark.parametrize("split", [0, 1, 2])
@pytest.mark.parametrize("layout", ["", NZ])
def test_vector_to_cube(arch: str, split: int, layout: str) -> None:
    """The halves of both vector cores make one entry, whatever the layout of the pushed tile."""
    program = VectorToCube(arch=arch, split=split, count=6, source_layout=layout if split != 2 else "")
    given, out = numbers(6 * 32, 16), np.zeros((6 * 32, 16), np.float32)
    launch(program.text(), "cube", gm_in=given, gm_unit=np.eye(16, dtype=np.float32), gm_out=out)
    np.testing.assert_array_equal(out, given)


@pytest.mark.parametrize("split", [0, 1])
def test_entries_that_the_program_moves_itself(split: int) -> None:
    a, b, out = numbers(16, 16), numbers(4096, 16), np.zeros((6, 16, 16), np.float32)
    launch(entry_views(split), "vector", gm_a=a, gm_b=b, gm_out=out)
    np.testing.assert_array_equal(out, products(a, b, 6))


# ------------------------------------------------------------ halves


@pytest.mark.parametrize("split", [3, 4])
def test_odd_extents_give_the_first_core_more(split: int) -> None:
    """a2a3: 15 x 16 or 16 x 15 valid elements of the product; each core says how many it takes."""
    rows, cols = (15, 16) if split == 3 else (16, 15)
    program = CubeToVector(arch="a2a3", split=0, cols=16, count=2)
    text = program.text().replace("split = 0", f"split = {split}")
    text = text.replace("!pto.tile_buf<acc, 16x16xf32, ", f"!pto.tile_buf<acc, 16x16xf32, valid={rows}x{cols}, ")
    for name, (r, c) in {"left": (rows, 16), "right": (16, cols)}.items():
        text = text.replace(f"!pto.tile_buf<{name}, 16x16xf32, ", f"!pto.tile_buf<{name}, 16x16xf32, valid={r}x{c}, ")
    take = """%first = arith.cmpi eq, %who, %c0 : index
      %c8 = arith.constant 8 : index
      %c7 = arith.constant 7 : index
      %c16 = arith.constant 16 : index
      %share = arith.select %first, %c8, %c7 : index
      %offset = arith.muli %who, %c8 : index
    """
    sizes = "%share, %c16" if split == 3 else "%c16, %share"
    offsets = "%lower, %c0" if split == 3 else "%top, %offset"
    vec = "!pto.tile_buf<vec, 16x16xf32, valid=?x?>"
    part = "!pto.partition_tensor_view<?x?xf32>"
    start, end = text.index("%y = arith.addi"), text.index("pto.tfree_from_aic")
    body = f"""%lower = arith.addi %top, %offset : index
      %part = pto.partition_view %view, offsets = [{offsets}], sizes = [{sizes}] : !pto.tensor_view<?x?xf32> -> {part}
      %tile = pto.tpop_from_aic(%v_row, %v_col) {{id = 0, split = {split}}} -> {vec}
      pto.tstore ins(%tile : {vec}) outs(%part : {part})
      """.replace("%v_row, %v_col", sizes)
    text = text[:start] + take + body + text[end:]
    a, b, out = numbers(16, 16), numbers(4096, 16), np.full((4096, 32), 77, np.float32)
    launch(text, "cube", gm_a=a, gm_b=b, gm_out=out)
    expected = np.full(out.shape, 77, np.float32)
    for i, entry in enumerate(products(a, b, 2)):
        expected[16 * i : 16 * i + rows, :cols] = entry[:rows, :cols]
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("arch", ["a5", "a2a3"])
@pytest.mark.parametrize("flags", ["", "flag_base = 4"])
@pytest.mark.parametrize("split", [1, 2])
def test_queue_handles(arch: str, flags: str, split: int) -> None:
    text = with_handles(CubeToVector(arch=arch, split=split, slots=2), flags)
    assert "id = 0" not in text
    a, b, out = numbers(16, 16), numbers(4096, 32), np.zeros((4096, 64), np.float32)
    launch(text, "cube", gm_a=a, gm_b=b, gm_out=out)
    np.testing.assert_array_equal(out[:48, :32].reshape(3, 16, 32), products(a, b, 3))


def test_a_handle_before_its_first_pop_is_a_fault() -> None:
    text = with_handles(CubeToVector(), "")
    pop = text[text.index("pto.tpop(") :].partition("\n")[0]
    with pytest.raises(ProgramError) as caught:
        launch(text.replace(pop, ""), "cube", gm_a=numbers(16, 16), gm_b=numbers(4096, 32), gm_out=numbers(4096, 64))
    assert caught.value.rule == "pipe-slot"
    assert caught.value.message == "no entry was popped or allocated for this handle"


@pytest.mark.parametrize("arch", ["a5", "a2a3"])
def test_a_core_may_name_the_half_it_takes(arch: str) -> None:
    """Halves lie in the memory of their core on a5, so only entries in gm can be exchanged."""
    pop = "%tile = pto.tpop_from_aic {id = 0, split = 1}"
    other = "%one = arith.constant 1 : i64\n%other = arith.subi %one, %who_i : i64\n"
    text = CubeToVector(arch=arch).text().replace(pop, f"{other}{pop} aiv_subblockid(%other)")
    a, b, out = numbers(16, 16), numbers(4096, 32), np.zeros((4096, 64), np.float32)
    launch(text, "cube", gm_a=a, gm_b=b, gm_out=out)
    expected = products(a, b, 3)
    if arch == "a2a3":
        expected = np.concatenate([expected[:, 8:], expected[:, :8]], axis=1)
    np.testing.assert_array_equal(out[:48, :32].reshape(3, 16, 32), expected)


def test_both_directions_of_one_queue() -> None:
    """The vector cores push halves, the cube core pushes the product back, each in its own ring of slots."""
    for arch in ("a5", "a2a3"):
        text = round_trip(arch)
        given, out = numbers(5 * 32, 16), np.zeros((5 * 32, 16), np.float32)
        launch(text, "cube", gm_in=given, gm_unit=2 * np.eye(16, dtype=np.float32), gm_out=out)
        np.testing.assert_array_equal(out, 2 * given)


def round_trip(arch: str) -> str:
    text = VectorToCube(arch=arch, count=5, slots=2).text().replace("dir_mask = 2", "dir_mask = 3")
    acc = "!pto.tile_buf<acc, 32x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
    store = text[text.index("pto.tstore ins(%acc") :].partition("\n")[0]
    text = text.replace(store, f"pto.tpush_to_aiv(%acc : {acc}) {{id = 3, split = 1}}")
    back = """%back = pto.reserve_buffer {name = "back", size = 4096, location = #pto.address_space<vec>,
      auto = true} -> i32
    pto.aiv_initialize_pipe"""
    text = text.replace("pto.aiv_initialize_pipe", back).replace("c2v_consumer_buf = %zero", "c2v_consumer_buf = %back")
    there = """%back = pto.import_reserved_buffer {name = "back", peer_func = @vector} -> i32
    pto.aic_initialize_pipe"""
    text = text.replace("pto.aic_initialize_pipe", there)
    vec, part = "!pto.tile_buf<vec, 16x16xf32>", "!pto.partition_tensor_view<16x16xf32>"
    push = "pto.tpush_to_aic(%tile : !pto.tile_buf<vec, 16x16xf32>) {id = 3, split = 1}"
    pop = f"""{push}
      %got = pto.tpop_from_aic {{id = 3, split = 1}} -> {vec}
      %to = pto.partition_view %out_view, offsets = [%y, %c0], sizes = [%rows, %cols]
        : !pto.tensor_view<?x?xf32> -> {part}
      pto.tstore ins(%got : {vec}) outs(%to : {part})
      pto.tfree_from_aic {{id = 3, split = 1}}"""
    text = text.replace(push, pop)
    view = "%view = pto.make_tensor_view %gm_in"
    own = """%out_view = pto.make_tensor_view %gm_out, shape = [%all, %width], strides = [%width, %c1]
      : !pto.tensor_view<?x?xf32>
    """
    text = text.replace(view, own + view, 1)
    return text.replace("@vector(%gm_in: !pto.ptr<f32>,", "@vector(%gm_in: !pto.ptr<f32>, %gm_out: !pto.ptr<f32>,")


# ------------------------------------------------------------ which kernels run together


def result(text: str, entry: str | None) -> tuple[Kernel, np.ndarray]:
    a, b, out = numbers(16, 16), numbers(4096, 32), np.zeros((4096, 64), np.float32)
    k = launch(text, entry, gm_a=a, gm_b=b, gm_out=out)
    np.testing.assert_array_equal(out[:48, :32].reshape(3, 16, 32), products(a, b, 3))
    return k, out


@pytest.mark.parametrize(
    ("entry", "arguments"),
    [
        ("cube", ["gm_a", "gm_b", "gm_slots", "gm_out"]),
        ("vector", ["gm_out", "gm_slots", "gm_a", "gm_b"]),
        (None, ["gm_a", "gm_b", "gm_slots", "gm_out"]),
    ],
)
def test_either_kernel_starts_the_pair(entry: str | None, arguments: list[str]) -> None:
    k, _ = result(CubeToVector().text(), entry)
    assert [name for name, _ in k.arguments] == arguments


WRAPPER = """
  func.func @both(%gm_a: !pto.ptr<f32>, %gm_b: !pto.ptr<f32>, %gm_out: !pto.ptr<f32>, %gm_slots: !pto.ptr<f32>)
      attributes {pto.entry} {
    func.call @cube(%gm_a, %gm_b, %gm_slots) : (!pto.ptr<f32>, !pto.ptr<f32>, !pto.ptr<f32>) -> ()
    func.call @vector(%gm_out, %gm_slots) : (!pto.ptr<f32>, !pto.ptr<f32>) -> ()
    return
  }
}
"""


def test_a_function_that_calls_both_kernels() -> None:
    text = CubeToVector().text()
    k, _ = result(text[: text.rindex("}")] + WRAPPER, None)
    assert k.entry == "both" and k.kinds == ("aic", "aiv")


SECTIONS = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%gm_a: !pto.ptr<f32>, %gm_b: !pto.ptr<f32>, %gm_out: !pto.ptr<f32>) attributes {pto.kernel} {
    SETUP
    %fifo = pto.reserve_buffer {name = "fifo", size = 4096, location = #pto.address_space<vec>, auto = true} -> i32
    %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 2048, slot_num = 2}(%fifo : i32) -> !pto.pipe
    %n = arith.constant 3 : index
    pto.section.cube {
      scf.for %i = %c0 to %n step %c1 {
        PRODUCT
        pto.tpush(%acc, %pipe : ACC, !pto.pipe) {split = 1}
      }
    }
    pto.section.vector {
      %who_i = pto.get_subblock_idx
      %who = arith.index_cast %who_i : i64 to index
      %c8 = arith.constant 8 : index
      %down = arith.muli %who, %c8 : index
      %view = pto.make_tensor_view %gm_out, shape = [%many, %cols], strides = [%cols, %c1] : !pto.tensor_view<?x?xf32>
      %tile = pto.declare_tile -> !pto.tile_buf<vec, 8x32xf32>
      scf.for %i = %c0 to %n step %c1 {
        %top = arith.muli %i, %c16 : index
        %y = arith.addi %top, %down : index
        %part = pto.partition_view %view, offsets = [%y, %c0], sizes = [%c8, %cols]
          : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x32xf32>
        pto.tpop(%tile, %pipe : !pto.tile_buf<vec, 8x32xf32>, !pto.pipe) {split = 1}
        pto.tstore ins(%tile : !pto.tile_buf<vec, 8x32xf32>) outs(%part : !pto.partition_tensor_view<8x32xf32>)
        pto.tfree(%pipe : !pto.pipe) {split = 1}
      }
    }
    return
  }
}
"""


def test_a_queue_between_the_sections_of_one_kernel() -> None:
    acc = ACC.format(r=16, c=32, valid="")
    text = SECTIONS.replace("SETUP", product_setup(16, 32)).replace("PRODUCT", product(16, 32)).replace("ACC", acc)
    a, b, out = numbers(16, 16), numbers(4096, 32), np.zeros((4096, 32), np.float32)
    k = launch(text, None, gm_a=a, gm_b=b, gm_out=out)
    assert k.kinds == ("aic", "aiv")
    np.testing.assert_array_equal(out[:48].reshape(3, 16, 32), products(a, b, 3))


def test_kernels_of_one_name_in_sibling_modules() -> None:
    """Queues on a2a3 need no buffer of the other kernel when entries are views, so nothing else connects the two."""
    text = entry_views(1)
    cube, vector = (text[text.index(f"func.func @{name}") :] for name in ("cube", "vector"))
    cube = cube[: cube.index("func.func @vector")]
    vector = vector[: vector.rindex("}")]
    kinds = [f"attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}}" for kind in ("cube", "vector")]
    parts = [
        f"module {kind} {{\n{part.replace(kind, '').replace(f'@{name}', '@kernel')}\n}}"
        for kind, part, name in zip(kinds, (cube, vector), ("cube", "vector"), strict=True)
    ]
    joined = 'module attributes {pto.target_arch = "a2a3"} {\n' + "\n".join(parts) + "\n}"
    a, b, out = numbers(16, 16), numbers(4096, 16), np.zeros((6, 16, 16), np.float32)
    k = launch(joined, None, gm_a=a, gm_b=b, gm_out=out)
    assert k.kinds == ("aic", "aiv")
    np.testing.assert_array_equal(out, products(a, b, 6))


def test_arguments_of_a_pair() -> None:
    """By name; kernels of the same types that have no name in common take the same arguments."""
    vector = "@vector(%gm_out: !pto.ptr<f32>, %gm_slots: !pto.ptr<f32>)"
    for signature, names in (
        ("%gm_out: !pto.ptr<f32>", ["gm_a", "gm_b", "gm_slots", "gm_out"]),
        ("%p: !pto.ptr<f32>, %q: !pto.ptr<f32>, %gm_out: !pto.ptr<f32>", ["gm_a", "gm_b", "gm_slots"]),
        ("%gm_b: i32, %gm_out: !pto.ptr<f32>", ["gm_a", "gm_b", "gm_slots", "vector.gm_b", "gm_out"]),
        ("%gm_b: !pto.ptr<f32>, %gm_out: !pto.ptr<f32>, %p: i32", ["gm_a", "gm_b", "gm_slots", "gm_out", "p"]),
    ):
        k = kernel(CubeToVector().text().replace(vector, f"@vector({signature})"), "cube")
        assert [name for name, _ in k.arguments] == names


def test_several_peers_are_refused() -> None:
    text = CubeToVector().text()
    vector = text[text.index("func.func @vector") : text.rindex("}")]
    second = text[: text.rindex("}")] + vector.replace("@vector", "@other") + "}\n"
    end = "    return\n  }\n  func.func @vector"
    also = '    %o = pto.import_reserved_buffer {name = "fifo", peer_func = @other} -> i32\n'
    second = second.replace(end, also + end, 1)
    with pytest.raises(ProgramError) as caught:
        kernel(second, "cube")
    assert caught.value.rule == "entry-single"
    assert "@vector, @other" in caught.value.message


def test_a_kernel_without_a_peer_waits_for_ever() -> None:
    """The cube kernel alone can fill all slots, and no more."""
    text = CubeToVector(count=9, slots=8).text()
    alone = text[: text.index("  func.func @vector")] + "}\n"
    alone = re.sub(r"%fifo = pto.import_reserved_buffer.*", "%fifo = arith.constant 0 : i32", alone)
    with pytest.raises(ProgramError) as caught:
        launch(alone, "cube", gm_a=numbers(16, 16), gm_b=numbers(4096, 32))
    assert caught.value.rule == "sync-deadlock"


def test_an_import_from_a_function_that_reserves_nothing() -> None:
    text = CubeToVector().text().replace('reserve_buffer {name = "fifo"', 'reserve_buffer {name = "another"')
    with pytest.raises(ProgramError) as caught:
        kernel(text, "cube")
    assert caught.value.rule == "reserve-form"


def test_queues_of_opposite_directions_make_two_pairs() -> None:
    """Kernels of one module may use one number twice, for a queue to the vector cores and one from them."""
    tensor, view = "!pto.tensor_view<16x16xf32>", "!pto.tensor_view<16x16xf32>"
    head = f"""
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %slots = pto.make_tensor_view %gm, shape = [%c16, %c16], strides = [%c16, %c1] : {tensor}"""
    kinds = {"aic": "cube", "aiv": "vector"}
    functions = []
    for mask, source, target in ((1, "aic", "aiv"), (2, "aiv", "aic")):
        for core in (source, target):
            moves = (
                f"%e = pto.talloc_to_{target} {{id = 0, split = 0}} -> {view}\n"
                f"    pto.tpush_to_{target}(%e : {view}) {{id = 0, split = 0}}"
                if core == source
                else f"%e = pto.tpop_from_{source} {{id = 0, split = 0}} -> {view}\n"
                f"    pto.tfree_from_{source}(%e : {view}) {{id = 0, split = 0}}"
            )
            functions.append(f"""
  func.func @{core}_{mask}(%gm: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<{kinds[core]}>}} {{{head}
    pto.{core}_initialize_pipe {{id = 0, dir_mask = {mask}, slot_size = 1024}} (gm_slot_tensor = %slots : {tensor})
    {moves}
    return
  }}""")
    module = 'module attributes {pto.target_arch = "a5"} {' + "".join(functions) + "\n}\n"
    for name in ("aic_1", "aiv_1", "aic_2", "aiv_2"):
        k = kernel(module, name)
        assert k.kinds == ("aic", "aiv"), name
        k.run([np.zeros(256, np.float32)])
