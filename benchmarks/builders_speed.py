"""Measures how long Python programs take to build operations, on this package and on MLIR's own bindings.

    python benchmarks/builders_speed.py [--bindings PYTHON] [--operations N]

PYTHON is an interpreter that has `jaxlib`, whose `jaxlib.mlir` are bindings of MLIR's core; operations of `pto` are
operations of an unknown dialect there. Each program is run several times in both, and the fastest runs are compared, in
processor time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

PROGRAM = """
import json, sys, time
root, number = sys.argv[1], int(sys.argv[2])
if root == "mlir":
    before = time.process_time()
    import xdsl.dialects.builtin, xdsl.dialects.func, xdsl.irdl, xdsl.parser
    xdsl_loaded = time.process_time()
    from pto_dialect.integrations.builders import install
    install(force=True, quiet=True)
    loading = time.process_time() - xdsl_loaded
else:
    loading = 0.0
import importlib
ir = importlib.import_module(root + ".ir")
arith = importlib.import_module(root + ".dialects.arith")
func = importlib.import_module(root + ".dialects.func")
scf = importlib.import_module(root + ".dialects.scf")
from contextlib import contextmanager

if root != "mlir":
    try:
        from jaxlib.mlir._mlir_libs._jax_mlir_ext import register_dialects
    except ImportError:
        # Older versions.
        from jaxlib.mlir._mlir_libs.register_jax_dialects import register_dialects

@contextmanager
def function():
    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        if root != "mlir":
            registry = ir.DialectRegistry()
            register_dialects(registry)
            context.append_dialect_registry(registry)
            context.load_all_available_dialects()
        module = ir.Module.create()
        index, f32 = ir.IndexType.get(), ir.F32Type.get()
        with ir.InsertionPoint(module.body):
            entry = func.FuncOp("f", ([index, f32], [])).add_entry_block()
        with ir.InsertionPoint(entry):
            yield module, *entry.arguments
            func.ReturnOp([])

def constants(n):
    with function() as (module, x, y):
        index = x.type
        before = time.process_time()
        for value in range(n):
            arith.ConstantOp(index, value)
        return time.process_time() - before

def sums(n):
    with function() as (module, x, y):
        before = time.process_time()
        value = x
        for _ in range(n):
            value = arith.AddIOp(value, x).result
        return time.process_time() - before

def comparisons(n):
    with function() as (module, x, y):
        before = time.process_time()
        for _ in range(n):
            arith.CmpIOp(arith.CmpIPredicate.slt, x, x)
        return time.process_time() - before

def loops(n):
    with function() as (module, x, y):
        before = time.process_time()
        for _ in range(n // 2):
            loop = scf.ForOp(x, x, x, [y])
            with ir.InsertionPoint(loop.body):
                scf.YieldOp([loop.inner_iter_args[0]])
        return time.process_time() - before

def by_name(n):
    with function() as (module, x, y):
        f32 = y.type
        before = time.process_time()
        for _ in range(n):
            ir.Operation.create("pto.round", results=[f32], operands=[y])
        return time.process_time() - before

def tiles(n):
    from mlir.dialects import pto
    with function() as (module, x, y):
        vec = pto.AddressSpaceAttr.get(pto.AddressSpace.VEC)
        tile = pto.TileBufType.get([32, 32], y.type, vec)
        a = pto.AllocTileOp(tile).result
        before = time.process_time()
        for _ in range(n):
            pto.TAddOp(a, a, a)
        return time.process_time() - before

programs = [constants, sums, comparisons, loops, by_name] + ([tiles] if root == "mlir" else [])
found = {}
for program in programs:
    program(100)
    found[program.__name__] = min(program(number) for _ in range(5)) / number
print(json.dumps([loading, found]))
"""


def measure(python: str, root: str, operations: int) -> tuple[float, dict[str, float]]:
    """Returns the seconds that the package takes to load beyond xDSL, and those for an operation of each program."""
    command = [python, "-c", PROGRAM, root, str(operations)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    loading, found = json.loads(output.splitlines()[-1])
    return loading, found


def main() -> None:
    """Prints microseconds for an operation, and how many times those of the bindings these are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bindings", metavar="PYTHON", help="an interpreter that has jaxlib")
    parser.add_argument("--operations", type=int, default=5_000)
    options = parser.parse_args()
    loading, ours = measure(sys.executable, "mlir", options.operations)
    theirs = measure(options.bindings, "jaxlib.mlir", options.operations)[1] if options.bindings else {}
    print(f"import beyond xDSL: {loading:.3f} s")
    for name, seconds in ours.items():
        other = theirs.get(name)
        compared = "" if other is None else f"{1e6 * other:8.1f} us  {seconds / other:5.2f}x"
        print(f"{name:12} {1e6 * seconds:8.1f} us {compared}")


if __name__ == "__main__":
    main()
