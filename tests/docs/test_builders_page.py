"""The example of the page about builders prints what the page shows."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "builders.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_example_prints_the_error_of_the_page(tmp_path: Path) -> None:
    [program], [output] = blocks("python"), blocks("text")
    (tmp_path / "add.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "pto_dialect.integrations.builders", "add.py"]
    ended = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}
    )
    # Python 3.13 underlines the call in a traceback.
    assert (ended.stdout, re.sub(r"^ +~+\^+~*\n", "", ended.stderr, flags=re.MULTILINE)) == ("", output)
