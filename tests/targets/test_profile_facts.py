"""Single facts of the profiles: memories, matrix types, layouts, synchronisation."""

from __future__ import annotations

import itertools

import pytest

from pto_dialect.ir.core.attributes import PIPE_ALIASES
from pto_dialect.ir.core.base import Pipe
from pto_dialect.targets import matmul_types, memory, vector_unit
from pto_dialect.targets.choice import get_profile
from pto_dialect.targets.profile import Profile
from pto_dialect.targets.tile_layouts import LAYOUT_NAME, c0_elements, inner_block

A2A3 = get_profile("a2a3")
A5 = get_profile("a5")
BOTH = pytest.mark.parametrize("profile", [A2A3, A5], ids=lambda profile: profile.name)


# --- memory -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("space", "a2a3", "a5"),
    [
        ("vec", 196_608, 262_144),
        ("mat", 524_288, 524_288),
        ("left", 65_536, 65_536),
        ("right", 65_536, 65_536),
        ("acc", 131_072, 262_144),
        ("bias", 1_024, 4_096),
        ("scaling", 2_048, 4_096),
        ("scale_left", 0, 4_096),
        ("scale_right", 0, 4_096),
        ("gm", None, None),
    ],
)
def test_capacity(space: str, a2a3: int | None, a5: int | None) -> None:
    assert (A2A3.capacity_of(space), A5.capacity_of(space)) == (a2a3, a5)


@BOTH
def test_pointer_names_and_locations_name_the_same_memory(profile: Profile) -> None:
    pairs = "ub=vec l1=mat l0a=left l0b=right l0c=acc bt=bias fb=scaling"
    for pair in pairs.split():
        pointer, location = pair.split("=")
        assert profile.space_aliases[location] == profile.space_aliases[pointer] == pointer
        assert profile.loc_to_space[location] == pointer
        assert profile.capacity_of(location) == profile.capacity[pointer]
    assert len(profile.loc_to_space) == 7
    assert set(profile.capacity) == set(profile.alignment) == set(memory.SPACES) == set(memory.SPACE_OWNER)
    with pytest.raises(KeyError):
        profile.capacity_of("l2")


def test_planner_limit() -> None:
    assert A5.planner_limit == {"ub": 262_144 - 8 * 1024}
    assert not A2A3.planner_limit


@BOTH
def test_alignment(profile: Profile) -> None:
    errors = {space: align.error for space, align in profile.alignment.items()}
    warnings = {space: align.warning for space, align in profile.alignment.items()}
    assert {errors[space] for space in ("ub", "l1", "l0a", "l0b", "l0c", "bt", "fb")} == {32}
    assert (warnings["l0a"], warnings["l0b"], warnings["l0c"]) == (512, 512, 1024)
    assert (errors["gm"], warnings["gm"], warnings["bt"], warnings["scale_left"]) == (1, 32, 64, 16)
    assert all(align.warning % align.error == 0 for align in profile.alignment.values())


def test_burst_units() -> None:
    for profile, bias, table in ((A2A3, 64, 128), (A5, 32, 64)):
        units = profile.burst_units
        assert (units["mte_l1_bt"].bytes, units["mte_l1_fb"].bytes) == (bias, table)
        for op in ("mte_gm_ub", "mte_ub_gm", "mte_gm_l1"):
            assert units[op] == (1, "start")
        for op in ("mte_l1_ub", "mte_ub_l1", "mte_ub_ub", "copy_cbuf_to_ubuf", "copy_ubuf_to_cbuf"):
            assert units[op] == (32, "gap")


def test_vector_register() -> None:
    assert vector_unit.VL_BYTES == 8 * vector_unit.VLANE_BYTES == vector_unit.MASK_BITS
    assert all(bits * lanes == 2048 for bits, lanes in vector_unit.LANES.items())
    assert set(vector_unit.LANES) == {8, 16, 32, 64}


# --- matrix multiplication --------------------------------------------------------------------------------

PLAIN = ["f16", "bf16", "f32"]
LOW = ["f8E4M3FN", "f8E5M2", "hif8", "f4E1M2x2", "f4E2M1x2", "f8E8M0"]


