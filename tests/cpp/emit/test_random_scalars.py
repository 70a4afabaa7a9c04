"""Arithmetic printed as C++ and compiled again gives the same numbers, also where it overflows."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from pto_dialect.api import emit_cpp, parse
from pto_dialect.cpp.kernel import compile_kernel
from pto_dialect.cpp.options import CppOptions
from pto_dialect.runtime.api import compile as compile_function

WIDTHS = (8, 16, 32, 64)
SIGNED = ("addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui")
DIVIDED = ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui")
SHIFTED = ("shli", "shrsi", "shrui")
ORDERS = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_ORDERS = ("oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno")
NUMBERS = (0, 1, -1, 7, 127, 128, -128, 255, 32767, -32768, 65535, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63))


class Program:
    """A kernel of random operations on two numbers, which stores all results."""

    def __init__(self, seed: int, operations: int = 60) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []
        self.pools: dict[str, list[str]] = {}
        self.stores = 0
        self.names = 0
        self.store_lines: list[str] = []
        for width in WIDTHS:
            for name in ("a", "b"):
                self._define(f"i{width}", f"arith.trunci %{name} : i64 to i{width}" if width < 64 else "")
        self.pools["i64"] = ["%a", "%b"]
        self._define("f32", "arith.sitofp %a : i64 to f32")
        self._define("f32", "arith.constant 2.5 : f32")
        self._define("f16", f"arith.truncf {self.pools['f32'][0]} : f32 to f16")
        self._define("i1", "arith.cmpi slt, %a, %b : i64")
        for _ in range(operations):
            self._operation()
        self.text = self._text()

    def _define(self, type_: str, body: str) -> None:
        if body:
            self.names += 1
            self.lines.append(f"%v{self.names} = {body}")
            self.pools.setdefault(type_, []).append(f"%v{self.names}")

    def _one(self, type_: str) -> str:
        return self.random.choice(self.pools[type_])

    def _constant(self, type_: str, value: int) -> str:
        self.names += 1
        self.lines.append(f"%v{self.names} = arith.constant {value} : {type_}")
        return f"%v{self.names}"

    def _binary(self, name: str, type_: str, result: str = "") -> None:
        self._define(result or type_, f"arith.{name} {self._one(type_)}, {self._one(type_)} : {type_}")

    def _convert(self, name: str, source: str, target: str) -> None:
        self._define(target, f"arith.{name} {self._one(source)} : {source} to {target}")

    def _by_constant(self, name: str, type_: str, value: int) -> None:
        constant = self._constant(type_, value)
        self._define(type_, f"arith.{name} {self._one(type_)}, {constant} : {type_}")

    def _operation(self) -> None:
        choose = self.random.choice
        width = choose(WIDTHS)
        type_ = f"i{width}"
        match self.random.randrange(9):
            case 0 | 1 | 2:
                self._binary(choose(SIGNED), type_)
            case 3:
                self._by_constant(choose(DIVIDED), type_, choose((1, 2, 3, 7, 16, 100)))
            case 4:
                self._by_constant(choose(SHIFTED), type_, self.random.randrange(width))
            case 5:
                self._binary(f"cmpi {choose(ORDERS)},", type_, "i1")
                operands = ", ".join(self._one(one) for one in ("i1", type_, type_))
                self._define(type_, f"arith.select {operands} : {type_}")
            case 6:
                for wider in [one for one in WIDTHS if one > width][:1]:
                    self._convert(choose(("extsi", "extui")), type_, f"i{wider}")
                    self._convert("trunci", f"i{wider}", type_)
                self._convert(choose(("extsi", "extui")), "i1", type_)
            case 7:
                kind = choose(("f32", "f16"))
                self._binary(choose(("addf", "subf", "mulf", "divf")), kind)
                self._binary(f"cmpf {choose(FLOAT_ORDERS)},", kind, "i1")
            case _:
                self._convert(choose(("sitofp", "uitofp")), type_, "f32")
                self._convert("extf", "f16", "f32")
                self._define("f32", f"arith.negf {self._one('f32')} : f32")

    def _text(self) -> str:
        body = list(self.lines)
        number = 0
        for type_, values in self.pools.items():
            for value in values:
                if type_ in ("f32", "f16"):
                    bits = f"i{type_[1:]}"
                    # The sign of a NaN that an operation makes is not defined.
                    body.append(f"%is_nan{number} = arith.cmpf uno, {value}, {value} : {type_}")
                    body.append(f"%zero{number} = arith.constant 0.0 : {type_}")
                    body.append(f"%some{number} = arith.select %is_nan{number}, %zero{number}, {value} : {type_}")
                    body.append(f"%bits{number} = arith.bitcast %some{number} : {type_} to {bits}")
                    value, type_of = f"%bits{number}", bits
                else:
                    type_of = type_
                if type_of != "i64":
                    extend = "extui" if type_of == "i1" else "extsi"
                    body.append(f"%wide{number} = arith.{extend} {value} : {type_of} to i64")
                    value = f"%wide{number}"
                # Not side by side: compilers join stores of zeros to a fill of memory, which kernels do not have.
                body.append(f"%at{number} = arith.constant {2 * number} : index")
                body.append(f"pto.store_scalar {value}, %out[%at{number}] : !pto.ptr<i64>, i64")
                number += 1
        self.stores = 2 * number
        listed = "\n".join(f"    {line}" for line in body)
        return f"  func.func @k(%out: !pto.ptr<i64>, %a: i64, %b: i64) {{\n{listed}\n    return\n  }}"


@pytest.mark.parametrize("seed", range(6))
def test_random_arithmetic_gives_the_same_numbers_after_a_round_trip(seed: int) -> None:
    program = Program(seed)
    module = parse(f'module attributes {{pto.target_arch = "a2a3"}} {{\n{program.text}\n}}\n')
    text = emit_cpp(module)
    again = parse(compile_kernel(text, "again.cpp", CppOptions()).text)
    kernels = [compile_function(one, "k") for one in (module, again)]
    random = Random(seed)
    for _ in range(20):
        a, b = random.choice(NUMBERS), random.choice((*NUMBERS, random.getrandbits(63)))
        found = [np.zeros(program.stores, np.int64) for _ in kernels]
        for kernel, out in zip(kernels, found, strict=True):
            kernel(out, a, b)
        assert found[0].tolist() == found[1].tolist(), f"{text}\n{a}, {b}"
