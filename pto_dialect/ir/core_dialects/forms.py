"""How statements of the core dialects are written: the usual form first, then others.

In a form ``<r>`` is a result, ``<a:int>`` an operand whose type is of the class ``int``, ``<int>`` that type,
``<=text>`` a text to be replaced, ``<>`` the statements of a region. Other text stands for itself.
Source: docs/reference/core-dialects.md, "Operations".
"""

from __future__ import annotations

import re
from typing import Final

_TEXT = r"(?:->|[^<>]|<(?:->|[^<>]|<[^<>]*>)*>)+"
HOLE: Final = re.compile(rf"<(?:(?P<operand>\w+):(?P<of>\w+)|=(?P<text>{_TEXT})|(?P<name>\w*))>")
"""A hole of a form; ``name`` is a class of types, a result, or empty for the statements of a region."""

CLASSES: Final[dict[str, tuple[str, str]]] = {
    "int": (r"i\d+|index", "index"),
    "fixed": (r"i\d+", "i32"),
    "index": ("index", "index"),
    "bool": ("i1", "i1"),
    "float": (r"f\d+|bf16", "f32"),
    "any": (".*", "i32"),
    "mem": (r"memref<\d+xf32>", "memref<16xf32>"),
    "ptr": (r"!llvm\.ptr(<\d+>)?", "!llvm.ptr"),
    "vec": (r"vector<\d+xf32>", "vector<4xf32>"),
    "i64": ("i64", "i64"),
    "f32": ("f32", "f32"),
}
"""Classes of types: a pattern of their texts, and the type that is usual."""

_INTEGERS = (
    "addi subi muli divsi divui remsi remui andi ori xori shli shrsi shrui minsi maxsi minui maxui ceildivsi ceildivui "
    "floordivsi"
)
_FLOATS = "addf subf mulf divf remf maximumf minimumf maxnumf minnumf"
_CASTS = {
    "index_cast": ("index", "i64"),
    "index_castui": ("index", "i64"),
    "extsi": ("fixed", "i64"),
    "extui": ("fixed", "i64"),
    "trunci": ("fixed", "i8"),
    "sitofp": ("fixed", "f32"),
    "uitofp": ("fixed", "f32"),
    "fptosi": ("float", "i32"),
    "fptoui": ("float", "i32"),
    "extf": ("float", "f64"),
    "truncf": ("float", "f16"),
    "bitcast": ("f32", "i32"),
}
_OF_FLOAT = (
    "absf acos acosh asin asinh atan atanh cbrt ceil cos cosh erf exp exp2 expm1 floor log log10 log1p log2 round "
    "roundeven rsqrt sin sinh sqrt tan tanh trunc"
)
_OF_INTEGER = "absi ctlz ctpop cttz"
_POINTERS = {
    "bitcast": ("ptr", "!llvm.ptr"),
    "addrspacecast": ("ptr", "!llvm.ptr<1>"),
    "ptrtoint": ("ptr", "i64"),
    "inttoptr": ("i64", "!llvm.ptr"),
}

_STRUCTURED = """
scf.for <=%i> = <lower_bound:index> to <upper_bound:index> step <step:index> {
  <>
}

<result> = scf.for <=%i> = <lower_bound:index> to <upper_bound:index> step <step:index>
    iter_args(<=%value> = <initial_value:any>) -> (<any>) {
  <>
  scf.yield <=%value> : <any>
}

scf.if <condition:bool> {
  <>
}

<result> = scf.if <condition:bool> -> (<any>) {
  <>
  scf.yield <true_value:any> : <any>
} else {
  scf.yield <false_value:any> : <any>
}

<result> = scf.while (<=%value> = <initial_value:any>) : (<any>) -> <any> {
  <>
  scf.condition(<condition:bool>) <=%value> : <any>
} do {
^bb0(<=%next>: <any>):
  scf.yield <=%next> : <any>
}

scf.while : () -> () {
  <>
  scf.condition(<condition:bool>)
} do {
  scf.yield
}

scf.parallel (<=%i>) = (<lower_bound:index>) to (<upper_bound:index>) step (<step:index>) {
  <>
  scf.reduce
}

scf.reduce(<value:any> : <any>) {
^bb0(<=%left>: <any>, <=%right>: <any>):
  <>
  scf.reduce.return <=%left> : <any>
}

scf.execute_region {
  <>
  scf.yield
}

<result> = scf.execute_region -> <any> {
  <>
  scf.yield <value:any> : <any>
}

scf.index_switch <value:index>
case <=0> {
  <>
  scf.yield
}
default {
  scf.yield
}

<result> = scf.index_switch <value:index> -> <any>
case <=0> {
  <>
  scf.yield <case_value:any> : <any>
}
default {
  scf.yield <default_value:any> : <any>
}
"""


