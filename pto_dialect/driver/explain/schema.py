"""How an operation is written: a line for each of its forms. Source: docs/reference/language.md, "Shapes"."""

from __future__ import annotations

from collections.abc import Callable

from pto_dialect.driver.reference.clauses import words_of, written
from pto_dialect.ir.clauses import CLAUSES, Taken, clauses_of
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.base import PtoOp, Shape, Slot, op_spec, signature
from pto_dialect.ir.core.clauses import Form, Stated

_ALL_IN_BRACES = frozenset({Shape.PAREN, Shape.COMM_GROUP, Shape.BRACE_FIELDS, Shape.PIPE_INIT, Shape.GENERIC})
"""Shapes with all attributes in the dictionary."""

_TYPED_CLAUSES = frozenset({Shape.DMA_BURST, Shape.ACC_STORE, Shape.L0_LOAD})
"""Shapes that state the types of what clauses take after those of the operands."""


class Written:
    """The parts of a statement of ``cls``, from its declaration."""

    def __init__(self, cls: type[PtoOp]) -> None:
        self.cls = cls
        self.name = cls.name
        self.spec = op_spec(cls)
        self.declared = signature(cls)
        slots = {slot.name: slot for slot in self.declared.operands}
        self.clauses = clauses_of(cls)
        self.taken = {name for taken in self.clauses for name in taken.names}
        order = self.spec.text or tuple(slots)
        rest = (*order, *(name for name in slots if name not in order))
        self.taken |= {name for name in slots if f"%{name}" in self.clause_text and slots[name].arity != "1"}
        self.operands = [slots[name] for name in rest if name in slots and name not in self.taken]

    def values(self, slots: list[Slot]) -> str:
        """Returns ``%a, %b`` with optional ones in brackets."""
        return listed([(f"%{slot.name}{', ..' if slot.arity == '*' else ''}", slot.arity == "?") for slot in slots])

    @property
    def results(self) -> str:
        """``%r = ``, or nothing."""
        if any(slot.arity == "*" for slot in self.declared.results):
            return "%results.. = "
        needed = [slot for slot in self.declared.results if slot.arity == "1"]
        shown = needed or list(self.declared.results)
        more = "".join(f"[, %{slot.name}]" for slot in self.declared.results if slot not in shown)
        return f"{', '.join(f'%{slot.name}' for slot in shown)}{more} = " if shown else ""

    @property
    def some_results(self) -> str:
        """The same in brackets where the statement may have none."""
        optional = self.results and all(slot.arity == "?" for slot in self.declared.results)
        return f"[{self.results.rstrip()}] " if optional else self.results

    @property
    def arrow(self) -> str:
        """`` -> T`` for operations with results whose types are spelled."""
        results = self.declared.results[: len(self.declared.results) - len(self.spec.fixed_results)]
        if results and all(slot.arity == "?" for slot in results):
            return f"[ -> {', '.join(['T'] * len(results))}]"
        needed = sum(slot.arity == "1" for slot in results) or len(results)
        return f" -> {', '.join(['T'] * needed)}{'[, T]' * (len(results) - needed)}" if results else ""

    def typed(self, slots: list[Slot]) -> str:
        """Returns `` : T, T`` for the operands whose types the text spells."""
        stated = [slot for slot in slots if self.spec.typed is None or slot.name in self.spec.typed]
        return f" : {types_of(stated)}{self.clause_types}" if stated else ""

    @property
    def clause_types(self) -> str:
        """``[, loop T, T, T]``: the types that follow those of the operands."""
        if self.spec.shape not in _TYPED_CLAUSES:
            return ""
        text = ""
        for taken in self.clauses:
            count = len(_operands_of(taken, {slot.name for slot in self.declared.operands}))
            together = taken.row.form in (Form.OPERANDS, Form.REPEATED)
            for number in [count] if together and count else [1] * count:
                types = ", ".join(["T"] * number)
                stated = types if taken.row.stated is Stated.PLAIN else f"{taken.row.name} {types}"
                always = taken.row.needed and taken.row.form is not Form.CHOICE
                text += f", {stated}" if always else f"[, {stated}]"
        return text

    def attribute(self, name: str) -> str:
        """Returns the enumerators of an attribute, or its placeholder."""
        slot = self.declared.attributes.get(name)
        if slot is None:
            return name
        words = words_of([self.cls], name) or slot.kind.words
        return "|".join(words) if 0 < len(words) <= 4 else name.upper()

    @property
    def clause_text(self) -> str:
        """The clauses in their order; brackets where they may be left out."""
        separator = CLAUSES[self.spec.shape].separator if self.clauses else " "
        text = ""
        for taken in self.clauses:
            clause = _clause(taken, self)
            needed = taken.row.needed or taken.row.leads
            if separator == " ":
                text += f" {clause}" if needed else f" [{clause}]"
            else:
                text += f"{separator}{clause}" if needed else f"[{separator}{clause}]"
        return text

    @property
    def dictionary(self) -> str:
        """`` {key = ..}`` with the attributes of the dictionary."""
        spelled = () if self.spec.shape in _ALL_IN_BRACES else self.spec.tokens
        names = [name for name in self.declared.attributes if name not in spelled]
        if not names:
            return ""
        needed = [name for name in names if self.declared.attributes[name].arity == "1"]
        entries = ", ".join(f"{name} = .." for name in (needed or names)[:3])
        more = ", .." if len(needed or names) > 3 or (needed and len(needed) < len(names)) else ""
        return f" {{{entries}{more}}}" if needed else f" [{{{entries}{more}}}]"


