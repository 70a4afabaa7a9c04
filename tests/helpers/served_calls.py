"""Calls of ``pto-opt`` as processes, with a server and without one."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import chdir, suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from warm_caches import warm

client = import_module("pto_dialect.tools.server.client")
endpoint = import_module("pto_dialect.tools.server.endpoint")

CHECKOUT = Path(__file__).parents[2]
SECONDS = 120.0
"""How long anything may take on a busy machine."""

SCRIPT = f"""import os, sys
if "TEST_REFUSES" in os.environ:
    class Refuse:
        def find_spec(self, name, *_):
            if name == os.environ["TEST_REFUSES"]:
                sys.exit("refused")
    sys.meta_path.insert(0, Refuse())
sys.path.insert(0, {str(CHECKOUT)!r})
import pto_dialect
# A server ends when a folder on Python's path changes, and other tests write to the checkout.
sys.path.remove({str(CHECKOUT)!r})
pto_dialect.__path__.append({str(CHECKOUT)!r})
if "TEST_IDENTITY" in os.environ:
    from pto_dialect.tools.server.endpoint import identity
    print(identity(), end="")
    sys.exit(0)
from pto_dialect.tools.start import pto_opt
pto_opt()
"""


def until(condition: Callable[[], Any], what: str) -> Any:
    """What ``condition`` gives as soon as that is true."""
    end = time.monotonic() + SECONDS
    while not (found := condition()):
        assert time.monotonic() < end, what
        time.sleep(0.02)
    return found


class Commands:
    """``pto-opt`` with a cache folder of its own; ``folder`` is where it is run and where its script lies."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        scripts = folder / "scripts"
        scripts.mkdir()
        self.script = scripts / "pto-opt"
        self.script.write_text(SCRIPT)
        cache = warm(folder / "cache")
        self.sockets = cache / "server"
        self.environment = {**os.environ, "PTO_CACHE_DIR": str(cache), "PTO_SERVER": "1"}
        self.environment.pop("PYTHONPATH", None)

    def plain(self, *arguments: str | bytes, **options: Any) -> subprocess.CompletedProcess[bytes]:
        """A call without a server."""
        return self.call(*arguments, variables={"PTO_SERVER": "0", **options.pop("variables", {})}, **options)

    def call(
        self,
        *arguments: str | bytes,
        variables: dict[str, str] | None = None,
        **options: Any,
    ) -> subprocess.CompletedProcess[bytes]:
        """A call that is answered by a server if there is one."""
        environment = {**self.environment, **(variables or {})}
        given = {"cwd": self.folder, "input": b"", "capture_output": True, "timeout": SECONDS, **options}
        return subprocess.run([sys.executable, str(self.script), *arguments], env=environment, check=False, **given)

    def begin(self, *arguments: str, **options: Any) -> Any:
        """A call that continues; its streams are pipes."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        command = [sys.executable, str(self.script), *arguments]
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, **{**pipes, **options})

    def servers(self) -> list[int]:
        """Process ids of the servers that listen."""
        locks = list(self.sockets.glob("*.lock")) if self.sockets.is_dir() else []
        return [int(lock.read_text()) for lock in locks if lock.with_suffix("").exists()]

    def start(self) -> int:
        """Starts a server by a first call, which it does not answer; its process id."""
        assert self.call("--version").returncode == 0
        return until(self.servers, "no server has come")[0]

    def direct(self, *arguments: str, folder: Path) -> tuple[int, bytes, bytes]:
        """What the server answers to a call that this process makes itself: exit code and both streams."""
        with TemporaryFile() as out, TemporaryFile() as errors, open(os.devnull, "rb") as nothing, chdir(folder):
            request = (
                self.identity
                + b"\0"
                + b"\0".join(
                    os.fsencode(text)
                    for text in (
                        "18",
                        "",
                        str(len(arguments) + 1),
                        "pto-opt",
                        *arguments,
                        *map("=".join, os.environ.items()),
                    )
                )
            )
            connection = client._connected(str(self.sockets), endpoint.socket_name(self.identity.decode()))
            assert connection is not None
            size = len(request).to_bytes(endpoint.LENGTH_BYTES, "little")
            client.send(connection, size + request, (nothing.fileno(), out.fileno(), errors.fileno()))
            answer = client._received(connection, 3)
            connection.close()
            assert answer[:2] == endpoint.STARTED + endpoint.EXITED
            out.seek(0)
            errors.seek(0)
            return answer[2], out.read(), errors.read()

    @cached_property
    def identity(self) -> bytes:
        """What servers of this script are distinguished by."""
        return self.call(variables={"TEST_IDENTITY": "1"}).stdout

    def workers(self, server: int) -> list[int]:
        """Copies of a server that carry calls out."""
        statuses: list[str] = []
        for path in Path("/proc").glob("[0-9]*/status"):
            with suppress(OSError):  # The process may have ended.
                statuses.append(path.read_text())
        parts = [dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line) for text in statuses]
        return [int(part["Pid"]) for part in parts if int(part["PPid"]) == server]


def alive(pid: int) -> bool:
    """Whether a process runs."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")