def _structured(text: str) -> dict[str, tuple[str, ...]]:
    """Returns the forms of operations with regions, which blank lines separate in ``text``, by operation."""
    found: dict[str, tuple[str, ...]] = {}
    for form in text.strip().split("\n\n"):
        name = re.findall(r"scf\.[a-z_]+", form)[0]
        found[name] = (*found.get(name, ()), form)
    return found


FORMS: Final[dict[str, tuple[str, ...]]] = {
    **{f"arith.{name}": (f"<result> = arith.{name} <lhs:int>, <rhs:int> : <int>",) for name in _INTEGERS.split()},
    **{f"arith.{name}": (f"<result> = arith.{name} <lhs:float>, <rhs:float> : <float>",) for name in _FLOATS.split()},
    **{
        f"arith.{op}": (f"<result> = arith.{op} <operand:{kind}> : <{kind}> to <={to}>",)
        for op, (kind, to) in _CASTS.items()
    },
    "arith.negf": ("<result> = arith.negf <operand:float> : <float>",),
    "arith.constant": ("<result> = arith.constant <=0> : <=index>",),
    "arith.cmpi": ("<result> = arith.cmpi <=slt>, <lhs:int>, <rhs:int> : <int>",),
    "arith.cmpf": ("<result> = arith.cmpf <=olt>, <lhs:float>, <rhs:float> : <float>",),
    "arith.select": ("<result> = arith.select <condition:bool>, <true_value:any>, <false_value:any> : <any>",),
    "arith.addui_extended": ("<sum>, <overflow> = arith.addui_extended <lhs:int>, <rhs:int> : <int>, i1",),
    "arith.mulsi_extended": ("<low>, <high> = arith.mulsi_extended <lhs:int>, <rhs:int> : <int>",),
    "arith.mului_extended": ("<low>, <high> = arith.mului_extended <lhs:int>, <rhs:int> : <int>",),
    **{f"math.{name}": (f"<result> = math.{name} <operand:float> : <float>",) for name in _OF_FLOAT.split()},
    **{
        f"math.{name}": (f"<result> = math.{name} <operand:int> : <int>",) for name in ("absi", "ctlz", "cttz", "ctpop")
    },
    **{
        f"math.{name}": (f"<result> = math.{name} <lhs:float>, <rhs:float> : <float>",)
        for name in ("atan2", "copysign", "powf")
    },
    "math.ipowi": ("<result> = math.ipowi <lhs:int>, <rhs:int> : <int>",),
    "math.fma": ("<result> = math.fma <a:float>, <b:float>, <c:float> : <float>",),
    "math.fpowi": ("<result> = math.fpowi <lhs:float>, <rhs:fixed> : <float>, <fixed>",),
    **_structured(_STRUCTURED),
    "scf.reduce.return": ("scf.reduce.return <value:any> : <any>",),
    "scf.condition": ("scf.condition(<condition:bool>) <value:any> : <any>", "scf.condition(<condition:bool>)"),
    "scf.yield": ("scf.yield", "scf.yield <value:any> : <any>"),
    "cf.br": ("cf.br <=^bb1>", "cf.br <=^bb1>(<value:any> : <any>)"),
    "cf.cond_br": ("cf.cond_br <condition:bool>, <=^bb1>, <=^bb2>",),
    "cf.switch": ("cf.switch <value:fixed> : <fixed>, [\n  default: <=^bb1>,\n  <=0>: <=^bb2>\n]",),
    "cf.assert": ('cf.assert <condition:bool>, "<=what must hold>"',),
    "func.func": ("func.func @<=name>(<=%x: index>) {\n  <>\n  return\n}",),
    "func.return": ("return", "return <value:any> : <any>"),
    "func.call": (
        "call @<=name>(<value:any>) : (<any>) -> ()",
        "<result> = call @<=name>(<value:any>) : (<any>) -> <=i32>",
    ),
    "func.constant": ("<result> = constant @<=name> : <=(i32) -> ()>",),
    "builtin.module": ("module {\n  <>\n}",),
    "builtin.unrealized_conversion_cast": (
        "<result> = builtin.unrealized_conversion_cast <value:any> : <any> to <=i64>",
    ),
    "memref.alloc": ("<result> = memref.alloc() : <mem>",),
    "memref.alloca": ("<result> = memref.alloca() : <mem>",),
    "memref.dealloc": ("memref.dealloc <memref:mem> : <mem>",),
    "memref.load": ("<result> = memref.load <memref:mem>[<index:index>] : <mem>",),
    "memref.store": ("memref.store <value:f32>, <memref:mem>[<index:index>] : <mem>",),
    "memref.copy": ("memref.copy <source:mem>, <target:mem> : <mem> to <mem>",),
    "memref.dim": ("<result> = memref.dim <memref:mem>, <index:index> : <mem>",),
    "memref.rank": ("<result> = memref.rank <memref:mem> : <mem>",),
    "memref.cast": ("<result> = memref.cast <source:mem> : <mem> to <=memref<?xf32>>",),
    "memref.memory_space_cast": ("<result> = memref.memory_space_cast <source:mem> : <mem> to <=memref<16xf32, 1>>",),
    "memref.subview": (
        "<result> = memref.subview <source:mem>[<index:index>] [<=4>] [<=1>] : <mem> to "
        "<=memref<4xf32, strided<[1], offset: ?>>>",
    ),
    "memref.reinterpret_cast": (
        "<result> = memref.reinterpret_cast <source:mem> to offset: [<=0>], sizes: [<=4, 4>], strides: [<=4, 1>] : "
        "<mem> to <=memref<4x4xf32, strided<[4, 1]>>>",
    ),
    **{
        f"llvm.{op}": (f"<result> = llvm.{op} <operand:{kind}> : <{kind}> to <={to}>",)
        for op, (kind, to) in _POINTERS.items()
    },
    "llvm.alloca": ("<result> = llvm.alloca <count:i64> x <=f32> : (<i64>) -> <=!llvm.ptr>",),
    "llvm.load": ("<result> = llvm.load <pointer:ptr> : <ptr> -> <=f32>",),
    "llvm.store": ("llvm.store <value:any>, <pointer:ptr> : <any>, <ptr>",),
    "llvm.getelementptr": (
        "<result> = llvm.getelementptr <pointer:ptr>[<index:i64>] : (<ptr>, <i64>) -> <ptr>, <=f32>",
    ),
    "llvm.extractelement": ("<result> = llvm.extractelement <vector:vec>[<index:fixed> : <fixed>] : <vec>",),
    "llvm.insertelement": ("<result> = llvm.insertelement <value:f32>, <vector:vec>[<index:fixed> : <fixed>] : <vec>",),
    "llvm.mlir.undef": ("<result> = llvm.mlir.undef : <=vector<4xf32>>",),
    "llvm.mlir.zero": ("<result> = llvm.mlir.zero : <=!llvm.ptr>",),
    "llvm.extractvalue": ("<result> = llvm.extractvalue <=%s>[0] : <=!llvm.struct<(i32, i32)>>",),
    "func.call_indirect": ("call_indirect <=%f>(<value:any>) : (<any>) -> ()",),
}


