"""Words inside of types and in RUN lines, hover for core operations, and whole statements."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pygls", reason="the language server is an extra")

from pto_dialect.ir.core.index import OPS
from pto_dialect.lsp.hover import core_operation_text
from pto_dialect.lsp.program.document import Document
from pto_dialect.lsp.program.statement import Statement
from pto_dialect.lsp.statements import shares
from pto_dialect.lsp.statements.contexts import (
    CONTEXTS,
    LATER,
    PARAMETER,
    REMARKED,
    VALUE,
    WORD,
    Counts,
    Program,
    contents,
    count,
    terms_here,
)
from pto_dialect.lsp.statements.features import FEATURES, Here, features
from pto_dialect.lsp.statements.fresh import text_before, title_of
from pto_dialect.lsp.statements.history import History, Written, history_of, statements_of
from pto_dialect.lsp.statements.names import INDEX, NAMES, absent, possible
from pto_dialect.lsp.statements.network import Network, usual_network
from pto_dialect.lsp.statements.scope import Typed, values_before
from pto_dialect.lsp.statements.shares import rows, shares_of, usual_shares
from pto_dialect.lsp.statements.snippets import plain, statement
from pto_dialect.lsp.statements.usual import ranking
from pto_dialect.lsp.statements.words import (
    ATTRIBUTES,
    RUN_COMMANDS,
    RUN_OPTIONS,
    frame_words,
    run_line_items,
    tile_words,
)
from pto_dialect.passes.registry import PASS_TABLE
from pto_dialect.syntax.types.parser import parse_type
from pto_dialect.verify.engine.unread_attributes import KNOWN_ATTRIBUTES
from tools.pto_opt import main as pto_opt

TILE = parse_type("!pto.tile_buf<vec, 8x32xf32>")
SCOPE = [Typed("%b", TILE), Typed("%a", TILE), Typed("%n", parse_type("index"))]


def inside(text: str) -> list[str]:
    found = tile_words(text, len(text))
    return ["outside"] if found is None else [item.label for item in found]


def test_keys_of_a_tile_come_in_their_order() -> None:
    assert inside("%t = pto.alloc_tile : !pto.tile_buf<")[:2] == ["vec", "mat"]
    assert inside(": !pto.tile_buf<loc=vec, dtype=f32, ")[:2] == ["rows", "cols"]
    assert inside(": !pto.tile_buf<vec, 16x16xf32, blayout=") == ["row_major", "col_major"]
    assert inside(": !pto.tile_buf<loc=") == ["vec", "mat", "left", "right", "acc", "bias", "scaling"]
    assert inside(": !pto.tile_buf<vec, 16x16xf32>, ") == ["outside"]


def in_run_line(text: str) -> list[str]:
    return [item.label for item in run_line_items(text, len(text))]


def test_passes_in_run_lines() -> None:
    assert in_run_line("// RUN: pto-opt %s -p ") == list(PASS_TABLE)
    assert in_run_line("// RUN: pto-opt %s -p assign-memory,") == list(PASS_TABLE)
    assert in_run_line("// RUN: pto-opt %s -p assign-memory{") == ["reuse"]
    assert in_run_line("// RUN: pto-opt %s -p cse,assign-memory{reuse=") == ["auto", "max", "safe", "none"]
    assert "memory" in in_run_line("// RUN: pto-opt %s --lower=")
    assert in_run_line("// a comment -p ") == []


def test_commands_and_options_in_run_lines() -> None:
    assert in_run_line("// RUN: ") == list(RUN_COMMANDS)
    assert "--split-input-file" in in_run_line("// RUN: pto-opt %s --sp")
    assert in_run_line("// RUN: pto-opt ") == []


def test_commands_have_the_options_of_run_lines() -> None:
    known = {option for parameter in pto_opt.params for option in parameter.opts}
    assert {name.rstrip(" =") for name in RUN_OPTIONS} <= known


def in_frame(text: str) -> list[str]:
    found = frame_words(text, len(text))
    return ["outside"] if found is None else [item.label for item in found]


def test_attributes_of_modules_and_functions() -> None:
    assert in_frame("module attributes {") == ["pto.target_arch", "pto.kernel_kind", "pto.backend"]
    assert in_frame('module attributes {pto.target_arch = "a5", ') == ["pto.kernel_kind", "pto.backend"]
    assert "#pto.kernel_kind<vector>" in in_frame("func.func @f() attributes {pto.kernel_kind = ")
    assert in_frame("arith.addi {") == ["outside"]
    assert all(name in KNOWN_ATTRIBUTES for names in ATTRIBUTES.values() for name in names)


def test_a_statement_uses_what_is_in_scope() -> None:
    text = statement("pto.tadd", SCOPE, False)
    assert text is not None and plain(text) == (
        "pto.tadd ins(%b, %a : !pto.tile_buf<vec, 8x32xf32>, !pto.tile_buf<vec, 8x32xf32>) "
        "outs(%b : !pto.tile_buf<vec, 8x32xf32>)"
    )
    loop = statement("scf.for", SCOPE, False)
    assert loop == "scf.for ${1:%i} = ${2:%n} to ${3:%n} step ${4:%n} {\n  $0\n\\}"
    assert plain(loop) == "scf.for %i = %n to %n step %n {\n  \n}"
    assert statement("arith.addi", SCOPE, True) == "arith.addi ${1:%n}, ${2:%n} : index"


def test_most_operations_have_a_whole_statement() -> None:
    whole = [name for name in OPS if statement(name, SCOPE, False) is not None]
    assert len(whole) > 500


def test_names_do_not_hide_others() -> None:
    taken = [Typed("%lhs", parse_type("f32"))]
    text = statement("pto.vadd", taken, False)
    assert text is not None and "%lhs," not in plain(text)


def test_what_follows_here_counts_more_than_elsewhere() -> None:
    line = "pto.barrier <PIPE_ALL>\n%x = arith.xori %a, %a : i64\n"
    scores = ranking(line * 4 + "pto.barrier <PIPE_ALL>\n")
    assert max(scores, key=scores.__getitem__) == "arith.xori"
    names = [one.name for one in statements_of("scf.for %i = %a to %b step %c {\n  return\n}")]
    assert names == ["scf.for", "{", "func.return", "}"]


def test_comments_follow_the_statement_before_them() -> None:
    text = """// tests
    pto.tload ins(%a :
      // inside
      !v) outs(%t : !t) // loads
    // Then pto.tadd.
    """
    found = [(one.name, one.code.strip()) for one in statements_of(text)]
    assert [name for name, _ in found] == ["//", "pto.tload", "//", "//", "//"]
    assert found[1][1] == "ins(%a : !v) outs(%t : !t)"
    history = history_of(text, {})
    assert history.above == ["inside", "loads", "then", "tadd"] and history.last == "pto.tload"
    assert list(history.remarked) == ["tests", "inside", "loads", "then", "tadd"]


def row(feature: str, text: str, title: str = "") -> dict[str, float]:
    """A row of the matrix by the names of operations."""
    counts: Counts = {("all", ()): Counter({"pto.tadd": 1}), (WORD, ("sum",)): Counter({"pto.trowsum": 4})}
    matrix = features(history_of(text, {}), Here(), shares_of(counts), title)
    return dict(zip(NAMES, matrix[FEATURES.index(feature)].tolist(), strict=True))


def test_names_and_comments_speak_for_operations() -> None:
    head = "func.func @f(%a: index) {\n"
    assert row("titled", head, "tadd_rows")["pto.tadd"] > 0 == row("titled", head)["pto.tadd"]
    text = f"{head}// Then TADD.\n"
    assert row("remarked", text)["pto.tadd"] > 0 < row("remarked before", text)["pto.tadd"]
    later = f"{text}%c = arith.constant 1 : index\n"
    assert row("remarked", later)["pto.tadd"] == 0 < row("remarked before", later)["pto.tadd"]
    words = row("word: most", head, "row_sum_kernel")
    assert max(words, key=words.__getitem__) == "pto.trowsum"
    assert title_of("file:///a/tadd.pto") == "tadd" and title_of("file:///a/tadd%20b/kernel.pto") == "tadd b"


def test_functions_are_counted_by_parts_of_their_names() -> None:
    text = "func.func @rowSum_16(%a: index) {\n  pto.trowsum\n}\n"
    found = count([Program(text, {}, title, 1) for title in ("kernel-f32", "kernel", "kernel", "other")])
    assert {key for key in found if key[0] == WORD} == {(WORD, (word,)) for word in ("row", "sum", "kernel")}
    assert found[WORD, ("sum",)] == Counter({"pto.trowsum": 4})


def test_a_history_knows_what_nothing_has_used() -> None:
    flag = "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n"
    text = f"""func.func @f(%a: !pto.partition_tensor_view<8x32xf32>) {{
      %t = pto.alloc_tile : !tile
      %n = arith.constant 1 : index // %t is free
      pto.tload ins(%a : !pto.partition_tensor_view<8x32xf32>)
        outs(%t : !tile)
      {flag}"""
    history = history_of(text, {"!tile": "!pto.tile_buf<vec, 8x32xf32>"})
    assert history.newest() == [("pto.tload", "vec tile")] and len(history.flags) == 1
    assert contents(history)["unused types"] == ("func.func", "vec tile")
    history.follow(Written("pto.wait_flag", (), flag))
    assert history.uses(Written("pto.tstore", (), "ins(%t : !tile) outs(%a : !v)")) == {("pto.tload", "vec tile")}
    assert not history.flags and isinstance(history, History)


def test_what_ends_another_region_is_not_usual() -> None:
    text = "func.func @f() {\nscf.for %i = %a to %b step %c {\n"
    assert "func.return" not in ranking(text) and "func.return" in ranking(f"{text}}}\n")


def test_an_operation_needs_operands_of_its_types() -> None:
    found = dict(zip(NAMES, possible(["index", "f32"]), strict=True))
    assert found["pto.set_flag"] and found["arith.addi"] and not found["pto.tadd"]
    assert dict(zip(NAMES, possible(["!pto.tile_buf<vec, 8x32xf32>"]), strict=True))["pto.tadd"]


def test_names_that_are_numbers_are_in_scope() -> None:
    text = "func.func @f(%0: index) {\n  %1 = arith.addi %0, %0 : index\n  "
    found = values_before(Document("file:///f.pto", text), len(text))
    assert [value.name for value in found] == ["%1", "%0"]


def test_operations_of_other_dialects_are_explained() -> None:
    text = core_operation_text("arith.cmpi")
    assert "`%lhs`" in text and "`predicate`" in text


def test_a_statement_begins_after_one_with_a_result() -> None:
    text = "    %c = pto.tadd %a, %b : (!pto.tile<8x8xf32>, !pto.tile<8x8xf32>)"
    assert not Statement(f"{text}\n    ", len(text) + 5).names_operation
    text += " -> !pto.tile<8x8xf32>"
    assert Statement(f"{text}\n    ", len(text) + 5).names_operation


def first(text: str, number: int = 10) -> list[str]:
    """The operations that are most usual after ``text``."""
    scores = ranking(text)
    return sorted(scores, key=lambda name: -scores[name])[:number]


HEAD = "func.func @f(%t: !pto.tile_buf<vec, 16x16xf32>, %n: i32) {\n"


LOADED = """%u = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
pto.tload ins(%p : !pto.partition_tensor_view<16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
pto.texp ins(%t : !pto.tile_buf<vec, 16x16xf32>) outs(%u : !pto.tile_buf<vec, 16x16xf32>)
"""


def test_a_pipe_that_has_waited_continues() -> None:
    stores, loads = (
        ranking(f"{HEAD}{LOADED}pto.set_flag[<PIPE_V>, {to}]\npto.wait_flag[<PIPE_V>, {to}]\n")
        for to in ("<PIPE_MTE3>, <EVENT_ID0>", "<PIPE_MTE2>, <EVENT_ID0>")
    )
    assert stores["pto.tstore"] > loads["pto.tstore"] and stores["pto.tstore"] > stores["pto.tload"]
    assert loads["pto.tload"] > stores["pto.tload"]


def test_a_region_ends_with_what_it_must() -> None:
    """The condition ends the first region of a loop, a yield the second one and those with results."""
    loop = "scf.while (%i = %n) : (i32) -> i32 {\n%m = arith.cmpi slt, %i, %n : i32\n"
    assert "scf.condition" in first(f"{HEAD}{loop}")
    ended = f"{HEAD}{loop}scf.condition(%m) %i : i32\n}} do {{\n^bb0(%j: i32):\npto.dsb\n"
    again = ranking(ended)
    assert again["scf.yield"] > again.get("scf.condition", 0.0)
    with_results, without = (
        ranking(f"{HEAD}{LOADED}scf.for %i = %a to %b step %c {more}{{\n%y = arith.addi %n, %n : i32\n")["scf.yield"]
        for more in ("iter_args(%x = %n) -> (i32) ", "")
    )
    assert with_results > without


def test_a_value_of_a_rare_type_is_used() -> None:
    assert "pto.local_array_get" in first(f"{HEAD}%a = pto.declare_local_array -> !pto.local_array<16xi32>\n")


def test_a_program_stays_at_its_level() -> None:
    tiles = ranking(f"{HEAD}pto.tload ins(%v : !V) outs(%t : !T)\n")
    both = ranking(f"{HEAD}%r = pto.vlds %p[%i] : !P -> !R\npto.tload ins(%v : !V) outs(%t : !T)\n")
    assert 4 * tiles["pto.vadd"] < both["pto.vadd"] and both["pto.vadd"] < both["pto.tadd"]


def test_a_family_continues() -> None:
    lines = [f"%{n} = pto.vmi.{name} %x : !F -> !F\n" for n, name in enumerate(("mulf", "negf"))]
    assert "pto.vmi.negi" in first("".join(lines), 12)
    assert "pto.dsb" not in first(
        f"{HEAD}{LOADED}pto.set_flag[<PIPE_V>, <PIPE_S>, <EVENT_ID0>]\npto.wait_flag[<PIPE_V>, <PIPE_S>, <EVENT_ID0>]\n"
    )


def contents_of(text: str) -> dict[str, tuple[str, ...]]:
    return contents(history_of(text, {}))


def test_contexts_state_what_is_there() -> None:
    text = f"""{HEAD}%u = pto.alloc_tile : !pto.tile_buf<vec, 16x16xi32>
      pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
      pto.tload ins(%v : !V) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
    """
    found = contents_of(text)
    assert found["two"] == ("pto.set_flag", "pto.tload")
    assert found["work"] == ("pto.tload", "pto.tload", "pto.alloc_tile")
    assert found["place"] == ("func.func", "1", "3")
    assert found["newest types"] == ("pto.tload", "vec tile", "vec tile")
    assert found["state"] == ("1", "", "MTE2", "")
    assert found["values"] == ("func.func", "1", "1", "0", "0", "0")
    assert found["elements"] == ("func.func", "f32 i32") and found["newest element"][2] == "f32"
    inside = contents_of(f"{text}scf.for %i = %a to %b step %c {{\n")
    assert inside["two"] == ("scf.for", "scf.for{") and inside["place"] == ("scf.for", "2", "0")
    waits = contents_of(f"{text}pto.barrier <PIPE_V>\n")
    assert waits["work"] == ("order", "pto.tload", "pto.alloc_tile") and waits["place"][2] == "4"


def test_headers_say_what_a_function_is_for() -> None:
    module = 'module attributes {pto.target_arch = "a5", pto.backend = "vpto"} {\n'
    function = "func.func @f(%n: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {\n"
    assert contents_of(f"{module}{function}")["purpose"] == ("func.func", "a5", "cube", "vpto")
    plain = contents_of(f"{module}func.func @f(%n: i32) {{\n")["purpose"]
    assert plain == ("func.func", "a5", "", "vpto")
    # The headers count where the text between them and the cursor is long.
    text = f"{module}{function}" + "pto.barrier <PIPE_V>\n" * 2000
    assert history_of(text_before(text, len(text)), {}).purpose == ("a5", "cube", "vpto")


def test_a_target_does_not_have_all_operations() -> None:
    has = {target: dict(zip(NAMES, 1 - absent(target), strict=True)) for target in ("a3", "a5", "")}
    assert [has[target]["pto.ub.vadd"] for target in ("a3", "a5", "")] == [1, 0, 1]
    assert [has[target]["pto.vadd"] for target in ("a3", "a5", "")] == [0, 1, 1]


SUMS = """func.func @f(%scale: f32) {
  // Sum of the rows.
  %total = pto.vcadd %x : !F -> !F
  pto.vsts %total, %p : !F, !P
  pto.vcadd %x : !F -> !F
}
"""


def test_words_are_counted_with_what_they_speak_for() -> None:
    found = count([Program(SUMS, {}, "", 1), Program(f"\n{SUMS}", {}, "", 1), Program(SUMS, {}, "", 2)])
    assert found[PARAMETER, ("scale",)] == Counter({"pto.vcadd": 4, "pto.vsts": 4})
    assert found[REMARKED, ("rows",)] == Counter({"pto.vcadd": 4})
    assert found[VALUE, ("total",)] == Counter({"pto.vsts": 4})
    # What was used before begins nothing.
    assert found[LATER, ("pto.vcadd",)] == Counter({"pto.vsts": 4})
    assert (LATER, ("pto.vsts",)) not in found


def test_terms_here_are_those_of_what_is_there() -> None:
    begun = SUMS[: SUMS.index("  pto.vsts")]
    found = terms_here(history_of(f"{begun}// Now store.\n", {}), "row_sum", ["pto.vcadd"])
    assert {kind: [*words] for kind, words in found.items()} == {
        WORD: ["row", "sum"],
        PARAMETER: ["scale"],
        REMARKED: ["now", "store"],
        VALUE: ["total", "scale"],
        LATER: ["pto.vcadd"],
    }


def test_what_one_program_does_says_nothing() -> None:
    """A weight makes a program count for several, but not where names are counted."""
    text = "func.func @once() {\n  pto.dsb\n  pto.trap\n}\n"
    one, heavy, two = (count([Program(text, {}, "", weight)] * number) for weight, number in ((1, 1), (4, 1), (1, 2)))
    assert [("two", ("", "pto.dsb")) in found for found in (one, heavy, two)] == [False, True, True]
    assert [(LATER, ("pto.dsb",)) in found for found in (one, heavy, two)] == [False, False, True]


def test_a_table_states_what_was_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts: Counts = {("all", ()): Counter({"pto.tadd": 36})}
    counts["two", ("", "pto.tadd")] = Counter({"pto.tstore": 11, "pto.tadd": 2, "arith.addi": 2})
    found = list(rows(counts))
    assert found == [
        ("operations", "", "arith.addi pto.tadd pto.tstore"),
        ("all", "", "36 1"),
        ("two", "|~1", "2 0 1|11 2"),
    ]
    table = tmp_path / "usual.csv"
    table.write_text("".join(f"{','.join(row)}\n" for row in found), encoding="utf-8")
    monkeypatch.setattr(shares, "TABLE", table)
    for content in (("", "pto.tadd"), ("pto.tadd", "")):
        contents = dict.fromkeys(CONTEXTS, content)
        read, known = (one.context("two", contents) for one in (usual_shares.__wrapped__(), shares_of(counts)))
        assert read.tolist() == known.tolist()


def test_shares_of_a_context_that_is_unknown_are_those_of_the_wider_one() -> None:
    """Three programs add after a load, one stores; nothing is known of what follows a load in a loop."""
    counts: Counts = {("all", ()): Counter({"pto.tadd": 5, "pto.tstore": 5})}
    counts["last", ("pto.tload",)] = Counter({"pto.tadd": 3, "pto.tstore": 1})
    found = {"all": (), "last": ("pto.tload",), "region": ("scf.for", "pto.tload")}
    shares = shares_of(counts).context("region", found)
    everywhere = (5 + 2 / len(NAMES)) / (10 + 2)
    wanted = [(number + 2 * everywhere) / (4 + 2) for number in (3, 1)]
    assert [shares[INDEX[name]] for name in ("pto.tadd", "pto.tstore")] == pytest.approx(wanted)
    assert shares.sum() == pytest.approx(1)


def test_repeated_operations_continue_as_before() -> None:
    lines = "pto.vlds\npto.vabs\npto.vsts\n"
    assert first(f"{HEAD}{lines * 3}pto.vlds\npto.vabs\n")[0] == "pto.vsts"


def test_a_function_is_named_after_its_operation() -> None:
    head = "func.func @row_expand_max_f32(%t: !pto.tile_buf<vec, 16x16xf32>) {\n"
    assert "pto.trowexpandmax" in first(head) and "pto.trowexpandmax" not in first(HEAD)


def test_scores_are_sums_of_units() -> None:
    """A unit counts what is positive: max(0, 2·a - b + 1) · 3."""
    network = Network(np.array([[2.0, -1.0]]), np.array([1.0]), np.array([3.0]))
    assert network.scores(np.array([[1.0, 0.0], [1.0, 5.0]])).tolist() == [6.0, 0.0]
    usual = usual_network()
    assert usual.units.shape == (len(usual.weights), len(FEATURES))
