"""Python that no generator writes: each line would be in a function of generated code.

``HOSTILE`` has the lines by the kind of node that is refused, ``TREES`` syntax trees that no text has.
"""

from __future__ import annotations

import ast
from typing import Any

IDENTIFIERS = {
    "f_main": "f_",
    "s_part": "s_",
    "w_body": "w_",
    "k_add": "k_",
    "v_x": "v_",
    "v_y": "v_",
    "a_x": "a_",
    "t_loop": "t_",
}
"""What the generator claims to have made, with its kind."""

HARMLESS = (
    "v_x = 1",
    "v_x, v_y = k_add(v_x, 2.5), 'a text; import os'",
    "core.set_flag('PIPE_V', 'PIPE_M', 0)",
    "if v_x == 3 and not v_y: v_x = -v_x",
    "for v_x in range(0, 10, 1): k_add(a_x[:1], None, True)",
    "while items.some(mask): break",
    "yield from core.join_all()",
    "t_loop.number += 1",
    "a_x = k_add(core, 0, valid_rows=v_x).array",
    "v_x = {0: v_x}, [v_y], (v_x if v_y else 0) // 2 << min(v_y, 64)",
    "v_y = '\\\\', v_x if v_y else 'v_x'",
    "'f_other'",
)
"""Lines that pass; the last two hold texts that look like identifiers, or none."""

_BUILTINS = (
    *("exec", "eval", "compile", "open", "__import__", "getattr", "setattr", "delattr", "hasattr", "vars", "globals"),
    *("locals", "dir", "input", "print", "breakpoint", "type", "object", "super", "memoryview", "bytearray", "help"),
    *("exit", "quit", "id", "hash", "iter", "next", "map", "filter", "zip", "sorted", "list", "tuple", "dict", "set"),
    *("str", "chr", "ord", "isinstance", "property", "callable", "slice", "sum", "any", "all", "format", "repr", "pow"),
)
_ATTRIBUTES = (
    *("__class__", "__bases__", "__base__", "__mro__", "__subclasses__", "__globals__", "__builtins__", "__dict__"),
    *("__code__", "__closure__", "__defaults__", "__func__", "__self__", "__module__", "__getattribute__", "__init__"),
    *("__reduce__", "__reduce_ex__", "__import__", "__call__", "__wrapped__", "__loader__", "__spec__", "__array__"),
    *("gi_frame", "gi_code", "cr_frame", "ag_frame", "f_globals", "f_locals", "f_builtins", "f_back", "tb_frame"),
    *("mro", "format", "format_map", "join", "encode", "system", "popen", "modules", "ctypes", "tofile", "tobytes"),
    *("any", "min", "sum", "setflags", "dump", "data", "base", "dtype", "_arenas", "__", "_"),
)

