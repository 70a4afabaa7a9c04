"""A client over standard input and output: what requests there are, what they refuse, and programs that they fix."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from agent_client import ROOT, Call, connection, mended
from sampling import sampled
from text_edits import applied

from tests.driver.fixes.program_mistakes import program_mistakes

# Found, not imported: that takes long, and only some processes run these tests.
pytestmark = pytest.mark.skipif(find_spec("mcp") is None, reason="the extra mcp is not installed")

NAMES = {"check", "fix", "run", "sanitize", "explain", "search_operations", "reduce", "prove", "optimize"}
EVERY = 11
"""Of the table of mistakes, each so many-th row may be fixed here."""

TILE = "!pto.tile_buf<vec, 16x64xf32>"
VIEW, PART = "!pto.tensor_view<16x64xf32>", "!pto.partition_tensor_view<16x64xf32>"
RACE = f"""\
module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%p: !pto.ptr<f32, gm>) {{
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %v = pto.make_tensor_view %p, shape = [%c16, %c64], strides = [%c64, %c0] : {VIEW}
    %w = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c64] : {VIEW} -> {PART}
    %a = arith.constant 0 : i64
    %t = pto.alloc_tile addr = %a : {TILE}
    pto.tload ins(%w : {PART}) outs(%t : {TILE})
    pto.tadd ins(%t, %t : {TILE}, {TILE}) outs(%t : {TILE})
    return
  }}
}}
"""
SLOW = """\
func.func @slow(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 1000000000000 : index
  scf.for %i = %c0 to %end step %c1 {
    %x = arith.addi %i, %n : index
  }
  return
}
"""


Use = Callable[[Any, Call], Awaitable[None]]
Served = Callable[[Use], None]
"""Lets a function have the client of a server, and what calls its requests."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    outside = tmp_path_factory.mktemp("served")
    inside = outside / "kernels"
    inside.mkdir()
    (outside / "secret.pto").write_text("secret words\n")
    (inside / "race.pto").write_text(RACE)
    (inside / "slip.pto").write_text(RACE.replace("pto.tadd", "pto.tad"))
    (inside / "link.pto").symlink_to(outside / "secret.pto")
    (inside / "up").symlink_to(outside)
    return inside


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Served]:
    """A server that is there for several uses."""
    from anyio import from_thread

    with (
        from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(connection(folder, *options)) as connected,
    ):
        yield lambda use: portal.call(use, *connected)


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    """One server for all tests, as a client has it: its start takes as long as several requests."""
    with serving(folder) as served:
        yield served


def test_requests_are_listed_with_descriptions_and_hints(served: Served) -> None:
    async def use(client: Any, call: Call) -> None:
        found = {one.name: one for one in (await client.list_tools()).tools}
        assert set(found) == NAMES
        assert all(one.description for one in found.values())
        assert {name for name, one in found.items() if not one.annotations.read_only_hint} == {"fix"}
        assert sum(len(one.model_dump_json()) for one in found.values()) < 20_000

    served(use)


def test_no_file_outside_is_read(served: Served) -> None:
    names = ("/etc/passwd", "../secret.pto", "link.pto", "up/secret.pto", "up/kernels/../secret.pto")
    requests = ("check", "fix", "run", "sanitize", "reduce", "prove", "optimize")

    async def use(client: Any, call: Call) -> None:
        for request, name in product(requests, names):
            told = await call(request, file=name)
            assert isinstance(told, str) and name in told, told
            assert "secret words" not in told and "Traceback" not in told

    served(use)


def test_wrong_requests_are_answered_with_a_reason(served: Served) -> None:
    async def use(client: Any, call: Call) -> None:
        for told, why in (
            (await call("check"), "give file or text"),
            (await call("check", file="race.pto", text=RACE), "give file or text"),
            (await call("check", file=7), "valid string"),
            (await call("check", text=RACE, target="--help"), "no value for target"),
            (await call("check", text=RACE, target="zz"), "is not one of"),
            (await call("run", text=RACE, arguments={"p": "../x.npy"}), "files are not read"),
            (await call("run", text=RACE, arguments={"p": "x.npy"}), "x.npy"),
            (await call("run", text=RACE, arguments={"--out": "1"}), "no name of an argument"),
            (await call("fix", text=RACE.replace("tadd", "tad"), write=True), "needs file"),
            (await call("explain", name="--list-ops"), "no '-'"),
            (await call("explain", name="qqqqq"), "qqqqq"),
            (await call("reduce", text=RACE), "does not show it"),
            (await call("nothing"), "nothing"),
        ):
            assert isinstance(told, str) and why in told, told
            assert "Traceback" not in told

    served(use)


