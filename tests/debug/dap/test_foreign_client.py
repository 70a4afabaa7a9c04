"""The debug adapter and the client that Microsoft tests adapters with; and the schema of the protocol.

The client is the npm package ``@vscode/debugadapter-testsupport``, which node finds through ``NODE_PATH``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from dap_schema import definitions, mistakes
from debug_dialogues import PROGRAM

ROOT = Path(__file__).resolve().parents[3]
CLIENT = ROOT / "tests" / "helpers" / "vscode_client.js"


def has_client() -> bool:
    node = shutil.which("node")
    wanted = "require.resolve('@vscode/debugadapter-testsupport')"
    return node is not None and subprocess.run([node, "-e", wanted], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not has_client(), reason="node does not find @vscode/debugadapter-testsupport")
def test_a_session_of_a_foreign_client(tmp_path: Path) -> None:
    program, start, array = tmp_path / "k.pto", tmp_path / "start.py", tmp_path / "a.npy"
    program.write_text(PROGRAM, encoding="utf-8")
    start.write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nfrom tools.pto_debug_adapter import main\nmain()\n",
        encoding="utf-8",
    )
    np.save(array, np.arange(64, dtype=np.float32))
    options = f"--entry k --arg a={array} --arg b=zeros:f32:64"
    command = ["node", str(CLIENT), sys.executable, str(start), str(program), options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.strip().split("\n")[-1]) == {
        "stepsBack": True,
        "verified": [True],
        "frame": "@k [%i = 1] V",
        "i": "1",
        "most": "504",
        "refused": "'1 +' is no expression",
        "forwards": "step",
        "backwards": "step",
        "over": "the run is over",
    }


@pytest.mark.skipif(definitions() is None, reason="the schema comes with debugpy")
def test_the_schema_is_looked_at() -> None:
    answer = {"seq": 1, "type": "response", "request_seq": 1, "command": "threads", "success": True}
    assert mistakes(answer) == ["$: 'body' is a required property"]
    assert mistakes({**answer, "success": False, "message": "no"}) == ["$: 'body' is a required property"]
    assert mistakes({"seq": 2, "type": "event", "event": "initialized"}) == []
