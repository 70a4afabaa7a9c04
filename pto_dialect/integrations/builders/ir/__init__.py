"""The module `mlir.ir`, over xDSL and the operation classes of this package."""

from typing import Any

from pto_dialect.diagnostics.suggest import did_you_mean

from .arrays import (
    ArrayAttr,
    DenseBoolArrayAttr,
    DenseElementsAttr,
    DenseF32ArrayAttr,
    DenseF64ArrayAttr,
    DenseFPElementsAttr,
    DenseI8ArrayAttr,
    DenseI16ArrayAttr,
    DenseI32ArrayAttr,
    DenseI64ArrayAttr,
    DenseIntElementsAttr,
    DictAttr,
)
from .attributes import (
    AffineMapAttr,
    Attribute,
    BoolAttr,
    FlatSymbolRefAttr,
    FloatAttr,
    IntegerAttr,
    NamedAttribute,
    OpaqueAttr,
    StridedLayoutAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
)
from .builders import (
    AttrBuilder,
    register_attribute_builder,
    register_value_caster,
)
from .context import (
    Context,
    Dialect,
    DialectRegistry,
    Dialects,
    Location,
)
from .errors import (
    MLIRError,
)
from .operations import (
    AttributeMap,
    Operation,
    OperationBase,
    OpView,
    WalkOrder,
    WalkResult,
)
from .points import (
    InsertionPoint,
)
from .program import (
    Module,
    SymbolTable,
)
from .structure import (
    Block,
    BlockArgument,
    OpOperand,
    OpResult,
    Region,
    Value,
    Values,
)
from .types import (
    BF16Type,
    ComplexType,
    F16Type,
    F32Type,
    F64Type,
    Float8E4M3FNType,
    Float8E4M3Type,
    Float8E5M2Type,
    FloatTF32Type,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    NoneType,
    OpaqueType,
    RankedTensorType,
    ShapedType,
    TupleType,
    Type,
    UnrankedMemRefType,
    UnrankedTensorType,
    VectorType,
)

OpAttributeMap = AttributeMap
BlockArgumentList = OpOperandList = OpResultList = Values

__all__ = [
    "AffineMapAttr",
    "ArrayAttr",
    "AttrBuilder",
    "Attribute",
    "AttributeMap",
    "BF16Type",
    "Block",
    "BlockArgument",
    "BlockArgumentList",
    "BoolAttr",
    "ComplexType",
    "Context",
    "DenseBoolArrayAttr",
    "DenseElementsAttr",
    "DenseF32ArrayAttr",
    "DenseF64ArrayAttr",
    "DenseFPElementsAttr",
    "DenseI8ArrayAttr",
    "DenseI16ArrayAttr",
    "DenseI32ArrayAttr",
    "DenseI64ArrayAttr",
    "DenseIntElementsAttr",
    "Dialect",
    "DialectRegistry",
    "Dialects",
    "DictAttr",
    "F16Type",
    "F32Type",
    "F64Type",
    "FlatSymbolRefAttr",
    "Float8E4M3FNType",
    "Float8E4M3Type",
    "Float8E5M2Type",
    "FloatAttr",
    "FloatTF32Type",
    "FloatType",
    "FunctionType",
    "IndexType",
    "InsertionPoint",
    "IntegerAttr",
    "IntegerType",
    "Location",
    "MLIRError",
    "MemRefType",
    "Module",
    "NamedAttribute",
    "NoneType",
    "OpAttributeMap",
    "OpOperand",
    "OpOperandList",
    "OpResult",
    "OpResultList",
    "OpView",
    "OpaqueAttr",
    "OpaqueType",
    "Operation",
    "OperationBase",
    "RankedTensorType",
    "Region",
    "ShapedType",
    "StridedLayoutAttr",
    "StringAttr",
    "SymbolRefAttr",
    "SymbolTable",
    "TupleType",
    "Type",
    "TypeAttr",
    "UnitAttr",
    "UnrankedMemRefType",
    "UnrankedTensorType",
    "Value",
    "VectorType",
    "WalkOrder",
    "WalkResult",
    "register_attribute_builder",
    "register_value_caster",
]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    near = did_you_mean(name, __all__)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise AttributeError(f"mlir.ir of pto-dialect has no {name!r}{hint}")
