"""Scripts and tests of hand-written kernels, which launch them with ``torch``: each file runs in a process of its own,
on the device of ``cpp_device.py``, and judges the results itself.
"""

from __future__ import annotations

import io
import os
import re
import runpy
import shutil
import sys
import time
from pathlib import Path
from typing import Any


def run_script(tree: Path, path: Path, seconds: float, folder: Path, words: list[str]) -> dict[str, Any]:
    """The result of a script or a file of tests."""
    import cpp_device

    copy = folder / "tree" / tree.name
    if not copy.exists():
        shutil.copytree(tree, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        _accept_memory_of_host(copy)
    file = copy / path.relative_to(tree)
    constants = [word.removeprefix("--set=") for word in words if word.startswith("--set=")]
    words = [word for word in words if not word.startswith("--set=")]
    if constants:
        set_constants(file, constants)
    device = cpp_device.install(seconds, folder)
    if "import" in (text := file.read_text()) and "pto_kernels" in text and (copy / "csrc" / "host").is_dir():
        _use_extension(copy, folder, device)
        device.ends = time.monotonic() + seconds
    os.chdir(file.parent)
    sys.path[:0] = [str(file.parent), str(copy)]
    reason, kind, counts = "", "agrees", {}
    printed = _Printed(sys.stdout)
    sys.stdout = printed
    try:
        if file.name.startswith("test_") and "argparse" not in file.read_text():
            kind, reason, counts = _run_tests(file, device, words)
        else:
            sys.argv = [str(file), *words]
            runpy.run_path(str(file), run_name="__main__")
    except AssertionError as error:
        kind, reason = "differs", str(error)[:300]
    except SystemExit as error:
        kind, reason = ("agrees", "") if not error.code else ("differs", f"exit code {error.code}")
    except Exception as error:
        kind, reason = "crash", repr(error)[:300]
    sys.stdout = printed.stream
    if kind == "agrees" and printed.failed:
        kind, reason = "differs", printed.failed
    if device.failure is not None and kind != "agrees":
        kind, reason = device.failure.kind, device.failure.reason
    if not device.launches and kind == "agrees":
        kind = "no launch"
    findings = {finding: Path(file).name for (file, _), one in device.programs.items() for finding in one.findings}
    rejections = {Path(file).name: one.rejection for (file, _), one in device.programs.items() if one.rejection}
    ran = sorted(str(Path(one).relative_to(copy)) if Path(one).is_relative_to(copy) else one for one in device.files)
    return {
        "name": str(path.relative_to(tree)), "kind": kind, "reason": reason, "kernels": ran, "ran": ran,
        "findings": findings, "rejections": rejections, "tasks": device.launches, "counts": counts,
    }  # fmt: skip


class _Printed(io.TextIOBase):
    """Passes on what a script prints; ``failed`` is its first line that reports a failure."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.failed = ""

    def write(self, text: str) -> int:
        """Writes text."""
        if not self.failed and _FAILED.search(text):
            self.failed = text.strip()[:300]
        return self.stream.write(text)

    def flush(self) -> None:
        """Writes what is buffered."""
        self.stream.flush()


_FAILED = re.compile(r"(^|[ (\d])(FAIL(ED)?|failed at|Mismatch|mismatch)\b")


def _accept_memory_of_host(tree: Path) -> None:
    """Makes the checks that tensors are on the device accept those of this one."""
    for file in tree.rglob("*.py"):
        text = file.read_text(errors="surrogateescape")
        if 'device.type != "npu"' in text:
            file.write_text(text.replace('device.type != "npu"', 'device.type != "cpu"'), errors="surrogateescape")


def set_constants(file: Path, constants: list[str]) -> None:
    """Gives constants of a script other values before it begins."""
    start = 'if __name__ == "__main__":'
    text = file.read_text()
    lines = "".join(f"{one}\n" for one in constants)
    file.write_text(text.replace(start, f"{lines}{start}"))


def _use_extension(tree: Path, folder: Path, device: Any) -> None:
    import cpp_device
    import cpp_extension

    shared = folder.parent / "extension"
    package = cpp_extension.build(tree, shared, cpp_device.CORES)

    def load(file: Path) -> Any:
        try:
            return device.library([str(tree), "-DMEMORY_BASE", f"-I{file.parent}", str(file)], folder)
        except RuntimeError:
            return None

    cpp_extension.connect(tree, package, device, load)


def _run_tests(file: Path, device: Any, words: list[str]) -> tuple[str, str, dict[str, int]]:
    """Runs tests until the time is over."""
    import pytest

    class Watch:
        def __init__(self) -> None:
            self.counts = {"passed": 0, "failed": 0, "skipped": 0, "stopped": 0}
            self.first = ""
            self.kind = "agrees"

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_setup(self, item: Any) -> None:
            if time.monotonic() > device.ends or self.counts["failed"] > 3 or self.counts["stopped"]:
                pytest.skip("the time is over")

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.when != "call" and not report.failed:
                return
            is_stopped = report.failed and device.failure is not None and device.failure.kind == "too slow"
            self.counts["stopped" if is_stopped else report.outcome] += 1
            if report.failed and not is_stopped and not self.first:
                last = str(report.longrepr).splitlines()[-1][:200]
                self.first = f"{report.nodeid.rpartition('::')[2]}: {last}"
                self.kind = "differs" if "AssertionError" in last else "crash"

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed and not self.first:
                self.counts["failed"] += 1
                self.kind = "crash"
                self.first = f"not collected: {str(report.longrepr).splitlines()[-1][:200]}"

    watch = Watch()
    code = pytest.main(
        ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", str(file), *words], plugins=[watch]
    )
    if watch.counts["stopped"] and not watch.counts["failed"]:
        return ("agrees" if watch.counts["passed"] else "too slow"), watch.first, watch.counts
    kind = "crash" if watch.kind == "agrees" and code not in (0, 5) else watch.kind
    return kind, watch.first, watch.counts


__all__ = ["run_script"]
