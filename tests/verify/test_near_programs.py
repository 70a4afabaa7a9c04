"""What the rules say about programs that are nearly right.

``python tests/helpers/kept_texts.py`` writes the rows again where a verdict or a message has changed on purpose.
"""

from __future__ import annotations

from kept_texts import PROGRAMS, kept, verdict


def test_verdicts_are_as_kept() -> None:
    found = [(before, verdict(before["text"])) for before in kept(PROGRAMS)]
    assert [(before, after) for before, after in found if before != after] == []


def test_every_finding_has_a_place() -> None:
    heads = [line.split(" ") for each in kept(PROGRAMS) for line in each["told"]]
    found = [head for head in heads if head[0] in ("error", "warning")]
    assert found and not [head for head in found if head[2] == "-"]
