"""The cases of clusters run in a process of their own: Dask leaves threads, and a process with threads does not
fork, which tests of workers count on.
"""

import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("cluster_cases.py")


def test_clusters() -> None:
    pytest.importorskip("distributed", reason="clusters need the extra cluster")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(CASES)]
    done = subprocess.run(command, cwd=CASES.parents[3], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
