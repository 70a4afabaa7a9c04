"""Translates the C++ examples of the instruction set's manual, and says for each what became of it.

    python benchmarks/cpp_manual.py ISA_DIR [--failures]

An example is a function without template parameters, or with one type as its only one, in a code block of a page below
`docs` that includes the instruction set; it is the kernel (`--entry`). Equal blocks count once. It is translated if it
compiles for one of the chips, has a translation, and the program breaks no rule.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pto_dialect import compile_cpp
from pto_dialect.api import ParseError
from pto_dialect.cpp.kernel import CppError

_BLOCK = re.compile(r"^```(?:cpp|c\+\+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_HEADER = "pto-inst.hpp"
_FUNCTION = re.compile(
    r"^(?:template\s*<\s*(?P<parameters>[^>]*)>\s*)?(?P<words>[\w ]*)\bvoid\s+(?P<name>\w+)\s*\([^)]*\)\s*\{",
    re.MULTILINE,
)
_ONE_TYPE = re.compile(r"\s*(?:typename|class)\s+\w+\s*")


class Example(NamedTuple):
    """A function of the manual: its page, the block, and how it is named."""

    page: str
    text: str
    entry: str


def examples(folder: Path) -> Iterator[Example]:
    """The examples of all pages."""
    seen: set[str] = set()
    for page in sorted((folder / "docs").rglob("*.md")):
        for text in _BLOCK.findall(page.read_text(encoding="utf-8")):
            known = " ".join(text.split())
            if _HEADER not in text or known in seen:
                continue
            seen.add(known)
            for found in _FUNCTION.finditer(text):
                parameters = found["parameters"]
                if parameters is None or _ONE_TYPE.fullmatch(parameters):
                    entry = found["name"] + ("" if parameters is None else "<float>")
                    yield Example(str(page.relative_to(folder)), text, entry)


def reason(example: Example) -> str:
    """Why an example is not translated; empty where it is."""
    found = ""
    for target in ("a2a3", "a5"):
        try:
            compile_cpp(example.text, entry=example.entry, target=target)
        except (CppError, ParseError) as error:
            found = found or str(error).split("error: ", 1)[-1].splitlines()[0]
        else:
            return ""
    return found


def main() -> None:
    """Prints the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="ISA_DIR")
    parser.add_argument("--failures", action="store_true", help="print those that are not translated")
    given = parser.parse_args()
    found = list(examples(given.folder))
    with ThreadPoolExecutor() as pool:
        reasons = list(pool.map(reason, found))
    for example, why in zip(found, reasons, strict=True):
        if why and given.failures:
            print(f"{example.page} {example.entry}: {why}")
    print(f"{len(found)} examples, {reasons.count('')} translated")


if __name__ == "__main__":
    main()
