"""A cluster of this machine belongs to the user who started it: others of the machine cannot use it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed", reason="clusters need the extra cluster")

SERVE = """import os, sys
from pto_dialect.driver.sweep.cluster import ClusterAddress, connected

def fill():
    return 7

if __name__ == "__main__":
    dashboard = sys.argv[1] == "dashboard"
    with connected(ClusterAddress("local:1", show_dashboard=print if dashboard else None)) as client:
        assert client.submit(fill, pure=False).result() == 7
        pids = [os.getpid(), *client.run(os.getpid, nanny=True).values(), *client.run(os.getpid).values()]
        print(client.scheduler.address, *client.scheduler_info()["workers"], flush=True)
        print(*pids, flush=True)
        sys.stdin.readline()
"""
ATTACK = """import asyncio, os, sys
from urllib.parse import urlsplit
from distributed.comm import connect
from distributed.security import Security

# Another user may not be allowed to read the modules.
other = Security.temporary().get_connection_args("client")
uid = int(sys.argv[1])
if uid:
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)

async def ask(address, **options):
    comm = await connect(address, timeout=5, **options)
    await comm.write({"op": "identity", "reply": True})
    return await asyncio.wait_for(comm.read(), 5)

for address in sys.argv[2:]:
    place = urlsplit(address)
    for attempt, options in ((f"tcp://{place.netloc}", {}), (address, other)):
        try:
            asyncio.run(ask(attempt, **options))
        except (OSError, asyncio.TimeoutError, ValueError, TypeError) as error:
            print("refused")
        else:
            print("REACHED", attempt)
"""


class Cluster:
    """A cluster in a process of its own: addresses of its scheduler and worker, ids of its processes."""

    def __init__(self, folder: Path, dashboard: bool = False) -> None:
        script = folder / "serve.py"
        script.write_text(SERVE, encoding="utf-8")
        pipe = subprocess.PIPE
        command = [sys.executable, str(script), "dashboard" if dashboard else "none"]
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        assert self.process.stdout is not None
        self.shown = self.process.stdout.readline().strip() if dashboard else ""
        self.addresses = self.process.stdout.readline().split()
        self.pids = self.process.stdout.readline().split()

    def end(self) -> None:
        self.process.communicate("\n", timeout=60)
        assert self.process.returncode == 0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    yield found
    found.end()


def listening(pids: list[str]) -> set[tuple[str, int]]:
    """Addresses, as the kernel writes them, and ports on which processes listen."""
    inodes: set[str] = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            try:
                inodes.update(re.findall(r"socket:\[(\d+)\]", os.readlink(link)))
            except OSError:
                continue
    found: set[tuple[str, int]] = set()
    for table in ("tcp", "tcp6"):
        path = Path(f"/proc/net/{table}")
        for line in path.read_text().splitlines()[1:] if path.exists() else ():
            words = line.split()
            if words[3] == "0A" and words[9] in inodes:
                address, _, port = words[1].partition(":")
                found.add((address, int(port, 16)))
    return found


LOOPBACK = "0100007F"


@pytest.mark.skipif(not os.path.exists("/proc/net/tcp"), reason="there is no list of sockets")
def test_it_listens_on_loopback_and_gives_nothing_away(cluster: Cluster) -> None:
    from urllib.error import HTTPError, URLError
    from urllib.request import urlopen

    assert cluster.addresses and all(one.startswith("tls://127.0.0.1:") for one in cluster.addresses)
    found = listening(cluster.pids)
    assert {int(one.rpartition(":")[2]) for one in cluster.addresses} <= {port for _, port in found}
    assert {address for address, _ in found} == {LOOPBACK}
    for _, port in found:
        for path in ("", "status", "json/counts.json", "info/main/workers.html", "api/v1/adaptive_target"):
            with pytest.raises((HTTPError, URLError, OSError)):
                urlopen(f"http://127.0.0.1:{port}/{path}", timeout=5)


@pytest.mark.parametrize("uid", [0, 65534])
def test_nobody_else_can_talk_to_it(cluster: Cluster, tmp_path: Path, uid: int) -> None:
    if uid and os.name == "posix" and os.geteuid():
        uid = 0  # Only the administrator can become somebody else; the certificates are what it needs anyway.
    script = tmp_path / "attack.py"
    script.write_text(ATTACK, encoding="utf-8")
    text = script.read_text(encoding="utf-8")
    command = [sys.executable, "-c", text, str(uid), *cluster.addresses]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd="/")
    assert done.stdout.split() == ["refused"] * 2 * len(cluster.addresses), done.stderr


def test_the_attack_reaches_a_cluster_without_certificates() -> None:
    code = """import subprocess, sys
