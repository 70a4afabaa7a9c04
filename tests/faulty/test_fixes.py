"""Advice is right: carried out in the text, the finding is gone and no other one comes."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from faulty_kernels import Kernel, faulty
from sanitize_programs import load, program, set_flag, store, ub, wait_flag, watched

from pto_dialect.sanitize.launch import WatchedKernel
from pto_dialect.sanitize.report.apply_fixes import CannotApplyError, Patch
from pto_dialect.sanitize.report.findings import Finding
from tools.pto_run import main

LEFT = {
    "branches-again": "the loop takes more flags than there are, so one more is set than can be pending",
}
"""Kernels in which the advice leads to a finding that was not there, and why."""


def run(kernel: Kernel, text: str) -> WatchedKernel:
    watching = watched(text, sync=kernel.launch.get("sync", "auto"), verify=False)
    watching.run(kernel.values(), kernel.blocks)
    return watching


def place(finding: Finding) -> tuple[str, ...]:
    """What a finding is about, whatever lines were added."""
    return finding.rule, *(site.name for site in finding.sites if site is not None)


def mended(kernel: Kernel) -> tuple[list[Finding], list[Finding], int]:
    """Findings of a kernel, those that are left when all advice was followed, and the number of changes."""
    text, changes = kernel.text, 0
    watching = run(kernel, text)
    first = found = watching.watch.findings.all
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
        found = watching.watch.findings.all
    return first, found, changes


def advised(kernel: Kernel) -> bool:
    return not any(rule in ("capacity-static", "alloc-addr-align", "dma-dst-align") for rule in kernel.rules)


@pytest.mark.parametrize("kernel", [one for one in faulty() if advised(one)], ids=lambda kernel: kernel.id)
def test_advice_that_is_followed_ends_the_finding(kernel: Kernel):
    before, after, changes = mended(kernel)
    could = [finding for finding in before if finding.fix]
    assert changes or not could or "_flags" in kernel.name
    new = {place(finding) for finding in after} - {place(finding) for finding in before}
    assert bool(new) == (kernel.id in LEFT)
    if changes and kernel.id not in LEFT:
        left = [finding for finding in after if finding.fix]
        assert not left, [finding.message for finding in left]


def test_most_kernels_are_without_findings_then():
    kernels = [one for one in faulty() if one.rules[0].startswith(("race", "sync-deadlock"))]
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


def test_the_command_writes_to_standard_output_or_over_the_program_if_asked(tmp_path: Path):
    assert written(tmp_path, "--fix")[1].startswith("module")
    assert (tmp_path / "race.pto").read_text() == RACE
    written(tmp_path, f"--fix={tmp_path / 'race.pto'}")
    assert (tmp_path / "race.pto").read_text() != RACE
    assert CliRunner().invoke(main, [str(tmp_path / "race.pto"), "--fix"]).exit_code == 2