def listed(parts: list[tuple[str, bool]]) -> str:
    """Comma-separated parts; optional ones are in brackets, together with their comma."""
    text = ""
    waiting = ""
    for part, optional in parts:
        if not optional:
            text += f"{', ' if text else waiting}{part}"
            waiting = ""
        elif text:
            text += f"[, {part}]"
        else:
            waiting += f"[{part}, ]"
    return text or waiting.replace(", ][", "][, ").replace(", ]", "]")


def types_of(slots: list[Slot]) -> str:
    """Returns a ``T`` for each operand."""
    return listed([("T, .." if slot.arity == "*" else "T", slot.arity == "?") for slot in slots])


def _operands_of(taken: Taken, slots: set[str]) -> list[str]:
    """Returns the operands of a clause, those with a name in it included."""
    row = taken.row
    return list(dict.fromkeys((*taken.names, *(name for _, name in (*row.by_keyword, *row.named) if name in slots))))


def _clause(taken: Taken, w: Written) -> str:
    row = taken.row
    if row.beside:
        # The second of two operands may be left out.
        values = listed([(f"%{name}", number > 0) for number, name in enumerate(taken.names)])
        return f"{taken.keyword}({values})"
    forms = written(row, [w.cls])
    if row.form in (Form.FLAG, Form.KEYWORD):
        return "|".join(forms)
    if row.form is Form.CHOICE and len(forms) > 1:
        inside = [form.partition("(")[2].removesuffix(")") for form in forms]
        return f"{row.name}({'|'.join(inside)})"
    return forms[-1] if forms else row.name


def _flat(w: Written) -> list[str]:
    return [
        f"{w.some_results}{w.name} {w.values(w.operands)}{w.clause_text}{w.dictionary}{w.typed(w.operands)}{w.arrow}"
    ]


def _token(w: Written) -> list[str]:
    words = "".join(f', "{w.attribute(name)}"' for name in w.spec.tokens)
    return [f"{w.results}{w.name} {w.values(w.operands)}{words}{w.dictionary}{w.typed(w.operands)}{w.arrow}"]


def _subblock(w: Written) -> tuple[list[Slot], str]:
    """Returns the operands without the one that has a keyword after the dictionary, and that."""
    rest = [slot for slot in w.operands if slot.name != "aiv_subblockid"]
    return rest, "" if len(rest) == len(w.operands) else " [aiv_subblockid(%aiv_subblockid)]"


def _lead(w: Written) -> list[str]:
    words = ", ".join(f'"{w.attribute(name)}"' for name in w.spec.tokens)
    values = f", {w.values(w.operands)}" if w.operands else ""
    types = w.typed(w.operands) or (" :" if w.arrow else "")
    arrow = w.arrow if w.typed(w.operands) else w.arrow.replace(" -> ", " ")
    return [f"{w.some_results}{w.name} {words}{values}{w.dictionary}{types}{arrow}"]