import distributed
if __name__ == "__main__":
    with distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster:
        command = [sys.executable, "-c", sys.argv[1], "0", cluster.scheduler_address]
        print(subprocess.run(command, capture_output=True, text=True).stdout)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, ATTACK], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.startswith("REACHED tcp://"), done.stderr


def test_a_dashboard_that_is_requested_is_on_this_machine(tmp_path: Path) -> None:
    found = Cluster(tmp_path, dashboard=True)
    try:
        assert found.shown.startswith("http://127.0.0.1:")
        assert {address for address, _ in listening(found.pids)} <= {LOOPBACK}
    finally:
        found.end()


SCHEDULERS = [
    ("tcp://host:8786", "tcp://host:8786"),
    ("host:8786", "host:8786"),
    ("ws://host:8786", "ws://host:8786"),
    ("scheduler.json", "tcp://host:8786"),
]


@pytest.mark.parametrize(("place", "told"), SCHEDULERS)
def test_a_scheduler_without_certificates_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, told: str
) -> None:
    from pto_dialect.driver.sweep.cluster import ClusterAddress, ClusterError, connected

    monkeypatch.chdir(tmp_path)
    (tmp_path / "scheduler.json").write_text('{"address": "tcp://host:8786"}', encoding="utf-8")
    with (
        pytest.raises(ClusterError, match=f"the cluster at '{told}' has no TLS: .* --insecure"),
        connected(ClusterAddress(place)),
    ):
        pass


@pytest.mark.parametrize("text", ["", "[", "[" * 100_000, "{}", "[1]", "\xff"])
def test_a_file_that_is_none_of_a_scheduler(tmp_path: Path, text: str) -> None:
    from pto_dialect.driver.sweep.cluster import ClusterAddress, ClusterError, connected

    path = tmp_path / "scheduler.json"
    path.write_bytes(text.encode("latin-1"))
    with (
        pytest.raises(ClusterError, match="is no file of a Dask scheduler"),
        connected(ClusterAddress(str(path), True)),
    ):
        pass


def test_a_scheduler_with_certificates_needs_ours(tmp_path: Path) -> None:
    from pto_dialect.driver.sweep.cluster import ClusterAddress, ClusterError, connected

    told = re.escape("no scheduler answers at 'tls://127.0.0.1:9'")
    with pytest.raises(ClusterError, match=told), connected(ClusterAddress("tls://127.0.0.1:9")):
        pass


def test_options(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from importlib import import_module

    from click.testing import CliRunner

    monkeypatch.chdir(tmp_path)
    command: Any = import_module("pto_dialect.tools.pto_run").main
    (tmp_path / "a.launch.toml").write_text('program = "a.pto"\n', encoding="utf-8")
    (tmp_path / "a.pto").write_text("func.func @f() attributes {pto.kernel} {\n  return\n}\n", encoding="utf-8")
    told = CliRunner().invoke(command, ["a.launch.toml", "--cluster", "tcp://host:1"])
    assert (told.exit_code, told.stderr.startswith("error: the cluster at 'tcp://host:1' has no TLS: ")) == (2, True)
    for option in ("--insecure", "--dashboard"):
        told = CliRunner().invoke(command, ["a.launch.toml", option])
        assert (told.exit_code, told.stderr.splitlines()[-1]) == (
            2,
            f"Error: {option} has no meaning without --cluster",
        )
