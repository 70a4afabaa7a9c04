"""Modules whose code comes from the cache folder are those that Python would load, in every respect."""

import importlib
import os
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pto_dialect.accel import module_code
from pto_dialect.accel.cache import read_private, write_private
from pto_dialect.accel.module_code import MOST_FILES, ROOTS, CachedLoader, RecordingLoader, cached_module_code

SOURCES = {
    "alpha/__init__.py": "",
    "alpha/root.py": "from alpha import one\nfrom alpha.inner import two\nvalue = one.value + two.value\n",
    "alpha/one.py": '"""Number one."""\nvalue = 1\n',
    "alpha/inner/__init__.py": "name = __name__\n",
    "alpha/inner/two.py": "value = 20\n\ndef fail():\n    raise LookupError('here')\n",
}
MODULES = ("alpha.root", "alpha.one", "alpha.inner", "alpha.inner.two")
FIRST = [RecordingLoader, *[SourceFileLoader] * 3]
CACHED = [RecordingLoader, *[CachedLoader] * 3]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a package ``alpha``, whose module ``root`` is the root of a group."""
    tmp_path.chmod(0o700)
    folder = tmp_path / "tree"
    for name, text in SOURCES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(module_code, "ROOTS", ("alpha.root",))
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    forget()


def forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "alpha"]:
        del sys.modules[name]
    importlib.invalidate_caches()


def start(command: str = "command") -> ModuleType:
    """``alpha.root`` as a new process loads it."""
    forget()
    with cached_module_code(command):
        return importlib.import_module("alpha.root")


def loaders() -> list[type]:
    return [type(sys.modules[name].__loader__) for name in MODULES]


def attributes(name: str) -> dict[str, Any]:
    module = sys.modules[name]
    spec: Any = module.__spec__
    return {
        "file": module.__file__,
        "cached": module.__cached__,
        "package": module.__package__,
        "path": getattr(module, "__path__", None),
        "doc": module.__doc__,
        "spec": (spec.name, spec.origin, spec.cached, spec.parent, spec.has_location, spec.submodule_search_locations),
    }


def test_the_second_start_takes_the_code_from_the_cache(tree: Path) -> None:
    assert start().value == 21
    assert loaders() == FIRST
    assert start().value == 21
    assert loaders() == CACHED
    assert not any(type(finder).__name__ == "GroupFinder" for finder in sys.meta_path)


def test_modules_have_the_attributes_that_python_gives_them(tree: Path) -> None:
    start()
    start()
    cached = [attributes(name) for name in MODULES]
    forget()
    importlib.import_module("alpha.root")
    assert cached == [attributes(name) for name in MODULES]


def test_tracebacks_and_sources_are_there(tree: Path) -> None:
    start()
    start()
    two: Any = sys.modules["alpha.inner.two"]
    with pytest.raises(LookupError) as caught:
        two.fail()
    assert str(caught.traceback[-1].path) == str(tree / "alpha/inner/two.py")
    assert caught.traceback[-1].lineno == 3
    assert two.__loader__.get_source("alpha.inner.two") == SOURCES["alpha/inner/two.py"]
    assert two.__loader__.get_code("alpha.inner.two").co_names == two.__loader__.get_code("alpha.inner.two").co_names


def test_a_module_that_came_before_the_root_is_added_later(tree: Path) -> None:
    forget()
    with cached_module_code("command"):
        importlib.import_module("alpha.one")
        importlib.import_module("alpha.root")
    start()
    assert loaders() == [RecordingLoader, SourceFileLoader, CachedLoader, CachedLoader]
    start()
    assert loaders() == CACHED


def test_a_changed_source_is_executed(tree: Path) -> None:
    start()
    (tree / "alpha/one.py").write_text("value = 1000\n")
    assert start().value == 1020
    assert loaders() == FIRST
    assert start().value == 1020
    assert loaders() == CACHED


def test_a_change_of_time_alone_counts(tree: Path) -> None:
    start()
    file = tree / "alpha/one.py"
    status = os.stat(file)
    # As many bytes as before.
    file.write_text('"""Number one."""\nvalue = 7\n')
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 1_000_000_000))
    assert start().value == 27


def test_a_package_that_hides_a_module_is_found(tree: Path) -> None:
    start()
    (tree / "alpha/one").mkdir()
    (tree / "alpha/one/__init__.py").write_text("value = 500\n")
    assert start().value == 520


def test_a_removed_source_is_missed(tree: Path) -> None:
    start()
    (tree / "alpha/inner/two.py").unlink()
    with pytest.raises(ImportError, match="cannot import name 'two'"):
        start()


def test_another_package_of_the_same_name_wins_if_python_finds_it_first(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start()
    other = tmp_path / "other" / "alpha"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("")
    (other / "root.py").write_text("value = -1\n")
    monkeypatch.syspath_prepend(str(other.parent))
    assert start().value == -1


def test_each_command_has_groups_of_its_own(tree: Path) -> None:
    start("one")
    assert start("two").value == 21
    assert loaders()[0] is RecordingLoader


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-3], lambda data: b"", lambda data: b"x" * len(data)], ids=["short", "empty", "other"]
)
def test_a_damaged_file_costs_time_only(tree: Path, tmp_path: Path, damage: Any) -> None:
    start()
    (file,) = (tmp_path / "cache").glob("modules-*")
    file.write_bytes(damage(file.read_bytes()))
    assert start().value == 21
    assert start().value == 21
    assert loaders() == CACHED


@pytest.mark.parametrize("content", [b"i\x01\x00\x00\x00", b"N", b"(\x01\x00\x00\x00N", b""])
def test_a_file_with_something_else_is_replaced(tree: Path, tmp_path: Path, content: bytes) -> None:
    start()
    (file,) = (tmp_path / "cache").glob("modules-*")
    assert write_private(str(file), content)
    assert start().value == 21
    assert read_private(str(file)) != content


@pytest.mark.skipif(os.name != "posix", reason="files on Windows have no rights of this kind")
def test_a_file_that_others_may_write_is_not_read(tree: Path, tmp_path: Path) -> None:
    start()
    (file,) = (tmp_path / "cache").glob("modules-*")
    file.chmod(0o666)
    start()
    assert loaders()[0] is RecordingLoader


def test_the_switch_disables_it(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_code, "enabled", lambda name: name != "module-code")
    start()
    assert loaders() == [SourceFileLoader] * 4
    assert not list((tmp_path / "cache").glob("modules-*"))


def test_the_oldest_groups_go(tree: Path, tmp_path: Path) -> None:
    start()
    cache = tmp_path / "cache"
    for number in range(MOST_FILES + 5):
        (cache / f"modules-{number}").touch()
        os.utime(cache / f"modules-{number}", ns=(number, number))
    start("another")
    left = sorted(file.name for file in cache.glob("modules-*"))
    assert len(left) == MOST_FILES
    assert not {f"modules-{number}" for number in range(7)} & set(left)


@pytest.mark.parametrize("name", ROOTS)
def test_every_root_is_a_module(name: str) -> None:
    assert find_spec(name) is not None