def _indexed(w: Written) -> list[str]:
    base, *rest = w.operands
    words = "".join(f', "{w.attribute(name)}"' for name in w.spec.tokens if name not in _clause_names(w))
    index = f"[{w.values(rest[:1])}]" if rest else "[..]"
    place = listed([(f"%{base.name}{index}", False), *((f"%{slot.name}", slot.arity == "?") for slot in rest[1:])])
    dictionary, types = w.dictionary, w.typed(w.operands)
    return [f"{w.some_results}{w.name} {place}{words}{w.clause_text}{dictionary}{types}{w.arrow}"]


def _clause_names(w: Written) -> set[str]:
    return {taken.row.declares for taken in w.clauses}


def _indexed_store(w: Written) -> list[str]:
    slots = list(w.operands)
    at = next((i for i, slot in enumerate(slots) if slot.name in ("destination", "ptr", "base", "array", "struct")), 1)
    values, base, rest = slots[:at], slots[at] if at < len(slots) else slots[-1], slots[at + 1 :]
    index = f"[{w.values(rest[:1])}]" if rest else "[..]"
    more = f", {w.values(rest[1:])}" if rest[1:] else ""
    words = "".join(f', "{w.attribute(name)}"' for name in w.spec.tokens if name not in _clause_names(w))
    head = f"{w.values(values)}, " if values else ""
    place = f"{head}%{base.name}{index}{more}{words}"
    return [f"{w.some_results}{w.name} {place}{w.clause_text}{w.dictionary}{w.typed(slots)}{w.arrow}"]


def _destinations(w: Written) -> list[str]:
    outs = [slot for slot in w.operands if slot.name in w.spec.outs]
    ins = [slot for slot in w.operands if slot.name not in w.spec.outs]
    keyed = "".join(
        f" [{taken.row.name} %{taken.names[0]} : T]" for taken in w.clauses if {*taken.names} & {*w.spec.keyed}
    )
    # Inputs with a type of their own after a comma; one that has a keyword as well is written with it.
    keyed = "".join(f"[, %{name} : T]" for name in w.spec.unnamed if name not in w.spec.keyed) + keyed
    plain = [slot for slot in ins if slot.name not in (*w.spec.keyed, *w.spec.unnamed)]
    inner = w.dictionary if w.spec.shape is Shape.DPS_INNER else ""
    outer = "" if w.spec.shape is Shape.DPS_INNER else w.dictionary
    types = f" : {types_of(plain)}" if plain else ""
    inside = f"ins({w.values(plain)}{inner}{types}{keyed})"
    optional = [number > 0 and slot.arity == "?" for number, slot in enumerate(outs)]
    names = listed([(f"%{slot.name}", may) for slot, may in zip(outs, optional, strict=True)])
    targets = f" outs({names} : {listed([('T', may) for may in optional])})"
    clauses = "" if keyed else w.clause_text
    lines = [f"{w.name} {inside}{targets if outs else ''}{clauses}{outer}"]
    if w.declared.results and any(slot.arity != "1" for slot in outs):
        lines.append(f"{w.results}{w.name} {w.values(plain)}{w.dictionary} : ({types_of(plain)}) -> T")
    return lines


def _inputs(w: Written) -> list[str]:
    result = " outs : T" if w.declared.results else ""
    return [f"{w.results}{w.name} ins({w.values(w.operands)} : {types_of(w.operands)}){result}{w.dictionary}"]


def _paren(w: Written) -> list[str]:
    operands, end = _subblock(w)
    types = f" : {types_of(operands)}" if operands else ""
    return [f"{w.results}{w.name}({w.values(operands)}{types}){w.dictionary}{end}{w.arrow}"]


def _comm_group(w: Written) -> list[str]:
    types = types_of(w.operands)
    for taken in w.clauses:
        optional = [taken.row.beside and number > 0 for number, _ in enumerate(taken.names)]
        types += "".join("[, T]" if may else ", T" for may in optional)
        types += ", .." if taken.row.form is Form.LIST else ""
    return [f"{w.name}({w.values(w.operands)}{w.clause_text} : {types}){w.dictionary}"]


