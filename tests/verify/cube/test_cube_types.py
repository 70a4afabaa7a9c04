"""Element types of multiply-add and accumulator write-back, for all combinations, against the tables of the
reference written out again.

Source: docs/reference/targets.md, "Products on pointers", "Quantisation modes"; docs/reference/constraints.md,
"Products on pointers", "Write-back of accumulators".
"""

from itertools import product

import pytest

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module

E4, E5, H8 = "f8E4M3FN", "f8E5M2", "!pto.hif8"
E1P, E2P, E8 = "!pto.f4E1M2x2", "!pto.f4E2M1x2", "!pto.f8E8M0"
OPERANDS = ("f16", "bf16", "f32", "i8", "si8", "ui8", "i4", "ui2", "i16", E4, E5, H8, E1P, E2P, E8)
ACCUMULATORS = ("f32", "i32", "f16", "bf16")
FP8, FP4 = (E4, E5), (E1P, E2P)

DOCUMENTED = {
    ("f16", "f16", "f32"),
    ("bf16", "bf16", "f32"),
    ("f32", "f32", "f32"),
    (H8, H8, "f32"),
    *((a, b, "f32") for a in FP8 for b in FP8),
    *((a, b, "i32") for a in ("i8", "si8") for b in ("i8", "si8")),
}
BACKEND_ONLY = {
    ("f16", "f16", "f16"),
    ("f16", "f16", "i32"),
    *(("f16", b, "f32") for b in ("i4", "i8", "si8", "ui2", E8)),
    ("i4", "i4", "i32"),
    *((a, b, "i32") for a in ("i8", "si8", "ui8") for b in ("i8", "si8", "ui8") if "ui8" in (a, b)),
}


def rules_by_line(text: str) -> dict[int, set[str]]:
    """Ids of everything reported, by line."""
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True, max_errors=0))
    module = parse_program(SourceFile("x.pto", text), engine)
    assert module is not None and not engine.has_errors, engine.diagnostics
    verify_module(module, engine)
    found: dict[int, set[str]] = {}
    for diagnostic in engine.diagnostics:
        assert diagnostic.span is not None
        found.setdefault(diagnostic.span.line, set()).add(diagnostic.rule)
    return found


def function(arguments: dict[str, str], statements: list[str]) -> str:
    """A module whose statements begin on line 3."""
    declared = ", ".join(f"{name}: {type_}" for name, type_ in arguments.items())
    lines = ['module attributes {pto.target_arch = "a5"} {', f"func.func @f({declared}) {{"]
    return "\n".join((*lines, *statements, "return", "}", "}"))


@pytest.mark.parametrize("mnemonic", ["mad", "mad_acc"])
def test_mad_combinations(mnemonic):
    cases = list(product(OPERANDS, OPERANDS, ACCUMULATORS))
    arguments = {"%m": "i64"}
    arguments |= {f"%a{i}": f"!pto.ptr<{t}, l0a>" for i, t in enumerate(OPERANDS)}
    arguments |= {f"%b{i}": f"!pto.ptr<{t}, l0b>" for i, t in enumerate(OPERANDS)}
    arguments |= {f"%c{i}": f"!pto.ptr<{t}, l0c>" for i, t in enumerate(ACCUMULATORS)}
    names = {arguments[name]: name for name in arguments if name != "%m"}
    statements = []
    for a, b, c in cases:
        types = f"!pto.ptr<{a}, l0a>", f"!pto.ptr<{b}, l0b>", f"!pto.ptr<{c}, l0c>"
        values = ", ".join(names[t] for t in types)
        statements.append(f"pto.{mnemonic} {values}, %m, %m, %m : {', '.join(types)}, i64, i64, i64")
    found = rules_by_line(function(arguments, statements))
    for line, (a, b, c) in enumerate(cases, 3):
        if (a == H8) != (b == H8):
            expected = {"mad-hif8-both"}
        elif (a, b, c) in DOCUMENTED:
            expected = set()
        elif (a, b, c) in BACKEND_ONLY:
            expected = {"mad-combo-undocumented"}
        else:
            expected = {"mad-unsupported-combo"}
        assert found.get(line, set()) == expected, (a, b, c)


def test_scaled_mad_combinations():
    for a, b, c in product(OPERANDS, OPERANDS, ("f32", "i32")):
        types = f"!pto.ptr<{a}, l0a>, !pto.ptr<{b}, l0b>, !pto.ptr<{c}, l0c>"
        arguments = dict(zip(("%a", "%b", "%c"), types.replace(", l0", "@l0").split(", "), strict=True))
        arguments = {name: type_.replace("@", ", ") for name, type_ in arguments.items()} | {"%m": "i64"}
        statement = f"pto.mad_mx %a, %b, %c, %m, %m, %m : {types}, i64, i64, i64"
        found = rules_by_line(function(arguments, [statement])).get(3, set())
        allowed = c == "f32" and any(a in family and b in family for family in (FP8, FP4))
        assert found == (set() if allowed else {"mad-mx-elem"}), (a, b, c)


# ---------------------------------------------------------------- quantisation modes

