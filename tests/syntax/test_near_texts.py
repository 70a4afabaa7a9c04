"""What is said about texts that are nearly programs, and how they are laid out and printed.

``python tests/helpers/kept_texts.py`` writes the rows again where a message or a form has changed on purpose.
"""

from __future__ import annotations

from kept_texts import FILE, kept, row


def test_messages_forms_and_layouts_are_as_kept() -> None:
    found = [(before, row(before["text"], before["schematic"])) for before in kept(FILE)]
    assert [(before, after) for before, after in found if before != after] == []


def test_every_error_has_a_place() -> None:
    places = [line for each in kept(FILE) for line in each["told"] if line.startswith("error ")]
    assert places and not [line for line in places if line.split(" ")[2] == "-"]