HOSTILE: dict[str, tuple[str, ...]] = {
    "Import": (
        *(
            "import os",
            "import os.path",
            "import os as v_x",
            "import os, sys",
            "v_x = 1; import os",
            "if v_x: import os",
        ),
        "for v_x in range(2): import subprocess",
    ),
    "ImportFrom": (
        "from os import system",
        "from os import system as k_add",
        "from . import run",
        "from os import path; v_x = 1",
    ),
    "Name": (
        *(f"v_x = {name}" for name in _BUILTINS),
        *("v_x = os", "v_x = __builtins__", "v_x = __name__", "v_z = v_x", "v_x = v_z", "v_x = np", "v_x = _"),
        *("k_add = v_x", "core = v_x", "items = v_x", "mask = 0", "range = v_x", "min = k_add", "k_add(k_other)"),
        *(
            "for core in range(3): pass",
            "for k_add in range(3): pass",
            "k_add += 1",
            "v_x = __debug__",
            "v_x = Ellipsis",
        ),
        *("v_x = ｋ_add2", "v_ｘ_ = 1", "v_x = ｅｖａｌ", "v_х = 1", "v_x = vx", "v_x = V_x", "v_x_ = 1", "v_x = v_x1"),
        *("v_x = f_main2", "v_x = NotImplemented", "v_x = v_x if exec else 0", "v_x = [exec]", "v_x = {0: eval}"),
        *("v_x = a_x[open]", "v_x = a_x[:open]", "k_add(v_x, valid_rows=open)", "return eval", "yield eval"),
        "while exec: break",
    ),
    "Attribute": (
        *(f"v_x = core.{name}" for name in _ATTRIBUTES),
        *(f"v_x = k_add.{name}" for name in _ATTRIBUTES[:12]),
        *(
            "v_x = ''.__class__.__mro__[1].__subclasses__()",
            "v_x = ().__class__",
            "v_x = (1).__class__",
            "core.state = 0",
        ),
        *(
            "core.index = 1",
            "v_x.shape = (1, )",
            "k_add.number.shape = 1",
            "core.block.__class__ = v_x",
            "v_x = 'a'.upper()",
        ),
        *(
            "v_x = '{0.__class__}'.format(core)",
            "v_x = core.ｂｌｏｃｋ２",
            "core.__class__.array = v_x",
            "v_x.count += 1",
            "os.system('id')",
        ),
    ),
    "Call": (
        *(
            "'text'()",
            "(1)()",
            "core.state['x']()",
            "k_add(v_x)(v_y)",
            "v_x()",
            "a_x(v_x)",
            "t_loop()",
            "core()",
            "mask(v_x)",
        ),
        *(
            "(k_add if v_x else f_main)(v_x)",
            "(v_x + v_y)()",
            "[k_add][0](v_x)",
            "(k_add, )[0]()",
            "items(0)",
            "None()",
            "(lambda: exec)()",
            "os(v_x)",
        ),
    ),
    "keyword": ("k_add(key=v_x)", "k_add(**v_x)", "k_add(v_x, __class__=1)", "k_add(shell=True)", "range(stop=3)"),
    "Starred": ("k_add(*v_x)", "v_x, *v_y = a_x", "v_x = [*v_y]", "v_x = (*v_y, )"),
    "Dict": ("v_x = {**v_y}", "v_x = {0: 1, **v_y}"),
    "Constant": ("v_x = b'bytes'", "v_x = 1j", "v_x = ...", "k_add(b'')", "v_x = a_x[...]"),
    "JoinedStr": ("v_x = f'{v_y}'", "v_x = f'text'", "v_x = f'{v_y!r:>{v_x}}'", "v_x = 'a' f'{core}'"),
    "Lambda": ("v_x = lambda: 1", "k_add(lambda v_x: v_x)"),
    "NamedExpr": ("v_x = (v_y := 1)", "if (v_y := k_add(v_x)): pass"),
    "ListComp": ("v_x = [v_y for v_y in a_x]", "k_add([v_x for v_x in range(3) if v_x])"),
    "SetComp": ("v_x = {v_y for v_y in a_x}",),
    "DictComp": ("v_x = {v_y: 1 for v_y in a_x}",),
    "GeneratorExp": ("k_add(v_x for v_x in a_x)",),
    "Set": ("v_x = {v_x, v_y}",),
    "Pow": ("v_x = 9 ** 9", "v_x **= v_y"),
    "Mod": ("v_x = v_x % v_y", "v_x %= 2"),
    "Div": ("v_x = v_x / v_y",),
    "MatMult": ("v_x = a_x @ a_x", "v_x @= v_y"),
    "Is": ("v_x = v_y is None",),
    "IsNot": ("v_x = v_y is not None",),
    "In": ("v_x = 1 in a_x",),
    "NotIn": ("v_x = 1 not in a_x",),
    "UAdd": ("v_x = +v_y",),
    "BinOp": (
        "v_x = 'a' * 999999999",
        "v_x = 999999999 * 'a'",
        "v_x = 1 << 999999999",
        "v_x = 1 << v_y",
        "v_x = 1 << (v_y & 63)",
        "v_x = 1 << max(v_y, 64)",
        "v_x = 'a' + 'b'",
        "v_x = '%s' % v_y",
    ),
    "With": ("with core: pass", "with k_add(v_x) as v_y: pass"),
    "Raise": ("raise v_x", "raise k_add(v_x) from None", "raise"),
    "Assert": ("assert v_x", "assert v_x, v_y"),
    "Delete": ("del v_x", "del a_x[0]", "del core.state"),
    "Global": ("global k_add", "global __builtins__"),
    "ClassDef": ("class v_x: pass", "class v_x(k_add): pass"),
    "AnnAssign": ("v_x: k_add = 1", "v_x: 'text'"),
    "Continue": ("for v_x in range(3): continue",),
    "arg": (
        "def f_main(v_z): pass",
        "def f_main(k_add): pass",
        "def f_main(v_x: k_add): pass",
        "def f_main(self): pass",
    ),
    "FunctionDef": ("def core(v_x): pass", "def exec(v_x): pass", "def f_other(): pass", "def f_main() -> v_x: pass"),
    "arguments": (
        "def f_main(*v_x): pass",
        "def f_main(**v_x): pass",
        "def f_main(*, v_x): pass",
        "def f_main(v_x, /): pass",
    ),
}

BLOCKS: dict[str, str] = {
    "Try": "try:\n  v_x = 1\n except k_add:\n  pass",
    "TryStar": "try:\n  v_x = 1\n except* k_add:\n  pass",
    "Match": "match v_x:\n  case 1:\n   pass",
    "AsyncFunctionDef": "async def f_main():\n  pass",
    "FunctionDef": "@k_add\n def f_main():\n  pass",
    "Import": "if v_x:\n  pass\n elif v_y:\n  import os",
    "ImportFrom": "if v_x:\n  pass\n else:\n  from os import system",
    "Name": "v_x = \\\n  open",
    "Attribute": "v_x = (\n  core\n  .__class__)",
    "Nonlocal": "def f_main():\n  nonlocal v_x",
    "ClassDef": "'''a text\n of lines'''\n class v_x:\n  pass",
    "Lambda": "while v_x:\n  break\n else:\n  v_y = lambda: 0",
}
"""Code of several lines, by the kind of node that is refused."""

_ONE = ast.Constant(1)
_OBJECTS: tuple[Any, ...] = ((1, 2), frozenset((1,)), compile("1", "", "eval"), print)


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


TREES: dict[str, tuple[ast.AST, ...]] = {
    "Name": (
        *(_name(name) for name in ("ｋ_add", "k_add\n", "import os", "", "v_x; exec", "v_x ", "core\0", "__import__")),
        ast.Name("core", ast.Store()),
        ast.Name("k_add", ast.Del()),
    ),
    "Attribute": (
        ast.Attribute(_name("core"), "block.__class__", ast.Load()),
        ast.Attribute(_name("core"), "state ", ast.Load()),
        ast.Attribute(_name("core"), "", ast.Load()),
        ast.Attribute(_name("core"), "state", ast.Store()),
    ),
    "Constant": tuple(ast.Constant(value) for value in _OBJECTS),
    "keyword": (ast.keyword(None, _ONE), ast.keyword("", _ONE)),
    "Interactive": (ast.Interactive([ast.Expr(_ONE)]),),
    "Expression": (ast.Expression(_ONE),),
    "FunctionType": (ast.FunctionType([], _ONE),),
    "Await": (ast.Await(_name("v_x")),),
    "FormattedValue": (ast.FormattedValue(_name("v_x"), -1, None),),
    "Del": (ast.Name("v_x", ast.Del()),),
}