def _l0_load(w: Written) -> list[str]:
    """By place, or by name."""
    slots = [slot for slot in w.declared.operands if slot.name in w.taken][:4]
    placed = [*w.operands, *slots]
    types = ", ".join("T" for _ in placed)
    names = ", ".join(f"%{slot.name}" for slot in placed)
    return [f"{w.name} {names}{w.dictionary} : {types}", *_flat(w)]


def _braces(w: Written) -> list[str]:
    """Returns the operands in parentheses, before the dictionary; without any no parentheses."""
    operands, end = _subblock(w)
    stated = w.spec.typed is None or bool(set(w.spec.typed) & {slot.name for slot in operands})
    names = ", ".join(f"%{slot.name}" for slot in operands)
    types = f" : {', '.join('T' for _ in operands)}" if stated else ""
    values = f"[({names}{types})]" if operands else ""
    return [f"{w.results}{w.name}{values}{w.dictionary}{end}{w.arrow}"]


def _pipe_init(w: Written) -> list[str]:
    """Operands by name in parentheses, which are there without any as well; a queue that is a result has them by
    position."""
    named = not w.declared.results
    names = [(f"{slot.name} = " if named else "") + f"%{slot.name} : T" for slot in w.operands]
    optional = [slot.arity == "?" for slot in w.operands]
    blank = " " if named else ""
    return [f"{w.results}{w.name}{w.dictionary}{blank}({listed(list(zip(names, optional, strict=True)))}){w.arrow}"]


def _bracket(w: Written) -> list[str]:
    parts = [f"<{w.attribute(name)}>" for name in w.spec.tokens] + [f"%{slot.name}" for slot in w.operands]
    return [f"{w.name}[{', '.join(parts)}]"]


def _sync(w: Written) -> list[str]:
    parts = [f"<{w.attribute(name)}>" for name in w.spec.tokens[:1]]
    parts += [w.attribute(name) for name in w.spec.tokens[1:]] + [f"%{slot.name}" for slot in w.operands]
    return [f"{w.name} {', '.join(parts)}{w.dictionary}"]


def _cache(w: Written) -> list[str]:
    words = ", ".join(f'"{w.attribute(name)}"' for name in w.spec.tokens)
    return [f"{w.name} {w.values(w.operands)} {words}{w.typed(w.operands)}"]


def _nullary(w: Written) -> list[str]:
    types = ", ".join("T" for _ in w.declared.results)
    mark = {Shape.NULLARY_TYPED: f" : {types}", Shape.NULLARY_ARROW: f" -> {types}"}.get(w.spec.shape, "")
    return [f"{w.results}{w.name}{w.dictionary}{mark if w.declared.results else ''}"]


