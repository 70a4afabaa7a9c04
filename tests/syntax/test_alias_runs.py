"""Every alias of an attribute, an enumerator or a quoted token computes what its canonical spelling computes, and
something else than another choice does; the IR has canonical spellings only."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from groups import in_groups
from parse_helpers import parsed
from tile_run_helpers import run as run_tiles
from tile_run_helpers import tile
from vmi_programs import DTYPES
from vmi_programs import run as run_registers

from pto_dialect.ir.core import words
from pto_dialect.ir.core.aliases import ATTRIBUTE_ALIASES
from pto_dialect.ir.core.attributes import ENUM_ALIASES, ENUMS
from pto_dialect.ir.core.kinds import Kind
from pto_dialect.syntax.print.printer import print_module

VALUES = np.array([[70000.0, -70000.0, 2.5, -2.5, 3.7, -3.2, 0.5, 1.5] * 8], np.float32)
"""Beyond the range of i16, halves with even and odd neighbours, and others."""


def converted(attributes: str) -> bytes:
    """What ``tcvt`` from f32 to i16 computes."""
    tiles = tile("a", "f32", VALUES), tile("b", "i16", np.zeros((1, 64)))
    return run_tiles(f"pto.tcvt ins(%a {attributes} : {{a}}) outs(%b : {{b}})", *tiles, target="a5")["b"].tobytes()


def vreg(element: str) -> str:
    return f"!pto.vreg<{256 // DTYPES[element].itemsize}x{element}>"


def register(template: str, source: str, result: str) -> bytes:
    """What a statement on register %a computes into %r; registers have the types ``source`` and ``result``."""
    v, w = vreg(source), vreg(result)
    count = 256 // DTYPES[source].itemsize
    values = np.resize(VALUES, count) if source == "f32" else (np.arange(count) % 23 / 8).astype(DTYPES[source])
    granularity = f"b{8 * DTYPES[source].itemsize}"
    all_lanes = f'%m = pto.pset_{granularity} "PAT_ALL" : !pto.mask<{granularity}>\n'
    zeros = "%z = pto.vsub %a, %a, %m : {v}, {v}, {m} -> {v}\n"
    body = all_lanes + (zeros + "%r = " + template).format(v=v, w=w, m=f"!pto.mask<{granularity}>")
    (found,) = run_registers(body, {"a": (v, values)}, {"r": w})
    return np.asarray(found).tobytes()


def vcvt(attributes: str, source: str = "f32", result: str = "i32") -> bytes:
    return register(f"pto.vcvt %a, %m {{{{{attributes}}}}} : {{v}}, {{m}} -> {{w}}", source, result)


def rounding(word: str) -> bytes:
    if word.endswith("O"):
        return vcvt(f'rnd = "{word}", sat = "SAT", part = "EVEN"', result="f16")
    if word.endswith("H"):
        return vcvt(f'rnd = "{word}", sat = "SAT", part = "P0"', result="!pto.hif8")
    return vcvt(f'rnd = "{word}", sat = "SAT"')


def part(word: str) -> bytes:
    if "P" in word.removeprefix("PART_"):
        return vcvt(f'rnd = "R", sat = "SAT", part = "{word}"', result="f8E4M3FN")
    return vcvt(f'rnd = "R", sat = "SAT", part = "{word}"', result="f16")


def saturation(word: str) -> bytes:
    return vcvt(f'rnd = "R", sat = "{word}", part = "EVEN"', result="f16")


def truncation(word: str) -> bytes:
    return register(f'pto.vtrc %a, %m, "{word}" : {{v}}, {{m}} -> {{v}}', "f32", "f32")


def halves(word: str) -> bytes:
    return register(f'pto.vexpdif %a, %z, %m, "{word}" : {{v}}, {{v}}, {{m}} -> {{w}}', "f16", "f32")


def handed_over(word: str) -> bytes:
    """A flag that is set on one spelling of the pipe and taken on the canonical one: a run that ends."""
    canonical = ENUM_ALIASES["pipe"].get(word, word)
    text = (
        "func.func @k() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {\n"
        f"  pto.set_flag[<{word}>, <PIPE_MTE1>, <EVENT_ID0>]\n"
        f"  pto.wait_flag[<{canonical}>, <PIPE_MTE1>, <EVENT_ID0>]\n  return\n}}\n"
    )
    module, found = parsed(text)
    assert not found, found
    return print_module(module).encode()


RUNS: dict[tuple[str, str], tuple[Callable[[str], bytes], str]] = {
    ("pto.tcvt", "satmode"): (lambda name: converted(f"{{{name} = #pto<saturation_mode ON>}}"), "other"),
    ("pto.vcvt", "round_mode"): (lambda name: vcvt(f'{name} = "C", sat = "SAT"'), "other"),
    ("round_mode", "CAST_RINT"): (
        lambda word: converted(f"{{rmode = #pto<round_mode {word}>, sat_mode = #pto<saturation_mode ON>}}"), "TRUNC"
    ),
    ("pipe", "PIPE_CUBE"): (handed_over, "PIPE_FIX"),
    ("pipe", "PIPE_FIXP"): (handed_over, "PIPE_M"),
}  # fmt: skip
"""What distinguishes the spellings, for each alias, and another choice."""
WORD_RUNS: dict[str, Callable[[str], bytes]] = {
    "ROUND": rounding,
    "ROUND_TO_INTEGRAL": truncation,
    "SATURATE_ANY_SPELLING": saturation,
    "CONVERSION_PART": part,
    "EVEN_ODD": halves,
}
"""The same for lists of quoted tokens."""


def word_lists() -> dict[str, Kind]:
    return {name: kind for name, kind in vars(words).items() if isinstance(kind, Kind) and kind.synonyms}


@pytest.mark.parametrize(
    ("where", "alias", "word"),
    [
        *((where, alias, word) for where, names in ATTRIBUTE_ALIASES.items() for alias, word in names.items()),
        *((where, alias, word) for where, names in ENUM_ALIASES.items() for alias, word in names.items()),
    ],
)
def test_an_alias_of_an_attribute_or_enumerator_is_its_canonical_spelling(where: str, alias: str, word: str) -> None:
    result, other = RUNS[where, alias]
    assert result(alias) == result(word)
    if other != "other":
        assert result(alias) != result(other)


@in_groups(("name", "alias"), [(name, alias) for name, kind in word_lists().items() for alias in kind.synonyms])
def test_an_alias_of_a_quoted_keyword_is_its_canonical_spelling(name: str, alias: str) -> None:
    result = WORD_RUNS[name]
    kind = word_lists()[name]
    word = kind.synonyms[alias]
    assert result(alias) == result(word)
    if word == "H":  # hif8 is rounded so by every token
        return
    others = [other for other in kind.words if other not in (word, "H")]
    assert any(result(other) != result(alias) for other in others)


def test_satmode_decides_what_is_beyond_the_range() -> None:
    on, off = (
        np.frombuffer(
            converted(f"{{rmode = #pto<round_mode TRUNC>, satmode = #pto<saturation_mode {word}>}}"), np.int16
        )
        for word in ("ON", "OFF")
    )
    assert on[:2].tolist() == [32767, -32768]
    assert off[:2].tolist() == [(70000 + 2**15) % 2**16 - 2**15, (-70000 + 2**15) % 2**16 - 2**15]


def test_round_mode_of_vcvt_decides_the_rounding() -> None:
    down, up = (np.frombuffer(vcvt(f'round_mode = "{word}", sat = "SAT"'), np.int32) for word in "FC")
    assert down.tolist() == np.floor(np.resize(VALUES, 64)).tolist()
    assert up.tolist() == np.ceil(np.resize(VALUES, 64)).tolist()


ON = "#pto<saturation_mode ON>"
BUFFER, INTEGERS = "!pto.tile_buf<vec, 16x16xf32>", "!pto.tile_buf<vec, 16x16xi16>"
TILE, SHORTS = "!pto.tile<16x16xf32>", "!pto.tile<16x16xi16>"
FORMS = {
    "custom": (f"pto.tcvt ins(%a {{satmode = {ON}}} : {BUFFER}) outs(%b : {INTEGERS})", BUFFER, INTEGERS),
    "bare word": (f'pto.tcvt ins(%a {{satmode = "ON"}} : {BUFFER}) outs(%b : {INTEGERS})', BUFFER, INTEGERS),
    "generic": (f'"pto.tcvt"(%a, %b) {{satmode = {ON}}} : ({BUFFER}, {INTEGERS}) -> ()', BUFFER, INTEGERS),
    "properties": (f'"pto.tcvt"(%a, %b) <{{satmode = {ON}}}> : ({BUFFER}, {INTEGERS}) -> ()', BUFFER, INTEGERS),
    "level 1": (f"%r = pto.tcvt %a {{satmode = {ON}}} : {TILE} -> {SHORTS}", TILE, SHORTS),
    "assembly": (f"%r = tcvt %a {{satmode = {ON}}} : {TILE} -> {SHORTS}", TILE, SHORTS),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_alias_is_resolved_in_each_form(form: str) -> None:
    statement, source, target = FORMS[form]
    module, found = parsed(f"func.func @f(%a: {source}, %b: {target}) {{\n  {statement}\n  return\n}}\n")
    assert not found, found
    (op,) = (op for op in module.walk() if op.name == "pto.tcvt")
    assert str(op.attributes["sat_mode"]) == ON and "satmode" not in op.attributes
    assert "satmode" not in print_module(module)


def test_both_names_of_an_attribute_are_an_error() -> None:
    statement = f"pto.tcvt ins(%a {{satmode = {ON}, sat_mode = {ON}}} : {BUFFER}) outs(%b : {INTEGERS})"
    _, found = parsed(f"func.func @f(%a: {BUFFER}, %b: {INTEGERS}) {{\n  {statement}\n  return\n}}\n")
    assert [(rule, line, message) for rule, line, _, message in found] == [
        ("attr-duplicate", 2, "satmode is another name of sat_mode, which is given as well")
    ]


def test_aliases_are_no_names_of_the_ir() -> None:
    for name, aliases in ENUM_ALIASES.items():
        assert not set(aliases) & set(ENUMS[name].values) and set(aliases.values()) <= set(ENUMS[name].values)
    for kind in word_lists().values():
        assert not set(kind.synonyms) & set(kind.words) and set(kind.synonyms.values()) <= set(kind.words)


def test_the_default_rounding_is_not_printed_under_either_name() -> None:
    for word in ("RINT", "CAST_RINT"):
        statement = f"pto.tcvt ins(%a {{rmode = #pto<round_mode {word}>}} : {BUFFER}) outs(%b : {INTEGERS})"
        module, found = parsed(f"func.func @f(%a: {BUFFER}, %b: {INTEGERS}) {{\n  {statement}\n  return\n}}\n")
        assert not found
        assert "rmode" not in print_module(module)
