"""Every kind of child process starts in a folder whose modules have the names of others, and imports none of them."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from debug_dialogues import PROGRAM
from editor_client import Editor
from lsp_session import Session
from served_calls import CHECKOUT

from pto_dialect import children

SHADOWS = (
    *("json", "click", "numpy", "tomllib", "distributed", "pto_dialect", "dask", "xdsl", "lark", "ml_dtypes"),
    *("multiprocessing", "subprocess", "pickle", "struct", "socket", "threadpoolctl", "pygls", "watchfiles", "tools"),
    *("sitecustomize", "usercustomize", "runpy", "random", "tempfile", "typing", "dataclasses", "cryptography"),
)
SHADOW = """open({marker!r}, "w").close()
raise SystemExit("a module of the current folder")
"""
SCRIPT = """import sys
sys.path.insert(0, {checkout!r})
import pto_dialect
pto_dialect.__path__.append({checkout!r})
from pto_dialect.tools.start import {name}
if __name__ == "__main__":
    {name}()
"""
ADD = (Path(__file__).parents[1] / "tools" / "programs" / "add.pto").read_text(encoding="utf-8")
ARGUMENTS = ("--arg", "x=ones:f32:4x8", "--arg", "y=ones:f32:4x8", "--arg", "z=zeros:f32:4x8")
LAUNCH = 'program = "add.pto"\n[arguments]\nx = "ones:f32:4x8"\ny = "ones:f32:4x8"\nz = "zeros:f32:4x8"\n'
SECONDS = 120


class Hostile:
    """The folder, and commands that are called in it; ``scripts`` are those of an installation."""

    def __init__(self, above: Path) -> None:
        self.folder, self.markers, self.scripts = above / "hostile", above / "markers", above / "scripts"
        for folder in (self.folder, self.markers, self.scripts):
            folder.mkdir()
        for name in SHADOWS:
            text = SHADOW.format(marker=str(self.markers / name))
            (self.folder / f"{name}.py").write_text(text, encoding="utf-8")
        package = self.folder / "pto_dialect"
        package.mkdir()
        (self.folder / "pto_dialect.py").rename(package / "__init__.py")
        (self.folder / "add.pto").write_text(ADD, encoding="utf-8")
        (self.folder / "add.launch.toml").write_text(LAUNCH, encoding="utf-8")
        (self.folder / "sweep.launch.toml").write_text(f"{LAUNCH}[sweep]\nn = [1, 2]\n", encoding="utf-8")
        (self.folder / "k.pto").write_text(PROGRAM, encoding="utf-8")
        np.save(self.folder / "a.npy", np.arange(64, dtype=np.float32))
        self.environment = {**os.environ, "PTO_CACHE_DIR": str(above / "cache"), "PTO_SERVER_IDLE": "3"}
        self.environment.pop("PYTHONPATH", None)

    def command(self, name: str, *arguments: str) -> list[str]:
        """The command line of an installed command."""
        script = self.scripts / name.replace("_", "-")
        script.write_text(SCRIPT.format(checkout=str(CHECKOUT), name=name), encoding="utf-8")
        return [sys.executable, str(script), *arguments]

    def call(self, name: str, *arguments: str, **variables: str) -> str:
        """The standard output of a command that succeeds."""
        return self.done(self.command(name, *arguments), **variables)

    def done(self, command: list[str], **variables: str) -> str:
        done = subprocess.run(
            command, cwd=self.folder, env={**self.environment, **variables}, capture_output=True, text=True,
            timeout=SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def python(self, text: str) -> str:
        """The standard output of a script outside of the folder."""
        script = self.scripts / "script.py"
        script.write_text(text, encoding="utf-8")
        return self.done([sys.executable, str(script)])


@pytest.fixture
def hostile(tmp_path: Path):
    """Whatever runs in the folder, no module of it is imported."""
    found = Hostile(tmp_path)
    yield found
    assert sorted(path.name for path in found.markers.iterdir()) == []


def test_the_shadows_are_seen(tmp_path: Path) -> None:
    hostile = Hostile(tmp_path)
    ended = subprocess.run([sys.executable, "-c", "import click"], cwd=hostile.folder, check=False)
    assert ended.returncode
    assert "click" in {path.name for path in hostile.markers.iterdir()}


def test_plain_commands_and_workers(hostile: Hostile) -> None:
    assert "pto.tadd" in hostile.call("pto_opt", "add.pto")
    hostile.call("pto_opt", "--verify-only", "-j", "2", "add.pto", "k.pto")
    assert "z" in hostile.call("pto_run", "add.pto", "--blocks", "2", "-j", "2", *ARGUMENTS)
    hostile.call("pto_run", "-j", "2", "add.launch.toml", "sweep.launch.toml")
    assert "z" in hostile.call("pto_run", "add.pto", "--ranks", "2", "-j", "2", *ARGUMENTS)


def test_workers_of_a_process_with_threads(hostile: Hostile) -> None:
    text = """import threading, time
from functools import partial
from pto_dialect.driver.workers import in_parallel

if __name__ == "__main__":
    threading.Thread(target=time.sleep, args=(3,), daemon=True).start()
    print(list(in_parallel([1, 4], abs, 2)))
