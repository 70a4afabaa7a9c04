"""An editable installation: its finder, as setup.py writes it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]

LOOK = """
import json, sys
before = set(sys.modules)
import finder
loaded = sorted(set(sys.modules) - before)
finder.install()
finder.install()
import one, one.inside, one.inside.deep
try:
    import one.missing
except ModuleNotFoundError as error:
    missing = error.name
found = [sys.modules[name].__file__ for name in ("one", "one.inside", "one.inside.deep")]
print(json.dumps([loaded, found, one.__path__, missing, sum(entry is finder.Finder for entry in sys.meta_path)]))
"""


def template() -> str:
    """The text of the finder in setup.py, which installs when it is imported."""
    module = ast.parse((CHECKOUT / "setup.py").read_text(encoding="utf-8"))
    for statement in module.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "FINDER":
            return ast.literal_eval(statement.value)
    raise AssertionError("setup.py has no FINDER")


@pytest.mark.parametrize("folder", ["plain", "with 'quotes' and \\", "{braces}"])
def test_packages_are_found_where_they_are(folder: str, tmp_path: Path) -> None:
    """Also one that is beside the package that it belongs to; nothing else is imported for that."""
    checkout = tmp_path / folder
    (checkout / "one").mkdir(parents=True)
    (checkout / "aside").mkdir()
    for name in ("one/__init__.py", "aside/__init__.py", "aside/deep.py"):
        (checkout / name).write_text("")
    places = {"one": str(checkout / "one"), "one.inside": str(checkout / "aside")}
    (tmp_path / "finder.py").write_text(template().format(places=places), encoding="utf-8")
    line = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{LOOK}"]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=60, check=True)
    loaded, found, path, missing, times = json.loads(ended.stdout)
    wanted = [checkout / "one" / "__init__.py", checkout / "aside" / "__init__.py", checkout / "aside" / "deep.py"]
    assert found == [str(place) for place in wanted] and path == [str(checkout / "one")]
    assert loaded == ["finder"] and missing == "one.missing" and times == 1
