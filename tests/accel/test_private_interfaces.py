"""Private parts of other libraries are where the package expects them, and all of them are listed."""

from __future__ import annotations

import platform
import re
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from pto_dialect.accel.private_interfaces import PRIVATE_INTERFACES, PrivateInterface

ROOT = Path(__file__).parents[2]
SOURCES = [path for folder in ("pto_dialect", "tools") for path in sorted((ROOT / folder).rglob("*.py"))]
PUBLIC = {
    *("", "_asdict", "_replace", "_fields", "_run_ptoas", "_log", "_ods_common"),
    *("_template", "_builders_view", "_builders_wrapper"),
}
"""Public names of named tuples, what the package gives to PyPTO and to builders, and attributes that it gives to
operations."""


def owner_of(interface: PrivateInterface) -> Any:
    module, _, name = interface.owner.partition(":")
    found: Any = import_module(module)
    return getattr(found, name) if name else found


def has(owner: Any, name: str) -> bool:
    """Whether a module has the name, or a class or its instances do."""
    if hasattr(owner, name):
        return True
    if not isinstance(owner, type):
        return False
    sources = [vars(cls) for cls in owner.__mro__]
    declared = {key for names in sources for key in (*names.get("__annotations__", ()), *names.get("__slots__", ()))}
    fields = set(getattr(owner, "__dataclass_fields__", ()))
    constants = {name for cls in owner.__mro__ if "__init__" in vars(cls) for name in _names(cls.__init__)}
    return name in declared | fields | constants


def _names(function: Any) -> tuple[str, ...]:
    code = getattr(function, "__code__", None)
    return () if code is None else code.co_names


@pytest.mark.parametrize("interface", PRIVATE_INTERFACES, ids=lambda one: one.owner)
def test_library_has_the_private_names(interface: PrivateInterface) -> None:
    if interface.library == "pygls":
        pytest.importorskip("pygls", reason="the extra lsp is not installed")
    if interface.library == "ptodsl":
        pytest.importorskip(interface.owner.partition(":")[0], reason="this ptodsl is not installed")
    number = platform.python_version() if interface.library == "python" else version(interface.library)
    try:
        owner = owner_of(interface)
    except (ImportError, AttributeError):
        owner = None
    missing = [name for name in interface.names if not has(owner, name)]
    complaint = f"{interface.library} {number}: {interface.owner} has no {', '.join(missing)}, used in {interface.user}"
    assert not missing or interface.fallback, complaint


_OWN = re.compile(r"\b(?:def|class) (_\w+)|\b(?:self|cls)\.(_\w+)(?= ?[:=,])|^ *(_\w+)(?= ?[:=,])|\bas (_\w+)", re.M)
_USED = re.compile(
    r"\.(_[a-z]\w*[a-zA-Z0-9])\b|^ *(?:from|import) (_[a-z]\w+)|^ *from (?!\.|pto_dialect)[\w.]+ import (_[a-z]\w+)",
    re.M,
)


def test_private_names_of_other_libraries_are_listed() -> None:
    texts = [path.read_text(encoding="utf-8") for path in SOURCES]
    own, used = ({name for text in texts for names in look.findall(text) for name in names} for look in (_OWN, _USED))
    listed = {name for one in PRIVATE_INTERFACES for name in (*one.names, *one.owner.replace(":", ".").split("."))}
    assert sorted(used - own - listed - PUBLIC) == []


def test_users_of_private_names_exist() -> None:
    assert [one.user for one in PRIVATE_INTERFACES if not (ROOT / one.user).is_file()] == []
