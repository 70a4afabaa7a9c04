"""Statements of the C++ interface, all of a file in one compilation, and the calls that they end in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pto_dialect.cpp.compiler import compile_to_ir
from pto_dialect.cpp.llvm.model import Constant, Instruction, Operand
from pto_dialect.cpp.llvm.reader import Module, read_module
from pto_dialect.cpp.translate.calls import call_name, groups_of, is_interface, plain_name

_TILES = """\
#include <pto/pto-inst.hpp>
using namespace pto;
template <class T, int R = 16, int C = 64> using VecTile = Tile<TileType::Vec, T, R, C>;
using Mat = Tile<TileType::Mat, half, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor>;
using Scales = Tile<TileType::Scaling, uint64_t, 1, 64>;
using Plain = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>>;
using Indices = GlobalTensor<int32_t, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>>;
using Conv = ConvTile<TileType::Mat, half, 4096, Layout::NC1HWC0, ConvTileShape<1, 4, 8, 8, 16>>;
using Queue = TPipe<0, DIR_C2V, 4096, 4, 2>;
"""
_NAMED = {
    "VecTile<float>": "a b c d t",
    "VecTile<int32_t>": "i j k l",
    "VecTile<uint8_t>": "m u",
    "VecTile<half>": "h",
    "VecTile<float, 16, 8>": "r s",
    "VecTile<half, 64, 64>": "v",
    "Mat": "mat",
    "TileLeft<half, 64, 64>": "left",
    "TileRight<half, 64, 64>": "right",
    "TileAcc<float, 64, 64>": "acc sums",
    "TileLeftScale<float8_e8m0_t, 64, 4>": "lefts",
    "TileRightScale<float8_e8m0_t, 4, 64>": "rights",
    "Tile<TileType::Bias, float, 1, 64>": "bias",
    "Scales": "scales",
    "Conv": "conv",
}
"""Tiles of every function, by type."""
NAMES = [name for names in _NAMED.values() for name in names.split()]


def calls_of_all(programs: Sequence[str], target: str) -> list[str]:
    """The calls of each program, one a line, without those that every function begins with."""
    text = _TILES + "".join(_function(number, program) for number, program in enumerate(programs))
    core = "cube" if any("acc" in program for program in programs) else "vector"
    module = read_module(compile_to_ir(text, "statements.cpp", target=target, core=core).text)
    return ["\n".join(_described(module, f"f{number}")) for number in range(len(programs))]


def _function(number: int, program: str) -> str:
    lines = [f'extern "C" __global__ AICORE void f{number}(float *x, int32_t *y, int n, Scales::DType q)\n{{']
    for type, names in _NAMED.items():
        lines.append(f"    {type} {names.replace(' ', ', ')};")
    lines += [f"    TASSIGN({name}, {0x1000 * (index + 1)});" for index, name in enumerate(NAMES)]
    return "\n".join([*lines, "    Plain g(x), f(x + 1024);", "    Indices w(y);", program, "}\n"])


def _described(module: Module, name: str) -> Iterator[str]:
    function = module.function(name)
    assert function is not None
    places: dict[Operand, str] = {}
    instructions = [one for block in function.blocks.values() for one in block.instructions if is_interface(one)]
    for index, instruction in enumerate(instructions):
        if index < len(NAMES):
            places[instruction] = NAMES[index]
        else:
            yield _call(module, instruction, places)


def _call(module: Module, instruction: Instruction, places: dict[Operand, str]) -> str:
    name = call_name(instruction, module)
    groups = groups_of(instruction, module)
    if plain_name(instruction.word) in ("__pto_set_flag", "__pto_wait_flag", "__pto_pipe_barrier", "__pto_assign"):
        shown = [_value(operand, places) for operand in instruction.operands if module.string(operand) is None]
    else:
        shown = [_group(group.descriptor, [_value(operand, places) for operand in group.operands]) for group in groups]
    result = "" if instruction.type == "void" else f"{instruction.type} "
    return f"{plain_name(instruction.word)} {result}{name}: {', '.join(shown)}".rstrip(": ")


def _value(operand: Operand, places: dict[Operand, str]) -> str:
    if operand in places:
        return places[operand]
    if isinstance(operand, Instruction):
        return f"<{plain_name(operand.word) if operand.opcode == 'call' else operand.opcode}>"
    return str(operand.value) if isinstance(operand, Constant) else getattr(operand, "text", str(operand).lstrip("%"))


def _group(descriptor: str, values: list[str]) -> str:
    kind, _, rest = descriptor.partition(":")
    if kind == "tile":
        return values[0] if values[0] in NAMES else f"{rest} at {' '.join(values)}"
    if kind == "global":
        return f"{rest.split(',')[0]} at {values[0]}"
    return f"{descriptor} {' '.join(values)}".rstrip()
