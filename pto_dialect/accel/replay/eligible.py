"""Which programs may be replayed: those whose instructions and operands follow from the numbers of a launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pto_dialect.accel import enabled

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from pto_dialect.runtime.run.kernel import CompiledKernel

_NUMBERS = ("arith.", "scf.for", "scf.if", "scf.yield", "func.func", "func.call", "func.return", "return", "builtin.")
_HANDLES = (
    *("alloc_tile", "treshape", "make_tensor_view", "partition_view", "addptr", "get_block_idx", "get_block_num"),
    *("get_subblock_idx", "get_subblock_num", "reserve_buffer", "import_reserved_buffer", "section.cube"),
    *("section.vector", "aic_initialize_pipe", "aiv_initialize_pipe"),
)
_QUEUES = (
    *("tpush", "tpush_to_aic", "tpush_to_aiv", "tpop", "tpop_from_aic", "tpop_from_aiv"),
    *("tfree", "tfree_from_aic", "tfree_from_aiv", "set_flag", "wait_flag", "barrier"),
)
_TILES = (
    *(f"{name}{form}" for name in ("tmatmul", "tgemv") for form in ("", ".acc", ".bias")),
    *("tload", "tstore", "tmov", "tcvt", "ttri", "texpands"),
    *("trowsum", "trowprod", "trowmax", "trowmin", "trowexpand", "tcolexpand"),
    *(f"t{axis}expand{name}" for axis in ("row", "col") for name in ("add", "sub", "mul", "div", "max", "min")),
    *("trowexpandexpdif", "tcolexpandexpdif"),
    *("tabs", "tneg", "tnot", "texp", "tlog", "tsqrt", "trsqrt", "trecip", "trelu", "taddrelu"),
    *(f"t{name}{end}" for name in ("add", "sub", "mul", "div", "max", "min", "and", "or", "xor") for end in ("", "s")),
    *("taddc", "tsubc", "taddsc", "tsubsc"),
)
KNOWN = frozenset(f"pto.{name}" for name in (*_HANDLES, *_QUEUES, *_TILES))
"""Operations of this dialect that a replay knows. None of them makes a number from the content of a memory."""

_UNREPLAYED = ("tfillpad", "tfillpad_inplace", "tfillpad_expand", "ttrans", "textract", "tinsert", "tcmp", "tcmps")
FOLLOWING = KNOWN | frozenset(f"pto.{name}" for name in _UNREPLAYED)
"""Operations of which the same is true: which bytes they access follows from their operands, not from any content."""


def others(kernel: CompiledKernel, known: frozenset[str] = FOLLOWING) -> list[Operation]:
    """Returns the operations of a kernel that are not in ``known``: what those in it access follows from the numbers of
    a launch."""
    # By name, as the lists are: what is new stays out until somebody has looked at it.
    return [op for op in kernel.program.operations if not (op.name in known or op.name.startswith(_NUMBERS))]


def may_replay(kernel: CompiledKernel) -> bool:
    """Returns True when every operation of a kernel is known and nobody watches it."""
    options = kernel.options
    plain = kernel.profile_log is None and options.schedule is None and options.fill == "zero"
    return (
        enabled("replay") and plain and not kernel.results and not kernel.usage.combines and not others(kernel, KNOWN)
    )
