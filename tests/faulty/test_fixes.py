"""Advice is right: carried out in the text, the finding is removed and no other one comes."""

from functools import cache
from pathlib import Path

from click.testing import CliRunner
from faulty_kernels import Kernel, faulty
from groups import in_groups
from sampling import sampled
from sanitize_programs import instrumented, load, program, set_flag, store, ub, wait_flag

from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.report.apply_fixes import CannotApplyError, Patch
from pto_dialect.sanitize.report.findings import Finding
from tools.pto_run import main

LEFT = {
    "branches-again": "the loop takes more flags than there are, so one more is set than can be pending",
}
"""Kernels in which the advice leads to a finding that was not there, and why."""

COMPUTED = "the numbers of its flags are computed, so no statement says which are free"
REFUSED = dict.fromkeys(("computed_flags-samebuffer", "computed_flags-back", "computed_flags-unprimed"), COMPUTED)
"""Kernels whose text does not allow what findings advise, and why."""

DATA = "only the author knows which data belong there"
EXTENT = "only the author knows whether the access or the memory has the wrong size or place"
COUNTED = "signals between cores and blocks must be sent and taken equally often on all of them"
ALONE = {
    "mem-uninit": DATA,
    "mad-acc-init": DATA,
    "mem-oob": EXTENT,
    "mem-oob-tile": EXTENT,
    "mem-align": EXTENT,
    "mem-overlap": "a copy inside one place needs a second place, and everything that reads it must follow",
    "race-cross-core": COUNTED,
    "race-cross-block": COUNTED,
    "sync-deadlock": COUNTED,
    "cache-lost-update": "which of the two gets a line of its own, or where one is cleaned, is for the author to say",
    "race-simt": "where work-items wait for one another is for the author to say: all of them have to come there",
    "race-inverted": "what has them run the other way round is no flag",
    "sync-unit-flag": "which product and which write-back hand the accumulator over is for the author to say",
    "sync-buf-nesting": "from where to where the buffer is held is for the author to say",
    "sync-flag-range": "which flag is meant is for the author to say",
    "sync-flag-depth": "which of the sets is one too many is for the author to say",
}
"""Rules with findings that no change of the text corrects mechanically, and why."""


def run(kernel: Kernel, text: str) -> InstrumentedKernel:
    watching = instrumented(text, sync=kernel.launch.get("sync", "auto"), verify=False)
    watching.run(kernel.values(), kernel.blocks)
    return watching


def place(finding: Finding) -> tuple[str, ...]:
    """What a finding is about, whatever lines were added."""
    return finding.rule, *(site.name for site in finding.sites if site is not None)


@cache
def _mended(kernel_id: str) -> tuple[list[Finding], list[Finding], int]:
    (kernel,) = (one for one in faulty() if one.id == kernel_id)
    text, changes = kernel.text, 0
    watching = run(kernel, text)
    first = found = watching.observer.findings.all
    while changes < 20:
        for finding in found:
            patch = Patch(text, watching.program.functions)
            try:
                patch.apply(finding.fix)
            except CannotApplyError:
                continue
            if finding.fix:
                break
        else:
            break
        text, changes = patch.result(), changes + 1
        watching = run(kernel, text)
        found = watching.observer.findings.all
    return first, found, changes


def mended(kernel: Kernel) -> tuple[list[Finding], list[Finding], int]:
    """Findings of a kernel, those that are left when all advice was followed, and the number of changes."""
    return _mended(kernel.id)


def advised(kernel: Kernel) -> bool:
    return not any(rule in ("capacity-static", "alloc-addr-align", "dma-dst-align") for rule in kernel.rules)


@in_groups("kernel", sampled((one for one in faulty() if advised(one)), 2), lambda kernel: kernel.id)
def test_advice_that_is_followed_ends_the_finding(kernel: Kernel):
    before, after, changes = mended(kernel)
    could = [finding for finding in before if finding.fix]
    assert changes or not could or "_flags" in kernel.name
    new = {place(finding) for finding in after} - {place(finding) for finding in before}
    assert bool(new) == (kernel.id in LEFT)
    if changes and kernel.id not in LEFT:
        left = [finding for finding in after if finding.fix]
        assert not left, [finding.message for finding in left]


def test_findings_without_a_fix_have_a_reason():
    kernels = [one for one in faulty() if advised(one)]
    left = {kernel.id: mended(kernel)[1] for kernel in kernels}
    refused = {name for name, found in left.items() if any(finding.fix for finding in found)}
    assert refused == set(REFUSED)
    assert {finding.rule for found in left.values() for finding in found if not finding.fix} == set(ALONE)


def test_advice_between_cores_names_no_direction_that_only_the_run_has_taken():
    """Which of the two came first in this run says nothing about which is meant to."""
    found = [finding for kernel in faulty() if kernel.name == "two_cores" for finding in mended(kernel)[0]]
    helps = [finding.help or "" for finding in found if finding.rule == "race-cross-core"]
    assert helps and all("the pipe that is meant to be first" in text for text in helps)


def test_most_kernels_are_without_findings_then():
    # What orders blocks is for the author to say, so no advice covers that.
    kernels = [one for one in faulty() if one.rules[0].startswith(("race", "sync-deadlock"))]
    kernels = [one for one in kernels if one.rules != ("race-cross-block",)]
    results = [mended(kernel) for kernel in kernels]
    clean = sum(not after for _, after, _ in results)
    assert clean >= 0.8 * len(kernels)


RACE = program(ub("x", 0), "// comments stay", load("%x"), set_flag("V", "MTE3"), store("%x"))


def written(tmp_path: Path, *options: str) -> tuple[int, str, str]:
    path = tmp_path / "race.pto"
    path.write_text(RACE)
    arguments = [str(path), "--arg", "a=ones:f32:64", "--arg", "b=zeros:f32:64", "--sanitize", *options]
    result = CliRunner().invoke(main, arguments)
    return result.exit_code, result.stdout, result.stderr


def test_the_command_writes_the_program(tmp_path: Path):
    target = tmp_path / "fixed.pto"
    code, _, told = written(tmp_path, f"--fix={target}")
    assert code == 3 and "race-raw" in told and "fix: 2 changes, written to" in told
    assert (tmp_path / "race.pto").read_text() == RACE
    text = target.read_text()
    assert text.index(set_flag("MTE2", "MTE3")) < text.index(wait_flag("MTE2", "MTE3")) < text.index("mte_ub_gm")
    assert "// comments stay" in text and set_flag("V", "MTE3") not in text
    result = CliRunner().invoke(
        main, [str(target), "--arg", "a=ones:f32:64", "--arg", "b=zeros:f32:64", "--sanitize", "--fix"]
    )
    assert result.exit_code == 0 and result.stdout == text and "nothing was changed" in result.stderr


def test_the_command_writes_to_standard_output_or_in_place_on_request(tmp_path: Path):
    assert written(tmp_path, "--fix")[1].startswith("module")
    assert (tmp_path / "race.pto").read_text() == RACE
    written(tmp_path, f"--fix={tmp_path / 'race.pto'}")
    assert (tmp_path / "race.pto").read_text() != RACE
    assert CliRunner().invoke(main, [str(tmp_path / "race.pto"), "--fix"]).exit_code == 2
