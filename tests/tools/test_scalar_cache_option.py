"""``pto-run --scalar-cache``: what the data caches of the scalar units lose is lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tools.pto_run import main

PROGRAM = str(Path(__file__).parents[2] / "examples" / "faulty" / "cache.pto")
RANKS = f"""program = "{PROGRAM}"
ranks = 2
[arguments]
q = "zeros:i32:16"
"""


def run(*options: str) -> tuple[int, str, str]:
    """Exit code and outputs of a run."""
    result = CliRunner().invoke(main, [*options, "--no-cache"], prog_name="pto-run")
    return result.exit_code, result.stdout, result.stderr


def test_the_line_comes_back_old() -> None:
    """MTE3 stores -1 to all 16 numbers, then the scalar unit 7 to the first one of a line that it held before."""
    numbers = {
        option: run(PROGRAM, "--arg=q=zeros:i32:16", "--dump", *option)[1].split("[")[1]
        for option in ((), ("--scalar-cache",))
    }
    assert numbers[()].strip("]\n").split() == ["7", *["-1"] * 15]
    assert numbers["--scalar-cache",].strip("]\n").split() == ["7", *["0"] * 15]


@pytest.mark.parametrize("option", ["--sanitize", "--cycles", "--ranks=2", "--trace=t.json", "--record=r.pto-rec"])
def test_runs_with_coherent_memory_refuse_it(option: str) -> None:
    code, _, err = run(PROGRAM, "--arg=q=zeros:i32:16", "--scalar-cache", option)
    assert code == 2
    assert f"--scalar-cache does not go with {option.partition('=')[0]}" in err


def test_ranks_of_a_launch_file_refuse_it(tmp_path: Path) -> None:
    file = tmp_path / "two.launch.toml"
    file.write_text(RANKS)
    code, _, err = run(str(file), "--allow-outside", "--scalar-cache")
    assert code == 2
    assert "the data caches of ranks are not modelled" in err


def test_a_launch_file_takes_it(tmp_path: Path) -> None:
    np.save(tmp_path / "want.npy", np.array([7, *[0] * 15], np.int32))
    file = tmp_path / "one.launch.toml"
    file.write_text(RANKS.replace("ranks = 2\n", "") + '[expect]\nq = "want.npy"\n')
    codes = [run(str(file), "--allow-outside", *option)[0] for option in ((), ("--scalar-cache",))]
    assert codes == [1, 0]
