"""Constraints of the operations of the core dialects: one row for each operation, as MLIR defines them.

A row has the operations, their operands and results (``name:kind``; ``?`` after the kind for an optional one, ``*`` for
any number), their attributes (``name:kind``; ``?`` for an optional one, ``@`` before those that are not properties),
and the relations between them (functions of ``relations``, ``memref`` and ``control``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from .kinds import ATTRIBUTES, TYPES, CoreKind

_CONSTRAINTS = """
arith.constant                      |                     | result:any      | value:any                    | constant

arith.addi arith.subi arith.muli arith.shli \
                                    | lhs:int rhs:int     | result:int      | overflowFlags:overflow?      | same
arith.andi arith.ori arith.xori arith.shrsi arith.shrui \
arith.divsi arith.divui arith.ceildivsi arith.ceildivui arith.floordivsi arith.remsi arith.remui \
arith.minsi arith.minui arith.maxsi arith.maxui \
                                    | lhs:int rhs:int     | result:int      |                              | same
arith.addui_extended                | lhs:int rhs:int     | sum:int overflow:bool |                        | carry
arith.mulsi_extended arith.mului_extended \
                                    | lhs:int rhs:int     | low:int high:int |                             | same
arith.addf arith.subf arith.mulf arith.divf arith.remf \
arith.maximumf arith.minimumf arith.maxnumf arith.minnumf \
                                    | lhs:float rhs:float | result:float    | fastmath:fastmath?           | same
arith.negf                          | operand:float       | result:float    | fastmath:fastmath?           | same
arith.cmpi                          | lhs:int rhs:int     | result:bool     | predicate:integer_predicate  | compared
arith.cmpf                          | lhs:float rhs:float | result:bool     | predicate:float_predicate \
                                                                             fastmath:fastmath?           | compared
arith.select                        | condition:bool true_value:any false_value:any | result:any |           | selected

arith.extsi arith.extui             | operand:fixed       | result:fixed    |                              | wider
arith.trunci                        | operand:fixed       | result:fixed    | overflowFlags:overflow?      | narrower
arith.extf                          | operand:float       | result:float    | fastmath:fastmath?           | wider
arith.truncf                        | operand:float       | result:float    | roundingmode:rounding? \
                                                                             fastmath:fastmath?           | narrower
arith.sitofp arith.uitofp           | operand:fixed       | result:float    |                              | shaped
arith.fptosi arith.fptoui           | operand:float       | result:fixed    |                              | shaped
arith.index_cast arith.index_castui | operand:intcast     | result:intcast  |                              | index_cast
arith.bitcast                       | operand:bits        | result:bits     |                              | bit_cast
builtin.unrealized_conversion_cast  | inputs:any*         | outputs:any*    |                              | converted

math.absf math.acos math.acosh math.asin math.asinh math.atan math.atanh math.cbrt math.ceil math.cos math.cosh \
math.erf math.exp math.exp2 math.expm1 math.floor math.log math.log10 math.log1p math.log2 math.round \
math.roundeven math.rsqrt math.sin math.sinh math.sqrt math.tan math.tanh math.trunc \
                                    | operand:float       | result:float    | fastmath:fastmath?           | same
math.atan2 math.copysign math.powf  | lhs:float rhs:float | result:float    | fastmath:fastmath?           | same
math.fma                            | a:float b:float c:float | result:float | fastmath:fastmath?          | same
math.fpowi                          | lhs:float rhs:fixed | result:float    | fastmath:fastmath?           | power
math.absi math.ctlz math.ctpop math.cttz \
                                    | operand:int         | result:int      |                              | same
math.ipowi                          | lhs:int rhs:int     | result:int      |                              | same

func.call                           | operands:any*       | results:any*    | callee:flat_symbol           |
func.call_indirect                  | callee:function operands:any* | results:any* |                       |
func.constant                       |                     | result:function | value:flat_symbol            |
func.return                         | operands:any*       |                 |                              |

scf.for         | lower_bound:bound upper_bound:bound step:bound initial_values:any* | results:any* |       | bounds
scf.if                              | condition:i1        | results:any*    |                              |
scf.while                           | initial_values:any* | results:any*    |                              |
scf.condition                       | condition:i1 values:any* |            |                              |
scf.yield                           | values:any*         |                 |                              |
scf.execute_region                  |                     | results:any*    |                              |
scf.index_switch                    | value:index         | results:any*    | cases:i64_array              | cases
scf.parallel    | lower_bounds:index* upper_bounds:index* steps:index* initial_values:any* | results:any* |  | parallel
scf.reduce                          | values:any*         |                 |                              |
scf.reduce.return                   | value:any           |                 |                              |

cf.br                               | values:any*         |                 |                              |
cf.cond_br      | condition:i1 true_values:any* false_values:any* |         |                              |
cf.switch       | value:integer default_values:any* case_values:any* |      | case_values:numbers? \
                                                      case_operand_segments:i32_array                       | switched
cf.assert                           | condition:i1        |                 | msg:string                   |

memref.alloc memref.alloca          | sizes:index* symbols:index* | result:memref | alignment:alignment?   | allocated
memref.dealloc                      | memref:anymemref    |                 |                              |
memref.load                         | memref:memref indices:index* | result:any | nontemporal:bool?        | element
memref.store                        | value:any memref:memref indices:index* |  | nontemporal:bool?         | element
memref.dim                          | memref:anymemref index:index | result:index |                        |
memref.rank                         | memref:anymemref    | result:index    |                              |
memref.copy                         | source:anymemref target:anymemref |   |                              | copied
memref.cast                         | source:anymemref    | result:anymemref |                             | cast
memref.memory_space_cast            | source:anymemref    | result:anymemref |                             | other_space
memref.subview  | source:memref offsets:index* sizes:index* strides:index* | result:memref \
                                    | static_offsets:i64_array static_sizes:i64_array static_strides:i64_array | subview
