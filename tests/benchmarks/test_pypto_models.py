"""How the benchmark of PyPTO's programs judges what they print, and which files are programs."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from pypto_models import FAILED, FOUND, PASSED, REFUSED, judged, programs

RACE = "model.py:14:8: error: nothing orders the two [race-raw]"


@pytest.mark.parametrize(
    ("code", "output", "ended", "line"),
    [
        (0, "[RUN] PASS (1.3s)\n", PASSED, ""),
        (3, f"[RUN] PASS (1.3s)\n{RACE}\n  x = load(a)\npto-dialect: the sanitizers report 1 errors\n", FOUND, RACE),
        (1, f"{RACE}\n'y' FAIL\n", FOUND, RACE),
        (
            1,
            "RuntimeError: no\n  [proj]\n",
            FAILED,
            "RuntimeError: no",
        ),
        (1, "'y' FAIL  shape=(8, 4096)\n\n", FAILED, "'y' FAIL  shape=(8, 4096)"),
        (2, "usage: x.py\nx.py: error: argument -p: invalid choice: 'a5sim'\n", REFUSED, None),
        (1, "", FAILED, ""),
    ],
)
def test_findings_come_before_the_end_of_a_program(code: int, output: str, ended: str, line: str | None) -> None:
    outcome = judged(code, output, 1.5)
    assert (outcome.ended, outcome.seconds) == (ended, 1.5)
    assert line is None or outcome.line == line


def test_modules_and_drafts_are_no_programs(tmp_path: Path) -> None:
    main = 'if __name__ == "__main__":\n    main()\n'
    files = {"examples/b/add.py": main, "models/m/decode.py": main, "models/m/config.py": "N = 1\n"}
    for name, text in {**files, "models/m/decode_draft.py": main, "tests/t.py": main}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert [str(Path(file).relative_to(tmp_path)) for file in programs(tmp_path)] == [
        "examples/b/add.py",
        "models/m/decode.py",
    ]
