"""Compares conversions with a formula in plain integers: all sources of at most 16 bits, many of the others.

Usage: python benchmarks/conversions.py [--only REGEX] [--random N] [-j N]

Runs ``pto.tcvt`` for every documented pair of element types, rounding mode, saturation mode, target and backend, and
``pto.vcvt`` for every pair, rounding and saturation that the vector unit has. Sources of more than 16 bits are boundary
values and N random patterns (default: a million). Ends with 1 when a number differs; zeros agree whatever their sign,
NaNs whatever their payload.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import sys
import time
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from integer_conversions import HIF8, INTEGERS, bits_of, convert, decode, is_float, tcvt_meaning

from pto_dialect.api import parse
from pto_dialect.runtime.api import compile as compile_kernel
from pto_dialect.runtime.numerics.formats import format_of
from pto_dialect.runtime.vector.convert import Conversion
from pto_dialect.targets.backend import BACKENDS, Backend

PAIRS = {
    "a2a3": {
        "f32": "f16 f32 bf16 i16 i32 i64",
        "f16": "f32 i32 i16 i8 ui8",
        "bf16": "f32 i32",
        "i16": "f16 f32",
        "i32": "f32 i16 i64 f16",
        "i64": "f32 i32",
        "ui8": "f16",
        "i8": "f16",
    },
    "a5": {
        "f32": "f16 f32 bf16 i16 i32 i64 f8E4M3FN f8E5M2 hif8",
        "f16": "f32 i32 i16 i8 ui8 hif8",
        "bf16": "f32 i32 f16 f4E1M2x2 f4E2M1x2",
        "i16": "f16 f32 ui8 ui32 i32",
        "i32": "f32 i16 ui16 i64 ui8",
        "i64": "f32 i32",
        "ui8": "f16 ui16",
        "i8": "f16 i16 i32",
        "ui32": "ui8 ui16 i16",
        "f8E4M3FN": "f32",
        "f8E5M2": "f32",
        "hif8": "f32",
        "f4E1M2x2": "bf16",
        "f4E2M1x2": "bf16",
    },
}
"""Documented conversions by target and source."""

ROUNDINGS = ("", "NONE", "RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD")
SATURATIONS = ("", "ON", "OFF")

VECTOR_PAIRS: tuple[tuple[str, str, str, bool], ...] = (
    ("f32", "f8E4M3FN f8E5M2", "RAZ", True),
    ("f32", "hif8", "A", True),
    ("f32", "f16 bf16 i16 i64 i32", "RAFCZO", True),
    ("f16", "f8E4M3FN f8E5M2", "RAFZC", True),
    ("f16", "hif8", "A", True),
    ("f16", "f32", "", False),
    ("f16", "i32", "RAFCZO", False),
    ("f16", "i16 i8 ui8", "RAFCZO", True),
    ("bf16", "f8E4M3FN f8E5M2", "RAFZC", True),
    ("bf16", "f4E1M2x2 f4E2M1x2", "RAFCZ", False),
    ("bf16", "f16 i32", "RAFCZO", True),
    ("bf16", "f32", "", False),
    ("ui8", "f16 ui16 ui32", "", False),
    ("i8", "f16 i16 i32", "", False),
    ("ui16", "ui8", "", True),
    ("ui16", "ui32", "", False),
    ("i16", "f16", "RAFCZO", False),
    ("i16", "f32 ui32 i32", "", False),
    ("i16", "ui8", "", True),
    ("ui32", "ui8 ui16 i16", "", True),
    ("i32", "f32", "RAFCZO", False),
    ("i32", "ui8 ui16 i16", "", True),
    ("i32", "i64", "", False),
    ("i64", "f32", "RAFCZO", False),
    ("i64", "i32", "", True),
    ("f8E4M3FN f8E5M2 hif8", "f32", "", False),
    ("f4E1M2x2 f4E2M1x2", "bf16", "", False),
)
"""Sources, destinations, rounding letters, whether saturation is chosen."""

COLS = 128
ROWS = 64
REGISTER = 256


class Case(NamedTuple):
    """One conversion: ``rounding`` is a mode of ``tcvt`` or a letter of ``vcvt``."""

    op: str
    source: str
    target: str
    rounding: str
    saturation: str
    arch: str
    backend: Backend

    @property
    def label(self) -> str:
        """For messages and ``--only``."""
        clauses = [word for word in (self.rounding, self.saturation) if word]
        return " ".join([self.op, self.source, "->", self.target, *clauses, self.arch, self.backend])


def cases() -> Iterator[Case]:
    """Everything that is compared."""
    for arch, table in PAIRS.items():
        for source, targets in table.items():
            for target, rounding, saturation in product(targets.split(), ROUNDINGS, SATURATIONS):
                for backend in BACKENDS if arch == "a5" else BACKENDS[:1]:
                    yield Case("tcvt", source, target, rounding, saturation, arch, backend)
    for sources, targets, letters, saturates in VECTOR_PAIRS:
        for source, target in product(sources.split(), targets.split()):
            for letter, saturation in product(letters or ("",), ("SAT", "NOSAT") if saturates else ("",)):
                yield Case("vcvt", source, target, letter, saturation, "a5", "emitc")


# ------------------------------------------------------------ data


@cache
def codes_of(name: str, random: int) -> np.ndarray:
    """Codes to convert, int64: all of them up to 16 bits, else boundary values and random patterns."""
    bits = bits_of(name)
    if bits <= 16:
        codes = np.arange(1 << bits, dtype=np.int64)
        if bits == 4:
            codes = np.stack([codes.repeat(16), np.tile(codes, 16)], axis=1).reshape(-1)
    else:
        near = [(1 << p) + d for p in range(bits) for d in (-2, -1, 0, 1, 2)]
        near += [(1 << p) + (1 << q) + d for p in range(bits) for q in range(p) for d in (-1, 0, 1)]
        if name == "f32":
            # Every exponent, with the fractions around the ties of all narrower formats.
            tails = {t + d for k in range(24) for t in (1 << k, (1 << 23) - (1 << k)) for d in (-1, 0, 1)}
            near += [(e << 23) | (t & 0x7F_FFFF) for e in range(256) for t in tails]
        fixed = np.array([n % (1 << bits) for n in near], np.uint64)
        fixed = np.concatenate(
            [fixed, (1 << bits) - 1 - fixed & np.uint64((1 << bits) - 1), fixed ^ np.uint64(1 << (bits - 1))]
        )
        noise = np.random.default_rng(7).integers(0, 1 << bits, random, np.uint64, endpoint=False) if bits < 64 else (
            np.random.default_rng(7).integers(0, 1 << 64, random, np.uint64)
            >> np.random.default_rng(8).integers(0, 64, random, np.uint64)
        )  # fmt: skip
        codes = np.concatenate([fixed, noise]).astype(np.int64)
    if name in INTEGERS and INTEGERS[name][0] and bits < 64:
        codes = codes - ((codes >> (bits - 1) & 1) << bits)
    return codes


def storage(codes: np.ndarray, name: str) -> np.ndarray:
    """Codes as memory holds them, unsigned words."""
    bits = bits_of(name)
    if bits == 4:
        pairs = codes.reshape(-1, 2)
        return (pairs[:, 0] | pairs[:, 1] << 4).astype(np.uint8)
    return (
        codes.astype(f"u{bits // 8}") if name not in INTEGERS else codes.astype(f"i{bits // 8}").view(f"u{bits // 8}")
    )


def codes_from(words: np.ndarray, name: str) -> np.ndarray:
    """The opposite of ``storage``."""
    bits = bits_of(name)
    if bits == 4:
        return np.stack([words & 15, words >> 4], axis=1).reshape(-1).astype(np.int64)
    if name in INTEGERS and INTEGERS[name][0]:
        return words.view(f"i{bits // 8}").astype(np.int64)
    return words.astype(np.int64)


def dtype_of(name: str) -> np.dtype[Any]:
    """numpy's element type of a buffer."""
    return np.dtype(
        {
            "f16": np.float16, "f32": np.float32, "bf16": ml_dtypes.bfloat16, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
            "f8E5M2": ml_dtypes.float8_e5m2, HIF8: np.uint8, "f4E1M2x2": np.uint8, "f4E2M1x2": np.uint8,
        }.get(name) or ("i" if INTEGERS[name][0] else "u") + str(INTEGERS[name][1] // 8)
    )  # fmt: skip


# ------------------------------------------------------------ what the product computes


def program(case: Case, tiles: int) -> str:
    """A loop of tload, tcvt and tstore."""
    clauses = [f"rmode = #pto<round_mode {case.rounding}>"] * bool(case.rounding)
    clauses += [f"sat_mode = #pto<saturation_mode {case.saturation}>"] * bool(case.saturation)
    stated = f" {{{', '.join(clauses)}}}" if clauses else ""
    lines, types = [], []
    for name, element in (("a", case.source), ("d", case.target)):
        cols = COLS // 2 if bits_of(element) == 4 else COLS
        text = f"!pto.{element}" if element == HIF8 or bits_of(element) == 4 else element
        whole, part = (
            f"!pto.tensor_view<{tiles * ROWS}x{cols}x{text}>",
            f"!pto.partition_tensor_view<{ROWS}x{cols}x{text}>",
        )
        tile = f"!pto.tile_buf<vec, {ROWS}x{cols}x{text}>"
        lines += [
            f"%{name}c = arith.constant {cols} : index",
            f"%{name}v = pto.make_tensor_view %{name}, shape = [%all, %{name}c], strides = [%{name}c, %c1] : {whole}",
            f"%{name}t = pto.alloc_tile : {tile}",
        ]
        types.append((whole, part, tile, text))
    (aw, ap, at, ae), (dw, dp, dt, de) = types
    offsets = "offsets = [%i, %c0], sizes = [%step, %{0}c]"
    return f"""module attributes {{pto.target_arch = "{case.arch}"}} {{
    func.func @k(%a: !pto.ptr<{ae}>, %d: !pto.ptr<{de}>) attributes {{pto.kernel}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %step = arith.constant {ROWS} : index
      %all = arith.constant {tiles * ROWS} : index
      {chr(10).join(lines)}
      scf.for %i = %c0 to %all step %step {{
        %ap = pto.partition_view %av, {offsets.format("a")} : {aw} -> {ap}
        %dp = pto.partition_view %dv, {offsets.format("d")} : {dw} -> {dp}
        pto.tload ins(%ap : {ap}) outs(%at : {at})
        pto.tcvt ins(%at{stated} : {at}) outs(%dt : {dt})
        pto.tstore ins(%dt : {dt}) outs(%dp : {dp})
      }}
      return
    }}
    }}"""


def run_tcvt(case: Case, codes: np.ndarray) -> np.ndarray:
    """Codes that ``pto.tcvt`` gives."""
    tile = ROWS * COLS
    tiles = -(-codes.size // tile)
    padded = np.concatenate([codes, np.zeros(tiles * tile - codes.size, np.int64)])
    source = storage(padded, case.source).view(dtype_of(case.source))
    unit = bits_of(case.target)
    target = np.zeros(padded.size * max(unit, 4) // (8 if unit < 8 else unit), dtype_of(case.target))
    compile_kernel(parse(program(case, tiles)), "k", backend=case.backend)(source, target)
    return codes_from(target.view(f"u{target.itemsize}"), case.target)[: codes.size]


def run_vcvt(case: Case, codes: np.ndarray) -> np.ndarray:
    """Codes that ``pto.vcvt`` gives, register by register, all parts one after the other."""
    source, target = format_of(case.source), format_of(case.target)
    words = storage(codes, case.source)
    lanes = REGISTER // words.itemsize
    padded = np.concatenate([words, np.zeros(-words.size % lanes, words.dtype)]).reshape(-1, lanes)
    mask = np.ones(REGISTER, bool)
    ratio = 4 if source.is_packed else source.bytes // target.bytes if source.bytes > target.bytes else (
        target.bytes // source.bytes
    )  # fmt: skip
    if target.is_packed:
        ratio = 4
    results = []
    saturate = case.saturation == "SAT"
    widens = source.is_packed or (target.bytes > source.bytes and not target.is_packed)
    parts = range(ratio)
    functions = [Conversion(source, target, case.rounding or "R", saturate, part) for part in parts]
    for number, register in enumerate(padded):
        values = register.view(source.storage)
        if widens:
            several = [codes_from(f(values, mask).view(f"u{target.bytes}"), case.target) for f in functions]
            if source.is_packed:
                several = [x.reshape(-1, 2) for x in several]
            results.append(np.stack(several, axis=1).reshape(-1))
            continue
        part = number % ratio
        words_out = functions[part](values, mask).view(f"u{target.bytes}")
        results.append(codes_from(words_out[part::ratio], case.target))
    return np.concatenate(results)[: codes.size]


# ------------------------------------------------------------ comparison


def differences(found: np.ndarray, wanted: np.ndarray, name: str) -> np.ndarray:
    """Places where codes stand for other numbers."""
    wrong = found != wanted
    if not wrong.any() or not is_float(name):
        return np.flatnonzero(wrong)
    places = np.flatnonzero(wrong)
    a, b = decode(found[places], name), decode(wanted[places], name)
    zeros = (a.significand == 0) & (b.significand == 0) & ~(a.infinite | b.infinite | a.nan | b.nan)
    return places[~(zeros | (a.nan & b.nan))]


@cache
def expected(source: str, target: str, letter: str, saturate: bool, words: bool, random: int) -> np.ndarray:
    """What the formula gives for all codes of a source."""
    return convert(codes_of(source, random), source, target, letter, saturate, words)


def compare(case: Case, random: int) -> tuple[int, int, str]:
    """How many numbers were compared, how many differ, and the first of them."""
    with np.errstate(all="ignore"):
        return _compare(case, random)


def _compare(case: Case, random: int) -> tuple[int, int, str]:
    codes = codes_of(case.source, random)
    if case.op == "tcvt":
        meaning = tcvt_meaning(case.source, case.target, case.rounding, case.saturation, case.arch, case.backend)
        wanted, found = expected(case.source, case.target, *meaning, True, random), run_tcvt(case, codes)
    else:
        meaning = (case.rounding or "R", case.saturation == "SAT")
        wanted, found = expected(case.source, case.target, *meaning, False, random), run_vcvt(case, codes)
    wrong = differences(found, wanted, case.target)
    if not wrong.size:
        return codes.size, 0, ""
    first = int(wrong[0])
    mask = (1 << bits_of(case.source)) - 1
    return codes.size, int(wrong.size), f"{int(codes[first]) & mask:#x} gives {found[first]:#x}, not {wanted[first]:#x}"


def _group(task: tuple[list[Case], int]) -> list[tuple[Case, int, int, str]]:
    found = [(case, *compare(case, task[1])) for case in task[0]]
    expected.cache_clear()
    return found


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="REGEX", help="conversions whose label matches")
    parser.add_argument("--random", type=int, default=1_000_000, metavar="N", help="random patterns of wide sources")
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="processes")
    options = parser.parse_args()
    only = re.compile(options.only)
    groups: dict[tuple[str, str, str], list[Case]] = {}
    for case in cases():
        if only.search(case.label):
            groups.setdefault((case.op, case.source, case.target), []).append(case)
    started = time.perf_counter()
    numbers = conversions = failed = 0
    tasks = [(group, options.random) for group in groups.values()]
    with multiprocessing.Pool(options.jobs) as pool:
        for results in pool.imap_unordered(_group, tasks):
            for case, count, wrong, first in results:
                conversions += 1
                numbers += count
                if wrong:
                    failed += 1
                    print(f"{case.label}: {wrong} of {count} differ; {first}", flush=True)
    seconds = time.perf_counter() - started
    print(f"{conversions} conversions, {numbers:,} numbers, {failed} conversions differ, {seconds:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
