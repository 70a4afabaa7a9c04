"""pto-opt as a process, with its cache: what a second run loads, and several at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[3]
LAUNCH = f"""
import sys
sys.path.insert(0, {str(CHECKOUT)!r})
import pto_dialect
pto_dialect.__path__.append({str(CHECKOUT)!r})
from pto_dialect.tools.pto_opt import main
sys.argv[0] = "pto-opt"
"""
REPORT = """
try:
    main()
except SystemExit as end:
    heavy = [name for name in ("xdsl", "lark", "numpy", "pto_dialect.ir", "pto_dialect.verify") if name in sys.modules]
    print("loaded", *heavy)
    sys.exit(end.code)
"""
GOOD = "func.func @f() {\n  return\n}\n"
WRONG = "func.func @f() {\n  return %x : i32\n}\n"
HEAVY = "loaded xdsl pto_dialect.ir pto_dialect.verify"


def opt(*arguments: str, cache: Path | None, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    if cache is not None:
        environment["PTO_CACHE_DIR"] = str(cache)
    command = [sys.executable, "-c", LAUNCH + REPORT, *arguments]
    return subprocess.run(command, input=stdin, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "programs"
    folder.mkdir()
    for number in range(6):
        (folder / f"{number}.pto").write_text(WRONG if number == 3 else GOOD)
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ["--verify-only", "--diagnostics-format", "json"],
        ["-p", "check-sync", "--diagnostics-format", "sarif"],
        ["--color", "always", "-j2", "--werror", "--pedantic", "--max-errors=1"],
    ],
    ids=" ".join,
)
def test_a_second_run_loads_nothing(tmp_path: Path, tree: Path, arguments: list[str]) -> None:
    cache = tmp_path / "cache"
    for inputs in ([str(tree)], [str(tree / "3.pto")]):
        first = opt(*arguments, *inputs, cache=cache)
        again = opt(*arguments, *inputs, cache=cache)
        plain = opt(*arguments, *inputs, "--no-cache", cache=cache)
        assert again.stdout.splitlines()[-1] == "loaded"
        assert plain.stdout.splitlines()[-1].startswith("loaded xdsl")
        assert first.stdout.splitlines()[:-1] == again.stdout.splitlines()[:-1] == plain.stdout.splitlines()[:-1]
        assert first.stderr == again.stderr == plain.stderr
        assert first.returncode == again.returncode == plain.returncode == 1


def test_standard_input(tmp_path: Path) -> None:
    found = [opt("-", cache=tmp_path / "cache", stdin=WRONG) for _ in range(2)]
    assert found[0].stderr == found[1].stderr and found[0].returncode == found[1].returncode == 1
    assert found[1].stdout == "loaded\n"


def test_without_the_cache_nothing_is_kept(tmp_path: Path, tree: Path) -> None:
    cache = tmp_path / "cache"
    for _ in range(2):
        assert "xdsl" in opt("--no-cache", str(tree), cache=cache).stdout
    assert not (cache / "verdicts").exists()


def test_a_changed_file_is_checked_again(tmp_path: Path, tree: Path) -> None:
    cache = tmp_path / "cache"
    opt(str(tree), cache=cache)
    (tree / "0.pto").write_text(WRONG)
    found = opt(str(tree), cache=cache)
    assert "xdsl" in found.stdout
    assert found.stderr.endswith("6 files: 4 ok, 2 failed (2 errors, 0 warnings)\n")


def test_a_changed_source_of_the_package_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pto_dialect import versions

    package = tmp_path / "pto_dialect"
    (package / "verify").mkdir(parents=True)
    (package / "runtime").mkdir()
    (tmp_path / "grammar").mkdir()
    for name in ("verify/rule.py", "runtime/run.py", "../grammar/pto.lark", "top.py"):
        (package / name).write_text("a = 1")
    monkeypatch.setattr(versions, "_PACKAGE", str(package))
    known = {versions.sources_identity()}
    for number, name in enumerate(("verify/rule.py", "../grammar/pto.lark", "top.py", "verify/new.py"), 2):
        (package / name).write_text("a = 22")
        known.add(versions.sources_identity())
        assert len(known) == number
    os.utime(package / "top.py", ns=(1, 1))
    known.add(versions.sources_identity())
    assert len(known) == 6
    # What runs programs has no influence on diagnostics of them.
    (package / "runtime" / "run.py").write_text("a = 333")
    assert versions.sources_identity() in known


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a user who may not write everywhere")
def test_a_cache_that_may_only_be_read(tmp_path: Path, tree: Path) -> None:
    cache = tmp_path / "cache"
    first = opt(str(tree), cache=cache)
    folders = [cache, *(path for path in cache.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o500)
    try:
        again = opt(str(tree), cache=cache)
        (tree / "0.pto").write_text(WRONG)
        other = opt(str(tree), cache=cache)
    finally:
        for folder in folders:
            folder.chmod(0o700)
    assert again.stdout == "loaded\n" and again.stderr == first.stderr
    assert (other.returncode, other.stderr.splitlines()[-1]) == (1, "6 files: 4 ok, 2 failed (2 errors, 0 warnings)")


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_a_cache_that_others_may_write_to_is_not_used(tmp_path: Path, tree: Path) -> None:
    cache = tmp_path / "cache"
    opt(str(tree), cache=cache)
    cache.chmod(0o777)
    assert "xdsl" in opt(str(tree), cache=cache).stdout
    cache.chmod(0o700)
    assert "xdsl" not in opt(str(tree), cache=cache).stdout


@pytest.mark.skipif(os.name != "posix", reason="a home directory of POSIX")
def test_without_a_home(tmp_path: Path, tree: Path) -> None:
    nowhere = {"HOME": str(tmp_path / "file" / "home"), "XDG_CACHE_HOME": "", "PTO_CACHE_DIR": ""}
    (tmp_path / "file").write_text("")
    found = opt(str(tree), cache=None, **nowhere)
    assert found.returncode == 1
    assert found.stderr.endswith("6 files: 5 ok, 1 failed (1 error, 0 warnings)\n")


def test_several_runs_at_once(tmp_path: Path, tree: Path) -> None:
    cache = tmp_path / "cache"
    for number in range(20):
        (tree / f"more{number}.pto").write_text((GOOD, WRONG)[number % 2])
    environment = {**os.environ, "PTO_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", LAUNCH + REPORT, "-j1", str(tree)]
    running = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    reports = {process.communicate()[1] for process in running}
    assert len(reports) == 1
    again = opt("-j1", str(tree), cache=cache)
    assert again.stdout == "loaded\n" and again.stderr in reports
    assert not list(cache.rglob("*.tmp"))
