"""What is said about the faulty kernels and their twins: places, bytes, notes, advice, and when pipes are busy.

``python tests/helpers/kept_findings.py`` writes the files again where a message has changed on purpose.
"""

from __future__ import annotations

import pytest
from kept_findings import FOLDER, lines, names


@pytest.mark.parametrize("name", names())
def test_findings_are_as_kept(name: str) -> None:
    assert lines(name) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def test_every_file_has_kernels() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == set(names())
