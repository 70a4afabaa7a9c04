"""What workers of one machine share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pto_dialect.driver.sweep.ahead import ENVIRONMENT, FORKS
from pto_dialect.driver.sweep.loaded import first

CODE = """
import multiprocessing, os, sys
from pto_dialect.driver.sweep import ahead

def child():
    print(sorted(set(ahead.MODULES) & set(sys.modules)), [os.environ[name] for name in ahead.ENVIRONMENT], flush=True)

if __name__ == "__main__":
    before = dict(os.environ)
    ahead.start_ahead()
    assert dict(os.environ) == before
    process = multiprocessing.get_context("forkserver").Process(target=child)
    process.start()
    process.join()
    sys.exit(process.exitcode)
"""


def test_the_first_launch_passes() -> None:
    assert (first().result.code, first().result.err) == (0, "")


@pytest.mark.skipif(not FORKS, reason="processes are not forked here")
def test_workers_are_forked_from_a_process_that_has_loaded_everything(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="clusters need the extra cluster")
    environment = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    program = tmp_path / "program.py"
    program.write_text(CODE)
    command = [sys.executable, str(program)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.splitlines() == ["['distributed', 'pto_dialect.driver.sweep.loaded'] ['1', '1', '1']"], (
        done.stderr
    )