"""
    assert hostile.python(text) == "[1, 4]\n"


def test_a_server_and_its_copies(hostile: Hostile) -> None:
    for _ in range(2):
        assert "pto.tadd" in hostile.call("pto_opt", "add.pto", PTO_SERVER="1")


def test_instrumentation(hostile: Hostile) -> None:
    pytest.importorskip("watchfiles", reason="the extra watch is not installed")
    command = hostile.command("pto_opt", "--watch", "add.pto")
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=hostile.folder, env=hostile.environment, stdout=pipe, stderr=pipe, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            assert "func.func @add" in process.stdout.read(200)
            end = time.monotonic() + SECONDS
            while not select.select([process.stderr], [], [], 0.2)[0]:
                assert time.monotonic() < end
                (hostile.folder / "add.pto").write_text(ADD + "//\n", encoding="utf-8")
            assert "changed" in process.stderr.readline()
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=SECONDS)


def test_the_module_by_hand(hostile: Hostile) -> None:
    shutil.rmtree(hostile.folder / "pto_dialect")
    (hostile.folder / "runpy.py").unlink()
    assert "pto.tadd" in hostile.done([sys.executable, "-m", "pto_dialect", "opt", "add.pto"])


def test_lenses(hostile: Hostile) -> None:
    pytest.importorskip("pygls", reason="the language server needs it")
    session = Session(command=hostile.command("pto_lsp"), folder=hostile.folder)
    uri = (hostile.folder / "add.pto").as_uri()
    session.open(uri, ADD)
    for name in ("pto.run", "pto.sanitize"):
        answer = session.request("workspace/executeCommand", {"command": name, "arguments": [uri]})
        assert "z: f32 4x8" in answer["result"], answer
    assert session.end() == 0


def test_the_adapter(hostile: Hostile) -> None:
    editor = Editor(hostile.command("pto_debug_adapter"), hostile.folder)
    values = ["--entry", "k", "--arg", "a=a.npy", "--arg", "b=zeros:f32:64"]
    editor.ask("launch", program="k.pto", args=values, cwd=str(hostile.folder))
    editor.wait("initialized")
    assert editor.close() == 0


def test_a_cluster_of_this_machine(hostile: Hostile) -> None:
    pytest.importorskip("distributed", reason="clusters need the extra cluster")
    out = hostile.call("pto_run", "sweep.launch.toml", "--cluster", "local:1")
    assert "2 launch files: 2 passed" in out


def test_the_assembler_and_orchestrations_of_pypto(hostile: Hostile) -> None:
    (hostile.folder / "g++").write_text("#!/bin/sh\ntouch ../markers/compiler\n", encoding="utf-8")
    (hostile.folder / "g++").chmod(0o755)
    text = """import os, subprocess
from pto_dialect.integrations.pypto import host_code, platform

os.environ["PATH"] = ".:" + os.environ["PATH"]
print(host_code.find_host_compiler())
program = os.path.join(platform._assembler_folder(), "ptoas")
print(subprocess.run([program, "--version"], capture_output=True, text=True).stdout)
"""
    compiler, version, _ = hostile.python(text).split("\n", 2)
    assert os.path.isabs(compiler)
    assert version == "ptoas (pto-dialect)"


def test_a_notebook_starts_no_process(hostile: Hostile) -> None:
    text = """import os, sys
from types import SimpleNamespace
from pto_dialect.integrations.notebook import pto

started = []
KINDS = ("subprocess.", "os.fork", "os.exec", "os.posix_spawn")
sys.addaudithook(lambda name, _: started.append(name) if name.startswith(KINDS) else None)
print(pto("name", open("add.pto").read(), SimpleNamespace(user_ns={})), started)
"""
    assert hostile.python(text) == "None []\n"


def test_variables_of_python_stay_here(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONPATH", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONBREAKPOINT"):
        monkeypatch.setenv(name, "hostile")
    monkeypatch.setenv("PTO_CACHE_DIR", "/nowhere")
    found = children.child_environment()
    assert found["PTO_CACHE_DIR"] == "/nowhere"
    assert [name for name in found if name.startswith("PYTHON")] == []
    with children.clean_start():
        assert os.environ["PYTHONSAFEPATH"] == "1"
        assert "PYTHONSTARTUP" not in os.environ
    assert os.environ["PYTHONPATH"] == "hostile"
    assert "PYTHONSAFEPATH" not in os.environ


def test_an_installation_with_another_home_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", sys.base_prefix)
    assert children.child_environment()["PYTHONHOME"] == sys.base_prefix
    command = children.python_command("pto_dialect.tools.start:pto", "--version")
    assert command[1:3] == ["-P", "-s"]
    monkeypatch.delenv("PYTHONHOME")
    assert children.python_command("pto_dialect.tools.start:pto", "--version")[1] == "-I"


def test_folders_of_dependencies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other, current = tmp_path / "other", tmp_path / "current"
    for folder in (other, current):
        (folder / "click").mkdir(parents=True)
        (folder / "click" / "__init__.py").touch()
    monkeypatch.chdir(current)
    monkeypatch.setattr(sys, "path", ["", "relative", str(current), str(tmp_path), str(other), *sys.path])
    found = children.dependency_folders()
    assert found[0] == str(other)
    assert not {"", "relative", str(current), str(tmp_path)} & set(found)
    with children.clean_start():
        assert sys.path[0] == str(tmp_path)
        assert os.environ["PYTHONPATH"].split(os.pathsep)[0] == str(other)
    assert sys.path[0] == ""
