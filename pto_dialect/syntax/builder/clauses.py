"""Statement builders for the cube operations with clauses: accumulator write-back and multiply-add."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, Operation

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.base import PtoOp, op_spec, signature

from ..read.tokens import Tok
from ..text import count
from .error import BuildError, at, near_word
from .pto import Groups, Operands, text_slots
from .step import statement
from .structure import StructureBuilder

CLAUSE_WORDS: dict[str, tuple[str, ...]] = {
    "unit_flag": ("check_only", "check_and_clear"),
    "dst_mode": ("split_m", "split_n"),
    "pre_relu_mode": ("no_relu", "normal_relu", "scalar_relu", "vector_relu"),
}
"""Words of clauses that take fewer than their enumeration has."""

UNSUPPORTED_WORDS = frozenset(("pwl",))
"""Words that are read and then refused by a rule of their own."""


class ClauseBuilder(StructureBuilder):
    """Builders of the shapes whose clauses stand between operands and types."""

    # ------------------------------------------------------------ accumulator write-back

    def later_clause(self, items: list[Any]) -> Any:
        return items[1]

    def acc_clause(self, items: list[Any]) -> list[tuple[Tok, list[Any]]]:
        later = items[-1] if isinstance(items[-1], list) else []
        arguments: list[Any] = []
        if len(items) > 2 and isinstance(items[2], (list, Tok)):
            arguments = items[2] if isinstance(items[2], list) and items[2] is not later else [items[2]]
            if items[2] is later:
                arguments = []
        return [(items[0], arguments), *later]

    @statement
    def acc_store(self, items: list[Any]) -> Operation:
        token, uses, clauses = items[0], items[1], items[2]
        attributes, signature_part = items[-2], items[-1]
        clauses = clauses if clauses and isinstance(clauses[0], tuple) else []
        cls = self.pto_class(token)
        slots = text_slots(cls)
        required = [slot for slot in slots if slot.arity == "1"]
        operands = Operands()
        operands.add(uses, self.use(uses))
        if len(operands.values) != len(required):
            raise self.operand_count(token, operands, required, len(required), len(required))
        groups = self.distribute(token, required, operands)
        if not clauses and not attributes and "dst_mode" not in signature(cls).attributes:
            self.report(
                "fixp-no-clause",
                f"{token.text} without clauses writes the accumulator as nz2nd does",
                token.start,
                token.end,
                "state the layout: nz2nd, nz2dn(..) or nz2nz",
                Severity.INFO,
            )
        for word, arguments in clauses:
            self._acc_clause(token, cls, word, arguments, groups, operands, attributes)
        if "dst_mode" in signature(cls).attributes and "dst_mode" not in attributes:
            raise at(
                token,
                "fixp-ub-dst-mode",
                f"{token.text} needs dst_mode(..)",
                "dst_mode(%sub), dst_mode(split_m) or dst_mode(split_n)",
            )
        if not self.is_schematic(signature_part):
            where, stated, _ = self.stated_types(signature_part, token)
            self.check_stated(cls, groups, operands, stated, where)
        return self.assemble(cls, token, groups, (), attributes)

    def _acc_clause(
        self,
        token: Tok,
        cls: type[PtoOp],
        word: Tok,
        arguments: list[Any],
        groups: Groups,
        operands: Operands,
        attributes: dict[str, Attribute],
    ) -> None:
        def value(name: str, use: Tok) -> None:
            groups[name] = [self.one_use(use)]
            operands.add(use, groups[name])

        def enumerator(name: str, given: Tok, rule: str) -> None:
            attributes[name] = self.clause_word(cls, name, given, word, rule)

        kind = word.type
        if kind == "DST_MODE":
            if "dst_mode" not in signature(cls).attributes:
                raise at(word, "fixp-clause-unknown", f"{token.text} takes no dst_mode")
            if arguments[0].type == "USES":
                value("sub_blockid", arguments[0])
                attributes["dst_mode"] = self.token_attribute(cls, "dst_mode", Tok("WORD", "single", word.start))
            else:
                enumerator("dst_mode", arguments[0], "fixp-ub-dst-mode")
        elif kind == "UNIT_FLAG":
            enumerator("unit_flag", arguments[0], "fixp-unit-flag-token")
        elif kind == "PRE_QUANT":
            self._payload_clause(word, arguments, "pre_quant", value, enumerator)
            if "pre_quant" not in groups or "pre_quant_mode" not in attributes:
                raise at(
                    word,
                    "fixp-quant-needs-both",
                    "pre_quant needs a payload and a mode",
                    "pre_quant(%payload, mode = ..)",
                )
        elif kind == "PRE_RELU":
            self._payload_clause(word, arguments, "pre_relu", value, enumerator)
            if "pre_relu_mode" not in attributes:
                raise at(word, "fixp-relu-mode", "pre_relu needs a mode", "pre_relu(mode = normal_relu)")
        elif kind == "LAYOUT":
            attributes["mode"] = self.token_attribute(cls, "mode", word)
            if arguments:
                names = {"nz2dn": "loop0_src_stride", "nz2nz": "split"}
                if word.text not in names:
                    raise at(
                        arguments[0],
                        "fixp-loop0-only-nz2dn",
                        f"{word.text} takes no operand",
                        "only nz2dn does",
                    )
                value(names[word.text], arguments[0])
        elif kind == "LOOP3":
            use = arguments[0]
            values = self.use(use)
            if len(values) != 3:
                found = count(len(values), "operand")
                message = f"loop3 takes count, source stride and destination stride, found {found}"
                raise at(use, "fixp-loop3-arity", message)
            operands.add(use, values)
            for name, single in zip(("loop3_count", "loop3_src_stride", "loop3_dst_stride"), values, strict=True):
                groups[name] = [single]
        elif kind == "SATURATION":
            if arguments and (word.text != "sat" or arguments[0].text != "preserve_nan"):
                raise at(
                    arguments[0],
                    "fixp-sat-option",
                    f"unknown option {arguments[0].text!r}",
                    "sat, sat(preserve_nan) or nosat",
                )
            spelled = "sat_preserve_nan" if arguments else word.text
            attributes["sat_mode"] = self.token_attribute(cls, "sat_mode", Tok("WORD", spelled, word.start))
        else:
            if "atomic_type" not in op_spec(cls).tokens:
                raise at(word, "fixp-atomic-gm", f"{token.text} takes no atomic clause", "only pto.mte_l0c_gm does")
            for pair in arguments:
                if not isinstance(pair, tuple) or pair[0].text not in ("type", "op"):
                    raise at(word, "fixp-atomic-token", "atomic takes type and op", "atomic(type = f32, op = add)")
                enumerator(f"atomic_{pair[0].text}", pair[1], "fixp-atomic-token")
            if "atomic_type" not in attributes or "atomic_op" not in attributes:
                raise at(word, "fixp-atomic-token", "atomic takes type and op", "atomic(type = f32, op = add)")

    def _payload_clause(self, word: Tok, arguments: list[Any], name: str, value: Any, enumerator: Any) -> None:
        rules = {"pre_quant": "fixp-quant-mode", "pre_relu": "fixp-relu-mode"}
        for position, argument in enumerate(arguments):
            if isinstance(argument, tuple):
                key, given = argument
                if key.text == "mode" and given.type != "USES":
                    enumerator(f"{name}_mode", given, rules[name])
                elif key.text == "clip" and name == "pre_relu" and given.type == "USES":
                    value("clip_value", given)
                else:
                    raise at(
                        key,
                        "parse-syntax",
                        f"{name} takes no {key.text!r}",
                        "mode" + (", clip" if name == "pre_relu" else ""),
                    )
            elif argument.type == "USES" and position == 0:
                value(name, argument)
            elif argument.type == "USES":
                raise at(argument, "parse-syntax", f"unexpected {argument.text!r} in {name}(..)")
            else:
                raise at(argument, rules[name], f"the mode of {name} is given by name", f"mode = {argument.text}")

    # ------------------------------------------------------------ matrix multiply-add

    def no_clause(self, items: list[Any]) -> None:
        return None

    def mad_clause(self, items: list[Any]) -> tuple[Tok, Tok | None]:
        return items[0], items[2] if len(items) > 1 else None

    @statement
    def mad(self, items: list[Any]) -> Operation:
        token, uses, *clauses, attributes, signature_part = items
        cls = self.pto_class(token)
        operands = Operands()
        operands.add(uses, self.use(uses))
        slots = text_slots(cls)
        if len(operands.values) != len(slots):
            error = self.operand_count(token, operands, slots, len(slots), len(slots))
            raise BuildError("mad-operand-count", error.message, error.start, error.end)
        groups = self.distribute(token, slots, operands)
        for clause in clauses:
            if clause is not None:
                word, mode = clause
                self._mad_clause(token, cls, word, mode, attributes)
        if not self.is_schematic(signature_part):
            where, stated, _ = self.stated_types(signature_part, token)
            self.check_stated(cls, groups, operands, stated, where)
        return self.assemble(cls, token, groups, (), attributes)

    def _mad_clause(
        self, token: Tok, cls: type[PtoOp], word: Tok, mode: Tok | None, attributes: dict[str, Attribute]
    ) -> None:
        names = {"UNIT_FLAG": "unit_flag_mode", "SATURATION": "sat_mode", "TF32_MODE": "tf32_mode"}
        name = names.get(word.type, word.text)
        if name not in signature(cls).attributes:
            message = f"{token.text} takes no {word.text}"
            raise at(word, "mad-mx-no-tf32", message, "clauses: unit_flag, disable_gemv, sat, nosat, n_dir")
        if word.type in ("DISABLE_GEMV", "N_DIR"):
            attributes[name] = UnitAttr()
            return
        if mode is None:
            attributes[name] = self.token_attribute(cls, name, word)
        else:
            rule = {"UNIT_FLAG": "mad-unit-flag-token", "TF32_MODE": "mad-tf32-token"}[word.type]
            attributes[name] = self.clause_word(cls, name, mode, word, rule)

    def clause_word(self, cls: type[PtoOp], name: str, given: Tok, clause: Tok, rule: str) -> Attribute:
        """The attribute ``name`` for the word ``given`` in ``clause``; an unknown word breaks ``rule``."""
        words = CLAUSE_WORDS.get(name)
        if words is None:
            words = tuple(word for e in signature(cls).attributes[name].kind.enums for word in ENUMS[e].values)
        if given.text in words or given.text in UNSUPPORTED_WORDS:
            return self.token_attribute(cls, name, given)
        raise at(given, rule, f"{clause.text} does not take {given.text!r}", near_word(given.text, words))
