"""Several independent mistakes are all reported in one run, in order, each once: in nested regions, headers,
attributes, aliases and further functions, whatever else is wrong around them."""

import textwrap

import pytest

from pto_dialect.api import check
from pto_dialect.diagnostics.diagnostic import Severity

TILE = "!pto.tile_buf<vec, 16x16xf32>"
COMMA = "',' is missing between"
PROGRAMS: dict[str, tuple[str, list[str]]] = {
    "nested regions": (
        f"""
        module attributes {{pto.target_arch = "a5"}} {{
          func.func @f(%u: !pto.ptr<f32, ub>, %n: index, %t: {TILE}) {{
            scf.for %i = %n to %n step %n {{
              pto.section.vector {{
                pto.tabs ins(%t : {TILE}) out(%t : {TILE})
              }}
              pto.vecscope {{
                %m = pto.pset_b32 "PAT_ALLL" : !pto.mask<b32>
                %v = pto.vlds %u[%i] : !pto.ptr<f32, ub> !pto.vreg<64xf32>
                %w = pto.vabs %v, %m : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf16>
              }}
              scf.if %i {{
                %x = arith.addi %i, %q : index
              }} else {{
                pto.barier <PIPE_V>
              }}
            }}
            return
          }}
          func.func @second(%g: !pto.ptr<f32, gm>) {{
            %a = pto.castptr %g : !pto.ptr<f32, gm> -> !pto.ptr<f16, gmm>
            return %a
          }}
        }}
        """,
        [
            "5:58 unexpected 'out'",
            "8:27 unknown pattern 'PAT_ALLL'",
            "9:50 '->' is missing before the result type !pto.vreg<64xf32>",
            "10:79 a vector register holds 256 bytes",
            "12:14 the condition of scf.if has type i1, but %i has type index",
            "13:29 %q is not defined",
            "15:9 unknown operation 'pto.barier'",
            "21:62 unknown address space 'gmm'",
            "22:12 the types of %a are missing",
        ],
    ),
    "loop headers": (
        """
        func.func @f(%n: index) {
          scf.for %i = %n to %n {
            %y = arith.addi %i %n : index
          }
          scf.for %i = 0 to %n step %n {
            %y = arith.addi %i, %z : index
          }
          for %i = %n to %n step %n {
            %y = arith.addi %i %n : index
          }
          scf.for i = %n to %n step %n {
            %y = arith.addi %n %n : index
          }
          scf.while (%i = %n) (index) -> index {
            %c = arith.cmpi slt, %i, %n : index
            scf.condition(%c) %i : index
          } do {
          ^bb0(%j: index):
            %y = arith.addi %j %n : index
            scf.yield %y : index
          }
          return
        }
        """,
        [
            "2:25 'step' is missing before '{'",
            f"3:24 {COMMA} %i and %n",
            "5:16 bounds and initial values are values, found the number 0",
            "6:25 %z is not defined",
            "8:3 unknown operation 'for'",
            f"9:24 {COMMA} %i and %n",
            "11:11 expected a value, found 'i'",
            f"12:24 {COMMA} %n and %n",
            "14:23 ':' is missing before the types",
            f"19:24 {COMMA} %j and %n",
        ],
    ),
    "branches": (
        """
        func.func @f(%c: i1, %n: index) {
          scf.if %c -> {
            %x = arith.addi %n %n : index
          } else {
            %y = arith.addi %n, %n : int32
          }
          scf.if %c {
            %x = arith.addi %n, %n : index
          } els {
            %y = arith.addi %n %n : index
          }
          scf.if c {
            tabs ins(%n)
          }
          return
        }
        """,
        [
            "2:13 the result type after '->' is missing",
            f"3:24 {COMMA} %n and %n",
            "5:30 unknown type 'int32'",
            "9:5 unexpected 'els'",
            f"10:24 {COMMA} %n and %n",
            "12:10 expected a value, found 'c'",
            "13:5 unknown operation 'tabs'",
        ],
    ),
    "function headers": (
        """
        func.func @f(%a i32) {
          return
        }
        func.func g(%a: i32) {
          %b = arith.addi %a %a : i32
          return
        }
        func.func @h(%a: i32 {
          %b = arith.addi %a %a : i32
          return
        }
        func.func @i(%a: int32) {
          return
        }
        func @j(%a: i32) {
          %b = arith.addi %a %a : i32
          return
        }
        func.func @k(a: i32) {
          return
        }
        func.func @l(%a: i32) {
          %b = arith.addi %a %a : i32
          return
        }
        """,
        [
            "1:17 ':' is missing before i32",
            "4:11 names of functions begin with @, found 'g'",
            f"5:22 {COMMA} %a and %a",
            "8:13 this '(' is not closed",
            f"9:22 {COMMA} %a and %a",
            "12:18 unknown type 'int32'",
            "15:1 unknown operation 'func'",
            f"16:22 {COMMA} %a and %a",
            "19:14 expected a value, found 'a'",
            f"23:22 {COMMA} %a and %a",
        ],
    ),
    "aliases": (
        """
        !T = !pto.tile_buf<vec, 16x16xfp32>
        !U = pto.tile_buf<vec, 16x16xf32>
        !V !pto.ptr<f32, gm>
        !W = !pto.ptr<f32, gmm>
        func.func @f(%a: !T, %b: !U, %c: !V, %d: !W, %e: !X) {
          return
        }
        """,
        [
            "1:31 unknown element type 'fp32'",
            "2:6 unknown type 'pto.tile_buf'",
            "3:1 '=' is missing between !V and !pto.ptr<f32, gm>",
            "4:20 unknown address space 'gmm'",
            "5:50 undefined type alias !X",
        ],
    ),
    "missing equal signs": (
        """
        func.func @f(%a: i32) {
          %b arith.addi %a, %a : i32
          %c = arith.addi %b %a : i32
          %d, %e pto.plt_b32 %a : i32 -> !pto.mask<b32>, i32
          %f = arith.addi %e, %c : i32
          g = arith.addi %f, %c : i32
          %h = arith.addi %g, %a %c : i32
          return
        }
        """,
        [
            "2:3 '=' is missing between %b and arith.addi",
            f"3:22 {COMMA} %b and %a",
            "4:3 '=' is missing between %d, %e and pto.plt_b32",
            "6:3 names of results begin with %, found 'g'",
            f"7:26 {COMMA} %a and %c",
        ],
    ),
    "dictionaries": (
        """
        func.func @f(%a: i32, %s: index) {
          %0 = pto.shuffle_up %a, %a {width = 16 : i32 : i32, i32 -> i32
          %1 = pto.shuffle_up %0, %a width = 16 : i32} : i32, i32 -> i32
          %2 = pto.shuffle_up %1, %a {width : 16} : i32, i32 -> i32
          %3 = pto.shuffle_up %2, %a {width = 16} i32, i32 -> i32
          pto.barrier <PIPE_W>
          scf.for %i = %s to %s step %s {
            %4 = pto.shuffle_up %3, %a {width = 16 : i32 : i32, i32 -> i32
          }
          %5 = arith.addi %4 %a : i32
          return
        }
        """,
        [
            "2:30 this '{' is not closed",
            "3:30 unexpected 'width'",
            "4:37 the value of width follows '=', not ':'",
            "5:43 ':' is missing before i32, i32",
            "6:15 unknown pipe 'PIPE_W'",
            "8:32 this '{' is not closed",
            f"10:22 {COMMA} %4 and %a",
        ],
    ),
    "generic form": (
        """
        func.func @f(%n: index) {
          %a = "arith.addi"(%n, %n : (index, index) -> index
          %b = "arith.addi"(%a, %n) (index, index) -> index
          %c = "arith.addi"(%b, %m) : (index, index) -> index
          return
        }
        """,
        [
            "2:20 this '(' is not closed",
            "3:29 ':' is missing before the types",
            "4:25 %m is not defined",
        ],
    ),
}
MODULE_HEADERS = {
    '{pto.target_arch "a5"}': "1:20 '=' is missing after pto.target_arch",
    '{pto.target_arch = "a5"': "1:19 this '{' is not closed",
    '{pto.target_arch = "a5}': "1:38 this string is not closed on its line",
    "{pto.target_arch = 'a5'}": '1:38 unexpected character "\'"',
    "{pto.target_arch : 5}": "1:36 the value of pto.target_arch follows '=', not ':'",
}


