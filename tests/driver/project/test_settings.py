"""Settings of a project: where they are found, what they mean, and where they are wrong."""

import sys
import time
from pathlib import Path

import pytest

from pto_dialect.diagnostics.engine import DiagnosticOptions
from pto_dialect.driver.options import Options
from pto_dialect.driver.project.settings import (
    Settings,
    SettingsError,
    configured,
    policy_with,
    read_project,
    settings_of,
)
from pto_dialect.driver.project.settings_path import settings_file
from pto_dialect.nesting import LIMIT, make_room


@pytest.fixture(autouse=True)
def fresh() -> None:
    settings_file.cache_clear()
    read_project.cache_clear()


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pto.toml").write_text("werror = true\n")
    assert settings_file(str(inner)) == str(tmp_path / "pto.toml")
    settings_file.cache_clear()
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert settings_file(str(inner)) == str(tmp_path / "pto.toml")
    settings_file.cache_clear()
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.pto]\ntarget = 'a5'\n")
    assert settings_file(str(inner)) == str(tmp_path / "a" / "pyproject.toml")
    assert settings_of(str(inner / "x.pto")) == Settings(target="a5")


def test_every_statement_at_once(tmp_path: Path) -> None:
    (tmp_path / "pto.toml").write_text(
        'target = "a2a3"\nbackend = "vpto"\nallow = ["dead-tile", "mad-target"]\ndeny = ["kernel-kind"]\n'
        'warn = ["block-terminator"]\nwerror = true\npedantic = true\nmax-errors = 3\n[format]\ncolumns = 80\n'
        '[folder."old"]\ntarget = "a5"\ndeny = ["dead-tile"]\n[folder."gen/*.pto"]\nwerror = false\n'
    )
    general = settings_of(str(tmp_path / "x.pto"))
    assert general == Settings(
        "a2a3", "vpto", None, frozenset(("dead-tile", "mad-target")), frozenset(("kernel-kind",)),
        frozenset(("block-terminator",)), True, True, 3, 80,
    )  # fmt: skip
    old = settings_of(str(tmp_path / "old" / "deep" / "x.pto"))
    assert old is not None
    assert (old.target, old.allow, old.deny) == ("a5", {"mad-target"}, {"kernel-kind", "dead-tile"})
    made = settings_of(str(tmp_path / "gen" / "x.pto"))
    assert made is not None and made.werror is False and made.target == "a2a3"


def test_the_command_line_counts_more(tmp_path: Path) -> None:
    settings = Settings("a5", allow=frozenset(("a", "b")), deny=frozenset(("c",)), max_errors=3, werror=True)
    policy = DiagnosticOptions(allow=frozenset(("c",)), deny=frozenset(("a",)), max_errors=9)
    assert policy_with(policy, settings, {"max_errors"}) == DiagnosticOptions(
        allow=frozenset(("b", "c")), deny=frozenset(("a",)), werror=True, max_errors=9
    )
    assert policy_with(policy, settings, ()).max_errors == 3
    (tmp_path / "pto.toml").write_text('target = "a5"\n')
    path = str(tmp_path / "x.pto")
    assert configured(Options(), path, ()).target == "a5"
    assert configured(Options(target="a2a3"), path, {"target"}).target == "a2a3"


@pytest.mark.parametrize(
    ("text", "place", "message", "help"),
    [
        (
            "\ncolour = 1\n",
            "2:1",
            "unknown key 'colour'",
            "one of target, backend, reference-release, calibration, allow, ",
        ),
        ('targte = "a5"\n', "1:1", "unknown key 'targte'", "did you mean target?"),
        ('target = "a6"\n', "1:1", "target is one of a2, a3, a2a3, a5, cpu-sim", ""),
        ("werror = 1\n", "1:1", "werror is true or false", ""),
        ("max-errors = -1\n", "1:1", "max-errors is a number from 0 to 1,000,000", ""),
        ('allow = "x"\n', "1:1", 'allow is a list of rules, for example ["dead-tile"]', ""),
        ('allow = [\n  "dead-tile",\n  "dead-tyle",\n]\n', "3:3", "unknown rule 'dead-tyle'; did you mean ", ""),
        ('warn = ["parse-syntax"]\n', "1:9", "what breaks parse-syntax cannot be read, so it is an error", ""),
        ("[format]\nwidth = 3\n", "2:1", "unknown key 'width'", "columns is the only one"),
        ("[format]\ncolumns = 3\n", "2:1", "columns is a number from 20 to 1,000", ""),
        ('[folder."a b"]\nformat = 3\n', "2:1", "unknown key 'format'", "one of "),
        ("folder = 3\n", "1:1", "folder is a table", ""),
        ("target = \n", "1:10", "this is no TOML: invalid value", ""),
    ],
)
def test_what_is_wrong_has_its_location(tmp_path: Path, text: str, place: str, message: str, help: str) -> None:
    file = tmp_path / "pto.toml"
    file.write_text(text)
    with pytest.raises(SettingsError) as error:
        read_project(str(file))
    found = error.value.diagnostic
    assert found.span is not None
    line, column = found.span.source.line_col(found.span.start)
    assert (f"{line}:{column}", found.rule) == (place, "config-invalid")
    assert found.message.startswith(message) and (found.help or "").startswith(help)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = " + "[" * 100_000, "arrays or tables are nested too deeply"),
        ("x = " + "{a = " * 100_000, "arrays or tables are nested too deeply"),
        ("x = " + "[" * 900 + "]" * 900, "arrays or tables are nested too deeply"),
        ("a" + ".a" * 400_000 + " = 1", "a key has more than 64 names"),
        ("[a" + " . 'a b'" * 100_000 + "]", "a key has more than 64 names"),
        ("target = {" + "a." * 100_000 + "a = 1}", "a key has more than 64 names"),
        ("target" + ".a" * 60 + " = 1", "target is one of"),
        ("max-errors = " + "9" * 5000, "a number has too many digits"),
    ],
)
def test_settings_that_are_nested_or_long(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "pto.toml"
    path.write_text(text, encoding="utf-8")
    begun = time.process_time()
    with pytest.raises(SettingsError, match=told):
        read_project(str(path))
    assert time.process_time() - begun < 5


def test_depth_of_settings_does_not_depend_on_earlier_programs(tmp_path: Path) -> None:
    """A program that is nested deeply lets the process make more calls in one another."""
    for levels, told in ((150, "unknown key 'x'"), (250, "arrays or tables are nested too deeply")):
        path = tmp_path / f"{levels}.toml"
        path.write_text("x = " + "[" * levels + "]" * levels, encoding="utf-8")
        limit = sys.getrecursionlimit()
        make_room(LIMIT)
        try:
            with pytest.raises(SettingsError, match=told):
                read_project(str(path))
        finally:
            sys.setrecursionlimit(limit)
        read_project.cache_clear()
        with pytest.raises(SettingsError, match=told):
            read_project(str(path))


@pytest.mark.parametrize("text", ["tool = 1 # [tool.pto]", "[tool]\npto = 3 # [tool.pto]"])
def test_a_table_of_another_kind(tmp_path: Path, text: str) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match="pto is a table"):
        read_project(str(path))
