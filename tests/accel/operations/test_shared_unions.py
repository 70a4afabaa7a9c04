"""Operations whose constraints share unions have the definitions that xDSL gives them."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[3]

SHOW = """
from xdsl.irdl import IRDLOperation
from importlib import import_module
for dialect in ("arith", "scf", "func", "cf", "memref", "math", "llvm"):
    module = import_module(f"xdsl.dialects.{dialect}")
    for name, cls in vars(module).items():
        if isinstance(cls, type) and issubclass(cls, IRDLOperation) and isinstance(getattr(cls, "name", None), str):
            definition = cls.get_irdl_definition()
            print(name, *(getattr(definition, part) for part in ("operands", "results", "properties", "attributes")))
"""

SHARED = """
from xdsl.irdl.constraints import AnyOf
make, made = AnyOf.get, []
AnyOf.get = staticmethod(lambda *members: (made.append(members), make(*members))[1])
from pto_dialect.ir.core_dialects.core_ops import core_class
for name in ("arith.addi", "scf.for", "func.func", "cf.br", "memref.load", "math.exp", "llvm.load"):
    assert core_class(name).name == name
core = len(made)
AnyOf.get = staticmethod(make)
"""

COUNT = """
import sys
print(core, file=sys.stderr)
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=CHECKOUT)


@pytest.fixture(scope="module")
def shared() -> subprocess.CompletedProcess[str]:
    return run(SHARED + COUNT + SHOW)


def test_definitions_are_the_same(shared: subprocess.CompletedProcess[str]) -> None:
    plain = run(SHOW)
    assert plain.stdout.count("\n") > 150
    assert shared.stdout == plain.stdout


def test_equal_unions_are_made_once(shared: subprocess.CompletedProcess[str]) -> None:
    code = SHARED.replace("core_class(name).name == name", "__import__('xdsl.dialects.' + name.partition('.')[0])")
    assert int(shared.stderr) < int(run(code + COUNT).stderr)


def test_the_order_of_members_stays() -> None:
    from xdsl.dialects.builtin import Float32Type, IndexType
    from xdsl.irdl.constraints import AnyOf

    from pto_dialect.accel.operations.shared_unions import shared_unions

    make = AnyOf.get
    with shared_unions():
        one, other = AnyOf.get(IndexType | Float32Type), AnyOf.get(Float32Type | IndexType)
        assert AnyOf.get(IndexType | Float32Type) is one
    assert AnyOf.get is make
    assert repr(one) == repr(make(IndexType | Float32Type)) != repr(other)
    assert repr(other) == repr(make(Float32Type | IndexType))
