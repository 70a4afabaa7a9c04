"""Writes ``index.py``, where each operation is declared. Run as ``python -m pto_dialect.ir.make_index``."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from .base import PtoOp, op_spec

_HEADER = '''"""Every operation by mnemonic: module, class, shape.

Looking an operation up here imports no operation class. Generated: ``python -m pto_dialect.ir.make_index``.
"""

from __future__ import annotations

OPS: dict[str, tuple[str, str, str]] = {
'''

FAMILIES = (
    "comm",
    "cross_core",
    "cube_mad",
    "dma",
    "fixpipe",
    "gemv",
    "matmul",
    "memref_bridge",
    "mte",
    "mte_raw",
    "pipes",
    "pointers",
    "predicate",
    "predicate_memory",
    "regions",
    "scalar_config",
    "scalar_query",
    "simt_control",
    "simt_group",
    "simt_math",
    "simt_memory",
    "simt_query",
    "sync",
    "tile_elementwise",
    "tile_expand",
    "tile_irregular",
    "tile_memory",
    "tile_move",
    "tile_partial",
    "tile_reduce",
    "tile_scalar",
    "ub_vector",
    "vector_arith",
    "vector_compare",
    "vector_convert",
    "vector_memory",
    "vector_rearrange",
    "vector_reduce",
    "views",
    "vmi_convert",
    "vmi_load",
    "vmi_mask",
    "vmi_masked",
    "vmi_plain",
    "vmi_rearrange",
    "vmi_reduce",
    "vmi_store",
)
"""Modules that declare operations."""


def declared(module_name: str) -> list[type[PtoOp]]:
    """Operation classes that a family module declares itself, in order."""
    module = import_module(f".{module_name}", __package__)
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, PtoOp)
        and value.__module__ == module.__name__
        and "name" in value.__dict__
    ]


def render() -> str:
    """Text of ``index.py`` for what is declared now; raises ValueError for a mnemonic declared twice."""
    entries: dict[str, str] = {}
    for module in FAMILIES:
        for cls in declared(module):
            if cls.name in entries:
                raise ValueError(f"{cls.name} is declared twice")
            shape = op_spec(cls).shape.value
            entries[cls.name] = f'    "{cls.name}": ("{module}", "{cls.__name__}", "{shape}"),\n'
    return _HEADER + "".join(entries[name] for name in sorted(entries)) + "}\n"


def main() -> None:
    """Rewrites ``index.py`` next to this file."""
    (Path(__file__).parent / "index.py").write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
