"""Statement builders for transfers: groups of operands between the first operands and the types."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Attribute, Operation

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.remedies.names import choose, replace
from pto_dialect.diagnostics.remedies.types import types_of_operands
from pto_dialect.diagnostics.suggest import did_you_mean
from pto_dialect.diagnostics.wording import count
from pto_dialect.ir.clauses import clauses_of
from pto_dialect.ir.core.base import signature
from pto_dialect.ir.core.clauses import Stated
from pto_dialect.ir.cube.transfer_clauses import BURST, FRAC_LOAD, L0_PLACES

from ..read.tokens import Tok
from .builder import Stated as StatedType
from .clauses import ClauseBuilder
from .error import at
from .groups import GroupReading
from .pto import Groups, Operands, text_slots
from .step import statement


class MicroBuilder(ClauseBuilder):
    """Builders of the transfer shapes."""

    # ------------------------------------------------------------ burst transfers

    def dma_types(self, items: list[Any]) -> list[tuple[Tok | None, Tok]]:
        """Returns the first types of a burst copy."""
        return [(None, items[0])]

    def more_dma_types(self, items: list[Any]) -> list[tuple[Tok | None, Tok]]:
        """Builds the types of a further group, after its keyword."""
        earlier = items[0]
        return [*earlier, (items[2], items[3])] if len(items) > 3 else [*earlier, (None, items[2])]

    @statement
    def dma_burst(self, items: list[Any]) -> Operation:
        """A copy in bursts with its groups."""
        token, uses = items[0], items[1]
        attributes, types = items[-3], items[-1]
        cls = self.pto_class(token)
        taken = {name for _, names, _ in clauses_of(cls) for name in names}
        operands = Operands()
        operands.add(uses, self.use(uses))
        head = [slot for slot in text_slots(cls) if slot.arity == "1" and slot.name not in taken]
        groups = self.distribute(token, head, operands)
        reading = GroupReading(token, cls, groups)
        for word, use in (item for item in items[2:-3] if isinstance(item, tuple)):
            values = self.use(use)
            operands.add(use, values)
            reading.give(reading.find(word), word, use, values)
        missing = reading.absent()
        if missing is not None:
            raise missing
        named = [row for item in items[2:-3] if isinstance(item, tuple) and (row := BURST.find(item[0].text))]
        stated: list[Attribute] = []
        for word, part in types:
            row = BURST.find(word.text) if word is not None else None
            if row in named:
                named.remove(row)
            if word is not None and (row is None or row.stated is not Stated.KEYWORD):
                raise at(word, "parse-syntax", f"unexpected {word.text!r} in the type list")
            stated.extend(self.type_list(part))
        unnamed = next((row for row in named if row.stated is Stated.KEYWORD), None)
        if unnamed is not None:
            where = types[-1][1]
            raise at(where, "parse-syntax", f"the types of {unnamed.name} come after the keyword {unnamed.name}")
        self._check_listed(operands, stated, types[0][1])
        return self.assemble(cls, token, groups, (), attributes)

    def _check_listed(self, operands: Operands, stated: list[Attribute], where: Tok) -> None:
        """Compares all operands, in text order, with their stated types."""
        values = operands.values
        if len(stated) != len(values):
            message = f"{count(len(values), 'operand')} but {count(len(stated), 'type')}"
            raise at(where, "parse-type-count", message, None, types_of_operands())
        wrong: list[StatedType] = []
        for position, (value, type_) in enumerate(zip(values, stated, strict=True)):
            if value.type is not type_:
                place, index = operands.place(position)
                wrong.append((value, type_, place, index))
        if wrong:
            self.check_types(wrong)

    # ------------------------------------------------------------ fractal load from global memory

    def more_frac_types(self, items: list[Any]) -> list[Tok]:
        """Builds the types of a further group, or the keyword of the mode."""
        return [*items[0], *(item for item in items[1:] if isinstance(item, Tok))]

    @statement
    def frac_load(self, items: list[Any]) -> Operation:
        """A load that changes the layout, with its groups."""
        token, uses, _, word = items[:4]
        given = [item for item in items[4:] if isinstance(item, tuple)]
        attributes, types = items[-3], items[-1]
        cls = self.pto_class(token)
        (mode, *_), *layout = clauses_of(cls)
        operands = Operands()
        operands.add(uses, self.use(uses))
        groups = self.distribute(token, text_slots(cls)[:2], operands)
        reading = GroupReading(token, cls, groups)
        for taken, (name, use) in zip(layout, given, strict=False):
            if name.text != taken.row.name:
                rule, message, help = FRAC_LOAD.foreign
                close = did_you_mean(name.text, [taken.row.name])
                help = f"did you mean {taken.row.name}?" if close else help.format(taken.row.name)
                mended = (replace(None, taken.row.name),)
                raise at(name, rule, message.format(taken.row.name, name.text), help, *mended)
            values = self.use(use)
            operands.add(use, values)
            reading.give(taken, name, use, values)
        if len(given) != len(layout):
            *names, last = (row.name for row, *_ in layout)
            raise at(token, "parse-missing-token", f"{token.text} needs {', '.join(names)} and {last}")
        if word.text not in mode.keywords:
            message, mended = f"unknown mode {word.text!r}", choose(None, *mode.keywords)
            raise at(word, mode.wrong_word, message, f"one of {', '.join(mode.keywords)}", mended)
        attributes[mode.attribute] = self.token_attribute(cls, mode.attribute, word)
        names = [tok for tok in types if tok.type == "WORD"]
        repeated = next((tok for tok in names if tok.text in mode.keywords), None)
        if repeated is not None and repeated.text != word.text:
            raise at(repeated, mode.wrong_word, f"mode {word.text} above, {repeated.text} in the type list")
        wanted = [word.text, *(row.name for row, *_ in layout)]
        if [tok.text for tok in names] != wanted:
            odd = next((tok for tok, name in zip(names, wanted, strict=False) if tok.text != name), types[0])
            listed = ", ".join(wanted)
            message = f"the types of {token.text} are those of source and destination, then {listed} with theirs"
            raise at(odd, "parse-syntax", message)
        stated = [type_ for part in types if part.type == "TYPES" for type_ in self.type_list(part)]
        self._check_listed(operands, stated, types[0])
        return self.assemble(cls, token, groups, (), attributes)

    # ------------------------------------------------------------ L1 to L0

    @statement
    def l0_load(self, items: list[Any]) -> Operation:
        """A load into L0, with controls by position or by name."""
        token, uses = items[0], items[1]
        attributes, types = items[-3], items[-1]
        cls = self.pto_class(token)
        operands = Operands()
        operands.add(uses, self.use(uses))
        controls = [item for item in items[2:-3] if isinstance(item, tuple)]
        names = [name for _, (name,), _ in clauses_of(cls)]
        buffers = [slot.name for slot in signature(cls).operands if slot.arity == "1"]
        given = len(operands.values)
        first, last = L0_PLACES.get(given - len(buffers), (0, 0))
        if controls and given != len(buffers):
            message = f"{token.text} takes source and destination, then named controls"
            raise at(uses, "l1l0-operand-count", message)
        if not controls and not last:
            help = f"source, destination, {', '.join(names[:4])}"
            raise at(uses, "l1l0-operand-count", f"{token.text} takes 4, 6 or 8 operands, found {given}", help)
        if last == 2:
            self.report(
                "l1l0-four-operands",
                f"{token.text} with 4 operands starts at row 0, column 0",
                token.start,
                token.end,
                severity=Severity.INFO,
            )
        chosen = [*buffers, *names[first:last]]
        groups: Groups = {name: [value] for name, value in zip(chosen, operands.values, strict=True)}
        reading = GroupReading(token, cls, groups)
        for word, use in controls:
            taken = reading.find(word)
            values = [self.one_use(use)]
            operands.add(use, values)
            reading.give(taken, word, use, values)
        self._check_listed(operands, self.type_list(types), types)
        return self.assemble(cls, token, groups, (), attributes)
