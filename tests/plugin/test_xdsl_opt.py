"""The package inside ``xdsl-opt``, which finds it through the entry point ``xdsl.universe``."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from sampling import sampled
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError
from xdsl.xdsl_opt_main import xDSLOptMain

import pto_dialect
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.index import OPS
from pto_dialect.passes.registry import PASS_TABLE
from pto_dialect.plugin.universe import PTO_UNIVERSE

CHECKOUT = Path(__file__).parents[2]
EXAMPLES = sorted((CHECKOUT / "examples").rglob("*.pto"))

TILE = "!pto.tile_buf<vec, 16x64xf32>"
PROGRAM = f"""\
module attributes {{pto.target_arch = "a5"}} {{
  func.func @add(%a: {TILE}) {{
    %unused = arith.constant 3 : i32
    pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.tadd ins(%a, %a : {TILE}, {TILE}) outs(%a : {TILE})
    pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
    return
  }}
}}
"""
WRONG = PROGRAM.replace("outs(%a :", "outs(%b :")
AGAINST_A_RULE = PROGRAM.replace("xf32", "xf64")


class Tool(xDSLOptMain):
    """``xdsl-opt`` with the plug-in, whether or not the package is installed here."""

    def register_all_dialects(self) -> None:
        for name, factory in (get_all_dialects() | PTO_UNIVERSE.all_dialects).items():
            self.ctx.register_dialect(name, factory)

    def register_all_passes(self) -> None:
        super().register_all_passes()
        self.available_passes.update(PTO_UNIVERSE.all_passes)

    def register_all_targets(self) -> None:
        super().register_all_targets()
        self.available_targets.update(PTO_UNIVERSE.all_targets)


@pytest.fixture
def xdsl_opt(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def run(text: str, *options: str, name: str = "program.pto") -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        Tool(args=[str(path), *options]).run()
        return capsys.readouterr().out

    return run


def parse_generic(text: str) -> ModuleOp:
    context = Context()
    for name, factory in (get_all_dialects() | PTO_UNIVERSE.all_dialects).items():
        context.register_dialect(name, factory)
    return Parser(context, text).parse_module()


def test_the_universe_lists_everything() -> None:
    dialect = PTO_UNIVERSE.all_dialects["pto"]()
    assert dialect.name == "pto"
    assert {op.name for op in dialect.operations} == set(OPS)
    names = {attribute.name for attribute in dialect.attributes}
    assert names >= {"pto.tile_buf", "pto.vreg", "pto.align", *(f"pto.{kind}" for kind in ENUMS)}
    assert set(PTO_UNIVERSE.all_passes) == {name for name, entry in PASS_TABLE.items() if not entry.shared}
    for name, factory in PTO_UNIVERSE.all_passes.items():
        assert factory().name == name
    assert {name: factory().name for name, factory in PTO_UNIVERSE.all_targets.items()} == {"pto": "pto"}


def test_entry_point_is_declared() -> None:
    import tomllib

    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["xdsl.universe"] == {"pto": "pto_dialect.plugin.universe:PTO_UNIVERSE"}


def test_finding_the_plug_in_loads_no_operation() -> None:
    code = (
        "import sys, pto_dialect.plugin.universe; "
        "print(*[n for n in sys.modules if n.startswith(('pto_dialect.ir', 'pto_dialect.syntax', 'lark', 'numpy'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=CHECKOUT)
    assert done.stdout.split() == []


@pytest.mark.parametrize("path", sampled(EXAMPLES, 3), ids=lambda path: path.stem)
def test_examples_are_read_verified_and_printed(path: Path, xdsl_opt) -> None:
    text = path.read_text(encoding="utf-8")
    canonical = pto_dialect.print_module(pto_dialect.parse(text))
    assert xdsl_opt(text, "-t", "pto") == canonical
    for options in ([], ["--print-op-generic"]):
        module = pto_dialect.parse(xdsl_opt(text, *options))
        assert module.is_structurally_equivalent(pto_dialect.parse(text))


@pytest.mark.parametrize("path", sampled(EXAMPLES, 3), ids=lambda path: path.stem)
def test_generic_text_is_read_by_the_parser_of_xdsl(path: Path, xdsl_opt) -> None:
    module = pto_dialect.parse(path.read_text(encoding="utf-8"))
    read = parse_generic(pto_dialect.print_module(module, generic=True))
    for op in read.walk():
        # mlir-opt wants a second region, an empty one, around calls; see ``regions_around_calls``.
        if isinstance(op, PtoOp) and len(op.regions) > 1 and not op.regions[-1].blocks:
            op.detach_region(op.regions[-1])
    assert read.is_structurally_equivalent(module)
    stream = StringIO()
    Printer(stream).print_op(module)
    assert xdsl_opt(stream.getvalue(), "-t", "pto{generic=true}", name="x.mlir").startswith('"builtin.module"')


def test_passes_of_both_projects_run_together(xdsl_opt) -> None:
    printed = xdsl_opt(PROGRAM, "-p", "canonicalize,verify-structure,verify-shapes", "-t", "pto")
    assert "arith.constant" not in printed
    assert "pto.tadd ins(%a, %a" in printed


def test_locations(xdsl_opt, tmp_path: Path) -> None:
    assert f'loc("{tmp_path}/program.pto":5:5)' in xdsl_opt(PROGRAM, "--print-debuginfo")


@pytest.mark.parametrize(("text", "rule"), [(WRONG, "name-undefined"), (AGAINST_A_RULE, "tile-dtype")])
def test_wrong_programs_end_with_diagnostics(text: str, rule: str, tmp_path: Path, capsys) -> None:
    path = tmp_path / "wrong.pto"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as end:
        Tool(args=[str(path)]).run()
    assert end.value.code == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert f"{path}:" in output.err
    assert f"[{rule}]" in output.err


def test_disable_verify_reads_what_breaks_a_rule(xdsl_opt, monkeypatch: pytest.MonkeyPatch) -> None:
    # The option takes the checks of attributes away from the whole process; this puts them back.
    monkeypatch.setattr(Attribute, "__post_init__", Attribute.__post_init__)
    assert "16x64xf64" in xdsl_opt(AGAINST_A_RULE, "--disable-verify")


def test_diagnostics_as_xdsl_prints_them(xdsl_opt) -> None:
    assert "%b is not defined [name-undefined]" in xdsl_opt(WRONG, "--parsing-diagnostics")
    assert "[tile-dtype]" in xdsl_opt(AGAINST_A_RULE, "--verify-diagnostics")


def test_chunks_keep_the_line_numbers_of_the_file(xdsl_opt, capsys) -> None:
    with pytest.raises(SystemExit):
        xdsl_opt(f"{PROGRAM}// -----\n{WRONG}", "--split-input-file")
    line = PROGRAM.count("\n") + 1 + 5
    assert f"program.pto:{line}:" in capsys.readouterr().err


def test_other_names_are_read_with_the_frontend_option(xdsl_opt) -> None:
    assert '"pto.tadd"' in xdsl_opt(PROGRAM, "-f", "pto", name="program.mlir")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"pto.barrier"() {pipe = #pto.pipe<PIPE_FIXX>} : () -> ()', "PIPE_FIX"),
        ('%a = "pto.init_align"() : () -> !pto.vreg<4x>', "type"),
    ],
)
def test_wrong_attributes_in_generic_text(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        parse_generic(text)
