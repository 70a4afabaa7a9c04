"""Near names of operations."""

import random
import time

import pytest
from groups import in_groups
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.diagnostics.suggest import did_you_mean, edit_distance

# fmt: off
NAMES = [
    "pto.alloc_tile", "pto.barrier", "pto.get_block_idx", "pto.get_block_num", "pto.mad", "pto.mad_acc",
    "pto.mad_bias", "pto.mad_mx", "pto.mad_mx_acc", "pto.mad_mx_bias", "pto.make_tensor_view",
    "pto.mte_gm_l1", "pto.mte_gm_l1_frac", "pto.mte_gm_ub", "pto.mte_l0c_gm", "pto.mte_l0c_l1",
    "pto.mte_l0c_ub", "pto.mte_l1_l0a", "pto.mte_l1_l0b", "pto.partition_view", "pto.set_flag", "pto.tabs",
    "pto.tadd", "pto.tadds", "pto.tgemv", "pto.tgemv.acc", "pto.tload", "pto.tmatmul", "pto.tmatmul.acc",
    "pto.tmatmul.bias", "pto.tmatmul.mx", "pto.tmatmul.mx.acc", "pto.tmov", "pto.tmul", "pto.tstore",
    "pto.tsub", "pto.vadd", "pto.vsub", "pto.wait_flag", "arith.addi", "arith.constant", "scf.for",
    "scf.if", "func.func", "func.return",
]
# fmt: on


@in_groups(
    ("word", "expected"),
    [
        ("pto.tmatmull", "pto.tmatmul"),
        ("pto.tmatmu", "pto.tmatmul"),
        ("pto.tmatmlu", "pto.tmatmul"),
        ("pto.matmul", "pto.tmatmul"),
        ("pto.tlaod", "pto.tload"),
        ("pto.barier", "pto.barrier"),
        ("pto.sotre", None),
        ("pto.tstroe", "pto.tstore"),
        ("pto.alloc_tiles", "pto.alloc_tile"),
        ("pto.mad_mx_bais", "pto.mad_mx_bias"),
        # Separators, case, order of the parts.
        ("pto.tmatmul_acc", "pto.tmatmul.acc"),
        ("pto.mad.acc", "pto.mad_acc"),
        ("pto.TADD", "pto.tadd"),
        ("pto.maketensorview", "pto.make_tensor_view"),
        ("pto.get-block-idx", "pto.get_block_idx"),
        ("pto.mad_bias_mx", "pto.mad_mx_bias"),
        # Dialect missing, wrong or superfluous.
        ("tmatmul", "pto.tmatmul"),
        ("tmatmul.acc", "pto.tmatmul.acc"),
        ("tmatmull", "pto.tmatmul"),
        ("ptp.tadd", "pto.tadd"),
        ("arith.const", "arith.constant"),
        # Beginning, end, superfluous suffix.
        ("pto.l0c_gm", "pto.mte_l0c_gm"),
        ("pto.tmov.foobar", "pto.tmov"),
        ("pto.partition", "pto.partition_view"),
        # Nothing near.
        ("pto.frobnicate", None),
        ("pto.zz", None),
        ("pto.", None),
        ("x", None),
        ("", None),
        ("漢字", None),
    ],
)
def test_best(word: str, expected: str | None) -> None:
    assert did_you_mean(word, NAMES) == ([] if expected is None else [expected])


def test_several_in_stable_order() -> None:
    family = ["pto.mte_l0c_gm", "pto.mte_l0c_l1", "pto.mte_l0c_ub"]
    shuffled = NAMES[:]
    random.Random(1).shuffle(shuffled)
    for names in (NAMES, shuffled, set(NAMES), iter(NAMES + NAMES)):
        assert did_you_mean("pto.mte_l0c", names, 3) == family
    assert did_you_mean("pto.mte_l0c", NAMES, 0) == []
    assert did_you_mean("pto.mte_l0c", [], 3) == []


def test_of_equally_near_names_the_shorter_comes_first() -> None:
    assert did_you_mean("pto.abc", ["pto.abcaaaaa", "pto.abczzz"], 2) == ["pto.abczzz", "pto.abcaaaaa"]


def test_superfluous_dialect() -> None:
    assert did_you_mean("pto.unit_flag", ["unit_flag", "sat", "nosat"]) == ["unit_flag"]
    assert did_you_mean("noSat", ["unit_flag", "sat", "nosat"]) == ["nosat"]


def test_exact_name_comes_first() -> None:
    assert did_you_mean("pto.mad", NAMES, 2)[0] == "pto.mad"


def test_single_typos_find_their_name() -> None:
    rng = random.Random(7)
    found = tried = 0
    for name in NAMES:
        for _ in range(20):
            letters = list(name)
            place = rng.randrange(4, len(letters) - 1)
            kind = rng.randrange(3)
            if kind == 0:
                letters[place] = rng.choice("qxyz")
            elif kind == 1:
                del letters[place]
            else:
                letters[place], letters[place + 1] = letters[place + 1], letters[place]
            word = "".join(letters)
            if word not in NAMES and len(name) >= 8:
                tried += 1
                found += name in did_you_mean(word, NAMES, 3)
    assert tried > 500
    assert found >= 0.95 * tried


def test_a_large_table_and_a_long_name_are_quick() -> None:
    names = [f"pto.{a}{b}_{c}" for a in ("mad", "mte", "tadd") for b in range(30) for c in range(10)]
    begin = time.process_time()
    assert did_you_mean("pto.mte1_l2", names)
    assert did_you_mean("q" * 1_000_000, names) == []
    assert time.process_time() - begin < 1.0


def plain_distance(a: str, b: str) -> int:
    """Adjacent-transposition distance by the textbook recurrence over prefixes, in half edits."""
    table = {(i, 0): 2 * i for i in range(len(a) + 1)} | {(0, j): 2 * j for j in range(len(b) + 1)}
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            best = [
                table[i - 1, j] + 2,
                table[i, j - 1] + 2,
                table[i - 1, j - 1] + 2 * (a[i - 1] != b[j - 1]),
            ]
            if a[max(i - 2, 0) : i] == b[max(j - 2, 0) : j][::-1] and i > 1 and j > 1:
                best.append(table[i - 2, j - 2] + 2)
            table[i, j] = min(best)
    return table[len(a), len(b)]


@given(st.text("abc", max_size=9), st.text("abc", max_size=9), st.integers(0, 10))
def test_distance_agrees_with_the_recurrence(a: str, b: str, limit: int) -> None:
    expected = plain_distance(a, b)
    got = edit_distance(a, b, limit)
    assert got == expected if expected <= limit else got > limit


@given(st.text("aA._", max_size=7), st.text("aA._", max_size=7))
def test_distance_is_symmetric(a: str, b: str) -> None:
    assert edit_distance(a, b, 99) == edit_distance(b, a, 99)


@pytest.mark.parametrize(
    ("a", "b", "cost"),
    [
        ("", "", 0),
        ("", "ab", 4),
        ("ab", "ba", 2),
        ("a_b", "a.b", 1),
        ("ab", "a.b", 1),
        ("abcd", "a_b_c_d", 3),
        ("A", "a", 1),
    ],
)
def test_costs(a: str, b: str, cost: int) -> None:
    assert edit_distance(a, b, 99) == edit_distance(a, b, cost) == edit_distance(b, a, cost) == cost
