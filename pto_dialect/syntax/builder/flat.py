"""Statement builders for the flat shapes: operands, then types, then result types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Operation

from pto_dialect.diagnostics.remedies.names import insert, replace_in_statement
from pto_dialect.diagnostics.remedies.order import value_first
from pto_dialect.diagnostics.remedies.statements import missing_event
from pto_dialect.diagnostics.remedies.types import result_type
from pto_dialect.diagnostics.remedy import Remedy
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.base import Slot, op_spec, signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.kinds import Kind
from pto_dialect.ir.simt.clauses import SUFFIXES

from ..read.tokens import Tok
from ..text import signed_integer
from ..usage import usage
from ..workspaces import workspace_name
from .builder import POISON, UNKNOWN
from .error import BuildError, at, suggest_word
from .pto import Groups, Operands, PtoBuilder, text_slots
from .step import statement


class FlatBuilder(PtoBuilder):
    """Builders of the shapes NULLARY to INDEXED_STORE and of the synchronization shapes."""

    @statement
    def nullary(self, items: list[Any]) -> Operation:
        """An operation without operands, with or without a type."""
        token, attributes, *types = items
        cls = self.pto_class(token)
        results = self.result_list_types(token, cls, types[1] if types else None)
        return self.assemble(cls, token, {}, results, attributes)

    def flat_statement(self, token: Tok, uses: list[Tok], attributes: dict[str, Any], signature_part: Any) -> Operation:
        """Builds a statement whose operands are in declared text order."""
        cls = self.pto_class(token)
        operands = Operands()
        for use in uses:
            operands.add(use, self.use(use))
        if op_spec(cls).by_type:
            groups = self.by_type(cls, operands)
        else:
            groups = self.distribute(token, text_slots(cls), operands)
        if self.is_schematic(signature_part):
            return self.assemble(cls, token, groups, self.schematic_results(cls, token), attributes)
        if signature_part is None and not op_spec(cls).typed and op_spec(cls).typed is not None:
            return self.assemble(cls, token, groups, self.result_list_types(token, cls, None), attributes)
        where, stated, outputs = self.stated_types(signature_part, token)
        required = outputs is None and signature(cls).results and not op_spec(cls).fixed_results
        if required and any(slot.arity == "1" for slot in signature(cls).results):
            if self.is_assembly_opcode(token) and len(operands.values) == len(stated) == 1:
                # A single type is that of all operands and of the result.
                return self.assemble(cls, token, groups, stated, attributes)
            message = f"{token.text} needs its result type after '->'"
            raise at(token, "parse-missing-types", message, usage(token.text), result_type("->"))
        self.check_stated(cls, groups, operands, stated, where)
        return self.assemble(cls, token, groups, self.result_list_types(token, cls, outputs), attributes)

    def is_assembly_opcode(self, token: Tok) -> bool:
        """Returns whether an operation is written without its prefix."""
        return isinstance(token.value, str) and not token.text.lower().startswith("pto.")

    def by_type(self, cls: Any, operands: Operands) -> Groups:
        """Assigns the operands of ``vmi.vload`` and ``vmi.vstore``; the type identifies the operands after
        the address."""
        spec = op_spec(cls)
        (memory,) = spec.reads or spec.writes
        groups: Groups = {}
        addressed = False
        # Values are named before the address, whose indices have a token of their own.
        in_front = operands.tokens[1][1] if operands.tokens[1:] else len(operands.values)
        for number, value in enumerate(operands.values):
            is_open = value.type in (POISON, UNKNOWN) and memory in spec.writes and memory not in groups
            if isinstance(value.type, t.VmiVRegType) or (is_open and number < in_front - 1):
                name = "values"
            elif isinstance(value.type, t.VmiMaskType):
                name = "mask"
            elif memory not in groups:
                name = memory
            elif not addressed:
                name, addressed = "offset", True
            elif value.type == t.I16:
                name = "repeat_stride" if "block_stride" in groups else "block_stride"
            else:
                name = "stride"
            groups.setdefault(name, []).append(value)
        return groups

    @statement
    def flat(self, items: list[Any]) -> Operation:
        """``op %a, %b {..} : types -> types``."""
        token, uses, attributes, signature_part = items
        return self.flat_statement(token, [uses], attributes, signature_part)

    def surplus_keyword(self, words: list[Tok], most: int) -> BuildError:
        """Returns the error about more than ``most`` keywords; one that is a value's name lacks its ``%``."""
        value = next((word for word in words if word.type == "WORD" and f"%{word.text}" in self.scope.values), None)
        if value is not None:
            message = f"expected a value, found {value.text!r}"
            return at(value, "parse-syntax", message, f"did you mean %{value.text}?", insert("%"))
        return at(words[most], "parse-syntax", f"unexpected {words[most].text}")

    def token_attributes(self, token: Tok, words: list[Tok], attributes: dict[str, Any]) -> None:
        """Adds the attributes spelled as tokens, in the order of the declaration."""
        cls = self.pto_class(token)
        names = [name for name in op_spec(cls).tokens if name in signature(cls).attributes]
        if len(words) > len(names):
            raise self.surplus_keyword(words, len(names))
        for name, word in zip(names, words, strict=False):
            attributes[name] = self.token_attribute(cls, name, word)
        for name in names[len(words) :]:
            if signature(cls).attributes[name].arity == "1" and name not in attributes:
                raise at(
                    token, "parse-missing-token", f"{token.text} needs its {name} after the operands", usage(token.text)
                )

    @statement
    def flat_token(self, items: list[Any]) -> Operation:
        """Reads operands, strings and keywords in one list before the types."""
        token, mixed, attributes, signature_part = items
        uses = [item for item in mixed if item.type == "USES"]
        self.token_attributes(token, [item for item in mixed if item.type != "USES"], attributes)
        return self.flat_statement(token, uses, attributes, signature_part)

    def clause(self, items: list[Any]) -> tuple[Tok, list[Any]]:
        """Returns ``word`` or ``word(..)``: the keyword, and the contents of its parentheses."""
        return items[0], items[2] if len(items) > 1 else []

    def suffix_attributes(self, token: Tok, clauses: list[tuple[Tok, list[Any]]], attributes: dict[str, Any]) -> None:
        """Adds attributes written as suffix keywords (``signed``, ``sat``) or as ``word(value)``
        (``l2cache(nmfv)``)."""
        cls = self.pto_class(token)
        slots = signature(cls).attributes
        order = list(op_spec(cls).tokens)
        latest = ""
        for word, arguments in clauses:
            if arguments:
                row = SUFFIXES.find(word.text)
                name = row.attribute if row is not None and row.attribute in slots else word.text
                if name not in slots:
                    message = SUFFIXES.foreign.message.format(token.text, word.text)
                    raise at(word, SUFFIXES.foreign.rule, message, *suggest_word(word.text, suffix_words(slots)))
                value = arguments[0]
                if len(arguments) > 1 or isinstance(value, tuple) or value.type == "USES":
                    raise at(word, "parse-syntax", f"{word.text}(..) takes one keyword", f"{word.text}(word)")
            else:
                name = next((n for n, slot in slots.items() if is_enumerator_name(slot.kind, word.text)), "")
                if not name:
                    message = f"unexpected {word.text!r} after the operands of {token.text}"
                    raise at(word, "parse-syntax", message, *suggest_word(word.text, suffix_words(slots)))
                value = word
            if name in attributes:
                raise at(word, SUFFIXES.duplicate, f"{name} is given twice")
            if latest and name in order and order.index(name) < order.index(latest):
                message = f"{name} of {token.text} comes before {latest}"
                raise at(word, SUFFIXES.order, message, "clauses are in the order " + " -> ".join(order))
            latest = name if name in order else latest
            attributes[name] = self.token_attribute(cls, name, value)

    @statement
    def flat_suffix(self, items: list[Any]) -> Operation:
        """Builds operands followed by suffix keywords."""
        token, uses, *clauses, attributes, signature_part = items
        self.suffix_attributes(token, clauses, attributes)
        return self.flat_statement(token, [uses], attributes, signature_part)

    @statement
    def lead_string(self, items: list[Any]) -> Operation:
        """A string before the operands."""
        token, word, *rest = items
        signature_part, attributes = rest[-1], rest[-2]
        self.token_attributes(token, [word], attributes)
        uses: list[Tok] = [item for item in rest[:-2] if isinstance(item, Tok) and item.type == "USES"]
        for item in rest[:-2]:
            if isinstance(item, list):
                uses.extend(item)
        if uses:
            return self.flat_statement(token, uses, attributes, signature_part)
        cls = self.pto_class(token)
        if self.is_schematic(signature_part):
            results = self.schematic_results(cls, token)
        else:
            results = self.result_list_types(token, cls, signature_part[0] if signature_part is not None else None)
        return self.assemble(cls, token, {}, results, attributes)

    @statement
    def indexed(self, items: list[Any]) -> Operation:
        """``op %a[%i, ..], ..``."""
        token, uses, indices, *rest = items
        if token.text in OPS and OPS[token.text][2] == "OP_INDEXED_STORE" and "," not in uses.text:
            raise at(
                uses,
                "parse-syntax",
                f"the value that {token.text} stores comes first",
                usage(token.text),
                value_first(),
            )
        signature_part, attributes = rest[-1], rest[-2]
        extras = next((item for item in rest[:-2] if isinstance(item, list)), [])
        clauses = [item for item in rest[:-2] if isinstance(item, tuple)]
        values = [uses, *(i for i in indices if i.type == "USES"), *(e for e in extras if e.type == "USES")]
        words = [e for e in extras if e.type != "USES"]
        numbers = [i for i in indices if i.type != "USES"]
        if numbers:
            self.index_attribute(token, numbers, attributes)
        if clauses:
            self.suffix_attributes(token, clauses, attributes)
        else:
            index_name = self.index_attribute_name(token)
            cls = self.pto_class(token)
            names = [n for n in op_spec(cls).tokens if n != index_name and n in signature(cls).attributes]
            if len(words) > len(names):
                raise self.surplus_keyword(words, len(names))
            for name, word in zip(names, words, strict=False):
                attributes[name] = self.token_attribute(cls, name, word)
        return self.flat_statement(token, values, attributes, signature_part)

    @statement
    def indexed_array(self, items: list[Any]) -> Operation:
        """``op %a[[%i, ..]]``: indices in one array."""
        token, uses, bracket, numbers, _, attributes, signature_part = items
        if self.index_attribute_name(token) != "indices":
            raise at(bracket, "parse-syntax", f"{token.text} takes no array between the brackets")
        if not numbers or any(n.type == "USES" for n in numbers):
            raise at(bracket, "parse-syntax", f"the array of {token.text} lists integers")
        self.index_attribute(token, numbers, attributes)
        return self.flat_statement(token, [uses], attributes, signature_part)

    def index_attribute_name(self, token: Tok) -> str:
        """Returns the attribute that holds integers written between the brackets (``struct_get``, ``vmi.shuffle``)."""
        slots = signature(self.pto_class(token)).attributes
        return next((name for name in ("path", "indices", "position") if name in slots), "")

    def index_attribute(self, token: Tok, numbers: list[Tok], attributes: dict[str, Any]) -> None:
        """Stores integers written between the brackets."""
        from xdsl.dialects.builtin import DenseArrayBase, i64  # deferred: start-up

        name = self.index_attribute_name(token)
        if not name:
            message = f"{token.text} takes values of type index between the brackets"
            raise at(numbers[0], "parse-syntax", message, "define it with arith.constant")
        attributes[name] = DenseArrayBase.from_list(i64, [signed_integer(n) for n in numbers])

    # ------------------------------------------------------------ synchronization

    def sync_args(self, items: list[Any]) -> list[Tok]:
        """Reads the arguments of a synchronization in square brackets."""
        return [part for item in items[::2] for part in split_angle(item)]

    def sync_statement(self, token: Tok, arguments: list[Tok], attributes: dict[str, Any]) -> Operation:
        """Builds a synchronization statement: token attributes first, a value in place of the last one
        where allowed."""
        cls = self.pto_class(token)
        spec = op_spec(cls)
        names = [name for name in spec.tokens if name in signature(cls).attributes]
        operands = Operands()
        words: list[Tok] = []
        for argument in arguments:
            if argument.type == "USES":
                operands.add(argument, self.use(argument))
            else:
                words.append(argument)
        if len(words) > len(names):
            number = next((word for word in words if word.type == "INTEGER"), None)
            if number is not None and text_slots(cls) and not operands.values:
                message = f"operands are values, found the number {number.text}"
                raise at(number, "parse-syntax", message, "define it with arith.constant")
            message = f"{token.text} takes {len(names)} items, found {len(arguments)}"
            raise at(words[len(names)], "parse-syntax", message)
        self._check_items(token, names, words, operands)
        if operands.values:
            names = [n for n in names if n not in ("event_id", "buf_id")] if len(words) < len(names) else names
        for name, word in zip(names, words, strict=False):
            attributes[name] = self.token_attribute(cls, name, word)
        for name in names[len(words) :]:
            if signature(cls).attributes[name].arity == "1":
                raise at(
                    token, "parse-missing-token", f"{token.text} needs its {name}", usage(token.text), *_missing(name)
                )
        groups = self.distribute(token, text_slots(cls), operands)
        return self.assemble(cls, token, groups, (), attributes)

    def _check_items(self, token: Tok, names: list[str], words: list[Tok], operands: Operands) -> None:
        """Checks the kinds of the items of a synchronization: no value for a name, no gap."""
        cls = self.pto_class(token)
        if operands.values:
            if not text_slots(cls) and f"{token.text}_dyn" in OPS:
                place, index = operands.place(0)
                start, end = self.name_extent(place, index)
                name = self.source.text[start:end]
                message = f"{token.text} takes names alone, found the value {name}"
                mended = (replace_in_statement(token.text, f"{token.text}_dyn"),)
                raise BuildError("op-operand-count", message, start, end, usage(f"{token.text}_dyn"), remedies=mended)
            return
        left = list(words)
        missing: list[str] = []
        for name in names:
            slot = signature(cls).attributes[name]
            if left and is_enumerator_name(slot.kind, left[0].text.strip('"<>')):
                left.pop(0)
            elif slot.arity == "1":
                missing.append(name)
        if missing and not left and words:
            raise at(
                token,
                "parse-missing-token",
                f"{token.text} needs its {missing[0]}",
                usage(token.text),
                *_missing(missing[0]),
            )

    @statement
    def sync_bracket(self, items: list[Any]) -> Operation:
        """``op[pipe, pipe, event]``."""
        return self.sync_statement(items[0], items[2], items[4])

    @statement
    def sync_token(self, items: list[Any]) -> Operation:
        """``op pipe, ..``."""
        arguments = next(item for item in items if isinstance(item, list))
        return self.sync_statement(items[0], arguments, items[-1])

    @statement
    def sync_all(self, items: list[Any]) -> Operation:
        """A barrier of all cores with its settings."""
        token, fields, attributes = items[0], items[-2], items[-1]
        cls = self.pto_class(token)
        for word, value in fields:
            attributes[word.text] = value
        operands = Operands()
        if len(items) > 5:
            given = items[2]
            operands.add(given.uses, self.use_typed(given.uses, self.type_list(given.types), given.types))
        groups = self.by_space(cls, operands)
        return self.assemble(cls, token, groups, (), attributes)

    def by_space(self, cls: Any, operands: Operands) -> dict[str, list[Any]]:
        """Returns the workspaces of ``syncall`` by their memory space."""
        groups: dict[str, list[Any]] = {}
        for value in operands.values:
            groups.setdefault(workspace_name(value), []).append(value)
        return groups

    @statement
    def cache_all(self, items: list[Any]) -> Operation:
        """``op all ..``: all lines of a cache."""
        token, word, space, attributes = items
        if word.text != "all":
            message = f"{token.text} takes all and a memory, or an address, found {word.text!r}"
            raise at(word, "parse-syntax", message, f"{token.text} all #pto.address_space<gm>")
        cls = self.pto_class(token)
        names = [n for n in op_spec(cls).tokens if n in signature(cls).attributes]
        attributes[names[0] if names else word.text] = self.token_attribute(cls, names[0], space)
        return self.assemble(cls, token, {}, (), attributes)

    @statement
    def cache_line(self, items: list[Any]) -> Operation:
        """``op %address ..``: one line of a cache."""
        token, uses = items[0], items[1]
        words = [w for w in items[2:] if isinstance(w, Tok) and w.type not in ("COMMA", "COLON", "TYPES")]
        types = next(w for w in items if isinstance(w, Tok) and w.type == "TYPES")
        attributes = {**items[-1], **next(item for item in items if isinstance(item, dict))}
        cls = self.pto_class(token)
        names = [n for n in op_spec(cls).tokens if n in signature(cls).attributes]
        if not (len(words) == 1 and words[0].text == "single_cache_line"):
            for name, word in zip(names, words, strict=False):
                attributes[name] = self.token_attribute(cls, name, word)
        operands = Operands()
        operands.add(uses, self.use_typed(uses, self.type_list(types), types))
        return self.assemble(cls, token, self.distribute(token, text_slots(cls), operands), (), attributes)


def is_enumerator_name(kind: Kind, word: str) -> bool:
    """Returns whether ``word`` is an enumerator of an attribute kind."""
    return any(word in ENUMS[name].values for name in kind.enums)


def suffix_words(slots: Mapping[str, Slot]) -> list[str]:
    """Returns the keywords that may follow the operands: clauses with an argument by name, others by their
    enumerators."""
    words: list[str] = []
    for name, slot in slots.items():
        row = SUFFIXES.sets(name)
        if row is not None:
            words.append(row.name)
        else:
            words += [word for enum in slot.kind.enums for word in ENUMS[enum].values]
    return words


def split_angle(token: Tok) -> list[Tok]:
    """Splits a comma list of stripped forms into entries, each as its own token."""
    if token.type != "ANGLE" or "," not in token.text:
        return [token]
    parts: list[Tok] = []
    offset = token.start
    for part in token.text.split(","):
        word = part.strip()
        parts.append(Tok("ANGLE", word, offset + part.index(word)))
        offset += len(part) + 1
    return parts


def _missing(name: str) -> tuple[Remedy, ...]:
    """Returns the remedy where a name of a synchronisation is missing."""
    return (missing_event(),) if name.startswith("event") else ()