def told(text: str) -> list[str]:
    """The errors of ``text`` as ``line:column message``."""
    found: list[str] = []
    for error in check(text).diagnostics:
        if error.severity is Severity.ERROR:
            assert error.span is not None
            line, column = error.span.source.line_col(error.span.start)
            found.append(f"{line}:{column} {error.message}")
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_independent_errors(name: str) -> None:
    program, expected = PROGRAMS[name]
    found = told(textwrap.dedent(program).strip() + "\n")
    starts = [message.startswith(begin) for message, begin in zip(found, expected, strict=False)]
    assert len(found) == len(expected) and all(starts), found


@pytest.mark.parametrize("attributes", MODULE_HEADERS)
def test_module_headers(attributes: str) -> None:
    body = "  func.func @f(%a: i32) {\n    %b = arith.addi %a %a : i32\n    return\n  }"
    text = f"module attributes {attributes} {{\n{body}\n}}\n"
    first, second = told(text)
    assert first.startswith(MODULE_HEADERS[attributes])
    assert second == f"3:24 {COMMA} %a and %a"


@pytest.mark.parametrize(
    ("text", "message", "place", "note", "line"),
    [
        (
            "func.func @f(%n: index) {\n  scf.for %i = %n to %n step %n {\n  return\n}\n",
            "this '{' is not closed",
            (2, 33),
            "'}' seems to be missing before this line",
            3,
        ),
        (
            "module {\n  func.func @f() {\n    return\n  func.func @g() {\n    return\n  }\n}\n",
            "this '{' is not closed",
            (2, 18),
            "'}' seems to be missing before this line",
            4,
        ),
        ("module {\n  func.func @f() {\n    return\n  }\n", "this '{' is not closed", (1, 8), "", 0),
        ("module {\n  func.func @f() {\n    }\n    return\n  }\n}\n", "closes nothing", (6, 1), "one too many", 3),
    ],
)
def test_unbalanced_regions(text: str, message: str, place: tuple[int, int], note: str, line: int) -> None:
    (found,) = [error for error in check(text).diagnostics if error.severity is Severity.ERROR]
    assert message in found.message and found.span is not None
    assert found.span.source.line_col(found.span.start) == place
    assert [(note in told, span is not None and span.line) for told, span in found.notes] == [(True, line)] * bool(note)
