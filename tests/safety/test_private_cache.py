"""Code in the cache folder runs only if nobody else can have written it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pto_dialect.accel import cache
from pto_dialect.integrations.pypto import host_code

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files have no owners here")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A text whose library is made by copying, and loaded by telling where it lies."""

    def compiled(text: str, folder: Path) -> Path:
        (folder / "host.so").write_text(text)
        return folder / "host.so"

    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(host_code, "_compiled", compiled)
    monkeypatch.setattr(host_code.ctypes, "CDLL", lambda path: Path(path).read_text())
    host_code._loaded.cache_clear()
    return "the text"


def load(source: str) -> object:
    host_code._loaded.cache_clear()
    return host_code._loaded(source)


def test_a_library_is_kept_for_its_user_alone(source: str, tmp_path: Path) -> None:
    assert load(source) == source
    (kept,) = (tmp_path / "cache" / "host").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o700
    kept.write_text("kept")
    assert load(source) == "kept"


@pytest.mark.parametrize("what", ["file", "folder", "link"])
def test_what_others_can_write_is_not_loaded(source: str, tmp_path: Path, what: str) -> None:
    assert load(source) == source
    folder = tmp_path / "cache" / "host"
    (kept,) = folder.iterdir()
    kept.write_text("foreign")
    if what == "file":
        kept.chmod(0o722)
    elif what == "folder":
        folder.chmod(0o777)
    else:
        kept.rename(tmp_path / "elsewhere")
        kept.symlink_to(tmp_path / "elsewhere")
    assert load(source) == source


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only the administrator gives files away")
def test_what_belongs_to_somebody_else_is_not_used(source: str, tmp_path: Path) -> None:
    assert load(source) == source
    (kept,) = (tmp_path / "cache" / "host").iterdir()
    kept.write_text("foreign")
    os.chown(kept, 65534, 65534)
    assert load(source) == source
    os.chown(tmp_path / "cache", 65534, 65534)
    assert cache.cache_folder() is None
