"""What `pto doctor` says of installed packages; the packages are empty ones with the files that tell them apart."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from pto_dialect.integrations import doctor
from pto_dialect.integrations.doctor import Part, is_complete, parts, satisfies
from pto_dialect.tools.pto_doctor import main  # pyright: ignore[reportMissingImports]

PTODSL, CSL = "ptodsl/_runtime/launch.py", "ptodsl/compiler/jit.py"


def install(folder: Path, *files: str) -> Path:
    """A folder of packages with these files, first on the path of modules."""
    for file in files:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        (folder / file.partition("/")[0] / "__init__.py").touch()
    sys.path.insert(0, str(folder))
    return folder


@pytest.fixture(autouse=True)
def own_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves the path of modules as it was."""
    monkeypatch.setattr(sys, "path", list(sys.path))


def part(name: str) -> Part:
    """The entry of one part."""
    return next(each for section in parts().values() for each in section if each.name == name)


def test_installation_that_has_what_it_needs_is_complete() -> None:
    found = parts()
    assert [each.state for each in found["This package"]] == ["ok"] * len(found["This package"])
    assert is_complete(found)


def test_each_kind_of_ptodsl_is_distinguished_from_the_other(tmp_path: Path) -> None:
    assert part("PTODSL of PTOAS").state == part("ptodsl of huawei-csl").state == "missing"
    install(tmp_path / "a", CSL)
    assert part("ptodsl of huawei-csl").place == str(tmp_path / "a" / "ptodsl")
    assert part("PTODSL of PTOAS").state == "missing"


def test_of_two_packages_of_one_name_the_hidden_one_is_wrong(tmp_path: Path) -> None:
    install(tmp_path / "a", CSL)
    install(tmp_path / "b", PTODSL)
    hidden = part("ptodsl of huawei-csl")
    assert (part("PTODSL of PTOAS").state, hidden.state) == ("ok", "wrong")
    assert hidden.wrong == f"PTODSL of PTOAS comes before it: {tmp_path / 'b' / 'ptodsl'}"


def test_unknown_package_of_that_name_is_wrong(tmp_path: Path) -> None:
    install(tmp_path, "ptodsl/other.py")
    assert part("ptodsl").wrong == "neither of the known packages of that name"


def test_other_project_called_pypto_is_wrong(tmp_path: Path) -> None:
    install(tmp_path / "a", "pypto/other.py")
    found = part("pypto")
    assert (found.state, found.command) == (
        "wrong",
        "pip uninstall pypto; docs/pypto.md has the commands that build it",
    )
    install(tmp_path / "b", "pypto/backend/pto_backend.py")
    assert part("pypto").state == "ok"


def test_nothing_is_imported(tmp_path: Path) -> None:
    install(tmp_path, PTODSL, "torch/x.py", "torch_npu/x.py", "ptoas/x.py", "pypto/x.py")
    for name in ("ptodsl", "torch", "torch_npu", "ptoas", "pypto"):
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('imported')")
    assert part("torch").state == part("torch_npu").state == part("ptoas").state == "ok"


def test_old_dependency_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_version", lambda name: "1.20.0" if name == "numpy" else "99")
    numpy = part("numpy")
    assert numpy.state == "wrong" and numpy.wrong.startswith("needs numpy") and numpy.command.startswith("pip install")
    assert not is_complete(parts())


@pytest.mark.parametrize(
    ("number", "wanted", "fits"),
    [
        ("2.4.6", "<3,>=1.26", True),
        ("1.25.9", "<3,>=1.26", False),
        ("3.0", "<3,>=1.26", False),
        ("1.3.1", "==1.3.*", True),
        ("1.4", "==1.3.*", False),
        ("7", "", True),
    ],
)
def test_versions_are_compared_by_their_numbers(number: str, wanted: str, fits: bool) -> None:
    assert satisfies(number, wanted) is fits


def test_command_prints_a_table_and_json(tmp_path: Path) -> None:
    install(tmp_path, "pypto/other.py")
    told = CliRunner().invoke(main, [])
    assert told.exit_code == 1
    assert "PyPTO\n  wrong    pypto " in told.stdout and "another project of this name" in told.stdout
    told = CliRunner().invoke(main, ["--output-format", "json"])
    assert next(one["state"] for one in json.loads(told.stdout)["PyPTO"]) == "wrong"