MANY_RESULTS: Final = 1_000
"""Results of an operation that may have any number of them."""
_ANY_RESULTS = ("scf.for", "scf.if", "scf.while", "scf.parallel", "scf.execute_region", "scf.index_switch", "func.call")


def forms_of(name: str) -> tuple[str, ...]:
    """Returns the forms of an operation, none for one that is written in generic form only."""
    return FORMS.get(name, ())


def result_count(form: str) -> int:
    """Returns the number of results that a form gives names to."""
    head, equals, _ = form.partition(" = ")
    return sum(not hole["operand"] for hole in HOLE.finditer(head)) if equals and form.startswith("<") else 0


def result_counts(name: str) -> range:
    """Returns the numbers of results that an operation with forms may have."""
    counts = [result_count(form) for form in FORMS[name]]
    return range(min(counts), MANY_RESULTS if name in _ANY_RESULTS else max(counts) + 1)


def operands_of(form: str) -> dict[str, str]:
    """Returns the class of the type of each operand of a form, by the operand's name."""
    return {hole["operand"]: hole["of"] for hole in HOLE.finditer(form) if hole["operand"]}


def shown(form: str) -> str:
    """Returns a form as documentation shows it: ``%r = arith.addi %a, %b : T``, with ``..`` for statements."""
    classes = list(dict.fromkeys(hole["name"] for hole in HOLE.finditer(form) if hole["name"] in CLASSES))

    def text(hole: re.Match[str]) -> str:
        if hole["name"] in classes:
            return "TUV"[classes.index(hole["name"])]
        name = hole["operand"] or hole["name"]
        return hole["text"] or (f"%{name}" if name else "..")

    return HOLE.sub(text, form)
