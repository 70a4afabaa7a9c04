"""What users search for when they meet these rules."""

from __future__ import annotations

from typing import Final

from .phrases import rows

RULE_PURPOSES: Final = rows("""
sync-deadlock: deadlock; hangs; waits for ever; never finishes; stuck
sync-static-deadlock: deadlock in the text; wait without a set
sync-flag-unconsumed: set_flag without matching wait_flag; set without wait; flag that is set and never waited for;
    leftover flag
sync-path-unmatched: flag on one path only
race-raw: data race; read before the data is there; missing wait_flag
race-war: overwritten before it is read; write after read
race-waw: two writes without order
race-cross-core: race between cube and vector core
race-cross-block: race between blocks; race between cores
mem-uninit: uninitialised read; uninitialised memory; read of memory nobody has written
mem-oob: out of bounds access; access beyond a tensor; buffer overflow
mem-oob-tile: access beyond a tile; index out of range
mem-align: misaligned address; alignment error at run time
numeric-nan-inf: NaN in the output; output is NaN; nan in output; infinity; overflow to inf
overlap-tiles: two tiles use the same address; same address twice; tiles overlap; two tiles at one address; error
    overlap of tiles
capacity-static: UB overflow; unified buffer overflow; L1 overflow; UB is full; exceeds UB size; capacity exceeded;
    out of memory on chip; tiles do not fit; too large for the unified buffer
capacity-live: too many live tiles
op-unknown: unknown operation; misspelt operation; no such op
type-unknown: unknown type
target-unknown: unknown target
tile-dtype: element type not supported; wrong dtype; unsupported data type of a tile operation
tile-loc-vec: operand must be in vec; wrong location of an operand
tile-target-op: operation not on this target; not supported on a2a3
tile-same-shape: shapes do not match; shape mismatch of tiles
matmul-shape: shape mismatch of a product; k does not match
tcvt-shape: shape mismatch of a cast
name-undefined: undeclared SSA name; unknown ssa value; undefined name; use of undeclared value
name-redefined: name defined twice; redefinition
parse-syntax: syntax error; cannot parse; unexpected token
operand-type: wrong type of an operand
dma-dst-align: 32 byte alignment of a transfer
sync-flag-range: event id out of range; too large event id
sync-same-pipe: set_flag with the same pipe twice
sync-serialising: barrier that costs time; serialises pipes
order-refuted: proof found a race; refuted order
order-undecided: proof could not decide
assign-memory-full: no room for tiles; planner finds no addresses
""")