def test_matmul_types_by_enumeration() -> None:
    elems = [*PLAIN, *LOW, "i8", "i16", "i32", "f64"]
    for dst, lhs, rhs in itertools.product(elems, repeat=3):
        plain = dst == "f32" and lhs == rhs and lhs in PLAIN
        integer = (dst, lhs, rhs) == ("i32", "i8", "i8")
        fp8 = dst == "f32" and lhs.startswith(("f8E4", "f8E5")) and rhs.startswith(("f8E4", "f8E5"))
        hif8 = dst == "f32" and lhs == rhs == "hif8"
        fp4 = dst == "f32" and lhs.startswith("f4") and rhs.startswith("f4")
        assert A2A3.matmul_allowed(dst, lhs, rhs) == (plain or integer)
        assert A5.matmul_allowed(dst, lhs, rhs) == (plain or integer or fp8 or hif8)
        assert not A2A3.mx_allowed(dst, lhs, rhs)
        assert A5.mx_allowed(dst, lhs, rhs) == (fp8 or fp4)


@BOTH
def test_matmul_accepts_integers_of_any_sign(profile: Profile) -> None:
    for lhs, rhs in itertools.product(("i8", "si8", "ui8"), repeat=2):
        assert profile.matmul_allowed("i32", lhs, rhs)
        assert not profile.matmul_allowed("f32", lhs, rhs)


def test_matmul_limits() -> None:
    assert matmul_types.EXTENT_RANGE == (1, 2**12 - 1)
    assert matmul_types.MX_K_MULTIPLE == 2 * matmul_types.MX_SCALE_GROUP == 64
    assert {"f8E8M0", "i8", "ui8"} == matmul_types.MX_SCALE_TYPES


@BOTH
@pytest.mark.parametrize(
    ("lhs", "rhs", "dst", "status"),
    [
        ("f16", "f16", "f32", "documented"),
        ("bf16", "bf16", "f32", "documented"),
        ("i8", "si8", "i32", "documented"),
        ("f8E5M2", "f8E4M3FN", "f32", "documented"),
        ("hif8", "hif8", "f32", "documented"),
        ("f16", "f16", "f16", "undocumented"),
        ("f16", "f16", "i32", "undocumented"),
        ("f16", "i4", "f32", "undocumented"),
        ("f16", "ui2", "f32", "undocumented"),
        ("f16", "f8E8M0", "f32", "undocumented"),
        ("i4", "i4", "i32", "undocumented"),
        ("ui8", "ui8", "i32", "undocumented"),
        ("ui8", "i8", "i32", "undocumented"),
        ("i4", "f16", "f32", None),
        ("f16", "i2", "f32", None),
        ("f16", "ui8", "f32", None),
        ("bf16", "f16", "f32", None),
        ("bf16", "bf16", "bf16", None),
        ("i8", "i8", "f32", None),
        ("i8", "i8", "ui32", None),
        ("hif8", "f8E5M2", "f32", None),
        ("f4E1M2x2", "f4E1M2x2", "f32", None),
    ],
)
def test_mad_combinations(profile: Profile, lhs: str, rhs: str, dst: str, status: str | None) -> None:
    assert profile.mad_status(lhs, rhs, dst) == status


def test_mad_tables_are_disjoint_and_complete() -> None:
    assert not A5.mad_documented & A5.mad_undocumented
    assert (len(A5.mad_documented), len(A5.mad_undocumented), len(A5.mad_mx)) == (9, 10, 8)
    assert ("f4E1M2x2", "f4E2M1x2", "f32") in A5.mad_mx
    assert ("f8E4M3FN", "f4E2M1x2", "f32") not in A5.mad_mx


# --- layouts ----------------------------------------------------------------------------------------------


def finding(profile: Profile, loc: str, field: str, actual: str | int) -> str | None:
    for check in profile.layouts[loc].checks:
        if check.field == field:
            return check.finding(actual)
    return None


@pytest.mark.parametrize(
    ("loc", "field", "actual", "a2a3", "a5"),
    [
        ("left", "slayout", "row_major", None, None),
        ("left", "slayout", "none_box", "warning", "error"),
        ("left", "blayout", "row_major", None, None),
        ("left", "blayout", "col_major", None, None),
        ("right", "blayout", "col_major", "warning", "error"),
        ("right", "slayout", "row_major", "warning", "error"),
        ("right", "slayout", "col_major", None, None),
        ("acc", "blayout", "row_major", "warning", "error"),
        ("acc", "slayout", "none_box", "warning", "error"),
        ("acc", "fractal", 1024, None, None),
        ("acc", "fractal", 512, "info", "info"),
        ("acc", "fractal", 32, "warning", "warning"),
        ("bias", "rows", 2, "error", "error"),
        ("bias", "rows", 1, None, None),
        ("bias", "blayout", "col_major", "warning", "error"),
        ("scaling", "blayout", "col_major", "warning", "warning"),
        ("vec", "blayout", "col_major", None, None),
        ("mat", "slayout", "none_box", None, None),
    ],
)
def test_layout_severity(loc: str, field: str, actual: str | int, a2a3: str | None, a5: str | None) -> None:
    assert finding(A2A3, loc, field, actual) == a2a3
    assert finding(A5, loc, field, actual) == a5


