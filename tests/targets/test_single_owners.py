"""Facts of the chips are in one table; what other subpackages derive from it is what the reference says."""

from pto_dialect.analysis.type_facts import space_of
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core_dialects.words import CMPF, CMPI
from pto_dialect.sanitize.state.clocks import PIPES
from pto_dialect.syntax.types.parser import parse_type
from pto_dialect.targets import rounding, work_items
from pto_dialect.targets.memory import tile_space


def test_numbered_spaces_of_memrefs() -> None:
    spaces = [space_of(parse_type(f"memref<16xf32, {number}>")) for number in range(10)]
    assert spaces == ["gm", "gm", "l1", "l0a", "l0b", "l0c", "ub", "bt", "fb", None]


def test_rounding_letters_and_keywords() -> None:
    assert [letter.lower() for letter in rounding.ROUNDING_LETTERS] == list(ENUMS["rounding"].values)
    words = {word.removeprefix("CAST_") for word in ENUMS["round_mode"].values}
    assert set(rounding.ROUND_MODE_LETTERS) == words
    assert set(rounding.ROUND_MODE_LETTERS.values()) == set(rounding.ROUNDING_LETTERS) - {"H"}


def test_pipes_that_are_instrumented() -> None:
    assert PIPES == ("PIPE_S", "PIPE_V", "PIPE_M", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_FIX")


def test_limits_of_work_items() -> None:
    assert (work_items.MAX_WORK_ITEMS, work_items.MAX_REGISTERS, work_items.GROUP_ITEMS) == (2048, 128, 32)


def test_predicates_of_comparisons() -> None:
    assert (CMPI.index("slt"), CMPI.index("uge"), len(CMPI)) == (2, 9, 10)
    assert (CMPF.index("oeq"), CMPF.index("une"), len(CMPF)) == (1, 13, 16)


def test_memories_of_tiles_with_scales() -> None:
    found = [
        tile_space("scaling", blayout, fractal, arch)
        for arch in ("a5", "a2a3")
        for fractal in (32, 512)
        for blayout in ("row_major", "col_major")
    ]
    assert found == ["scale_left", "scale_right", *["fb"] * 6]
    assert tile_space("mat", "col_major", 32, "a5") == "l1"
