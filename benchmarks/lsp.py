"""How quickly the language server answers, over its standard input and output.

    python benchmarks/lsp.py                      latencies, as a table with the goals
    python benchmarks/lsp.py --edits 10000        random edits with questions, each state compared with a fresh open
    python benchmarks/lsp.py --programs FOLDER    opens every program below FOLDER and sends requests about its tokens

The programs of the table are functions of 100 (or 200) lines, and for comparison one function of all lines. An edit
adds a statement to a function; its time is that from the edit to the diagnostics, the pause of the server included.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))

from lsp_edits import edit_at_random
from lsp_session import Session

URI = "file:///benchmark/program.pto"
TILE = "!pto.tile_buf<vec, 16x64xf32>"
ROUNDS = 30
SIZES = ((1000, 100), (10000, 200), (1000, 1000), (10000, 10000))
"""Lines of a program and of each of its functions."""
AT_ONCE = {1000: 50, 10000: 50}
GOALS = {"diagnostics": {1000: 100, 10000: 400}, "completion": AT_ONCE, "hover": AT_ONCE, "hover meanwhile": AT_ONCE}
_WORD = re.compile(r"%[\w$]+|pto\.[\w.]+|\^\w+|@\w+")


def program(lines: int, each: int) -> str:
    """A program of about ``lines`` lines in functions of ``each`` lines."""
    functions = [_function(number, each) for number in range(max(1, lines // each))]
    return 'module attributes {pto.target_arch = "a5"} {\n' + "".join(functions) + "}\n"


def _function(number: int, lines: int) -> str:
    body = [f"  func.func @f{number}(%a: !pto.ptr<f32, gm>, %n: index) {{", "    %c1 = arith.constant 1 : index"]
    for step in range((lines - 4) // 4):
        body += [
            f"    %t{step} = pto.alloc_tile : {TILE}",
            f"    pto.tadd ins(%t{step}, %t{step} : {TILE}, {TILE}) outs(%t{step} : {TILE})",
            f"    %v{step} = pto.make_tensor_view %a, shape = [%n, %c1], strides = [%c1, %c1]"
            " : !pto.tensor_view<?x?xf32>",
            f"    %x{step} = arith.addi %n, %c1 : index",
        ]
    return "\n".join([*body, "    return", "  }"]) + "\n"


def timed(action: Callable[[], object]) -> float:
    """Milliseconds that an action takes."""
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1e3


def latencies(lines: int, each: int) -> dict[str, list[float]]:
    """Times of each kind of question about a program."""
    text = program(lines, each)
    session = Session()
    found: dict[str, list[float]] = {
        "open": [],
        "diagnostics": [],
        "completion": [],
        "hover": [],
        "hover meanwhile": [],
    }
    session.open(URI, text)
    found["open"].append(timed(lambda: session.diagnostics(URI, 1)))
    time.sleep(1.5)  # The server reads its tables when it has nothing else to do.
    rows = [number for number, line in enumerate(text.split("\n")) if "arith.addi" in line]
    for round in range(ROUNDS):
        row, version = rows[(round * 7919) % len(rows)] + round, 3 * round + 2
        place = {"line": row, "character": 0}

        def edit(new: str, version: int, end: int, place: dict[str, int] = place) -> None:
            area = {"start": place, "end": {"line": place["line"], "character": end}}
            session.change(URI, version, {"range": area, "text": new})

        # Somebody writes a statement: the list of operations, of values, then the whole line.
        half = f"    %y{round} = arith.addi %"
        edit(half + "\n", version, 0)
        found["completion"].append(timed(lambda row=row, half=half: session.ask("completion", URI, row, len(half))))
        session.diagnostics(URI, version)
        edit(f"    %y{round} = arith.addi %n, %c1 : index", version + 1, len(half))
        found["diagnostics"].append(timed(lambda version=version: session.diagnostics(URI, version + 1)))
        # The same while the server is at the next text.
        edit(f"    %y{round} = arith.addi %n, %c1 :  index", version + 2, len(half) + 17)
        time.sleep(0.03)
        found["hover meanwhile"].append(timed(lambda row=row: session.ask("hover", URI, row + 3, 6)))
        session.diagnostics(URI, version + 2)
        found["hover"].append(timed(lambda row=row: session.ask("hover", URI, row, 6)))
        found["hover"].append(timed(lambda row=row: session.ask("hover", URI, row, 14)))
    for what in ("documentSymbol", "foldingRange", "semanticTokens/full"):
        found[what] = [timed(lambda what=what: session.about(what, URI)) for _ in range(3)]
    area = {"start": {"line": rows[0], "character": 0}, "end": {"line": rows[0] + 60, "character": 0}}
    found["inlayHint"] = [timed(lambda: session.about("inlayHint", URI, range=area)) for _ in range(3)]
    session.end()
    return found


def table(sizes: Iterable[tuple[int, int]]) -> bool:
    """Prints the table; whether all goals are met."""
    met = True
    print(f"{'lines':>6} {'function':>9} {'what':<20} {'median':>8} {'p95':>8} {'goal':>6}   (milliseconds)")
    for lines, each in sizes:
        for what, times in latencies(lines, each).items():
            median, late = statistics.median(times), sorted(times)[int(0.95 * (len(times) - 1))]
            goal = GOALS.get(what, {}).get(lines)
            missed = goal is not None and median > goal
            met = met and (not missed or each == lines)
            mark = " missed" if missed else ""
            print(f"{lines:>6} {each:>9} {what:<20} {median:>8.1f} {late:>8.1f} {goal or '':>6}{mark}", flush=True)
    return met


def visit(folder: str) -> bool:
    """Opens every program below ``folder`` and sends requests about its tokens; whether everything was answered."""
    session = Session()
    failed = words = 0
    paths = sorted(Path(folder).rglob("*.pto"))
    times: list[float] = []
    for number, path in enumerate(paths):
        uri = f"file:///visit/{number}.pto"
        text = path.read_bytes().decode("utf-8", "replace")
        session.open(uri, text)
        times.append(timed(lambda uri=uri: session.diagnostics(uri, 1)))
        for row, line in enumerate(text.split("\n")[:: max(1, text.count("\n") // 12)]):
            row *= max(1, text.count("\n") // 12)
            for word in list(_WORD.finditer(line))[:3]:
                words += 1
                for what in ("hover", "definition", "completion"):
                    place = {"line": row, "character": word.start() + 1}
                    params = {"textDocument": {"uri": uri}, "position": place}
                    failed += "error" in session.request(f"textDocument/{what}", params)
        for what in ("documentSymbol", "semanticTokens/full", "foldingRange"):
            failed += "error" in session.request(f"textDocument/{what}", {"textDocument": {"uri": uri}})
        session.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    print(f"{len(paths)} programs, {words} words asked about, {failed} answers with errors, ", end="")
    print(f"median {statistics.median(times):.0f} ms until the diagnostics, ended with {session.end()}")
    return failed == 0


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edits", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs")
    parser.add_argument("--lines", type=int, help="the table of one function of so many lines only")
    chosen = parser.parse_args()
    if chosen.edits is not None:
        session = Session()
        start = time.perf_counter()
        differed, refused = edit_at_random(session, chosen.edits, chosen.seed)
        took = time.perf_counter() - start
        print(f"{chosen.edits} edits in {took:.0f} s: {differed} states other than after a fresh open, ", end="")
        print(f"{len(refused)} answers with errors, ended with {session.end()}")
        for one in refused[:3]:
            print(one)
        return int(bool(differed or refused))
    if chosen.programs is not None:
        return int(not visit(chosen.programs))
    return int(not table(((chosen.lines, chosen.lines),) if chosen.lines else SIZES))


if __name__ == "__main__":
    sys.exit(main())