def test_native_layouts() -> None:
    def spell(profile: Profile, loc: str) -> str:
        layout = profile.layouts[loc].native
        return f"{LAYOUT_NAME[layout.blayout, layout.slayout]}/{layout.fractal}"

    assert [spell(A2A3, loc) for loc in ("left", "right", "acc", "mat")] == [
        "ZZ/512",
        "ZN/512",
        "NZ/1024",
        "NZ/512",
    ]
    assert [spell(A5, loc) for loc in ("left", "right", "acc", "mat")] == [
        "NZ/512",
        "ZN/512",
        "NZ/1024",
        "NZ/512",
    ]
    assert spell(A5, "scaling_mx_left") == "ZZ/32"
    assert spell(A5, "scaling_mx_right") == "NN/32"
    assert "scaling_mx_left" not in A2A3.layouts
    for profile in (A2A3, A5):
        assert memory.LOC_TO_SPACE.keys() <= set(profile.layouts)
        for requirement in profile.layouts.values():
            assert requirement.usual[0] == requirement.native
            native = requirement.native._asdict()
            expected = {c.field: c.expected for c in requirement.checks if c.field in native}
            assert expected.items() <= native.items()


@pytest.mark.parametrize(
    ("fractal", "slayout", "bits", "block"),
    [
        (512, "row_major", 8, (16, 32)),
        (512, "row_major", 16, (16, 16)),
        (512, "row_major", 32, (16, 8)),
        (512, "row_major", 4, (16, 64)),
        (512, "col_major", 32, (8, 16)),
        (512, "col_major", 8, (32, 16)),
        (1024, "row_major", 32, (16, 16)),
        (32, "row_major", 8, (16, 2)),
        (32, "col_major", 8, (2, 16)),
    ],
)
def test_inner_block(fractal: int, slayout: str, bits: int, block: tuple[int, int]) -> None:
    assert inner_block(fractal, slayout, bits) == block


@pytest.mark.parametrize("bits", [4, 8, 16, 32])
def test_a_512_byte_block_holds_512_bytes(bits: int) -> None:
    rows, cols = inner_block(512, "row_major", bits)
    assert rows * cols * bits == 512 * 8
    assert c0_elements(bits) * bits == 32 * 8


def test_inner_block_refuses_other_sizes() -> None:
    with pytest.raises(KeyError):
        inner_block(16, "row_major", 16)


# --- synchronisation --------------------------------------------------------------------------------------


def test_ids() -> None:
    for profile in (A2A3, A5):
        assert profile.sync.flag_ids == (0, 7)
        assert profile.sync.ffts_ids == (0, 15) and profile.sync.ffts_modes == (0, 2)
        assert profile.sync.counter_bits == 4
        budget, one, two = (
            profile.sync.pipe_flag_budget,
            profile.sync.flags_one_way,
            profile.sync.flags_two_way,
        )
        assert (budget, one, two) == (16, 2, 4)
    assert A2A3.sync.buf_ids is None and A5.sync.buf_ids == (0, 31)
    assert A2A3.sync.aic_ids == A2A3.sync.aiv_ids == A5.sync.aiv_ids == (0, 15)
    assert A5.sync.aic_ids == (0, 31)
    offset = A5.sync.aiv1_offset
    assert offset is not None and A5.sync.aiv_ids[1] + offset == A5.sync.aic_ids[1]


def test_signal_pipes() -> None:
    five = {"PIPE_FIX", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_V"}
    assert A5.sync.set_pipes == A5.sync.wait_pipes == A5.sync.block_pipes == five
    assert A2A3.sync.set_pipes is None and A2A3.sync.wait_pipes is None
    assert A2A3.sync.block_pipes == five
    assert five < {pipe.value for pipe in Pipe} and len(Pipe) == 8
    assert PIPE_ALIASES == {"PIPE_CUBE": "PIPE_M", "PIPE_FIXP": "PIPE_FIX"}


def test_barriers_and_waits() -> None:
    assert A2A3.sync.barrier_v_orders and not A5.sync.barrier_v_orders
    assert A2A3.sync.wait_stalls_core and not A5.sync.wait_stalls_core
