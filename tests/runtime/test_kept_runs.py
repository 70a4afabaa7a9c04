"""How runs end that together take all branches: results, errors with their lines, findings, cycles.

``python tests/helpers/kept_runs.py`` writes the rows again where a result or a message has changed on purpose.
"""

from __future__ import annotations

import pytest
from kept_runs import agreed, files, kept, row


@pytest.mark.parametrize("file", files())
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_runs_end_as_kept(file: str) -> None:
    found = [(line, row(*line.split(" | ")[:2])) for line in kept(file)]
    assert [(before, after) for before, after in found if not agreed(before, after)] == []
