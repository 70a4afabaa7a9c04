"""Statement builders for ``memref`` and ``llvm`` memory operations, and for the generic form of any operation."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from xdsl.dialects import builtin
from xdsl.dialects.builtin import DenseArrayBase, FunctionType, StringAttr, UnregisteredOp, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import IsolatedFromAbove

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.remedies.names import replace
from pto_dialect.diagnostics.remedies.order import operand_count
from pto_dialect.diagnostics.remedies.types import types_of_operands
from pto_dialect.diagnostics.suggest import near_hint
from pto_dialect.diagnostics.wording import count
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.aliases import MNEMONIC_ALIASES
from pto_dialect.ir.core.base import PtoOp, segment_sizes, signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class
from pto_dialect.ir.core.roles import CORE_ROLES, Role
from pto_dialect.ir.core_dialects.core_ops import ALIASES, CLOSED_DIALECTS, KNOWN_DIALECTS, UNMODELLED, core_class

from ..errors.types import TypeSyntaxError
from ..generic_form import complete_flags, infer_segments
from ..read.tokens import Tok
from ..text import signed_integer, split_types
from ..types.attributes import unescape
from ..types.parser import parse_type
from .builder import RegionStart
from .control import ControlBuilder
from .core import DYNAMIC, core_arity, operation_class
from .error import at
from .step import statement


@cache
def is_isolated(name: str) -> bool:
    """Returns whether the region of operation ``name`` is isolated from outer names."""
    pto = op_class(name) if name in OPS else None
    return CORE_ROLES.get(name) is Role.FUNCTION if pto is None else pto.has_trait(IsolatedFromAbove)


class MemoryBuilder(ControlBuilder):
    """Builders of ``memref`` and ``llvm`` operations and of the generic form."""

    @statement
    def mem_alloc(self, items: list[Any]) -> Operation:
        """``memref.alloc(%sizes)[%symbols] : type``."""
        token, _, sizes, _, symbols, attributes, _, types = items
        result = self.one_type(types)
        dims = self._indices(sizes)
        names = self._indices(symbols)
        properties: dict[str, Attribute] = {
            "operandSegmentSizes": DenseArrayBase.from_list(i32, [len(dims), len(names)])
        }
        if "alignment" in attributes:
            properties["alignment"] = attributes.pop("alignment")
        return self.create(operation_class(token), token.start, dims + names, [result], attributes, properties)

    def _indices(self, uses: Tok | None) -> list[SSAValue]:
        if uses is None:
            return []
        return self.use_typed(uses, [t.INDEX] * (uses.text.count(",") + 1), None)

    @statement
    def mem_free(self, items: list[Any]) -> Operation:
        """``memref.dealloc %m : type``."""
        token, uses, attributes, _, types = items
        operands = self.use_typed(uses, self.type_list(types), types)
        return self.create(operation_class(token), token.start, operands, (), attributes)

    @statement
    def mem_access(self, items: list[Any]) -> Operation:
        """``memref.load`` or ``memref.store``."""
        token, uses, _, indices, _, attributes, _, types = items
        memref = self.one_type(types)
        subscripts = self._indices(indices)
        values = self.use(uses)
        cls = operation_class(token)
        element = memref.element_type if isinstance(memref, builtin.MemRefType) else memref
        if isinstance(memref, builtin.MemRefType) and len(subscripts) != memref.get_num_dims():
            wanted = count(memref.get_num_dims(), "index", "indices")
            message = f"{t.type_text(memref)} takes {wanted}, found {len(subscripts)}"
            raise at(uses, "parse-operand-count", message, None, operand_count(memref.get_num_dims(), len(subscripts)))
        properties = self._inherent(cls, attributes)
        if cls.get_irdl_definition().results:
            self.check_type(values[0], memref, uses, 0)
            return self.create(cls, token.start, [*values, *subscripts], [element], attributes, properties)
        if len(values) != 2:
            raise at(uses, "parse-operand-count", "memref.store is written %value, %memref[..]")
        self.check_type(values[0], element, uses, 0)
        self.check_type(values[1], memref, uses, 1)
        return self.create(cls, token.start, [*values, *subscripts], (), attributes, properties)

    def _inherent(self, cls: type[IRDLOperation], attributes: dict[str, Attribute]) -> dict[str, Attribute]:
        """Removes from a dictionary the entries that the operation declares as properties, and returns them."""
        declared = cls.get_irdl_definition().properties
        return {name: attributes.pop(name) for name in list(attributes) if name in declared}

    def dynamic_list(self, entries: list[Tok]) -> tuple[list[SSAValue], list[int]]:
        """Returns values and static numbers of a mixed index list; a dynamic entry has the ``DYNAMIC`` marker."""
        values: list[SSAValue] = []
        static: list[int] = []
        for entry in entries:
            if entry.type == "INTEGER":
                static.append(signed_integer(entry))
            else:
                found = self._indices(entry)
                values.extend(found)
                static.extend([DYNAMIC] * len(found))
        return values, static

    def _strided_op(
        self, items: list[Any], lists: list[list[Tok]], attributes: dict[str, Attribute], types: Tok, result: Tok
    ) -> Operation:
        token, uses = items[0], items[1]
        operands = self.use_typed(uses, [self.one_type(types)], types)
        sizes = [1]
        properties: dict[str, Attribute] = {}
        for name, entries in zip(("static_offsets", "static_sizes", "static_strides"), lists, strict=True):
            values, static = self.dynamic_list(entries)
            operands = [*operands, *values]
            sizes.append(len(values))
            properties[name] = DenseArrayBase.from_list(i64, static)
        properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, sizes)
        return self.create(
            operation_class(token), token.start, operands, [self.one_type(result)], attributes, properties
        )

    @statement
    def mem_subview(self, items: list[Any]) -> Operation:
        """``memref.subview %m[..] [..] [..] : type to type``."""
        return self._strided_op(items, items[2:5], items[5], items[7], items[9])

    @statement
    def mem_reinterpret(self, items: list[Any]) -> Operation:
        """``memref.reinterpret_cast %m to offset: [..], sizes: [..], strides: [..]``."""
        return self._strided_op(items, [items[5], items[9], items[13]], items[14], items[16], items[18])

    @statement
    def mem_dim(self, items: list[Any]) -> Operation:
        """``memref.dim`` or ``memref.rank``."""
        token, uses, attributes, _, types = items
        cls = operation_class(token)
        stated = [self.one_type(types), t.INDEX][: core_arity(cls)]
        operands = self.use_typed(uses, stated, None)
        return self.create(cls, token.start, operands, [t.INDEX], attributes)

    @statement
    def mem_copy(self, items: list[Any]) -> Operation:
        """``memref.copy %a, %b : type to type``."""
        token, uses, attributes, _, source, _, target = items
        operands = self.use_typed(uses, [self.one_type(source), self.one_type(target)], None)
        return self.create(operation_class(token), token.start, operands, (), attributes)

    # ------------------------------------------------------------ llvm

    @statement
    def llvm_alloca(self, items: list[Any]) -> Operation:
        """``llvm.alloca %n x type``."""
        token, size, _, element, attributes, _, (inputs, outputs) = items
        operands = self.use_typed(size, self.types_of(inputs), inputs)
        properties = {**attributes, "elem_type": _element(self.one_type(element), token)}
        return self.create(operation_class(token), token.start, operands, self.types_of(outputs), {}, properties)

    @statement
    def llvm_load(self, items: list[Any]) -> Operation:
        """``llvm.load %p``."""
        token, words, uses, attributes, _, types, _, result = items
        operands = self.use_typed(uses, self.type_list(types), types)
        cls = operation_class(token)
        properties = {**self._inherent(cls, attributes), **self._llvm_words(words)}
        return self.create(cls, token.start, operands, [self.one_type(result)], attributes, properties)

    @statement
    def llvm_store(self, items: list[Any]) -> Operation:
        """``llvm.store %x, %p``."""
        token, words, uses, attributes, _, types = items
        operands = self.use_typed(uses, self.type_list(types), types)
        cls = operation_class(token)
        properties = {**self._inherent(cls, attributes), **self._llvm_words(words)}
        return self.create(cls, token.start, operands, (), attributes, properties)

    def _llvm_words(self, words: list[Tok]) -> dict[str, Attribute]:
        known = {"volatile": "volatile_", "inbounds": "inbounds"}
        properties: dict[str, Attribute] = {}
        for word in words:
            if word.text not in known:
                raise at(word, "parse-syntax", f"unexpected {word.text!r}")
            properties[known[word.text]] = builtin.UnitAttr()
        return properties

    @statement
    def llvm_gep(self, items: list[Any]) -> Operation:
        """``llvm.getelementptr %p[..]``."""
        token, words, base, indices, attributes, _, (inputs, outputs) = items
        types = self.types_of(inputs)
        stated = self.types_of(outputs)
        if len(stated) != 2:
            raise at(token, "parse-missing-types", "llvm.getelementptr ends with its result type and the element type")
        static: list[int] = []
        dynamic: list[Tok] = []
        for entry in indices:
            if entry.type == "INTEGER":
                static.append(signed_integer(entry, 32))
            else:
                dynamic.append(entry)
                static.extend([-(2**31)] * (entry.text.count(",") + 1))
        operands = self.use(base)
        for entry in dynamic:
            operands = operands + self.use(entry)
        if len(operands) != len(types):
            message = f"{count(len(operands), 'operand')} but {count(len(types), 'type')}"
            raise at(token, "parse-type-count", message, None, types_of_operands())
        properties = {
            "rawConstantIndices": DenseArrayBase.from_list(i32, static),
            "elem_type": _element(stated[1], token),
            **self._llvm_words(words),
        }
        return self.create(operation_class(token), token.start, operands, stated[:1], attributes, properties)

    @statement
    def llvm_extract_element(self, items: list[Any]) -> Operation:
        """``llvm.extractelement %v[%i : type]``."""
        token, vector, _, index, _, index_type, _, attributes, _, types = items
        stated = self.one_type(types)
        operands = self.use_typed(vector, [stated], types)
        operands += self.use_typed(index, self.type_list(index_type), index_type)
        element = stated.element_type if isinstance(stated, builtin.VectorType) else stated
        return self.create(operation_class(token), token.start, operands, [element], attributes)

    @statement
    def llvm_insert_element(self, items: list[Any]) -> Operation:
        """``llvm.insertelement %x, %v[%i : type] : type of the vector``."""
        token, uses, _, index, _, index_type, _, attributes, _, types = items
        stated = self.one_type(types)
        element = stated.element_type if isinstance(stated, builtin.VectorType) else stated
        value, vector = self.use_typed(uses, [element, stated], types)
        position = self.use_typed(index, self.type_list(index_type), index_type)
        return self.create(operation_class(token), token.start, [vector, value, *position], [stated], attributes)

    @statement
    def llvm_undef(self, items: list[Any]) -> Operation:
        """``llvm.mlir.undef : type``."""
        token, attributes, _, types = items
        return self.create(operation_class(token), token.start, [], [self.one_type(types)], attributes)

    @statement
    def llvm_extract_value(self, items: list[Any]) -> Operation:
        """``llvm.extractvalue %s[..]``."""
        token, uses, indices, attributes, _, types = items
        stated = self.one_type(types)
        operands = self.use_typed(uses, [stated], types)
        numbers = [signed_integer(entry) for entry in indices]
        result = element_of_struct(stated, numbers)
        if result is None:
            raise at(uses, "operand-type", f"{t.type_text(stated)} has no element {numbers}")
        properties: dict[str, Attribute] = {"position": DenseArrayBase.from_list(i64, numbers)}
        return self.create(operation_class(token), token.start, operands, [result], attributes, properties)

    # ------------------------------------------------------------ generic form

    def generic_header(self, items: list[Any]) -> Any:
        """The quoted name, operands and successors of a generic form."""
        token = items[0]
        self.pending = RegionStart(isolated=is_isolated(unescape(token.text)))
        return items

    @statement
    def generic(self, items: list[Any]) -> Operation:
        """``"name"(..) ({..}) {..} : type``: any operation in generic form."""
        self.pending = None
        (token, _, uses, _, labels, properties), regions, attributes, _, (inputs, outputs) = items
        name = unescape(token.text)
        name = MNEMONIC_ALIASES.get(name, ALIASES.get(name, name))
        types = self.types_of(inputs)
        if uses is None and types:
            raise at(
                token, "parse-type-count", f"0 operands but {count(len(types), 'type')}", None, types_of_operands()
            )
        operands = self.use_typed(uses, types, inputs) if uses is not None else []
        successors = [self.block_use(label) for label in labels]
        results = self.types_of(outputs)
        if name in OPS:
            pto = op_class(name)
            if len(regions) == 2 and regions[1] in self.bare_regions:
                # The empty region that marks the operation as no symbol table for MLIR.
                regions = regions[:1]
            merged = {**properties, **attributes}
            self.canonical_attributes(pto, merged, token)
            self._complete_segments(pto, token, merged, len(operands), len(results))
            return self.create(pto, token.start, operands, results, merged, regions=regions, successors=successors)
        cls = core_class(name)
        for region in regions:
            if region in self.bare_regions and cls is not builtin.ModuleOp:
                region.detach_block(region.block)
        if cls is None:
            return self._unregistered(token, name, operands, results, properties, attributes, regions, successors)
        declared = cls.get_irdl_definition().properties
        own = {**properties, **{k: v for k, v in attributes.items() if k in declared}}
        rest = {k: v for k, v in attributes.items() if k not in declared}
        complete_flags(name, frozenset(declared), own)
        return self.create(cls, token.start, operands, results, rest, own, regions, successors)

    def canonical_attributes(self, cls: type[PtoOp], attributes: dict[str, Attribute], token: Tok) -> None:
        """Converts the attributes of a PTO operation to canonical form, in place; see the builder of PTO statements."""

    def _complete_segments(
        self, cls: type[PtoOp], token: Tok, attributes: dict[str, Attribute], operands: int, results: int
    ) -> None:
        """Adds the segment sizes that the text lacks because other tools do not need them."""
        if not signature(cls).segmented or "operandSegmentSizes" in attributes:
            return
        sizes = infer_segments(cls, operands, results)
        if sizes is None:
            names = ", ".join(slot.name for slot in signature(cls).operands)
            raise at(
                token,
                "op-operand-count",
                f"{count(operands, 'operand')} of {cls.name} may be several of {names}",
                "operandSegmentSizes = array<i32: ..>, one number for each",
            )
        attributes["operandSegmentSizes"] = segment_sizes(sizes)

    def _unregistered(
        self,
        token: Tok,
        name: str,
        operands: list[SSAValue],
        results: list[Attribute],
        properties: dict[str, Attribute],
        attributes: dict[str, Attribute],
        regions: list[Any],
        successors: list[Any],
    ) -> Operation:
        dialect = name.partition(".")[0]
        if dialect == "pto":
            raise self.unknown_operation(token, name)
        if dialect in CLOSED_DIALECTS and name not in UNMODELLED:
            raise self.unknown_operation(token, name)
        if dialect not in self.unregistered and dialect not in KNOWN_DIALECTS:
            self.unregistered.add(dialect)
            self.report(
                "dialect-unregistered",
                f"operations of dialect {dialect!r} are unknown here; they are kept as written and not checked",
                token.start,
                token.end,
                severity=Severity.WARNING,
            )
        cls = unregistered_class(name)
        op = self.create(cls, token.start, operands, results, attributes, properties, regions, successors)
        op.attributes["op_name__"] = StringAttr(name)
        return op

    def unknown_operation(self, token: Tok, name: str) -> Any:
        """Returns the error for an unknown operation name, with the nearest known ones."""
        from ..errors.words import near_operations  # deferred: start-up

        near = near_operations(name)
        mended = (replace(name, *near),) if near else ()
        return at(token, "op-unknown", f"unknown operation {name!r}", near_hint(near), *mended)


@lru_cache(maxsize=1024)
def unregistered_class(name: str) -> type[Operation]:
    """Returns the class of operations of an unknown dialect, one for each name.

    A class costs far more than an operation and is never freed while others of its base are used in subclass checks, so
    that a class for each operation would fill the memory of a process that reads many programs.
    """
    return UnregisteredOp.with_name(name)


def element_of_struct(type_: Attribute, path: list[int]) -> Attribute | None:
    """Returns the type of the element of an ``!llvm.struct`` that ``path`` selects."""
    from xdsl.dialects import llvm  # deferred: start-up

    for index in path:
        if isinstance(type_, llvm.LLVMStructType):
            fields = list(type_.types.data)
        elif isinstance(type_, t.OpaqueType):
            fields = opaque_struct_fields(type_.data)
        else:
            return None
        if not 0 <= index < len(fields):
            return None
        type_ = fields[index]
    return type_


def opaque_struct_fields(text: str) -> list[Attribute]:
    """Returns the field types of an ``!llvm.struct<(..)>`` stored as text; none when one of them is not a type."""
    start, end = text.find("("), text.rfind(")")
    if start < 0:
        return []
    spellings = [spelling for spelling, _ in split_types(text[start + 1 : end])]
    try:
        return [parse_type(f"!llvm.{s}" if s.startswith(("ptr", "struct", "array")) else s) for s in spellings]
    except TypeSyntaxError:
        return []


def _element(stated: Attribute, token: Tok) -> Attribute:
    """Returns the pointee type of an LLVM pointer."""
    if isinstance(stated, FunctionType):
        raise at(token, "operand-kind", f"the elements of {token.text} are no functions")
    return stated
