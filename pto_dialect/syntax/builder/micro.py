"""Statement builders for transfers: groups of operands between the first operands and the types."""

from __future__ import annotations

import re
from typing import Any

from xdsl.ir import Attribute, Operation

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.suggest import did_you_mean
from pto_dialect.ir.core.base import PtoOp, signature

from ..read.tokens import Tok
from ..text import count
from .builder import Stated
from .clauses import ClauseBuilder
from .error import at
from .pto import Groups, Operands, text_slots
from .step import statement

_GROUP_SLOTS = (("loop", "loop_counts"), ("pad", "pad_value"), ("l2_cache_ctl", "l2_cache_ctl"))
"""Groups that some transfers take, with an operand that tells which do."""

_LOOP = re.compile(r"loop\d*")


class MicroBuilder(ClauseBuilder):
    """Builders of the transfer shapes."""

    # ------------------------------------------------------------ burst transfers

    def group(self, items: list[Any]) -> tuple[Tok, Tok]:
        """``word(%a, ..)`` of a burst copy."""
        return items[0], items[2]

    def dma_types(self, items: list[Any]) -> list[tuple[Tok | None, Tok]]:
        """The first types of a burst copy."""
        return [(None, items[0])]

    def more_dma_types(self, items: list[Any]) -> list[tuple[Tok | None, Tok]]:
        """Types of a further group, behind its word."""
        earlier = items[0]
        return [*earlier, (items[2], items[3])] if len(items) > 3 else [*earlier, (None, items[2])]

    @statement
    def dma_burst(self, items: list[Any]) -> Operation:
        """A copy in bursts with its groups."""
        token, uses = items[0], items[1]
        groups_given = [item for item in items[2:-3] if isinstance(item, tuple)]
        attributes, types = items[-3], items[-1]
        cls = self.pto_class(token)
        slots = text_slots(cls)
        names = [slot.name for slot in slots]
        operands = Operands()
        operands.add(uses, self.use(uses))
        burst_at = next(i for i, name in enumerate(names) if name == "n_burst")
        head = slots[:burst_at]
        groups = self.distribute(token, [s for s in head if s.arity == "1"], operands)
        typed: list[Any] = list(operands.values)
        loops: list[tuple[Any, ...]] = []
        seen: set[str] = set()
        for word, use in groups_given:
            values = self.use(use)
            operands.add(use, values)
            typed.extend(values)
            if _LOOP.fullmatch(word.text):
                if len(values) != 3:
                    found = count(len(values), "operand")
                    message = f"{word.text} takes count, source stride and destination stride, found {found}"
                    raise at(use, "dma-loop-triple", message)
                loops.append(tuple(values))
                continue
            if word.text in seen:
                raise at(word, "parse-clause-duplicate", f"{word.text} is given twice")
            seen.add(word.text)
            self._burst_group(token, cls, word, use, values, groups, names, burst_at)
        if "nburst" not in seen:
            raise at(
                token,
                "parse-missing-token",
                f"{token.text} needs nburst(count, source stride, destination stride)",
            )
        if loops and "loop_counts" not in names:
            raise at(groups_given[-1][0], "parse-syntax", f"{token.text} takes no loop groups")
        if "loop_counts" in names:
            for name, column in zip(("loop_counts", "loop_src_strides", "loop_dst_strides"), range(3), strict=True):
                groups[name] = [triple[column] for triple in loops]
        self._check_burst_types(token, operands, typed, types)
        return self.assemble(cls, token, groups, (), attributes)

    def _burst_group(
        self,
        token: Tok,
        cls: type[PtoOp],
        word: Tok,
        use: Tok,
        values: list[Any],
        groups: Groups,
        names: list[str],
        burst_at: int,
    ) -> None:
        if word.text == "nburst":
            if len(values) != 3:
                raise at(use, "op-operand-count", f"nburst takes 3 operands, found {len(values)}")
            for name, value in zip(names[burst_at : burst_at + 3], values, strict=True):
                groups[name] = [value]
        elif word.text == "pad" and "pad_value" in names:
            if len(values) not in (1, 3):
                raise at(
                    use,
                    "dma-pad-group",
                    f"pad takes a value, or a value and two counts, found {len(values)} operands",
                )
            for name, value in zip(("pad_value", "left_padding_count", "right_padding_count"), values, strict=False):
                groups[name] = [value]
        elif word.text == "l2_cache_ctl" and "l2_cache_ctl" in names and "l2_cache_ctl" not in groups:
            if len(values) != 1:
                raise at(use, "op-operand-count", f"l2_cache_ctl takes 1 operand, found {len(values)}")
            groups["l2_cache_ctl"] = values
        else:
            known = ["nburst", *(group for group, slot in _GROUP_SLOTS if slot in names)]
            close = did_you_mean(word.text, known)
            help = f"did you mean {close[0]}?" if close else f"groups: {', '.join(known)}"
            raise at(word, "parse-syntax", f"{token.text} has no group {word.text!r}", help)

    def _check_burst_types(self, token: Tok, operands: Operands, typed: list[Any], types: list[Any]) -> None:
        stated: list[Attribute] = []
        for word, part in types:
            if word is not None and word.text != "pad" and not _LOOP.fullmatch(word.text):
                raise at(word, "parse-syntax", f"unexpected {word.text!r} in the type list")
            stated.extend(self.type_list(part))
        if len(stated) != len(typed):
            raise at(
                types[0][1],
                "parse-type-count",
                f"{count(len(typed), 'operand')} but {count(len(stated), 'type')}",
            )
        wrong: list[Stated] = []
        for position, (value, type_) in enumerate(zip(typed, stated, strict=True)):
            if value.type is not type_:
                place, index = operands.place(position)
                wrong.append((value, type_, place, index))
        if wrong:
            self.check_types(wrong)

    # ------------------------------------------------------------ fractal load from global memory

    def frac_group(self, items: list[Any]) -> tuple[Tok, Tok]:
        """``word(%a, ..)`` of a load that changes the layout."""
        return items[1], items[3]

    def frac_types(self, items: list[Any]) -> list[Tok]:
        """The first types of a load that changes the layout."""
        return [items[0]]

    def more_frac_types(self, items: list[Any]) -> list[Tok]:
        """Types of a further group, or the word of the mode."""
        return [*items[0], *(item for item in items[1:] if isinstance(item, Tok))]

    @statement
    def frac_load(self, items: list[Any]) -> Operation:
        """A load that changes the layout, with its groups."""
        token, uses, _, mode = items[:4]
        given = [item for item in items[4:] if isinstance(item, tuple)]
        attributes, types = items[-3], items[-1]
        cls = self.pto_class(token)
        operands = Operands()
        operands.add(uses, self.use(uses))
        groups = self.distribute(token, text_slots(cls)[:2], operands)
        layout = (
            ("shape", ("n_value", "d_value"), 2),
            ("src_layout", ("src_inner_stride", "src_outer_stride"), 1),
            ("dst_group", ("group_count", "dst_loop2_stride", "dst_loop3_stride", "dst_loop4_stride"), 4),
            ("ctrl", ("l2_cache_ctrl", "smallc0_en"), 2),
        )
        for (name, slots, least), entry in zip(layout, given, strict=False):
            word, use = entry
            if word.text != name:
                close = did_you_mean(word.text, [name])
                help = f"did you mean {name}?" if close else f"{name}(..) stands here"
                raise at(word, "parse-syntax", f"expected {name}(..), found {word.text!r}", help)
            values = self.use(use)
            operands.add(use, values)
            if not least <= len(values) <= len(slots):
                raise at(use, "op-operand-count", f"{name} takes {', '.join(slots)}; found {len(values)} operands")
            for slot, value in zip(slots, values, strict=False):
                groups[slot] = [value]
        if len(given) != len(layout):
            raise at(token, "parse-missing-token", f"{token.text} needs shape, src_layout, dst_group and ctrl")
        attributes["mode"] = self._frac_mode(cls, mode)
        repeated = next((tok for tok in types if tok.text in ("nd2nz", "dn2nz")), None)
        if repeated is not None and repeated.text != mode.text:
            raise at(repeated, "frac-mode", f"mode {mode.text} above, {repeated.text} in the type list")
        stated: list[Attribute] = []
        for part in types:
            if part.type == "TYPES":
                stated.extend(self.type_list(part))
        if len(stated) != len(operands.values):
            raise at(
                types[0],
                "parse-type-count",
                f"{count(len(operands.values), 'operand')} but {count(len(stated), 'type')}",
            )
        wrong: list[Stated] = []
        for position, (value, type_) in enumerate(zip(operands.values, stated, strict=True)):
            if value.type is not type_:
                place, index = operands.place(position)
                wrong.append((value, type_, place, index))
        if wrong:
            self.check_types(wrong)
        return self.assemble(cls, token, groups, (), attributes)

    def _frac_mode(self, cls: type[PtoOp], mode: Tok) -> Attribute:
        if mode.text not in ("nd2nz", "dn2nz"):
            raise at(mode, "frac-mode", f"unknown mode {mode.text!r}", "one of nd2nz, dn2nz")
        return self.token_attribute(cls, "mode", mode)

    # ------------------------------------------------------------ L1 to L0

    def l0_control(self, items: list[Any]) -> tuple[Tok, Tok]:
        """``name(%x)`` of a load into L0."""
        return items[1], items[3]

    @statement
    def l0_load(self, items: list[Any]) -> Operation:
        """A load into L0, with controls by position or by name."""
        token, uses = items[0], items[1]
        attributes, types = items[-3], items[-1]
        cls = self.pto_class(token)
        names = [slot.name for slot in signature(cls).operands]
        operands = Operands()
        operands.add(uses, self.use(uses))
        controls = [item for item in items[2:-3] if isinstance(item, tuple)]
        groups: Groups = {}
        chosen = self._l0_operands(token, uses, operands, controls, names)
        for name, value in zip(chosen, operands.values, strict=True):
            groups[name] = [value]
        stated = self.type_list(types)
        if len(stated) != len(operands.values):
            raise at(
                types,
                "parse-type-count",
                f"{count(len(operands.values), 'operand')} but {count(len(stated), 'type')}",
            )
        wrong: list[Stated] = []
        for position, (value, type_) in enumerate(zip(operands.values, stated, strict=True)):
            if value.type is not type_:
                place, index = operands.place(position)
                wrong.append((value, type_, place, index))
        if wrong:
            self.check_types(wrong)
        return self.assemble(cls, token, groups, (), attributes)

    def _l0_operands(
        self, token: Tok, uses: Tok, operands: Operands, controls: list[tuple[Tok, Tok]], names: list[str]
    ) -> list[str]:
        """Names of the operands of a load in the order in which they are written; named controls are added to them."""
        given = len(operands.values)
        if controls:
            chosen = names[:2]
            if given != 2:
                raise at(
                    uses,
                    "l1l0-operand-count",
                    f"{token.text} takes source and destination, then named controls",
                )
            for word, use in controls:
                if word.text not in names[2:]:
                    raise at(
                        word,
                        "parse-syntax",
                        f"{token.text} has no control {word.text!r}",
                        ", ".join(names[2:]),
                    )
                if word.text in chosen:
                    raise at(word, "parse-clause-duplicate", f"{word.text} is given twice")
                chosen.append(word.text)
                operands.add(use, [self.one_use(use)])
        elif given in (4, 6):
            chosen = names[:given]
        elif given == 8:
            chosen = [*names[:2], *names[6:12]]
        else:
            raise at(
                uses,
                "l1l0-operand-count",
                f"{token.text} takes 4, 6 or 8 operands, found {given}",
                f"source, destination, {names[2]}, {names[3]}, start_row, start_col",
            )
        if given == 4 and not controls:
            self.report(
                "l1l0-four-operands",
                f"{token.text} with 4 operands starts at row 0, column 0",
                token.start,
                token.end,
                severity=Severity.INFO,
            )
        return chosen