def test_a_call_ends_at_its_limit(folder: Path) -> None:
    async def use(client: Any, call: Call) -> None:
        assert "ended by a limit" in await call("run", text=SLOW, arguments={"n": "1"})
        assert (await call("check", text=SLOW))["errors"] == 0

    with serving(folder, "--seconds", "1") as served:
        served(use)


def test_a_file_is_changed_only_on_request(folder: Path, served: Served) -> None:
    async def use(client: Any, call: Call) -> None:
        (folder / "slip.pto").write_text(before := RACE.replace("pto.tadd", "pto.tad"))
        answer = await call("fix", file="slip.pto")
        assert applied(before, answer["edits"]) == RACE
        assert (answer["errors"], answer["written"], (folder / "slip.pto").read_text()) == (0, False, before)
        answer = await call("fix", file="slip.pto", write=True)
        assert (answer["written"], (folder / "slip.pto").read_text()) == (True, RACE)

    served(use)


def test_findings_of_a_run_have_edits_that_fix_it(served: Served) -> None:
    async def use(client: Any, call: Call) -> None:
        answer = await call("sanitize", file="race.pto", strict=True)
        assert {one["rule"] for one in answer["diagnostics"]} == {"race-raw", "race-waw"}
        assert answer["diagnostics"][0]["file"] == "race.pto"
        after = applied(RACE, answer["edits"])
        answer = await call("sanitize", text=after, strict=True)
        assert (answer["errors"], answer["edits"]) == (0, [])
        answer = await call("run", text=after, arguments={"p": "ones:f32:961"})
        assert (answer["exit_code"], answer["errors"]) == (0, 0)

    served(use)


def test_names_are_found_and_explained(served: Served) -> None:
    async def use(client: Any, call: Call) -> None:
        found = (await call("search_operations", question="matrix multiply"))["found"]
        assert found[0]["name"] == "pto.tmatmul"
        assert "pto.tmatmul ins(" in (await call("explain", name=found[0]["name"]))["text"]
        part = (await call("explain", name=found[0]["name"], part="syntax"))["text"]
        assert "pto.tmatmul ins(" in part and "MECHANISM" not in part
        assert "has no part 'sintax'" in str(await call("explain", name="tadd", part="sintax"))
        assert (await call("search_operations", question="qqqqq"))["found"] == []

    served(use)


def test_a_program_is_reduced_and_optimized(served: Served) -> None:
    async def use(client: Any, call: Call) -> None:
        answer = await call("reduce", text=RACE.replace("pto.tadd", "pto.tad"))
        assert "pto.tad " in answer["program"] and answer["program"].count("\n") < 10
        answer = await call("optimize", file="race.pto", arguments={"p": "ones:f32:961"}, limit=2)
        assert "insert-sync" in answer["passes"] and answer["microseconds"] > 0
        assert "pto.wait_flag" in answer["program"]

    served(use)


def test_the_order_of_pipes_is_judged(served: Served) -> None:
    pytest.importorskip("islpy", reason="the extra prove is not installed")

    async def use(client: Any, call: Call) -> None:
        answer = await call("prove", file="race.pto")
        assert answer["summary"] == {"proven": 0, "refuted": 1, "undecided": 0}
        assert answer["functions"][0]["witness"]["first"]["location"] == "race.pto:10:5"

    served(use)


def test_nine_of_ten_incorrect_programs_are_fixed_by_answers_alone(served: Served) -> None:
    rows = sampled(program_mistakes()[::EVERY], 2)
    assert len(rows) >= 10
    failed: list[str] = []

    async def use(client: Any, call: Call) -> None:
        for row in rows:
            text = await mended(call, row.wrong)
            if text == row.wrong or (await call("check", text=text))["diagnostics"]:
                failed.append(f"{row.program}: {row.title}")

    served(use)
    assert len(failed) <= 0.1 * len(rows), failed


def test_without_the_library_the_command_says_what_to_install() -> None:
    code = "import sys; sys.modules['mcp'] = None; from tools.pto_mcp import main; main(sys.argv[1:])"
    for options, exit_code, word in (
        ((), 2, "error: pto mcp needs mcp, which is not installed: pip install 'pto-dialect[mcp]'\n"),
        (("--help",), 0, "--seconds"),
    ):
        command = [sys.executable, "-c", code, *options]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
        assert done.returncode == exit_code
        assert word in done.stdout + done.stderr
