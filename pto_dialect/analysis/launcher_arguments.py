"""Arguments that only launchers know: numbers that differ from core to core.

Source: docs/reference/execution.md, "Launches".
"""

LAUNCHER_VALUES = {
    "__pypto_spmd_block_idx": "block",
    "__pypto_spmd_block_num": "count",
    "__pypto_spmd_subblock_idx": "subblock",
}
"""Names of arguments that only launchers know, as compilers write them, and their values."""
