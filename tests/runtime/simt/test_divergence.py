"""Control flow that differs between work-items, against a walk of the same program by one work-item after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simt_programs import run

WORD = 1 << 32


def signed(value: int) -> int:
    return (value + (WORD >> 1)) % WORD - (WORD >> 1)


@dataclass
class Program:
    """Nested statements over the variables a, b and c of one work-item."""

    statements: list[Any]
    counter: int = 0
    lines: list[str] = field(default_factory=list)

    # ------------------------------------------------------------ one work-item after the other

    def model(self, tid: int, seen: list[int]) -> list[int]:
        state = {"a": tid, "b": seen[tid], "c": 1, "tid": tid}
        self._walk(self.statements, state)
        return [state[name] for name in "abc"]

    def _walk(self, statements: list[Any], state: dict[str, int]) -> None:
        for kind, *parts in statements:
            if kind == "set":
                target, operation, left, right = parts
                x, y = state[left], right if isinstance(right, int) else state[right]
                state[target] = signed({"addi": x + y, "muli": x * y, "xori": x ^ y, "subi": x - y}[operation])
            elif kind == "if":
                (left, right), then, other = parts
                self._walk(then if state[left] < self._number(right, state) else other, state)
            elif kind == "for":
                bound, body = parts
                for index in range(state[bound] % 5):
                    state["a"] = signed(state["a"] + index)
                    self._walk(body, state)
            else:
                bound, body = parts
                left = state[bound] % 7
                while left > 0:
                    self._walk(body, state)
                    left -= 2

    @staticmethod
    def _number(value: Any, state: dict[str, int]) -> int:
        return value if isinstance(value, int) else state[value]

    # ------------------------------------------------------------ text

    def text(self) -> str:
        self.lines, self.counter = [], 0
        names = self._emit(self.statements, {"a": "%tid", "b": "%b0", "c": "%i1", "tid": "%tid"})
        stores = [f"pto.stg {names[name]}, %out_{name}[%at] : !pto.ptr<i32, gm>, i32" for name in "abc"]
        return "\n".join(["%b0 = pto.ldg %seen[%at] : !pto.ptr<i32, gm> -> i32", *self.lines, *stores])

    def _fresh(self) -> str:
        self.counter += 1
        return f"%v{self.counter}"

    def _line(self, text: str) -> str:
        name = self._fresh()
        self.lines.append(f"{name} = {text}")
        return name

    def _operand(self, value: Any, names: dict[str, str]) -> str:
        return names[value] if isinstance(value, str) else self._line(f"arith.constant {value} : i32")

    def _emit(self, statements: list[Any], names: dict[str, str]) -> dict[str, str]:
        names = dict(names)
        for kind, *parts in statements:
            if kind == "set":
                target, operation, left, right = parts
                other = self._operand(right, names)
                names[target] = self._line(f"arith.{operation} {names[left]}, {other} : i32")
            elif kind == "if":
                (left, right), then, other = parts
                condition = self._line(f"arith.cmpi slt, {names[left]}, {self._operand(right, names)} : i32")
                name = self._fresh()
                self.lines.append(f"{name}:3 = scf.if {condition} -> (i32, i32, i32) {{")
                self._yield(then, names)
                self.lines.append("} else {")
                self._yield(other, names)
                self.lines.append("}")
                names = {**names, **{letter: f"{name}#{n}" for n, letter in enumerate("abc")}}
            elif kind == "for":
                bound, body = parts
                names = self._for(bound, body, names)
            else:
                bound, body = parts
                names = self._while(bound, body, names)
        return names

    def _yield(self, statements: list[Any], names: dict[str, str], first: str = "") -> None:
        inner = self._emit(statements, names)
        values = [*([first] if first else []), *(inner[letter] for letter in "abc")]
        self.lines.append(f"scf.yield {', '.join(values)} : {', '.join(['i32'] * len(values))}")

    def _modulo(self, name: str, divisor: int) -> str:
        by = self._line(f"arith.constant {divisor} : i32")
        rest = self._line(f"arith.remsi {name}, {by} : i32")
        shifted = self._line(f"arith.addi {rest}, {by} : i32")
        return self._line(f"arith.remsi {shifted}, {by} : i32")

    def _for(self, bound: str, body: list[Any], names: dict[str, str]) -> dict[str, str]:
        upper = self._line(f"arith.index_cast {self._modulo(names[bound], 5)} : i32 to index")
        result, index = self._fresh(), self._fresh()
        inner = {letter: f"{index}_{letter}" for letter in "abc"}
        starts = ", ".join(f"{inner[letter]} = {names[letter]}" for letter in "abc")
        self.lines.append(
            f"{result}:3 = scf.for {index} = %c0 to {upper} step %c1 iter_args({starts}) -> (i32, i32, i32) {{"
        )
        count = self._line(f"arith.index_cast {index} : index to i32")
        inner["a"] = self._line(f"arith.addi {inner['a']}, {count} : i32")
        self._yield(body, {**names, **inner})
        self.lines.append("}")
        return {**names, **{letter: f"{result}#{n}" for n, letter in enumerate("abc")}}

    def _while(self, bound: str, body: list[Any], names: dict[str, str]) -> dict[str, str]:
        left = self._modulo(names[bound], 7)
        result = self._fresh()
        before = {letter: f"{result}_{letter}" for letter in "nabc"}
        starts = ", ".join(f"{before[letter]} = {left if letter == 'n' else names[letter]}" for letter in "nabc")
        types = "i32, i32, i32, i32"
        self.lines.append(f"{result}:4 = scf.while ({starts}) : ({types}) -> ({types}) {{")
        more = self._line(f"arith.cmpi sgt, {before['n']}, %i0 : i32")
        self.lines.append(f"scf.condition({more}) {', '.join(before[x] for x in 'nabc')} : {types}")
        after = {letter: f"{result}_after_{letter}" for letter in "nabc"}
        self.lines.append("} do {")
        self.lines.append(f"^bb0({', '.join(f'{after[x]}: i32' for x in 'nabc')}):")
        rest = self._line(f"arith.subi {after['n']}, %i2 : i32")
        self._yield(body, {**names, **{x: after[x] for x in "abc"}}, rest)
        self.lines.append("}")
        return {**names, **{letter: f"{result}#{n + 1}" for n, letter in enumerate("abc")}}


VARIABLES = st.sampled_from(["a", "b", "c", "tid"])
TARGETS = st.sampled_from("abc")
NUMBERS = st.one_of(VARIABLES, st.integers(-40, 40))
SET = st.tuples(st.just("set"), TARGETS, st.sampled_from(["addi", "muli", "xori", "subi"]), VARIABLES, NUMBERS)


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    body = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.tuples(st.just("if"), st.tuples(VARIABLES, NUMBERS), body, st.lists(inner, max_size=2)),
        st.tuples(st.just("for"), VARIABLES, body),
        st.tuples(st.just("while"), VARIABLES, body),
    )


STATEMENTS = st.lists(st.recursive(SET, _nested, max_leaves=8), min_size=1, max_size=4)
ARGUMENTS = "%seen: !pto.ptr<i32, gm>, " + ", ".join(f"%out_{name}: !pto.ptr<i32, gm>" for name in "abc")


def check(statements: list[Any], count: int, seed: int) -> None:
    program = Program(statements)
    seen = np.random.default_rng(seed).integers(-9, 10, count).astype(np.int32)
    outputs = [np.zeros(count, np.int32) for _ in "abc"]
    run(program.text(), ARGUMENTS, seen, *outputs, dims=(count, 1, 1))
    wanted = [program.model(tid, seen.tolist()) for tid in range(count)]
    np.testing.assert_array_equal(np.stack(outputs, axis=1), wanted)


@given(STATEMENTS, st.integers(1, 70), st.integers(0, 9))
@settings(max_examples=60)
def test_random_programs(statements: list[Any], count: int, seed: int) -> None:
    check(statements, count, seed)


@pytest.mark.parametrize("count", [1, 31, 32, 33, 2048])
def test_nested_loops_with_bounds_of_their_own(count: int) -> None:
    inner = [("for", "b", [("set", "b", "addi", "b", "a"), ("if", ("b", "tid"), [("set", "c", "addi", "c", 1)], [])])]
    check([("for", "tid", inner), ("while", "a", [("set", "c", "muli", "c", 3)])], count, count)


def _collatz(value: int) -> int:
    steps = 0
    while value > 1:
        value = 3 * value + 1 if value % 2 else value // 2
        steps += 1
    return steps


def test_a_loop_that_ends_for_each_work_item_at_another_time() -> None:
    body = """
      %start = arith.addi %tid, %i1 : i32
      %r:2 = scf.while (%v = %start, %n = %i0) : (i32, i32) -> (i32, i32) {
        %go = arith.cmpi sgt, %v, %i1 : i32
        scf.condition(%go) %v, %n : i32, i32
      } do {
      ^bb0(%v: i32, %n: i32):
        %low = arith.andi %v, %i1 : i32
        %odd = arith.cmpi eq, %low, %i1 : i32
        %next = scf.if %odd -> (i32) {
          %m = arith.muli %v, %i3 : i32
          %p = arith.addi %m, %i1 : i32
          scf.yield %p : i32
        } else {
          %h = arith.shrsi %v, %i1 : i32
          scf.yield %h : i32
        }
        %count = arith.addi %n, %i1 : i32
        scf.yield %next, %count : i32, i32
      }
      pto.stg %r#1, %out[%at] : !pto.ptr<i32, gm>, i32
    """
    out = np.zeros(70, np.int32)
    run(body, "%out: !pto.ptr<i32, gm>", out, dims=(70, 1, 1))
    np.testing.assert_array_equal(out, [_collatz(tid + 1) for tid in range(70)])


def test_switches_without_a_case_for_all() -> None:
    body = """
      %k = arith.remsi %tid, %i5 : i32
      %which = arith.index_cast %k : i32 to index
      %r = scf.index_switch %which -> i32
      case 0 { scf.yield %i100 : i32 }
      case 3 { scf.yield %tid : i32 }
      default { scf.yield %i7 : i32 }
      pto.stg %r, %out[%at] : !pto.ptr<i32, gm>, i32
    """
    out = np.zeros(40, np.int32)
    run(body, "%out: !pto.ptr<i32, gm>", out, dims=(40, 1, 1))
    np.testing.assert_array_equal(out, [100 if n % 5 == 0 else n if n % 5 == 3 else 7 for n in range(40)])


def _steps(tid: int) -> Iterator[int]:
    value = tid
    while value % 7:
        value = value * 3 + 1
        yield value


BLOCKS = """
  func.func @count(%tid: i32) -> i32 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %three = arith.constant 3 : i32
    %seven = arith.constant 7 : i32
    cf.br ^head(%tid, %zero : i32, i32)
  ^head(%v: i32, %n: i32):
    %rest = arith.remsi %v, %seven : i32
    %done = arith.cmpi eq, %rest, %zero : i32
    %twice = arith.addi %n, %n : i32
    cf.cond_br %done, ^end, ^more
  ^more:
    %m = arith.muli %v, %three : i32
    %p = arith.addi %m, %one : i32
    %k = arith.addi %n, %one : i32
    cf.br ^head(%p, %k : i32, i32)
  ^end:
    return %twice : i32
  }
"""


def test_branches_between_blocks_of_a_helper() -> None:
    """A value of a block that others run again keeps what each work-item had when it left."""
    body = "%r = func.call @count(%tid) : (i32) -> i32\npto.stg %r, %out[%at] : !pto.ptr<i32, gm>, i32"
    tids = [tid for tid in range(48) if sum(1 for _, _ in zip(_steps(tid), range(50), strict=False)) < 50]
    out = np.zeros(len(tids), np.int32)
    values = np.array(tids, np.int32)
    body = "%mine = pto.ldg %in[%at] : !pto.ptr<i32, gm> -> i32\n" + body.replace("%tid", "%mine")
    run(body, "%in: !pto.ptr<i32, gm>, %out: !pto.ptr<i32, gm>", values, out, dims=(len(tids), 1, 1), helpers=BLOCKS)
    np.testing.assert_array_equal(out, [2 * len(list(_steps(tid))) for tid in tids])