memref.reinterpret_cast | source:anymemref offsets:index* sizes:index* strides:index* | result:memref \
                        | static_offsets:i64_array static_sizes:i64_array static_strides:i64_array | reinterpreted
memref.extract_aligned_pointer_as_index | source:anymemref | result:index   |                              |
memref.view                         | source:bytes byte_shift:index sizes:index* | result:memref |         | viewed
memref.get_global                   |                     | result:memref   | name:symbol                  |
memref.transpose                    | in:memref           | result:memref   | permutation:affine_map       | transposed
memref.reshape                      | source:anymemref shape:numbers | result:anymemref |                  | reshaped
memref.realloc          | source:row size:index?          | result:row      | alignment:alignment?         | reallocated
memref.prefetch         | memref:memref indices:index*    |                 | isWrite:bool localityHint:locality \
                                                                             isDataCache:bool             | prefetched
memref.assume_alignment             | memref:anymemref    |                 | alignment:positive           | aligned
memref.alloca_scope                 |                     | results:any*    |                              |
memref.alloca_scope.return          | results:any*        |                 |                              |
memref.generic_atomic_rmw           | memref:memref indices:index* | result:number |                       | atomic
memref.atomic_yield                 | result:any          |                 |                              |

scf.forall | lower:index* upper:index* step:index* outputs:tensor* | results:any* | staticLowerBound:i64_array \
                       staticUpperBound:i64_array staticStep:i64_array mapping:array?                     | forall
scf.forall.in_parallel              |                     |                 |                              |

index.add index.sub index.mul index.divs index.divu index.ceildivs index.ceildivu index.floordivs index.rems \
index.remu index.maxs index.maxu index.mins index.minu index.shl index.shrs index.shru index.and index.or index.xor \
                                    | lhs:index rhs:index | result:index    |                              |
index.casts index.castu             | input:anyinteger    | output:anyinteger |                            | one_index
index.cmp                           | lhs:index rhs:index | result:i1       | pred:index_predicate         |
index.sizeof                        |                     | result:index    |                              |
index.constant                      |                     | result:index    | value:index_attribute        |
index.bool.constant                 |                     | result:i1       | value:bool                   |

affine.apply                        | operands:index*     | result:index    | map:affine_map               | applied
affine.min affine.max               | operands:index*     | result:index    | map:affine_map               | extremes
affine.load                         | memref:memref indices:index* | result:any | map:affine_map           | accessed
affine.store                        | value:any memref:memref indices:index* |  | map:affine_map           | accessed
affine.vector_load                  | memref:memref indices:index* | result:vector | map:affine_map        | accessed
affine.vector_store                 | value:vector memref:memref indices:index* |  | map:affine_map        | accessed
affine.prefetch | memref:memref indices:index* | | map:affine_map isWrite:bool localityHint:locality isDataCache:bool \
                                                                                                          | accessed
affine.for      | lower:index* upper:index* inits:any* | results:any* | lowerBoundMap:affine_map \
                                       upperBoundMap:affine_map step:index_attribute                      | looped
affine.if                           | operands:any*       | results:any*    | @condition:affine_set        | conditional
affine.parallel | operands:index* | results:any* | reductions:array lowerBoundsMap:affine_map \
                lowerBoundsGroups:i32_elements upperBoundsMap:affine_map upperBoundsGroups:i32_elements \
                steps:i64_list                                                                           | in_parallel
affine.yield                        | operands:any*       |                 |                              |
affine.delinearize_index            | linear_index:index basis:index* | results:index* |                  | delinearized
"""


@dataclass(frozen=True)
class CoreSlot:
    """One declared operand, result or attribute. ``arity`` is ``1``, ``?`` or ``*``."""

    name: str
    kind: CoreKind
    arity: str


@dataclass(frozen=True)
class Constraints:
    """One row of the table."""

    operands: tuple[CoreSlot, ...]
    results: tuple[CoreSlot, ...]
    attributes: tuple[CoreSlot, ...]
    relations: tuple[str, ...]
    discardable: bool
    """Whether the attributes are discardable attributes instead of properties."""

    @property
    def segmented(self) -> bool:
        """Returns whether only ``operandSegmentSizes`` divides the operands into groups."""
        return sum(slot.arity != "1" for slot in self.operands) > 1


def _rows() -> dict[str, list[str]]:
    rows: dict[str, list[str]] = {}
    for line in _CONSTRAINTS.splitlines():
        if line:
            names, *cells = line.split("|")
            for name in names.split():
                rows[name] = [*cells]
    return rows


_ROWS = _rows()

CORE_NAMES = frozenset(_ROWS)
"""Names of the operations that have a row."""


@cache
def constraints_of(name: str) -> Constraints:
    """Returns the row of an operation; raises KeyError for an operation without one."""
    operands, results, attributes, relations = _ROWS[name]
    return Constraints(
        _slots(operands, TYPES),
        _slots(results, TYPES),
        _slots(attributes.replace("@", ""), ATTRIBUTES),
        tuple(relations.split()),
        "@" in attributes,
    )


def _slots(cell: str, kinds: dict[str, CoreKind]) -> tuple[CoreSlot, ...]:
    slots: list[CoreSlot] = []
    for entry in cell.split():
        name, _, kind = entry.partition(":")
        arity = kind[-1] if kind[-1] in "?*" else "1"
        slots.append(CoreSlot(name, kinds[kind.rstrip("?*")], arity))
    return tuple(slots)
