"""The cube, loader and transfer rules are declared completely and with their severity.

Source: docs/reference/constraints.md, "Products on pointers", "Write-back of accumulators", "Loads into matrix
memories", "Transfers".
"""

from groups import in_groups

from pto_dialect.verify.engine.rule import ERROR, INFO, PARSE, RULES, RUN, WARNING, load_all_rules

load_all_rules()

ERRORS = """
    mad-operand-count mad-typed-ptr mad-space mad-mnk-type mad-mnk-range mad-mnk-positive mad-clause-order
    mad-clause-duplicate mad-clause-comma mad-unit-flag-token mad-tf32-token mad-tf32-needs-f32
    mad-sat-needs-float mad-hif8-both mad-unsupported-combo mad-4bit-even-k mad-bias-space mad-bias-elem
    mad-mx-elem mad-mx-no-tf32 mad-l0-footprint mad-acc-init mad-handover
    fixp-src-space fixp-dst-space fixp-extent fixp-clause-order fixp-clause-duplicate fixp-clause-unknown
    fixp-unit-flag-token fixp-quant-needs-both fixp-quant-mode fixp-quant-vec-fb fixp-quant-vec-elem
    fixp-quant-scalar fixp-quant-src fixp-quant-src-mode fixp-quant-dst-mode fixp-relu-no-payload
    fixp-relu-scalar-payload fixp-relu-scalar-type fixp-relu-vector-fb fixp-relu-vector-elem fixp-relu-pwl
    fixp-relu-mode fixp-clip-in-relu fixp-clip-dst fixp-clip-payload fixp-nz2dn-loop0 fixp-loop0-only-nz2dn
    fixp-unit-flag-loop0 fixp-nz2nz-f32 fixp-nz2nz-loop3 fixp-loop3-layout fixp-loop3-arity fixp-sat-option
    fixp-sat-exclusive fixp-atomic-gm fixp-atomic-token fixp-ub-dst-mode fixp-ub-sub-range
    fixp-ub-split-plain fixp-ub-split-m-even fixp-ub-split-n-32
    l1l0-src-space l1l0-dst-space l1l0-elem-width l1l0-start-nonneg l1l0-operand-count l1l0-raw-range
    l1l0-extent l1l0-mx-spaces frac-spaces frac-nonneg frac-group-positive frac-smallc0 frac-mode bt-pair
    bt-spaces fb-spaces fb-bt-capacity
    dma-direction dma-elem-width dma-loop-triple dma-pad-group dma-nonneg dma-dst-align dma-oob
"""
WARNINGS = """
    mad-combo-undocumented mad-mx-k64 mad-target arch-mix
    fixp-req4-unimplemented fixp-no-convert fixp-fp8-kind-mismatch fixp-narrow-needs-quant fixp-split-bit
    fixp-atomic-type-match fixp-sid-range fixp-l2-range fixp-src-stride-rows fixp-dst-stride-overlap
    fixp-loop3-unverified
    l1l0-start-nonzero l1l0-mx-align frac-inner-stride bt-len
    dma-pad-type dma-overlap dma-l2-ctl raw-copy-params
"""
INFOS = """
    mad-disable-gemv-noop fixp-no-clause fixp-sat-noop l1l0-four-operands l1l0-transpose-8bit
"""
RUN_TIME = {"mad-acc-init", "mad-handover", "dma-oob"}
"""Rules that only a run can check."""

SEVERITIES = [
    (name, severity)
    for names, severity in ((ERRORS, ERROR), (WARNINGS, WARNING), (INFOS, INFO))
    for name in names.split()
]


@in_groups(("name", "severity"), SEVERITIES)
def test_rule_is_declared(name, severity):
    assert RULES[name].severity is severity


@in_groups("name", [name for name, _ in SEVERITIES])
def test_rule_has_examples_unless_a_run_checks_it(name):
    declared = RULES[name]
    if name in RUN_TIME:
        assert declared.stage == RUN
    else:
        assert declared.stage != RUN and declared.bad is not None


def test_parse_rules_have_repaired_examples():
    own = [RULES[name] for name, _ in SEVERITIES if RULES[name].stage == PARSE]
    assert len(own) > 15
    assert [declared.id for declared in own if declared.good is None] == []
