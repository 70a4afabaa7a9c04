"""The conversion that a tile instruction applies to an accumulator: relu, quantization, conversion.

Source: docs/reference/numerics.md, "Write-back"; docs/reference/targets.md, "Quantisation modes".
"""

from __future__ import annotations

import numpy as np

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.memory.values import Tile, ValueTile
from pto_dialect.runtime.numerics import fixpipe
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.targets.profile import Profile

SIGN_BIT = 46
"""Bit of a channel entry that makes 8-bit results signed."""

_RELU = {"no_relu": None, "normal_relu": ("normal_relu", None)}
_PLAIN = {("f32", "f16"): "f32_f16", ("f32", "bf16"): "f32_bf16"}


class AccumulatorOut:
    """Converts accumulator values to a destination type."""

    def __init__(self, source: str, target: str, relu: str, profile: Profile, quantised: bool) -> None:
        self.source = source = "i32" if source == "si32" else source
        if source not in fixpipe.ACCUMULATORS:
            raise Fault("unmodelled", f"accumulators hold f32 or i32, not {source}")
        self.target = target
        self.relu = relu
        mode_target = "i8" if target in ("si8", "ui8") else target
        base = profile.acc_quant_mode.get((source, mode_target)) if quantised else None
        if quantised and base is None:
            raise Fault("fixp-quant-dst-mode", f"{source} accumulators cannot be quantised to {target}")
        self.base = base
        if relu not in _RELU:
            raise Fault("unmodelled", f"reluPreMode {relu} needs a payload that tile instructions do not carry")

    def __call__(
        self, values: Array, scalar: int | None = None, table: Tile | ValueTile | None = None, first: int = 0
    ) -> Array:
        """Converts ``values`` [m, n], from column ``first`` of the accumulator on, to storage of the
        destination type."""
        relu = _RELU[self.relu]
        quant: tuple[str, fixpipe.QuantPayload] | None
        if scalar is None and table is None:
            mode = _PLAIN.get((self.source, self.target))
            quant = (mode, 0.0) if mode is not None else None
        elif scalar is not None:
            entry = np.uint64(scalar & 0xFFFF_FFFF_FFFF_FFFF)
            quant = (f"{self.base}_scalar", entry)
        else:
            assert table is not None
            quant = (f"{self.base}_vec", channel_table(table, values.shape[1], self.target != "ui8", first))
        if quant is None and relu is None and self.source == self.target:
            return values
        return fixpipe.convert(values, self.source, self.target, quant=quant, relu=relu)


def channel_entries(tile: Tile | ValueTile) -> int:
    """Returns the number of channel entries of a parameter tile."""
    values = tile.valid_rows * tile.valid_cols
    return values if tile.fmt.is_float else values * tile.fmt.bytes // 8


def channel_table(tile: Tile | ValueTile, columns: int, signed: bool, first: int = 0) -> Array:
    """Returns the 64-bit channel entries from column ``first`` on; entry n of a parameter tile belongs to column n.

    A float is the scale of its entry; ``signed`` states whether 8-bit results are then signed.
    """
    raw = np.ascontiguousarray(tile.read()).reshape(-1)
    if tile.fmt.is_float:
        bits = decode(raw, tile.fmt).astype(np.float32).view(np.uint32).astype(np.uint64)
        entries = bits | np.uint64(int(signed) << SIGN_BIT)
    else:
        entries = raw.view(np.uint8)[: raw.nbytes // 8 * 8].view(np.uint64)
    if entries.size < first + columns:
        raise Fault("fb-bt-capacity", f"{entries.size} channel entries for {first + columns} columns")
    return entries[first : first + columns]
