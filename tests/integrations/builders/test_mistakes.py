"""Mistakes in Python builders: what is reported, at the Python line of the mistake.

`mistakes.txt` has the programs. The line with the mistake ends with ``# here``; the names of `prelude` are known.
"""

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from snapshots import Block, read, renewed

from pto_dialect.integrations.builders import ir, pto
from pto_dialect.integrations.builders.dialects import arith, func, scf
from pto_dialect.integrations.builders.ir import MLIRError

FILE = Path(__file__).with_name("mistakes.txt")
BLOCKS = read(FILE)[1]
MARK = "# here"


@contextmanager
def prelude() -> Iterator[dict[str, Any]]:
    """Names that the programs know: modules, some types, and a function with pointers and numbers as arguments."""
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        f32, f16, index = ir.F32Type.get(), ir.F16Type.get(), ir.IndexType.get()
        i32 = ir.IntegerType.get_signless(32)

        def tile(rows: int, cols: int, element: Any = f32, space: str = "VEC", **config: Any) -> Any:
            where = pto.AddressSpaceAttr.get(getattr(pto.AddressSpace, space))
            return pto.TileBufType.get([rows, cols], element, where, **config)

        pointer = pto.PtrType.get(f32)
        with ir.InsertionPoint(module.body):
            kernel = func.FuncOp("kernel", ([pointer, f32, i32, index], []))
        with ir.InsertionPoint(kernel.add_entry_block()):
            p, x, n, k = kernel.arguments
            yield {**vars(ir), **locals(), "ir": ir, "pto": pto, "arith": arith, "func": func, "scf": scf}


def outcome(block: Block, folder: Path) -> tuple[int, str]:
    """Runs a program; returns the line that is reported, and the report."""
    file = folder / f"{block.title.replace(' ', '_')}.py"
    file.write_text(block.program, encoding="utf-8")
    with prelude() as names:
        try:
            exec(compile(block.program, str(file), "exec"), names)
            func.ReturnOp([])
            names["module"].operation.verify()
        except MLIRError as error:
            spans = [one.span for one in error.error_diagnostics if one.span is not None]
            if not spans or spans[0].source.name == "<string>":
                return raised_at(error, file), f"MLIRError: {error}"
            assert all(Path(span.source.name).name == file.name for span in spans), error
            return spans[0].line, str(error).replace(spans[0].source.name, "builder.py")
        except (AttributeError, IndexError, RuntimeError, TypeError, ValueError) as error:
            return raised_at(error, file), f"{type(error).__name__}: {error}"
    return 0, "no error"


def raised_at(error: BaseException, file: Path) -> int:
    """The last line of a file in a traceback."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == str(file)]
    return frames[-1].lineno or 0


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.title)
def test_mistake_is_reported_at_its_line(block: Block, tmp_path: Path) -> None:
    line, report = outcome(block, tmp_path)
    marked = [number for number, text in enumerate(block.program.splitlines(), 1) if text.endswith(MARK)]
    assert ([line], report.strip()) == (marked, block.output)


def test_there_are_many_mistakes() -> None:
    assert len(BLOCKS) >= 30


def test_mistakes_are_as_stored(compare: Callable[[Path, str], None], tmp_path: Path) -> None:
    compare(FILE, renewed(FILE, lambda block: outcome(block, tmp_path)[1].strip()))
