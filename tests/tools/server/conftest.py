"""A server for the tests of one file, ended afterwards."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from served_calls import Commands, alive, until


def stop(commands: Commands) -> None:
    """Ends all servers."""
    for server in commands.servers():
        with suppress(ProcessLookupError):
            os.kill(server, signal.SIGTERM)
            until(lambda pid=server: not alive(pid), "the server does not end")


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Commands]:
    made = Commands(tmp_path)
    yield made
    stop(made)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    """With a server that has been started."""
    made = Commands(tmp_path_factory.mktemp("served"))
    made.start()
    yield made
    stop(made)
