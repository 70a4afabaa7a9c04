"""How option, attributes and content of a module choose the profile."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import pto_dialect
from pto_dialect.targets.choice import get_profile, resolve_target


def choose(
    option: str | None = None, arch: str | None = None, device: str | None = None, micro: bool = False
) -> tuple[str, bool, list[str]]:
    profile, explicit, warnings = resolve_target(option, arch, device, micro)
    return profile.name, explicit, [warning.rule for warning in warnings]


@pytest.mark.parametrize(
    ("word", "name", "arch"),
    [
        ("a2", "a2a3", "a2a3"),
        ("a3", "a2a3", "a2a3"),
        ("a2a3", "a2a3", "a2a3"),
        ("a5", "a5", "a5"),
        ("cpu-sim", "cpu-sim", "a5"),
    ],
)
def test_names(word: str, name: str, arch: str) -> None:
    profile = get_profile(word)
    assert (profile.name, profile.arch) == (name, arch)
    assert choose(option=word) == (name, True, [])


@pytest.mark.parametrize("word", ["", "a4", "A5", "cpu_sim", "Ascend950"])
def test_unknown_option_keyword(word: str) -> None:
    with pytest.raises(ValueError, match="unknown target, found"):
        get_profile(word)
    with pytest.raises(ValueError, match="cpu-sim"):
        resolve_target(word, None, None, False)


@pytest.mark.parametrize(
    ("arch", "name", "rules"),
    [
        ("a5", "a5", []),
        ("A5", "a5", []),
        ("a3", "a2a3", []),
        ("A2", "a2a3", []),
        ("a2a3", "a2a3", []),
        ("a6", "a2a3", ["target-unknown"]),
        ("cpu-sim", "a2a3", ["target-unknown"]),
        ("", "a2a3", ["target-unknown"]),
        (" a5", "a2a3", ["target-unknown"]),
    ],
)
@pytest.mark.parametrize("micro", [False, True])
def test_target_arch_attribute(arch: str, name: str, rules: list[str], micro: bool) -> None:
    assert choose(arch=arch, micro=micro) == (name, True, rules)


@pytest.mark.parametrize(
    ("device", "arch", "name", "rules"),
    [
        ("Ascend950", None, "a5", []),
        ("Ascend950PR_9599", None, "a5", []),
        ("Ascend910_9589", None, "a5", []),
        ("Ascend910_95", "a3", "a5", []),
        ("Ascend950", "nonsense", "a5", []),
        ("Ascend910B1", None, "a2a3", []),
        ("Ascend910_9362", None, "a2a3", []),
        ("Ascend910B1", "a5", "a5", []),
        ("ascend950", None, "a2a3", ["target-unknown"]),
        ("Ascend310P", None, "a2a3", ["target-unknown"]),
        ("Ascend310P", "a3", "a2a3", []),
    ],
)
def test_device_spec_attribute(device: str, arch: str | None, name: str, rules: list[str]) -> None:
    assert choose(arch=arch, device=device) == (name, True, rules)


@pytest.mark.parametrize(
    ("option", "arch", "device", "name", "rules"),
    [
        ("a5", "a3", None, "a5", ["target-override"]),
        ("a3", "a5", None, "a2a3", ["target-override"]),
        ("a2", "a3", None, "a2a3", []),
        ("cpu-sim", "a5", None, "cpu-sim", []),
        ("cpu-sim", "a3", None, "cpu-sim", ["target-override"]),
        ("a3", None, "Ascend950", "a2a3", ["target-override"]),
        ("a5", None, "Ascend910B3", "a5", ["target-override"]),
        ("a3", "what", None, "a2a3", ["target-unknown"]),
        ("a5", "what", None, "a5", ["target-unknown", "target-override"]),
    ],
)
def test_option_wins(option: str, arch: str | None, device: str | None, name: str, rules: list[str]) -> None:
    assert choose(option, arch, device, True) == (name, True, rules)


def test_default_depends_on_micro_level_operations() -> None:
    assert choose(micro=True) == ("a5", False, [])
    assert choose(micro=False) == ("a2a3", False, [])


def test_warnings_show_the_match() -> None:
    unknown = resolve_target(None, "a7", None, False).warnings[0]
    assert "'a7'" in unknown.message and "a2a3" in unknown.message
    override = resolve_target("cpu-sim", "a3", None, False).warnings[0]
    assert "a2a3" in override.message and "cpu-sim" in override.message


def test_profiles_are_shared_and_frozen() -> None:
    a5 = get_profile("a5")
    assert a5 is resolve_target(None, "A5", None, False).profile
    assert get_profile("a2") is get_profile("a3") is get_profile("a2a3")
    assert len({get_profile(name) for name in ("a2a3", "a5", "cpu-sim")}) == 3
    with pytest.raises(AttributeError):
        a5.name = "a6"  # pyright: ignore[reportAttributeAccessIssue]
    for table in (a5.capacity, a5.tile_dtypes, a5.layouts, a5.tcvt_pairs, a5.burst_units):
        with pytest.raises(TypeError):
            table["ub"] = None  # pyright: ignore[reportIndexIssue]


def test_cpu_sim_has_the_a5_tables() -> None:
    a5, simulator = get_profile("a5"), get_profile("cpu-sim")
    different = {field for field in a5.__slots__ if getattr(a5, field) is not getattr(simulator, field)}
    assert different == {"name"}


def test_import_pulls_in_no_heavy_package() -> None:
    code = (
        "import sys\n"
        "from pto_dialect.targets.choice import get_profile\n"
        "get_profile('a3'), get_profile('a5')\n"
        "sys.exit(bool({'numpy', 'ml_dtypes', 'xdsl', 'lark', 'click'} & set(sys.modules)))\n"
    )
    root = Path(pto_dialect.__file__).parents[1]
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=root).returncode == 0
