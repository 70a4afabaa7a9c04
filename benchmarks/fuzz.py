"""Feeds broken programs through parsing, verification and printing: none may raise or take over two seconds.

Usage: python benchmarks/fuzz.py [--count N] [--seed S] [-j WORKERS] [--keep FOLDER]

Seeds are the project's own examples and lit tests; inputs are truncations, token deletions, swaps, repetitions and
replacements of them, spliced pairs, and random bytes. Failing inputs are written to FOLDER.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import re
import signal
import sys
import time
import traceback
from pathlib import Path
from types import FrameType

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.render import render_text
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.parser import parse_program
from pto_dialect.syntax.printer import print_module
from pto_dialect.verify.verifier import verify_module

ROOT = Path(__file__).resolve().parent.parent
TOKEN = re.compile(r"%?[\w.$#@^!]+|\s+|.", re.DOTALL)
LIMIT_SECONDS = 2.0
SNIPPETS = (
    *("{", "}", "(", ")", "<", ">", '"', ",", ":", "->", "%", "#pto.", "!pto."),
    *("ins(", "outs(", "0x", "-1", "\0", "..."),
)


class TooSlow(Exception):
    """An input took longer than the limit."""


def seeds() -> list[str]:
    """Texts to mutate."""
    files = sorted((ROOT / "examples").rglob("*.pto")) + sorted((ROOT / "lit-tests").rglob("*.pto"))
    texts: list[str] = []
    for file in files:
        texts.extend(chunk for chunk in file.read_text(encoding="utf-8").split("// -----") if chunk.strip())
    return texts


def mutate(rng: random.Random, texts: list[str]) -> str:
    """One broken input."""
    kind = rng.randrange(8)
    if kind == 0:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(200))).decode("utf-8", errors="replace")
    text = rng.choice(texts)
    if kind == 1:
        return text[: rng.randrange(len(text) + 1)]
    if kind == 2:
        other = rng.choice(texts)
        return text[: rng.randrange(len(text))] + other[rng.randrange(len(other)) :]
    tokens = TOKEN.findall(text)
    for _ in range(rng.randrange(1, 6)):
        if not tokens:
            break
        place = rng.randrange(len(tokens))
        change = rng.randrange(5)
        if change == 0:
            del tokens[place]
        elif change == 1:
            tokens.insert(place, rng.choice(tokens))
        elif change == 2:
            tokens[place] = rng.choice(SNIPPETS)
        elif change == 3:
            other = rng.randrange(len(tokens))
            tokens[place], tokens[other] = tokens[other], tokens[place]
        else:
            word = list(tokens[place])
            word[rng.randrange(len(word))] = chr(rng.randrange(32, 127))
            tokens[place] = "".join(word)
    return "".join(tokens)


def check(text: str) -> None:
    """Parses, verifies and prints ``text``; errors of the program are fine, exceptions are not."""
    engine = DiagnosticEngine()
    module = parse_program(SourceFile("fuzz.pto", text), engine)
    if module is not None and not engine.has_errors:
        verify_module(module, engine)
        print_module(module)
        print_module(module, generic=True)
    render_text(engine.diagnostics)


def _alarm(number: int, frame: FrameType | None) -> None:
    raise TooSlow


def worker(job: tuple[int, int]) -> list[tuple[str, str]]:
    """Runs one share of the inputs; returns (input, failure) pairs."""
    seed, count = job
    rng = random.Random(seed)
    texts = seeds()
    failures: list[tuple[str, str]] = []
    signal.signal(signal.SIGALRM, _alarm)
    for _ in range(count):
        text = mutate(rng, texts)
        signal.setitimer(signal.ITIMER_REAL, LIMIT_SECONDS)
        try:
            check(text)
        except TooSlow:
            failures.append((text, f"took more than {LIMIT_SECONDS} s"))
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            failures.append((text, traceback.format_exc(limit=-3)))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return failures


def main() -> int:
    """Runs the campaign; 1 when an input failed."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--count", type=int, default=10_000)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("-j", type=int, default=2)
    arguments.add_argument("--keep", type=Path)
    options = arguments.parse_args()
    shares = max(1, options.count // 500)
    jobs = [(options.seed + index, options.count // shares) for index in range(shares)]
    started = time.perf_counter()
    failures: list[tuple[str, str]] = []
    with multiprocessing.Pool(options.j) as pool:
        for done, found in enumerate(pool.imap_unordered(worker, jobs), 1):
            failures.extend(found)
            if sys.stderr.isatty():
                print(f"\r{done}/{len(jobs)} shares, {len(failures)} failures", end="", file=sys.stderr)
    total = sum(count for _, count in jobs)
    print(f"{total} inputs, {len(failures)} failures, {time.perf_counter() - started:.0f} s")
    seen: set[str] = set()
    for number, (text, failure) in enumerate(failures):
        summary = failure.strip().splitlines()[-1]
        if summary not in seen:
            seen.add(summary)
            print(f"--- {failure}")
        if options.keep is not None:
            options.keep.mkdir(parents=True, exist_ok=True)
            (options.keep / f"{number}.pto").write_text(text, encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