_FIXED: dict[str, tuple[str, ...]] = {
    "pto.syncall": ("pto.syncall(%gm_workspace, .. : T) mode = .., core_type = ..",),
    "pto.simt_launch": ("pto.simt_launch @function<<<%dimX, %dimY, %dimZ>>>(%args, ..) : (T, ..) -> ()",),
    "pto.section.simt": ("pto.section.simt<<<X, Y, Z>>> { .. }",),
    "pto.strict_vecscope": ("pto.strict_vecscope(%captures, ..) { ^bb0(%a: T, ..): .. } : (T, ..) -> ()",),
    "pto.fusion_region": ("%results.. = pto.fusion_region { .. pto.yield(%a) : (T) -> () } : T",),
    "pto.yield": ("pto.yield(%values, ..) : (T, ..) -> ()",),
    "pto.alloc_tile": (
        "%result = pto.alloc_tile [addr = %addr] [valid_row = %valid_row] [valid_col = %valid_col] : T",
    ),
    "pto.alloc_multi_tile": (
        "%result = pto.alloc_multi_tile [addr = %addr] [valid_row = %valid_row] [valid_col = %valid_col] : T",
    ),
    "pto.make_tensor_view": ("%result = pto.make_tensor_view %ptr, shape = [%a, ..], strides = [%b, ..] : T",),
    "pto.partition_view": ("%result = pto.partition_view %source, offsets = [%a, ..], sizes = [%b, ..] : T -> T",),
    "pto.subview": ("%result = pto.subview %source[%i, %j] sizes [R, C] [valid [%r, %c]] : T -> T",),
    "pto.cmo.cacheinvalid": ("pto.cmo.cacheinvalid all <SPACE>", "pto.cmo.cacheinvalid %addr single_cache_line : T"),
    "pto.struct_get": ("%value = pto.struct_get %s[I, ..] : T -> T",),
    "pto.struct_set": ("pto.struct_set %s[I, ..], %value : T, T",),
    "pto.vmi.shuffle": ("%result = pto.vmi.shuffle %source[[I, ..]] : T -> T",),
    "pto.pointer_cast": ("%result = pto.pointer_cast(%addrs, ..) : T",),
    "pto.simd.tile_to_memref": ("%result = pto.simd.tile_to_memref %src : T to T",),
    "pto.mte_gm_l1_frac": (
        "pto.mte_gm_l1_frac %source, %destination, nd2nz|dn2nz, shape(%n_value, %d_value), "
        "src_layout(%src_inner_stride[, %src_outer_stride]), dst_group(%group_count, %dst_loop2_stride, "
        "%dst_loop3_stride, %dst_loop4_stride), ctrl(%l2_cache_ctrl, %smallc0_en) : T, T, nd2nz|dn2nz, shape T, T, "
        "src_layout(T[, T]), dst_group T, T, T, T, ctrl T, T",
    ),
}
"""Forms that are those of one operation."""

_BY_SHAPE: dict[Shape, Callable[[Written], list[str]]] = {
    Shape.FLAT_TOKEN: _token,
    Shape.LEAD_STRING: _lead,
    Shape.INDEXED: _indexed,
    Shape.DIM_QUERY: _flat,
    Shape.INDEXED_STORE: _indexed_store,
    Shape.SYNC_BRACKET: _bracket,
    Shape.SYNC_TOKEN: _sync,
    Shape.CACHE: _cache,
    Shape.INS_ONLY: _inputs,
    Shape.L0_LOAD: _l0_load,
    Shape.PAREN: _paren,
    Shape.COMM_GROUP: _comm_group,
    Shape.BRACE_FIELDS: _braces,
    Shape.PIPE_INIT: _pipe_init,
    **dict.fromkeys((Shape.NULLARY, Shape.NULLARY_TYPED, Shape.NULLARY_ARROW), _nullary),
    **dict.fromkeys((Shape.DPS, Shape.DPS_INNER, Shape.DPS_KEYED, Shape.DPS_MASK, Shape.DPS_TLOAD), _destinations),
}


def forms(cls: type[PtoOp]) -> list[str]:
    """Returns the forms of ``cls``, the usual one first and the generic one last.

    ``T`` is a type, brackets enclose optional parts, ``a|b`` is one of these tokens.
    """
    w = Written(cls)
    lines = list(_FIXED.get(cls.name, ()))
    if not lines and w.spec.shape is Shape.REGION:
        lines = [f"{cls.name} {{ .. }}"]
    if not lines and w.spec.shape is not Shape.GENERIC:
        lines = [" ".join(line.split()) for line in _BY_SHAPE.get(w.spec.shape, _flat)(w)]
    names = ", ".join(f"%{slot.name}{'..' if slot.arity == '*' else ''}" for slot in w.declared.operands)
    types = ", ".join("T" for _ in w.declared.operands)
    results = ", ".join("T" for _ in w.declared.results)
    generic = f'{w.results}"{cls.name}"({names}){" {..}" if w.declared.attributes else ""} : ({types}) -> ({results})'
    return [*dict.fromkeys(lines), generic]


def values_of(cls: type[PtoOp], slot: Slot) -> tuple[str, ...]:
    """Returns the enumerators of an attribute; empty where it is no enumeration."""
    words = tuple(dict.fromkeys(word for name in slot.kind.enums for word in ENUMS[name].values))
    return words or slot.kind.words