DESTINATIONS = ("f32", "f16", "bf16", E4, E5, H8, "i32", "i16", "ui16", "i8", "si8", "ui8", "i4", "ui4")
SIGNED_8 = {"i8", "si8", "ui8"}
MODES = {
    "f32_f16": ("f32", {"f16"}),
    "f32_bf16": ("f32", {"bf16"}),
    "qf322f16_pre": ("f32", {"f16"}),
    "qf322bf16_pre": ("f32", {"bf16"}),
    "qf322f32_pre": ("f32", {"f32"}),
    "qf322fp8_pre": ("f32", {E4, E5, H8}),
    "qf322hif8_pre": ("f32", {E4, E5, H8}),
    "qf322hif8_pre_hybrid": ("f32", {E4, E5, H8}),
    "qf322b8_pre": ("f32", SIGNED_8),
    "qf162b8_pre": ("f32", SIGNED_8),
    "qf322s4_pre": ("f32", {"i4"}),
    "qf162s4_pre": ("f32", {"i4"}),
    "deqf16": ("i32", {"f16"}),
    "qs322bf16_pre": ("i32", {"bf16"}),
    "deqs32_int": ("i32", {"i32"}),
    "deqs16": ("i32", {"i16"}),
    "qf162s16_pre": ("i32", {"i16"}),
    "req8": ("i32", SIGNED_8),
    "req4": ("i32", {"i4"}),
}
"""Accumulator and destinations of each mode, without the suffix for its payload."""

PAIRED = [m for m in MODES if m not in ("f32_f16", "f32_bf16")]
ALL_MODES = [
    ("f32_f16", False),
    ("f32_bf16", False),
    *((m, vector) for m in PAIRED for vector in (False, True)),
]


@pytest.mark.parametrize("source", ["f32", "i32", "f16", "si32"])
def test_quantisation_modes(source):
    cases = list(product(ALL_MODES, enumerate(DESTINATIONS)))
    arguments = {"%m": "i64", "%q": "f32", "%t": "!pto.ptr<f32, fb>", "%s": f"!pto.ptr<{source}, l0c>"}
    arguments |= {f"%d{i}": f"!pto.ptr<{t}, l1>" for i, t in enumerate(DESTINATIONS)}
    statements = []
    for (mode, vector), (i, destination) in cases:
        suffix = "" if mode in ("f32_f16", "f32_bf16") else "_vec" if vector else "_scalar"
        payload, type_ = ("%t", "!pto.ptr<f32, fb>") if vector else ("%q", "f32")
        statements.append(
            f"pto.mte_l0c_l1 %s, %d{i}, %m, %m, %m, %m, pre_quant({payload}, mode = {mode}{suffix}), nz2nd : "
            f"!pto.ptr<{source}, l0c>, !pto.ptr<{destination}, l1>, i64, i64, i64, i64, {type_}"
        )
    found = rules_by_line(function(arguments, statements))
    for line, ((mode, _), (_, destination)) in enumerate(cases, 3):
        wanted, destinations = MODES[mode]
        if source not in ("f32", "i32"):
            expected = {"fixp-quant-src"}
        elif source != wanted:
            expected = {"fixp-quant-src-mode"}
        elif destination not in destinations:
            expected = {"fixp-quant-dst-mode"}
        elif mode == "req4":
            expected = {"fixp-req4-unimplemented"}
        elif destinations == {E4, E5, H8} and ("hif8" in mode) != (destination == H8):
            expected = {"fixp-fp8-kind-mismatch"}
        else:
            expected = set()
        assert found.get(line, set()) == expected, (source, mode, destination)


def test_clip_payloads():
    payloads = ("f16", "bf16", "f32", "i4", "i8", "i16", "i32", "si8", "si16", "ui8", "ui16")
    signed = {"i4", "i8", "i16", "si8", "si16"}
    allowed = {"f16": {"f16"}, "ui8": {"i16", "ui16"}}
    allowed |= {destination: signed for destination in ("i4", "i8", "si8", "i16")}
    cases = list(product(enumerate(DESTINATIONS), enumerate(payloads)))
    arguments = {"%m": "i64", "%s": "!pto.ptr<f32, l0c>"}
    arguments |= {f"%d{i}": f"!pto.ptr<{t}, l1>" for i, t in enumerate(DESTINATIONS)}
    arguments |= {f"%k{i}": t for i, t in enumerate(payloads)}
    statements = [
        f"pto.mte_l0c_l1 %s, %d{i}, %m, %m, %m, %m, pre_relu(mode = normal_relu, clip = %k{j}) : "
        f"!pto.ptr<f32, l0c>, !pto.ptr<{destination}, l1>, i64, i64, i64, i64, {payload}"
        for (i, destination), (j, payload) in cases
    ]
    found = rules_by_line(function(arguments, statements))
    for line, ((_, destination), (_, payload)) in enumerate(cases, 3):
        clip = found.get(line, set()) & {"fixp-clip-dst", "fixp-clip-payload"}
        if destination not in allowed:
            assert clip == {"fixp-clip-dst"}, (destination, payload)
        else:
            assert clip == (set() if payload in allowed[destination] else {"fixp-clip-payload"}), (
                destination,
                payload,
            )
