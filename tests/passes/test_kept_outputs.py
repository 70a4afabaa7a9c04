"""What passes make of programs that together take all their branches, and what they say.

``python tests/helpers/kept_outputs.py`` writes the rows again where a result or a message has changed on purpose.
"""

from __future__ import annotations

import pytest
from kept_outputs import files, kept, row


@pytest.mark.parametrize("file", files())
def test_results_and_messages_are_as_kept(file: str) -> None:
    found = [(line, row(*line.split(" | ")[:2])) for line in kept(file)]
    assert [(before, after) for before, after in found if before != after] == []
