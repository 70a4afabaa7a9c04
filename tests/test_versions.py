"""Versions are those that Python's own, slower modules report."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from pto_dialect.versions import installed_version, python_version


@pytest.mark.parametrize("name", ["xdsl", "numpy", "click", "lark"])
def test_an_installed_package(name: str) -> None:
    assert installed_version(name) == version(name)


def test_the_first_folder_of_the_path_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "xdsl-1.2.3.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "missing"), str(tmp_path), *sys.path])
    assert installed_version("xdsl") == "1.2.3"


def test_a_package_that_is_not_installed() -> None:
    with pytest.raises(PackageNotFoundError):
        installed_version("nosuchpackage")


def test_python() -> None:
    assert python_version() == platform.python_version()
