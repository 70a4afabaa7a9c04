"""Random edits of a running server: it answers every question, and knows what it would know of a text just opened."""

from __future__ import annotations

import pytest

pytest.importorskip("pygls", reason="the language server needs it")

from lsp_edits import edit_at_random
from lsp_session import Session


def test_random_edits_leave_the_server_as_a_fresh_open_would() -> None:
    session = Session()
    differed, refused = edit_at_random(session, 300, seed=7)
    assert (differed, refused) == (0, [])
    assert session.end() == 0
